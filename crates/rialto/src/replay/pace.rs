//! When an operation is due.

use rialto_model::Timestamp;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// The speed of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Speed {
    /// As fast as the venue accepts commands.
    Max,
    /// At this multiple of the recorded speed.
    Times(f64),
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        if text == "max" {
            return Ok(Speed::Max);
        }
        let number = text.strip_suffix('x').unwrap_or(text).trim_end();
        match number.parse::<f64>() {
            Ok(times) if times.is_finite() && times > 0.0 && times <= 1e9 => {
                Ok(Speed::Times(times))
            }
            _ => Err(format!("{text:?} is neither max nor a multiple such as 1x, 10x or 0.5x")),
        }
    }
}

/// Maps recorded times to times of this run.
pub(super) struct Pace {
    began: Instant,
    first: Timestamp,
    times: f64,
}

impl Pace {
    /// A pace that maps the recorded time `first` to now.
    pub(super) fn begin(speed: Speed, first: Option<Timestamp>) -> Option<Pace> {
        let (Speed::Times(times), Some(first)) = (speed, first) else { return None };
        Some(Pace { began: Instant::now(), first, times })
    }

    /// The due time of an operation recorded at `at`.
    pub(super) fn due(&self, at: Timestamp) -> Instant {
        let recorded_ns = at.0.saturating_sub(self.first.0);
        self.began + Duration::from_nanos((recorded_ns as f64 / self.times) as u64)
    }
}
