//! Runs a stream: connects again, subscribes again, and resumes.

use super::connection::{Connection, Ended};
use super::subscription::StreamSubscription;
use super::{StreamEvent, StreamOptions};
use crate::{Client, ClientError};
use rialto_api::{StreamChannel, StreamMessage, StreamOp, SubscriptionInfo};
use rialto_model::{AccountId, Seq, Symbol};
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;
use tokio::sync::mpsc::{Sender, UnboundedReceiver};

/// The wait before the first attempt to connect again; it doubles with each that fails.
const RECONNECT_WAIT: Duration = Duration::from_millis(100);

/// A request of the reader of a stream.
#[derive(Debug)]
pub(super) enum ReaderRequest {
    Subscribe(StreamSubscription),
    Unsubscribe(StreamSubscription),
}

/// A subscription and its progress.
struct ActiveSubscription {
    asked: StreamSubscription,
    /// The account of a subscription that names none.
    account: Option<AccountId>,
    /// Whether it is in force on this connection.
    is_live: bool,
    /// Whether it has ended for good.
    is_over: bool,
    /// Orders and fills: the last command whose message was passed on.
    seen: Option<Seq>,
    /// Whole books: the `last_seq` of the book that the reader holds, once it holds one.
    book: Option<Seq>,
}

/// The request that the connection answers next: subscriptions are begun one after another, so that
/// a refusal belongs to the last one.
enum Asked {
    Nothing,
    /// To begin the subscription at this index.
    Subscribe(usize),
}

pub(super) struct Keeper {
    client: Client,
    options: StreamOptions,
    kept: Vec<ActiveSubscription>,
    asked: Asked,
    /// Subscriptions to begin, by index.
    to_begin: VecDeque<usize>,
    /// Whether the reader knows that the connection was lost, and not yet that it is restored.
    is_resuming: bool,
    connection: Connection,
    tell: Sender<Result<StreamEvent, ClientError>>,
    orders: UnboundedReceiver<ReaderRequest>,
}

/// The reader was dropped.
struct ReaderDropped;

impl ActiveSubscription {
    fn new(asked: StreamSubscription) -> ActiveSubscription {
        let account = asked.account;
        ActiveSubscription {
            asked,
            account,
            is_live: false,
            is_over: false,
            seen: None,
            book: None,
        }
    }
}

/// The reason that the stream gives up this connection.
enum Stop {
    Ended(Ended),
    ReaderDropped,
}

impl From<Ended> for Stop {
    fn from(ended: Ended) -> Stop {
        Stop::Ended(ended)
    }
}

impl From<ReaderDropped> for Stop {
    fn from(_: ReaderDropped) -> Stop {
        Stop::ReaderDropped
    }
}

impl Keeper {
    pub(super) async fn connect(
        client: Client,
        options: StreamOptions,
        subscriptions: Vec<StreamSubscription>,
        tell: Sender<Result<StreamEvent, ClientError>>,
        orders: UnboundedReceiver<ReaderRequest>,
    ) -> Result<Keeper, ClientError> {
        let connection = Connection::open(&client, &options).await?;
        let kept: Vec<ActiveSubscription> =
            subscriptions.into_iter().map(ActiveSubscription::new).collect();
        let to_begin = (0..kept.len()).collect();
        let (asked, is_resuming) = (Asked::Nothing, false);
        Ok(Keeper { client, options, kept, asked, to_begin, is_resuming, connection, tell, orders })
    }

    /// Runs until the reader is dropped or a final error.
    pub(super) async fn run(mut self) {
        loop {
            let Err(stop) = self.serve().await else { continue };
            let reason = match stop {
                Stop::ReaderDropped => return,
                Stop::Ended(Ended::Refused(error)) => {
                    let _ = self.tell.send(Err(error)).await;
                    return;
                }
                Stop::Ended(Ended::Lost(reason)) => reason,
            };
            if !self.is_resuming {
                self.is_resuming = true;
                if self.send_event(StreamEvent::Disconnected { reason }).await.is_err() {
                    return;
                }
            }
            match self.reconnect().await {
                Ok(()) => {}
                Err(Stop::Ended(Ended::Refused(error))) => {
                    let _ = self.tell.send(Err(error)).await;
                    return;
                }
                Err(_) => return,
            }
        }
    }

    /// Connects again, at growing intervals that are shortened by a random part, so that clients do
    /// not connect all at once.
    async fn reconnect(&mut self) -> Result<(), Stop> {
        let mut wait = RECONNECT_WAIT;
        loop {
            let part = RandomState::new().build_hasher().finish() % 1_000;
            let cut = wait.mul_f64(part as f64 / 2_000.0);
            tokio::select! {
                () = tokio::time::sleep(wait - cut) => {}
                () = self.tell.closed() => return Err(Stop::ReaderDropped),
            }
            match Connection::open(&self.client, &self.options).await {
                Ok(connection) => {
                    self.connection = connection;
                    break;
                }
                Err(Ended::Lost(_)) => wait = (wait * 2).min(self.options.reconnect_wait_max),
                Err(refused) => return Err(refused.into()),
            }
        }
        for kept in &mut self.kept {
            (kept.is_live, kept.book) = (false, None);
        }
        self.asked = Asked::Nothing;
        self.to_begin = (0..self.kept.len()).collect();
        Ok(())
    }

    async fn send_event(&self, event: StreamEvent) -> Result<(), ReaderDropped> {
        self.tell.send(Ok(event)).await.map_err(|_| ReaderDropped)
    }

    /// Handles one request of the reader, or one message of the venue.
    async fn serve(&mut self) -> Result<(), Stop> {
        if let Asked::Nothing = self.asked {
            match self.to_begin.pop_front() {
                Some(at) => self.begin(at).await?,
                None if self.is_resuming => {
                    self.is_resuming = false;
                    self.send_event(StreamEvent::Resumed).await?;
                }
                None => {}
            }
        }
        tokio::select! {
            message = self.connection.receive() => self.take(message?).await,
            order = self.orders.recv() => match order {
                Some(order) => self.obey(order).await,
                None => Err(Stop::ReaderDropped),
            },
        }
    }

    async fn begin(&mut self, at: usize) -> Result<(), Stop> {
        let Some(kept) = self.kept.get(at).filter(|kept| !kept.is_over) else { return Ok(()) };
        let from_seq = kept.seen.or(kept.asked.from_seq);
        self.connection.send(&kept.asked.request(StreamOp::Subscribe, from_seq)).await?;
        self.asked = Asked::Subscribe(at);
        Ok(())
    }

    async fn obey(&mut self, order: ReaderRequest) -> Result<(), Stop> {
        match order {
            ReaderRequest::Subscribe(asked) => {
                self.to_begin.push_back(self.kept.len());
                self.kept.push(ActiveSubscription::new(asked));
            }
            ReaderRequest::Unsubscribe(asked) => {
                let Some(at) =
                    self.kept.iter().position(|kept| !kept.is_over && kept.asked.is_same(&asked))
                else {
                    return Ok(());
                };
                let is_asked = matches!(self.asked, Asked::Subscribe(asked) if asked == at);
                if self.kept[at].is_live || is_asked {
                    let request = asked.request(StreamOp::Unsubscribe, None);
                    self.connection.send(&request).await?;
                }
                // The entry stays, so that others keep their index.
                self.kept[at].is_over = true;
            }
        }
        Ok(())
    }

    async fn take(&mut self, message: StreamMessage<'static>) -> Result<(), Stop> {
        match &message {
            StreamMessage::Subscribed { subscription, seq } => self.begun(subscription, *seq),
            StreamMessage::Error { op: Some(StreamOp::Subscribe), error } => {
                if let Asked::Subscribe(at) = std::mem::replace(&mut self.asked, Asked::Nothing) {
                    let kept = &mut self.kept[at];
                    let (channel, account) = (kept.asked.channel, kept.account);
                    let is_behind = error.code == "too_far_back" && kept.seen.is_some();
                    (kept.seen, kept.asked.from_seq) = (None, None);
                    if is_behind {
                        self.to_begin.push_front(at);
                        self.send_event(StreamEvent::Missed { channel, account }).await?;
                        return Ok(());
                    }
                    // It was refused permanently; the message tells the reader.
                    kept.is_over = true;
                }
            }
            StreamMessage::Orders { account, seq, .. }
            | StreamMessage::OpenOrders { account, seq, .. } => {
                self.saw(StreamChannel::Orders, Some(*account), *seq);
            }
            StreamMessage::Fills { account, seq, .. } => {
                self.saw(StreamChannel::Fills, Some(*account), *seq);
            }
            // Every event of private channels up to this one was sent before.
            StreamMessage::Heartbeat { seq } | StreamMessage::Pong { seq } => {
                self.saw(StreamChannel::Orders, None, *seq);
                self.saw(StreamChannel::Fills, None, *seq);
            }
            StreamMessage::Book { instrument, sides, .. } => {
                if let Some(kept) = self.whole_book(*instrument) {
                    kept.book = Some(sides.last_seq);
                }
            }
            StreamMessage::BookDelta { instrument, prev_seq, last_seq, .. } => {
                let (instrument, prev_seq, last_seq) = (*instrument, *prev_seq, *last_seq);
                return self.take_delta(message, instrument, prev_seq, last_seq).await;
            }
            _ => {}
        }
        Ok(self.send_event(StreamEvent::Message(Box::new(message))).await?)
    }

    /// A change of a book fits if it follows what the reader holds. If it does not, a message was
    /// missed: the subscription begins again, and changes are dropped until the new book comes.
    async fn take_delta(
        &mut self,
        message: StreamMessage<'static>,
        instrument: Symbol,
        prev_seq: Seq,
        last_seq: Seq,
    ) -> Result<(), Stop> {
        let Some(kept) = self.whole_book(instrument) else { return Ok(()) };
        match kept.book {
            Some(held) if held == prev_seq => {
                kept.book = Some(last_seq);
                Ok(self.send_event(StreamEvent::Message(Box::new(message))).await?)
            }
            Some(_) => {
                kept.book = None;
                kept.is_live = false;
                let ask = kept.asked.clone();
                let request = ask.request(StreamOp::Unsubscribe, None);
                self.connection.send(&request).await?;
                if let Some(at) = self.kept.iter().position(|kept| kept.asked == ask) {
                    self.to_begin.push_back(at);
                }
                Ok(self.send_event(StreamEvent::BookGap { instrument }).await?)
            }
            None => Ok(()),
        }
    }

    /// A subscription is in force.
    fn begun(&mut self, subscription: &SubscriptionInfo, seq: Seq) {
        let Asked::Subscribe(at) = std::mem::replace(&mut self.asked, Asked::Nothing) else {
            return;
        };
        let kept = &mut self.kept[at];
        kept.is_live = true;
        kept.account = subscription.account;
        // Resumed messages may still arrive, and advance it themselves.
        if kept.asked.is_resumable() && kept.seen.is_none() {
            kept.seen = Some(kept.asked.from_seq.unwrap_or(seq));
        }
    }

    /// A private channel has sent everything up to this command: of one account, or of those whose
    /// subscriptions are in force.
    fn saw(&mut self, channel: StreamChannel, account: Option<AccountId>, seq: Seq) {
        let is_meant = |kept: &ActiveSubscription| match account {
            // Resumed messages precede the confirmation of the subscription.
            Some(account) => kept.account.is_none_or(|own| own == account),
            None => kept.is_live,
        };
        let channels = self.kept.iter_mut().filter(|kept| kept.asked.channel == channel);
        for kept in channels.filter(|kept| is_meant(kept)) {
            kept.seen = Some(kept.seen.map_or(seq, |seen| seen.max(seq)));
        }
    }

    fn whole_book(&mut self, instrument: Symbol) -> Option<&mut ActiveSubscription> {
        self.kept.iter_mut().find(|kept| {
            let name = kept.asked.instrument.as_deref();
            !kept.is_over && kept.asked.is_whole_book() && name == Some(instrument.as_str())
        })
    }
}
