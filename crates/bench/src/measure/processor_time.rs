//! The processor time of a thread, independent of other load.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds that the calling thread has been running, on whichever processor. Only differences
/// mean anything.
pub(crate) fn processor_time_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spent_asleep_does_not_count_and_time_spent_working_does() {
        let asleep = processor_time_ns();
        std::thread::park_timeout(std::time::Duration::from_millis(50));
        let slept_ns = processor_time_ns() - asleep;
        assert!(slept_ns < 40_000_000, "{slept_ns} ns");
        let begun = processor_time_ns();
        let mut work = 0_u64;
        while processor_time_ns() == begun {
            work = std::hint::black_box(work + 1);
        }
    }
}
