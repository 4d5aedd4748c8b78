//! The depot and the keys, for another door to the depot in this process.
//!
//! A request there counts for its key as one here, and uploads and downloads share their limits.

use crate::auth::Secret;
use crate::gate::Gate;
use rialto_depot_desk::{DepotBus, DepotPrincipal};
use std::net::IpAddr;
use std::sync::Arc;

/// Access to the depot of a gateway, with its keys.
#[derive(Clone)]
pub struct DepotAccess {
    gate: Arc<Gate>,
    bus: Arc<DepotBus>,
}

/// A valid key, as another door to the depot uses it.
#[derive(Clone)]
pub struct DepotKey {
    /// Its id.
    pub id: String,
    /// The secrets that work now, the newest first.
    pub secrets: Vec<Secret>,
    /// Its rights to the depot.
    pub principal: DepotPrincipal,
}

impl DepotAccess {
    pub(crate) fn of(gate: &Arc<Gate>) -> Option<DepotAccess> {
        let bus = Arc::clone(gate.depot.as_ref()?);
        Some(DepotAccess { gate: Arc::clone(gate), bus })
    }

    /// The depot's bus.
    #[must_use]
    pub fn bus(&self) -> &Arc<DepotBus> {
        &self.bus
    }

    /// The key of this id, if it is valid now.
    #[must_use]
    pub fn key(&self, id: &str) -> Option<DepotKey> {
        self.gate.gatekeeper.depot_key(id)
    }

    /// Takes a request from the allowance of a key. Returns whether there was one.
    #[must_use]
    pub fn take_request(&self, id: &str) -> bool {
        self.gate.gatekeeper.take_request(id)
    }

    /// Takes a request that is nobody's from the allowance of its address.
    #[must_use]
    pub fn take_of_address(&self, address: IpAddr) -> bool {
        let source = crate::limits::source_of(address);
        self.gate.gatekeeper.charge_address(source).is_ok()
    }
}
