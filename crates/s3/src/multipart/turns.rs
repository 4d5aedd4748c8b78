//! Work on one thing that is done by one request at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedMutexGuard;

type Locks = HashMap<String, Arc<tokio::sync::Mutex<()>>>;

/// A lock for each name that a request works on. Names that nobody works on take no memory.
#[derive(Default)]
pub(crate) struct Turns(Mutex<Locks>);

/// A turn. The next one begins when it is dropped.
pub(crate) struct Turn<'t> {
    turns: &'t Turns,
    name: String,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    fn locks(&self) -> MutexGuard<'_, Locks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn wait_for(&self, name: &str) -> Turn<'_> {
        let lock = Arc::clone(self.locks().entry(name.to_owned()).or_default());
        // One that gives up while it waits leaves no entry either.
        let mut turn = Turn { turns: self, name: name.to_owned(), guard: None };
        turn.guard = Some(lock.lock_owned().await);
        turn
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.guard = None;
        let mut locks = self.turns.locks();
        // Nobody else has it, and nobody can come by it meanwhile.
        if locks.get(&self.name).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn names_have_turns_of_their_own_and_leave_nothing() {
        let turns = Turns::default();
        let first = turns.wait_for("a").await;
        let _other = turns.wait_for("b").await;
        let second = turns.wait_for("a");
        assert!(tokio::time::timeout(Duration::from_millis(20), second).await.is_err());
        assert_eq!(turns.locks().len(), 2);
        drop(first);
        drop(turns.wait_for("a").await);
        assert_eq!(turns.locks().len(), 1);
    }
}
