//! Durability above the level of the pool: of a file's tenant, and of a file that was accepted earlier.

use crate::active::Standing;
use crate::pool::Pool;
use crate::tenant::Tenant;
use crate::{DepotError, FileId};
use std::sync::atomic::Ordering;

impl Pool {
    /// Makes the records of a tenant and of the volumes durable, without which a file that is more
    /// durable than the pool's level could not be found.
    pub(crate) fn make_tenant_durable(&self, tenant: &Tenant) -> Result<(), DepotError> {
        if !tenant.is_durable.load(Ordering::Acquire) {
            self.history.sync()?;
            tenant.is_durable.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Makes the record of an accepted file durable, or that of its end.
    pub(crate) fn make_durable(&self, tenant: &Tenant, id: FileId) -> Result<(), DepotError> {
        let (active, key) = {
            let files = tenant.files();
            let file = files.get(id);
            let key = file.and_then(|file| file.record.submit_key.clone());
            (file.map(|file| (file.standing, file.message)), key)
        };
        match (active, tenant.work()) {
            (Some((Standing::Arriving, _)), _) => {
                Err(DepotError::SubmitInProgress(key.unwrap_or_default()))
            }
            (Some((Standing::Waiting | Standing::Claimed { .. }, Some(message))), Some(work)) => {
                self.make_tenant_durable(tenant)?;
                work.sync(message)
            }
            // It is kept, gone or a dead letter.
            _ => Ok(self.history.sync()?),
        }
    }
}
