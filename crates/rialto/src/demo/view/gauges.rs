//! Rates and percentiles of the last seconds.

use hdrhistogram::Histogram;
use rialto_desk::Live;
use rialto_engine::Engine;
use rialto_model::EventKind;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Rates count over this much time.
const RATE_WINDOW: Duration = Duration::from_secs(2);
/// Percentiles count over this much time.
const LATENCY_WINDOW: Duration = Duration::from_secs(10);

/// What has been counted at some moment.
struct Sample {
    at: Instant,
    commands: u64,
    orders: u64,
    trades: u64,
    acknowledge_ns: Histogram<u64>,
    write_ns: Histogram<u64>,
    bytes: u64,
}

/// The rates of the last seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gauges {
    pub(crate) commands_per_s: f64,
    pub(crate) orders_per_s: f64,
    pub(crate) trades_per_s: f64,
    pub(crate) ack_p50_ns: u64,
    pub(crate) ack_p99_ns: u64,
    /// Half the writes to the journal took no longer.
    pub(crate) write_p50_ns: u64,
    /// Written to journal and event log since the start.
    pub(crate) bytes: u64,
}

/// Samples of the last seconds, oldest first.
#[derive(Default)]
pub(crate) struct Meter {
    samples: VecDeque<Sample>,
}

impl Meter {
    /// Takes a sample and returns the rates of the last seconds.
    pub(crate) fn read(&mut self, engine: &Engine, live: &Live) -> Gauges {
        let stats = engine.stats();
        let counts = live.counts();
        self.add(Sample {
            at: Instant::now(),
            commands: stats.commands,
            orders: counts.events(EventKind::Accepted),
            trades: counts.events(EventKind::Trade),
            acknowledge_ns: stats.acknowledge_ns,
            write_ns: stats.write_ns,
            bytes: stats.journal_bytes + stats.event_bytes,
        })
    }

    fn add(&mut self, sample: Sample) -> Gauges {
        while self.samples.get(1).is_some_and(|next| sample.at - next.at >= LATENCY_WINDOW) {
            self.samples.pop_front();
        }
        let gauges = self.compare(&sample);
        self.samples.push_back(sample);
        gauges
    }

    fn compare(&self, now: &Sample) -> Gauges {
        let Some(oldest) = self.samples.front() else { return Gauges::default() };
        let recent = self.samples.iter().rev().find(|sample| now.at - sample.at >= RATE_WINDOW);
        let recent = recent.unwrap_or(oldest);
        let seconds = (now.at - recent.at).as_secs_f64().max(1e-3);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let acknowledge = since(&now.acknowledge_ns, &oldest.acknowledge_ns);
        let write = since(&now.write_ns, &oldest.write_ns);
        Gauges {
            commands_per_s: rate(now.commands, recent.commands),
            orders_per_s: rate(now.orders, recent.orders),
            trades_per_s: rate(now.trades, recent.trades),
            ack_p50_ns: acknowledge.value_at_quantile(0.5),
            ack_p99_ns: acknowledge.value_at_quantile(0.99),
            write_p50_ns: write.value_at_quantile(0.5),
            bytes: now.bytes,
        }
    }
}

/// What came in between; everything, where nothing can be said of that.
fn since(now: &Histogram<u64>, before: &Histogram<u64>) -> Histogram<u64> {
    let mut between = now.clone();
    match between.subtract(before) {
        Ok(()) => between,
        Err(_) => now.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_percentiles_cover_the_interval() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3).unwrap();
        let begin = Instant::now();
        let sample = |second: u64, orders: u64, latencies: &Histogram<u64>| Sample {
            at: begin + Duration::from_secs(second),
            commands: orders * 2,
            orders,
            trades: 0,
            acknowledge_ns: latencies.clone(),
            write_ns: latencies.clone(),
            bytes: 0,
        };
        let mut meter = Meter::default();
        histogram.record_n(1_000, 100).unwrap();
        assert_eq!(meter.add(sample(0, 0, &histogram)), Gauges::default());
        histogram.record_n(500_000, 100).unwrap();
        let gauges = meter.add(sample(4, 400, &histogram));
        assert_eq!((gauges.orders_per_s, gauges.commands_per_s), (100.0, 200.0));
        assert!(gauges.ack_p50_ns.abs_diff(500_000) < 1_000, "{gauges:?}");
        // Old samples no longer count.
        meter.add(sample(20, 400, &histogram));
        histogram.record_n(2_000, 10).unwrap();
        let gauges = meter.add(sample(29, 410, &histogram));
        assert!(gauges.ack_p99_ns.abs_diff(2_000) < 10, "{gauges:?}");
    }
}
