//! One connection: pushes messages as the client has room, and handles its frames.

use super::frames;
use super::settlement::Settlement;
use crate::ApiError;
use crate::auth::Caller;
use crate::connections::Open;
use crate::gate::Gate;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use rialto_api::{MessageFormat, SettleOp};
use rialto_broker::{LeaseTokens, bus_error};
use rialto_desk::{TokenBucket, TokenRate};
use rialto_queue::{Fetched, MessageId, QueueError, Subscription};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};

/// The most messages of one push.
const PUSH_MAX: usize = 1_000;

/// The most pending answers; beyond it, the client's frames are not read.
const ANSWERS_MAX: usize = 1_000;

/// The reason why a connection ends, with its close code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// The client closed the connection, or it was lost.
    Gone,
    GoingAway,
    TooBig,
    NotUtf8,
    Idle,
    KeyNotValid,
    TooSlow,
    TooOften,
    /// The queue ended the subscription with this code.
    Ended(&'static str),
}

impl Closing {
    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Closing::Gone => return None,
            Closing::GoingAway => (1001, "going_away"),
            Closing::NotUtf8 => (1007, "not_utf8"),
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

/// An answer that is sent when its settlement is durable.
struct Answer {
    op: SettleOp,
    lost: Vec<MessageId>,
}

/// The number of answers that become durable together.
struct Confirming {
    answers: usize,
    done: Pin<Box<dyn Future<Output = Result<(), QueueError>> + Send>>,
}

pub(super) struct Connection {
    gate: Arc<Gate>,
    caller: Caller,
    /// Counts for its key while the stream lives.
    open: Arc<Open>,
    leases: LeaseTokens,
    socket: WebSocket,
    subscription: Subscription,
    form: MessageFormat,
    began: Instant,
    /// The time of the client's last frame.
    heard: Instant,
    allowance: TokenBucket,
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
            allowance: TokenBucket::default(),
            answers: VecDeque::new(),
            confirming: None,
            stopped: gate.streams.stopped(),
            gate,
        }
    }

    /// Serves the connection until it ends. Its outstanding messages are then redelivered to
    /// others.
    pub(super) async fn serve(mut self) {
        let closing = self.run().await;
        if closing == Closing::TooSlow {
            self.gate.streams.counts.too_slow.fetch_add(1, Ordering::Relaxed);
            let key = self.caller.id();
            tracing::info!(key, "a consumer that reads too slowly is cut off");
        }
        let Connection { gate, mut socket, subscription, .. } = self;
        // Dropped first, so that redelivery does not wait for the client to read the close frame.
        drop(subscription);
        let Some(frame) = closing.frame() else { return };
        let close = socket.send(Message::Close(Some(frame)));
        let patience = gate.config.stream.send_timeout;
        if let Ok(Ok(())) = tokio::time::timeout(patience, close).await {
            // The client's own close frame ends the connection in order. Dropping a socket with
            // unread input would reset it and lose the frame.
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
        self.send(frames::messages(&fetched, self.form, self.leases)).await
    }

    /// Sends a message. A client that does not read is disconnected after a timeout; other clients
    /// are not affected.
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

    /// Handles a frame of the client.
    async fn hear(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), Closing> {
        self.heard = Instant::now();
        self.open.message_has_come();
        let rate = TokenRate::new(self.gate.config.key_rate, self.gate.config.key_burst);
        if !self.allowance.take(rate, self.began.elapsed()) {
            return Err(Closing::TooOften);
        }
        let settlement = match message {
            Some(Ok(Message::Text(text))) => Settlement::in_text(&text, self.leases),
            Some(Ok(Message::Binary(bytes))) => Settlement::in_bytes(&bytes, self.leases),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => return Ok(()),
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
        match settlement.and_then(|settlement| self.settle(&settlement)) {
            Ok(()) => Ok(()),
            Err(error) => self.send(frames::refused(&error)).await,
        }
    }

    /// Settles messages; the answer is sent when that is durable.
    fn settle(&mut self, settlement: &Settlement) -> Result<(), ApiError> {
        let gate = Arc::clone(&self.gate);
        let _under_way = gate.intake.begin_message()?;
        let lost = settlement.settle(self.subscription.settler());
        let lost = lost.map_err(|error| ApiError::from(bus_error(error)))?;
        self.answers.push_back(Answer { op: settlement.op, lost });
        self.confirm_next();
        Ok(())
    }

    /// Begins to make all pending settlements durable.
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
            self.send(frames::settled(op, &lost)).await?;
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

    /// Ends the connection if the caller's key is no longer valid.
    fn check_key(&self) -> Result<(), Closing> {
        match self.gate.gatekeeper.is_still_valid(&self.caller) {
            true => Ok(()),
            false => Err(Closing::KeyNotValid),
        }
    }
}

async fn told_to_stop(stopped: &mut watch::Receiver<bool>) {
    // Dropping a gateway stops it too.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

/// Waits until pending answers can be sent; for ever if there are none.
async fn confirmed(confirming: &mut Option<Confirming>) -> Result<usize, QueueError> {
    match confirming {
        Some(Confirming { answers, done }) => done.as_mut().await.map(|()| *answers),
        None => std::future::pending().await,
    }
}
