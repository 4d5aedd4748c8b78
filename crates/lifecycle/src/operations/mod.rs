//! Running operations, and waiting for their end.

mod fence;
mod gate;
mod kind;
mod shard;

pub use kind::{Kind, Operation, OwnedOperation, TimedOperation};

use crate::report::StillRunning;
use gate::Gate;
use kind::KindState;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The operations of a process, counted by kind. A clone counts the same ones.
#[derive(Clone, Debug, Default)]
pub struct Operations(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    table: Mutex<Table>,
    emptied: Condvar,
    is_stopping: AtomicBool,
}

#[derive(Debug, Default)]
struct Table {
    kinds: Vec<Arc<KindState>>,
    waiting: Vec<Waker>,
}

impl Table {
    fn is_empty_for_good(&self) -> bool {
        self.kinds.iter().all(|kind| kind.gate.is_empty_for_good())
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        // Lists that are only ever added to are whole wherever a panic struck.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the waiting callers if all kinds are empty for good. Under the lock, so that no caller
    /// starts to wait after the check.
    fn emptied(&self) {
        let mut table = self.table();
        if self.is_stopping() && table.is_empty_for_good() {
            self.emptied.notify_all();
            for waker in table.waiting.drain(..) {
                waker.wake();
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }
}

impl Operations {
    /// A process without running operations.
    #[must_use]
    pub fn new() -> Operations {
        Operations::default()
    }

    /// The operations of this name. Asking again gives the same kind. It takes a lock, so keep
    /// what it returns. There is no limit to the number of kinds: do not make names from input.
    #[must_use]
    pub fn kind(&self, name: impl Into<Cow<'static, str>>) -> Kind {
        let name = name.into();
        let mut table = self.0.table();
        if let Some(known) = table.kinds.iter().find(|known| known.name == name) {
            return Kind::new(Arc::clone(known));
        }
        let state = KindState::new(name, self.0.is_stopping(), Arc::downgrade(&self.0));
        let state = Arc::new(state);
        table.kinds.push(Arc::clone(&state));
        Kind::new(state)
    }

    /// Refuses new operations of every kind. Running ones continue.
    pub fn stop(&self) {
        let table = self.0.table();
        self.0.is_stopping.store(true, Ordering::Release);
        for kind in &table.kinds {
            kind.gate.close();
        }
        // Under the lock, so that emptiness is not reported before.
        <Gate>::after_closing();
        drop(table);
        self.0.emptied();
    }

    /// Whether it begins nothing more.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.0.is_stopping()
    }

    /// The number of running operations. Others may begin and end meanwhile, and one that is being
    /// refused may count.
    #[must_use]
    pub fn running(&self) -> u64 {
        self.0.table().kinds.iter().map(|kind| kind.gate.inside()).sum()
    }

    /// Waits until it is stopping and no operation runs, and returns whether that happened within
    /// this time. Then it stays so.
    #[must_use]
    pub fn wait_drained(&self, at_most: Duration) -> bool {
        let table = self.0.table();
        let is_running = |table: &mut Table| !self.0.is_stopping() || !table.is_empty_for_good();
        let waited = self.0.emptied.wait_timeout_while(table, at_most, is_running);
        let (mut table, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !is_running(&mut table)
    }

    /// Completes when it is stopping and no operation runs. For any executor.
    pub fn drained(&self) -> Drained {
        Drained(Arc::clone(&self.0))
    }

    /// The running operations by kind, without empty kinds.
    #[must_use]
    pub fn still_running(&self) -> Vec<StillRunning> {
        let now = Instant::now();
        let table = self.0.table();
        let busy = table.kinds.iter().filter(|kind| kind.gate.inside() > 0);
        busy.map(|kind| StillRunning {
            kind: kind.name.clone(),
            count: kind.gate.inside(),
            oldest: kind.oldest().map(|begun| now.saturating_duration_since(begun)),
        })
        .collect()
    }
}

/// Completes when no operation runs any more (see [`Operations::drained`]).
#[derive(Debug)]
#[must_use = "it does nothing unless it is awaited"]
pub struct Drained(Arc<Shared>);

impl Future for Drained {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut table = self.0.table();
        if self.0.is_stopping() && table.is_empty_for_good() {
            return Poll::Ready(());
        }
        if !table.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            table.waiting.push(context.waker().clone());
        }
        Poll::Pending
    }
}
