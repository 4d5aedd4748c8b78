//! Probes the volumes by period, so that failed ones come back and free space is known.

use super::due::Due;
use crate::pool::Pool;
use crate::volume::Volumes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// When the volumes are probed next, and whether they are being probed.
#[derive(Debug, Default)]
pub(crate) struct Probing {
    due: Mutex<Due>,
    is_running: Arc<AtomicBool>,
}

/// Ends a probe, also if it panics.
struct Running(Arc<AtomicBool>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Pool {
    /// Probes the volumes if it is time. A device that hangs keeps its thread, and no further probe
    /// begins then; the caller goes on.
    pub(crate) fn probe_when_due(&self) {
        let (probing, period) = (&self.upkeep.probing, self.options.upkeep.probe_period);
        {
            let mut due = probing.due.lock().unwrap_or_else(PoisonError::into_inner);
            let now = self.now();
            if !due.is_due(now, period) {
                return;
            }
            due.next(now, period);
        }
        if self.upkeep.is_stepped {
            self.volumes.probe();
            return;
        }
        if probing.is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let (volumes, running) = (self.volumes.clone(), Running(probing.is_running.clone()));
        let probe = move || probe(&volumes, &running);
        if let Err(error) = std::thread::Builder::new().name("depot-probe".to_owned()).spawn(probe)
        {
            tracing::warn!(%error, "the volumes are not probed now");
        }
    }
}

fn probe(volumes: &Volumes, _running: &Running) {
    volumes.probe();
}
