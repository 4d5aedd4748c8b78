//! The thread that folds released events and tells subscribers.

use super::hub::{Subscription, Table};
use super::news::{News, What};
use super::private::{PrivateChannel, owners};
use super::{LiveError, Shared};
use crate::Names;
use rialto_engine::{EventBatch, EventReader};
use rialto_feed::{BalanceView, BookDelta, Feed, PublicTrade, Ticker, Update};
use rialto_model::{Event, Seq, Timestamp};
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How long queries may be kept waiting by one round of folding.
const ROUND: Duration = Duration::from_millis(1);
/// Commands between two looks at the clock: a few microseconds of folding.
const COMMANDS_PER_LOOK: usize = 16;
/// How long the thread waits for events before it looks whether it is to stop.
const WAIT: Duration = Duration::from_millis(50);
/// How long queries that wait are let through at most before folding goes on.
const COURTESY: Duration = Duration::from_micros(200);

/// After publishing, the thread rests for four times as long as that took. Publishing then
/// takes a fifth of a processor. Changes meanwhile are published together: a level that changes
/// twice is published once.
const REST: u32 = 4;
/// Shorter rests are added up until they are as long.
const REST_MIN: Duration = Duration::from_micros(400);
/// No rest is longer, so that telling which takes longer than a quarter of it takes more than a fifth.
const REST_MAX: Duration = Duration::from_millis(50);
/// A rest ends when as many commands wait to be folded. As many are read at a time.
const WAITING_MAX: u64 = 1_024;
/// How often a rest looks at the number of commands that wait.
const REST_LOOK: Duration = Duration::from_millis(1);

pub(super) struct Folder {
    shared: Arc<Shared>,
    reader: EventReader,
    /// What was read and is not folded yet.
    batches: VecDeque<EventBatch>,
    count_after: Seq,
    /// When the thread has rested for what it published so far.
    rested: Instant,
}

/// A change that has subscribers.
enum FeedChange {
    Book(Arc<BookDelta>),
    Trade(PublicTrade),
    Ticker(Ticker),
    Balance(BalanceView),
}

struct PrivateEvents {
    seq: Seq,
    time: Timestamp,
    events: Vec<Event>,
}

/// What one round found out.
struct FoldRound {
    told: Vec<FeedChange>,
    own: Vec<PrivateEvents>,
    last: Seq,
}

impl Folder {
    pub(super) fn new(shared: Arc<Shared>, reader: EventReader, count_after: Seq) -> Folder {
        Folder { shared, reader, batches: VecDeque::new(), count_after, rested: Instant::now() }
    }

    pub(super) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        // A thread that panics must not leave its waiters waiting.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.follow()));
        let fault = outcome.unwrap_or(Err(LiveError::Panicked)).err();
        *shared.fault() = fault.map(Arc::new);
        shared.hub.close();
        // Wakes the waiters for a sequence that will not come.
        shared.folded.send_modify(|_| {});
    }

    fn follow(&mut self) -> Result<(), LiveError> {
        while !self.shared.stop.load(Ordering::Acquire) {
            self.read()?;
            if !self.batches.is_empty() {
                let telling = self.round()?;
                self.rest_after(telling);
            } else if self.reader.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Reads what there is to be folded, and waits for it if there is nothing.
    fn read(&mut self) -> Result<(), LiveError> {
        self.batches.retain(|batch| batch.remaining() > 0);
        if self.batches.is_empty() {
            self.batches.extend(self.reader.next_timeout(WAIT)?);
        }
        let mut waiting = self.batches.iter().map(EventBatch::remaining).sum::<u64>();
        while waiting > 0
            && waiting < WAITING_MAX
            && let Some(batch) = self.reader.try_next()?
        {
            waiting += batch.remaining();
            self.batches.push_back(batch);
        }
        Ok(())
    }

    /// Leaves the processor to others in proportion to how long it took to tell subscribers.
    fn rest_after(&mut self, telling: Duration) {
        let began = Instant::now();
        // Time in which there was nothing to tell counts as rest.
        let rested = self.rested.max(began - telling) + telling * (1 + REST);
        self.rested = rested.min(began + REST_MAX);
        let rest = self.rested.saturating_duration_since(began);
        if rest < REST_MIN {
            return;
        }
        let is_wanted = || {
            self.shared.stop.load(Ordering::Acquire)
                || self.reader.released().0.saturating_sub(self.shared.hub.told().0) >= WAITING_MAX
        };
        while began.elapsed() < rest && !is_wanted() {
            std::thread::sleep(rest.saturating_sub(began.elapsed()).min(REST_LOOK));
        }
    }

    /// Folds for about [`ROUND`], lets queries see it, and then tells subscribers. Returns how long
    /// telling them took.
    fn round(&mut self) -> Result<Duration, LiveError> {
        let shared = Arc::clone(&self.shared);
        let table = shared.hub.take();
        let folded = {
            let mut feed = shared.feed.write().unwrap_or_else(PoisonError::into_inner);
            let folded = self.fold(&mut feed, &table);
            // Before queries can see it, so that names are never behind what they name.
            shared.learn_names(&feed);
            folded
        };
        let told = folded.as_ref().map_or(shared.hub.told(), |round| round.last);
        let began = Instant::now();
        if let Ok(round) = &folded {
            self.tell(round, &table);
        }
        let telling = began.elapsed();
        shared.hub.put_back(table, told);
        shared.folded.send_replace(told);
        self.let_readers_through();
        folded.map(|_| telling)
    }

    fn fold(&mut self, feed: &mut Feed, table: &Table) -> Result<FoldRound, LiveError> {
        let began = Instant::now();
        let mut round = FoldRound { told: Vec::new(), own: Vec::new(), last: feed.seq() };
        let mut time = feed.time();
        let FoldRound { told, own, last } = &mut round;
        let mut hear = |update: Update<'_>| {
            if !table.is_empty() {
                listen(update, table, told);
            }
        };
        let mut look = COMMANDS_PER_LOOK;
        while look > 0
            && let Some(batch) = self.batches.front_mut()
        {
            let Some(record) = batch.take_first() else {
                self.batches.pop_front();
                continue;
            };
            let seq = record.seq;
            let undecodable = |source| LiveError::Decode { seq, source };
            let counts = (seq > self.count_after).then_some(&self.shared.counts);
            let (stamped, events) = record.decode().map_err(undecodable)?;
            let mut is_own = false;
            for event in events {
                let event = event.map_err(undecodable)?;
                feed.fold(seq, stamped, &event, &mut hear)?;
                is_own |= table.has_own() && is_wanted(&event, table);
                if let Some(counts) = counts {
                    counts.count(&event);
                }
            }
            if let Some(counts) = counts {
                counts.count_command();
            }
            if is_own {
                let (time, events) = record.decode().map_err(undecodable)?;
                own.push(PrivateEvents {
                    seq,
                    time,
                    events: events.filter_map(Result::ok).collect(),
                });
            }
            (*last, time) = (seq, stamped);
            look -= 1;
            if look == 0 && began.elapsed() < ROUND {
                look = COMMANDS_PER_LOOK;
            }
        }
        feed.end_of(*last, time, &mut hear)?;
        Ok(round)
    }

    fn tell(&self, round: &FoldRound, table: &Table) {
        let tell = TablePublisher { table, names: &self.shared.names() };
        // A listener that is cut off at a public change has then received all its private events.
        for PrivateEvents { seq, time, events } in &round.own {
            let accounts: BTreeSet<_> = events.iter().flat_map(owners).flatten().collect();
            for account in accounts {
                for channel in [PrivateChannel::Orders, PrivateChannel::Fills] {
                    let own = What::Own { time: *time, events };
                    tell.of(Subscription::Own(channel, account), *seq, own);
                }
            }
        }
        for told in &round.told {
            match told {
                FeedChange::Book(delta) => {
                    let (seq, what) = (delta.last_seq, What::Book(delta));
                    tell.of(Subscription::Book(delta.instrument), seq, what);
                    tell.of(Subscription::Top(delta.instrument), seq, what);
                }
                FeedChange::Trade(trade) => {
                    let subscription = Subscription::Trades(trade.instrument);
                    tell.of(subscription, trade.at.seq, What::Trade(trade));
                }
                FeedChange::Ticker(ticker) => {
                    let subscription = Subscription::Ticker(ticker.instrument);
                    tell.of(subscription, ticker.at.seq, What::Ticker(ticker));
                }
                FeedChange::Balance(balance) => {
                    let subscription = Subscription::Own(PrivateChannel::Balances, balance.account);
                    tell.of(subscription, balance.updated, What::Balance(balance));
                }
            }
        }
    }

    /// Gives queries that wait a chance to be answered before the next round: the lock itself
    /// prefers whoever is running, and under load that is always this thread.
    fn let_readers_through(&self) {
        if self.shared.waiting.load(Ordering::Acquire) == 0 {
            return;
        }
        let began = Instant::now();
        while self.shared.waiting.load(Ordering::Acquire) > 0 && began.elapsed() < COURTESY {
            std::thread::yield_now();
        }
    }
}

/// Tells those in a table.
struct TablePublisher<'a> {
    table: &'a Table,
    names: &'a Names,
}

impl TablePublisher<'_> {
    fn of(&self, subscription: Subscription, seq: Seq, what: What<'_>) {
        let listeners = self.table.of(subscription);
        if !listeners.is_empty() {
            let news = News::new(subscription, seq, what, self.names);
            listeners.iter().for_each(|listener| listener.hear(&news));
        }
    }
}

/// Keeps a copy of the changes that have subscribers.
fn listen(update: Update<'_>, table: &Table, told: &mut Vec<FeedChange>) {
    let wanted = |subscription| !table.of(subscription).is_empty();
    match update {
        Update::Book(delta) => {
            let instrument = delta.instrument;
            if wanted(Subscription::Book(instrument)) || wanted(Subscription::Top(instrument)) {
                told.push(FeedChange::Book(Arc::new(delta.clone())));
            }
        }
        Update::Trade(trade) if wanted(Subscription::Trades(trade.instrument)) => {
            told.push(FeedChange::Trade(*trade));
        }
        Update::Ticker(ticker) if wanted(Subscription::Ticker(ticker.instrument)) => {
            told.push(FeedChange::Ticker(*ticker));
        }
        Update::Balance(balance)
            if wanted(Subscription::Own(PrivateChannel::Balances, balance.account)) =>
        {
            told.push(FeedChange::Balance(*balance));
        }
        _ => {}
    }
}

/// Whether an owner of the event is subscribed to orders or fills.
fn is_wanted(event: &Event, table: &Table) -> bool {
    owners(event).into_iter().flatten().any(|account| {
        [PrivateChannel::Orders, PrivateChannel::Fills]
            .into_iter()
            .any(|channel| !table.of(Subscription::Own(channel, account)).is_empty())
    })
}
