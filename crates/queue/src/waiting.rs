//! Waiting callers, threads and tasks alike, which are woken through [`std::task::Waker`].

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

/// The callers that wait until a number is reached.
///
/// A waiter registers first and reads the number again afterwards; a thread that raises the number
/// does so first and reads the list of waiters afterwards. With a full fence between the two halves
/// on either side, one of them always sees the other.
#[derive(Default)]
pub(crate) struct Waiters {
    count: AtomicUsize,
    list: Mutex<Vec<(u64, Waker)>>,
}

impl Waiters {
    pub(crate) fn register(&self, number: u64, waker: &Waker) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        // A task that is polled again replaces itself.
        match list.iter_mut().find(|(at, other)| *at == number && other.will_wake(waker)) {
            Some(_) => {}
            None => list.push((number, waker.clone())),
        }
        self.count.store(list.len(), Ordering::Relaxed);
        drop(list);
        fence(Ordering::SeqCst);
    }

    /// Removes the task that registered this. It is woken all the same, because a task may wait for
    /// several numbers with one waker, and then registers again.
    pub(crate) fn forget(&self, waker: &Waker) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let forgotten = list.extract_if(.., |(_, other)| other.will_wake(waker)).count();
        self.count.store(list.len(), Ordering::Relaxed);
        drop(list);
        if forgotten > 0 {
            waker.wake_by_ref();
        }
    }

    /// Wakes all callers that wait for `reached` or less.
    #[inline]
    pub(crate) fn wake_through(&self, reached: u64) {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::Relaxed) > 0 {
            self.wake_slowly(reached);
        }
    }

    pub(crate) fn wake_all(&self) {
        self.wake_through(u64::MAX);
    }

    #[cold]
    fn wake_slowly(&self, reached: u64) {
        self.extract(reached).into_iter().for_each(Waker::wake);
    }

    /// All callers that wait for `reached` or less, to be woken.
    #[inline]
    pub(crate) fn take_through(&self, reached: u64) -> Vec<Waker> {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::Relaxed) > 0 { self.extract(reached) } else { Vec::new() }
    }

    fn extract(&self, reached: u64) -> Vec<Waker> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = list.extract_if(.., |(at, _)| *at <= reached);
        let wakers = waiting.map(|(_, waker)| waker).collect();
        self.count.store(list.len(), Ordering::Relaxed);
        wakers
    }
}

impl AsRef<Waiters> for Waiters {
    fn as_ref(&self) -> &Waiters {
        self
    }
}

/// A registration for several numbers with one waker. Dropping it removes all of them, so that a
/// caller that gives up leaves no entry.
pub(crate) struct Waiting<'a, W: AsRef<Waiters>> {
    places: &'a [W],
    waker: Option<Waker>,
}

impl<'a, W: AsRef<Waiters>> Waiting<'a, W> {
    pub(crate) fn new(places: &'a [W]) -> Self {
        Self { places, waker: None }
    }

    /// Registers the waker for each number.
    pub(crate) fn register(&mut self, waker: &Waker, number: impl Fn(usize, &W) -> u64) {
        if self.waker.as_ref().is_some_and(|other| !other.will_wake(waker)) {
            self.forget();
        }
        for (nth, place) in self.places.iter().enumerate() {
            place.as_ref().register(number(nth, place), waker);
        }
        self.waker = Some(waker.clone());
    }

    fn forget(&mut self) {
        let Some(waker) = self.waker.take() else { return };
        for place in self.places {
            place.as_ref().forget(&waker);
        }
    }
}

impl<W: AsRef<Waiters>> Drop for Waiting<'_, W> {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_removed_waiter_leaves_no_entry_and_is_woken_once() {
        let (waiters, count) = (Waiters::default(), Arc::new(Count::default()));
        let waker = Waker::from(count.clone());
        waiters.register(1, &waker);
        waiters.register(2, &waker);
        waiters.register(2, &Waker::from(Arc::new(Count::default())));
        waiters.forget(&waker);
        assert_eq!(waiters.list.lock().unwrap().len(), 1);
        waiters.wake_all();
        waiters.forget(&waker);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }
}
