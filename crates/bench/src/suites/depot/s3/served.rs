//! A pool behind S3 on a free port.

use super::Way;
use super::client::Call;
use crate::error::{BenchError, broken, verify};
use crate::suite::Context;
use crate::suites::depot::pool::{Pool, Setup};
use rialto_api::{DepotGrant, DepotRight, TenantPattern};
use rialto_depot::{Directory, DirectoryKind, Quota, TenantName};
use rialto_depot_desk::{DepotBus, DepotLimits, DepotPrincipal};
use rialto_queue::Level;
use rialto_s3::signing::Signed;
use rialto_s3::{S3Options, S3Server, S3Traffic, SigningKey, SigningKeys};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

const BUCKET: &str = "acme";
const ID: &str = "rk_bench";
const SECRET: &str = "0123456789abcdef0123456789abcdef";
const DEADLINE: Duration = Duration::from_secs(60);

/// One key, whose requests are not limited.
struct OneKey(SigningKey);

impl SigningKeys for OneKey {
    fn find(&self, id: &str) -> Option<SigningKey> {
        (self.0.id == id).then(|| self.0.clone())
    }

    fn take_request(&self, _: &str) -> bool {
        true
    }

    fn take_of_address(&self, _: IpAddr) -> bool {
        true
    }
}

pub(super) struct Served {
    server: S3Server,
    /// Ends the waits of the bus when it goes.
    _stop: watch::Sender<bool>,
    pool: Pool,
}

impl Served {
    pub(super) fn start(
        context: &mut Context<'_>,
        case: &str,
        level: Level,
        threads: usize,
    ) -> Result<Served, BenchError> {
        let pool = Pool::open(context, case, Setup::at(level))?;
        let tenant = TenantName::new(BUCKET).map_err(pool.failed("name a tenant"))?;
        let made = pool.depot.create_tenant(&tenant, Quota::default());
        made.map_err(pool.failed("make a tenant"))?;
        let (root, shelf) = (Directory::root(), Some(DirectoryKind::Shelf));
        let set = pool.depot.set_directory(&tenant, &root, shelf, Quota::default());
        set.map_err(pool.failed("make a shelf"))?;
        let (stop, stopped) = watch::channel(false);
        let limits = DepotLimits::default();
        let bus = Arc::new(DepotBus::open(pool.depot.clone(), limits, stopped, None));
        let tenants = TenantPattern::new(BUCKET).map_err(pool.failed("grant a tenant"))?;
        let rights = vec![DepotRight::Read, DepotRight::Write];
        let principal = DepotPrincipal::new(ID, [DepotGrant { tenants, rights }]);
        let secrets = vec![SECRET.to_owned()];
        let keys = Arc::new(OneKey(SigningKey { id: ID.to_owned(), secrets, principal }));
        let options = S3Options {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            worker_threads: threads,
            // That of the bare route.
            nice: 0,
            ..S3Options::default()
        };
        let server = S3Server::start(options, bus, keys, Arc::<S3Traffic>::default());
        let server = server.map_err(pool.failed("start the server"))?;
        Ok(Served { server, _stop: stop, pool })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// A signed request for an object of its own, made before the measurement.
    pub(super) fn call(&self, way: Way, nth: u64, content: &[u8]) -> Call {
        let target = format!("/{BUCKET}/object-{nth}");
        let request = match way {
            Way::Put => Signed::new((ID, SECRET), "PUT", &target, content),
            Way::Get => Signed::new((ID, SECRET), "GET", &target, b""),
        };
        Call { head: request.kept_alive().head() }
    }

    /// The objects that the pool has.
    pub(super) fn objects(&self) -> u64 {
        self.pool.depot.used(BUCKET).map_or(0, |(files, _)| files)
    }

    pub(super) fn end(self) -> Result<(), BenchError> {
        let Served { server, pool, .. } = self;
        let is_done = server.shutdown(DEADLINE);
        verify(&pool.case, "whether every request was finished", is_done, true)?;
        pool.depot.close().map_err(broken(&pool.case, "close a pool"))
    }
}
