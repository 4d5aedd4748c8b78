//! The tenants whose files may be claimed, so that workers of all tenants take from each in turn.

use crate::name::TenantName;
use crate::tenant::Tenant;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Says whether a worker takes files of a tenant. It is called under the lock of the ring.
pub(crate) type MayWork = Box<dyn Fn(&TenantName) -> bool + Send + Sync>;

/// A ring of tenants. One that has files and does not stand in it is put back by the housekeeping,
/// which also covers files whose delay or claim has ended.
#[derive(Default)]
pub(crate) struct ReadyTenants {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    ring: VecDeque<Arc<Tenant>>,
    /// The waiting workers, in the order in which they began to wait. A woken one is not among them.
    waiting: BTreeMap<u64, (Waker, Arc<MayWork>)>,
    /// The number of the next wait.
    next: u64,
}

impl Inner {
    /// The waker of the worker that has waited longest for this tenant, which waits no more.
    fn take_waiter(&mut self, tenant: &TenantName) -> Option<Waker> {
        let found = self.waiting.iter().find(|(_, (_, may))| may(tenant));
        let number = *found?.0;
        self.waiting.remove(&number).map(|(waker, _)| waker)
    }
}

impl ReadyTenants {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a tenant into the ring, unless it stands there, and wakes one worker that waits for it.
    /// The woken worker announces the tenant again if there is more.
    pub(crate) fn announce(&self, tenant: &Arc<Tenant>) {
        if !tenant.is_queued.swap(true, Ordering::AcqRel) {
            let mut inner = self.inner();
            inner.ring.push_back(tenant.clone());
            let waiter = inner.take_waiter(&tenant.name);
            drop(inner);
            waiter.into_iter().for_each(Waker::wake);
        }
    }

    /// As [`ReadyTenants::announce`], and wakes a worker for a tenant that stands in the ring, too: one
    /// that was woken may have gone before it claimed.
    pub(crate) fn announce_again(&self, tenant: &Arc<Tenant>) {
        if tenant.is_queued.load(Ordering::Acquire) {
            let waiter = self.inner().take_waiter(&tenant.name);
            waiter.into_iter().for_each(Waker::wake);
        } else {
            self.announce(tenant);
        }
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

    /// A wait for a tenant that `may` allows.
    pub(crate) fn wait(&self, may: MayWork) -> Waiting<'_> {
        Waiting { ready: self, may: Arc::new(may), number: None }
    }
}

/// The wait of a worker. Dropping it leaves no entry.
pub(crate) struct Waiting<'r> {
    ready: &'r ReadyTenants,
    may: Arc<MayWork>,
    /// The number of its entry.
    number: Option<u64>,
}

impl Waiting<'_> {
    /// Ready when a tenant that the worker takes stands in the ring.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.ready.inner();
        if inner.ring.iter().any(|tenant| (self.may)(&tenant.name)) {
            return Poll::Ready(());
        }
        let number = match self.number {
            Some(number) if inner.waiting.contains_key(&number) => number,
            _ => {
                inner.next += 1;
                inner.next
            }
        };
        self.number = Some(number);
        inner.waiting.insert(number, (context.waker().clone(), self.may.clone()));
        Poll::Pending
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.ready.inner().waiting.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::record::{Stage, TenantNumber};
    use crate::quota::{Quota, Usage};
    use rialto_clock::Timestamp;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn tenant(name: &str) -> Arc<Tenant> {
        let (name, usage) = (TenantName::new(name).unwrap(), Usage::new(Quota::default()));
        Arc::new(Tenant::new(TenantNumber(1), name, Timestamp(1), Stage::Enabled, usage))
    }

    fn waiting<'r>(ready: &'r ReadyTenants, name: &'static str) -> (Waiting<'r>, Arc<Count>) {
        let mut wait = ready.wait(Box::new(move |tenant| tenant.as_str() == name));
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        assert!(wait.poll(&mut Context::from_waker(&waker)).is_pending());
        (wait, count)
    }

    fn wakes(count: &Count) -> usize {
        count.0.load(Ordering::Relaxed)
    }

    #[test]
    fn a_wait_that_is_given_up_leaves_no_entry() {
        let ready = ReadyTenants::default();
        let (first, _) = waiting(&ready, "acme");
        let (second, count) = waiting(&ready, "acme");
        drop(first);
        assert_eq!(ready.inner().waiting.len(), 1);
        ready.announce(&tenant("acme"));
        assert_eq!(wakes(&count), 1);
        drop(second);
        assert!(ready.inner().waiting.is_empty());
    }

    #[test]
    fn a_tenant_wakes_one_of_the_workers_that_wait_for_it() {
        let ready = ReadyTenants::default();
        let (_other, other) = waiting(&ready, "globex");
        let (_first, first) = waiting(&ready, "acme");
        let (_second, second) = waiting(&ready, "acme");
        let acme = tenant("acme");
        ready.announce(&acme);
        ready.announce(&acme);
        assert_eq!((wakes(&other), wakes(&first), wakes(&second)), (0, 1, 0));
        ready.announce_again(&acme);
        assert_eq!((wakes(&other), wakes(&first), wakes(&second)), (0, 1, 1));
    }
}
