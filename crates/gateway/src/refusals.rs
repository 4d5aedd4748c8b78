//! What was refused, in sum: single refusals are too many to log.

use crate::{ApiError, gate::Gate};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How often the sum is logged, if there is one.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// How many requests were refused since the last sum, by code. Codes are words of this program, so
/// that there are few.
#[derive(Default)]
pub(crate) struct Refusals {
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl Refusals {
    fn counts(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request that is not done. What the engine has decided is not counted: it is journaled,
    /// and the metrics have it by reason.
    pub(crate) fn count(&self, error: &ApiError) {
        if error.seq.is_none() {
            *self.counts().entry(error.code).or_default() += 1;
        }
    }

    fn tell(&self) {
        let counts = std::mem::take(&mut *self.counts());
        let mut by_code = String::new();
        for (code, count) in &counts {
            // Writing to a string cannot fail.
            let _ = write!(by_code, "{}{code} {count}", if by_code.is_empty() { "" } else { ", " });
        }
        if !counts.is_empty() {
            let refused: u64 = counts.values().sum();
            tracing::info!(refused, by_code, "requests were refused");
        }
    }
}

/// Logs sums until the gateway stops, and the last one then.
pub(crate) async fn tell(gate: Arc<Gate>, mut stopped: watch::Receiver<bool>) {
    loop {
        let is_over = tokio::time::timeout(TELL_EVERY, stopped.wait_for(|it| *it)).await.is_ok();
        gate.refusals.tell();
        if is_over {
            return;
        }
    }
}
