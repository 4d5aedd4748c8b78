//! A tenant that an upload made.

use crate::DepotError;
use crate::history::record::Record;
use crate::pool::Pool;
use crate::tenant::Tenant;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// A tenant that was made for one upload. Unless its file is accepted, dropping this removes the tenant
/// again, if nobody has looked it up meanwhile: a refused upload changes nothing.
pub(crate) struct NewTenant {
    pool: Arc<Pool>,
    tenant: Arc<Tenant>,
    is_kept: bool,
}

impl NewTenant {
    pub(crate) fn new(pool: Arc<Pool>, tenant: Arc<Tenant>) -> Self {
        Self { pool, tenant, is_kept: false }
    }

    /// The file was accepted, or may have been.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for NewTenant {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = self.pool.forget_new_tenant(&self.tenant)
        {
            tracing::warn!(tenant = %self.tenant.name, "the tenant of a refused file stays: {error}");
        }
    }
}

impl Pool {
    fn forget_new_tenant(&self, tenant: &Arc<Tenant>) -> Result<(), DepotError> {
        self.check_open()?;
        let _changing = self.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        // Tenants are looked up under this lock. A work queue stays, whose file was refused at the end.
        if tenant.is_looked_up.load(Ordering::Acquire) || tenant.work().is_some() {
            return Ok(());
        }
        tenants.by_name.remove(&tenant.name);
        drop(tenants);
        let number = tenant.number;
        let record = |_: &_| Ok::<_, DepotError>(((), vec![Record::TenantDeleted { number }]));
        if let Err(error) = self.history.record(record) {
            self.insert_tenant(tenant.clone());
            return Err(error);
        }
        self.forget_busy(tenant);
        Ok(())
    }
}
