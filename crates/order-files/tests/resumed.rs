//! A file that was begun is resumed under other limits, accounts and quotas than those of its begin.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_depot::{DirectoryKind, Quota};
use rialto_model::AccountId;
use rialto_order_files::{ContentDigest, FileStep, orders_out, tenant_of};
use stage::{BETA, BOB, LONG, Stage, TestVenue, until};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

#[test]
fn a_file_that_is_not_valid_any_more_gets_one_true_outcome_for_each_row() {
    let mut stage = stage(44);
    // The file that was begun waits, and another one with its content goes on.
    stage.depot = |options| {
        (options.retry_delay, options.retry_delay_max) = (LONG * 60, LONG * 60);
    };
    let mut venue = stage.try_open().unwrap();
    venue.list();
    venue.add_account(BETA, AccountId(9));
    // It ends when the second batch is recorded as going to be sent.
    let intended = Arc::new(AtomicUsize::new(0));
    let mut options = stage.options();
    let count = Arc::clone(&intended);
    options.on_step = Some(Arc::new(move |step| {
        if step == FileStep::Intended && count.fetch_add(1, Ordering::SeqCst) == 1 {
            panic!("the work ends");
        }
    }));
    venue.exchange(options);
    let row = |price: &str| format!("9,BTC-USD,buy,0.0001,{price}\n");
    let header = "account,instrument,side,quantity,price\n".to_owned();
    let content = ["1.00", "0.30", "1.00", "1.00", "1.00", "1.00"].map(row).concat();
    let content = header + &content;
    venue.drop_file(BETA, "a.csv", &content);
    until("the second batch is intended", || intended.load(Ordering::SeqCst) > 1);
    venue.exchange = None;
    venue.close();

    // A venue in which the account is not known, so that the file is refused; and in which the first of
    // the two rows in doubt has an order.
    stage.engine = |config| {
        config.producer_capacity = 8;
        config.data_dir = PathBuf::from("/other");
    };
    let mut venue = stage.try_open().unwrap();
    venue.list();
    venue.place_others(BOB, 100);
    let digest = ContentDigest::of(content.as_bytes());
    venue.place(BOB, std::iter::once(digest.client_order_id(3).to_string()));
    venue.exchange(stage.options());
    let id = venue.drop_file(BETA, "b.csv", &content);
    let answer = venue.answer(BETA, "b.csv", &id);
    let none = "not_entered";
    assert_eq!(answer.column("status"), ["open", "rejected", "cancelled", none, none, none]);
    assert_eq!(answer.column("reason")[1], "price_off_tick");
    let has_order: Vec<bool> = answer.column("order_id").iter().map(|id| !id.is_empty()).collect();
    assert_eq!(has_order, [true, false, true, false, false, false]);
    assert_eq!(answer.column("client_order_id")[5], digest.client_order_id(6).to_string());

    // The answer of this file is the first answer to the content.
    let again = venue.drop_file(BETA, "c.csv", &content);
    assert_eq!(venue.answer(BETA, "c.csv", &again), answer);
    let (tenant, path) = (tenant_of(BETA), format!("{}/b.{id}.csv", orders_out()));
    let kept = venue.depot.file_at(&tenant, &path).unwrap().record.id;
    venue.depot.delete(&tenant, kept).unwrap();
    let last = venue.drop_file(BETA, "d.csv", &content);
    let known = ["repeated", "repeated", "unknown", "unknown", none, none];
    assert_eq!(venue.answer(BETA, "d.csv", &last).column("status"), known);
}
