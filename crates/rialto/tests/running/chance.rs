//! Random numbers for tests that kill a venue at random times.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// xorshift64: sufficient for times, prices and decisions.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Sleeps for less than `bound`, so that a kill is at a random time between two answers.
    pub(crate) fn pause(&mut self, bound: Duration) {
        let end = Instant::now() + Duration::from_micros(self.below(bound.as_micros() as u64));
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }
}

/// The seed in `RIALTO_SEED`, or one from the clock. It is printed, so that a failure can be
/// repeated.
#[allow(clippy::print_stdout, reason = "a test may panic")]
pub(crate) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let seed = std::env::var("RIALTO_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(now);
    println!("RIALTO_SEED={seed}");
    seed
}
