//! Makes the tenants of members, with their directories.

use crate::exchange::Shared;
use crate::member::{orders_in, orders_out, tenant_of};
use rialto_depot::{DepotError, Directory, DirectoryKind, Quota};
use rialto_model::MemberId;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most members whose directories are made at a time.
const HOMES_AT_ONCE: usize = 256;

/// The members whose directories were made, or looked at, since the start.
#[derive(Default)]
pub(crate) struct Homes(Mutex<HashSet<MemberId>>);

impl Homes {
    fn ready(&self) -> MutexGuard<'_, HashSet<MemberId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes what a member lacks. An answer that came before its shelf would be work.
    pub(crate) fn make(&self, shared: &Shared, member: MemberId) -> Result<(), DepotError> {
        let mut ready = self.ready();
        if !ready.contains(&member) {
            make_home(shared, member)?;
            ready.insert(member);
        }
        Ok(())
    }

    /// Makes what members of the venue lack.
    pub(crate) fn make_all(&self, shared: &Shared) {
        let missing: Vec<MemberId> = {
            let ready = self.ready();
            let feed = shared.live.read();
            let members = feed.members().map(|view| view.member);
            members.filter(|member| !ready.contains(member)).take(HOMES_AT_ONCE).collect()
        };
        for member in missing {
            match self.make(shared, member) {
                Ok(()) => {}
                Err(DepotError::Closed) => return,
                Err(error) => {
                    let member = member.0;
                    tracing::warn!(member, "the directories of a member were not made: {error}");
                    // They are made with the first file of the member.
                    return;
                }
            }
        }
    }
}

/// Settings of the operator stay.
fn make_home(shared: &Shared, member: MemberId) -> Result<(), DepotError> {
    let (depot, name) = (&shared.depot, tenant_of(member));
    match depot.create_tenant(&name, Quota::default()) {
        Ok(()) | Err(DepotError::TenantExists(_)) => {}
        Err(error) => return Err(error),
    }
    let info = depot.tenant(&name)?;
    // Files elsewhere are kept, so that only orders are claimed.
    let kinds = [
        (orders_in(), DirectoryKind::Work),
        (orders_out(), DirectoryKind::Shelf),
        (Directory::root(), DirectoryKind::Shelf),
    ];
    for (directory, kind) in kinds {
        let set = info.directories.iter().find(|it| it.directory == directory);
        if set.is_none_or(|set| set.kind.is_none()) {
            let quota = set.map_or(Quota::default(), |set| set.quota);
            depot.set_directory(&name, &directory, Some(kind), quota)?;
        }
    }
    Ok(())
}
