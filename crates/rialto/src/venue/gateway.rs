//! The gateway as a component.

use super::closing::Deadline;
use super::made::Made;
use crate::terminal::note;
use rialto_desk::{Live, VenueParts};
use rialto_engine::Engine;
use rialto_flow::recorder::Recorder;
use rialto_gateway::{AdminKey, Gateway, GatewayConfig, KeyStore, MasterKey};
use rialto_lifecycle::{Component, Failure, Health, Overview};
use rialto_payments::PaymentsBus;
use rialto_queue::Queue;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

/// What the gateway has when it is open.
pub(super) struct Door {
    pub(super) local_addr: SocketAddr,
    pub(super) keys: Arc<KeyStore>,
    pub(super) new_admin_key: Option<AdminKey>,
}

pub(super) struct Part {
    pub(super) config: GatewayConfig,
    pub(super) auth_dir: PathBuf,
    pub(super) engine: Made<Engine>,
    pub(super) live: Made<Live>,
    pub(super) payments: Made<Weak<PaymentsBus>>,
    /// None if the venue keeps no queues.
    pub(super) queue: Option<Made<Queue>>,
    pub(super) process: Overview,
    pub(super) recorder: Option<Arc<Recorder>>,
    pub(super) deadline: Deadline,
    pub(super) made: Made<Door>,
    pub(super) running: Option<Gateway>,
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let venue = VenueParts { engine: self.engine.get()?, live: self.live.get()? };
        let opened = KeyStore::open(&self.auth_dir, &MasterKey::Find)?;
        let keys = Arc::new(opened.keys);
        let (process, config) = (self.process.clone(), self.config.clone());
        let payments = self.payments.get()?.upgrade();
        let queue = self.queue.as_ref().map(Made::get).transpose()?;
        let queue = queue.map(|queue| Queue::clone(&queue));
        let (recorder, keys_too) = (self.recorder.clone(), Arc::clone(&keys));
        let gateway =
            Gateway::start_in(process, recorder, config, venue, keys_too, payments, queue);
        let gateway = gateway.inspect_err(|_| {
            // Its hash is stored, so that no later start can show it.
            if let Some(key) = &opened.new_admin_key {
                note(format_args!("admin key: {} (shown this once; keep it)", key.reveal()));
            }
        })?;
        let local_addr = gateway.local_addr();
        self.made.put(Door { local_addr, keys, new_admin_key: opened.new_admin_key });
        self.running = Some(gateway);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        let Some(gateway) = self.running.take() else { return Ok(()) };
        match gateway.shutdown(self.deadline.left()) {
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
