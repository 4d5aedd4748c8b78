//! Ids that a thread takes in blocks are distinct, ascend, and are as new as the clock.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_ident::{
    CachedClock, Config, Exhausted, Generator, Id, IdError, Layout, Policy, SimulatedTimer,
    SteppedBack, Worker,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

const START_MS: u64 = 1_800_000_000_000;

/// Eight ids a millisecond.
fn narrow(policy: Policy) -> (Generator<Arc<SimulatedTimer>>, Arc<SimulatedTimer>) {
    let clock = Arc::new(SimulatedTimer::new(START_MS));
    let layout = Layout::new(40, 0, 5, 3).unwrap();
    let config = Config { policy, ..Config::new(layout, Worker::explicit(17)) };
    (Generator::new(config, Arc::clone(&clock)).unwrap(), clock)
}

fn ms_and_sequence(ids: &Generator<Arc<SimulatedTimer>>, id: Id) -> (u64, u64) {
    let parts = ids.layout().parts(id);
    (parts.unix_ms - START_MS, parts.sequence)
}

#[test]
fn blocks_of_two_threads_lie_beside_each_other_and_each_is_used_up() {
    let (ids, _clock) = narrow(Policy::default());
    let (mut one, mut other) = (ids.local(3), ids.local(3));
    let mut taken = Vec::new();
    for _ in 0..3 {
        taken.push(ms_and_sequence(&ids, one.next().unwrap()).1);
        taken.push(ms_and_sequence(&ids, other.next().unwrap()).1);
    }
    assert_eq!(taken, [0, 3, 1, 4, 2, 5]);
    assert_eq!(ms_and_sequence(&ids, ids.next().unwrap()), (0, 6));
}

#[test]
fn the_rest_of_a_block_is_not_used_in_a_later_millisecond() {
    let (ids, clock) = narrow(Policy::default());
    let mut own = ids.local(4);
    let before = own.next().unwrap();
    clock.set(START_MS + 5);
    let others = ids.next().unwrap();
    let after = own.next().unwrap();
    assert!(before < others && others < after);
    assert_eq!(ms_and_sequence(&ids, after), (5, 1));
}

#[test]
fn a_block_that_reaches_into_the_next_millisecond_is_waited_for_and_used_up() {
    let (ids, clock) = narrow(Policy::default());
    let mut own = ids.local(5);
    let taken: Vec<_> = (0..10).map(|_| ms_and_sequence(&ids, own.next().unwrap())).collect();
    let expected: Vec<_> = (0..10).map(|ticket| (ticket / 8, ticket % 8)).collect();
    assert_eq!(taken, expected);
    assert_eq!(clock.waited_ms(), 1);
}

#[test]
fn borrowed_blocks_are_used_up_before_more_is_borrowed() {
    let exhausted = Exhausted::Borrow { at_most: Duration::from_millis(3) };
    let (ids, _clock) = narrow(Policy { exhausted, ..Policy::default() });
    let mut own = ids.local(8);
    let taken = std::iter::from_fn(|| own.next().ok()).count();
    assert_eq!(taken, 4 * 8, "the clock's own millisecond and three borrowed ones");
    assert!(matches!(own.next(), Err(IdError::Exhausted { .. })));
}

#[test]
fn a_step_back_of_the_clock_is_for_the_policy_to_decide_although_a_block_is_left() {
    let stepped_back = SteppedBack { wait_max: Duration::ZERO, borrow_max: Duration::ZERO };
    let (ids, clock) = narrow(Policy { stepped_back, ..Policy::default() });
    let mut own = ids.local(4);
    let before = own.next().unwrap();
    clock.set(START_MS - 50);
    assert!(matches!(own.next(), Err(IdError::SteppedBack { .. })));
    clock.set(START_MS);
    assert!(own.next().unwrap() > before);
}

#[test]
fn a_block_of_none_is_a_block_of_one() {
    let (ids, _clock) = narrow(Policy::default());
    let mut own = ids.local(0);
    let taken = [own.next(), own.next()].map(|id| ms_and_sequence(&ids, id.unwrap()));
    assert_eq!(taken, [(0, 0), (0, 1)]);
}

#[test]
fn ids_of_eight_threads_with_blocks_and_of_some_without_are_distinct() {
    const EACH: usize = 40_000;
    // 32,768 ids a millisecond, of which the threads use up many.
    let layout = Layout::new(40, 0, 8, 15).unwrap();
    let config = Config::new(layout, Worker::explicit(255));
    let ids = Generator::new(config, CachedClock::start().unwrap()).unwrap();
    let of_thread = |thread: u32| {
        let mut own = ids.local(1 << thread);
        let next = |_| match thread {
            0 => ids.next().unwrap(),
            _ => own.next().unwrap(),
        };
        let taken: Vec<Id> = (0..EACH).map(next).collect();
        assert!(taken.is_sorted_by(|a, b| a < b), "the ids of a thread ascend");
        taken
    };
    let all: Vec<Id> = std::thread::scope(|scope| {
        let of_thread = &of_thread;
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || of_thread(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let distinct: HashSet<Id> = all.iter().copied().collect();
    assert_eq!(distinct.len(), 8 * EACH);
}
