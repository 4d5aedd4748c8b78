//! The outbox: messages that take effect exactly once.
//!
//! A process can die between a change here and a message to another system. The message is
//! therefore stored in the same atomic write as the end of the step ([`Step::send`]), and an
//! [`Outbox`] forwards it afterwards until it succeeds. The receiver recognises repetitions by the
//! message's key, as an [`Inbox`] does. Together, each message takes effect once.
//!
//! [`Step::send`]: crate::Step::send
//!
//! ```
//! use rialto_flow::outbox::{ForwardError, Forwarder, Inbox, Options, Outbox, OutboxStore};
//! use rialto_flow::store::{Accepted, MemoryStore, OutboxMessage};
//! use std::sync::Arc;
//!
//! /// Here the receiver is in the same process; otherwise this would be a request over a network.
//! struct ToBank(Inbox);
//!
//! impl Forwarder for ToBank {
//!     async fn forward(&self, message: &OutboxMessage) -> Result<(), ForwardError> {
//!         let then = vec![OutboxMessage::new("audit", message.payload.clone())];
//!         // Whether it is new or a duplicate, the receiver has it now.
//!         self.0.accept("shop", &message.key, then)?;
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (shop, bank) = (Arc::new(MemoryStore::default()), Arc::new(MemoryStore::default()));
//! let options = Options { workers: 0, ..Options::default() };
//! let outbox = Outbox::open(shop, ToBank(Inbox::new(bank.clone())), options)?;
//! let payment = OutboxMessage::new("bank", "pay 5").with_key("payment-1");
//! outbox.post(vec![payment.clone(), payment])?;
//! outbox.run_until_idle()?;
//! assert_eq!(outbox.counts().forwarded, 2);
//! assert_eq!(bank.backlog()?.waiting, 1);
//! # Ok(()) }
//! ```

mod forwarder;
mod inbox;
mod options;
mod signal;
mod store;
mod worker;

pub use forwarder::{ForwardError, Forwarder};
pub use inbox::Inbox;
pub use options::Options;
pub use store::{InboxStore, OutboxStore};

use crate::store::{Backlog, DeadMessage, MessageNumber, OutboxMessage, StoreError};
use forwarder::AnyForwarder;
use signal::WorkerSignal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use worker::{Tally, Worker};

/// Forwards the messages of a store.
///
/// Any number of them may work on one store: a message is claimed before it is forwarded. Dropping
/// it ends the attempts in progress; their messages stay claimed until the lease ends and are then
/// forwarded again by another worker. [`Outbox::drain`] lets them end first.
pub struct Outbox {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// The error of opening an outbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutboxError {
    /// The options contradict each other.
    #[error("the options of the outbox are invalid: {0}")]
    Options(String),
    /// A thread could not be started.
    #[error("cannot start a worker of the outbox: {0}")]
    Thread(String),
}

/// The counts of an outbox since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxCounts {
    /// Messages that were delivered.
    pub forwarded: u64,
    /// Attempts that have failed and are to be repeated.
    pub failed: u64,
    /// Messages that became dead letters.
    pub dead: u64,
    /// Attempts that ended after another worker had taken over the message; their result is not
    /// recorded. Many of them mean that the lease is too short.
    pub overtaken: u64,
}

struct Shared {
    store: Arc<dyn OutboxStore>,
    forwarder: Arc<dyn AnyForwarder>,
    options: Options,
    bell: Arc<WorkerSignal>,
    counts: Tally,
    random: AtomicU64,
    /// No more messages are claimed.
    draining: AtomicBool,
    /// Nothing more is done at all.
    stopping: AtomicBool,
    /// The last error of the store.
    failure: Mutex<Option<StoreError>>,
}

impl Shared {
    fn note(&self, failure: Option<&StoreError>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure.cloned();
    }
}

impl Outbox {
    /// Begins to forward the messages of a store.
    pub fn open(
        store: Arc<dyn OutboxStore>,
        forwarder: impl Forwarder,
        options: Options,
    ) -> Result<Self, OutboxError> {
        options.check()?;
        let shared = Arc::new(Shared {
            store,
            forwarder: Arc::new(forwarder),
            bell: Arc::default(),
            counts: Tally::default(),
            random: AtomicU64::new(options.seed),
            draining: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            failure: Mutex::default(),
            options,
        });
        let mut outbox = Self { shared: shared.clone(), threads: Vec::new() };
        for _ in 0..shared.options.workers {
            let worker = Worker::new(shared.clone());
            let thread = std::thread::Builder::new().name("outbox".to_owned());
            let thread = thread
                .spawn(move || worker.work())
                .map_err(|error| OutboxError::Thread(error.to_string()))?;
            outbox.threads.push(thread);
        }
        Ok(outbox)
    }

    /// Stores messages that belong to no step, and forwards them.
    pub fn post(&self, messages: Vec<OutboxMessage>) -> Result<(), StoreError> {
        self.shared.store.post(messages)?;
        self.wake();
        Ok(())
    }

    /// Wakes the workers to look for messages now. They also do so at
    /// [intervals](Options::poll_every).
    pub fn wake(&self) {
        self.shared.bell.ring();
    }

    /// Works on the calling thread until nothing is due and nothing is in progress. Messages that
    /// are to be tried again later are left.
    pub fn run_until_idle(&self) -> Result<(), StoreError> {
        Worker::new(self.shared.clone()).until_idle()
    }

    /// The number of messages.
    pub fn backlog(&self) -> Result<Backlog, StoreError> {
        self.shared.store.backlog()
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> OutboxCounts {
        let tally = &self.shared.counts;
        OutboxCounts {
            forwarded: tally.forwarded.load(Ordering::Relaxed),
            failed: tally.failed.load(Ordering::Relaxed),
            dead: tally.dead.load(Ordering::Relaxed),
            overtaken: tally.overtaken.load(Ordering::Relaxed),
        }
    }

    /// The last error of the store, if its last call failed. The workers retry, unless it is
    /// [`StoreError::Failed`].
    #[must_use]
    pub fn failure(&self) -> Option<StoreError> {
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The dead letters with greater numbers than `after`, in order, at most `max`.
    pub fn dead_letters(
        &self,
        after: Option<MessageNumber>,
        max: usize,
    ) -> Result<Vec<DeadMessage>, StoreError> {
        self.shared.store.dead_letters(after, max)
    }

    /// Makes a dead letter due at once, with its attempts forgotten. With an ordering key it
    /// precedes all messages that are not claimed. False if there is none with that number.
    pub fn requeue(&self, message: MessageNumber) -> Result<bool, StoreError> {
        let found = self.shared.store.requeue(message)?;
        self.wake();
        Ok(found)
    }

    /// Removes a dead letter. False if there is none with that number.
    pub fn discard(&self, message: MessageNumber) -> Result<bool, StoreError> {
        self.shared.store.discard(message)
    }

    /// Begins no more attempts, and ends when those in progress have ended or the time is over.
    /// True if all have ended.
    pub fn drain(mut self, within: Duration) -> bool {
        self.shared.draining.store(true, Ordering::Release);
        self.wake();
        let begun = Instant::now();
        while begun.elapsed() < within && self.threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        let drained = self.threads.iter().all(JoinHandle::is_finished);
        self.stop();
        drained
    }

    fn stop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.bell.ring();
        for thread in self.threads.drain(..) {
            // Panics of forwarders are caught; after any other failure, the messages are still
            // stored.
            let _ = thread.join();
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The example of the page about the outbox compiles and runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/outbox.md")]
mod page {}
