//! The time that a measurement waited for a processor, to distinguish a slow program from a busy
//! machine.

use super::clock::Clock;
use std::fs;

/// The time that the calling thread is ready to run while other threads use the processors.
///
/// It does not include time that a hypervisor takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreWait {
    clock: Clock,
    waited_ns: Option<u64>,
}

impl CoreWait {
    /// Starts counting, for the calling thread.
    pub(crate) fn start() -> CoreWait {
        CoreWait { clock: Clock::start(), waited_ns: waited_ns() }
    }

    /// The share of the time since the start that was spent waiting, from 0 to 1. `None` where the
    /// system does not count it. Must be asked by the thread that started.
    pub(crate) fn share(&self) -> Option<f64> {
        let elapsed_ns = self.clock.now_ns().max(1);
        let waited_ns = waited_ns()?.saturating_sub(self.waited_ns?);
        Some((waited_ns as f64 / elapsed_ns as f64).min(1.0))
    }

    /// The share, or that of an earlier run if it was larger.
    pub(crate) fn longest(&self, before: Option<f64>) -> Option<f64> {
        self.share().map(|share| share.max(before.unwrap_or(0.0)))
    }
}

/// The second number of Linux's statistics per thread: nanoseconds on a run queue.
fn waited_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_between_none_and_all() {
        let wait = CoreWait::start();
        let mut work = 0_u64;
        while work < 1_000_000 {
            work = std::hint::black_box(work + 1);
        }
        let share = wait.share();
        assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{share:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn two_threads_that_want_one_processor_wait_for_each_other() {
        // More busy threads than processors, until one has waited.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let seen = std::sync::atomic::AtomicBool::new(false);
        let clock = Clock::start();
        std::thread::scope(|scope| {
            for _ in 0..processors * 2 {
                scope.spawn(|| {
                    let wait = CoreWait::start();
                    let is_over = || clock.now_ns() > 20_000_000_000;
                    while !seen.load(std::sync::atomic::Ordering::Relaxed) && !is_over() {
                        if wait.share().is_none_or(|share| share > 0.0) {
                            seen.store(true, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert!(seen.into_inner());
    }
}
