//! How long an attack goes on, and that one goes on at a time.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What `cargo xtask siege` sets: the seconds for each attack.
const SECONDS: &str = "RIALTO_SIEGE_SECONDS";

/// Attacks measure how fast a venue answers, and would disturb each other.
static TURN: Mutex<()> = Mutex::new(());

/// The turn of an attack, as long as it is kept.
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
    /// Whether another round of the attack is to be made: one, or as many as the time allows.
    pub(crate) fn another(&mut self) -> bool {
        self.rounds += 1;
        self.rounds == 1 || self.end.is_some_and(|end| Instant::now() < end)
    }
}
