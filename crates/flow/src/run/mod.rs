//! One run in memory: its execution, and the state shared by the runtime and the flow.

mod encoding;
pub(crate) mod replay;
pub(crate) mod spare;
mod state;

pub(crate) use encoding::{encode, put};
pub(crate) use state::{Replayed, RunState, Services, mix};

use crate::FlowId;
use crate::error::Parked;
use crate::flow::Execution;
use crate::prefetch::{prefetch, prefetch_at};
use crate::store::RunNumber;
use rialto_spinlock::{Guard, SpinLock};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// The approximate memory of a small flow while it is executed, in bytes.
const EXECUTION_BYTES: usize = 256;

/// The run is not polled and was not woken.
const IDLE: u8 = 0;
/// It waits in the queue.
const QUEUED: u8 = 1;
/// A worker polls it, or has yet to store what it did.
const RUNNING: u8 = 2;
/// As before, and something has woken it meanwhile.
const WOKEN: u8 = 3;

thread_local! {
    static POLLING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is executing a run at the moment. It must then not begin to execute another
/// one: a flow that starts its successor would go deeper and deeper.
pub(crate) fn is_polling() -> bool {
    POLLING.get()
}

pub(crate) struct Run {
    pub(crate) number: RunNumber,
    pub(crate) id: FlowId,
    pub(crate) flow: &'static str,
    pub(crate) version: u32,
    pub(crate) services: Arc<Services>,
    /// Whether there was a history when the execution began.
    is_resumed: AtomicBool,
    flag: AtomicU8,
    /// Set with `cancelled` in the state, or when the history has reached its limit: a step must then
    /// look before it begins.
    pub(crate) beware: AtomicBool,
    /// Taken away when the run ends or is parked, which also breaks the circle from the execution
    /// back to the run.
    execution: SpinLock<Option<Execution>>,
    /// The last address of the execution, for prefetching only.
    execution_at: AtomicPtr<u8>,
    state: SpinLock<RunState>,
}

impl Run {
    pub(crate) fn new(
        number: RunNumber,
        id: FlowId,
        flow: (&'static str, u32),
        services: Arc<Services>,
        state: RunState,
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
            id,
            flow: flow.0,
            version: flow.1,
            services,
            is_resumed: AtomicBool::new(false),
            flag: AtomicU8::new(RUNNING),
            beware: AtomicBool::new(false),
            execution: SpinLock::new(None),
            execution_at: AtomicPtr::default(),
            state: SpinLock::new(state),
        })
    }

    #[inline]
    pub(crate) fn state(&self) -> Guard<'_, RunState> {
        // No code of the user runs under this lock but that which encodes a value.
        self.state.lock()
    }

    /// Whether there was a history when the execution began.
    pub(crate) fn is_resumed(&self) -> bool {
        // It changes only between two executions.
        self.is_resumed.load(Ordering::Relaxed)
    }

    /// Goes on from a history. Its waiters wait on.
    pub(crate) fn resume(&self, mut resumed: RunState) {
        let mut state = self.state();
        resumed.waiters = std::mem::take(&mut state.waiters);
        resumed.timer = state.timer;
        *state = resumed;
        drop(state);
        self.is_resumed.store(true, Ordering::Relaxed);
        self.beware.store(true, Ordering::Release);
    }

    /// Makes the next step check the limit of the history, if it is near.
    pub(crate) fn watch_history(&self, state: &RunState) {
        if state.history_bytes >= self.services.history_bytes_max {
            self.beware.store(true, Ordering::Release);
        }
    }

    /// Sets the execution of the run.
    pub(crate) fn install(&self, execution: Execution) {
        let at = std::ptr::from_ref(&*execution).cast::<u8>().cast_mut();
        self.execution_at.store(at, Ordering::Relaxed);
        *self.execution.lock() = Some(execution);
    }

    /// Prefetches the memory of the run.
    pub(crate) fn approach(&self) {
        prefetch(self);
    }

    /// Prefetches the memory of the execution. The run itself should be in the cache already.
    pub(crate) fn approach_execution(&self) {
        prefetch_at(self.execution_at.load(Ordering::Relaxed), EXECUTION_BYTES);
    }

    /// Ends the execution, wherever it stands.
    pub(crate) fn uninstall(&self) {
        let execution = self.execution.lock().take();
        // Dropped outside of the lock: dropping runs code of the user.
        drop(execution);
    }

    /// Takes the run for polling. False if another thread holds it, which will then poll it once
    /// more.
    pub(crate) fn acquire(&self) -> bool {
        let mut flag = self.flag.load(Ordering::Acquire);
        loop {
            let next = if matches!(flag, RUNNING | WOKEN) { WOKEN } else { RUNNING };
            match self.flag.compare_exchange_weak(flag, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return next == RUNNING,
                Err(now) => flag = now,
            }
        }
    }

    /// Releases the run after polling. True if it was woken meanwhile: the caller still holds it.
    pub(crate) fn release(&self) -> bool {
        let idle =
            self.flag.compare_exchange(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if !idle {
            self.flag.store(RUNNING, Ordering::Release);
        }
        !idle
    }

    /// Puts the run, which the caller holds, at the end of the queue.
    pub(crate) fn requeue(self: Arc<Self>) {
        self.flag.store(QUEUED, Ordering::Release);
        self.clone().services.ready.push(self);
    }

    /// Polls the run. True when its execution is over: it has ended, or it is parked.
    pub(crate) fn poll(self: &Arc<Self>) -> bool {
        let mut execution = self.execution.lock();
        let Some(future) = execution.as_mut() else { return true };
        if !self.poll_once(future) {
            return false;
        }
        let over = execution.take();
        drop(execution);
        drop(over);
        true
    }

    /// Polls an execution of the run for the first time, and keeps it unless it is over then.
    pub(crate) fn poll_first(self: &Arc<Self>, mut execution: Execution) -> bool {
        if self.poll_once(&mut execution) {
            return true;
        }
        self.install(execution);
        if self.services.stopped.load(Ordering::Acquire) {
            // The runtime may have been stopped before this execution was visible.
            self.uninstall();
        }
        false
    }

    fn poll_once(self: &Arc<Self>, future: &mut Execution) -> bool {
        let waker = Waker::from(self.clone());
        let mut context = Context::from_waker(&waker);
        let outer = POLLING.replace(true);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)));
        POLLING.set(outer);
        match polled {
            Ok(Poll::Ready(())) => {}
            Ok(Poll::Pending) if self.state().parked.is_none() => return false,
            Ok(Poll::Pending) => {}
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let message = text
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "with something that is no text".to_owned());
                self.park(Parked::Panicked { id: self.id, flow: self.flow.to_owned(), message });
            }
        }
        true
    }

    /// Parks the run, and wakes its waiters.
    pub(crate) fn park(&self, why: Parked) {
        let waiters = {
            let mut state = self.state();
            state.parked.get_or_insert_with(|| Box::new(why));
            std::mem::take(&mut state.waiters)
        };
        waiters.into_iter().for_each(Waker::wake);
    }
}

impl Wake for Run {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut flag = self.flag.load(Ordering::Acquire);
        loop {
            let next = match flag {
                IDLE => QUEUED,
                RUNNING => WOKEN,
                _ => return,
            };
            match self.flag.compare_exchange_weak(flag, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) if next == QUEUED => return self.services.ready.push(self.clone()),
                Ok(_) => return,
                Err(now) => flag = now,
            }
        }
    }
}
