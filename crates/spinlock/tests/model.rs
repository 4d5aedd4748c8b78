//! The lock under every interleaving of a few threads that loom can tell apart.
//!
//! The file is compiled again here, against loom's atomics.

mod sync {
    pub(super) use loom::hint::spin_loop;
    pub(super) use loom::sync::atomic::Ordering;
    pub(super) use loom::thread::yield_now;

    /// Loom does not know that an exchange comes right after the write that it has read: one that
    /// found the lock held would seem to hold it again after the lock was released. Here it writes
    /// nothing then, which is the same, because what it would write is what is there.
    #[derive(Debug, Default)]
    pub(super) struct AtomicBool(loom::sync::atomic::AtomicBool);

    impl AtomicBool {
        pub(super) fn new(value: bool) -> AtomicBool {
            AtomicBool(loom::sync::atomic::AtomicBool::new(value))
        }

        pub(super) fn load(&self, order: Ordering) -> bool {
            self.0.load(order)
        }

        pub(super) fn store(&self, value: bool, order: Ordering) {
            self.0.store(value, order);
        }

        pub(super) fn swap(&self, value: bool, order: Ordering) -> bool {
            self.0.compare_exchange(!value, value, order, Ordering::Relaxed).is_err() == value
        }
    }

    /// Loom has no time: a thread that sleeps is one that lets others run.
    pub(super) fn sleep(_: std::time::Duration) {
        yield_now();
    }
}

#[allow(unreachable_pub, reason = "it is public in the crate")]
#[path = "../src/lock.rs"]
mod lock;

use lock::SpinLock;
use loom::cell::UnsafeCell;
use loom::sync::Arc;

/// What the lock guards. Loom fails if two threads are in it at once, and if one comes in that has
/// not seen what the one before did there.
#[derive(Default)]
struct Guarded {
    access: UnsafeCell<()>,
    turns: u32,
}

impl Guarded {
    fn pass(&mut self) {
        self.access.with_mut(|_| ());
        self.turns += 1;
    }
}

#[test]
fn threads_hold_the_lock_in_turns_and_see_what_the_one_before_did() {
    loom::model(|| {
        let lock = Arc::new(SpinLock::new(Guarded::default()));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                loom::thread::spawn(move || lock.lock().pass())
            })
            .collect();
        for other in others {
            other.join().expect("the thread did not panic");
        }
        assert_eq!(lock.lock().turns, 2);
    });
}

#[test]
fn a_reader_keeps_others_out_while_it_holds_the_lock() {
    loom::model(|| {
        let lock = Arc::new(SpinLock::new(Guarded::default()));
        let other = {
            let lock = lock.clone();
            loom::thread::spawn(move || {
                lock.lock().pass();
                lock.lock().pass();
            })
        };
        let read = lock.lock();
        read.access.with(|_| ());
        assert!(read.turns <= 2);
        drop(read);
        other.join().expect("the thread did not panic");
        assert_eq!(lock.lock().turns, 2);
    });
}
