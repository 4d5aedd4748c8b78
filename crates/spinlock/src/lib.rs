//! A spinlock, for locks that are hardly ever contended.
//!
//! Every step of a run takes the lock of the run, and every recorded step and capture takes the lock
//! of its record. An uncontended mutex costs two atomic exchanges, which were the greater part of
//! recording a step. A spinlock costs one, because it is released by a plain store. The price is that
//! no thread can be woken: a waiting thread spins, then yields, then sleeps between its attempts.

mod lock;

/// What the lock stands on. A model test (`tests/model.rs`) gives the same file loom's.
mod sync {
    pub(super) use std::hint::spin_loop;
    pub(super) use std::sync::atomic::{AtomicBool, Ordering};
    pub(super) use std::thread::{sleep, yield_now};
}

pub use lock::{Guard, SpinLock};

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn one_thread_at_a_time_is_inside() {
        const THREADS: u64 = 4;
        const TURNS: u64 = 5_000;
        #[derive(Default)]
        struct Visits {
            entered: u64,
            left: u64,
        }
        let lock = SpinLock::new(Visits::default());
        let together = Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    together.wait();
                    for turn in 0..TURNS {
                        let mut held = lock.lock();
                        assert_eq!(held.entered, held.left);
                        held.entered += 1;
                        if turn % 64 == 0 {
                            // The holder may be descheduled at any moment.
                            std::thread::yield_now();
                        }
                        held.left += 1;
                    }
                });
            }
        });
        let visits = lock.lock();
        assert_eq!((visits.entered, visits.left), (THREADS * TURNS, THREADS * TURNS));
    }

    #[test]
    fn a_panic_inside_gives_it_back() {
        let lock = SpinLock::new(String::new());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut held = lock.lock();
            held.push('1');
            panic!("while it is held");
        }));
        assert!(panicked.is_err());
        assert_eq!(lock.lock().as_str(), "1");
    }
}
