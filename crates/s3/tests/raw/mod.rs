//! A server with a depot of its own, and a client that writes requests byte by byte.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub(crate) use rialto_s3::signing::Signed;

use rialto_api::{DepotGrant, DepotRight, TenantPattern};
use rialto_depot::{Depot, DepotOptions, Directory, DirectoryKind, Quota, TenantName};
use rialto_depot_desk::{DepotBus, DepotLimits, DepotPrincipal};
use rialto_s3::{S3Options, S3Server, S3Traffic, SigningKey, SigningKeys};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;

pub(crate) const ID: &str = "rk_1";
pub(crate) const SECRET: &str = "5ec4e7";

/// A request of the key [`ID`].
pub(crate) fn signed(method: &str, target: &str, body: &[u8]) -> Signed {
    Signed::new((ID, SECRET), method, target, body)
}

pub(crate) fn put(key: &str, body: &[u8]) -> Signed {
    signed("PUT", &format!("/acme/{key}"), body)
}

pub(crate) fn get(key: &str) -> Signed {
    signed("GET", &format!("/acme/{key}"), b"")
}

/// Keys in memory.
#[derive(Default)]
pub(crate) struct Keys {
    pub(crate) keys: Mutex<HashMap<String, SigningKey>>,
    /// The requests that a key, and an address, may still make.
    pub(crate) key_requests: AtomicI64,
    pub(crate) address_requests: AtomicI64,
}

impl SigningKeys for Keys {
    fn find(&self, id: &str) -> Option<SigningKey> {
        self.keys.lock().unwrap().get(id).cloned()
    }

    fn take_request(&self, _: &str) -> bool {
        self.key_requests.fetch_sub(1, Ordering::Relaxed) > 0
    }

    fn take_of_address(&self, _: IpAddr) -> bool {
        self.address_requests.fetch_sub(1, Ordering::Relaxed) > 0
    }
}

impl Keys {
    pub(crate) fn add(&self, id: &str, secrets: &[&str], tenants: &str, rights: &[DepotRight]) {
        let tenants = TenantPattern::new(tenants).unwrap();
        let grant = DepotGrant { tenants, rights: rights.to_vec() };
        let principal = DepotPrincipal::new(id, [grant]);
        let secrets = secrets.iter().map(ToString::to_string).collect();
        let key = SigningKey { id: id.to_owned(), secrets, principal };
        self.keys.lock().unwrap().insert(id.to_owned(), key);
    }
}

/// A server with a depot whose tenant `acme` is a shelf.
pub(crate) struct World {
    pub(crate) depot: Depot,
    pub(crate) keys: Arc<Keys>,
    pub(crate) traffic: Arc<S3Traffic>,
    pub(crate) server: S3Server,
    pub(crate) bus: Arc<DepotBus>,
    _stop: watch::Sender<bool>,
    _dir: tempfile::TempDir,
}

pub(crate) fn tenant(name: &str) -> TenantName {
    TenantName::new(name).unwrap()
}

/// Waits for a condition.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < end, "it did not come about: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl World {
    pub(crate) fn new() -> World {
        World::with(S3Options::default(), DepotLimits::default())
    }

    pub(crate) fn with(options: S3Options, limits: DepotLimits) -> World {
        World::with_depot(options, limits, |_| {})
    }

    pub(crate) fn with_depot(
        options: S3Options,
        limits: DepotLimits,
        change: impl FnOnce(&mut DepotOptions),
    ) -> World {
        let dir = tempfile::tempdir().unwrap();
        let mut depot_options = DepotOptions::at(dir.path());
        change(&mut depot_options);
        let depot = Depot::open(depot_options).unwrap();
        for name in ["acme", "theirs"] {
            depot.create_tenant(&tenant(name), Quota::default()).unwrap();
            let shelf = Some(DirectoryKind::Shelf);
            let root = Directory::root();
            depot.set_directory(&tenant(name), &root, shelf, Quota::default()).unwrap();
        }
        let (stop, stopped) = watch::channel(false);
        let bus = Arc::new(DepotBus::open(depot.clone(), limits, stopped, None));
        let keys = Arc::new(Keys::default());
        keys.key_requests.store(1_000_000, Ordering::Relaxed);
        keys.address_requests.store(1_000_000, Ordering::Relaxed);
        keys.add(ID, &[SECRET], "acme", &[DepotRight::Read, DepotRight::Write]);
        let options = S3Options { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..options };
        let traffic = Arc::<S3Traffic>::default();
        let server =
            S3Server::start(options, Arc::clone(&bus), keys.clone(), traffic.clone()).unwrap();
        World { depot, keys, traffic, server, bus, _stop: stop, _dir: dir }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.local_addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends a request whose body is whole.
    pub(crate) fn send(&self, request: &Signed) -> Answer {
        let mut stream = self.connect();
        let mut bytes = request.head();
        bytes.extend_from_slice(&request.wire());
        // A server that refuses the rest has answered.
        let _ = stream.write_all(&bytes);
        Answer::read(&mut stream)
    }

    /// The number of files of the tenant `acme`, those being written included, when nothing is in
    /// progress.
    pub(crate) fn files(&self) -> u64 {
        until("nothing is in progress", || self.traffic.requests() == 0 && self.bus.uploads() == 0);
        self.depot.used("acme").unwrap().0
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn read(stream: &mut TcpStream) -> Answer {
        let mut bytes = Vec::new();
        // A connection that is broken after the answer is no matter.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// The status, and the code of the error.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        let code = self.body.split("<Code>").nth(1).and_then(|rest| rest.split("</Code>").next());
        (self.status, code.unwrap_or_default())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let value = |line: &'_ str| line.strip_prefix(name)?.strip_prefix(": ").map(str::len);
        let line = self.head.lines().find(|line| value(line).is_some())?;
        Some(&line[name.len() + 2..])
    }
}
