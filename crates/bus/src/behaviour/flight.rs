//! Keys in flight: one request at a time under each key; the others wait.

use super::answers::Key;
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// The keys in flight, and the waiters of each. The order does not matter: all are woken at the end
/// of a flight, and the first one takes the key.
#[derive(Debug)]
pub(crate) struct Flights {
    keys_max: usize,
    waiting_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    keys: HashMap<Key, HashMap<u64, Waker>>,
    /// Ids are never reused, because a waiter may outlive the flight that it waited for.
    next_id: u64,
}

/// The reason that a key is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused {
    /// The limit of keys in flight is reached.
    Keys,
    /// The limit of waiters for the key is reached.
    Waiting,
}

/// A key in flight, released when this is dropped.
#[derive(Debug)]
pub(crate) struct Flight<'a> {
    flights: &'a Flights,
    key: Key,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let ended = self.flights.state().keys.remove(&self.key);
        // Woken after the lock is released, because a task may take it at once.
        for waker in ended.into_iter().flat_map(HashMap::into_values) {
            waker.wake();
        }
    }
}

/// A place among the waiters, given up when this is dropped.
struct WaiterGuard<'a> {
    flights: &'a Flights,
    key: &'a Key,
    id: Option<u64>,
}

impl Drop for WaiterGuard<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id
            && let Some(waiting) = self.flights.state().keys.get_mut(self.key)
        {
            waiting.remove(&id);
        }
    }
}

impl Flights {
    pub(crate) fn new(keys_max: usize, waiting_max: usize) -> Flights {
        Flights { keys_max, waiting_max, state: Mutex::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.state().keys.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the key as soon as it is free.
    pub(crate) async fn take_off(&self, key: &Key) -> Result<Flight<'_>, Refused> {
        let mut place = WaiterGuard { flights: self, key, id: None };
        poll_fn(|cx| {
            let mut state = self.state();
            let State { keys, next_id } = &mut *state;
            let in_flight = keys.len();
            let Some(waiting) = keys.get_mut(key) else {
                if in_flight >= self.keys_max {
                    return Poll::Ready(Err(Refused::Keys));
                }
                keys.insert(key.clone(), HashMap::new());
                return Poll::Ready(Ok(Flight { flights: self, key: key.clone() }));
            };
            let id = *place.id.get_or_insert_with(|| {
                *next_id += 1;
                *next_id
            });
            if !waiting.contains_key(&id) && waiting.len() >= self.waiting_max {
                return Poll::Ready(Err(Refused::Waiting));
            }
            waiting.insert(id, cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}
