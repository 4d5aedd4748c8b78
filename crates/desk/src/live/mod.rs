//! The live feed: a thread that folds released events into what queries ask for, and tells
//! subscribers what happened.
//!
//! The thread holds the feed for about a millisecond at a time, so that no query waits longer,
//! and steps aside for those that wait. When the engine is faster than the fold, the feed lags;
//! [`Live::lag`] says by how much. Only queries that ask for a sequence wait for it.

mod baseline;
mod begin;
mod counts;
mod fold;
mod hub;
mod news;
mod priority;
mod private;
mod restart;

pub use baseline::{baseline_of, baseline_order};
pub use counts::FoldCounts;
pub use hub::Subscription;
pub use news::{Listener, News, What};
pub use priority::lower_priority;
pub use private::{PrivateChannel, fills_of, owners};

use crate::{Listing, Names};
use fold::Folder;
use hub::Hub;
use rialto_engine::{Engine, EventReader, ReadEventsError, ReplayError};
use rialto_feed::{Feed, FeedConfig, FoldError};
use rialto_model::{DecodeError, Seq, Symbol};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// How much a live feed remembers and how far behind the end it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveConfig {
    /// How much the feed remembers.
    pub feed: FeedConfig,
    /// Commands before the end of the journal with which the feed begins at a start, so that
    /// trades, fills and ended orders outlive it; at least [`LiveConfig::HISTORY_MIN`].
    pub history: u64,
    /// Commands before those whose trades of the last 24 hours are read back into tickers, last
    /// trades and fills.
    pub backfill: u64,
    /// Commands that one private stream may be resumed behind the present; further back is
    /// `too_far_back`.
    pub replay: u64,
    /// By how much the priority of the folding thread is lower, on Linux: 0 (not at all) to 19.
    /// Publishing to many subscribers must not take the processor from trading.
    pub nice: u8,
}

impl LiveConfig {
    /// The least that [`LiveConfig::history`] counts as: within so many commands the longest
    /// order that is on its way into the book has arrived, and only then can a feed begin.
    pub const HISTORY_MIN: u64 = 65_536;
}

impl Default for LiveConfig {
    fn default() -> Self {
        LiveConfig {
            feed: FeedConfig::default(),
            history: 1_000_000,
            backfill: 1_000_000,
            replay: 1_000_000,
            nice: 5,
        }
    }
}

/// Why the live feed cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The state to begin with could not be made.
    #[error("the state that the live feed begins with cannot be made")]
    Begin(#[from] ReplayError),
    /// The event log could not be read.
    #[error(transparent)]
    Read(#[from] ReadEventsError),
    /// A record of the event log could not be decoded.
    #[error("the events of sequence {seq} cannot be decoded")]
    Decode {
        /// Where.
        seq: Seq,
        /// What is wrong with them.
        source: DecodeError,
    },
    /// Events do not follow from what came before them.
    #[error("the events do not add up: a defect, or the event log was changed; verify the data")]
    Fold(#[from] FoldError),
    /// The system gives no thread.
    #[error("the thread of the live feed cannot be started")]
    Thread(#[source] std::io::Error),
    /// The thread of the live feed ended where it must not.
    #[error("the thread of the live feed panicked: a defect; its message was printed")]
    Panicked,
}

/// A feed that follows its engine.
pub struct Live {
    shared: Arc<Shared>,
    events: EventReader,
    config: LiveConfig,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the folding thread shares with everyone else.
struct Shared {
    feed: RwLock<Feed>,
    /// The names of all that the feed knows; never behind it.
    names: RwLock<Arc<Names>>,
    /// Readers that wait for the feed; the folding thread lets them go first.
    waiting: AtomicUsize,
    stop: AtomicBool,
    /// The last sequence that was folded and published.
    folded: watch::Sender<Seq>,
    hub: Hub,
    counts: FoldCounts,
    fault: Mutex<Option<Arc<LiveError>>>,
}

impl Live {
    /// Makes the feed as it was [`LiveConfig::history`] commands ago and starts to fold from
    /// there. It has caught up when [`Live::wait_for`] says so of the engine's
    /// [`released`](Engine::released).
    ///
    /// # Errors
    /// The state to begin with cannot be made; the error says why.
    pub fn start(engine: &Engine, config: LiveConfig) -> Result<Arc<Live>, LiveError> {
        Live::start_counting(engine, config, engine.released())
    }

    /// As [`Live::start`]; commands after `count_after` are counted.
    fn start_counting(
        engine: &Engine,
        config: LiveConfig,
        count_after: Seq,
    ) -> Result<Arc<Live>, LiveError> {
        let feed = begin::begin(engine, &config)?;
        let seq = feed.seq();
        let shared = Arc::new(Shared {
            names: RwLock::new(Arc::new(Names::of(&feed))),
            feed: RwLock::new(feed),
            waiting: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            folded: watch::Sender::new(seq),
            hub: Hub::new(seq),
            counts: FoldCounts::default(),
            fault: Mutex::new(None),
        });
        let events = engine.events(seq.next());
        let live = Live { shared, events, config, thread: Mutex::new(None) };
        live.follow_from(seq.next(), count_after)?;
        Ok(Arc::new(live))
    }

    /// Folds from `from` on, on a thread of its own; commands after `count_after` are counted.
    fn follow_from(&self, from: Seq, count_after: Seq) -> Result<(), LiveError> {
        let folder = Folder::new(Arc::clone(&self.shared), self.events.again(from), count_after);
        let nice = self.config.nice;
        let thread = std::thread::Builder::new()
            .name("live-feed".to_owned())
            .spawn(move || {
                lower_priority(nice);
                folder.run();
            })
            .map_err(LiveError::Thread)?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    /// The feed as it is now. The guard holds the feed back: take what is needed and let go.
    pub fn read(&self) -> RwLockReadGuard<'_, Feed> {
        self.shared.read()
    }

    /// The names of the instruments and currencies that the feed knows.
    #[must_use]
    pub fn names(&self) -> Arc<Names> {
        Arc::clone(&self.shared.names())
    }

    /// The instrument with this symbol, if the feed knows it.
    #[must_use]
    pub fn listing(&self, symbol: &Symbol) -> Option<Listing> {
        self.shared.names().by_symbol(symbol).copied()
    }

    /// The last sequence that queries and subscribers know of.
    #[must_use]
    pub fn seq(&self) -> Seq {
        *self.shared.folded.borrow()
    }

    /// How many released commands the feed has yet to fold.
    #[must_use]
    pub fn lag(&self) -> u64 {
        self.events.released().0.saturating_sub(self.seq().0)
    }

    /// Waits until the feed has folded `seq`; `false` if it has not within `timeout`, or never will.
    pub async fn wait_for(&self, seq: Seq, timeout: Duration) -> bool {
        let mut folded = self.shared.folded.subscribe();
        let reached = async {
            while *folded.borrow_and_update() < seq {
                if folded.changed().await.is_err() || self.shared.is_over() {
                    return *folded.borrow() >= seq;
                }
            }
            true
        };
        tokio::time::timeout(timeout, reached).await.unwrap_or(false)
    }

    /// What went wrong, if something did: then nothing more is folded.
    #[must_use]
    pub fn fault(&self) -> Option<Arc<LiveError>> {
        self.shared.fault().clone()
    }

    /// What has been folded since the start.
    #[must_use]
    pub fn counts(&self) -> &FoldCounts {
        &self.shared.counts
    }

    /// The settings it was started with.
    #[must_use]
    pub fn config(&self) -> &LiveConfig {
        &self.config
    }

    /// Ends the thread. What has been folded can still be read; subscribers are cut off.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // The thread itself has reported a panic, on its way out.
            drop(thread.join());
        }
    }

    /// Subscribes a listener, and reports to it when and from which sequence on it has joined.
    pub fn join(&self, subscription: Subscription, listener: Arc<dyn Listener>) {
        self.shared.hub.join(subscription, listener);
    }

    /// Ends a subscription. Until it has ended, a moment later, the listener may still hear of it.
    pub fn leave(&self, subscription: Subscription, listener: Arc<dyn Listener>) {
        self.shared.hub.leave(subscription, listener);
    }

    /// The last sequence whose events were all published to subscribers.
    #[must_use]
    pub fn told(&self) -> Seq {
        self.shared.hub.told()
    }

    /// A reader of released events, from `from` on.
    #[must_use]
    pub fn events(&self, from: Seq) -> EventReader {
        self.events.again(from)
    }

    /// The least sequence that a private stream may be resumed from.
    #[must_use]
    pub fn oldest_resume(&self) -> Seq {
        let kept = self.events.oldest().0.saturating_sub(1);
        Seq(kept.max(self.seq().0.saturating_sub(self.config.replay)))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, Feed> {
        if let Ok(feed) = self.feed.try_read() {
            return feed;
        }
        self.waiting.fetch_add(1, Ordering::AcqRel);
        // Only the folding thread writes; if it panicked, what it left is served no worse than
        // what a failed fold leaves, and the fault says so.
        let feed = self.feed.read().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        feed
    }

    fn names(&self) -> RwLockReadGuard<'_, Arc<Names>> {
        // It is replaced as a whole.
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what was listed since.
    fn learn_names(&self, feed: &Feed) {
        if self.names().are_behind(feed) {
            let names = Arc::new(Names::of(feed));
            *self.names.write().unwrap_or_else(PoisonError::into_inner) = names;
        }
    }

    fn fault(&self) -> std::sync::MutexGuard<'_, Option<Arc<LiveError>>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.hub.is_closed()
    }
}
