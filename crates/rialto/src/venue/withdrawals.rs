//! Withdrawals as a component: their flows, and the store that these live in.

use super::made::Made;
use rialto_desk::{Live, VenueParts};
use rialto_disk::Disk;
use rialto_engine::{Engine, KeyRing, Sealing};
use rialto_flow::store::{Level, LogOptions, LogStore, StoreLimits};
use rialto_lifecycle::{Component, Failure, Health};
use rialto_payments::{PaymentOptions, Payments, PaymentsBus, Settings};
use rialto_recorder::Recorder;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The length of a file of the log of flows. A venue has few withdrawals, and a new file is written
/// out in full when it is begun.
const SEGMENT_BYTES: u64 = 4 << 20;
/// The log of flows is compacted when it has grown by this much.
const CHECKPOINT_BYTES: u64 = 32 << 20;
/// For how long a withdrawal that has ended is known by its reference.
const RETENTION: Duration = Duration::from_secs(90 * 24 * 3_600);

/// Where the flows live, and how they are stored.
pub(super) struct Home {
    pub(super) dir: PathBuf,
    pub(super) sealing: Sealing,
    pub(super) keys: KeyRing,
    pub(super) reserve_segments: usize,
}

pub(super) struct Part {
    settings: Settings,
    home: Home,
    disk: Arc<dyn Disk>,
    engine: Made<Engine>,
    live: Made<Live>,
    recorder: Option<Arc<Recorder>>,
    made: Made<Weak<PaymentsBus>>,
    running: Option<Payments>,
}

impl Part {
    pub(super) fn new(
        settings: Settings,
        home: Home,
        disk: Arc<dyn Disk>,
        engine: Made<Engine>,
        live: Made<Live>,
        recorder: Option<Arc<Recorder>>,
    ) -> Part {
        let made = Made::new("withdrawals");
        Part { settings, home, disk, engine, live, recorder, made, running: None }
    }

    /// The bus, while withdrawals run. Holding it prevents their end.
    pub(super) fn made(&self) -> Made<Weak<PaymentsBus>> {
        self.made.clone()
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let (engine, live) = (self.engine.get()?, self.live.get()?);
        let limits = StoreLimits {
            ended_runs_max: self.settings.ended_max,
            retention: RETENTION,
            ..StoreLimits::default()
        };
        let options = LogOptions {
            limits,
            segment_bytes: SEGMENT_BYTES,
            checkpoint_bytes: CHECKPOINT_BYTES,
            reserve_segments: self.home.reserve_segments,
            sealing: self.home.sealing,
            keys: self.home.keys.clone(),
            ..LogOptions::new(Level::Synced)
        };
        let store = LogStore::open_on(Arc::clone(&self.disk), &self.home.dir, options)?;
        let options = PaymentOptions {
            settings: self.settings.clone(),
            recorder: self.recorder.clone(),
            ..PaymentOptions::default()
        };
        let payments = Payments::open(VenueParts::new(engine, live), Arc::new(store), options)?;
        if payments.adopted > 0 {
            tracing::warn!(
                "{} withdrawals are held without a record; they are pending again",
                payments.adopted
            );
        }
        for parked in &payments.parked {
            tracing::warn!("a withdrawal does not proceed: {parked}");
        }
        self.made.put(Arc::downgrade(&payments.bus()));
        self.running = Some(payments);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        self.running = None;
        Ok(())
    }

    fn health(&mut self) -> Health {
        let Some(payments) = &self.running else {
            return Health::Failed("it was not started".to_string());
        };
        match payments.fault() {
            None => Health::Up,
            Some(fault) => Health::Failed(fault.to_string()),
        }
    }
}
