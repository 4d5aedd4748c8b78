//! The thread that folds released events and publishes to subscribers.

use super::auctions::AuctionPasses;
use super::hub::{Subscription, Table};
use super::private::{PrivateChannel, owners};
use super::publication::{Content, Publication};
use super::{FoldCounts, LiveError, Shared};
use crate::NameTable;
use rialto_engine::{EventBatch, EventReader};
use rialto_feed::{AuctionView, BalanceView, BookDelta, Feed, PublicTrade, Ticker, Update};
use rialto_model::{Event, InstrumentId, Seq, Timestamp};
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Folding and indicative prices each give way after this time: the first to queries, the second to
/// the next round of folding. A single price may take longer.
const ROUND: Duration = Duration::from_millis(1);
/// The commands folded between two readings of the clock: a few microseconds of folding.
const COMMANDS_PER_LOOK: usize = 16;
/// How long the thread waits for events before it checks for a stop.
const WAIT: Duration = Duration::from_millis(50);
/// The longest time for which waiting queries may run before folding continues.
const COURTESY: Duration = Duration::from_micros(200);

/// The rest after publishing, as a multiple of the time of publishing, so that publishing takes a
/// fifth of a processor. Changes during the rest are conflated: a level that changes twice is
/// published once.
const REST: u32 = 4;
/// The shortest rest; shorter ones are accumulated.
const REST_MIN: Duration = Duration::from_micros(400);
/// The longest rest. Publishing that takes more than a quarter of this takes more than a fifth of a
/// processor.
const REST_MAX: Duration = Duration::from_millis(50);
/// The number of waiting commands that ends a rest, and of commands read at once.
const WAITING_MAX: u64 = 1_024;
/// The interval at which a rest checks the number of waiting commands.
const REST_LOOK: Duration = Duration::from_millis(1);

pub(super) struct Folder {
    shared: Arc<Shared>,
    reader: EventReader,
    /// Batches that are read and not yet folded.
    batches: VecDeque<EventBatch>,
    count_after: Seq,
    /// When the rest for everything published so far ends.
    rested: Instant,
    auctions: AuctionPasses,
}

/// A change that has subscribers.
enum FeedChange {
    Book(Arc<BookDelta>),
    Trade(PublicTrade),
    Ticker(Ticker),
    Auction(AuctionView),
    Balance(BalanceView),
}

struct PrivateEvents {
    seq: Seq,
    time: Timestamp,
    events: Vec<Event>,
}

/// The result of one round of folding.
struct FoldRound {
    changes: Vec<FeedChange>,
    own: Vec<PrivateEvents>,
    last: Seq,
}

impl Folder {
    pub(super) fn new(shared: Arc<Shared>, reader: EventReader, count_after: Seq) -> Folder {
        let now = Instant::now();
        let (batches, auctions) = (VecDeque::new(), AuctionPasses::new(now));
        Folder { shared, reader, batches, count_after, rested: now, auctions }
    }

    pub(super) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        // A panic must still wake the waiters.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.follow()));
        let fault = outcome.unwrap_or(Err(LiveError::Panicked)).err();
        *shared.fault() = fault.map(Arc::new);
        shared.hub.close();
        // Wakes the waiters for a sequence that will never be folded.
        shared.folded.send_modify(|_| {});
    }

    fn follow(&mut self) -> Result<(), LiveError> {
        while !self.shared.stop.load(Ordering::Acquire) {
            self.read()?;
            if !self.batches.is_empty() {
                let publishing = self.round()?;
                self.rest_after(publishing);
            } else if self.reader.is_over() {
                break;
            }
            self.refresh_auctions();
        }
        Ok(())
    }

    /// Continues with the indicative prices of calls for about [`ROUND`]: at least one, if any is
    /// left.
    fn refresh_auctions(&mut self) {
        let began = Instant::now();
        let shared = &self.shared;
        self.auctions.begin(began, || shared.read().auctions_to_refresh().collect());
        let mut from = began;
        while let Some(instrument) = self.auctions.take_next() {
            self.refresh_auction(instrument);
            let now = Instant::now();
            self.auctions.computed(from, now);
            if now - began >= ROUND {
                return;
            }
            from = now;
        }
    }

    /// Computes the indicative price of a call and publishes it.
    fn refresh_auction(&self, instrument: InstrumentId) {
        let table = self.shared.hub.take();
        let mut changes = Vec::new();
        let last = {
            let mut feed = self.shared.feed.write().unwrap_or_else(PoisonError::into_inner);
            feed.refresh_auction(instrument, &mut |update| keep(update, &table, &mut changes));
            feed.seq()
        };
        self.publish(&FoldRound { changes, own: Vec::new(), last }, &table);
        self.shared.hub.put_back(table, self.shared.hub.published());
        self.let_readers_through();
    }

    /// Reads batches to fold. Waits if there are none, unless indicative prices are left.
    fn read(&mut self) -> Result<(), LiveError> {
        self.batches.retain(|batch| batch.remaining() > 0);
        if self.batches.is_empty() {
            let next = match self.auctions.is_under_way() {
                true => self.reader.try_next()?,
                false => self.reader.next_timeout(WAIT)?,
            };
            self.batches.extend(next);
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

    /// Yields the processor in proportion to the time of publishing.
    fn rest_after(&mut self, publishing: Duration) {
        let began = Instant::now();
        // Time without anything to publish counts as rest.
        let rested = self.rested.max(began - publishing) + publishing * (1 + REST);
        self.rested = rested.min(began + REST_MAX);
        let rest = self.rested.saturating_duration_since(began);
        if rest < REST_MIN {
            return;
        }
        let must_go_on = || {
            self.shared.stop.load(Ordering::Acquire)
                || self.reader.released().0.saturating_sub(self.shared.hub.published().0)
                    >= WAITING_MAX
        };
        while began.elapsed() < rest && !must_go_on() {
            std::thread::sleep(rest.saturating_sub(began.elapsed()).min(REST_LOOK));
        }
    }

    /// Folds for about [`ROUND`], makes the result visible to queries, and then publishes to
    /// subscribers. Returns the time of publishing.
    fn round(&mut self) -> Result<Duration, LiveError> {
        let shared = Arc::clone(&self.shared);
        let table = shared.hub.take();
        let folded = {
            let mut feed = shared.feed.write().unwrap_or_else(PoisonError::into_inner);
            let folded = self.fold(&mut feed, &table);
            // Names are updated before queries can see the feed, so that no name in it is unknown.
            shared.learn_names(&feed);
            folded
        };
        let published = folded.as_ref().map_or(shared.hub.published(), |round| round.last);
        let began = Instant::now();
        if let Ok(round) = &folded {
            self.publish(round, &table);
        }
        let publishing = began.elapsed();
        shared.hub.put_back(table, published);
        shared.folded.send_replace(published);
        self.let_readers_through();
        folded.map(|_| publishing)
    }

    fn fold(&mut self, feed: &mut Feed, table: &Table) -> Result<FoldRound, LiveError> {
        let began = Instant::now();
        let mut round = FoldRound { changes: Vec::new(), own: Vec::new(), last: feed.seq() };
        let mut time = feed.time();
        // A round that fails is folded again after a restart, so that it counts only once it is complete.
        let counts = FoldCounts::default();
        let FoldRound { changes, own, last } = &mut round;
        let mut on_update = |update: Update<'_>| {
            if !table.is_empty() {
                keep(update, table, changes);
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
            let counts = (seq > self.count_after).then_some(&counts);
            let (stamped, events) = record.decode().map_err(undecodable)?;
            let mut is_own = false;
            for event in events {
                let event = event.map_err(undecodable)?;
                feed.fold(seq, stamped, &event, &mut on_update)?;
                is_own |= table.has_own() && has_subscribed_owner(&event, table);
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
        feed.end_of(*last, time, &mut on_update)?;
        self.shared.counts.add_all(&counts);
        Ok(round)
    }

    fn publish(&self, round: &FoldRound, table: &Table) {
        let publisher = TablePublisher { table, names: &self.shared.names() };
        // A listener that overflows at a public change has then received all its private events.
        for PrivateEvents { seq, time, events } in &round.own {
            let accounts: BTreeSet<_> = events.iter().flat_map(owners).flatten().collect();
            for account in accounts {
                for channel in [PrivateChannel::Orders, PrivateChannel::Fills] {
                    let own = Content::Own { time: *time, events };
                    publisher.publish(Subscription::Own(channel, account), *seq, own);
                }
            }
        }
        for change in &round.changes {
            match change {
                FeedChange::Book(delta) => {
                    let (seq, content) = (delta.last_seq, Content::Book(delta));
                    publisher.publish(Subscription::Book(delta.instrument), seq, content);
                    publisher.publish(Subscription::Top(delta.instrument), seq, content);
                }
                FeedChange::Trade(trade) => {
                    let subscription = Subscription::Trades(trade.instrument);
                    publisher.publish(subscription, trade.at.seq, Content::Trade(trade));
                }
                FeedChange::Ticker(ticker) => {
                    let subscription = Subscription::Ticker(ticker.instrument);
                    publisher.publish(subscription, ticker.at.seq, Content::Ticker(ticker));
                }
                FeedChange::Auction(auction) => {
                    let subscription = Subscription::Auction(auction.instrument);
                    publisher.publish(subscription, auction.at.seq, Content::Auction(auction));
                }
                FeedChange::Balance(balance) => {
                    let subscription = Subscription::Own(PrivateChannel::Balances, balance.account);
                    publisher.publish(subscription, balance.updated, Content::Balance(balance));
                }
            }
        }
    }

    /// Lets waiting queries run before the next round. The lock itself prefers the running thread,
    /// which under load is always this one.
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

/// Publishes to the listeners of a table.
struct TablePublisher<'a> {
    table: &'a Table,
    names: &'a NameTable,
}

impl TablePublisher<'_> {
    fn publish(&self, subscription: Subscription, seq: Seq, content: Content<'_>) {
        let listeners = self.table.of(subscription);
        if !listeners.is_empty() {
            let publication = Publication::new(subscription, seq, content, self.names);
            listeners.iter().for_each(|listener| listener.publish(&publication));
        }
    }
}

/// Keeps a copy of the changes that have subscribers.
fn keep(update: Update<'_>, table: &Table, changes: &mut Vec<FeedChange>) {
    let has_subscribers = |subscription| !table.of(subscription).is_empty();
    match update {
        Update::Book(delta) => {
            let instrument = delta.instrument;
            if has_subscribers(Subscription::Book(instrument))
                || has_subscribers(Subscription::Top(instrument))
            {
                changes.push(FeedChange::Book(Arc::new(delta.clone())));
            }
        }
        Update::Trade(trade) if has_subscribers(Subscription::Trades(trade.instrument)) => {
            changes.push(FeedChange::Trade(*trade));
        }
        Update::Ticker(ticker) if has_subscribers(Subscription::Ticker(ticker.instrument)) => {
            changes.push(FeedChange::Ticker(*ticker));
        }
        Update::Auction(auction) if has_subscribers(Subscription::Auction(auction.instrument)) => {
            changes.push(FeedChange::Auction(*auction));
        }
        Update::Balance(balance)
            if has_subscribers(Subscription::Own(PrivateChannel::Balances, balance.account)) =>
        {
            changes.push(FeedChange::Balance(*balance));
        }
        _ => {}
    }
}

/// Whether an owner of the event is subscribed to orders or fills.
fn has_subscribed_owner(event: &Event, table: &Table) -> bool {
    owners(event).into_iter().flatten().any(|account| {
        [PrivateChannel::Orders, PrivateChannel::Fills]
            .into_iter()
            .any(|channel| !table.of(Subscription::Own(channel, account)).is_empty())
    })
}
