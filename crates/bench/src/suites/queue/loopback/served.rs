//! A gateway with a queue, on a free port.

use super::super::stage::Stage;
use crate::error::{BenchError, broken, verify};
use crate::suite::Context;
use rialto_desk::{Live, LiveConfig, VenueParts};
use rialto_disk::{Disk, RealDisk};
use rialto_engine::{Engine, EngineConfig, Level};
use rialto_gateway::{AdminKey, Gateway, GatewayConfig, GatewayParts, KeyStore, MasterKey};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(30);

/// A venue without trading that serves the queue of a stage.
pub(super) struct Served {
    gateway: Gateway,
    live: Arc<Live>,
    engine: Arc<Engine>,
    admin: AdminKey,
    pub(super) stage: Stage,
}

impl Served {
    /// A new queue with a topic at `buffered`. Rate limits are disabled; every other check is on.
    pub(super) fn start(context: &mut Context<'_>, case: &str) -> Result<Served, BenchError> {
        let stage = Stage::at(context, case, Level::Buffered)?;
        let directory = stage.directory().expect("a buffered topic lies in a directory");
        let venue = directory.path().join("venue");
        let (engine, live) = venue_at(case, &venue)?;
        let opened = KeyStore::open(&venue.join("auth"), &MasterKey::Given([7; 32]))
            .map_err(broken(case, "open the key store"))?;
        let admin = opened.new_admin_key.expect("a new key store has a new admin key");
        let config = GatewayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            key_rate: u32::MAX,
            key_burst: u32::MAX,
            ..GatewayConfig::default()
        };
        let venue = VenueParts { engine: Arc::clone(&engine), live: Arc::clone(&live) };
        let parts = GatewayParts { queue: Some(stage.queue()), ..GatewayParts::default() };
        let gateway = Gateway::start_with(config, venue, Arc::new(opened.keys), parts)
            .map_err(broken(case, "start the gateway"))?;
        Ok(Served { gateway, live, engine, admin, stage })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.gateway.local_addr()
    }

    /// The authorisation header of every request.
    pub(super) fn authorization(&self) -> String {
        format!("authorization: Bearer {}", self.admin.reveal())
    }

    pub(super) fn end(self, case: &str) -> Result<(), BenchError> {
        let Served { gateway, live, engine, stage, .. } = self;
        verify(case, "whether every request was finished", gateway.shutdown(DEADLINE), true)?;
        live.stop();
        engine.shutdown(DEADLINE);
        stage.close()
    }
}

fn venue_at(case: &str, directory: &Path) -> Result<(Arc<Engine>, Arc<Live>), BenchError> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    let config = EngineConfig {
        data_dir: directory.join("data"),
        segment_bytes: 4 << 20,
        ..EngineConfig::default()
    };
    let (engine, _) = Engine::start(config, disk).map_err(broken(case, "start the engine"))?;
    let engine = Arc::new(engine);
    let live =
        Live::start(&engine, LiveConfig::default()).map_err(broken(case, "start the live feed"))?;
    Ok((engine, live))
}
