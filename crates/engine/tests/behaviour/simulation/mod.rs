//! Complete histories of an engine from seeds, on one thread and a simulated disk.
//!
//! `RIALTO_SEEDS=from..to` sets the seeds; the test `soak` uses random ones for
//! `RIALTO_SOAK_MINUTES`. A failure prints its seed; the same seed repeats the history.

mod auctions;
mod coverage;
mod extremes;
mod history;
mod invariants;
mod long_takers;
mod oracle;
mod random;
mod sabotaged;
mod shadow;
mod traffic;
mod triggers;
mod trouble;

use coverage::Coverage;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const SEEDS: std::ops::Range<u64> = 0..2_000;

/// Prints the seed if a history panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {} panicked", self.0);
        }
    }
}

fn live(seed: u64, coverage: &mut Coverage) {
    let named = Seed(seed);
    if let Err(violation) = history::live(seed, None, coverage) {
        panic!("RIALTO_SEEDS={seed}..{}: {violation}", seed + 1);
    }
    drop(named);
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("RIALTO_SEEDS") else { return SEEDS };
    let (from, to) = text.split_once("..").expect("RIALTO_SEEDS is from..to");
    from.parse().expect("a number")..to.parse().expect("a number")
}

#[test]
fn histories_keep_their_promises() {
    let mut coverage = Coverage::default();
    seeds().for_each(|seed| live(seed, &mut coverage));
    if seeds() == SEEDS {
        assert_eq!(coverage.missing(), Vec::<String>::new(), "{coverage:?}");
    }
}

#[test]
#[ignore = "runs for RIALTO_SOAK_MINUTES; cargo xtask soak sets it"]
fn soak() {
    let minutes = std::env::var("RIALTO_SOAK_MINUTES")
        .map_or(1, |minutes| minutes.parse().expect("RIALTO_SOAK_MINUTES is a number"));
    let fresh = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
    let first = fresh.as_millis() as u64 * 1_000;
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let mut coverage = Coverage::default();
    let mut lived = 0;
    for seed in (first..).take_while(|_| Instant::now() < end) {
        live(seed, &mut coverage);
        lived += 1;
    }
    println!("{lived} histories from seed {first}: {coverage:?}");
}
