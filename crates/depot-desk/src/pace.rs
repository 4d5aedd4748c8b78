//! The pace of an upload: in each window of time, a number of bytes must arrive.

use std::time::{Duration, Instant};

/// The pace of an upload. A client that is slower holds a thread and memory for too long.
#[derive(Clone, Copy, Debug)]
pub struct UploadPace {
    window: Duration,
    bytes_min: u64,
    bytes: u64,
    end: Instant,
}

/// Too few bytes arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The content arrives too slowly: at least {bytes_min} bytes must come in {} ms.", window.as_millis())]
pub struct UploadTooSlow {
    /// The bytes that must arrive in a window.
    pub bytes_min: u64,
    /// The window.
    pub window: Duration,
}

impl UploadPace {
    /// At least `rate_min` bytes per second, over this window.
    #[must_use]
    pub fn new(window: Duration, rate_min: u64) -> UploadPace {
        let bytes_min = u128::from(rate_min) * window.as_millis() / 1_000;
        let bytes_min = u64::try_from(bytes_min).unwrap_or(u64::MAX).max(1);
        UploadPace { window, bytes_min, bytes: 0, end: Instant::now() + window }
    }

    /// The end of the window.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.end
    }

    /// Counts bytes that arrived, and judges a window that has ended.
    ///
    /// # Errors
    /// If too few arrived in it.
    pub fn count(&mut self, bytes: u64) -> Result<(), UploadTooSlow> {
        self.bytes += bytes;
        let now = Instant::now();
        if now < self.end {
            return Ok(());
        }
        if self.bytes < self.bytes_min {
            return Err(UploadTooSlow { bytes_min: self.bytes_min, window: self.window });
        }
        (self.bytes, self.end) = (0, now + self.window);
        Ok(())
    }

    /// Leaves out a time in which nobody read from the client, because the disk is slow.
    pub fn leave_out(&mut self, time: Duration) {
        self.end += time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_must_keep_its_pace_in_each_window() {
        let mut pace = UploadPace::new(Duration::from_millis(10), 1_000);
        assert_eq!(pace.count(9), Ok(()));
        while Instant::now() < pace.deadline() {
            std::thread::yield_now();
        }
        assert_eq!(pace.count(1), Ok(()));
        while Instant::now() < pace.deadline() {
            std::thread::yield_now();
        }
        assert_eq!(pace.count(9).map_err(|slow| slow.bytes_min), Err(10));
    }
}
