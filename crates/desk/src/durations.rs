//! Durations of requests by name.

use rialto_bus::behaviour::{Outcome, Sink};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// More than the number of request types.
const ROWS: usize = 128;

/// The durations of requests, from the bus to the answer, in buckets by name.
///
/// It is lock-free: a concurrent reader may see an addition in one number and not yet in another.
pub struct Durations {
    rows: Box<[Row]>,
}

#[derive(Default)]
struct Row {
    request: OnceLock<&'static str>,
    buckets: [AtomicU64; Durations::BOUNDS_US.len() + 1],
    sum_ns: AtomicU64,
}

/// The durations of the requests of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestDuration {
    /// The request's name.
    pub request: &'static str,
    /// The number of requests in each bucket of [`Durations::BOUNDS_US`]; the last counts all that
    /// took longer.
    pub buckets: [u64; Durations::BOUNDS_US.len() + 1],
    /// The sum of the durations, in nanoseconds.
    pub sum_ns: u64,
}

impl Durations {
    /// The upper bounds of the buckets, in microseconds.
    pub const BOUNDS_US: [u64; 14] =
        [1, 5, 25, 50, 100, 200, 400, 800, 1_600, 6_400, 25_600, 102_400, 409_600, 1_638_400];

    /// The durations so far, by name; names without requests are omitted.
    pub fn each(&self) -> impl Iterator<Item = RequestDuration> {
        self.rows.iter().filter_map(|row| {
            Some(RequestDuration {
                request: row.request.get()?,
                buckets: std::array::from_fn(|at| row.buckets[at].load(Ordering::Relaxed)),
                sum_ns: row.sum_ns.load(Ordering::Relaxed),
            })
        })
    }

    fn row(&self, request: &'static str) -> Option<&Row> {
        // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
        let hash = request
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let rows = (0..ROWS).map(|step| &self.rows[(hash as usize).wrapping_add(step) % ROWS]);
        // If two names claim a free row at once, one gets it and the other continues.
        rows.into_iter().find(|row| *row.request.get_or_init(|| request) == request)
    }
}

impl Default for Durations {
    fn default() -> Durations {
        Durations { rows: (0..ROWS).map(|_| Row::default()).collect() }
    }
}

impl Sink for Durations {
    fn observe(&self, request: &'static str, _: Outcome, took: Duration) {
        let Some(row) = self.row(request) else { return };
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = Durations::BOUNDS_US.partition_point(|bound| bound * 1_000 < ns);
        row.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        row.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_under_the_first_bound_that_it_does_not_pass() {
        let durations = Durations::default();
        for ns in [0, 1_000, 1_001, 25_000, 2_000_000_000] {
            durations.observe("place_order", Ok(()), Duration::from_nanos(ns));
        }
        durations.observe("get_book", Ok(()), Duration::from_nanos(7));
        let took: Vec<RequestDuration> = durations.each().collect();
        let of = |name| took.iter().find(|took| took.request == name).expect("it was recorded");
        let placed = of("place_order");
        assert_eq!(placed.buckets[..4], [2, 1, 1, 0]);
        assert_eq!(placed.buckets[Durations::BOUNDS_US.len()], 1);
        assert_eq!(placed.sum_ns, 2_000_027_001);
        assert_eq!((of("get_book").sum_ns, took.len()), (7, 2));
    }
}
