//! A clock that is cheap to read.

use rialto_clock::{Clock, SystemClock, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::Instant;

/// How long it runs at first before it is compared with the machine's clock again; twice as long
/// each time, up to [`INTERVAL_NS_MAX`].
const INTERVAL_NS_FIRST: u64 = 16_000_000;
const INTERVAL_NS_MAX: u64 = 1_000_000_000;
/// From this much on, a difference is no drift: the machine's clock has been set.
const JUMP_NS: u64 = 10_000_000;
/// How often the machine's clock is read at most to find a reading that nothing came between.
const READINGS_MAX: u32 = 4;
/// A reading that took no longer than this is good enough.
const READING_NS_GOOD: u64 = 500;

/// Counts the ticks of the processor and follows the machine's clock.
///
/// A reading takes about a third of one of [`SystemClock`]. It counts nanoseconds, but readings
/// within a few dozen of them may be out of order, because the processor need not read its counter
/// in the order of the program. Once a second, a reading compares it with the machine's
/// clock; a difference under 10 ms, as from drift, is made up for by going a little faster or
/// slower, and any other, as when the clock is set, at once. Where the processor has no counter
/// that goes at one speed, it reads the system's monotonic clock.
#[derive(Debug)]
pub struct TickClock {
    ticks: quanta::Clock,
    course: Shared,
    compared: Mutex<Compared>,
}

/// How the time follows from the ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Calibration {
    /// The reading from which it counts, and the time then.
    ticks: u64,
    nanos: u64,
    /// Nanoseconds in 2³² ticks.
    rate: u64,
    /// At this reading it is to be compared again.
    compare_at: u64,
}

/// One reading of both clocks.
#[derive(Clone, Copy, Debug)]
struct Reading {
    ticks: u64,
    system: u64,
}

#[derive(Debug)]
struct Compared {
    last: Reading,
    interval_ns: u64,
}

impl TickClock {
    /// A clock that stands as the machine's. The first of a process takes some milliseconds to
    /// learn how fast the ticks are.
    #[must_use]
    pub fn new() -> TickClock {
        let ticks = quanta::Clock::new();
        let rate = ticks.delta_as_nanos(0, 1 << 32).max(1);
        let last = read_both(&ticks, rate);
        let course = Calibration::from(last.ticks, last.system, rate, INTERVAL_NS_FIRST);
        let compared = Mutex::new(Compared { last, interval_ns: INTERVAL_NS_FIRST });
        TickClock { ticks, course: Shared::new(course), compared }
    }

    /// Compares it with the machine's clock, unless another thread is doing so.
    #[cold]
    fn compare(&self, course: Calibration, ticks: u64) -> Timestamp {
        let mut compared = match self.compared.try_lock() {
            Ok(compared) => compared,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => return Timestamp(course.at(ticks)),
        };
        // Another thread may have done so since the course was read.
        let course = self.course.get();
        let now = read_both(&self.ticks, course.rate);
        if now.ticks < course.compare_at {
            return Timestamp(course.at(now.ticks));
        }
        compared.interval_ns = (compared.interval_ns * 2).min(INTERVAL_NS_MAX);
        let corrected = course.corrected(compared.last, now, compared.interval_ns);
        compared.last = now;
        self.course.set(corrected);
        Timestamp(corrected.at(now.ticks))
    }
}

impl Default for TickClock {
    fn default() -> TickClock {
        TickClock::new()
    }
}

impl Clock for TickClock {
    #[inline]
    fn now(&self) -> Timestamp {
        let ticks = self.ticks.raw();
        let course = self.course.get();
        if ticks >= course.compare_at {
            return self.compare(course, ticks);
        }
        Timestamp(course.at(ticks))
    }

    fn monotonic(&self) -> Instant {
        SystemClock.monotonic()
    }
}

/// Reads both clocks, again if something came between.
fn read_both(ticks: &quanta::Clock, rate: u64) -> Reading {
    let read = || {
        let before = ticks.raw();
        let system = SystemClock.now().0;
        let after = ticks.raw();
        let took = after.saturating_sub(before);
        (scaled(took, rate), Reading { ticks: before + took / 2, system })
    };
    let mut best = read();
    for _ in 1..READINGS_MAX {
        if best.0 <= READING_NS_GOOD {
            break;
        }
        let other = read();
        if other.0 < best.0 {
            best = other;
        }
    }
    best.1
}

/// Ticks, in nanoseconds.
#[inline]
fn scaled(ticks: u64, rate: u64) -> u64 {
    ((u128::from(ticks) * u128::from(rate)) >> 32) as u64
}

impl Calibration {
    fn from(ticks: u64, nanos: u64, rate: u64, interval_ns: u64) -> Calibration {
        let interval = (u128::from(interval_ns) << 32) / u128::from(rate.max(1));
        let interval = u64::try_from(interval).unwrap_or(u64::MAX).max(1);
        Calibration { ticks, nanos, rate, compare_at: ticks.saturating_add(interval) }
    }

    #[inline]
    fn at(&self, ticks: u64) -> u64 {
        // Another core may still be a little behind the reading from which this counts.
        self.nanos.wrapping_add(scaled(ticks.saturating_sub(self.ticks), self.rate))
    }

    /// The calibration from `now` on, which continues this one and meets the machine's clock at the
    /// end of the interval.
    fn corrected(&self, last: Reading, now: Reading, interval_ns: u64) -> Calibration {
        let ours = self.at(now.ticks);
        if ours.abs_diff(now.system) >= JUMP_NS {
            return Calibration::from(now.ticks, now.system, self.rate, interval_ns);
        }
        let went = u128::from(now.system.saturating_sub(last.system)) << 32;
        let ticked = u128::from(now.ticks.saturating_sub(last.ticks).max(1));
        let rate = u64::try_from(went / ticked).unwrap_or(self.rate);
        // What is missing, or too much, on an interval; never so much that time stands still.
        let wanted = i128::from(interval_ns) + i128::from(now.system) - i128::from(ours);
        let wanted = wanted.max(i128::from(interval_ns / 2)) as u128;
        let rate = u128::from(rate) * wanted / u128::from(interval_ns);
        // The machine's clock may itself have been moved by less than a jump.
        let rate = u64::try_from(rate).unwrap_or(self.rate);
        let rate = rate.clamp(self.rate / 2, self.rate.saturating_mul(2)).max(1);
        Calibration::from(now.ticks, ours, rate, interval_ns)
    }
}

/// A course that one sets while many read: the version is odd while it is being set, and a reader
/// that saw a change reads again.
#[derive(Debug)]
struct Shared {
    version: AtomicU64,
    parts: [AtomicU64; 4],
}

impl Shared {
    fn new(course: Calibration) -> Shared {
        let shared = Shared { version: AtomicU64::new(0), parts: Default::default() };
        shared.set(course);
        shared
    }

    /// The caller ensures that no other thread sets it at the same time.
    fn set(&self, course: Calibration) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        let parts = [course.ticks, course.nanos, course.rate, course.compare_at];
        for (at, part) in self.parts.iter().zip(parts) {
            at.store(part, Ordering::Relaxed);
        }
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    #[inline]
    fn get(&self) -> Calibration {
        loop {
            let before = self.version.load(Ordering::Acquire);
            let [ticks, nanos, rate, compare_at] =
                self.parts.each_ref().map(|part| part.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before & 1 == 0 && self.version.load(Ordering::Relaxed) == before {
                return Calibration { ticks, nanos, rate, compare_at };
            }
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three ticks a nanosecond.
    const RATE: u64 = (1 << 32) / 3;
    const SECOND: u64 = 1_000_000_000;

    fn reading(nanos: u64, system: u64) -> Reading {
        Reading { ticks: nanos * 3, system }
    }

    #[test]
    fn drift_is_made_up_for_within_an_interval_and_time_never_jumps_for_it() {
        // The rate that was learned is too slow by one in a thousand.
        let course = Calibration::from(0, 0, RATE - RATE / 1_000, SECOND);
        let now = reading(SECOND, SECOND);
        let behind = SECOND - course.at(now.ticks);
        assert!((900_000..1_100_000).contains(&behind), "{behind} ns behind");
        let corrected = course.corrected(reading(0, 0), now, SECOND);
        assert_eq!(corrected.at(now.ticks), course.at(now.ticks));
        let off = corrected.at(2 * SECOND * 3).abs_diff(2 * SECOND);
        assert!(off < 10, "{off} ns off after the interval");
    }

    #[test]
    fn a_clock_that_is_ahead_goes_slower_and_not_back() {
        let course = Calibration::from(0, 0, RATE + RATE / 200, SECOND);
        let now = reading(SECOND, SECOND);
        let corrected = course.corrected(reading(0, 0), now, SECOND);
        assert_eq!(corrected.at(now.ticks), course.at(now.ticks));
        assert!(corrected.rate < RATE);
    }

    #[test]
    fn a_clock_that_was_set_is_followed_at_once_at_the_old_speed() {
        let course = Calibration::from(0, 100 * SECOND, RATE, SECOND);
        for set in [3 * SECOND, 500 * SECOND] {
            let now = reading(SECOND, set);
            let corrected = course.corrected(reading(0, 100 * SECOND), now, SECOND);
            assert_eq!((corrected.at(now.ticks), corrected.rate), (set, RATE));
        }
    }

    #[test]
    fn it_agrees_with_the_systems_clock() {
        let clock = TickClock::new();
        let end = SystemClock.now().after(std::time::Duration::from_millis(60));
        let mut last = clock.now();
        // Long enough for it to be compared twice.
        while SystemClock.now() < end {
            let (before, now, after) = (SystemClock.now(), clock.now(), SystemClock.now());
            assert!(now >= last, "it went back from {last:?} to {now:?}");
            let off = before.since(now).max(now.since(after));
            assert!(off.as_nanos() < u128::from(JUMP_NS), "{off:?} off");
            last = now;
        }
    }

    #[test]
    fn a_course_is_read_atomically() {
        let course = |number: u64| Calibration {
            ticks: number,
            nanos: number,
            rate: number,
            compare_at: number,
        };
        let shared = Shared::new(course(0));
        std::thread::scope(|scope| {
            let shared = &shared;
            scope.spawn(move || (1..=20_000).for_each(|number| shared.set(course(number))));
            scope.spawn(move || {
                let mut last = 0;
                while last < 20_000 {
                    let read = shared.get();
                    assert_eq!(read, course(read.ticks));
                    assert!(read.ticks >= last);
                    last = read.ticks;
                }
            });
        });
    }
}
