//! The sender of a request.

use rialto_api::{DepotGrant, DepotRight};
use rialto_bus::{Error, ErrorKind, Result};
use rialto_depot::TenantName;
use rialto_desk::{Forbidden, Scope};
use std::sync::Arc;

/// The sender of a request with its grants of tenants: the principal of every request on the
/// [`DepotBus`](crate::DepotBus). A clone is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepotPrincipal {
    id: Arc<str>,
    is_operator: bool,
    grants: Arc<[DepotGrant]>,
}

impl DepotPrincipal {
    /// A client with these grants. Uploads are counted by the id.
    #[must_use]
    pub fn new(id: &str, grants: impl Into<Arc<[DepotGrant]>>) -> DepotPrincipal {
        DepotPrincipal { id: id.into(), is_operator: false, grants: grants.into() }
    }

    /// An operator, who has all rights and administers tenants and volumes.
    #[must_use]
    pub fn operator(id: &str) -> DepotPrincipal {
        DepotPrincipal { id: id.into(), is_operator: true, grants: Arc::default() }
    }

    /// The id that uploads are counted by. Ids of clients are unique.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it is an operator.
    #[must_use]
    pub fn is_operator(&self) -> bool {
        self.is_operator
    }

    /// The grants of a client; unused for an operator.
    #[must_use]
    pub fn grants(&self) -> &[DepotGrant] {
        &self.grants
    }

    /// Whether it has this right to the tenant.
    #[must_use]
    pub fn has(&self, right: DepotRight, tenant: &TenantName) -> bool {
        self.is_operator || self.grants.iter().any(|grant| grant.allows(right, tenant.as_str()))
    }

    /// Whether it has some right to the tenant.
    #[must_use]
    pub fn has_any(&self, tenant: &TenantName) -> bool {
        let gives_some =
            |grant: &DepotGrant| !grant.rights.is_empty() && grant.tenants.matches(tenant.as_str());
        self.is_operator || self.grants.iter().any(gives_some)
    }

    /// Requires one of these rights to the tenant.
    ///
    /// # Errors
    /// `forbidden`. The message does not reveal whether the tenant exists.
    pub fn require(&self, rights: &[DepotRight], tenant: &TenantName) -> Result<()> {
        if rights.iter().any(|right| self.has(*right, tenant)) {
            return Ok(());
        }
        let names: Vec<_> = rights.iter().map(|right| format!("`{}`", right.name())).collect();
        let rights = names.join(" or ");
        let message = format!("This key has no right {rights} to the tenant {tenant}.");
        Err(Error::new(ErrorKind::Forbidden, "forbidden", message))
    }

    /// Requires some right to the tenant.
    ///
    /// # Errors
    /// `forbidden`.
    pub fn require_any(&self, tenant: &TenantName) -> Result<()> {
        match self.has_any(tenant) {
            true => Ok(()),
            false => self.require(&[DepotRight::Read], tenant),
        }
    }

    /// Requires this right to some tenant.
    ///
    /// # Errors
    /// `forbidden`.
    pub fn require_anywhere(&self, right: DepotRight) -> Result<()> {
        if self.is_operator || self.grants.iter().any(|grant| grant.rights.contains(&right)) {
            return Ok(());
        }
        let message = format!("This key has no right `{}` to any tenant.", right.name());
        Err(Error::new(ErrorKind::Forbidden, "forbidden", message))
    }

    /// Requires an operator.
    ///
    /// # Errors
    /// `forbidden`.
    pub fn require_operator(&self) -> Result<()> {
        match self.is_operator {
            true => Ok(()),
            false => Err(Forbidden::Scope(Scope::Admin).into()),
        }
    }
}
