//! Claims across tenants, and claims that wait.

use crate::DepotError;
use crate::claim::{Claim, ClaimOptions};
use crate::name::TenantName;
use crate::pool::Pool;
use crate::tenant::Tenant;
use crate::work::Work;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest sleep of a worker that waits: a disabled tenant may have been enabled since.
const NAP_MAX: Duration = Duration::from_millis(100);

impl Pool {
    /// Claims files of the next tenant in the ring that has some.
    pub(crate) fn claim_any(
        &self,
        options: &ClaimOptions,
        may: impl Fn(&TenantName) -> bool,
    ) -> Result<Vec<Claim>, DepotError> {
        self.check_claim(options)?;
        // Each tenant that stands in the ring now is looked at once.
        for _ in 0..self.ready.len() {
            let Some(next) = self.ready.next(&may) else { break };
            match self.claim_of(&next.tenant, options) {
                Ok(claims) if claims.is_empty() => self.ready.retire(&next),
                Ok(claims) => {
                    if next.tenant.work().is_some_and(Work::may_deliver) {
                        self.ready.announce_again(&next.tenant);
                    } else {
                        self.ready.retire(&next);
                    }
                    return Ok(claims);
                }
                Err(DepotError::TenantStage { .. }) => self.ready.retire(&next),
                // It stays in the ring, and another worker looks at it.
                Err(error) => {
                    self.ready.announce_again(&next.tenant);
                    return Err(error);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Claims files of a tenant, and waits for some until the time is over.
    pub(crate) fn claim_within(
        &self,
        tenant: &Arc<Tenant>,
        options: &ClaimOptions,
        wait: Duration,
    ) -> Result<Vec<Claim>, DepotError> {
        let deadline = Instant::now().checked_add(wait);
        loop {
            let claims = self.claim_of(tenant, options)?;
            if !claims.is_empty() {
                return Ok(claims);
            }
            let left = deadline.map_or(NAP_MAX, |at| at.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(claims);
            }
            match tenant.work() {
                Some(work) => work.wait_for_one(left.min(NAP_MAX))?,
                None => std::thread::sleep(left.min(NAP_MAX)),
            }
        }
    }
}
