//! The bounded set of directories that a volume knows to exist, while new ones push old ones out.

use crate::error::{BenchError, verify};
use crate::measure::{Clock, side_by_side};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_depot::volume::KnownDirs;
use std::collections::HashMap;
use std::hint::black_box;

/// The most members of the set, and how many new ones each run adds.
const SIZES: [usize; 3] = [256, 512, 2_048];
const ADDED: [u32; 3] = [2_048, 4_096, 8_192];

/// The least ratio of the time of the scan to ours.
const RATIO: f64 = 2.0;

/// The same set with the time of each member's last use, and a scan for the least.
struct Scanned {
    used: HashMap<u32, u64>,
    now: u64,
    max: usize,
}

impl Scanned {
    fn insert(&mut self, key: u32) {
        self.now += 1;
        self.used.insert(key, self.now);
        while self.used.len() > self.max {
            let Some(oldest) = self.used.iter().min_by_key(|(_, used)| **used) else { return };
            let oldest = *oldest.0;
            self.used.remove(&oldest);
        }
    }

    fn contains(&mut self, key: u32) -> bool {
        self.now += 1;
        let now = self.now;
        self.used.get_mut(&key).map(|used| *used = now).is_some()
    }
}

pub(super) fn rows(context: &mut Context<'_>, outcome: &mut Outcome) {
    for max in SIZES {
        for added in ADDED {
            outcome.take(trim(context, max, added));
        }
    }
}

fn trim(context: &mut Context<'_>, max: usize, added: u32) -> Result<Outcome, BenchError> {
    let rounds = context.sized(11, 1) as usize;
    let work = format!("add {added} directories to {max} known ones");
    context.progress(&format!("  {work}"));
    let mut known = KnownDirs::new(max);
    let mut scanned = Scanned { used: HashMap::new(), now: 0, max };
    let first = max as u32;
    (0..first).for_each(|key| {
        known.insert(key);
        scanned.insert(key);
    });
    let mut next = [first; 2];
    let done = side_by_side(2, rounds, |arm| {
        let (from, to) = (next[arm], next[arm] + added);
        next[arm] = to;
        let clock = Clock::start();
        match arm {
            0 => (from..to).for_each(|key| known.insert(black_box(key))),
            _ => (from..to).for_each(|key| scanned.insert(black_box(key))),
        }
        let elapsed_ns = clock.now_ns();
        // Of what was added, the newest members are there and no others.
        let lasts = from.max(to - (max as u32).min(added));
        let found = (from..to).filter(|key| match arm {
            0 => known.contains(key),
            _ => scanned.contains(*key),
        });
        let found: Vec<_> = found.collect();
        verify(&work, "known directories of those added", found.len(), (to - lasts) as usize)?;
        verify(&work, "the first of them", found.first().copied(), Some(lasts))?;
        Ok::<_, BenchError>(elapsed_ns as f64)
    })?;
    let case = Case::without_orders(work);
    let row = |metric: &str, spread, unit| {
        Row::of_spread(&case, metric, spread, unit).check("directories_added", added)
    };
    Ok(Outcome::from(vec![
        row("time of all", done.spread(0), Unit::Nanoseconds),
        row("time of a scan for the oldest, over it", done.ratio(1, 0), Unit::Ratio).target(RATIO),
    ]))
}
