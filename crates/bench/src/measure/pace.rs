//! Open-loop arrivals: work arrives on schedule, even if the system is not ready.
//!
//! Latency counts from the scheduled arrival. A closed loop waits for each answer before it sends
//! again, and so omits the waits of all arrivals during a stall.

use super::clock::Clock;
use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Duration;

/// The rest of a wait is spent polling the clock, because even an exact sleep ends late by about
/// this.
const WAKE_NS: u64 = 15_000;
const NS_PER_S: u128 = 1_000_000_000;

/// Makes sleeps of the calling thread end exactly; the system's default slack is 50 us. It cannot
/// be undone, so that it is only for threads of a measurement.
pub(crate) fn exact_sleeps() -> std::io::Result<()> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).map_err(Into::into)
}

/// Arrivals at a fixed rate, without drift.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    clock: Clock,
    start_ns: u64,
    per_second: u64,
    count: u64,
    next: u64,
    late_ns_max: u64,
}

impl Pace {
    /// A pace of `count` arrivals at `per_second`, the first of them now.
    ///
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn new(clock: Clock, per_second: u64, count: u64) -> Pace {
        assert!(per_second > 0, "arrivals need a rate");
        Pace { clock, start_ns: clock.now_ns(), per_second, count, next: 0, late_ns_max: 0 }
    }

    /// When an arrival is scheduled, on the clock that the pace was made with.
    pub(crate) fn scheduled_ns(&self, arrival: u64) -> u64 {
        let after = u128::from(arrival) * NS_PER_S / u128::from(self.per_second);
        self.start_ns + after as u64
    }

    /// Sleeps until an arrival is due and returns all new due arrivals; `None` at the end. More
    /// than one means that the caller is late. The thread needs [`exact_sleeps`].
    ///
    /// It sleeps in every wait, however short. A thread that never sleeps, or only yields, waits
    /// for whole time slices when there is other work.
    pub(crate) fn due(&mut self) -> Option<Range<u64>> {
        if self.next == self.count {
            return None;
        }
        let scheduled = self.scheduled_ns(self.next);
        let lead_ns = WAKE_NS.min(NS_PER_S as u64 / self.per_second * 3 / 4);
        let mut now = self.clock.now_ns();
        while now < scheduled {
            let left = scheduled - now;
            if left > lead_ns {
                std::thread::sleep(Duration::from_nanos(left - lead_ns));
            } else {
                std::hint::spin_loop();
            }
            now = self.clock.now_ns();
        }
        self.late_ns_max = self.late_ns_max.max(now - scheduled);
        Some(self.take_due(now))
    }

    /// All new due arrivals, without waiting; `None` if there are none. For callers with other work
    /// in between.
    pub(crate) fn due_now(&mut self) -> Option<Range<u64>> {
        if self.next == self.count {
            return None;
        }
        let now = self.clock.now_ns();
        let scheduled = self.scheduled_ns(self.next);
        if now < scheduled {
            return None;
        }
        self.late_ns_max = self.late_ns_max.max(now - scheduled);
        Some(self.take_due(now))
    }

    fn take_due(&mut self, now: u64) -> Range<u64> {
        let first = self.next;
        let elapsed = u128::from(now - self.start_ns);
        // Arrival n is due after n / rate; rounding may leave one for the next call.
        let due = (elapsed * u128::from(self.per_second) / NS_PER_S) as u64 + 1;
        self.next = due.clamp(first + 1, self.count);
        first..self.next
    }

    /// The furthest that the caller fell behind the schedule. Latencies contain it; a large one
    /// says that the sender, not the system, may have been the limit.
    pub(crate) fn late_ns_max(&self) -> u64 {
        self.late_ns_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrival_occurs_once_in_order_and_never_early() {
        let clock = Clock::start();
        let mut pace = Pace::new(clock, 1_000_000, 5_000);
        let mut expected = 0;
        while let Some(due) = pace.due() {
            assert_eq!(due.start, expected);
            assert!(!due.is_empty());
            assert!(pace.scheduled_ns(due.end - 1) <= clock.now_ns());
            expected = due.end;
        }
        assert_eq!(expected, 5_000);
        assert!(clock.now_ns() >= 4_999_000);
    }

    #[test]
    fn asked_without_waiting_it_gives_what_is_due_and_no_more() {
        let clock = Clock::start();
        let mut pace = Pace::new(clock, 1_000, 3);
        let mut seen = 0;
        while seen < 3 {
            if let Some(due) = pace.due_now() {
                assert_eq!(due.start, seen);
                assert!(pace.scheduled_ns(due.end - 1) <= clock.now_ns());
                seen = due.end;
            }
        }
        assert_eq!(pace.due_now(), None);
    }

    #[test]
    fn a_schedule_does_not_drift() {
        let pace = Pace::new(Clock::start(), 3, 10);
        assert_eq!(pace.scheduled_ns(9) - pace.start_ns, 3_000_000_000);
        assert_eq!(pace.scheduled_ns(1) - pace.start_ns, 333_333_333);
    }

    #[test]
    fn a_late_caller_gets_the_backlog_at_its_scheduled_times() {
        let clock = Clock::start();
        let mut pace = Pace::new(clock, 1_000_000, 1_000);
        while clock.now_ns() < pace.scheduled_ns(500) {}
        let due = pace.due().expect("a thousand arrivals were asked for");
        assert!(due.end > 500, "{due:?}");
        assert!(pace.late_ns_max() >= 499_000, "{}", pace.late_ns_max());
    }
}
