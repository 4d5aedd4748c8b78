//! The authorisation of requests to the depot.

use crate::DepotPrincipal;
use rialto_api::DepotRight;
use rialto_bus::behaviour::Policy;
use rialto_bus::{Context, Request, Result};
use rialto_depot::TenantName;
use rialto_desk::Forbidden;

/// Permits a request only if a grant of its [`DepotPrincipal`] allows it. Operators may make every
/// request.
#[derive(Clone, Copy, Debug, Default)]
pub struct DepotPolicy;

/// A request that needs a right.
pub trait NeedsDepotRight: Request {
    /// Checks the rights of the sender.
    ///
    /// # Errors
    /// `forbidden`.
    fn check(&self, client: &DepotPrincipal) -> Result<()>;
}

impl<R: NeedsDepotRight> Policy<R> for DepotPolicy {
    fn permit(&self, request: &R, cx: &Context<'_>) -> Result<()> {
        let client: &DepotPrincipal = cx.principal().ok_or(Forbidden::Nobody)?;
        request.check(client)
    }
}

/// Checks whether a client may store files of a tenant. A gateway calls it before it reads the
/// content.
///
/// # Errors
/// `forbidden`.
pub fn may_store(client: &DepotPrincipal, tenant: &TenantName) -> Result<()> {
    client.require(&[DepotRight::Write], tenant)
}
