//! A number of permits, and a bounded queue of waiters.
//!
//! The integration test `permits_model` compiles this file against loom's atomics and runs it under
//! every order of events. That is why it names its atomics by way of `super`.

use super::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

const TAKEN: u64 = 1;
const WAITING: u64 = 1 << 32;

fn taken(state: u64) -> u32 {
    state as u32
}

fn waiting(state: u64) -> u32 {
    (state >> 32) as u32
}

/// At most `limit` permits are out at a time; at most `waiting_max` callers wait for one, and are
/// served in the order in which they came.
///
/// Both numbers are in one atomic word: a caller that finds the permits taken is counted as waiting
/// in the same step, so that a thread that gives a permit back afterwards sees it. The number of waiting
/// callers changes only under the lock of the line, with the line itself.
#[derive(Debug)]
pub(crate) struct Permits {
    state: AtomicU64,
    limit: u32,
    waiting_max: u32,
    line: Mutex<Line>,
}

#[derive(Debug)]
struct Line {
    /// The waiters, oldest first. A waiter that is no longer here has been given a permit.
    callers: VecDeque<(u64, Option<Waker>)>,
    next_id: u64,
}

/// The permit given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a>(&'a Permits);

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.give_back();
    }
}

impl Permits {
    pub(crate) fn new(limit: u32, waiting_max: u32) -> Permits {
        // The queue grows with the waiters: a generous bound shall not cost memory in advance.
        let line = Line { callers: VecDeque::new(), next_id: 0 };
        Permits { state: AtomicU64::new(0), limit, waiting_max, line: Mutex::new(line) }
    }

    /// The number of permits in use.
    pub(crate) fn taken(&self) -> u32 {
        taken(self.state.load(Ordering::Relaxed))
    }

    /// The number of waiting callers.
    pub(crate) fn waiting(&self) -> u32 {
        waiting(self.state.load(Ordering::Relaxed))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit, if one is free and no caller waits.
    #[inline]
    pub(crate) fn take_now(&self) -> Option<Permit<'_>> {
        let mut state = self.state.load(Ordering::Relaxed);
        // A word below the limit also means that no caller waits: the waiting count is in the
        // higher bits.
        while state < u64::from(self.limit) {
            let next = state + TAKEN;
            match self.state.compare_exchange_weak(
                state,
                next,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(Permit(self)),
                Err(now) => state = now,
            }
        }
        None
    }

    /// A permit as soon as it is this caller's turn, or `None` at once if the line is full.
    pub(crate) async fn take(&self) -> Option<Permit<'_>> {
        if let Some(permit) = self.take_now() {
            return Some(permit);
        }
        match self.stand_in_line() {
            Admission::Full => None,
            Admission::Served => Some(Permit(self)),
            Admission::Waits(id) => Some(PermitWait { permits: self, id, is_over: false }.await),
        }
    }

    fn stand_in_line(&self) -> Admission {
        let mut line = self.line();
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let is_free = state < u64::from(self.limit);
            if !is_free && waiting(state) >= self.waiting_max {
                return Admission::Full;
            }
            let next = state + if is_free { TAKEN } else { WAITING };
            match self.state.compare_exchange_weak(
                state,
                next,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) if is_free => return Admission::Served,
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        let id = line.next_id;
        line.next_id += 1;
        line.callers.push_back((id, None));
        Admission::Waits(id)
    }

    #[inline]
    fn give_back(&self) {
        let before = self.state.fetch_sub(TAKEN, Ordering::Release);
        if waiting(before) > 0 {
            self.serve_line();
        }
    }

    /// Gives free permits to the longest waiting callers. Called by the thread that released a
    /// permit while callers waited; no other caller can take it meanwhile.
    #[cold]
    fn serve_line(&self) {
        loop {
            let mut line = self.line();
            let mut state = self.state.load(Ordering::Relaxed);
            loop {
                if waiting(state) == 0 || taken(state) >= self.limit {
                    return;
                }
                let next = state - WAITING + TAKEN;
                match self.state.compare_exchange_weak(
                    state,
                    next,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => break,
                    Err(now) => state = now,
                }
            }
            let served = line.callers.pop_front();
            // Woken after the lock is released, because a task may take it at once.
            drop(line);
            if let Some((_, Some(waker))) = served {
                waker.wake();
            }
        }
    }
}

enum Admission {
    Full,
    Served,
    Waits(u64),
}

/// The wait for a permit. Dropped before its end, it leaves the line, or gives back the permit that
/// it has been given but not seen.
struct PermitWait<'a> {
    permits: &'a Permits,
    id: u64,
    is_over: bool,
}

impl<'a> Future for PermitWait<'a> {
    type Output = Permit<'a>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit<'a>> {
        let permits = self.permits;
        let mut line = permits.line();
        let id = self.id;
        if let Some((_, waker)) = line.callers.iter_mut().find(|(caller, _)| *caller == id) {
            *waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(line);
        self.is_over = true;
        Poll::Ready(Permit(permits))
    }
}

impl Drop for PermitWait<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut line = self.permits.line();
        match line.callers.iter().position(|(caller, _)| *caller == self.id) {
            Some(at) => {
                line.callers.remove(at);
                self.permits.state.fetch_sub(WAITING, Ordering::Relaxed);
            }
            None => {
                drop(line);
                self.permits.give_back();
            }
        }
    }
}
