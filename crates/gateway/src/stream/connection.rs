//! One connection: reads what the client asks for, sends what waits for it.

use super::message;
use super::outbox::{End, Next, Outbox, OutboxLimits};
use super::reading::Reading;
use super::replay::Replay;
use super::request::{Refused, Request, Topic};
use crate::ApiError;
use crate::auth::{Caller, Claim};
use crate::call::Arrival;
use crate::gate::Gate;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use axum::http::StatusCode;
use rialto_api::StreamOp;
use rialto_bus::{Context, Dispatch, ErrorKind};
use rialto_desk::{
    Disconnect, GetPublishedSeq, Grant, ReadEventsError, Resume, Scope, Subscribe, Subscribed,
    Subscription, TokenBucket, TokenRate,
};
use rialto_ident::Id;
use rialto_model::{AccountId, Seq};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior};

/// How long the engine is given before a disconnect that it was too busy for is tried again.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Why a connection ends, as its close code says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Closing {
    /// The client closed it, or it broke off: there is nobody to tell.
    Gone,
    GoingAway,
    TooBig,
    NotUtf8,
    Failed,
    Idle,
    KeyNotValid,
    TooSlow(Option<Seq>),
    TooOften,
}

impl Closing {
    fn frame(&self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Closing::Gone => return None,
            Closing::GoingAway => (1001, "going_away".to_owned()),
            Closing::NotUtf8 => (1007, "not_utf8".to_owned()),
            Closing::TooBig => (1009, "message_too_big".to_owned()),
            Closing::Failed => (1011, "stream_failed".to_owned()),
            Closing::Idle => (4000, "idle".to_owned()),
            Closing::KeyNotValid => (4003, "key_not_valid".to_owned()),
            Closing::TooSlow(Some(seq)) => (4008, format!("too_slow, resume from_seq {seq}")),
            Closing::TooSlow(None) => (4008, "too_slow".to_owned()),
            Closing::TooOften => (4029, "rate_limited".to_owned()),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}

/// Serves one stream until it ends.
pub(super) async fn serve(gate: Arc<Gate>, socket: WebSocket, arrival: Arrival) {
    let limits = &gate.config.stream;
    let outbox = Arc::new(Outbox::new(OutboxLimits {
        messages: limits.queue_messages,
        bytes: limits.queue_bytes,
        levels: limits.queue_levels,
    }));
    let mut connection = Connection {
        reading: Reading::default(),
        outbox,
        socket,
        arrival,
        began: Instant::now(),
        heard: Instant::now(),
        allowance: TokenBucket::default(),
        caller: None,
        cancels: BTreeSet::new(),
        cancels_all: false,
        subscriptions: BTreeMap::new(),
        replaying: None,
        to_replay: VecDeque::new(),
        gate,
    };
    let closing = connection.run().await;
    connection.end(closing).await;
}

struct Connection {
    gate: Arc<Gate>,
    socket: WebSocket,
    arrival: Arrival,
    outbox: Arc<Outbox>,
    reading: Reading,
    began: Instant,
    /// When the client was heard of last.
    heard: Instant,
    allowance: TokenBucket,
    caller: Option<Caller>,
    /// Accounts of which orders are to be cancelled when the connection ends.
    cancels: BTreeSet<AccountId>,
    /// Whether an account joins those when its orders are subscribed to.
    cancels_all: bool,
    /// Nothing is held yet of one that is being resumed.
    subscriptions: BTreeMap<Subscription, Option<Subscribed>>,
    /// The private stream that is being resumed, and the streams that wait for their turn.
    replaying: Option<Replaying>,
    to_replay: VecDeque<Replay>,
}

/// A private stream that is being resumed.
type Replaying = (Subscription, JoinHandle<Replayed>);

/// What a replay came to: its subscription, if it is still wanted.
type Replayed = Result<Option<Subscribed>, ReadEventsError>;

/// What goes along with requests of a connection.
fn context<'a>(arrival: &Arrival, caller: Option<&'a Caller>) -> Context<'a> {
    let grant = caller.map_or(Grant::nobody(), Caller::grant);
    let mut cx = Context::new().with_principal(grant);
    cx.request_id = arrival.request_id.map_or(0, Id::get);
    cx
}

impl Connection {
    async fn run(&mut self) -> Closing {
        let mut heartbeat = tokio::time::interval(self.gate.config.stream.heartbeat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopped = self.gate.streams.stopped.clone();
        let mut keys = self.gate.gatekeeper.keys_changed();
        loop {
            let step = tokio::select! {
                next = self.outbox.next() => self.send_next(next).await,
                message = self.socket.recv() => self.hear(message).await,
                replayed = finished(&mut self.replaying) => self.replayed(replayed),
                () = beat(&mut heartbeat) => self.beat().await,
                _ = keys.changed() => self.check_key(),
                () = asked_to_stop(&mut stopped) => Err(Closing::GoingAway),
            };
            if let Err(closing) = step {
                return closing;
            }
        }
    }

    async fn send_next(&mut self, next: Next) -> Result<(), Closing> {
        let text = match next {
            Next::Text(text) => Some(text),
            Next::Joined(subscription, seq) => {
                Some(message::subscribed(subscription, seq, &self.gate.desk.names()))
            }
            Next::Delta(delta) => message::delta(&delta, &self.gate.desk.names()),
            Next::Whole(subscription) => {
                let cx = context(&self.arrival, self.caller.as_ref());
                let whole = self.reading.whole(&self.gate, &cx, subscription).await;
                let (text, seq) = whole.map_err(|error| self.failed(&error.message))?;
                self.outbox.was_read(subscription, seq);
                text
            }
            Next::End(End::TooSlow(seq)) => {
                self.gate.streams.counts.too_slow.fetch_add(1, Ordering::Relaxed);
                let key = self.caller.as_ref().map_or("", Caller::id);
                tracing::info!(key, peer = %self.arrival.peer, "a stream that reads too slowly is cut off");
                return Err(Closing::TooSlow(seq));
            }
            Next::End(End::Closed) => return Err(Closing::GoingAway),
        };
        match text {
            Some(text) => self.send(Message::Text(text)).await,
            None => Ok(()),
        }
    }

    /// Sends a message, as long as there is a point in it.
    async fn send(&mut self, message: Message) -> Result<(), Closing> {
        let outbox = Arc::clone(&self.outbox);
        let patience = self.gate.config.stream.send_timeout;
        self.gate.streams.counts.messages.fetch_add(1, Ordering::Relaxed);
        let sent = tokio::select! {
            biased;
            sent = tokio::time::timeout(patience, self.socket.send(message)) => sent,
            // What overflowed while this message was stuck is reported in the close frame.
            () = outbox.ended() => return Ok(()),
        };
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Closing::Gone),
            Err(_) => {
                self.outbox.too_slow();
                Ok(())
            }
        }
    }

    /// Takes what the client sent.
    async fn hear(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), Closing> {
        self.heard = Instant::now();
        self.arrival.connection.message_has_come();
        let limits = &self.gate.config.stream;
        let text = match message {
            Some(Ok(Message::Text(text))) => Some(text),
            // No JSON begins like this, so that the answer is that of any other nonsense.
            Some(Ok(Message::Binary(_))) => Some(Utf8Bytes::from_static("\0")),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
            Some(Ok(Message::Close(_))) | None => return Err(Closing::Gone),
            Some(Err(error)) => {
                let told = error.to_string();
                return Err(match told.as_str() {
                    told if told.contains("too long") => Closing::TooBig,
                    told if told.contains("UTF-8") => Closing::NotUtf8,
                    _ => Closing::Gone,
                });
            }
        };
        let rate = TokenRate::new(limits.message_rate, limits.message_burst);
        if !self.allowance.take(rate, self.began.elapsed()) {
            return Err(Closing::TooOften);
        }
        if let Some(text) = text
            && let Err(Refused { op, error }) = self.obey(&text).await
        {
            self.outbox.answer(message::error(op, &error));
        }
        Ok(())
    }

    async fn obey(&mut self, text: &str) -> Result<(), Refused> {
        let request = Request::read(text)?;
        let gate = Arc::clone(&self.gate);
        let _under_way =
            gate.intake.begin_message().map_err(|error| Refused { op: None, error })?;
        let (op, done) = match request {
            Request::Auth { key, timestamp, nonce, signature, cancel_on_disconnect } => {
                let claim = Claim::new(&key, &timestamp, &nonce, &signature);
                (StreamOp::Auth, self.authenticate(claim, cancel_on_disconnect))
            }
            Request::Subscribe { topic, from_seq, cancel_on_disconnect } => {
                (StreamOp::Subscribe, self.subscribe(topic, from_seq, cancel_on_disconnect).await)
            }
            Request::Unsubscribe(topic) => (StreamOp::Unsubscribe, self.unsubscribe(topic).await),
            Request::Ping => (
                StreamOp::Ping,
                self.published_seq().await.map(|seq| self.outbox.answer(message::pong(seq))),
            ),
        };
        done.map_err(|error| Refused { op: Some(op.to_owned()), error })
    }

    fn authenticate(
        &mut self,
        claim: Result<Claim<'_>, ApiError>,
        cancel_on_disconnect: bool,
    ) -> Result<(), ApiError> {
        let gatekeeper = &self.gate.gatekeeper;
        let caller = gatekeeper.check_message(claim, "GET", "/v1/stream", self.arrival.peer)?;
        if self.caller.is_some() {
            let message = "This connection is authenticated already; open another one.";
            return Err(ApiError::new(StatusCode::CONFLICT, "already_authenticated", message));
        }
        if cancel_on_disconnect {
            caller.require(Scope::Trade)?;
        }
        self.arrival.connection.signed_by(caller.id())?;
        if cancel_on_disconnect {
            self.cancels.extend(caller.accounts());
        }
        self.cancels_all = cancel_on_disconnect;
        self.outbox.answer(message::authenticated(caller.accounts()));
        self.caller = Some(caller);
        Ok(())
    }

    /// The last sequence whose messages are all in the outbox.
    async fn published_seq(&mut self) -> Result<Seq, ApiError> {
        let cx = context(&self.arrival, self.caller.as_ref());
        self.gate.query(&cx, GetPublishedSeq).await
    }

    async fn subscription(&mut self, topic: &Topic) -> Result<Subscription, ApiError> {
        let (gate, cx) = (&self.gate, context(&self.arrival, self.caller.as_ref()));
        let listing = async |symbol: &str| gate.listing(&cx, symbol).await;
        Ok(match topic {
            Topic::Book { instrument, depth: None } => {
                Subscription::Book(listing(instrument).await?.id)
            }
            Topic::Book { instrument, depth: Some(_) } => {
                Subscription::Top(listing(instrument).await?.id)
            }
            Topic::Trades { instrument } => Subscription::Trades(listing(instrument).await?.id),
            Topic::Ticker { instrument } => Subscription::Ticker(listing(instrument).await?.id),
            Topic::Auction { instrument } => Subscription::Auction(listing(instrument).await?.id),
            Topic::Own(channel, account) => {
                Subscription::Own(*channel, self.caller()?.account(*account, Scope::Read)?)
            }
        })
    }

    fn caller(&self) -> Result<&Caller, ApiError> {
        self.caller.as_ref().ok_or_else(|| {
            let message = "This channel is private: send auth first.";
            ApiError::new(StatusCode::UNAUTHORIZED, "credentials_missing", message)
        })
    }

    async fn subscribe(
        &mut self,
        topic: Topic,
        from_seq: Option<Seq>,
        cancel_on_disconnect: bool,
    ) -> Result<(), ApiError> {
        let limits = &self.gate.config.stream;
        let (subscriptions_max, depth_max) = (limits.subscriptions_max, limits.depth_max);
        let subscription = self.subscription(&topic).await?;
        if self.subscriptions.len() >= subscriptions_max {
            let message = format!("A connection has at most {subscriptions_max} subscriptions.");
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(ApiError::new(status, "too_many_subscriptions", message));
        }
        if self.subscriptions.contains_key(&subscription) || self.is_replaying(subscription) {
            let message = "This connection is subscribed to that already.";
            return Err(ApiError::new(StatusCode::CONFLICT, "already_subscribed", message));
        }
        if let Topic::Book { depth: Some(depth), .. } = topic {
            if depth == 0 || depth > depth_max {
                let message = format!("A depth is 1 to {depth_max}; leave it out for all levels.");
                return Err(ApiError::invalid("depth", message));
            }
            self.reading.show(subscription, depth);
        }
        let cancels = match subscription {
            Subscription::Own(_, account) if cancel_on_disconnect => {
                Some(self.caller()?.account(Some(account), Scope::Trade)?)
            }
            _ => None,
        };
        self.arrival.connection.subscribe()?;
        // The feed reports that it has joined, and more, before the subscription is there.
        self.outbox.prepare(subscription);
        let begun = self.begin(subscription, from_seq).await.inspect_err(|_| {
            self.outbox.forget(subscription);
            self.arrival.connection.unsubscribe();
        })?;
        self.cancels.extend(cancels);
        self.subscriptions.insert(subscription, begun);
        self.gate.streams.counts.subscriptions.fetch_add(1, Ordering::Relaxed);
        self.replay_next();
        Ok(())
    }

    /// Begins a subscription, or what is to come before it.
    async fn begin(
        &mut self,
        subscription: Subscription,
        from_seq: Option<Seq>,
    ) -> Result<Option<Subscribed>, ApiError> {
        let cx = context(&self.arrival, self.caller.as_ref());
        let (Subscription::Own(channel, account), Some(after)) = (subscription, from_seq) else {
            let listener = Arc::clone(&self.outbox) as _;
            let subscribe = Subscribe { subscription, listener };
            return self.gate.query(&cx, subscribe).await.map(Some);
        };
        let past = self.gate.query(&cx, Resume { channel, account, after }).await?;
        self.to_replay.push_back(Replay {
            past,
            channel,
            account,
            outbox: Arc::clone(&self.outbox),
            turns: Arc::clone(&self.gate.streams.replays),
            key: self.caller()?.id().into(),
            patience: self.gate.config.stream.send_timeout,
        });
        Ok(None)
    }

    async fn unsubscribe(&mut self, topic: Topic) -> Result<(), ApiError> {
        let subscription = self.subscription(&topic).await?;
        let Some(begun) = self.subscriptions.remove(&subscription) else {
            let message = "This connection is not subscribed to that.";
            return Err(ApiError::new(StatusCode::CONFLICT, "not_subscribed", message));
        };
        self.gate.streams.counts.subscriptions.fetch_sub(1, Ordering::Relaxed);
        self.arrival.connection.unsubscribe();
        self.to_replay.retain(|replay| replay.subscription() != subscription);
        self.outbox.forget(subscription);
        drop(begun);
        self.outbox.answer(message::unsubscribed(subscription, &self.gate.desk.names()));
        Ok(())
    }

    fn is_replaying(&self, subscription: Subscription) -> bool {
        self.replaying.as_ref().is_some_and(|(of, _)| *of == subscription)
    }

    /// Begins to resume the next private stream, one at a time.
    fn replay_next(&mut self) {
        if self.replaying.is_some() {
            return;
        }
        let Some(replay) = self.to_replay.pop_front() else { return };
        let subscription = replay.subscription();
        self.outbox.resume(subscription, replay.past.reached());
        self.gate.streams.counts.resumed.fetch_add(1, Ordering::Relaxed);
        self.replaying = Some((subscription, tokio::spawn(replay.run())));
    }

    fn replayed(
        &mut self,
        (subscription, replayed): (Subscription, Result<Option<Subscribed>, String>),
    ) -> Result<(), Closing> {
        let subscribed = replayed.map_err(|error| {
            let key = self.caller.as_ref().map_or("", Caller::id);
            tracing::error!(key, "the past of a stream cannot be read: {error}");
            Closing::Failed
        })?;
        // It may have been unsubscribed meanwhile.
        if let Some(place) = self.subscriptions.get_mut(&subscription) {
            *place = subscribed;
        }
        self.replay_next();
        Ok(())
    }

    async fn beat(&mut self) -> Result<(), Closing> {
        if self.heard.elapsed() >= self.gate.config.stream.idle_timeout {
            return Err(Closing::Idle);
        }
        self.check_key()?;
        // Everything through this sequence stands in the outbox already, before the heartbeat.
        let published = self.published_seq().await;
        let published = published.map_err(|error| self.failed(&error.message))?;
        self.outbox.heartbeat(message::heartbeat(published));
        self.send(Message::Ping(bytes::Bytes::new())).await
    }

    /// Logs why the connection ends.
    fn failed(&self, reason: &str) -> Closing {
        let key = self.caller.as_ref().map_or("", Caller::id);
        tracing::warn!(key, "a stream ends, because the venue cannot be read: {reason}");
        Closing::Failed
    }

    /// Ends the connection of a caller who may no longer go on.
    fn check_key(&self) -> Result<(), Closing> {
        let gatekeeper = &self.gate.gatekeeper;
        match self.caller.as_ref().is_none_or(|caller| gatekeeper.is_still_valid(caller)) {
            true => Ok(()),
            false => Err(Closing::KeyNotValid),
        }
    }

    /// Says why, if anyone is there to hear it, and cleans up.
    async fn end(mut self, closing: Closing) {
        self.outbox.close();
        let subscriptions = self.subscriptions.len() as u64;
        self.gate.streams.counts.subscriptions.fetch_sub(subscriptions, Ordering::Relaxed);
        if let Some((_, task)) = self.replaying.take() {
            // It ends by itself, because the outbox is closed.
            drop(task.await);
        }
        self.subscriptions.clear();
        self.cancel_orders().await;
        if let Some(frame) = closing.frame() {
            let close = self.socket.send(Message::Close(Some(frame)));
            let patience = self.gate.config.stream.send_timeout;
            if let Ok(Ok(())) = tokio::time::timeout(patience, close).await {
                // The client's own close frame ends the connection in order; a socket that is
                // dropped with unread input would be reset, and the frame lost with it.
                let silence = async { while let Some(Ok(_)) = self.socket.recv().await {} };
                let _ = tokio::time::timeout(Duration::from_secs(1), silence).await;
            }
        }
    }

    /// Has the engine cancel the orders that asked for it.
    async fn cancel_orders(&mut self) {
        for account in std::mem::take(&mut self.cancels) {
            let command = Disconnect { account, level: None };
            let cx = context(&self.arrival, self.caller.as_ref());
            let counts = &self.gate.streams.counts;
            let count = loop {
                match self.gate.desk.send(command, &cx).await {
                    Ok(_) => break &counts.disconnects,
                    Err(error) if error.kind() == ErrorKind::Busy && error.is_retryable() => {
                        tokio::time::sleep(BUSY_PAUSE).await;
                    }
                    // Whatever else it is, trying again would not help.
                    Err(error) => {
                        tracing::error!(
                            %account,
                            "orders are not cancelled at the end of their stream: {error}"
                        );
                        break &counts.disconnects_failed;
                    }
                }
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

async fn asked_to_stop(stopped: &mut watch::Receiver<bool>) {
    // A gateway that was dropped instead of shut down is stopping as well.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

async fn beat(interval: &mut Interval) {
    interval.tick().await;
}

/// Waits for the end of a replay, for ever if there is none.
async fn finished(
    replaying: &mut Option<Replaying>,
) -> (Subscription, Result<Option<Subscribed>, String>) {
    match replaying {
        Some((subscription, task)) => {
            let outcome = match task.await {
                Ok(outcome) => outcome.map_err(|error| error.to_string()),
                Err(broken) => Err(broken.to_string()),
            };
            let subscription = *subscription;
            *replaying = None;
            (subscription, outcome)
        }
        None => std::future::pending().await,
    }
}
