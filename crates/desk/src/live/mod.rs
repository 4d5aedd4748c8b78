//! The live feed: a thread that folds released events into the state for queries and publishes them
//! to subscribers.
//!
//! The thread locks the feed for about a millisecond at a time, and lets waiting queries run in
//! between. When the engine is faster than folding, the feed lags: [`Live::lag`] returns by how
//! much. Only queries that ask for a sequence wait for it.

mod auctions;
mod baseline;
mod begin;
mod counts;
mod fold;
mod hub;
mod private;
mod publication;
mod restart;

pub use baseline::{baseline_of, baseline_order};
pub use counts::FoldCounts;
pub use hub::Subscription;
pub use private::{PrivateChannel, owners};
pub use publication::{Content, Listener, Publication};

use crate::{Listing, NameTable};
use fold::Folder;
use hub::Hub;
use rialto_engine::{Engine, EventReader, ReadEventsError, ReplayError};
use rialto_feed::{Feed, FeedConfig, FoldError};
use rialto_model::{DecodeError, Seq, Symbol};
use rialto_threads::lower_priority;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// The settings of a live feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveConfig {
    /// The limits of the feed's history.
    pub feed: FeedConfig,
    /// The number of commands before the end of the journal at which the feed begins, so that
    /// trades, fills and ended orders survive a restart; at least [`LiveConfig::HISTORY_MIN`].
    pub history: u64,
    /// The number of commands before those whose trades of the last 24 hours are read into tickers,
    /// last trades and fills.
    pub backfill: u64,
    /// The number of past commands from which a private stream can be resumed; older ones are
    /// `too_far_back`.
    pub replay: u64,
    /// By how much the priority of the folding thread is lowered, on Linux: 0 to 19. Publishing to
    /// many subscribers must not take the processor from trading.
    pub nice: u8,
}

impl LiveConfig {
    /// The least [`LiveConfig::history`]. Within this many commands even the longest suspended
    /// matching is complete, and a feed can begin only then.
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

/// The error that prevents a live feed from starting or continuing.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The initial state could not be made.
    #[error("the initial state of the live feed cannot be made")]
    Begin(#[from] ReplayError),
    /// The event log could not be read.
    #[error(transparent)]
    Read(#[from] ReadEventsError),
    /// A record of the event log could not be decoded.
    #[error("the events of sequence {seq} cannot be decoded")]
    Decode {
        /// The sequence.
        seq: Seq,
        /// The decoder's error.
        source: DecodeError,
    },
    /// Events contradict the state before them.
    #[error(
        "the events contradict the state before them: a defect, or the event log was changed; verify the data"
    )]
    Fold(#[from] FoldError),
    /// The system refused to start a thread.
    #[error("the thread of the live feed cannot be started")]
    Thread(#[source] std::io::Error),
    /// The thread of the live feed panicked.
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

/// The state that the folding thread shares with queries.
struct Shared {
    feed: RwLock<Feed>,
    /// The names of everything in the feed.
    names: RwLock<Arc<NameTable>>,
    /// Readers that wait for the feed; the folding thread yields to them.
    waiting: AtomicUsize,
    stop: AtomicBool,
    /// The last sequence that is folded and published.
    folded: watch::Sender<Seq>,
    hub: Hub,
    counts: FoldCounts,
    fault: Mutex<Option<Arc<LiveError>>>,
}

impl Live {
    /// Makes the feed as of [`LiveConfig::history`] commands ago and folds from there. It has
    /// caught up when [`Live::wait_for`] has waited for the engine's
    /// [`released`](Engine::released).
    ///
    /// # Errors
    /// The initial state cannot be made.
    pub fn start(engine: &Engine, config: LiveConfig) -> Result<Arc<Live>, LiveError> {
        Live::start_counting(engine, config, engine.released())
    }

    /// As [`Live::start`]; only commands after `count_after` are counted.
    fn start_counting(
        engine: &Engine,
        config: LiveConfig,
        count_after: Seq,
    ) -> Result<Arc<Live>, LiveError> {
        let feed = begin::begin(engine, &config)?;
        let seq = feed.seq();
        let shared = Arc::new(Shared {
            names: RwLock::new(Arc::new(NameTable::of(&feed))),
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

    /// Starts the thread that folds from `from` on; only commands after `count_after` are counted.
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

    /// Locks the feed for reading. The guard blocks folding: hold it briefly.
    pub fn read(&self) -> RwLockReadGuard<'_, Feed> {
        self.shared.read()
    }

    /// The names of the instruments and currencies in the feed.
    #[must_use]
    pub fn names(&self) -> Arc<NameTable> {
        Arc::clone(&self.shared.names())
    }

    /// The instrument with this symbol, if the feed has it.
    #[must_use]
    pub fn listing(&self, symbol: &Symbol) -> Option<Listing> {
        self.shared.names().by_symbol(symbol).copied()
    }

    /// The last sequence that is visible to queries and published to subscribers.
    #[must_use]
    pub fn seq(&self) -> Seq {
        *self.shared.folded.borrow()
    }

    /// The number of released commands that are not folded yet.
    #[must_use]
    pub fn lag(&self) -> u64 {
        self.events.released().0.saturating_sub(self.seq().0)
    }

    /// Waits until the feed has folded `seq`; `false` after `timeout`, or if the feed has ended.
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

    /// The error that ended the feed, if there is one.
    #[must_use]
    pub fn fault(&self) -> Option<Arc<LiveError>> {
        self.shared.fault().clone()
    }

    /// Counts since the start.
    #[must_use]
    pub fn counts(&self) -> &FoldCounts {
        &self.shared.counts
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &LiveConfig {
        &self.config
    }

    /// Ends the thread. The feed can still be read; listeners are closed.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic was already reported by the thread.
            drop(thread.join());
        }
    }

    /// Subscribes a listener, and calls it with the sequence after which it receives.
    pub fn join(&self, subscription: Subscription, listener: Arc<dyn Listener>) {
        self.shared.hub.join(subscription, listener);
    }

    /// Ends a subscription, asynchronously: the listener may still receive a few publications.
    pub fn leave(&self, subscription: Subscription, listener: Arc<dyn Listener>) {
        self.shared.hub.leave(subscription, listener);
    }

    /// The last sequence whose events are all published to subscribers.
    #[must_use]
    pub fn published(&self) -> Seq {
        self.shared.hub.published()
    }

    /// A reader of released events from `from` on.
    #[must_use]
    pub fn events(&self, from: Seq) -> EventReader {
        self.events.again(from)
    }

    /// The oldest sequence from which a private stream can be resumed.
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
        // Only the folding thread writes. After its panic the state is as good as after a failed
        // fold, and the fault is set.
        let feed = self.feed.read().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        feed
    }

    fn names(&self) -> RwLockReadGuard<'_, Arc<NameTable>> {
        // The table is only ever replaced as a whole.
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds new instruments and currencies to the names.
    fn learn_names(&self, feed: &Feed) {
        if self.names().are_behind(feed) {
            let names = Arc::new(NameTable::of(feed));
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
