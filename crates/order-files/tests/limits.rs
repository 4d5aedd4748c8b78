//! Fairness among members, claims of long files, and an engine that is busy.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_clock::{Clock, ManualClock, SystemClock};
use rialto_depot::FileState;
use rialto_order_files::{FileStep, UNFINISHED_MAX, orders_in, tenant_of};
use stage::{ACME, ALICE, BETA, BOB, Stage, bids, until};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn a_large_file_of_a_member_does_not_hold_up_another() {
    let mut stage = Stage::new(21);
    // The large files take a minute each.
    stage.limits.orders_per_second = 1_000;
    stage.limits.files_max = 2;
    stage.engine = |config| config.producer_capacity = 64;
    let venue = stage.open();
    let large: Vec<String> =
        (0..2).map(|nth| venue.drop_file(ACME, "large.csv", &bids(ALICE, 60_000 + nth))).collect();
    until("it is in work", || venue.work(ACME).1 == 1);
    let id = venue.drop_file(BETA, "small.csv", &bids(BOB, 3));
    assert_eq!(venue.answer(BETA, "small.csv", &id).column("status"), ["open"; 3]);
    // Of the member one file is in work, although a thread is free.
    assert_eq!(venue.work(ACME), (1, 1, 0));
    let tenant = tenant_of(ACME);
    let state = |id: &String| venue.depot.file(&tenant, id.parse().unwrap()).unwrap().state;
    assert!(matches!(state(&large[0]), FileState::Claimed { .. }));
    assert_eq!(state(&large[1]), FileState::Waiting);
}

#[test]
fn the_claim_of_a_long_file_is_renewed() {
    let mut stage = Stage::new(22);
    stage.engine = |config| config.producer_capacity = 8;
    stage.depot = |options| options.claim_duration = Duration::from_millis(300);
    let clock = ManualClock::new(SystemClock.now());
    stage.clock = Arc::new(clock.clone());
    let mut venue = stage.try_open().unwrap();
    venue.list();
    // The worker stops after a batch until the sender is gone.
    let (go_on, held) = channel::<()>();
    let (held, mut options) = (Mutex::new(held), stage.options());
    options.on_step = Some(Arc::new(move |step| {
        if step == FileStep::Answered {
            let _ = held.lock().unwrap().recv();
        }
    }));
    venue.exchange(options);
    let tenant = tenant_of(ACME);
    let id = venue.drop_file(ACME, "a.csv", &bids(ALICE, 15));
    let deadline = || match venue.depot.file(&tenant, id.parse().unwrap()).unwrap().state {
        FileState::Claimed { until } => Some(until),
        _ => None,
    };
    until("it is claimed", || deadline().is_some());
    // Four times as long as a claim lasts.
    for _ in 0..12 {
        let before = deadline();
        assert!(before.is_some(), "the claim has ended");
        clock.advance(Duration::from_millis(100));
        until("the claim is renewed", || deadline() > before);
    }
    drop(go_on);
    let answer = venue.answer(ACME, "a.csv", &id);
    assert_eq!(answer.column("status"), ["open"; 15]);
    let work = venue.depot.tenant(&tenant).unwrap().work;
    assert_eq!((work.claims, work.completed, work.failed), (1, 1, 0));
}

#[test]
fn rows_wait_while_the_disk_is_low_and_are_entered_once() {
    let stage = Stage::new(23);
    let venue = stage.open();
    let storage = venue.parts.engine.storage();
    storage.tell(rialto_desk::StorageLevel::Reserved, Default::default());
    let counts = venue.exchange.as_ref().unwrap().counts();
    let id = venue.drop_file(ACME, "a.csv", &bids(ALICE, 3));
    until("rows are sent again", || counts.batches_retried() >= 2);
    assert!(venue.entered().is_empty());
    storage.tell(rialto_desk::StorageLevel::Enough, Default::default());
    assert_eq!(venue.answer(ACME, "a.csv", &id).column("status"), ["open"; 3]);
    assert_eq!(venue.entered().len(), 3);
}

#[test]
fn a_stop_in_the_middle_gives_the_file_back_and_costs_no_attempt() {
    let mut stage = Stage::new(24);
    // The first batch is sent at once, and the file takes a minute.
    stage.limits.orders_per_second = 1;
    stage.engine = |config| config.producer_capacity = 8;
    stage.depot = |options| options.attempts_max = 2;
    let mut venue = stage.open();
    let id = venue.drop_file(ACME, "a.csv", &bids(ALICE, 60));
    let mut before = 0;
    for life in 1..=4 {
        until("some rows are sent", || venue.entered().len() > before);
        venue.exchange = None;
        assert_eq!(venue.work(ACME), (1, 0, 0));
        before = venue.entered().len();
        if life == 4 {
            stage.limits.orders_per_second = 1_000_000;
        }
        venue.exchange(stage.options());
    }
    assert_eq!(venue.answer(ACME, "a.csv", &id).column("status"), ["open"; 60]);
    assert!(venue.entered().values().all(|times| *times == 1));
}

#[test]
fn a_member_has_few_unfinished_contents() {
    let mut stage = Stage::new(25);
    // The first batch is sent at once, and a file takes half a minute.
    stage.limits.orders_per_second = 1;
    stage.engine = |config| config.producer_capacity = 8;
    stage.depot = |options| options.retry_delay = Duration::from_secs(3_600);
    let mut venue = stage.open();
    let tenant = tenant_of(ACME);
    for nth in 0..UNFINISHED_MAX {
        // A part of it is sent; then it waits behind the next one.
        let (rows, before) = (30 + nth, venue.entered().len());
        let file =
            rialto_depot::NewFile::new(orders_in(), rialto_depot::FileName::new("a.csv").unwrap());
        venue.depot.put_bytes(&tenant, file, bids(ALICE, rows).as_bytes()).unwrap();
        until("some rows are sent", || venue.entered().len() > before);
        venue.exchange = None;
        let claims = venue.depot.claim(&tenant, &rialto_depot::ClaimOptions::default()).unwrap();
        venue.depot.fail(claims[0].token(), "later", Some(Duration::from_secs(3_600))).unwrap();
        venue.exchange(stage.options());
    }
    let before = venue.entered().len();
    venue.drop_file(ACME, "b.csv", &bids(ALICE, 2));
    let counts = venue.exchange.as_ref().unwrap().counts();
    until("it fails", || counts.files_failed() == 1);
    assert_eq!(venue.entered().len(), before, "it was not begun");
    // Another member is not concerned.
    let id = venue.drop_file(BETA, "b.csv", &bids(BOB, 2));
    assert_eq!(venue.answer(BETA, "b.csv", &id).column("status"), ["open"; 2]);
}

#[test]
fn orders_are_sent_no_faster_than_the_limit() {
    let mut stage = Stage::new(26);
    stage.limits.orders_per_second = 100;
    stage.engine = |config| config.producer_capacity = 8;
    let venue = stage.open();
    let begun = Instant::now();
    let ids = [(ACME, ALICE), (BETA, BOB)]
        .map(|(member, account)| (member, venue.drop_file(member, "a.csv", &bids(account, 50))));
    for (member, id) in ids {
        assert_eq!(venue.answer(member, "a.csv", &id).column("status"), ["open"; 50]);
    }
    // 100 orders of two members; each of the last batches has two rows, and is sent before its time.
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(950), "{took:?}");
}

#[test]
fn rows_beyond_the_rate_of_the_member_wait_and_are_entered_once() {
    let mut stage = Stage::new(26);
    stage.order_rate = 20;
    let venue = stage.open();
    let counts = venue.exchange.as_ref().unwrap().counts();
    let start = Instant::now();
    let large = venue.drop_file(ACME, "a.csv", &bids(ALICE, 50));
    // Another member has a rate of its own.
    let small = venue.drop_file(BETA, "b.csv", &bids(BOB, 20));
    assert_eq!(venue.answer(BETA, "b.csv", &small).column("status"), ["open"; 20]);
    assert_eq!(venue.answer(ACME, "a.csv", &large).column("status"), ["open"; 50]);
    assert!(start.elapsed() >= Duration::from_millis(1_500), "20 at once, and 30 at 20 a second");
    assert!(counts.batches_retried() > 0);
    assert!(venue.entered().values().all(|times| *times == 1));
    assert_eq!(venue.entered().len(), 70);
}
