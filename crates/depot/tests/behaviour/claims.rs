//! What a claim promises its worker, and what it does not give to others.

use crate::simulated::{Stage, at, dir, tenant};
use rialto_clock::{Clock, ManualClock, Timestamp};
use rialto_depot::{
    ClaimOptions, ClaimToken, Depot, DepotError, DirectoryKind, Level, NewFile, Quota,
};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

fn claim(depot: &Depot, files_max: usize) -> Vec<rialto_depot::Claim> {
    depot.claim(&tenant("acme"), &ClaimOptions::up_to(files_max)).unwrap()
}

fn is_lost<T: std::fmt::Debug>(result: &Result<T, DepotError>) -> bool {
    matches!(result, Err(DepotError::ClaimLost(_)))
}

/// A worker of the tenant knows the file, its message and the order of leases.
#[test]
fn the_token_of_another_claim_cannot_be_computed_from_ones_own() {
    let stage = Stage::new(1, Level::Synced);
    let depot = stage.open().unwrap();
    for name in ["in/a", "in/b"] {
        depot.put_bytes(&tenant("acme"), at(name), b"x").unwrap();
    }
    let (other, own) = (claim(&depot, 1).remove(0), claim(&depot, 1).remove(0));
    let (other_text, own_text) = (other.token().to_string(), own.token().to_string());
    // Everything but the last part is that of the other claim.
    let known = other_text.rsplit_once('.').unwrap().0;
    let secret = own_text.rsplit_once('.').unwrap().1;
    let computed: ClaimToken = format!("{known}.{secret}").parse().unwrap();
    assert!(is_lost(&depot.complete(&computed)));
    assert!(is_lost(&depot.renew(&computed, Duration::from_secs(9))));
    assert!(is_lost(&depot.fail(&computed, "", None)));
    assert!(is_lost(&depot.refuse(&computed, "")));
    assert!(is_lost(&depot.give_back(&computed)));
    depot.complete(&other_text.parse().unwrap()).unwrap();
}

#[test]
fn a_file_that_cannot_be_ended_does_not_keep_the_other_files_of_a_claim() {
    let stage = Stage::new(1, Level::Synced);
    let depot = stage.open().unwrap();
    let expires_at = Some(stage.now().after(Duration::from_secs(1)));
    depot.put_bytes(&tenant("acme"), NewFile { expires_at, ..at("in/old") }, b"x").unwrap();
    depot.put_bytes(&tenant("acme"), at("in/new"), b"x").unwrap();
    stage.clock.advance(Duration::from_secs(2));
    // The end of the expired file is not recorded.
    stage.disk.fail_sync(1);
    let claims = claim(&depot, 2);
    assert_eq!(claims.iter().map(|it| it.file().path()).collect::<Vec<_>>(), ["in/new"]);
}

/// The number of a look at the clock, and what happens then.
type Then = (usize, Box<dyn FnOnce() + Send>);

/// A clock that does something when it is read for the nth time.
struct Interposed {
    clock: ManualClock,
    reads: AtomicUsize,
    then: Mutex<Option<Then>>,
}

impl Clock for Interposed {
    fn now(&self) -> Timestamp {
        let nth = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
        let mut then = self.then.lock().unwrap();
        let run = then.take_if(|(at, _)| *at == nth);
        drop(then);
        if let Some((_, run)) = run {
            run();
        }
        self.clock.now()
    }

    fn monotonic(&self) -> Instant {
        self.clock.monotonic()
    }
}

/// A renewal extends the lease, looks at the clock, and notes the new deadline.
#[test]
fn a_renewal_that_another_claim_overtakes_does_not_take_the_file_from_it() {
    let stage = Stage::new(1, Level::Synced);
    let clock = Arc::new(Interposed {
        clock: stage.clock.clone(),
        reads: AtomicUsize::new(0),
        then: Mutex::default(),
    });
    let mut options = stage.options();
    options.clock = clock.clone();
    let depot = Depot::open_stepped(options).unwrap();
    depot.put_bytes(&tenant("acme"), at("in/a"), b"x").unwrap();
    let first = claim(&depot, 1).remove(0);
    let before = clock.reads.load(Ordering::SeqCst);
    depot.renew(first.token(), Duration::from_secs(60)).unwrap();
    let last = clock.reads.load(Ordering::SeqCst) + clock.reads.load(Ordering::SeqCst) - before;
    let second = Arc::new(Mutex::new(None));
    let overtake = {
        let (depot, token, second) = (depot.clone(), first.token().clone(), second.clone());
        move || {
            depot.fail(&token, "", Some(Duration::ZERO)).unwrap();
            *second.lock().unwrap() = claim(&depot, 1).pop();
        }
    };
    *clock.then.lock().unwrap() = Some((last, Box::new(overtake)));
    depot.renew(first.token(), Duration::from_secs(60)).unwrap();
    let second = second.lock().unwrap().take().expect("the file was claimed again");
    depot.complete(second.token()).unwrap();
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_waiting_worker_is_woken_when_a_file_can_be_claimed_and_not_before() {
    let stage = Stage::new(1, Level::Synced);
    let depot = stage.open().unwrap();
    for name in ["in/a", "in/dead"] {
        depot.put_bytes(&tenant("acme"), at(name), b"x").unwrap();
    }
    let claims = claim(&depot, 2);
    depot.refuse(claims[1].token(), "no such column").unwrap();
    while !depot.claim_any(&ClaimOptions::default(), |_| true).unwrap().is_empty() {}
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut waiting = pin!(depot.claimable(|_| true));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    for _ in 0..5 {
        depot.step().unwrap();
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    // The claim and the delay before the next attempt end.
    for _ in 0..4 {
        stage.clock.advance(Duration::from_secs(100));
        depot.step().unwrap();
    }
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
}

#[test]
fn a_result_with_what_does_not_take_effect_is_refused() {
    let stage = Stage::new(1, Level::Synced);
    let depot = stage.open().unwrap();
    depot.create_tenant(&tenant("acme"), Quota::default()).unwrap();
    let shelf = Some(DirectoryKind::Shelf);
    depot.set_directory(&tenant("acme"), &dir("out"), shelf, Quota::default()).unwrap();
    depot.put_bytes(&tenant("acme"), at("in/a"), b"x").unwrap();
    let claim = claim(&depot, 1).remove(0);
    let later = Some(stage.now().after(Duration::from_secs(9)));
    let refused = [
        ("submit_key", NewFile { submit_key: Some("k".to_owned()), ..at("in/result") }),
        ("priority", NewFile { priority: 1, ..at("in/result") }),
        ("deliver_at", NewFile { deliver_at: later, ..at("in/result") }),
        ("level", NewFile { level: Some(Level::Synced), ..at("in/result") }),
        ("if_absent", NewFile { if_absent: true, ..at("out/result") }),
    ];
    for (expected, file) in refused {
        match depot.begin_result(claim.token(), file) {
            Err(DepotError::Invalid { field, .. }) => assert_eq!(field, expected),
            result => panic!("{expected}: {:?}", result.map(|upload| upload.id())),
        }
    }
}

/// A clock whose every look takes 20 ms.
struct Slow(ManualClock);

impl Clock for Slow {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn monotonic(&self) -> Instant {
        self.0.advance(Duration::from_millis(20));
        self.0.monotonic()
    }
}

#[test]
fn a_claim_of_many_files_on_a_slow_volume_returns_while_its_time_lasts() {
    let stage = Stage::new(1, Level::Synced);
    let mut options = stage.options();
    options.clock = Arc::new(Slow(stage.clock.clone()));
    let depot = Depot::open_stepped(options).unwrap();
    for nth in 0..8 {
        depot.put_bytes(&tenant("acme"), at(&format!("in/{nth}")), b"x").unwrap();
    }
    let shortest = ClaimOptions::up_to(8).lasting(rialto_depot::CLAIM_DURATION_MIN);
    let claims = depot.claim(&tenant("acme"), &shortest).unwrap();
    assert!((1..8).contains(&claims.len()), "{}", claims.len());
    assert!(claims.iter().all(|claim| claim.deadline() > stage.now()));
    // The others were not handed out.
    let others = claim(&depot, 1);
    assert_eq!(others[0].attempt(), 1);
}

#[test]
fn the_attempts_of_a_file_are_shown_after_an_opening() {
    let stage = Stage::new(1, Level::Synced);
    let depot = stage.open().unwrap();
    let stored = depot.put_bytes(&tenant("acme"), at("in/a"), b"x").unwrap();
    let failed = claim(&depot, 1).remove(0);
    depot.fail(failed.token(), "", Some(Duration::ZERO)).unwrap();
    depot.close().unwrap();
    drop(depot);
    let depot = stage.open().unwrap();
    assert_eq!(depot.file(&tenant("acme"), stored.file.id).unwrap().attempts, 1);
    assert_eq!(claim(&depot, 1).remove(0).attempt(), 2);
}
