//! Statements as a part of a venue, opened and closed in order.

use crate::bus::StatementsBus;
use crate::error::StatementsOpenError;
use crate::flow::tell_all;
use crate::service::{StatementService, StatementSettings};
use rialto_depot::Depot;
use rialto_desk::VenueParts;
use rialto_flow::store::Store;
use rialto_flow::{Options, RecordRuns};
use rialto_recorder::Recorder;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the clock is read for the time of the day.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(1);

/// The options of statements.
#[derive(Default)]
pub struct StatementOptions {
    /// When they are made, and with how much memory.
    pub settings: StatementSettings,
    /// The options of their flows.
    pub flows: Options,
    /// Records requests and runs; replaces the observer of the flows.
    pub recorder: Option<Arc<Recorder>>,
}

/// The statements of a venue: the bus, and the thread that begins the run of the day.
///
/// Open it when the feed has caught up; and drop it, and everything that holds its bus, before the
/// depot is closed and the engine is shut down.
pub struct Statements {
    bus: Option<Arc<StatementsBus>>,
    daily: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Statements {
    /// Resumes a run that was unfinished, and begins one that came due while the venue was down.
    ///
    /// # Errors
    /// The store cannot be read, or a thread cannot be started.
    pub fn open(
        venue: VenueParts,
        depot: Depot,
        store: Arc<dyn Store>,
        options: StatementOptions,
    ) -> Result<Statements, StatementsOpenError> {
        let StatementOptions { settings, mut flows, recorder } = options;
        if let Some(recorder) = &recorder {
            flows.observer = Some(Arc::new(RecordRuns::new(Arc::clone(recorder))));
        }
        let service = StatementService::open(store, venue, depot, settings, flows)?;
        let bus = Arc::new(StatementsBus::new(service).recorded_by(recorder));
        let (stop, stopped) = channel();
        let watched = Arc::downgrade(&bus);
        let thread = std::thread::Builder::new()
            .name("statements-daily".to_owned())
            .spawn(move || {
                while begin_due(&watched) {
                    match stopped.recv_timeout(LOOK_AT_CLOCK) {
                        Err(RecvTimeoutError::Timeout) => {}
                        _ => return,
                    }
                }
            })
            .map_err(StatementsOpenError::Thread)?;
        Ok(Statements { bus: Some(bus), daily: Some((stop, thread)) })
    }

    /// The bus.
    #[must_use]
    pub fn bus(&self) -> Arc<StatementsBus> {
        Arc::clone(self.bus.as_ref().expect("it is there until this is dropped"))
    }

    /// The failure that stopped the runs, if any.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.bus.as_ref()?.service().fault()
    }
}

/// Begins the run of the day if it is due; false when the statements have ended.
fn begin_due(bus: &Weak<StatementsBus>) -> bool {
    let Some(bus) = bus.upgrade() else { return false };
    match bus.service().start_due() {
        Ok(_) => true,
        // The component reports it.
        Err(_) if bus.service().fault().is_some() => false,
        Err(error) => {
            let reason = tell_all(&error);
            tracing::error!(reason, "the daily run of statements did not begin; it is tried again");
            true
        }
    }
}

impl Drop for Statements {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.daily.take() {
            drop(stop);
            // A panic was already reported by the thread.
            drop(thread.join());
        }
        self.bus = None;
    }
}
