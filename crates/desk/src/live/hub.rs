//! The listeners of each subscription, and the sequence from which each one receives.
//!
//! The folding thread takes the table out while it folds and publishes, and puts it back at the end
//! of each round. Listeners that subscribe meanwhile join when the table is back, so that each
//! subscription begins after a definite sequence.

use super::{Listener, PrivateChannel};
use rialto_model::{AccountId, InstrumentId, Seq};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kinds of subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subscription {
    /// A whole book: first a snapshot, then changes.
    Book(InstrumentId),
    /// The best levels of a book, complete each time.
    Top(InstrumentId),
    /// Trades.
    Trades(InstrumentId),
    /// The statistics of the last 24 hours.
    Ticker(InstrumentId),
    /// The phase and the auction.
    Auction(InstrumentId),
    /// A private channel of an account.
    Own(PrivateChannel, AccountId),
}

/// The listeners by subscription.
#[derive(Default)]
pub(super) struct Table {
    subscribers: HashMap<Subscription, Vec<Arc<dyn Listener>>>,
    /// The number of private subscriptions.
    own: usize,
}

impl Table {
    pub(super) fn of(&self, subscription: Subscription) -> &[Arc<dyn Listener>] {
        self.subscribers.get(&subscription).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.subscribers.is_empty()
    }

    pub(super) fn has_own(&self) -> bool {
        self.own > 0
    }

    fn join(&mut self, subscription: Subscription, listener: Arc<dyn Listener>, seq: Seq) {
        listener.joined(subscription, seq);
        self.subscribers.entry(subscription).or_default().push(listener);
        self.own += usize::from(matches!(subscription, Subscription::Own(..)));
    }

    fn leave(&mut self, subscription: Subscription, listener: &Arc<dyn Listener>) {
        let Some(subscribers) = self.subscribers.get_mut(&subscription) else { return };
        let before = subscribers.len();
        subscribers.retain(|other| !std::ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(listener)));
        if matches!(subscription, Subscription::Own(..)) {
            self.own -= before - subscribers.len();
        }
        if subscribers.is_empty() {
            self.subscribers.remove(&subscription);
        }
    }
}

/// Dropping a table closes its listeners, also when the folding thread panics.
impl Drop for Table {
    fn drop(&mut self) {
        for listener in self.subscribers.values().flatten() {
            listener.closed();
        }
    }
}

/// The table, or the changes to apply when the folding thread puts it back.
pub(super) struct Hub {
    state: Mutex<State>,
    closed: AtomicBool,
}

struct State {
    table: Option<Table>,
    changes: Vec<Change>,
    /// The last sequence that was published.
    published: Seq,
}

enum Change {
    Join(Subscription, Arc<dyn Listener>),
    Leave(Subscription, Arc<dyn Listener>),
}

impl Hub {
    pub(super) fn new(published: Seq) -> Hub {
        let state = State { table: Some(Table::default()), changes: Vec::new(), published };
        Hub { state: Mutex::new(state), closed: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code here panics between two dependent changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes a listener, and calls it with the sequence after which it receives.
    pub(super) fn join(&self, subscription: Subscription, listener: Arc<dyn Listener>) {
        self.change(Change::Join(subscription, listener));
    }

    /// Ends a subscription. The listener must ignore publications until it has ended.
    pub(super) fn leave(&self, subscription: Subscription, listener: Arc<dyn Listener>) {
        self.change(Change::Leave(subscription, listener));
    }

    fn change(&self, change: Change) {
        let mut state = self.lock();
        let State { table, changes, published } = &mut *state;
        match table {
            Some(table) => change.apply(table, *published),
            None => changes.push(change),
        }
    }

    /// The last published sequence: listeners have received everything up to it.
    pub(super) fn published(&self) -> Seq {
        self.lock().published
    }

    /// Takes the table out; no listener joins until it is put back.
    pub(super) fn take(&self) -> Table {
        self.lock().table.take().unwrap_or_default()
    }

    /// Puts the table back after everything through `published` has been published.
    pub(super) fn put_back(&self, mut table: Table, published: Seq) {
        let mut state = self.lock();
        state.published = published;
        for change in state.changes.drain(..) {
            change.apply(&mut table, published);
        }
        state.table = Some(table);
    }

    /// Closes all listeners; nothing more is published.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.take());
        self.put_back(Table::default(), self.published());
    }

    /// Reopens a closed hub after the sequence `published`. Listeners that joined meanwhile are
    /// closed, because they would miss the events between.
    pub(super) fn reopen(&self, published: Seq) {
        drop(self.take());
        self.closed.store(false, Ordering::Release);
        self.put_back(Table::default(), published);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Change {
    fn apply(self, table: &mut Table, published: Seq) {
        match self {
            Change::Join(subscription, listener) => table.join(subscription, listener, published),
            Change::Leave(subscription, listener) => table.leave(subscription, &listener),
        }
    }
}
