//! The power goes at each change of the disk: afterwards every withdrawal comes to its end, once.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod venue;

use rialto_bus::Error;
use rialto_desk::HoldWithdrawal;
use rialto_disk::SimDisk;
use rialto_flow::store::MemoryStore;
use rialto_flow::{ManualClock, Timestamp};
use rialto_payments::{State, WithdrawalId};
use std::sync::Arc;
use std::time::Duration;
use venue::{ALICE, EXPIRES_AFTER, FUNDS, TestVenue, id, transfer};

const AMOUNT: i128 = 30;

/// The course of a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Approved,
    Rejected,
    Cancelled,
    Expired,
}

impl Path {
    const ALL: [Path; 4] = [Path::Approved, Path::Rejected, Path::Cancelled, Path::Expired];

    fn end(self) -> State {
        match self {
            Path::Approved => State::Settled,
            Path::Rejected => State::Rejected,
            Path::Cancelled => State::Cancelled,
            Path::Expired => State::Expired,
        }
    }

    /// The requests of owner and operator, which repeat a request without an answer. Notes the last
    /// state in an answer.
    async fn walk(self, venue: &TestVenue, told: &mut Option<State>) -> Result<(), Error> {
        let asked = venue.request(transfer(ALICE, AMOUNT, "w")).await?;
        *told = Some(asked.withdrawal.state);
        let id = the_one();
        let ended = match self {
            Path::Approved => venue.approve(id, "tx-1").await?,
            Path::Rejected => venue.reject(id, "no").await?,
            Path::Cancelled => venue.cancel(id).await?,
            Path::Expired => {
                venue.clock.advance(EXPIRES_AFTER);
                venue.wait_for(id, State::Expired).await
            }
        };
        *told = Some(ended.state);
        Ok(())
    }
}

fn the_one() -> WithdrawalId {
    id(ALICE, "w")
}

/// Goes the way until its end or until the disk is gone.
async fn walk_until_gone(path: Path, venue: &TestVenue, disk: &SimDisk, told: &mut Option<State>) {
    let gone = async {
        while !disk.is_down() {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    };
    tokio::select! {
        walked = path.walk(venue, told) => {
            assert!(walked.is_ok() || disk.is_down(), "{path:?}: {walked:?}");
        }
        () = gone => {}
    }
}

/// Opens the venue once more, as often as it takes.
fn open(disk: &SimDisk, clock: &ManualClock, life: &mut u8) -> TestVenue {
    loop {
        *life += 1;
        match TestVenue::try_open(disk, clock, *life) {
            Ok(venue) => return venue,
            Err(error) => {
                assert!(disk.is_down(), "it does not open, but the disk is there: {error}");
                disk.restart();
            }
        }
    }
}

/// The invariants at the end, after any failures.
fn check(path: Path, venue: &TestVenue, case: &str) {
    let (held, settled, released) = venue.effects("w");
    let is_settled = path == Path::Approved;
    let expected = (1, usize::from(is_settled), usize::from(!is_settled));
    assert_eq!((held, settled, released), expected, "{case}");
    let left = if is_settled { FUNDS - AMOUNT } else { FUNDS };
    assert_eq!(venue.balance(ALICE), (left, 0), "{case}");
    assert_eq!(venue.bus.service().shown().open(), 0, "{case}");
}

/// Runs a course with these crashes, each after a number of changes of the disk.
async fn survive(path: Path, seed: u64, crashes: &[u64]) {
    let case = format!("{path:?}, seed {seed}, crashes after {crashes:?}");
    let disk = SimDisk::new(seed);
    let mut venue = TestVenue::with_accounts(&disk).await;
    let clock = venue.clock.clone();
    let mut life = 1;
    let mut told = None;
    for after in crashes {
        disk.crash_after(*after);
        walk_until_gone(path, &venue, &disk, &mut told).await;
        drop(venue);
        disk.restart();
        venue = open(&disk, &clock, &mut life);
        if told.is_some_and(|told| told != State::Requested) {
            let known = venue.get(the_one()).await;
            assert!(known.is_ok(), "what was told is forgotten: {case}");
        }
        if told == Some(path.end()) {
            let stands = venue.wait_for(the_one(), path.end()).await;
            assert_eq!(stands.transfer.amount.0, AMOUNT, "{case}");
        }
    }
    path.walk(&venue, &mut told).await.expect(&case);
    check(path, &venue, &case);
    drop(venue);
    let venue = open(&disk, &clock, &mut life);
    assert_eq!(venue.get(the_one()).await.unwrap().state, path.end(), "{case}");
    check(path, &venue, &case);
}

/// The number of changes of the disk in a course.
async fn changes(path: Path) -> u64 {
    let disk = SimDisk::new(1);
    let venue = TestVenue::with_accounts(&disk).await;
    let before = disk.operations();
    path.walk(&venue, &mut None).await.unwrap();
    drop(venue);
    disk.operations() - before
}

async fn survive_each(path: Path) {
    let changes = changes(path).await;
    assert!(changes > 8, "hold, decision, end and their journal are written: {changes}");
    for after in 0..=changes {
        survive(path, after + 1, &[after]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_survives_the_loss_of_power_at_each_write() {
    survive_each(Path::Approved).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejection_survives_the_loss_of_power_at_each_write() {
    survive_each(Path::Rejected).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_survives_the_loss_of_power_at_each_write() {
    survive_each(Path::Cancelled).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expiry_survives_the_loss_of_power_at_each_write() {
    survive_each(Path::Expired).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_after_crash_changes_nothing() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % bound
    };
    for seed in 0..12 {
        let path = Path::ALL[seed % 4];
        let crashes: Vec<u64> = (0..3).map(|_| below(40)).collect();
        survive(path, seed as u64, &crashes).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_takes_no_more_is_asked_again_after_the_restart() {
    let disk = SimDisk::new(1);
    let venue = TestVenue::with_accounts(&disk).await;
    venue.engine.close_intake();
    let asked = venue.request(transfer(ALICE, AMOUNT, "w"));
    let asked_again = async {
        while venue.desk.counters().of::<HoldWithdrawal>().failed() < 2 {
            // The pause between the attempts is over when the clock says so.
            venue.clock.advance(Duration::from_millis(10));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        asked = asked => panic!("nobody can answer: {asked:?}"),
        () = asked_again => {}
    }
    let (clock, mut life) = (venue.clock.clone(), 1);
    drop(venue);
    disk.kill();
    let venue = open(&disk, &clock, &mut life);
    venue.wait_for(the_one(), State::Pending).await;
    assert_eq!(venue.effects("w"), (1, 0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawal_held_by_the_engine_and_unknown_to_the_flows_is_adopted() {
    let disk = SimDisk::new(1);
    let venue = TestVenue::with_accounts(&disk).await;
    for reference in ["open", "ended"] {
        venue.request(transfer(ALICE, 3, reference)).await.unwrap();
    }
    venue.cancel(id(ALICE, "ended")).await.unwrap();
    let clock = ManualClock::new(Timestamp(1_000_000_000));
    let TestVenue { bus, desk, engine, .. } = venue;
    drop(bus);
    let service = TestVenue::service(Arc::new(MemoryStore::default()), &desk, &clock).unwrap();
    let bus = rialto_payments::PaymentsBus::new(service);
    let venue = TestVenue { bus, desk, engine, clock };
    let held = || {
        let core = venue.engine.settled_state(venue.engine.released()).unwrap();
        core.withdrawals().into_iter().map(|held| held.transfer).collect::<Vec<_>>()
    };
    assert_eq!(venue.bus.service().adopt(held()).unwrap(), 1);
    venue.wait_for(id(ALICE, "open"), State::Pending).await;
    assert_eq!(venue.bus.service().adopt(held()).unwrap(), 0, "it is known now");
    assert_eq!(venue.approve(id(ALICE, "open"), "tx").await.unwrap().state, State::Settled);
    assert_eq!(venue.effects("open"), (1, 1, 0));
    let again = venue.request(transfer(ALICE, 3, "ended")).await.unwrap_err();
    assert_eq!(again.code(), "withdrawal_released", "a forgotten reference is not held again");
    assert_eq!(venue.balance(ALICE), (FUNDS - 3, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_restart_open_withdrawals_are_counted_and_ended_ones_are_not() {
    let disk = SimDisk::new(1);
    let venue = TestVenue::with_accounts(&disk).await;
    for reference in ["open", "ended"] {
        venue.request(transfer(ALICE, 3, reference)).await.unwrap();
    }
    venue.cancel(id(ALICE, "ended")).await.unwrap();
    let counted = |venue: &TestVenue| {
        let (shown, ended) = (venue.bus.service().shown(), venue.bus.service().ended_since_open());
        let now = ended.of(State::Cancelled);
        (shown.of(State::Pending), shown.of(State::Cancelled), shown.open(), now)
    };
    assert_eq!(counted(&venue), (1, 1, 1, 1));
    let (clock, mut life) = (venue.clock.clone(), 1);
    drop(venue);
    let venue = open(&disk, &clock, &mut life);
    venue.wait_for(id(ALICE, "open"), State::Pending).await;
    assert_eq!(counted(&venue), (1, 1, 1, 0));
    venue.cancel(id(ALICE, "open")).await.unwrap();
    assert_eq!(counted(&venue), (0, 2, 0, 1));
}
