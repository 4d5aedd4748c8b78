//! Who is subscribed to what, and from which sequence on.
//!
//! The folding thread takes the table out while it folds and tells, and puts it back at the end of
//! each round. Whoever subscribes meanwhile joins when it comes back, so that it is always clear
//! which sequence a subscription begins after.

use super::{Listener, PrivateChannel};
use rialto_model::{AccountId, InstrumentId, Seq};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What can be subscribed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subscription {
    /// A whole book: first all of it, then what changes.
    Book(InstrumentId),
    /// The best levels of a book, whole each time.
    Top(InstrumentId),
    /// Trades.
    Trades(InstrumentId),
    /// The last 24 hours.
    Ticker(InstrumentId),
    /// Something that is an account's own.
    Own(PrivateChannel, AccountId),
}

/// The subscribers of everything.
#[derive(Default)]
pub(super) struct Table {
    subscribers: HashMap<Subscription, Vec<Arc<dyn Listener>>>,
    /// How many of the subscriptions are private.
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

/// Listeners in a table that ends hear no more: also when the thread that has it panics.
impl Drop for Table {
    fn drop(&mut self) {
        for listener in self.subscribers.values().flatten() {
            listener.over();
        }
    }
}

/// The table, or what is to be done to it when it comes back.
pub(super) struct Hub {
    state: Mutex<State>,
    closed: AtomicBool,
}

struct State {
    table: Option<Table>,
    changes: Vec<Change>,
    /// The last sequence that was published.
    told: Seq,
}

enum Change {
    Join(Subscription, Arc<dyn Listener>),
    Leave(Subscription, Arc<dyn Listener>),
}

impl Hub {
    pub(super) fn new(told: Seq) -> Hub {
        let state = State { table: Some(Table::default()), changes: Vec::new(), told };
        Hub { state: Mutex::new(state), closed: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing here panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes a listener, and reports to it when and from which sequence on it has joined.
    pub(super) fn join(&self, subscription: Subscription, listener: Arc<dyn Listener>) {
        self.change(Change::Join(subscription, listener));
    }

    /// Ends a subscription. What comes until it has ended is dropped by the listener.
    pub(super) fn leave(&self, subscription: Subscription, listener: Arc<dyn Listener>) {
        self.change(Change::Leave(subscription, listener));
    }

    fn change(&self, change: Change) {
        let mut state = self.lock();
        let State { table, changes, told } = &mut *state;
        match table {
            Some(table) => change.apply(table, *told),
            None => changes.push(change),
        }
    }

    /// The last published sequence: its listeners have received everything up to it.
    pub(super) fn told(&self) -> Seq {
        self.lock().told
    }

    /// Takes the table out; nobody joins until it is put back.
    pub(super) fn take(&self) -> Table {
        self.lock().table.take().unwrap_or_default()
    }

    /// Puts the table back when everything through `told` has been published.
    pub(super) fn put_back(&self, mut table: Table, told: Seq) {
        let mut state = self.lock();
        state.told = told;
        for change in state.changes.drain(..) {
            change.apply(&mut table, told);
        }
        state.table = Some(table);
    }

    /// Nothing more will be published.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.take());
        self.put_back(Table::default(), self.told());
    }

    /// Begins anew after it was closed, with everything through `told` told. Whoever has joined
    /// since then is cut off, because nobody has told them what happened in between.
    pub(super) fn reopen(&self, told: Seq) {
        drop(self.take());
        self.closed.store(false, Ordering::Release);
        self.put_back(Table::default(), told);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Change {
    fn apply(self, table: &mut Table, told: Seq) {
        match self {
            Change::Join(subscription, listener) => table.join(subscription, listener, told),
            Change::Leave(subscription, listener) => table.leave(subscription, &listener),
        }
    }
}
