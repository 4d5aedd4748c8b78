//! Whole histories of a log on a simulated disk, from seeds, in one thread.
//!
//! `model.rs` knows what must be found, `history.rs` draws what happens. What is not simulated here:
//! two faults at once (a flipped bit on a lying disk), and damage to more than one file.

mod history;
mod model;

use history::{History, Outcome, Trouble};

fn run(trouble: Trouble, seeds: std::ops::Range<u64>) -> Outcome {
    let mut total = Outcome::default();
    for seed in seeds {
        match History::new(seed, trouble, false).run() {
            Ok(outcome) => total.add(outcome),
            Err(broken) => panic!("{trouble:?}, seed {seed}: {broken}"),
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
    }
}

#[test]
fn crashes_lose_nothing_that_was_synced() {
    let total = run(Trouble::None, 0..4000);
    // A simulation in which the interesting things never happen would prove nothing.
    assert!(total.cuts > 100 && total.rolls > 100, "{total:?}");
    assert!(total.truncations > 100 && total.lost_unsynced > 100, "{total:?}");
    assert!(total.sealed_lives > 1000 && total.rotations > 100, "{total:?}");
    assert!(total.recycled > 100 && total.rests > 1000, "{total:?}");
    assert_eq!(total.refusals, 0);
}

#[test]
fn a_turned_bit_is_mended_cut_unproven_or_refused_but_never_swallowed() {
    let total = run(Trouble::BitFlip, 0..3000);
    assert!(total.refusals > 100, "{total:?}");
}

#[test]
fn a_full_disk_stops_the_writer_and_loses_nothing() {
    let total = run(Trouble::NoSpace, 0..1000);
    assert!(total.poisoned > 50, "{total:?}");
}

#[test]
fn a_failed_write_or_sync_stops_the_writer_and_loses_nothing() {
    let total = run(Trouble::Failure, 0..1500);
    assert!(total.poisoned > 100, "{total:?}");
}

#[test]
fn a_lying_sync_is_reported_where_a_mark_proves_it() {
    let total = run(Trouble::LyingSync, 0..1500);
    assert!(total.refusals > 20, "{total:?}");
}

#[test]
fn the_invariants_catch_a_recovery_that_cuts_without_asking() {
    let caught =
        (0..200).filter(|seed| History::new(*seed, Trouble::BitFlip, true).run().is_err()).count();
    assert!(caught > 10, "only {caught} of 200 histories were caught");
}
