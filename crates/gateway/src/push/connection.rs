//! One connection: pushes what arrives as far as the client has room, and takes what it says.

use super::said::Said;
use super::told;
use crate::ApiError;
use crate::auth::Caller;
use crate::connections::Open;
use crate::gate::Gate;
use crate::limits::{Bucket, Rate};
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use rialto_api::{MessageFormat, SettleOp};
use rialto_broker::{LeaseTokens, bus_error};
use rialto_queue::{Fetched, MessageId, QueueError, Subscription};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};

/// How many messages are pushed at a time.
const PUSH_MAX: usize = 1_000;

/// How many answers wait to be given before the client is listened to again.
const ANSWERS_MAX: usize = 1_000;

/// Why a connection ends, as its close code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// The client closed it, or it broke off: there is nobody to tell.
    Gone,
    GoingAway,
    TooBig,
    Idle,
    KeyNotValid,
    TooSlow,
    TooOften,
    /// The queue gives no more, as this code says.
    Ended(&'static str),
}

impl Closing {
    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Closing::Gone => return None,
            Closing::GoingAway => (1001, "going_away"),
            Closing::TooBig => (1009, "message_too_big"),
            Closing::Ended(code) => (1011, code),
            Closing::Idle => (4000, "idle"),
            Closing::KeyNotValid => (4003, "key_not_valid"),
            Closing::TooSlow => (4008, "too_slow"),
            Closing::TooOften => (4029, "rate_limited"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}

/// An answer that is given when what it says is safe.
struct Answer {
    op: SettleOp,
    lost: Vec<MessageId>,
}

/// Until so many answers may be given.
struct Confirming {
    answers: usize,
    done: Pin<Box<dyn Future<Output = Result<(), QueueError>> + Send>>,
}

pub(super) struct Connection {
    gate: Arc<Gate>,
    caller: Caller,
    /// Counted for its key as long as the stream lives.
    open: Arc<Open>,
    leases: LeaseTokens,
    socket: WebSocket,
    subscription: Subscription,
    form: MessageFormat,
    began: Instant,
    /// When the client was heard of last.
    heard: Instant,
    allowance: Bucket,
    answers: VecDeque<Answer>,
    confirming: Option<Confirming>,
    stopped: watch::Receiver<bool>,
}

impl Connection {
    pub(super) fn new(
        gate: Arc<Gate>,
        caller: Caller,
        open: Arc<Open>,
        leases: LeaseTokens,
        socket: WebSocket,
        (subscription, form): (Subscription, MessageFormat),
    ) -> Connection {
        let now = Instant::now();
        Connection {
            caller,
            open,
            leases,
            socket,
            subscription,
            form,
            began: now,
            heard: now,
            allowance: Bucket::default(),
            answers: VecDeque::new(),
            confirming: None,
            stopped: gate.streams.stopped(),
            gate,
        }
    }

    /// Serves until it ends. What the client has in hand then is handed out to others.
    pub(super) async fn serve(mut self) {
        let closing = self.run().await;
        if closing == Closing::TooSlow {
            self.gate.streams.counts.too_slow.fetch_add(1, Ordering::Relaxed);
            let key = self.caller.id();
            tracing::info!(key, "a consumer that reads too slowly is cut off");
        }
        let Connection { gate, mut socket, subscription, .. } = self;
        // Others need not wait until the client has read why.
        drop(subscription);
        let Some(frame) = closing.frame() else { return };
        let close = socket.send(Message::Close(Some(frame)));
        let patience = gate.config.stream.send_timeout;
        if let Ok(Ok(())) = tokio::time::timeout(patience, close).await {
            // The client's own close frame ends the connection in order; a socket that is dropped
            // with unread input would be reset, and the frame lost with it.
            let silence = async { while let Some(Ok(_)) = socket.recv().await {} };
            let _ = tokio::time::timeout(Duration::from_secs(1), silence).await;
        }
    }

    async fn run(&mut self) -> Closing {
        let mut heartbeat = tokio::time::interval(self.gate.config.stream.heartbeat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopped = self.stopped.clone();
        let mut keys = self.gate.gatekeeper.keys_changed();
        loop {
            let step = tokio::select! {
                message = self.socket.recv(), if self.answers.len() < ANSWERS_MAX => {
                    self.hear(message).await
                }
                fetched = self.subscription.recv_many(PUSH_MAX) => self.push(fetched).await,
                confirmed = confirmed(&mut self.confirming) => self.answer(confirmed).await,
                _ = heartbeat.tick() => self.beat().await,
                _ = keys.changed() => self.check_key(),
                () = told_to_stop(&mut stopped) => Err(Closing::GoingAway),
            };
            if let Err(closing) = step {
                return closing;
            }
        }
    }

    async fn push(&mut self, fetched: Result<Fetched, QueueError>) -> Result<(), Closing> {
        let fetched = fetched.map_err(|error| Closing::Ended(bus_error(error).code()))?;
        self.send(told::messages(&fetched, self.form, self.leases)).await
    }

    /// Sends a message. A client that does not read gets nothing more and, before long, is cut off;
    /// nobody else waits for it.
    async fn send(&mut self, message: Message) -> Result<(), Closing> {
        self.gate.streams.counts.messages.fetch_add(1, Ordering::Relaxed);
        let patience = self.gate.config.stream.send_timeout;
        let sent = tokio::select! {
            biased;
            sent = tokio::time::timeout(patience, self.socket.send(message)) => sent,
            () = told_to_stop(&mut self.stopped) => return Err(Closing::GoingAway),
        };
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Closing::Gone),
            Err(_) => Err(Closing::TooSlow),
        }
    }

    /// Takes what the client said.
    async fn hear(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), Closing> {
        self.heard = Instant::now();
        self.open.message_has_come();
        let rate = Rate::new(self.gate.config.key_rate, self.gate.config.key_burst);
        if !self.allowance.take(rate, self.began.elapsed()) {
            return Err(Closing::TooOften);
        }
        let said = match message {
            Some(Ok(Message::Text(text))) => Said::in_text(&text, self.leases),
            Some(Ok(Message::Binary(bytes))) => Said::in_bytes(&bytes, self.leases),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => return Ok(()),
            Some(Ok(Message::Close(_))) | None => return Err(Closing::Gone),
            Some(Err(error)) => {
                let is_too_big = format!("{error}").contains("too long");
                return Err(if is_too_big { Closing::TooBig } else { Closing::Gone });
            }
        };
        match said.and_then(|said| self.settle(&said)) {
            Ok(()) => Ok(()),
            Err(error) => self.send(told::refused(&error)).await,
        }
    }

    /// Has it be so; that it is, is said when it is safe.
    fn settle(&mut self, said: &Said) -> Result<(), ApiError> {
        let gate = Arc::clone(&self.gate);
        let _under_way = gate.intake.begin_message()?;
        let lost = said.settle(self.subscription.settler());
        let lost = lost.map_err(|error| ApiError::from(bus_error(error)))?;
        self.answers.push_back(Answer { op: said.op, lost });
        self.confirm_next();
        Ok(())
    }

    /// Begins to make safe what was said, all of it at once.
    fn confirm_next(&mut self) {
        if self.confirming.is_some() || self.answers.is_empty() {
            return;
        }
        let settler = self.subscription.settler().clone();
        let done = Box::pin(async move { settler.confirmed().await });
        self.confirming = Some(Confirming { answers: self.answers.len(), done });
    }

    async fn answer(&mut self, confirmed: Result<usize, QueueError>) -> Result<(), Closing> {
        let safe = confirmed.map_err(|error| Closing::Ended(bus_error(error).code()))?;
        self.confirming = None;
        let answers: Vec<_> = self.answers.drain(..safe.min(self.answers.len())).collect();
        self.confirm_next();
        for Answer { op, lost } in answers {
            self.send(told::settled(op, &lost)).await?;
        }
        Ok(())
    }

    async fn beat(&mut self) -> Result<(), Closing> {
        if self.heard.elapsed() >= self.gate.config.stream.idle_timeout {
            return Err(Closing::Idle);
        }
        self.check_key()?;
        self.send(Message::Ping(bytes::Bytes::new())).await
    }

    /// Ends the connection of a caller who may no longer go on.
    fn check_key(&self) -> Result<(), Closing> {
        match self.gate.gatekeeper.is_still_valid(&self.caller) {
            true => Ok(()),
            false => Err(Closing::KeyNotValid),
        }
    }
}

async fn told_to_stop(stopped: &mut watch::Receiver<bool>) {
    // A gateway that was dropped instead of shut down is stopping as well.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

/// Waits until answers may be given, for ever if there are none.
async fn confirmed(confirming: &mut Option<Confirming>) -> Result<usize, QueueError> {
    match confirming {
        Some(Confirming { answers, done }) => done.as_mut().await.map(|()| *answers),
        None => std::future::pending().await,
    }
}
