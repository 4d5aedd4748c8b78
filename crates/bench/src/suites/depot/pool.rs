//! A pool of one measurement.

use crate::error::{BenchError, broken};
use crate::suite::{Context, FreshDirectory};
use rialto_depot::{Depot, DepotOptions, Directory, DirectoryKind, NewFile, Quota, TenantName};
use rialto_queue::Level;
use std::path::Path;
use std::time::Duration;

/// The levels on disk.
pub(super) const LEVELS: [Level; 2] = [Level::Buffered, Level::Synced];

/// The shelf of a tenant.
const SHELF: &str = "kept";

/// A pool, and the directory that goes with it.
pub(super) struct Pool {
    pub(super) case: String,
    pub(super) depot: Depot,
    directory: FreshDirectory,
}

/// How a pool is set up.
#[derive(Clone, Copy)]
pub(super) struct Setup {
    pub(super) level: Level,
    /// Files up to this length travel in their message.
    pub(super) inline_bytes_max: usize,
    pub(super) has_sha256: bool,
}

impl Setup {
    /// As a new pool is, at a level.
    pub(super) fn at(level: Level) -> Setup {
        Setup { level, inline_bytes_max: 16 << 10, has_sha256: true }
    }

    pub(super) fn options(self, directory: &Path) -> DepotOptions {
        let mut options = DepotOptions::at(directory).level(self.level);
        options.inline_bytes_max = self.inline_bytes_max;
        options.volumes.sha256 = self.has_sha256;
        // No file is handed out again during a measurement.
        options.claim_duration = Duration::from_secs(3_600);
        options
    }
}

impl Pool {
    pub(super) fn open(
        context: &mut Context<'_>,
        case: &str,
        setup: Setup,
    ) -> Result<Pool, BenchError> {
        Pool::open_in(context.fresh_directory()?, case, setup)
    }

    pub(super) fn open_in(
        directory: FreshDirectory,
        case: &str,
        setup: Setup,
    ) -> Result<Pool, BenchError> {
        let depot = Depot::open(setup.options(directory.path()));
        let depot = depot.map_err(broken(case, "open a pool"))?;
        Ok(Pool { case: case.to_owned(), depot, directory })
    }

    /// Closes the pool and opens it again.
    pub(super) fn reopen(self, setup: Setup) -> Result<Pool, BenchError> {
        self.reopen_after(setup, |_, _| Ok(()))
    }

    /// Closes the pool, does something in its directory, which nobody has open then, and opens it again.
    pub(super) fn reopen_after(
        self,
        setup: Setup,
        act: impl FnOnce(&str, &Path) -> Result<(), BenchError>,
    ) -> Result<Pool, BenchError> {
        let Pool { case, depot, directory } = self;
        depot.close().map_err(broken(&case, "close a pool"))?;
        drop(depot);
        act(&case, directory.path())?;
        let depot = Depot::open(setup.options(directory.path()));
        let depot = depot.map_err(broken(&case, "open a pool again"))?;
        Ok(Pool { case, depot, directory })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Makes tenants with a work queue each, and a shelf.
    pub(super) fn tenants(&self, count: u64) -> Result<Vec<TenantName>, BenchError> {
        (0..count).map(|nth| self.tenant(&format!("tenant-{nth}"))).collect()
    }

    pub(super) fn tenant(&self, name: &str) -> Result<TenantName, BenchError> {
        let tenant = TenantName::new(name).map_err(self.failed("name a tenant"))?;
        let quota = Quota::default();
        self.depot.create_tenant(&tenant, quota).map_err(self.failed("make a tenant"))?;
        let shelf = Directory::new(SHELF).map_err(self.failed("name a directory"))?;
        let kind = Some(DirectoryKind::Shelf);
        let set = self.depot.set_directory(&tenant, &shelf, kind, quota);
        set.map_err(self.failed("make a shelf"))?;
        Ok(tenant)
    }

    pub(super) fn put(&self, tenant: &TenantName, content: &[u8]) -> Result<(), BenchError> {
        let stored = self.depot.put_bytes(tenant, NewFile::default(), content);
        stored.map(drop).map_err(broken(&self.case, "store a file"))
    }

    pub(super) fn failed<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        &self,
        doing: &'static str,
    ) -> impl FnOnce(E) -> BenchError {
        let case = self.case.clone();
        move |error| BenchError::Broken { case, doing, source: error.into() }
    }
}

/// A content without repetitions that another position has, too.
pub(super) fn content(bytes: usize, position: u64) -> Vec<u8> {
    let mut state = position.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut content = Vec::with_capacity(bytes + 8);
    while content.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        content.extend_from_slice(&state.to_le_bytes());
    }
    content.truncate(bytes);
    content
}
