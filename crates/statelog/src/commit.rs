//! Group commit: one thread writes for all that wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Decides which of the threads that commit at the same time writes.
///
/// A thread that finds nobody writing takes the turn. The others wait, and their records gather for
/// the next turn. At its end the threads whose records it took are woken, and one of the others,
/// which takes the next turn. To wake all of them would cost most threads two sleeps for one
/// commit; a queue of threads at one lock would let every thread that is confirmed already wait for
/// the writes of those before it.
#[derive(Default)]
pub(crate) struct WriteTurns {
    state: Mutex<Turn>,
    /// For the threads that the turn of an even or an odd number confirms.
    ended: [Condvar; 2],
}

#[derive(Default)]
struct Turn {
    /// The number of the turn in progress, or of the last one.
    number: u64,
    is_taken: bool,
    /// The ticket up to which the turn confirms; `None` until it has taken its records.
    through: Option<u64>,
    /// The number of threads that wait for the turn of an even or an odd number.
    waiting: [usize; 2],
}

/// The right to write for all; given back when it is dropped.
pub(crate) struct WriteTurn<'a>(&'a WriteTurns);

impl WriteTurns {
    /// Takes the turn to confirm a ticket when it is free; `None` as soon as `is_over` says that
    /// there is nothing left to write.
    pub(crate) fn take(&self, ticket: u64, is_over: impl Fn() -> bool) -> Option<WriteTurn<'_>> {
        let mut turn = self.lock();
        let mut waited_for = None;
        loop {
            if is_over() {
                let was_next = waited_for.is_some_and(|parity| parity != turn.number % 2);
                if was_next && !turn.is_taken {
                    // It was woken to take the turn, and housekeeping has written what it waited for.
                    self.wake(&turn, 0);
                    self.wake(&turn, 1);
                }
                return None;
            }
            if !turn.is_taken {
                turn.is_taken = true;
                turn.number += 1;
                turn.through = None;
                return Some(WriteTurn(self));
            }
            // A turn that has not taken its records yet will take this one too.
            let is_next = turn.through.is_some_and(|through| through < ticket);
            let parity = (turn.number + u64::from(is_next)) % 2;
            waited_for = Some(parity);
            let nth = parity as usize;
            turn.waiting[nth] += 1;
            turn = self.ended[nth].wait(turn).unwrap_or_else(PoisonError::into_inner);
            turn.waiting[nth] -= 1;
        }
    }

    /// Wakes the threads that wait for the turn of an even or an odd number.
    fn wake(&self, turn: &Turn, nth: usize) {
        // Waking is a call to the system even if nobody waits.
        if turn.waiting[nth] > 0 {
            self.ended[nth].notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Turn> {
        // Nothing under this lock panics half way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WriteTurn<'_> {
    /// The records up to a ticket are about to be written.
    pub(crate) fn takes_through(&self, ticket: u64) {
        self.0.lock().through = Some(ticket);
    }
}

impl Drop for WriteTurn<'_> {
    fn drop(&mut self) {
        let mut turn = self.0.lock();
        turn.is_taken = false;
        let ended = (turn.number % 2) as usize;
        self.0.wake(&turn, ended);
        if turn.waiting[1 - ended] > 0 {
            self.0.ended[1 - ended].notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;

    fn await_waiting(turns: &WriteTurns, count: usize) {
        while turns.lock().waiting.iter().sum::<usize>() < count {
            thread::yield_now();
        }
    }

    #[test]
    fn a_confirmed_thread_does_not_wait_for_the_next_write() {
        const SOON: Duration = Duration::from_secs(20);
        // The threads are not joined, so that a fault fails the test instead of hanging it.
        let turns = Arc::new(WriteTurns::default());
        let is_confirmed = Arc::new(AtomicBool::new(false));
        let (started, has_started) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let (returned, has_returned) = mpsc::channel();
        let first = turns.take(1, || false).unwrap();
        let next = Arc::clone(&turns);
        thread::spawn(move || {
            let _turn = next.take(1, || false).unwrap();
            started.send(()).unwrap();
            let _ = released.recv();
        });
        let (confirmed, is_over) = (Arc::clone(&turns), Arc::clone(&is_confirmed));
        thread::spawn(move || {
            let turn = confirmed.take(1, || is_over.load(Ordering::Acquire));
            returned.send(turn.is_none()).unwrap();
        });
        await_waiting(&turns, 2);
        is_confirmed.store(true, Ordering::Release);
        drop(first);
        has_started.recv_timeout(SOON).unwrap();
        // The next write is still in progress.
        assert_eq!(has_returned.recv_timeout(SOON), Ok(true));
        drop(release);
    }

    #[test]
    fn only_one_thread_has_the_turn() {
        let turns = WriteTurns::default();
        let is_writing = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let _turn = turns.take(1, || false).unwrap();
                        assert!(!is_writing.swap(true, Ordering::AcqRel));
                        is_writing.store(false, Ordering::Release);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_gives_the_turn_back() {
        let turns = WriteTurns::default();
        thread::scope(|scope| {
            let panicked = scope.spawn(|| {
                let _turn = turns.take(1, || false).unwrap();
                panic!("a defect of the disk");
            });
            assert!(panicked.join().is_err());
        });
        assert!(turns.take(1, || false).is_some());
    }

    #[test]
    fn the_end_of_a_turn_wakes_the_threads_that_it_confirms_and_one_that_goes_on() {
        const SOON: Duration = Duration::from_secs(20);
        let turns = Arc::new(WriteTurns::default());
        let confirmed = Arc::new(AtomicU64::new(0));
        let (woken, has_woken) = mpsc::channel();
        let commit = |ticket: u64| {
            let (turns, confirmed, woken) = (turns.clone(), confirmed.clone(), woken.clone());
            thread::spawn(move || {
                let looks = AtomicU64::new(0);
                let turn = turns.take(ticket, || {
                    looks.fetch_add(1, Ordering::Relaxed);
                    confirmed.load(Ordering::Acquire) >= ticket
                });
                woken.send((ticket, turn.is_some(), looks.into_inner())).unwrap();
                if turn.is_some() {
                    confirmed.store(u64::MAX, Ordering::Release);
                }
            });
        };
        let first = turns.take(1, || false).unwrap();
        first.takes_through(3);
        (2..=3).chain(4..=6).for_each(commit);
        await_waiting(&turns, 5);
        confirmed.store(3, Ordering::Release);
        drop(first);
        let mut seen: Vec<_> = (0..5).map(|_| has_woken.recv_timeout(SOON).unwrap()).collect();
        seen.sort_unstable();
        // Each thread looked before it waited and when it was woken, and was woken once.
        assert!(seen.iter().all(|(_, _, looks)| *looks == 2), "{seen:?}");
        assert_eq!(seen[..2], [(2, false, 2), (3, false, 2)]);
        assert_eq!(seen[2..].iter().filter(|(_, took, _)| *took).count(), 1, "{seen:?}");
    }

    #[test]
    fn a_thread_that_does_not_need_the_turn_any_more_wakes_the_others() {
        const SOON: Duration = Duration::from_secs(20);
        let turns = Arc::new(WriteTurns::default());
        let is_confirmed = Arc::new(AtomicBool::new(false));
        let (woken, has_woken) = mpsc::channel();
        let first = turns.take(1, || false).unwrap();
        first.takes_through(1);
        for ticket in 2..=4 {
            let (turns, is_confirmed, woken) = (turns.clone(), is_confirmed.clone(), woken.clone());
            thread::spawn(move || {
                let turn = turns.take(ticket, || is_confirmed.load(Ordering::Acquire));
                woken.send(turn.is_none()).unwrap();
            });
        }
        await_waiting(&turns, 3);
        is_confirmed.store(true, Ordering::Release);
        drop(first);
        for _ in 0..3 {
            assert_eq!(has_woken.recv_timeout(SOON), Ok(true));
        }
    }
}
