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
        tenant.announcements.fetch_add(1, Ordering::AcqRel);
        self.queue(tenant);
    }

    fn queue(&self, tenant: &Arc<Tenant>) {
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
            self.queue(tenant);
        }
    }

    /// The next tenant that `may` allows, which moves behind the others. It stays in the ring, so that
    /// a simultaneous claim finds it, too.
    pub(crate) fn next(&self, may: impl Fn(&TenantName) -> bool) -> Option<NextTenant> {
        let mut inner = self.inner();
        let place = inner.ring.iter().position(|tenant| may(&tenant.name))?;
        let tenant = inner.ring.remove(place)?;
        inner.ring.push_back(tenant.clone());
        let announcements = tenant.announcements.load(Ordering::Acquire);
        Some(NextTenant { tenant, announcements })
    }

    /// Takes a tenant out of the ring in which nothing was found to claim. One that was announced since
    /// it was looked at stays, and wakes a worker: that announcement woke none.
    pub(crate) fn retire(&self, looked_at: &NextTenant) {
        let NextTenant { tenant, announcements } = looked_at;
        let is_announced = || tenant.announcements.load(Ordering::Acquire) != *announcements;
        if !is_announced() {
            let mut inner = self.inner();
            let place = inner.ring.iter().position(|it| Arc::ptr_eq(it, tenant));
            // Otherwise another claim has retired it.
            if let Some(place) = place {
                inner.ring.remove(place);
                tenant.is_queued.swap(false, Ordering::AcqRel);
            }
        }
        // Read after the flag was swapped: an announcement that still saw the flag is seen here.
        if is_announced() {
            self.announce_again(tenant);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.inner().ring.len()
    }

    /// A wait for a tenant that `may` allows.
    pub(crate) fn wait(&self, may: MayWork) -> Waiting<'_> {
        Waiting { ready: self, may: Arc::new(may), number: None }
    }
}

/// A tenant of the ring that a claim looks at.
pub(crate) struct NextTenant {
    pub(crate) tenant: Arc<Tenant>,
    /// Its announcements when the claim began to look.
    announcements: u64,
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
    #[test]
    fn a_simultaneous_claim_finds_the_tenant_that_another_one_looks_at() {
        let ready = ReadyTenants::default();
        let (acme, globex) = (tenant("acme"), tenant("globex"));
        ready.announce(&acme);
        ready.announce(&globex);
        let names = (0..4).map(|_| ready.next(|_| true).unwrap().tenant.name.as_str().to_owned());
        assert_eq!(names.collect::<Vec<_>>(), ["acme", "globex", "acme", "globex"]);
        let looked_at = ready.next(|name| name.as_str() == "acme").unwrap();
        ready.retire(&looked_at);
        ready.retire(&looked_at);
        assert!(ready.next(|name| name.as_str() == "acme").is_none());
        assert_eq!(ready.len(), 1);
    }

    #[test]
    fn a_tenant_that_is_announced_while_it_is_looked_at_stays_and_wakes_a_worker() {
        let ready = ReadyTenants::default();
        let acme = tenant("acme");
        let (_wait, count) = waiting(&ready, "acme");
        let (_second, second) = waiting(&ready, "acme");
        ready.announce(&acme);
        let looked_at = ready.next(|_| true).unwrap();
        ready.announce(&acme);
        assert_eq!((wakes(&count), wakes(&second)), (1, 0));
        ready.retire(&looked_at);
        assert_eq!((wakes(&count), wakes(&second)), (1, 1));
        assert_eq!(ready.len(), 1);
        // Nothing was announced since, so that it goes, and wakes nobody.
        ready.retire(&ready.next(|_| true).unwrap());
        assert_eq!((wakes(&count), wakes(&second), ready.len()), (1, 1, 0));
    }
}
