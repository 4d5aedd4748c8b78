//! Handles requests to the depot. The handlers stand beside their requests.

use crate::DepotPrincipal;
use crate::error::depot_error;
use crate::limits::{DepotLimits, Transfers};
use rialto_bus::{Context, Error, ErrorKind, Result};
use rialto_depot::{Depot, DepotError};
use rialto_desk::Forbidden;
use std::sync::Arc;
use tokio::sync::{Mutex, watch};

/// Handles requests to the depot.
pub struct DepotService {
    pub(crate) depot: Depot,
    pub(crate) limits: DepotLimits,
    pub(crate) uploads: Transfers,
    pub(crate) downloads: Transfers,
    /// Held by a client without an operator's rights while it creates a tenant.
    pub(crate) creating: Arc<Mutex<()>>,
    pub(crate) stopped: watch::Receiver<bool>,
}

impl DepotService {
    pub(crate) fn new(
        depot: Depot,
        limits: DepotLimits,
        stopped: watch::Receiver<bool>,
    ) -> DepotService {
        let (uploads, downloads) = (Transfers::uploads(&limits), Transfers::downloads(&limits));
        let creating = Arc::default();
        DepotService { depot, limits, uploads, downloads, creating, stopped }
    }

    /// Uses the depot on a thread that may block on the disk.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Depot) -> std::result::Result<T, DepotError> + Send + 'static,
    ) -> Result<T> {
        let depot = self.depot.clone();
        joined(tokio::task::spawn_blocking(move || work(&depot)).await)?.map_err(depot_error)
    }
}

/// The result of a blocking task, which may have panicked.
pub(crate) fn joined<T>(task: std::result::Result<T, tokio::task::JoinError>) -> Result<T> {
    task.map_err(|error| {
        let message = format!("The operation failed: {error}.");
        Error::new(ErrorKind::Internal, "depot_failed", message)
    })
}

/// The sender of the request.
pub(crate) fn principal<'a>(cx: &Context<'a>) -> Result<&'a DepotPrincipal> {
    Ok(cx.principal().ok_or(Forbidden::Nobody)?)
}
