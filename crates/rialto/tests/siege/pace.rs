//! The duration of attacks, which run one at a time.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The seconds for each attack, set by `cargo xtask siege`.
const SECONDS: &str = "RIALTO_SIEGE_SECONDS";

/// Attacks measure the venue's speed, and would disturb each other.
static TURN: Mutex<()> = Mutex::new(());

/// The turn of an attack, while this lives.
pub(crate) struct Turn {
    _turn: MutexGuard<'static, ()>,
    end: Option<Instant>,
    rounds: u32,
}

/// Waits for the attack's turn.
pub(crate) fn turn() -> Turn {
    let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let end = seconds().map(|seconds| Instant::now() + Duration::from_secs(seconds));
    Turn { _turn: turn, end, rounds: 0 }
}

fn seconds() -> Option<u64> {
    std::env::var(SECONDS).ok()?.parse().ok()
}

/// One number in `make test`, a larger one in a siege.
pub(crate) fn scaled(short: usize, long: usize) -> usize {
    if seconds().is_some() { long } else { short }
}

impl Turn {
    /// Whether to run another round of the attack: one, or as many as the time allows.
    pub(crate) fn another(&mut self) -> bool {
        self.rounds += 1;
        self.rounds == 1 || self.end.is_some_and(|end| Instant::now() < end)
    }
}
