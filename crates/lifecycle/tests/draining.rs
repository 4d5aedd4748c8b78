//! Operations that have begun end, whatever else happens; none begins afterwards.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_lifecycle::{Lifecycle, Operations, Stopping};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Wake};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_thousand_requests_in_flight_at_shutdown_get_a_thousand_answers() {
    let lifecycle = Arc::new(Lifecycle::new());
    let requests = lifecycle.operations().kind("request");
    let (let_go, held) = mpsc::channel::<()>();
    let (answer, answers) = mpsc::channel();
    let (begun, has_begun) = mpsc::channel();
    let worker = thread::spawn(move || {
        // One thread serves them all, so that most are still waiting when the shutdown begins.
        let all: Vec<_> =
            (0..1_000).map(|number| (number, requests.begin_owned().unwrap())).collect();
        begun.send(requests).unwrap();
        held.recv().unwrap();
        for (number, request) in all {
            answer.send(number).unwrap();
            drop(request);
        }
    });
    let requests = has_begun.recv().unwrap();
    let stopping = Arc::clone(&lifecycle);
    let shutdown = thread::spawn(move || stopping.shutdown(LONG));
    while !lifecycle.operations().is_stopping() {
        thread::yield_now();
    }
    assert_eq!(requests.begin().map(drop), Err(Stopping), "a late request is refused");
    let_go.send(()).unwrap();
    let report = shutdown.join().unwrap();
    worker.join().unwrap();
    assert!(report.is_clean(), "{report}");
    assert_eq!(answers.iter().count(), 1_000);
}

#[test]
fn threads_that_begin_while_it_stops_are_answered_or_refused() {
    for _ in 0..40 {
        let operations = Operations::new();
        let kind = operations.kind("request");
        let (begun, ended) = (AtomicU64::new(0), AtomicU64::new(0));
        let was_drained = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Ok(operation) = kind.begin() {
                        assert!(!was_drained.load(Ordering::SeqCst), "begun after the drain");
                        begun.fetch_add(1, Ordering::Relaxed);
                        ended.fetch_add(1, Ordering::Relaxed);
                        drop(operation);
                    }
                });
            }
            while begun.load(Ordering::Relaxed) < 20 {
                thread::yield_now();
            }
            operations.stop();
            assert!(operations.wait_drained(LONG));
            was_drained.store(true, Ordering::SeqCst);
            assert_eq!(begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed));
        });
    }
}

#[test]
fn unfinished_operations_at_the_deadline_are_listed_with_number_and_age() {
    let lifecycle = Lifecycle::new();
    let orders = lifecycle.operations().kind("POST /v1/orders");
    let exports = lifecycle.operations().kind("export");
    let quick = [orders.begin().unwrap(), orders.begin().unwrap()];
    let slow = exports.begin_timed().unwrap();
    drop(lifecycle.operations().kind("idle"));
    let report = lifecycle.shutdown(Duration::from_millis(1));
    let found: Vec<_> = report
        .still_running
        .iter()
        .map(|running| (running.kind.as_ref(), running.count, running.oldest.is_some()))
        .collect();
    assert_eq!(found, [("POST /v1/orders", 2, false), ("export", 1, true)]);
    assert!(report.still_running[1].oldest >= Some(Duration::from_millis(1)));
    assert!(report.to_string().contains("2 × POST /v1/orders"), "{report}");
    drop((quick, slow));
    assert!(lifecycle.operations().wait_drained(Duration::ZERO));
}

#[test]
fn nothing_has_drained_before_it_stops() {
    let operations = Operations::new();
    assert!(!operations.wait_drained(Duration::ZERO));
    operations.stop();
    assert!(operations.wait_drained(Duration::ZERO));
    assert!(operations.kind("new after the stop").begin().is_err());
}

#[test]
fn an_operation_that_panics_has_ended() {
    let operations = Operations::new();
    let kind = operations.kind("request");
    let inside = kind.clone();
    let panicked = thread::spawn(move || {
        let _operation = inside.begin().unwrap();
        panic!("as it should");
    });
    assert!(panicked.join().is_err());
    assert_eq!(kind.running(), 0);
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_task_that_waits_is_woken_by_the_last_operation() {
    let operations = Operations::new();
    let kind = operations.kind("request");
    let (first, last) = (kind.begin().unwrap(), kind.begin().unwrap());
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Arc::clone(&woken).into();
    let mut context = Context::from_waker(&waker);
    let mut drained = pin!(operations.drained());
    assert_eq!(drained.as_mut().poll(&mut context), Poll::Pending);
    operations.stop();
    drop(first);
    assert!(!woken.0.load(Ordering::SeqCst));
    drop(last);
    assert!(woken.0.load(Ordering::SeqCst));
    assert_eq!(drained.as_mut().poll(&mut context), Poll::Ready(()));
}
