//! Measuring instruments: a clock with a known cost, open-loop arrivals, latency percentiles, the
//! spread of repeats, and arms that take turns.

mod arms;
mod clock;
mod core_wait;
mod latency;
mod memory;
mod pace;
mod processor_time;
mod spread;

pub(crate) use arms::{SideBySide, side_by_side};
pub(crate) use clock::Clock;
pub(crate) use core_wait::CoreWait;
pub(crate) use latency::{Latencies, Percentiles, percentile_spreads};
pub(crate) use memory::{PeakMemory, resident_bytes};
pub(crate) use pace::{Pace, exact_sleeps};
pub(crate) use processor_time::processor_time_ns;
pub(crate) use spread::Spread;
