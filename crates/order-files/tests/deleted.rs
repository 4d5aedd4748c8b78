//! A content whose rows cannot all be answered: its file was deleted when a part of it had been sent.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_order_files::{FileStep, tenant_of};
use stage::{ACME, ALICE, Stage, TestVenue, bids, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROWS: usize = 6;

/// A venue with batches of two rows.
fn stage(seed: u64) -> Stage {
    let mut stage = Stage::new(seed);
    stage.limits.files_max = 4;
    stage.engine = |config| config.producer_capacity = 8;
    stage
}

/// The venue after the power went when the second batch was sent, and not recorded as answered.
fn stop_in_second_batch(stage: &Stage) -> (TestVenue, String) {
    let mut venue = stage.try_open().unwrap();
    venue.list();
    let (sent, disk) = (Arc::new(AtomicUsize::new(0)), stage.disk.clone());
    let count = Arc::clone(&sent);
    let mut options = stage.options();
    options.on_step = Some(Arc::new(move |step| {
        if step == FileStep::Sent && count.fetch_add(1, Ordering::SeqCst) == 1 {
            disk.crash_after(0);
            panic!("the power is gone");
        }
    }));
    venue.exchange(options);
    let id = venue.drop_file(ACME, "a.csv", &bids(ALICE, ROWS));
    until("the second batch is sent", || sent.load(Ordering::SeqCst) > 1);
    drop(venue);
    stage.disk.restart();
    (stage.try_open().unwrap(), id)
}

#[test]
fn a_file_that_was_deleted_in_the_middle_stays_half_entered() {
    let stage = stage(32);
    let (mut venue, id) = stop_in_second_batch(&stage);
    venue.depot.delete(&tenant_of(ACME), id.parse().unwrap()).unwrap();
    venue.exchange(stage.options());
    let again = venue.drop_file(ACME, "b.csv", &bids(ALICE, ROWS));
    let answer = venue.answer(ACME, "b.csv", &again);
    assert_eq!(
        answer.column("status"),
        ["repeated", "repeated", "unknown", "unknown", "not_entered", "not_entered"]
    );
    assert_eq!(venue.entered().len(), 4, "nothing is entered for the second file");
}
