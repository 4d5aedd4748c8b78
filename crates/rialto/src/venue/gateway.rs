//! The gateway as a component.

use super::closing::Deadline;
use super::made::Made;
use rialto_depot::Depot;
use rialto_desk::{Live, OrderRate, VenueParts};
use rialto_engine::Engine;
use rialto_gateway::{Gateway, GatewayConfig, GatewayParts, KeyStore, MasterKey, MoreMetrics};
use rialto_lifecycle::{Component, Failure, Health, Overview};
use rialto_order_files::OrderFileCounts;
use rialto_payments::PaymentsBus;
use rialto_queue::Queue;
use rialto_recorder::Recorder;
use rialto_statements::StatementsBus;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

/// What the gateway has when it is open.
pub(super) struct Door {
    pub(super) local_addr: SocketAddr,
    pub(super) operations_addr: Option<SocketAddr>,
    pub(super) keys: Arc<KeyStore>,
    /// For another door to the depot, which takes it: it must not outlive the gateway.
    #[cfg(feature = "s3")]
    depot_access: std::sync::Mutex<Option<rialto_gateway::DepotAccess>>,
}

#[cfg(feature = "s3")]
impl Door {
    pub(super) fn take_depot_access(&self) -> Option<rialto_gateway::DepotAccess> {
        self.depot_access.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}

pub(super) struct Part {
    pub(super) config: GatewayConfig,
    pub(super) auth_dir: PathBuf,
    /// Those of a venue that begins: they are made before its journal.
    pub(super) keys: Option<KeyStore>,
    pub(super) engine: Made<Engine>,
    pub(super) live: Made<Live>,
    pub(super) order_rate: Arc<OrderRate>,
    pub(super) payments: Made<Weak<PaymentsBus>>,
    /// None if the venue makes no statements.
    pub(super) statements: Option<Made<Weak<StatementsBus>>>,
    /// None if the venue keeps no queues.
    pub(super) queue: Option<Made<Queue>>,
    /// None if the venue has no depot.
    pub(super) depot: Option<Made<Depot>>,
    /// The metrics of another door, if there is one.
    pub(super) metrics: Option<MoreMetrics>,
    /// Whether another door serves the depot.
    #[cfg(feature = "s3")]
    pub(super) shares_depot: bool,
    /// None if no orders come in files.
    pub(super) order_files: Option<Made<OrderFileCounts>>,
    pub(super) process: Overview,
    pub(super) recorder: Option<Arc<Recorder>>,
    pub(super) deadline: Deadline,
    pub(super) made: Made<Door>,
    pub(super) running: Option<Gateway>,
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let venue = VenueParts::new(self.engine.get()?, self.live.get()?)
            .with_order_rate(Arc::clone(&self.order_rate));
        let keys = match self.keys.take() {
            Some(keys) => keys,
            None => KeyStore::open(&self.auth_dir, &MasterKey::Find)?.keys,
        };
        let keys = Arc::new(keys);
        let queue = self.queue.as_ref().map(Made::get).transpose()?;
        let depot = self.depot.as_ref().map(Made::get).transpose()?;
        let statements = self.statements.as_ref().map(Made::get).transpose()?;
        let parts = GatewayParts {
            process: self.process.clone(),
            recorder: self.recorder.clone(),
            payments: self.payments.get()?.upgrade(),
            statements: statements.and_then(|bus| bus.upgrade()),
            queue: queue.map(|queue| Queue::clone(&queue)),
            depot: depot.map(|depot| Depot::clone(&depot)),
            metrics: self.metrics.clone(),
            order_files: self.order_files.as_ref().map(Made::get).transpose()?,
        };
        let gateway = Gateway::start_with(self.config.clone(), venue, Arc::clone(&keys), parts)?;
        let (local_addr, operations_addr) = (gateway.local_addr(), gateway.operations_addr());
        self.made.put(Door {
            local_addr,
            operations_addr,
            keys,
            #[cfg(feature = "s3")]
            depot_access: std::sync::Mutex::new(
                self.shares_depot.then(|| gateway.depot_access()).flatten(),
            ),
        });
        self.running = Some(gateway);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        let Some(gateway) = self.running.take() else { return Ok(()) };
        // The components after it, mainly the engine's last snapshot, need time too.
        match gateway.shutdown(self.deadline.left() / 2) {
            true => Ok(()),
            false => Err("some connections had to be broken off at the deadline".into()),
        }
    }

    fn health(&mut self) -> Health {
        match self.running {
            Some(_) => Health::Up,
            None => Health::Failed("it was not started".to_string()),
        }
    }
}
