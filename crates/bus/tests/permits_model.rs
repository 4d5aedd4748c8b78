//! The permits of the concurrency limit under every order of events that loom can tell apart.
//!
//! The file is compiled again here, against loom's atomics and locks.

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(super) use loom::sync::{Mutex, MutexGuard};
}

#[path = "../src/behaviour/permits.rs"]
mod permits;

use loom::cell::UnsafeCell;
use loom::future::block_on;
use loom::sync::Arc;
use permits::{Permit, Permits};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

/// What a permit guards. Loom complains of two threads that are in it at a time, and of one that
/// comes in without having seen what the one before did there.
#[derive(Default)]
struct Guarded(UnsafeCell<()>);

// SAFETY: this is for loom to check: that nobody is in the cell without the only permit.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn pass(&self, _: &Permit<'_>) {
        self.0.with_mut(|_| loom::thread::yield_now());
    }
}

#[test]
fn permits_never_exceed_the_limit_and_every_waiter_is_woken() {
    loom::model(|| {
        let permits = Arc::new(Permits::new(1, 2));
        let inside = Arc::new(Guarded::default());
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (permits, inside) = (permits.clone(), inside.clone());
                loom::thread::spawn(move || {
                    // Loom reports a deadlock if the permit never comes.
                    let permit = block_on(permits.take()).expect("the line has room for all");
                    inside.pass(&permit);
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
        let inside = Arc::new(Guarded::default());
        let others = (permits.clone(), inside.clone());
        let thread = loom::thread::spawn(move || {
            if let Some(permit) = others.0.take_now() {
                others.1.pass(&permit);
            }
        });
        if let Some(permit) = block_on(permits.take()) {
            inside.pass(&permit);
        }
        thread.join().expect("the thread did not panic");
        assert_eq!((permits.taken(), permits.waiting()), (0, 0));
    });
}

#[test]
fn a_caller_that_gives_up_passes_on_what_it_was_given() {
    loom::model(|| {
        let permits = Arc::new(Permits::new(1, 2));
        let inside = Arc::new(Guarded::default());
        let first = permits.take_now().expect("nobody else is there");
        inside.pass(&first);
        let others = (permits.clone(), inside.clone());
        let waits = loom::thread::spawn(move || {
            let permit = block_on(others.0.take()).expect("the line has room for two");
            others.1.pass(&permit);
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
