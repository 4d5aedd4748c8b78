//! A file that was begun is resumed under other limits, accounts and quotas than those of its begin.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_depot::{DirectoryKind, Quota};
use rialto_model::AccountId;
use rialto_order_files::{FileStep, orders_out, tenant_of};
use stage::{BETA, Stage, TestVenue, until};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

const ROWS: usize = 6;

/// A venue with batches of two rows.
fn stage(seed: u64) -> Stage {
    let mut stage = Stage::new(seed);
    stage.limits.files_max = 4;
    stage.engine = |config| config.producer_capacity = 8;
    stage
}

/// Orders of Beta, which has one account, without a column for it.
fn orders() -> String {
    let rows = (0..ROWS).map(|nth| format!("BTC-USD,buy,0.0001,1.00,r{nth}\n"));
    rows.fold("instrument,side,quantity,price,label\n".to_owned(), |file, row| file + &row)
}

/// The venue without the exchange, which ended behind the first batch of a file.
fn stop_behind_first_batch(stage: &Stage) -> (TestVenue, String) {
    let mut venue = stage.try_open().unwrap();
    venue.list();
    let ended = Arc::new(AtomicBool::new(false));
    let mut options = stage.options();
    let end = Arc::clone(&ended);
    options.on_step = Some(Arc::new(move |step| {
        if step == FileStep::Answered {
            end.store(true, Ordering::SeqCst);
            panic!("the work ends");
        }
    }));
    venue.exchange(options);
    let id = venue.drop_file(BETA, "a.csv", &orders());
    until("a batch is answered", || ended.load(Ordering::SeqCst));
    venue.exchange = None;
    (venue, id)
}

#[test]
fn a_file_that_was_begun_is_answered_under_a_lower_limit() {
    let mut stage = stage(41);
    let (mut venue, id) = stop_behind_first_batch(&stage);
    stage.limits.file_bytes_max = 10;
    stage.limits.rows_max = 1;
    venue.exchange(stage.options());
    assert_eq!(venue.answer(BETA, "a.csv", &id).column("status"), ["open"; ROWS]);
    assert!(venue.entered().values().all(|times| *times == 1));
}

#[test]
fn rows_without_an_account_stay_those_of_the_account_of_the_begin() {
    let stage = stage(42);
    let (mut venue, id) = stop_behind_first_batch(&stage);
    venue.add_account(BETA, AccountId(9));
    venue.exchange(stage.options());
    let answer = venue.answer(BETA, "a.csv", &id);
    assert_eq!(answer.column("status"), ["open"; ROWS]);
    assert_eq!(answer.column("account"), ["3"; ROWS]);
}

#[test]
fn the_room_of_the_answer_is_held_while_rows_are_sent() {
    let stage = stage(43);
    let mut venue = stage.try_open().unwrap();
    venue.list();
    // The work waits behind the first batch until the test has filled the quota.
    let gate = Arc::new((Mutex::new((false, false)), Condvar::new()));
    let mut options = stage.options();
    let at_gate = Arc::clone(&gate);
    options.on_step = Some(Arc::new(move |step| {
        if step == FileStep::Answered {
            let (state, changed) = &*at_gate;
            let mut state = state.lock().unwrap();
            state.0 = true;
            drop(changed.wait_while(state, |(_, is_open)| !*is_open).unwrap());
        }
    }));
    venue.exchange(options);
    let id = venue.drop_file(BETA, "a.csv", &orders());
    until("a batch is answered", || gate.0.lock().unwrap().0);
    let tenant = tenant_of(BETA);
    let quota = Quota { files_max: 0, bytes_max: 100 };
    venue.depot.set_directory(&tenant, &orders_out(), Some(DirectoryKind::Shelf), quota).unwrap();
    gate.0.lock().unwrap().1 = true;
    gate.1.notify_all();
    assert_eq!(venue.answer(BETA, "a.csv", &id).column("status"), ["open"; ROWS]);
    assert_eq!(venue.exchange.as_ref().unwrap().counts().files_failed(), 0);
}
