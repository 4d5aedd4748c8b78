//! A venue with a depot and an exchange of order files, on a simulated disk.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_bus::{Context, Dispatch};
use rialto_clock::{Clock, SystemClock};
use rialto_depot::{Depot, DepotOptions, Directory, FileName, NewFile, TenantName};
use rialto_desk::{
    CreateAccount, CreateCurrency, CreateInstrument, CreateMember, Deposit, DeskBus, DeskConfig,
    Grant, Live, LiveConfig, OrderRate, Scope, Submission, SubmitBatch, VenueParts,
};
use rialto_disk::{Disk, SimDisk};
use rialto_engine::{Engine, EngineConfig, WaitStrategy};
use rialto_model::*;
use rialto_order_files::{
    OrderFileLimits, OrderFileOptions, OrderFiles, orders_in, orders_out, tenant_of,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

pub const ACME: MemberId = MemberId(1);
pub const BETA: MemberId = MemberId(2);
/// Two accounts of Acme's, and one of Beta's.
pub const ALICE: AccountId = AccountId(1);
pub const ANNA: AccountId = AccountId(2);
pub const BOB: AccountId = AccountId(3);
pub const LONG: Duration = Duration::from_secs(60);
pub const HEADER: &str = "account,instrument,side,quantity,price,label\n";

/// What stays when a venue ends.
pub struct Stage {
    pub disk: SimDisk,
    pub limits: OrderFileLimits,
    /// The clock of the depot.
    pub clock: Arc<dyn Clock>,
    pub depot: fn(&mut DepotOptions),
    pub engine: fn(&mut EngineConfig),
    /// The orders of a member in a second; 0 is no limit.
    pub order_rate: u32,
    salts: AtomicU64,
}

pub fn operator() -> Grant {
    Grant::new([Scope::Admin].into_iter().collect::<rialto_desk::Scopes>(), [])
}

impl Stage {
    pub fn new(seed: u64) -> Stage {
        let limits = OrderFileLimits { orders_per_second: 1_000_000, ..OrderFileLimits::default() };
        let disk = SimDisk::new(seed);
        let salts = AtomicU64::new(seed << 16);
        let clock = Arc::new(SystemClock);
        Stage { disk, limits, clock, depot: |_| {}, engine: |_| {}, order_rate: 0, salts }
    }

    fn salt(&self) -> [u8; 16] {
        u128::from(self.salts.fetch_add(1, Ordering::Relaxed) + 1).to_le_bytes()
    }

    pub fn options(&self) -> OrderFileOptions {
        OrderFileOptions {
            disk: Arc::new(self.disk.clone()),
            salt: self.salt(),
            limits: self.limits.clone(),
            ..OrderFileOptions::at("/data/order-files")
        }
    }

    /// The venue without the exchange. An error if the disk is gone.
    pub fn try_open(&self) -> Result<TestVenue, Box<dyn std::error::Error>> {
        let disk: Arc<dyn Disk> = Arc::new(self.disk.clone());
        let mut config = EngineConfig {
            data_dir: PathBuf::from("/data"),
            segment_bytes: 2 << 20,
            group_bytes_max: EngineConfig::GROUP_BYTES_MIN,
            snapshot_every: u64::MAX,
            wait: WaitStrategy { spins: 0, yields: 0 },
            ..EngineConfig::default()
        };
        (self.engine)(&mut config);
        let engine = Arc::new(Engine::start(config, Arc::clone(&disk))?.0);
        let live = Live::start(&engine, LiveConfig::default())?;
        let order_rate = Arc::new(OrderRate::new(self.order_rate));
        let parts = VenueParts::new(engine, live).with_order_rate(order_rate);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
        let desk = {
            let _inside = runtime.enter();
            DeskBus::open(parts.clone(), &DeskConfig::default())
        };
        let salt = self.salt();
        let count = Arc::new(AtomicU64::new(0));
        let mut options = DepotOptions::at("/pool");
        options.disk = disk;
        options.clock = self.clock.clone();
        options.salt = Arc::new(move || {
            let mut salt = salt;
            salt[8..].copy_from_slice(&count.fetch_add(1, Ordering::Relaxed).to_le_bytes());
            salt
        });
        options.volumes.free_bytes_min = 0;
        options.segment_bytes = 2 << 20;
        options.control_segment_bytes = 128 << 10;
        options.retry_delay = Duration::from_millis(10);
        options.retry_delay_max = Duration::from_millis(10);
        options.attempts_max = 100;
        (self.depot)(&mut options);
        let depot = Depot::open(options)?;
        Ok(TestVenue { exchange: None, depot, desk, parts, runtime })
    }

    /// The venue, with the exchange and two members.
    pub fn open(&self) -> TestVenue {
        let mut venue = self.try_open().unwrap();
        venue.list();
        venue.exchange(self.options());
        venue
    }
}

/// A running venue.
pub struct TestVenue {
    pub exchange: Option<OrderFiles>,
    pub depot: Depot,
    pub desk: DeskBus,
    pub parts: VenueParts,
    pub runtime: Runtime,
}

impl TestVenue {
    pub fn exchange(&mut self, options: OrderFileOptions) -> &OrderFiles {
        let exchange = OrderFiles::open(self.parts.clone(), self.depot.clone(), options).unwrap();
        self.exchange.insert(exchange)
    }

    fn send<R: rialto_desk::ToEngine>(&self, request: R)
    where
        DeskBus: rialto_bus::Serves<R>,
    {
        let operator = operator();
        let cx = Context::new().with_principal(&operator);
        self.runtime.block_on(self.desk.send(request, &cx)).unwrap();
    }

    /// Two members with accounts, and a market; all have money.
    pub fn list(&self) {
        let scale = |places| Scale::new(places).unwrap();
        for code in ["BTC", "USD"] {
            let code = code.parse().unwrap();
            self.send(CreateCurrency { code, scale: scale(8), level: None });
        }
        let spec = InstrumentSpec {
            symbol: "BTC-USD".parse().unwrap(),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: scale(2),
            quantity_scale: scale(4),
            rules: TradingRules {
                tick: Price(50),
                open_orders_max: 1_000,
                self_trade: SelfTrade::CancelNewest,
                ..TradingRules::unrestrained()
            },
        };
        self.send(CreateInstrument { spec, level: None });
        for (member, accounts) in [(ACME, &[ALICE, ANNA][..]), (BETA, &[BOB])] {
            let name = "name".parse().unwrap();
            self.send(CreateMember { member, name, level: None });
            for account in accounts {
                self.create_account(member, *account);
            }
        }
        self.settle();
    }

    fn create_account(&self, member: MemberId, account: AccountId) {
        let name = "name".parse().unwrap();
        self.send(CreateAccount { account, member, name, level: None });
        for currency in [1, 2].map(CurrencyId) {
            let reference = format!("in-{currency}").parse().unwrap();
            let amount = Amount(1 << 60);
            let transfer = Transfer { account, currency, amount, reference };
            self.send(Deposit { deposit: transfer.into(), level: None });
        }
    }

    /// Another account of a member, with money.
    pub fn add_account(&self, member: MemberId, account: AccountId) {
        self.create_account(member, account);
        self.settle();
    }

    /// Waits until the feed has seen everything.
    pub fn settle(&self) {
        let seq = self.parts.engine.released();
        until("the feed follows", || self.parts.live.seq() >= seq);
    }

    /// Orders of an account with other client order ids, none of which stays open.
    pub fn place_others(&self, account: AccountId, count: usize) {
        self.place(account, (0..count).map(|nth| format!("other-{nth}")));
    }

    /// Orders of an account with these client order ids, none of which stays open.
    pub fn place(&self, account: AccountId, names: impl Iterator<Item = String>) {
        let grant =
            Grant::new([Scope::Trade].into_iter().collect::<rialto_desk::Scopes>(), [account]);
        let cx = Context::new().with_principal(&grant);
        let orders: Vec<NewOrder> = names
            .map(|name| NewOrder {
                time_in_force: TimeInForce::Ioc,
                client_order_id: name.parse().unwrap(),
                ..NewOrder::limit(account, InstrumentId(1), Side::Buy, Quantity(1), Price(50))
            })
            .collect();
        for chunk in orders.chunks(self.parts.engine.config().producer_capacity.min(200)) {
            let command = |order: &NewOrder| Command::Place(*order);
            let submission = |it| Submission { token: 0, command: command(it), level: None };
            let batch = SubmitBatch { submissions: chunk.iter().map(submission).collect() };
            let answers = self.runtime.block_on(self.desk.send(batch, &cx)).unwrap();
            assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        }
        self.settle();
    }

    /// Drops a file into the directory of a member.
    pub fn drop_file(&self, member: MemberId, name: &str, content: &str) -> String {
        let file = NewFile::new(orders_in(), FileName::new(name).unwrap());
        let stored = self.depot.put_bytes(&tenant_of(member), file, content.as_bytes()).unwrap();
        stored.file.id.to_string()
    }

    /// The answer to a file, when it is there.
    pub fn answer(&self, member: MemberId, name: &str, id: &str) -> Answer {
        let stem = name.trim_end_matches(".csv");
        Answer::read(&self.collect(member, &format!("{stem}.{id}.csv")))
    }

    pub fn faults(&self, member: MemberId, name: &str, id: &str) -> String {
        let stem = name.trim_end_matches(".csv");
        let content = self.collect(member, &format!("{stem}.{id}.errors.csv"));
        String::from_utf8(content).unwrap()
    }

    fn collect(&self, member: MemberId, name: &str) -> Vec<u8> {
        let (tenant, path) = (tenant_of(member), format!("{}/{name}", orders_out()));
        until(&path, || self.depot.file_at(&tenant, &path).is_ok());
        self.read(&tenant, &path)
    }

    pub fn read(&self, tenant: &TenantName, path: &str) -> Vec<u8> {
        let info = self.depot.file_at(tenant, path).unwrap();
        self.depot.open_file(tenant, info.record.id).unwrap().read_all().unwrap()
    }

    /// How often each client order id became an order, over the whole event log.
    pub fn entered(&self) -> BTreeMap<String, usize> {
        let mut entered = BTreeMap::new();
        let last = self.parts.engine.released();
        let mut reader = self.parts.engine.events(Seq(1));
        while reader.next_seq() <= last {
            let batch = reader.next_timeout(LONG).unwrap().unwrap();
            for record in batch.iter() {
                for event in record.decode().unwrap().1 {
                    if let Event::Accepted(it) = event.unwrap() {
                        let name = it.terms.client_order_id.to_string();
                        *entered.entry(name).or_default() += 1;
                    }
                }
            }
        }
        entered
    }

    /// The waiting, claimed and dead files, and the number of orders of files.
    pub fn work(&self, member: MemberId) -> (u64, u64, u64) {
        let work = self.depot.tenant(&tenant_of(member)).unwrap().work;
        (work.waiting, work.claimed, work.dead)
    }

    /// Ends all of it as a shutdown does.
    pub fn close(mut self) {
        self.exchange = None;
        self.depot.close().unwrap();
        self.parts.engine.shutdown(LONG);
    }
}

/// An answer file: its rows by column name.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub rows: Vec<BTreeMap<String, String>>,
}

impl Answer {
    pub fn read(content: &[u8]) -> Answer {
        let mut reader = csv::Reader::from_reader(content);
        Answer { rows: reader.deserialize().map(Result::unwrap).collect() }
    }

    pub fn column(&self, name: &str) -> Vec<&str> {
        self.rows.iter().map(|row| row[name].as_str()).collect()
    }
}

/// Waits for a condition.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < end, "it did not come about: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn directory(path: &str) -> Directory {
    Directory::new(path).unwrap()
}

/// A file of bids at one price, which all rest.
pub fn bids(account: AccountId, rows: usize) -> String {
    let row = |nth| format!("{account},BTC-USD,buy,0.0001,1.00,r{nth}\n");
    (1..=rows).map(row).fold(HEADER.to_owned(), |file, row| file + &row)
}
