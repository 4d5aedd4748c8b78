//! Group commit: one thread writes for all that wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Decides which of the threads that commit at the same time writes.
///
/// A thread that finds nobody writing takes the turn. The others wait, and their records gather
/// for the next turn. At its end all of them are woken at once: those whose records were written
/// return, and one of the others takes the next turn. A queue of threads at one lock would let
/// every thread that is confirmed already wait for the writes of those before it.
#[derive(Default)]
pub(crate) struct WriteTurns {
    state: Mutex<Turn>,
    ended: Condvar,
}

#[derive(Default)]
struct Turn {
    is_taken: bool,
    waiting: usize,
}

/// The right to write for all; given back when it is dropped.
pub(crate) struct WriteTurn<'a>(&'a WriteTurns);

impl WriteTurns {
    /// Takes the turn when it is free; `None` as soon as `is_over` says that there is nothing left
    /// to write.
    pub(crate) fn take(&self, is_over: impl Fn() -> bool) -> Option<WriteTurn<'_>> {
        let mut turn = self.lock();
        loop {
            if is_over() {
                return None;
            }
            if !turn.is_taken {
                turn.is_taken = true;
                return Some(WriteTurn(self));
            }
            turn.waiting += 1;
            turn = self.ended.wait(turn).unwrap_or_else(PoisonError::into_inner);
            turn.waiting -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Turn> {
        // Nothing under this lock panics half way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WriteTurn<'_> {
    fn drop(&mut self) {
        let mut turn = self.0.lock();
        turn.is_taken = false;
        // Waking is a call to the system even if nobody waits.
        if turn.waiting > 0 {
            self.0.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;

    fn await_waiting(turns: &WriteTurns, count: usize) {
        while turns.lock().waiting < count {
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
        let first = turns.take(|| false).unwrap();
        let next = Arc::clone(&turns);
        thread::spawn(move || {
            let _turn = next.take(|| false).unwrap();
            started.send(()).unwrap();
            let _ = released.recv();
        });
        let (confirmed, is_over) = (Arc::clone(&turns), Arc::clone(&is_confirmed));
        thread::spawn(move || {
            let turn = confirmed.take(|| is_over.load(Ordering::Acquire));
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
                        let _turn = turns.take(|| false).unwrap();
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
                let _turn = turns.take(|| false).unwrap();
                panic!("a defect of the disk");
            });
            assert!(panicked.join().is_err());
        });
        assert!(turns.take(|| false).is_some());
    }
}
