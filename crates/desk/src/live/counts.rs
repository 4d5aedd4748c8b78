//! Counters of the folding thread.

use rialto_model::{Event, RejectReason};
use std::sync::atomic::{AtomicU64, Ordering};

const REASONS: usize = RejectReason::ALL.len() + 1;

/// Counts of folded commands and events since the start. Commands that were released before the
/// start do not count.
#[derive(Debug)]
pub struct FoldCounts {
    commands: AtomicU64,
    orders: AtomicU64,
    trades: AtomicU64,
    rejects: [AtomicU64; REASONS],
}

impl Default for FoldCounts {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        let rejects = std::array::from_fn(|_| zero());
        FoldCounts { commands: zero(), orders: zero(), trades: zero(), rejects }
    }
}

impl Clone for FoldCounts {
    /// Reads each counter separately.
    fn clone(&self) -> Self {
        let by_now = |counter: &AtomicU64| AtomicU64::new(counter.load(Ordering::Relaxed));
        FoldCounts {
            commands: by_now(&self.commands),
            orders: by_now(&self.orders),
            trades: by_now(&self.trades),
            rejects: std::array::from_fn(|at| by_now(&self.rejects[at])),
        }
    }
}

impl FoldCounts {
    /// Commands.
    pub fn commands(&self) -> u64 {
        self.commands.load(Ordering::Relaxed)
    }

    /// Orders accepted.
    pub fn orders(&self) -> u64 {
        self.orders.load(Ordering::Relaxed)
    }

    /// Trades.
    pub fn trades(&self) -> u64 {
        self.trades.load(Ordering::Relaxed)
    }

    /// Commands rejected for a reason.
    pub fn rejects(&self, reason: RejectReason) -> u64 {
        self.rejects[usize::from(reason.number())].load(Ordering::Relaxed)
    }

    /// Only one thread counts, so that a load and a store suffice instead of an atomic addition.
    fn add(counter: &AtomicU64, count: u64) {
        counter.store(counter.load(Ordering::Relaxed) + count, Ordering::Relaxed);
    }

    /// Adds the counts of another feed, when neither is counting.
    pub(super) fn add_all(&self, others: &FoldCounts) {
        let own = [&self.commands, &self.orders, &self.trades].into_iter().chain(&self.rejects);
        let other = [&others.commands, &others.orders, &others.trades].into_iter();
        for (counter, other) in own.zip(other.chain(&others.rejects)) {
            Self::add(counter, other.load(Ordering::Relaxed));
        }
    }

    pub(super) fn count_command(&self) {
        Self::add(&self.commands, 1);
    }

    pub(super) fn count(&self, event: &Event) {
        match event {
            Event::Accepted(_) => Self::add(&self.orders, 1),
            Event::Trade(_) => Self::add(&self.trades, 1),
            Event::Rejected(it) => Self::add(&self.rejects[usize::from(it.reason.number())], 1),
            _ => {}
        }
    }
}
