//! Measuring instruments: a clock with a known cost, open-loop arrivals, latency percentiles, the
//! spread of repeats, and arms that take turns.

mod arms;
mod clock;
mod core_wait;
mod latency;
mod pace;
mod processor_time;
mod spread;

pub use arms::{SideBySide, side_by_side};
pub use clock::Clock;
pub use core_wait::CoreWait;
pub use latency::{Latencies, Percentiles};
pub use pace::{Pace, exact_sleeps};
pub use processor_time::processor_time_ns;
pub use spread::Spread;
