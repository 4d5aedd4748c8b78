//! Every interleaving of a few calls, tried by loom: tickets are distinct, ascend for each thread
//! and from one thread to the next, and are where the policy allows.

use super::{Sequence, Word};
use crate::clock::BlockingTimer;
use crate::error::IdError;
use crate::layout::Layout;
use crate::policy::{Exhausted, Policy, SteppedBack};
use loom::sync::atomic::AtomicU64;
use loom::thread;
use rialto_clock::{Clock, Timestamp};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

impl Word for AtomicU64 {
    fn new(value: u64) -> AtomicU64 {
        AtomicU64::new(value)
    }

    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }

    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.fetch_add(value, order)
    }

    fn fetch_max(&self, value: u64, order: Ordering) -> u64 {
        self.fetch_max(value, order)
    }

    fn compare_exchange(&self, current: u64, new: u64, order: Ordering) -> Result<(), ()> {
        self.compare_exchange(current, new, order, Ordering::Relaxed).map(drop).map_err(drop)
    }
}

/// A clock that another thread may set, and that moves to where somebody waits for it.
struct ModelClock(AtomicU64);

impl Clock for ModelClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now_ms() * 1_000_000)
    }

    fn monotonic(&self) -> Instant {
        Instant::now()
    }

    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl BlockingTimer for ModelClock {
    fn wait_until(&self, ms: u64, _at_most: Duration) -> bool {
        self.0.fetch_max(ms, Ordering::SeqCst);
        true
    }
}

const START: u64 = 1_000;
/// Two ids a millisecond, so that a few calls use one up.
const NARROW: (u32, u32, u32, u32) = (40, 0, 5, 1);

struct Model {
    sequence: Sequence<AtomicU64>,
    clock: ModelClock,
}

fn model(policy: Policy) -> Arc<Model> {
    let (time, datacenter, worker, sequence) = NARROW;
    let layout = Layout::new(time, datacenter, worker, sequence).unwrap();
    let layout = layout.with_epoch(crate::Epoch::UNIX);
    Arc::new(Model {
        sequence: Sequence::new(&layout, policy, 0),
        clock: ModelClock(AtomicU64::new(START)),
    })
}

/// Two threads take tickets while `meddle` happens in a third; returns what each got.
fn two_threads(
    model: &Arc<Model>,
    calls: [&'static [u32]; 2],
    meddle: impl FnOnce(&ModelClock),
) -> Vec<Vec<Result<u64, IdError>>> {
    let threads = calls.map(|calls| {
        let model = Arc::clone(model);
        thread::spawn(move || {
            let one = |&count: &u32| match count {
                1 => model.sequence.take(&model.clock),
                _ => model.sequence.take_many(count, &model.clock),
            };
            calls.iter().map(one).collect::<Vec<_>>()
        })
    });
    meddle(&model.clock);
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// Checks that the tickets are distinct and ascend for each thread, and returns the greatest.
fn check(calls: [&'static [u32]; 2], came: &[Vec<Result<u64, IdError>>]) -> u64 {
    let mut all = Vec::new();
    for (counts, results) in calls.iter().zip(came) {
        let mut last = None;
        for (&count, first) in counts.iter().zip(results) {
            let Ok(first) = *first else { continue };
            assert!(Some(first) > last, "{came:?} go back");
            last = Some(first + u64::from(count) - 1);
            all.extend(first..first + u64::from(count));
        }
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "{came:?} repeat a ticket");
    all.last().copied().unwrap_or_default()
}

fn explore(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // More than two forced switches find nothing new in so few steps, and take minutes.
    builder.preemption_bound = Some(2);
    builder.check(test);
}

fn exhausted(exhausted: Exhausted) -> Policy {
    Policy { exhausted, ..Policy::default() }
}

#[test]
fn waiting_threads_get_distinct_tickets_that_the_clock_has_reached() {
    explore(|| {
        let model = model(exhausted(Exhausted::Wait { at_most: Duration::from_millis(9) }));
        let calls: [&[u32]; 2] = [&[1, 1], &[1, 2]];
        let came = two_threads(&model, calls, |_| {});
        assert!(came.iter().flatten().all(Result::is_ok));
        let last = check(calls, &came);
        assert!(last >> 1 <= model.clock.now_ms());
        let next = model.sequence.take(&model.clock).unwrap();
        assert!(next > last, "a ticket taken after all others is greater");
    });
}

#[test]
fn a_clock_that_moves_on_meanwhile_repeats_nothing() {
    explore(|| {
        let model = model(exhausted(Exhausted::Wait { at_most: Duration::from_millis(9) }));
        let calls: [&[u32]; 2] = [&[1, 1], &[1, 1]];
        let came = two_threads(&model, calls, |clock| {
            clock.0.fetch_max(START + 1, Ordering::SeqCst);
        });
        assert!(came.iter().flatten().all(Result::is_ok));
        check(calls, &came);
    });
}

#[test]
fn a_clock_that_steps_back_meanwhile_repeats_nothing() {
    explore(|| {
        let stepped_back =
            SteppedBack { wait_max: Duration::ZERO, borrow_max: Duration::from_millis(9) };
        let model = model(Policy {
            exhausted: Exhausted::Borrow { at_most: Duration::from_millis(9) },
            stepped_back,
        });
        let calls: [&[u32]; 2] = [&[1, 1], &[1, 1]];
        let came = two_threads(&model, calls, |clock| clock.0.store(START - 3, Ordering::SeqCst));
        assert!(came.iter().flatten().all(Result::is_ok));
        check(calls, &came);
    });
}

#[test]
fn threads_that_are_refused_throw_away_one_ticket_each_at_most() {
    explore(|| {
        let model = model(exhausted(Exhausted::Refuse));
        let calls: [&[u32]; 2] = [&[1, 1], &[1, 1]];
        let came = two_threads(&model, calls, |_| {});
        let last = check(calls, &came);
        assert_eq!(last, (START << 1) + 1, "both tickets of the millisecond go out, no other");
        let next = model.sequence.next.0.load(Ordering::SeqCst);
        assert!(next <= (START << 1) + 4, "{next} is too far ahead");
    });
}
