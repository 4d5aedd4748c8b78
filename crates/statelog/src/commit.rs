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
