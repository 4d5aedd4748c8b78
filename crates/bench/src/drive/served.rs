//! An engine behind a gateway on a free port.

use crate::error::{BenchError, broken, verify};
use rialto_desk::{Live, LiveConfig, VenueParts};
use rialto_engine::Engine;
use rialto_gateway::{AdminKey, Gateway, GatewayConfig, GatewayParts, KeyStore, MasterKey};
use rialto_queue::Queue;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);

/// A gateway, and what it serves. Limits of rate are out of the way; every other check is on.
pub(crate) struct ServedEngine {
    gateway: Gateway,
    live: Arc<Live>,
    engine: Arc<Engine>,
    pub(crate) keys: Arc<KeyStore>,
    pub(crate) admin: AdminKey,
}

impl ServedEngine {
    /// Serves an engine, and a queue if there is one, with keys that are kept in `directory`.
    pub(crate) fn start(
        case: &str,
        engine: Engine,
        directory: &Path,
        queue: Option<Queue>,
    ) -> Result<ServedEngine, BenchError> {
        let engine = Arc::new(engine);
        let live = Live::start(&engine, LiveConfig::default())
            .map_err(broken(case, "start the live feed"))?;
        let opened = KeyStore::open(&directory.join("auth"), &MasterKey::Given([7; 32]))
            .map_err(broken(case, "open the key store"))?;
        let admin = opened.new_admin_key.expect("a new key store has a new admin key");
        let keys = Arc::new(opened.keys);
        let config = GatewayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            key_rate: u32::MAX,
            key_burst: u32::MAX,
            signature_window: GatewayConfig::SIGNATURE_WINDOW_MAX,
            ..GatewayConfig::default()
        };
        let venue = VenueParts::new(Arc::clone(&engine), Arc::clone(&live));
        let parts = GatewayParts { queue, ..GatewayParts::default() };
        let gateway = Gateway::start_with(config, venue, Arc::clone(&keys), parts)
            .map_err(broken(case, "start the gateway"))?;
        Ok(ServedEngine { gateway, live, engine, keys, admin })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.gateway.local_addr()
    }

    /// Ends the gateway, and gives the engine back.
    pub(crate) fn end(self, case: &str) -> Result<Engine, BenchError> {
        let ServedEngine { gateway, live, engine, keys, .. } = self;
        drop(keys);
        verify(case, "whether every request was finished", gateway.shutdown(DEADLINE), true)?;
        live.stop();
        drop(live);
        let engine = Arc::into_inner(engine).ok_or("somebody else holds it");
        engine.map_err(broken(case, "take the engine back"))
    }
}
