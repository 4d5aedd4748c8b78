//! The tenants whose files may be claimed, so that workers of all tenants take from each in turn.

use crate::name::TenantName;
use crate::tenant::Tenant;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A ring of tenants. One that has files and does not stand in it is put back by the housekeeping,
/// which also covers files whose delay or claim has ended.
#[derive(Default)]
pub(crate) struct ReadyTenants {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    ring: VecDeque<Arc<Tenant>>,
    waiting: Vec<Waker>,
}

impl ReadyTenants {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a tenant into the ring, unless it stands there, and wakes the waiting workers.
    pub(crate) fn announce(&self, tenant: &Arc<Tenant>) {
        if tenant.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut inner = self.inner();
        inner.ring.push_back(tenant.clone());
        let waiting = std::mem::take(&mut inner.waiting);
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Takes the next tenant that `may` allows out of the ring. The others keep their places: taking
    /// them out and putting them back would wake the workers that wait for other tenants.
    pub(crate) fn next(&self, may: impl Fn(&TenantName) -> bool) -> Option<Arc<Tenant>> {
        let mut inner = self.inner();
        let place = inner.ring.iter().position(|tenant| may(&tenant.name))?;
        let tenant = inner.ring.remove(place)?;
        tenant.is_queued.store(false, Ordering::Release);
        Some(tenant)
    }

    pub(crate) fn len(&self) -> usize {
        self.inner().ring.len()
    }

    /// Ready when a tenant that `may` allows stands in the ring.
    pub(crate) fn poll(
        &self,
        context: &mut Context<'_>,
        may: impl Fn(&TenantName) -> bool,
    ) -> Poll<()> {
        let mut inner = self.inner();
        if inner.ring.iter().any(|tenant| may(&tenant.name)) {
            return Poll::Ready(());
        }
        if !inner.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            inner.waiting.push(context.waker().clone());
        }
        Poll::Pending
    }
}
