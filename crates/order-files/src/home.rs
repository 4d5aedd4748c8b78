//! Makes the tenants of members, with their directories.

use crate::exchange::Shared;
use crate::member::{orders_in, orders_out, tenant_of};
use rialto_clock::Timestamp;
use rialto_depot::{DepotError, Directory, DirectoryKind, Quota};
use rialto_model::MemberId;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most members whose directories are made at a time.
const HOMES_AT_ONCE: usize = 256;

/// A member whose directories could not be made waits this long for the next attempt.
const RETRY_PERIOD: Duration = Duration::from_secs(10);

/// The members whose directories were made, or looked at, since the start; and those whose directories
/// could not be made, with the time of the next attempt.
#[derive(Default)]
pub(crate) struct Homes {
    ready: Mutex<HashSet<MemberId>>,
    failed: Mutex<HashMap<MemberId, Timestamp>>,
}

impl Homes {
    fn ready(&self) -> MutexGuard<'_, HashSet<MemberId>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self) -> MutexGuard<'_, HashMap<MemberId, Timestamp>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes what a member lacks. An answer that came before its shelf would be work.
    pub(crate) fn make(&self, shared: &Shared, member: MemberId) -> Result<(), DepotError> {
        let mut ready = self.ready();
        // The tenant may have been deleted meanwhile, and made again by an upload.
        let shelf = shared.depot.directory_kind(&tenant_of(member), &orders_out());
        if !ready.contains(&member) || !matches!(shelf, Ok(DirectoryKind::Shelf)) {
            make_home(shared, member)?;
            ready.insert(member);
        }
        Ok(())
    }

    /// Makes what members of the venue lack.
    pub(crate) fn make_all(&self, shared: &Shared) {
        let now = shared.clock.now();
        let missing: Vec<MemberId> = {
            let (ready, failed) = (self.ready(), self.failed());
            let waits = |member: &MemberId| failed.get(member).is_some_and(|next| *next > now);
            let feed = shared.live.read();
            let members = feed.members().map(|view| view.member);
            let missing = members.filter(|member| !ready.contains(member) && !waits(member));
            missing.take(HOMES_AT_ONCE).collect()
        };
        for member in missing {
            match self.make(shared, member) {
                Ok(()) => {
                    self.failed().remove(&member);
                }
                Err(DepotError::Closed) => return,
                // The other members have theirs; each file of this one tries again, too.
                Err(error) => {
                    let is_known = self.failed().insert(member, now.after(RETRY_PERIOD)).is_some();
                    if !is_known {
                        let member = member.0;
                        tracing::warn!(
                            member,
                            "the directories of a member were not made: {error}"
                        );
                    }
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
