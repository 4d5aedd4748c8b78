//! Rates of messages and bytes.

use rialto_clock::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// The window of rates. It is shorter if the topic or group is younger.
pub const RATE_WINDOW: Duration = Duration::from_secs(10);

/// Messages and bytes a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// The window: [`RATE_WINDOW`] to within a second, or less.
    pub over: Duration,
    /// Messages a second.
    pub messages_per_second: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
}

/// The counters at a time.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Timestamp,
    messages: u64,
    bytes: u64,
}

/// Remembers recent values of counters. It is sampled once a second, at no cost to the counting
/// threads.
#[derive(Debug)]
pub(crate) struct Meter {
    samples: VecDeque<Sample>,
}

impl Meter {
    /// Counters that begin now, at zero.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { samples: VecDeque::from([Sample { at: now, messages: 0, bytes: 0 }]) }
    }

    /// Samples the counters.
    pub(crate) fn sample(&mut self, now: Timestamp, messages: u64, bytes: u64) {
        if self.samples.back().is_some_and(|last| now < last.at) {
            // The clock was set back, so that earlier samples are meaningless.
            self.samples.clear();
        }
        self.samples.push_back(Sample { at: now, messages, bytes });
        // One sample may be older than the window, so that there is always one to compare with.
        while self.samples.get(1).is_some_and(|next| now.since(next.at) >= RATE_WINDOW) {
            self.samples.pop_front();
        }
    }

    pub(crate) fn rate(&self, now: Timestamp, messages: u64, bytes: u64) -> Rate {
        let since = self.samples.iter().rev().find(|sample| now.since(sample.at) >= RATE_WINDOW);
        let Some(since) = since.or(self.samples.front()) else { return Rate::default() };
        let over = now.since(since.at);
        if over.is_zero() {
            return Rate::default();
        }
        let a_second = |now: u64, then: u64| now.saturating_sub(then) as f64 / over.as_secs_f64();
        Rate {
            over,
            messages_per_second: a_second(messages, since.messages),
            bytes_per_second: a_second(bytes, since.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp((1_000 + seconds) * 1_000_000_000)
    }

    #[test]
    fn a_rate_is_about_the_last_ten_seconds() {
        let mut meter = Meter::new(at(0));
        assert_eq!(meter.rate(at(0), 5, 5), Rate::default());
        for second in 1..=60 {
            // A message of 100 bytes a second for half a minute, then ten.
            let messages = if second <= 30 { second } else { 30 + (second - 30) * 10 };
            meter.sample(at(second), messages, messages * 100);
            let rate = meter.rate(at(second), messages, messages * 100);
            assert_eq!(rate.over, Duration::from_secs(second.min(10)));
            match second {
                ..=30 => {
                    assert_eq!((rate.messages_per_second, rate.bytes_per_second), (1.0, 100.0))
                }
                40.. => {
                    assert_eq!((rate.messages_per_second, rate.bytes_per_second), (10.0, 1000.0))
                }
                _ => {}
            }
        }
        assert_eq!(meter.samples.len(), 11);
        assert_eq!(meter.rate(at(70), 330, 33_000).messages_per_second, 0.0);
    }

    #[test]
    fn a_clock_that_is_set_back_makes_no_rate() {
        let mut meter = Meter::new(at(50));
        meter.sample(at(51), 10, 10);
        assert_eq!(meter.rate(at(20), 10, 10), Rate::default());
        meter.sample(at(20), 12, 12);
        assert_eq!(meter.rate(at(22), 20, 12).messages_per_second, 4.0);
    }
}
