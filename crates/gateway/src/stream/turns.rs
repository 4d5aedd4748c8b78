//! Turns for replays: few at a time, and fair between keys, so that no key waits longer because of
//! another's many replays.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Grants turns.
pub(crate) struct Turns {
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// The waiting keys, the next first, each with its requests in order. Each key occurs once,
    /// with at least one request.
    waiting: VecDeque<(Box<str>, VecDeque<oneshot::Sender<Turn>>)>,
}

/// A turn, until it is dropped.
pub(super) struct Turn(Option<Arc<Turns>>);

impl Turns {
    /// This many turns at a time, at least one.
    pub(super) fn new(at_a_time: usize) -> Arc<Turns> {
        let state = State { free: at_a_time.max(1), waiting: VecDeque::new() };
        Arc::new(Turns { state: Mutex::new(state) })
    }

    /// Waits for a turn of this key.
    pub(super) async fn take(self: &Arc<Self>, key: &str) -> Turn {
        let waits = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return Turn(Some(Arc::clone(self)));
            }
            let (given, waits) = oneshot::channel();
            match state.waiting.iter_mut().find(|(waiting, _)| **waiting == *key) {
                Some((_, requests)) => requests.push_back(given),
                None => state.waiting.push_back((key.into(), VecDeque::from([given]))),
            }
            waits
        };
        // A turn without a receiver is passed on.
        waits.await.unwrap_or(Turn(None))
    }

    /// Whether a request waits for a turn.
    pub(super) fn are_awaited(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code here panics between two dependent changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a turn on to the next key, if one waits.
    fn pass_on(self: Arc<Self>) {
        let mut state = self.lock();
        while let Some((key, mut requests)) = state.waiting.pop_front() {
            let Some(request) = requests.pop_front() else { continue };
            if !requests.is_empty() {
                state.waiting.push_back((key, requests));
            }
            let Err(unwanted) = request.send(Turn(Some(Arc::clone(&self)))) else { return };
            // Its receiver has gone. The loop passes the turn on, so that its drop must not.
            unwanted.forget();
        }
        state.free += 1;
    }
}

impl Turn {
    /// Ends it without passing it on.
    fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turns) = self.0.take() {
            turns.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    type Taking = Pin<Box<dyn Future<Output = Turn>>>;

    fn taking(turns: &Arc<Turns>, key: &'static str) -> Taking {
        let turns = Arc::clone(turns);
        let mut taking: Taking = Box::pin(async move { turns.take(key).await });
        assert!(got(&mut taking).is_none(), "it waits");
        taking
    }

    fn got(taking: &mut Taking) -> Option<Turn> {
        match taking.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    fn now(turns: &Arc<Turns>, key: &'static str) -> Turn {
        let turns = Arc::clone(turns);
        let mut taking: Taking = Box::pin(async move { turns.take(key).await });
        got(&mut taking).expect("a turn is free")
    }

    #[test]
    fn keys_take_turns_however_much_one_of_them_asks_for() {
        let turns = Turns::new(1);
        let turn = now(&turns, "alice");
        let mut alices: Vec<Taking> = (0..7).map(|_| taking(&turns, "alice")).collect();
        let mut bob = taking(&turns, "bob");
        assert!(turns.are_awaited());
        drop(turn);
        let second = got(&mut alices[0]).expect("alice waited first");
        assert!(got(&mut bob).is_none());
        drop(second);
        let bobs = got(&mut bob).expect("it is bob's turn before alice's third");
        assert!(alices.iter_mut().skip(1).all(|taking| got(taking).is_none()));
        drop(bobs);
        let third = got(&mut alices[1]).expect("nobody else waits");
        drop(third);
        // Requests without a receiver are skipped, and their turns are not lost.
        drop(alices);
        assert!(!turns.are_awaited() || turns.lock().free == 0);
        drop(now(&turns, "carol"));
        assert_eq!(turns.lock().free, 1);
    }

    #[test]
    fn a_turn_without_a_receiver_is_passed_on() {
        let turns = Turns::new(1);
        let turn = now(&turns, "alice");
        let given = taking(&turns, "bob");
        let gone = taking(&turns, "carol");
        let mut dave = taking(&turns, "dave");
        drop(gone);
        drop(turn);
        // Bob has it, and drops it unseen.
        drop(given);
        assert!(got(&mut dave).is_some());
    }
}
