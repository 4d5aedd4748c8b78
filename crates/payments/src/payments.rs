//! Withdrawals as a part of a venue, opened and closed in order.

use crate::bus::PaymentsBus;
use crate::error::PaymentsOpenError;
use crate::service::{Settings, WithdrawalService};
use rialto_desk::{DeskBus, DeskConfig, VenueParts};
use rialto_flow::RecordRuns;
use rialto_flow::store::{Store, StoreError};
use rialto_flow::{Options, Parked};
use rialto_model::Transfer;
use rialto_recorder::Recorder;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// How long the flows of an earlier process may take to resume.
const RESUME_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The withdrawals of a venue: the bus, and the thread that brings the engine's answers to the flows.
///
/// Open it when the feed has caught up, from a thread that is not inside an async runtime; and drop
/// it, and everything that holds its bus, before the engine is shut down.
pub struct Payments {
    bus: Option<Arc<PaymentsBus>>,
    runtime: Option<Runtime>,
    /// The number of held withdrawals that no flow knew and that were adopted.
    pub adopted: usize,
    /// The parked flows, with their reasons.
    pub parked: Vec<Parked>,
}

/// The options of withdrawals.
#[derive(Default)]
pub struct PaymentOptions {
    /// Deadlines and bounds of the withdrawals.
    pub settings: Settings,
    /// The options of their flows.
    pub flows: Options,
    /// Records requests, flows and their commands; replaces the observer of the flows.
    pub recorder: Option<Arc<Recorder>>,
}

impl Payments {
    /// Resumes every withdrawal, and starts flows for withdrawals that only the engine knows.
    ///
    /// # Errors
    /// The store cannot be read, or its flows cannot be run.
    pub fn open(
        venue: VenueParts,
        store: Arc<dyn Store>,
        options: PaymentOptions,
    ) -> Result<Payments, PaymentsOpenError> {
        let PaymentOptions { settings, mut flows, recorder } = options;
        let live = Arc::clone(&venue.live);
        if let Some(recorder) = &recorder {
            flows.observer = Some(Arc::new(RecordRuns::new(Arc::clone(recorder))));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("withdrawals")
            .enable_time()
            .build()
            .map_err(PaymentsOpenError::Thread)?;
        let desk = {
            let _inside = runtime.enter();
            let desk = DeskBus::open(venue, &DeskConfig::default());
            Arc::new(desk.recorded_by(recorder.clone()))
        };
        let service = WithdrawalService::open(store, desk, settings, flows)?;
        let begun = Instant::now();
        while !service.is_taken_up() {
            if begun.elapsed() > RESUME_TIMEOUT {
                return Err(PaymentsOpenError::Slow { seconds: RESUME_TIMEOUT.as_secs() });
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        let held: Vec<Transfer> = live.read().held_withdrawals().collect();
        let adopted = service.adopt(held)?;
        let parked = service.parked();
        let bus = Some(Arc::new(PaymentsBus::new(service).recorded_by(recorder)));
        Ok(Payments { bus, runtime: Some(runtime), adopted, parked })
    }

    /// The bus.
    #[must_use]
    pub fn bus(&self) -> Arc<PaymentsBus> {
        Arc::clone(self.bus.as_ref().expect("it is there until this is dropped"))
    }

    /// The failure that stopped the withdrawals, if any.
    #[must_use]
    pub fn fault(&self) -> Option<StoreError> {
        self.bus.as_ref()?.service().fault()
    }
}

impl Drop for Payments {
    fn drop(&mut self) {
        // The flows first: they wait for answers that the runtime brings.
        self.bus = None;
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
