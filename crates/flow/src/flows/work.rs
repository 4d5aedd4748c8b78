//! The work: polls runs, stores their entries and confirms them.

use super::{Inner, lock};
use crate::Timestamp;
use crate::error::Parked;
use crate::flow::Execution;
use crate::run::{Run, spare};
use crate::store::{StoreError, Ticket, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Wake, Waker};
use std::time::Duration;

/// The number of runs that are polled before their entries are stored in one group write.
const BATCH_MAX: usize = 4096;
/// The same if nothing waits for a write: small enough to stay in the cache.
const BATCH_AT_ONCE_MAX: usize = 64;
/// The most writes in one call of the store, during which callers that begin runs wait.
const APPEND_MAX: usize = 256;
/// Housekeeping is done after this many rounds of work, and whenever there is nothing else to do.
const ROUNDS_PER_MAINTENANCE: u32 = 16;
/// The longest sleep of an idle worker, after which it renews the lease and maintains the store.
const IDLE_MAX: Duration = Duration::from_millis(50);
/// The distance, in runs, at which memory is prefetched.
const AHEAD: usize = 4;
/// Buffers that are kept for the next writes.
const SPARE_MAX: usize = BATCH_MAX;

/// The state of one worker thread.
pub(super) struct Worker {
    inner: Arc<Inner>,
    batch: Vec<Arc<Run>>,
    /// Runs that this worker still has and polls again in the next round.
    again: Vec<Arc<Run>>,
    /// The writes of the runs of this round, and for each the run, the length of its history, and
    /// whether its execution is over.
    writes: Vec<Write>,
    written: Vec<(Arc<Run>, u32, bool)>,
    spare: Vec<Vec<u8>>,
    rounds: u32,
}

impl Worker {
    pub(super) fn new(inner: Arc<Inner>) -> Self {
        Self {
            inner,
            batch: Vec::new(),
            again: Vec::new(),
            writes: Vec::new(),
            written: Vec::new(),
            spare: Vec::new(),
            rounds: 0,
        }
    }

    /// Works until the runtime stops.
    pub(super) fn work(mut self) {
        #[cfg(feature = "tokio")]
        let tokio = self.inner.options.tokio.clone();
        #[cfg(feature = "tokio")]
        let _context = tokio.as_ref().map(|tokio| tokio.enter());
        while !self.inner.stopping.load(Ordering::Acquire) {
            match self.round() {
                Ok(true) => {}
                Ok(false) => self.inner.services.ready.wait(self.inner.idle_time()),
                Err(error) => self.inner.fail(error),
            }
        }
        self.leave();
    }

    /// Works until there is nothing left to do.
    pub(super) fn until_idle(mut self) -> Result<(), StoreError> {
        let result = loop {
            if let Some(failure) = self.inner.failure() {
                break Err(failure);
            }
            match self.round() {
                Ok(true) => {}
                Ok(false) if self.inner.services.ready.is_empty() => break Ok(()),
                Ok(false) => {}
                Err(error) => {
                    self.inner.fail(error.clone());
                    break Err(error);
                }
            }
        };
        self.leave();
        result
    }

    /// Returns this worker's runs to the queue.
    fn leave(&mut self) {
        for run in self.again.drain(..).chain(self.batch.drain(..)) {
            run.requeue();
        }
    }

    /// One round. False when there was nothing to do.
    fn round(&mut self) -> Result<bool, StoreError> {
        let inner = self.inner.clone();
        let now = inner.options.clock.now();
        inner.keep_lease(now)?;
        inner.fire_timers(now);
        let max = if inner.services.at_once { BATCH_AT_ONCE_MAX } else { BATCH_MAX };
        std::mem::swap(&mut self.batch, &mut self.again);
        let held = self.batch.len();
        inner.services.ready.take(&mut self.batch, max.saturating_sub(held));
        let mut nth = 0;
        self.batch.retain(|run| {
            nth += 1;
            nth <= held || run.acquire()
        });
        let worked = !self.batch.is_empty();
        let mut batch = std::mem::take(&mut self.batch);
        // Taken from the end, so that the following ones can be prefetched.
        batch.reverse();
        while let Some(run) = batch.pop() {
            if let Some(later) = batch.len().checked_sub(2 * AHEAD).and_then(|at| batch.get(at)) {
                later.approach();
            }
            if let Some(later) = batch.len().checked_sub(AHEAD).and_then(|at| batch.get(at)) {
                later.approach_execution();
            }
            self.poll(run, now);
        }
        self.batch = batch;
        self.store()?;
        inner.commit()?;
        self.conclude();
        self.rounds += 1;
        if !worked || self.rounds >= ROUNDS_PER_MAINTENANCE {
            self.rounds = 0;
            inner.store.maintain(now)?;
            inner.claim(now)?;
        }
        Ok(worked)
    }

    fn poll(&mut self, run: Arc<Run>, now: Timestamp) {
        let mut state = run.state();
        if state.retried {
            drop(state);
            self.inner.revive(&run);
            state = run.state();
        }
        let sleepers = state.begin_poll(now);
        drop(state);
        sleepers.into_iter().for_each(Waker::wake);
        let over = run.poll();
        let mut state = run.state();
        let spare = self.spare.pop().unwrap_or_default();
        match state.take_write(run.number, spare) {
            Some((write, mark)) => {
                drop(state);
                self.writes.push(write);
                self.written.push((run, mark, over));
            }
            None => {
                drop(state);
                self.let_go(run);
            }
        }
    }

    /// Releases a run that waits, or keeps it if it was woken already.
    fn let_go(&mut self, run: Arc<Run>) {
        self.inner.set_timer(&run);
        if run.release() {
            self.again.push(run);
        }
    }

    fn store(&mut self) -> Result<(), StoreError> {
        if self.writes.is_empty() {
            return Ok(());
        }
        let mut fenced = Vec::new();
        for writes in self.writes.chunks(APPEND_MAX) {
            let appended = self.inner.store.append(self.inner.fence, writes)?;
            self.inner.took(appended.ticket);
            fenced.extend(appended.fenced);
        }
        for mut write in self.writes.drain(..) {
            if self.spare.len() < SPARE_MAX {
                write.entries.clear();
                self.spare.push(write.entries);
            }
        }
        if !fenced.is_empty() {
            self.written.retain(|(run, ..)| {
                let is_fenced = fenced.contains(&run.number);
                if is_fenced {
                    self.inner.disown(run);
                }
                !is_fenced
            });
        }
        Ok(())
    }

    /// Notifies the runs of this round that their entries are confirmed.
    fn conclude(&mut self) {
        let mut written = std::mem::take(&mut self.written);
        written.reverse();
        while let Some((run, mark, over)) = written.pop() {
            if let Some((later, ..)) =
                written.len().checked_sub(AHEAD).and_then(|at| written.get(at))
            {
                later.approach();
            }
            if self.inner.conclude(&run, mark, over) {
                continue;
            }
            if self.inner.services.at_once || over {
                self.let_go(run);
            } else {
                self.again.push(run);
            }
        }
        self.written = written;
    }
}

impl Inner {
    /// Executes a run that has just begun, and that the caller holds, until it first waits.
    pub(super) fn execute_inline(&self, run: &Arc<Run>, execution: Execution) {
        let over = run.poll_first(execution);
        let mut state = run.state();
        // No timer was asked for yet.
        let ends = over && state.parked.is_none();
        let write = state.take_write(run.number, Vec::new());
        drop(state);
        if let Some((write, mark)) = write {
            let appended = self.store.append(self.fence, std::slice::from_ref(&write));
            match appended {
                Err(error) => return self.fail(error),
                Ok(appended) if !appended.fenced.is_empty() => return self.disown(run),
                Ok(appended) => self.took(appended.ticket),
            }
            spare::give_back(write.entries);
            if ends {
                return self.finish(run, None);
            }
            run.state().confirmed = mark;
        }
        self.set_timer(run);
        if run.release() {
            run.clone().requeue();
        }
    }

    /// Notifies a run that its entries are confirmed. Returns whether it is over.
    fn conclude(&self, run: &Run, mark: u32, over: bool) -> bool {
        let mut state = run.state();
        state.confirmed = state.confirmed.max(mark);
        if !over || state.parked.is_some() {
            return false;
        }
        let timer = state.timer.take();
        drop(state);
        self.finish(run, timer);
        true
    }

    /// Forgets a run whose end is confirmed, and wakes its waiters.
    fn finish(&self, run: &Run, timer: Option<Timestamp>) {
        // Before waiters are woken, because they might reopen it.
        self.forget(run, timer);
        let mut state = run.state();
        state.is_over = true;
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.into_iter().for_each(Waker::wake);
    }

    /// How long an idle worker may sleep.
    fn idle_time(&self) -> Duration {
        let next = lock(&self.timers).first().map(|(at, _)| *at);
        let until = next.map(|at| at.since(self.options.clock.now()));
        until.map_or(IDLE_MAX, |until| until.clamp(Duration::from_micros(50), IDLE_MAX))
    }

    fn keep_lease(&self, now: Timestamp) -> Result<(), StoreError> {
        let renewed = Timestamp(self.renewed.load(Ordering::Acquire));
        if now.since(renewed) >= self.options.lease / 3 {
            self.store.renew(self.fence, now)?;
            self.renewed.fetch_max(now.0, Ordering::AcqRel);
        }
        Ok(())
    }

    fn fire_timers(&self, now: Timestamp) {
        loop {
            let due = {
                let mut timers = lock(&self.timers);
                match timers.first() {
                    Some((at, _)) if *at <= now => timers.pop_first(),
                    _ => None,
                }
            };
            let Some((_, number)) = due else { return };
            let run = lock(&self.live).get(number).cloned();
            if let Some(run) = run {
                run.state().timer = None;
                run.wake();
            }
        }
    }

    /// Sets the timer for the next time that the run waits for.
    fn set_timer(&self, run: &Run) {
        let mut state = run.state();
        let wanted = state.next_wanted();
        if wanted == state.timer {
            return;
        }
        let old = std::mem::replace(&mut state.timer, wanted);
        drop(state);
        let mut timers = lock(&self.timers);
        if let Some(at) = old {
            timers.remove(&(at, run.number));
        }
        if let Some(at) = wanted {
            timers.insert((at, run.number));
        }
    }

    /// Confirms all writes that the store has taken.
    fn commit(&self) -> Result<(), StoreError> {
        if self.services.at_once {
            return Ok(());
        }
        let taken = Ticket(self.taken.load(Ordering::Acquire));
        self.store.commit(taken)?;
        let mut confirmed = Vec::new();
        lock(&self.confirmations).retain(|(ticket, waker)| {
            if *ticket <= taken {
                confirmed.push(waker.clone());
            }
            *ticket > taken
        });
        confirmed.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn forget(&self, run: &Run, timer: Option<Timestamp>) {
        lock(&self.live).remove(run.number);
        if let Some(at) = timer {
            lock(&self.timers).remove(&(at, run.number));
        }
    }

    /// Leaves a run to the worker that has taken it over.
    fn disown(&self, run: &Run) {
        run.park(Parked::Fenced { id: run.id });
        run.uninstall();
        let timer = run.state().timer.take();
        self.forget(run, timer);
    }
}
