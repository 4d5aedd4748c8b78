//! Whole histories of a log on a simulated disk, from seeds, in one thread.
//!
//! `model.rs` holds the expected records and what damage excuses, `history.rs` draws the
//! operations, `faults.rs` the faults of the disk besides crashes, `opening.rs` checks openings,
//! and `evidence.rs` reads the proofs in the bytes on disk. What is not simulated here: three
//! faults at once, and a disk that hangs, which one thread cannot tell from a slow one (the
//! engine's simulation does).

mod evidence;
mod faults;
mod history;
mod model;
mod opening;
mod random;

use faults::Fault;
use history::{History, Outcome};

fn run(planned: &[Fault], seeds: std::ops::Range<u64>) -> Outcome {
    let mut total = Outcome::default();
    for seed in seeds {
        match History::new(seed, planned, false).run() {
            Ok(outcome) => total.add(outcome),
            Err(broken) => panic!("{planned:?}, seed {seed}: {broken}"),
        }
    }
    total
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.lives += other.lives;
        self.cuts += other.cuts;
        self.refusals += other.refusals;
        self.rolls += other.rolls;
        self.truncations += other.truncations;
        self.poisoned += other.poisoned;
        self.lost_unsynced += other.lost_unsynced;
        self.sealed_lives += other.sealed_lives;
        self.rotations += other.rotations;
        self.recycled += other.recycled;
        self.rests += other.rests;
        self.flips_while_running += other.flips_while_running;
        self.misdirected += other.misdirected;
        self.stale_reads += other.stale_reads;
        self.refused_for_now += other.refused_for_now;
        self.lost_unproven += other.lost_unproven;
        self.readers_failed += other.readers_failed;
        self.damaged_twice += other.damaged_twice;
    }
}

#[test]
fn crashes_lose_nothing_that_was_synced() {
    let total = run(&[], 0..4000);
    // A simulation in which the interesting things never happen would prove nothing.
    assert!(total.cuts > 100 && total.rolls > 100, "{total:?}");
    assert!(total.truncations > 100 && total.lost_unsynced > 100, "{total:?}");
    assert!(total.sealed_lives > 1000 && total.rotations > 100, "{total:?}");
    assert!(total.recycled > 100 && total.rests > 1000, "{total:?}");
    assert_eq!(total.refusals, 0);
}

#[test]
fn a_turned_bit_is_mended_cut_unproven_or_refused_but_never_swallowed() {
    let total = run(&[Fault::BitFlip], 0..3000);
    assert!(total.refusals > 100 && total.lost_unproven > 10, "{total:?}");
}

#[test]
fn a_flipped_bit_under_an_open_log_is_reported_or_loses_only_unproven_records() {
    let total = run(&[Fault::FlipWhileRunning], 0..3000);
    assert!(total.flips_while_running > 1000 && total.readers_failed > 10, "{total:?}");
    assert!(total.refusals > 100 && total.lost_unproven > 10, "{total:?}");
}

#[test]
fn a_misdirected_write_is_reported_or_loses_only_unproven_records() {
    let total = run(&[Fault::Misdirected], 0..3000);
    assert!(total.misdirected > 1000 && total.readers_failed > 100, "{total:?}");
    assert!(total.refusals > 100 && total.lost_unproven > 10, "{total:?}");
}

#[test]
fn a_stale_read_may_be_refused_and_loses_nothing() {
    let total = run(&[Fault::StaleRead], 0..3000);
    assert!(total.stale_reads > 1000 && total.refused_for_now > 10, "{total:?}");
    assert_eq!(total.lost_unproven, 0, "{total:?}");
}

#[test]
fn two_troubles_at_once_take_only_what_nothing_on_the_disk_proves() {
    let mut total = Outcome::default();
    for (nth, first) in Fault::ALL.into_iter().enumerate() {
        for second in Fault::ALL.into_iter().skip(nth + 1) {
            total.add(run(&[first, second], 0..150));
        }
    }
    assert!(total.damaged_twice > 20 && total.misdirected > 100, "{total:?}");
    assert!(total.stale_reads > 100 && total.poisoned > 50, "{total:?}");
    assert!(total.flips_while_running > 100 && total.lost_unproven > 10, "{total:?}");
}

#[test]
fn a_full_disk_stops_the_writer_and_loses_nothing() {
    let total = run(&[Fault::NoSpace], 0..1000);
    assert!(total.poisoned > 50, "{total:?}");
}

#[test]
fn a_failed_write_or_sync_stops_the_writer_and_loses_nothing() {
    let total = run(&[Fault::Failure], 0..1500);
    assert!(total.poisoned > 100, "{total:?}");
}

#[test]
fn a_lying_sync_is_reported_where_a_mark_proves_it() {
    let total = run(&[Fault::LyingSync], 0..1500);
    assert!(total.refusals > 20, "{total:?}");
}

#[test]
fn the_invariants_catch_a_recovery_that_cuts_without_asking() {
    let is_caught = |seed: &u64| History::new(*seed, &[Fault::BitFlip], true).run().is_err();
    let caught = (0..200).filter(is_caught).count();
    assert!(caught > 10, "only {caught} of 200 histories were caught");
}
