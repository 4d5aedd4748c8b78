//! Whole histories with failures of power, process and disk at every kind of point, from a seed, checked
//! against what was promised; and defects on purpose, each of which must be caught.
//!
//! `RIALTO_QUEUE_SEEDS` says how many histories are run.

mod life;
mod sabotaged;

use crate::stage::{Stage, stream};
use life::{Coverage, live};
use rialto_queue::{Level, TopicOptions};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The default number of histories for each level: 2,000 in all.
const SEEDS: u64 = 1_000;

fn seeds() -> u64 {
    let asked = std::env::var("RIALTO_QUEUE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    asked.unwrap_or(SEEDS)
}

fn run(level: Level) {
    let (next, total) = (AtomicU64::new(0), Mutex::new(Coverage::default()));
    let work = || {
        let mut coverage = Coverage::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds() {
                break;
            }
            if let Err(broken) = live(seed, level, None, &mut coverage) {
                panic!("{broken}");
            }
        }
        total.lock().unwrap().add(&coverage);
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let total = total.into_inner().unwrap();
    // A simulation in which the interesting things never happen would prove nothing.
    assert!(total.crashes > 4 * seeds(), "{total:?}");
    assert!(total.passed_on > seeds() && total.faults > seeds(), "{total:?}");
    assert!(total.revivals > seeds() / 10 && total.duplicates > seeds() / 10, "{total:?}");
}

#[test]
fn synced_topics_keep_their_promises_through_crashes() {
    run(Level::Synced);
}

#[test]
fn buffered_topics_keep_what_was_confirmed_beyond_their_level() {
    run(Level::Buffered);
}

#[test]
fn options_are_what_they_were() {
    let mut stage = Stage::new();
    let options = TopicOptions { max_age: Some(Duration::from_secs(7)), ..stream() };
    stage.queue().create_topic("t", options.clone()).unwrap();
    stage.crash();
    assert_eq!(stage.queue().options("t").unwrap(), options);
}

/// A delayed message became due, was passed on, and its copy went with the power.
#[test]
fn what_a_transaction_acknowledged_does_not_become_due_again() {
    for seed in [1247, 1880] {
        live(seed, Level::Buffered, None, &mut Coverage::default()).unwrap();
    }
}
