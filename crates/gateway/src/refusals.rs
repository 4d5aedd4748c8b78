//! Sums of refused requests: single ones are too many to log.

use crate::{ApiError, gate::Gate};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The interval at which sums are logged.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// The number of refused requests since the last log line, by code. There are few codes.
#[derive(Default)]
pub(crate) struct Refusals {
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl Refusals {
    fn counts(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refused request. Rejects of the engine are not counted: they are in the journal and
    /// in a metric.
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

/// Logs sums until the gateway stops, and a last one then.
pub(crate) async fn tell(gate: Arc<Gate>, mut stopped: watch::Receiver<bool>) {
    loop {
        let is_over = tokio::time::timeout(TELL_EVERY, stopped.wait_for(|it| *it)).await.is_ok();
        gate.refusals.tell();
        if is_over {
            return;
        }
    }
}
