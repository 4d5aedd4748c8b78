//! A complete venue behind a real socket: engine in a temporary directory, live feed, keys,
//! gateway; and a small HTTP client.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

pub mod described;

use rialto_depot::{Depot, DepotOptions, Level as DepotLevel};
use rialto_desk::{Live, LiveConfig, OrderRate, VenueParts};
use rialto_disk::RealDisk;
use rialto_engine::{Clock, Engine, EngineConfig, Sources};
use rialto_flow::store::MemoryStore;
use rialto_gateway::{
    AdminKey, Gateway, GatewayConfig, GatewayParts, KeyStore, MasterKey, Secret, SignRequest,
    now_us,
};
use rialto_payments::{PaymentOptions, Payments};
use rialto_queue::{Queue, QueueOptions};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An API key with its secret.
#[derive(Clone)]
pub struct Key {
    pub id: String,
    pub secret: Secret,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Value,
    /// The body.
    pub bytes: Vec<u8>,
}

impl Reply {
    /// The error's code, or an empty text.
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    /// The error's field, or an empty text.
    pub fn field(&self) -> &str {
        self.body["error"]["field"].as_str().unwrap_or_default()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }

    /// Asserts an error with this status and code.
    #[track_caller]
    pub fn refuses(self, status: u16, code: &str) -> Reply {
        assert_eq!((self.status, self.code()), (status, code), "{}", self.body);
        let error = self.body["error"].as_object().unwrap();
        assert!(error["message"].as_str().unwrap().ends_with(['.', '?']), "{}", self.body);
        assert_eq!(self.body.as_object().unwrap().len(), 1);
        self
    }
}

/// A connection that is kept alive.
pub struct Client {
    stream: TcpStream,
    left: Vec<u8>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { stream, left: Vec::new() }
    }

    /// Connects from an address of 127.0.0.0/8, all of which are local.
    pub fn connect_from(source: [u8; 4], address: SocketAddr) -> Client {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let stream = runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind((source, 0).into()).unwrap();
            socket.connect(address).await.unwrap().into_std().unwrap()
        });
        stream.set_nonblocking(false).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { stream, left: Vec::new() }
    }

    /// Sends bytes unchanged.
    pub fn raw(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes)
    }

    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: rialto\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(body);
        // An error may arrive before all is sent; then the answer counts.
        let _ = self.stream.write_all(&bytes);
        let reply = self.read().unwrap();
        if reply.head.contains("content-type: application/json") {
            described::check_answer(method, path, reply.status, &reply.body);
        }
        reply
    }

    /// Reads one answer.
    pub fn read(&mut self) -> std::io::Result<Reply> {
        let mut more = |left: &mut Vec<u8>| {
            let mut buffer = [0; 16_384];
            let read = self.stream.read(&mut buffer)?;
            left.extend_from_slice(&buffer[..read]);
            match read {
                0 => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
                _ => Ok(()),
            }
        };
        let end = loop {
            match self.left.windows(4).position(|four| four == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => more(&mut self.left)?,
            }
        };
        let head = String::from_utf8(self.left.drain(..end).collect()).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head.split("content-length: ").nth(1);
        let length = length.map_or(0, |rest| rest.split("\r\n").next().unwrap().parse().unwrap());
        while self.left.len() < length {
            more(&mut self.left)?;
        }
        let bytes: Vec<u8> = self.left.drain(..length).collect();
        let is_json = head.contains("content-type: application/json");
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let body = if is_json { serde_json::from_slice(&bytes).unwrap() } else { text() };
        Ok(Reply { status, head, body, bytes })
    }
}

static NONCE: AtomicU64 = AtomicU64::new(0);

/// The headers of a signed request.
pub fn signed(key: &Key, method: &str, path: &str, body: &[u8]) -> Vec<(&'static str, String)> {
    signed_at(key, now_us(), method, path, body)
}

pub fn signed_at(
    key: &Key,
    time_us: u64,
    method: &str,
    path: &str,
    body: &[u8],
) -> Vec<(&'static str, String)> {
    let nonce = NONCE.fetch_add(1, Ordering::Relaxed).to_string();
    let (timestamp_us, nonce, durability) = (time_us, &*nonce, "");
    let signed = SignRequest { timestamp_us, nonce, method, path, durability, body };
    let mut headers = signed.headers(&key.id, key.secret.as_bytes());
    headers.push(("Content-Type", "application/json".to_owned()));
    headers
}

/// The headers of a signed request with this durability.
pub fn signed_durably(
    key: &Key,
    durability: &str,
    method: &str,
    path: &str,
    body: &[u8],
) -> Vec<(&'static str, String)> {
    let (timestamp_us, nonce) = (now_us(), "");
    let signed = SignRequest { timestamp_us, nonce, method, path, durability, body };
    let mut headers = signed.headers(&key.id, key.secret.as_bytes());
    headers.push(("Content-Type", "application/json".to_owned()));
    headers
}

/// The headers of a request with a signature of scheme 1.
pub fn signed_1(key: &Key, method: &str, path: &str, body: &[u8]) -> Vec<(&'static str, String)> {
    let nonce = NONCE.fetch_add(1, Ordering::Relaxed).to_string();
    let (timestamp_us, durability) = (now_us(), "");
    let signed = SignRequest { timestamp_us, nonce: &nonce, method, path, durability, body };
    vec![
        ("X-Rialto-Key", key.id.clone()),
        ("X-Rialto-Timestamp", timestamp_us.to_string()),
        ("X-Rialto-Signature", signed.sign_scheme_1(key.secret.as_bytes())),
        ("X-Rialto-Nonce", nonce),
        ("Content-Type", "application/json".to_owned()),
    ]
}

/// The head of a request, with `more` as its last header.
pub fn head_of(method: &str, path: &str, headers: &[(&str, String)], more: &str) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: rialto\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{head}{more}\r\n\r\n")
}

/// Waits until a restarted venue accepts signatures, as its error says.
pub fn wait_for_signatures(refusal: &Value) {
    let message = refusal["error"]["message"].as_str().unwrap();
    let numbers = message.split(|byte: char| !byte.is_ascii_digit());
    let until_us: u64 = numbers.filter_map(|text| text.parse().ok()).max().unwrap();
    while now_us() <= until_us {
        std::thread::yield_now();
    }
}

/// The header with this name.
pub fn header<'a>(headers: &'a mut [(&'static str, String)], name: &str) -> &'a mut String {
    let found = headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name));
    &mut found.unwrap_or_else(|| panic!("no {name}")).1
}

/// A venue for tests.
pub struct TestVenue {
    pub gateway: Option<Gateway>,
    pub payments: Option<Payments>,
    pub live: Arc<Live>,
    pub engine: Option<Arc<Engine>>,
    pub keys: Arc<KeyStore>,
    pub depot: Option<Depot>,
    pub admin: AdminKey,
    pub address: SocketAddr,
    pub dir: tempfile::TempDir,
}

pub fn config() -> GatewayConfig {
    GatewayConfig {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        key_rate: 1_000_000,
        key_burst: 1_000_000,
        address_rate: 1_000_000,
        address_burst: 1_000_000,
        // On a busy machine, queries may be far behind.
        min_seq_wait: Duration::from_secs(60),
        ..GatewayConfig::default()
    }
}

impl TestVenue {
    /// An empty venue.
    pub fn empty(config: GatewayConfig) -> TestVenue {
        TestVenue::with_engine(config, EngineConfig::default())
    }

    pub fn with_engine(config: GatewayConfig, engine: EngineConfig) -> TestVenue {
        TestVenue::open(config, engine, LiveConfig::default(), Sources::system().clock)
    }

    pub fn with_clock(
        config: GatewayConfig,
        engine: EngineConfig,
        clock: Arc<dyn Clock>,
    ) -> TestVenue {
        TestVenue::open(config, engine, LiveConfig::default(), clock)
    }

    pub fn with_live(config: GatewayConfig, live: LiveConfig) -> TestVenue {
        TestVenue::open(config, EngineConfig::default(), live, Sources::system().clock)
    }

    /// A venue with a depot, whose options `change` changes.
    pub fn with_depot(
        config: GatewayConfig,
        change: impl FnOnce(DepotOptions) -> DepotOptions,
    ) -> TestVenue {
        let dir = tempfile::tempdir().unwrap();
        let options = DepotOptions::at(dir.path().join("depot")).level(DepotLevel::Buffered);
        let depot = Depot::open(change(options)).unwrap();
        let (engine, live) = (EngineConfig::default(), LiveConfig::default());
        TestVenue::open_in(dir, config, engine, live, Sources::system().clock, Some(depot), 0)
    }

    /// A venue with a market, whose members may enter this many orders in a second.
    pub fn with_order_rate(per_second: u32) -> (TestVenue, Key, Key) {
        let dir = tempfile::tempdir().unwrap();
        let (engine, live) = (EngineConfig::default(), LiveConfig::default());
        let clock = Sources::system().clock;
        let venue = TestVenue::open_in(dir, config(), engine, live, clock, None, per_second);
        venue.with_members()
    }

    fn open(
        config: GatewayConfig,
        engine: EngineConfig,
        live: LiveConfig,
        clock: Arc<dyn Clock>,
    ) -> TestVenue {
        let dir = tempfile::tempdir().unwrap();
        TestVenue::open_in(dir, config, engine, live, clock, None, 0)
    }

    fn open_in(
        dir: tempfile::TempDir,
        mut config: GatewayConfig,
        engine: EngineConfig,
        live: LiveConfig,
        clock: Arc<dyn Clock>,
        depot: Option<Depot>,
        order_rate: u32,
    ) -> TestVenue {
        let engine = EngineConfig {
            data_dir: dir.path().join("data"),
            segment_bytes: 4 << 20,
            // A busy machine may delay the disk, or the thread that waits for it, for a second.
            io_stalled_after: Duration::from_secs(30),
            ..engine
        };
        config.backup_dir = Some(dir.path().join("backups"));
        let sources = Sources { clock, ..Sources::system() };
        let (engine, _) = Engine::start_with(engine, Arc::new(RealDisk::new()), sources).unwrap();
        let engine = Arc::new(engine);
        let live = Live::start(&engine, live).unwrap();
        let auth = dir.path().join("data/auth");
        let opened = KeyStore::open(&auth, &MasterKey::Given([9; 32])).unwrap();
        let keys = Arc::new(opened.keys);
        let store = Arc::new(MemoryStore::default());
        let venue = VenueParts::new(Arc::clone(&engine), Arc::clone(&live));
        let payments = Payments::open(venue, store, PaymentOptions::default()).unwrap();
        let queue = Queue::open(QueueOptions::in_memory()).unwrap();
        let venue = VenueParts::new(Arc::clone(&engine), Arc::clone(&live))
            .with_order_rate(Arc::new(OrderRate::new(order_rate)));
        let parts = GatewayParts {
            payments: Some(payments.bus()),
            queue: Some(queue),
            order_files: depot.is_some().then(Default::default),
            depot: depot.clone(),
            ..GatewayParts::default()
        };
        let gateway = Gateway::start_with(config, venue, Arc::clone(&keys), parts).unwrap();
        TestVenue {
            address: gateway.local_addr(),
            payments: Some(payments),
            gateway: Some(gateway),
            live,
            engine: Some(engine),
            keys,
            depot,
            admin: opened.new_admin_key.unwrap(),
            dir,
        }
    }

    /// A venue with the market BTC-USD, and two funded members with one account and key each.
    pub fn with_market(config: GatewayConfig) -> (TestVenue, Key, Key) {
        TestVenue::empty(config).with_members()
    }

    fn with_members(self) -> (TestVenue, Key, Key) {
        self.create_market();
        let (alice, bob) = (self.member("alice"), self.member("bob"));
        (self, alice, bob)
    }

    pub fn create_market(&self) {
        for (code, scale) in [("BTC", 8), ("USD", 6)] {
            let body = json!({"code": code, "scale": scale});
            self.operate("POST", "/v1/admin/currencies", body).expect(201);
        }
        let body = json!({
            "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 4, "tick": "0.01", "lot": "0.0001", "maker_fee_ppm": 100,
            "taker_fee_ppm": 200,
        });
        self.operate("POST", "/v1/admin/instruments", body).expect(201);
    }

    /// A member with one funded account, and a key with all scopes but admin.
    pub fn member(&self, name: &str) -> Key {
        let member = self.operate("POST", "/v1/admin/members", json!({"name": name})).expect(201);
        let member = member["member"].as_u64().unwrap();
        let body = json!({"member": member, "name": name});
        let account = self.operate("POST", "/v1/admin/accounts", body).expect(201);
        let account = account["account"].as_u64().unwrap();
        for (currency, amount) in [("BTC", "10"), ("USD", "1000000")] {
            let body = json!({
                "account": account, "currency": currency, "amount": amount,
                "reference": format!("{name}-{currency}"),
            });
            self.operate("POST", "/v1/admin/deposits", body).expect(201);
        }
        self.key(member, &["read", "trade", "transfer"])
    }

    pub fn key(&self, member: u64, scopes: &[&str]) -> Key {
        let body = json!({"member": member, "scopes": scopes});
        key_of(&self.operate("POST", "/v1/admin/keys", body).expect(201))
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// A connection to the address of probes and operators.
    pub fn operator(&self) -> Client {
        Client::connect(self.gateway.as_ref().unwrap().operations_addr().unwrap())
    }

    /// A request with the admin key.
    pub fn operate(&self, method: &str, path: &str, body: Value) -> Reply {
        let headers = [
            ("Authorization", format!("Bearer {}", self.admin.reveal())),
            ("Content-Type", "application/json".to_owned()),
        ];
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.client().send(method, path, &headers, &body)
    }

    /// A signed request. A restarted venue refuses signatures for a second; then it is signed
    /// again.
    pub fn ask(&self, key: &Key, method: &str, path: &str, body: Value) -> Reply {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.ask_bytes(key, method, path, &body)
    }

    pub fn ask_bytes(&self, key: &Key, method: &str, path: &str, body: &[u8]) -> Reply {
        loop {
            let reply = self.client().send(method, path, &signed(key, method, path, body), body);
            if reply.status != 401 || !reply.head.contains("retry-after: 1") {
                return reply;
            }
            wait_for_signatures(&reply.body);
        }
    }

    /// An unsigned request.
    pub fn get(&self, path: &str) -> Reply {
        self.client().send("GET", path, &[], b"")
    }

    /// A signed GET of the state after `seq`.
    pub fn see(&self, key: &Key, path: &str, seq: &Value) -> Value {
        let mark = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{mark}min_seq={}", seq.as_str().unwrap());
        self.ask(key, "GET", &path, Value::Null).expect(200)
    }

    /// A metric on the page without a key.
    pub fn metric(&self, name: &str) -> f64 {
        let page = self.get("/metrics").expect(200);
        let line = page
            .as_str()
            .unwrap()
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
        line.unwrap_or_else(|| panic!("no {name}")).parse().unwrap()
    }

    pub fn place(&self, key: &Key, order: Value) -> Reply {
        self.ask(key, "POST", "/v1/orders", order)
    }
}

/// The key in an answer with its secret.
pub fn key_of(body: &Value) -> Key {
    Key {
        id: body["id"].as_str().unwrap().to_owned(),
        secret: Secret::from_hex(body["secret"].as_str().unwrap()).unwrap(),
    }
}

/// A limit order on BTC-USD.
pub fn limit(side: &str, quantity: &str, price: &str) -> Value {
    json!({"instrument": "BTC-USD", "side": side, "quantity": quantity, "price": price})
}

/// `base` with other fields.
pub fn with(mut base: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        base[name] = value.clone();
    }
    base
}

impl Drop for TestVenue {
    fn drop(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            gateway.shutdown(Duration::from_secs(5));
        }
        self.payments = None;
        if let Some(depot) = self.depot.take() {
            let _ = depot.close();
        }
        self.live.stop();
        if let Some(engine) = self.engine.take() {
            engine.shutdown(Duration::from_secs(5));
        }
    }
}
