//! The permits of the concurrency limit under every order of events that loom can tell apart.
//!
//! The file is compiled again here, against loom's atomics and locks.

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(super) use loom::sync::{Mutex, MutexGuard};
}

#[path = "../src/behaviour/permits.rs"]
mod permits;

use loom::future::block_on;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use permits::Permits;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

/// Enters a section that at most `limit` threads may be in at a time.
fn pass(inside: &AtomicU64, limit: u64) {
    let before = inside.fetch_add(1, Ordering::Relaxed);
    assert!(before < limit, "{before} were inside already");
    inside.fetch_sub(1, Ordering::Relaxed);
}

#[test]
fn never_more_than_the_limit_and_nobody_waits_for_ever() {
    loom::model(|| {
        let permits = Arc::new(Permits::new(1, 2));
        let inside = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (permits, inside) = (permits.clone(), inside.clone());
                loom::thread::spawn(move || {
                    // Loom reports a deadlock if the permit never comes.
                    let permit = block_on(permits.take()).expect("the line has room for all");
                    pass(&inside, 1);
                    drop(permit);
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("the thread did not panic");
        }
        assert_eq!((permits.taken(), permits.waiting()), (0, 0));
    });
}

#[test]
fn a_full_line_refuses_and_leaves_no_trace() {
    loom::model(|| {
        let permits = Arc::new(Permits::new(1, 0));
        let inside = Arc::new(AtomicU64::new(0));
        let others = (permits.clone(), inside.clone());
        let thread = loom::thread::spawn(move || {
            if let Some(_permit) = others.0.take_now() {
                pass(&others.1, 1);
            }
        });
        if let Some(_permit) = block_on(permits.take()) {
            pass(&inside, 1);
        }
        thread.join().expect("the thread did not panic");
        assert_eq!((permits.taken(), permits.waiting()), (0, 0));
    });
}

#[test]
fn a_caller_that_gives_up_passes_on_what_it_was_given() {
    loom::model(|| {
        let permits = Arc::new(Permits::new(1, 2));
        let first = permits.take_now().expect("nobody else is there");
        let others = permits.clone();
        let waits = loom::thread::spawn(move || {
            drop(block_on(others.take()).expect("the line has room for two"));
        });
        {
            // Stands in line ahead of the thread or behind it, and gives up while it may be served.
            let mut gives_up = pin!(permits.take());
            let _ = gives_up.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            drop(first);
        }
        waits.join().expect("the thread did not panic");
        assert_eq!((permits.taken(), permits.waiting()), (0, 0));
    });
}
