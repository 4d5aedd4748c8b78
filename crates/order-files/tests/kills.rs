//! The power goes at each step of a file and at each change of the disk: afterwards every row is an
//! order exactly once, and the file is answered.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_order_files::{FileStep, tenant_of};
use stage::{ACME, ALICE, Answer, Stage, TestVenue, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More orders of the account than the core remembers.
const OTHERS: usize = 1_100;
/// Three batches of the test.
const ROWS: usize = 5;

/// Orders that end at once: an open one would stay known to the core.
fn content() -> String {
    let header = "account,instrument,side,quantity,price,time_in_force,label\n";
    let row = |nth| format!("{ALICE},BTC-USD,buy,0.0001,1.00,ioc,r{nth}\n");
    (1..=ROWS).map(row).fold(header.to_owned(), |file, row| file + &row)
}

fn stage(seed: u64) -> Stage {
    let mut stage = Stage::new(seed);
    // Two rows are a batch: the connection to the engine is shared out among the files.
    stage.limits.files_max = 4;
    stage.engine = |config| config.producer_capacity = 8;
    stage
}

/// Starts the venue after a loss of power, as often as it takes.
fn reopen(stage: &Stage) -> TestVenue {
    loop {
        stage.disk.restart();
        match stage.try_open() {
            Ok(venue) => return venue,
            Err(error) => assert!(stage.disk.is_down(), "it does not open: {error}"),
        }
    }
}

/// Waits for the answer, and checks that every row is an order once.
fn check(venue: &TestVenue, id: &str, case: &str) {
    let answer: Answer = venue.answer(ACME, "a.csv", id);
    assert_eq!(answer.column("status"), ["cancelled"; ROWS], "{case}");
    let mut entered = venue.entered();
    entered.retain(|name, _| !name.starts_with("other-"));
    let names: Vec<&str> = answer.column("client_order_id");
    assert_eq!(entered.len(), ROWS, "{case}: {entered:?}");
    for name in names {
        assert_eq!(entered.get(name), Some(&1), "{case}: {name}");
    }
    until("the file ends", || venue.work(ACME) == (0, 0, 0));
}

/// Cuts the power when a step has happened for the `nth` time, and goes on after a restart.
fn survive(step: FileStep, nth: usize) {
    let case = format!("{step:?}, time {nth}");
    let stage = stage(nth as u64 + 1);
    let mut venue = stage.try_open().unwrap();
    venue.list();
    let (seen, disk) = (Arc::new(AtomicUsize::new(0)), stage.disk.clone());
    let count = Arc::clone(&seen);
    let mut options = stage.options();
    options.on_step = Some(Arc::new(move |happened| {
        if happened == step && count.fetch_add(1, Ordering::SeqCst) + 1 == nth {
            disk.crash_after(0);
            // The machine is gone with the next change: nothing is done after the step.
            panic!("the power is gone");
        }
    }));
    venue.exchange(options);
    let id = venue.drop_file(ACME, "a.csv", &content());
    until(&case, || seen.load(Ordering::SeqCst) >= nth);
    drop(venue);

    let mut venue = reopen(&stage);
    // The core forgets the orders of the file before the exchange looks them up.
    venue.place_others(ALICE, OTHERS);
    venue.exchange(stage.options());
    check(&venue, &id, &case);
    // Dropped again, it enters nothing.
    let again = venue.drop_file(ACME, "b.csv", &content());
    let repeated = venue.answer(ACME, "b.csv", &again);
    assert_eq!(repeated, venue.answer(ACME, "a.csv", &id), "{case}");
    check(&venue, &id, &case);
}

#[test]
fn a_claim_without_a_check() {
    survive(FileStep::Claimed, 1);
}

#[test]
fn a_check_without_an_intention() {
    survive(FileStep::Checked, 1);
}

#[test]
fn an_intention_without_its_batch() {
    survive(FileStep::Intended, 1);
    survive(FileStep::Intended, 2);
}

#[test]
fn a_batch_that_was_sent_without_a_record_of_its_answers() {
    survive(FileStep::Sent, 1);
    survive(FileStep::Sent, 3);
}

#[test]
fn answers_without_a_result() {
    survive(FileStep::Answered, 2);
    survive(FileStep::Answered, 3);
}

#[test]
fn a_result_that_was_written_without_a_completion() {
    survive(FileStep::ResultWritten, 1);
}

#[test]
fn a_completion_without_a_record_in_the_history() {
    survive(FileStep::Completed, 1);
}

#[test]
fn everything_is_recorded() {
    survive(FileStep::Ended, 1);
}

#[test]
fn errors_of_a_bad_file_that_is_not_refused_yet() {
    let stage = stage(1);
    let mut venue = stage.try_open().unwrap();
    venue.list();
    let (seen, disk) = (Arc::new(AtomicUsize::new(0)), stage.disk.clone());
    let count = Arc::clone(&seen);
    let mut options = stage.options();
    options.on_step = Some(Arc::new(move |happened| {
        if happened == FileStep::FaultsKept {
            count.fetch_add(1, Ordering::SeqCst);
            disk.crash_after(0);
            panic!("the power is gone");
        }
    }));
    venue.exchange(options);
    let id = venue.drop_file(ACME, "a.csv", "instrument,side\n");
    until("it is checked", || seen.load(Ordering::SeqCst) >= 1);
    drop(venue);
    let mut venue = reopen(&stage);
    let before = venue.faults(ACME, "a.csv", &id);
    venue.exchange(stage.options());
    until("it is a dead letter", || venue.work(ACME) == (0, 0, 1));
    assert_eq!(venue.faults(ACME, "a.csv", &id), before);
    let kept = venue.depot.kept_files(&tenant_of(ACME), "out/", None, 10).unwrap();
    assert_eq!(kept.len(), 1);
}

/// The number of changes of the disk from the drop to the end of a file.
fn changes() -> u64 {
    let stage = stage(1);
    let venue = stage.open();
    let before = stage.disk.operations();
    let id = venue.drop_file(ACME, "a.csv", &content());
    check(&venue, &id, "without a crash");
    stage.disk.operations() - before
}

#[test]
fn every_row_is_entered_once_whenever_the_power_goes() {
    let changes = changes();
    assert!(changes > 20, "{changes}");
    for after in 0..changes + 5 {
        let case = format!("after {after} of {changes} changes");
        let stage = stage(after + 1);
        let venue = stage.open();
        stage.disk.crash_after(after);
        let file = rialto_depot::NewFile::new(
            rialto_order_files::orders_in(),
            rialto_depot::FileName::new("a.csv").unwrap(),
        );
        let content = content();
        let tenant = tenant_of(ACME);
        let stored = venue.depot.put_bytes(&tenant, file.clone(), content.as_bytes());
        let done = || {
            let ended = venue.exchange.as_ref().is_some_and(|it| it.counts().files_answered() > 0);
            stage.disk.is_down() || ended
        };
        until(&case, done);
        drop(venue);
        let mut venue = reopen(&stage);
        venue.place_others(ALICE, OTHERS);
        venue.exchange(stage.options());
        // A file that was not acknowledged may be there, and is dropped again: its content counts.
        let id = match stored {
            Ok(stored) => stored.file.id.to_string(),
            Err(_) => venue.drop_file(ACME, "a.csv", &content),
        };
        check(&venue, &id, &case);
    }
}
