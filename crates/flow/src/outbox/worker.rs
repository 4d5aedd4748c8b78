//! The work: claims messages, forwards them and records the results.

use super::Shared;
use super::forwarder::ForwardError;
use super::signal::Signal;
use crate::Timestamp;
use crate::run::mix;
use crate::store::{ClaimedMessage, DeliveryResult, StoreError};
use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Housekeeping is done after this many rounds of work, and whenever there is nothing else to do.
const ROUNDS_PER_MAINTENANCE: u32 = 64;
/// How long a worker waits after the store has failed to answer.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// A message that is being forwarded.
struct Flight {
    claim: Arc<ClaimedMessage>,
    attempt: Pin<Box<dyn Future<Output = Result<(), ForwardError>> + Send>>,
    signal: Arc<Signal>,
    /// When the attempt is given up.
    until: Timestamp,
}

/// The state of one worker thread.
pub(super) struct Worker {
    shared: Arc<Shared>,
    flights: Vec<Flight>,
    rounds: u32,
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, flights: Vec::new(), rounds: 0 }
    }

    /// Works until the outbox is closed, and, if it is drained, until what is in progress has
    /// ended.
    pub(super) fn work(mut self) {
        #[cfg(feature = "tokio")]
        let tokio = self.shared.options.tokio.clone();
        #[cfg(feature = "tokio")]
        let _context = tokio.as_ref().map(|tokio| tokio.enter());
        let shared = self.shared.clone();
        let mut is_silent = false;
        while !shared.stopping.load(Ordering::Acquire) {
            let heard = shared.bell.heard();
            let round = self.round();
            if let (Ok(_), true) = (&round, is_silent) {
                is_silent = false;
                tracing::info!("the store of the outbox answers again");
            }
            match round {
                Ok(true) => {}
                Ok(false) if shared.draining.load(Ordering::Acquire) && self.flights.is_empty() => {
                    break;
                }
                Ok(false) => shared.bell.wait(heard, self.idle_time()),
                Err(error @ StoreError::Failed { .. }) => {
                    tracing::error!("the outbox ends, because its store failed: {error}");
                    break;
                }
                // A database that does not answer now may do so later.
                Err(error) => {
                    if !std::mem::replace(&mut is_silent, true) {
                        tracing::warn!("the store of the outbox does not answer: {error}");
                    }
                    shared.bell.wait(heard, STORE_PAUSE);
                }
            }
        }
    }

    /// Works until nothing is due and nothing in progress can continue by itself.
    pub(super) fn until_idle(mut self) -> Result<(), StoreError> {
        loop {
            let heard = self.shared.bell.heard();
            if self.round()? {
                continue;
            }
            if self.flights.is_empty() {
                return Ok(());
            }
            self.shared.bell.wait(heard, self.idle_time());
        }
    }

    /// One round. False when there was nothing to do.
    fn round(&mut self) -> Result<bool, StoreError> {
        let shared = self.shared.clone();
        let result = self.try_round(&shared);
        shared.note(result.as_ref().err());
        result
    }

    fn try_round(&mut self, shared: &Shared) -> Result<bool, StoreError> {
        let ended = self.poll_all(shared);
        let settled = !ended.is_empty();
        for (claim, result) in ended {
            settle(shared, &claim, result)?;
        }
        if settled {
            shared.store.commit_messages()?;
        }
        let now = shared.options.clock.now();
        let worked = self.begin(shared, now)? || settled;
        self.rounds += 1;
        if !worked || self.rounds >= ROUNDS_PER_MAINTENANCE {
            self.rounds = 0;
            shared.store.maintain_messages(now)?;
        }
        Ok(worked)
    }

    /// Claims as many messages as there is room for. False if there were none.
    fn begin(&mut self, shared: &Shared, now: Timestamp) -> Result<bool, StoreError> {
        let options = &shared.options;
        let room = options.in_flight_max - self.flights.len();
        let is_open = !shared.draining.load(Ordering::Acquire);
        if room == 0 || !is_open || shared.store.next_due()?.is_none_or(|due| due > now) {
            return Ok(false);
        }
        let claimed = shared.store.claim_messages(now, options.lease, room)?;
        let any = !claimed.is_empty();
        for claim in claimed.into_iter().map(Arc::new) {
            let forwarder = shared.forwarder.clone();
            let handed = claim.clone();
            self.flights.push(Flight {
                claim,
                attempt: Box::pin(async move { forwarder.forward(&handed.message).await }),
                signal: Arc::new(Signal {
                    is_up: AtomicBool::new(true),
                    bell: shared.bell.clone(),
                }),
                until: now.after(options.attempt_max),
            });
        }
        Ok(any)
    }

    /// Polls every attempt that wants it, and takes out the finished ones.
    fn poll_all(
        &mut self,
        shared: &Shared,
    ) -> Vec<(Arc<ClaimedMessage>, Result<(), ForwardError>)> {
        let mut ended = Vec::new();
        self.flights.retain_mut(|flight| {
            // Read again for each: earlier polls may have taken long, and after its end the claim
            // may belong to another worker.
            if shared.options.clock.now() >= flight.until {
                let limit = shared.options.attempt_max;
                let error = ForwardError::failed(format_args!("no end after {limit:?}"));
                ended.push((flight.claim.clone(), Err(error)));
                return false;
            }
            if !flight.signal.is_up.swap(false, Ordering::AcqRel) {
                return true;
            }
            match poll(flight) {
                Poll::Pending => true,
                Poll::Ready(result) => {
                    ended.push((flight.claim.clone(), result));
                    false
                }
            }
        });
        ended
    }

    /// How long there is nothing to do, unless the worker is woken.
    fn idle_time(&self) -> Duration {
        let options = &self.shared.options;
        let now = options.clock.now();
        let ends = self.flights.iter().map(|flight| flight.until.since(now));
        ends.min().map_or(options.poll_every, |until| until.min(options.poll_every))
    }
}

fn poll(flight: &mut Flight) -> Poll<Result<(), ForwardError>> {
    let waker = Waker::from(flight.signal.clone());
    let attempt = flight.attempt.as_mut();
    // The attempt is dropped after a panic; the forwarder is responsible for its shared state.
    let polled = AssertUnwindSafe(|| attempt.poll(&mut Context::from_waker(&waker)));
    catch_unwind(polled).unwrap_or_else(|payload| {
        let said = panic_message(&*payload);
        Poll::Ready(Err(ForwardError::failed(format_args!("the forwarder panicked: {said}"))))
    })
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Records the result of an attempt.
fn settle(
    shared: &Shared,
    claim: &ClaimedMessage,
    result: Result<(), ForwardError>,
) -> Result<(), StoreError> {
    let counts = &shared.counts;
    let (delivery, count) = match result {
        Ok(()) => (DeliveryResult::Forwarded, &counts.forwarded),
        Err(error) => {
            let failed = claim.attempts.saturating_add(1);
            let random = mix(shared.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed));
            let pause = shared.options.retry.pause(failed, random);
            match pause.filter(|_| !error.is_refused()) {
                Some(pause) => {
                    let at = shared.options.clock.now().after(pause);
                    (DeliveryResult::Retry { at }, &counts.failed)
                }
                None => (DeliveryResult::Dead { reason: error.message().to_owned() }, &counts.dead),
            }
        }
    };
    let still_ours = shared.store.settle(claim, delivery)?;
    let count = if still_ours { count } else { &counts.overtaken };
    count.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[derive(Default)]
pub(super) struct Tally {
    pub(super) forwarded: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) dead: AtomicU64,
    pub(super) overtaken: AtomicU64,
}
