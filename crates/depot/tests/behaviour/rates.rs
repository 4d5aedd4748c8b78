//! Bytes are stored at most at the rate of a tenant, and at that of all.

use crate::support::Bench;
use rialto_depot::{Depot, DepotError, NewFile, RateOptions, TenantName};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const KIB: u64 = 1 << 10;

fn tenant(name: &str) -> TenantName {
    TenantName::new(name).unwrap()
}

fn stage(rates: RateOptions) -> (Bench, Depot) {
    let stage = Bench::new();
    let mut options = stage.options();
    options.rates = rates;
    let depot = Depot::open_stepped(options).unwrap();
    (stage, depot)
}

fn put(depot: &Depot, name: &str, bytes: u64) -> Result<(), DepotError> {
    depot.put_bytes(&tenant(name), NewFile::default(), &vec![7; bytes as usize]).map(drop)
}

#[test]
fn a_writer_ahead_of_its_rate_waits_and_others_do_not() {
    let rates = RateOptions { tenant_bytes_per_second: 10 * KIB, ..RateOptions::default() };
    let (stage, depot) = stage(rates);
    put(&depot, "acme", 50 * KIB).unwrap();
    let is_stored = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            put(&depot, "acme", KIB).unwrap();
            is_stored.store(true, Ordering::SeqCst);
        });
        // Another tenant has a rate of its own.
        put(&depot, "other", 50 * KIB).unwrap();
        assert!(!is_stored.load(Ordering::SeqCst));
        assert_eq!(depot.tenant(&tenant("acme")).unwrap().work.accepted, 1);
        // 50 KiB are paid for after five seconds of the pool's clock, a burst sooner.
        while !is_stored.load(Ordering::SeqCst) {
            stage.clock.advance(Duration::from_millis(100));
            thread::yield_now();
        }
    });
    assert_eq!(depot.tenant(&tenant("acme")).unwrap().work.accepted, 2);
}

#[test]
fn the_rate_of_all_bounds_tenants_together_and_a_long_wait_is_refused() {
    let wait_max = Duration::from_secs(3);
    let rates = RateOptions { bytes_per_second: 10 * KIB, wait_max, ..RateOptions::default() };
    let (stage, depot) = stage(rates);
    put(&depot, "acme", 100 * KIB).unwrap();
    let refused = put(&depot, "other", KIB).unwrap_err();
    assert!(
        matches!(&refused, DepotError::RateReached { tenant: None, wait, .. } if *wait > wait_max),
        "{refused}"
    );
    // Nothing of it stays, and it takes nothing from the rate.
    assert!(!depot.has_tenant(&tenant("other")));
    stage.clock.advance(Duration::from_secs(10));
    put(&depot, "other", KIB).unwrap();
}

#[test]
fn a_piece_that_the_rate_refused_can_be_written_again() {
    let wait_max = Duration::ZERO;
    let rates = RateOptions { bytes_per_second: KIB, wait_max, ..RateOptions::default() };
    let (stage, depot) = stage(rates);
    let acme = tenant("acme");
    let mut upload = depot.begin(&acme, NewFile::default()).unwrap();
    upload.write(&[1; 10 * KIB as usize]).unwrap();
    for _ in 0..2 {
        let refused = upload.write(b"end");
        assert!(matches!(refused, Err(DepotError::RateReached { .. })), "{refused:?}");
    }
    stage.clock.advance(Duration::from_secs(10));
    upload.write(b"end").unwrap();
    assert_eq!(upload.finish().unwrap().file.bytes, 10 * KIB + 3);
}

#[test]
fn a_writer_that_waits_ends_when_its_tenant_is_disabled_or_the_pool_closed() {
    let wait_max = Duration::from_secs(3_600);
    let rates = RateOptions { tenant_bytes_per_second: KIB, wait_max, ..RateOptions::default() };
    let (_stage, depot) = stage(rates);
    for name in ["acme", "other"] {
        put(&depot, name, 500 * KIB).unwrap();
    }
    thread::scope(|scope| {
        let acme = scope.spawn(|| put(&depot, "acme", KIB));
        let other = scope.spawn(|| put(&depot, "other", KIB));
        depot.disable_tenant(&tenant("acme")).unwrap();
        assert!(matches!(acme.join().unwrap(), Err(DepotError::TenantStage { .. })));
        depot.close().unwrap();
        assert!(matches!(other.join().unwrap(), Err(DepotError::Closed)));
    });
}
