//! An engine, a depot and the service of statements on one simulated disk.
#![allow(dead_code, reason = "each test file uses a part of it")]

use rialto_bus::{Context, Dispatch, Error};
use rialto_depot::{Depot, DepotOptions, TenantName, UpkeepOptions};
use rialto_desk::{DeskBus, DeskConfig, Grant, Live, LiveConfig, Scope, VenueParts};
use rialto_disk::{Disk, SimDisk};
use rialto_engine::{Core, Engine, EngineConfig, WaitStrategy};
use rialto_flow::store::{Level, LogOptions, LogStore};
use rialto_flow::{ManualClock, Options};
use rialto_model::*;
use rialto_statements::{
    ListStatementRuns, RunOutcome, RunStage, RunStatements, STATEMENTS_DIRECTORY, StatementRun,
    StatementService, StatementSettings, StatementsBus, member_tenant,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const BTC: CurrencyId = CurrencyId(1);
pub(crate) const USD: CurrencyId = CurrencyId(2);
pub(crate) const MARKET: InstrumentId = InstrumentId(1);
/// Longer than anything takes here.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// The time at which the tests begin: noon of a day.
pub(crate) const NOON: Timestamp = Timestamp(20_000 * Timestamp::DAY + Timestamp::DAY / 2);

pub(crate) type BoxError = Box<dyn std::error::Error>;

/// A venue without a gateway.
pub(crate) struct Stage {
    pub(crate) bus: StatementsBus,
    pub(crate) depot: Depot,
    pub(crate) desk: Arc<DeskBus>,
    pub(crate) live: Arc<Live>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) clock: ManualClock,
}

pub(crate) fn engine_config() -> EngineConfig {
    EngineConfig {
        data_dir: PathBuf::from("/data"),
        segment_bytes: 2 << 20,
        group_bytes_max: EngineConfig::GROUP_BYTES_MIN,
        snapshot_every: u64::MAX,
        wait: WaitStrategy { spins: 0, yields: 0 },
        ..EngineConfig::default()
    }
}

pub(crate) fn settings() -> StatementSettings {
    StatementSettings { answer_within: LONG, nice: 0, ..StatementSettings::default() }
}

impl Stage {
    /// Opens what is on the disk.
    pub(crate) fn try_open(
        disk: &SimDisk,
        clock: &ManualClock,
        life: u8,
        settings: StatementSettings,
    ) -> Result<Stage, BoxError> {
        Stage::try_open_with(disk, clock, life, settings, "/data/statements", |_| {})
    }

    pub(crate) fn try_open_with(
        disk: &SimDisk,
        clock: &ManualClock,
        life: u8,
        settings: StatementSettings,
        runs: &str,
        of_depot: fn(&mut DepotOptions),
    ) -> Result<Stage, BoxError> {
        Stage::try_open_at(engine_config(), disk, clock, life, settings, runs, of_depot)
    }

    pub(crate) fn try_open_at(
        engine: EngineConfig,
        disk: &SimDisk,
        clock: &ManualClock,
        life: u8,
        settings: StatementSettings,
        runs: &str,
        of_depot: fn(&mut DepotOptions),
    ) -> Result<Stage, BoxError> {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let (engine, _) = Engine::start(engine, Arc::clone(&shared))?;
        let engine = Arc::new(engine);
        let live = Live::start(&engine, LiveConfig::default())?;
        let venue = || VenueParts::new(Arc::clone(&engine), Arc::clone(&live));
        let begun = Instant::now();
        while live.seq() < engine.released() {
            if disk.is_down() || begun.elapsed() > LONG {
                return Err("the feed does not catch up".into());
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let desk = Arc::new(DeskBus::open(venue(), &DeskConfig::default()));
        let mut depot = DepotOptions {
            disk: Arc::clone(&shared),
            clock: Arc::new(clock.clone()),
            salt: Arc::new(move || [life; 16]),
            segment_bytes: 2 << 20,
            control_segment_bytes: 64 << 10,
            upkeep: UpkeepOptions { scrub_bytes_per_second: 0, ..UpkeepOptions::default() },
            ..DepotOptions::at("/depot")
        };
        of_depot(&mut depot);
        let depot = Depot::open(depot)?;
        let options = LogOptions {
            segment_bytes: 2 << 20,
            salt: [life; 16],
            ..LogOptions::new(Level::Synced)
        };
        let store = Arc::new(LogStore::open_on(shared, Path::new(runs), options)?);
        let options = Options { clock: Arc::new(clock.clone()), ..Options::default() };
        let service = StatementService::open(store, venue(), depot.clone(), settings, options)?;
        let bus = StatementsBus::new(service);
        Ok(Stage { bus, depot, desk, live, engine, clock: clock.clone() })
    }

    pub(crate) fn new(disk: &SimDisk) -> Stage {
        Stage::with(disk, settings())
    }

    pub(crate) fn with_depot(disk: &SimDisk, of_depot: fn(&mut DepotOptions)) -> Stage {
        let (clock, runs) = (ManualClock::new(NOON), "/data/statements");
        Stage::try_open_with(disk, &clock, 1, settings(), runs, of_depot).unwrap()
    }

    pub(crate) fn with(disk: &SimDisk, settings: StatementSettings) -> Stage {
        let clock = ManualClock::new(NOON);
        Stage::try_open(disk, &clock, 1, settings).unwrap()
    }

    /// Sends a command to the engine, and waits until the feed knows it.
    pub(crate) fn send(&self, command: Command) -> Seq {
        self.send_all(&[command])
    }

    pub(crate) fn send_all(&self, commands: &[Command]) -> Seq {
        let mut producer = self.engine.producer();
        let (mut last, mut answered) = (Seq::ZERO, 0);
        for command in commands {
            while producer.submit(0, command, None).is_err() {
                let reply = producer.reply_timeout(LONG).expect("a reply");
                (last, answered) = (last.max(reply.answer.unwrap().seq), answered + 1);
            }
        }
        while answered < commands.len() {
            let reply = producer.reply_timeout(LONG).expect("a reply");
            (last, answered) = (last.max(reply.answer.unwrap().seq), answered + 1);
        }
        let begun = Instant::now();
        while self.live.seq() < last {
            assert!(begun.elapsed() < LONG, "the feed does not catch up");
            std::thread::sleep(Duration::from_micros(200));
        }
        last
    }

    /// Two members with funds, the first with two accounts, and a market with fees.
    pub(crate) fn begin(&self) {
        let scale = |places| Scale::new(places).unwrap();
        let mut rules = TradingRules::unrestrained();
        (rules.maker_fee_ppm, rules.taker_fee_ppm) = (-100, 1_000);
        let name = |text: &str| text.parse::<Name>().unwrap();
        let mut commands = vec![
            Command::CreateCurrency { code: "BTC".parse().unwrap(), scale: scale(4) },
            Command::CreateCurrency { code: "USD".parse().unwrap(), scale: scale(4) },
            Command::CreateInstrument(InstrumentSpec {
                symbol: "BTC-USD".parse().unwrap(),
                kind: InstrumentKind::Spot,
                base: BTC,
                quote: USD,
                price_scale: scale(2),
                quantity_scale: scale(2),
                rules,
            }),
            Command::CreateMember { member: MemberId(1), name: name("acme") },
            Command::CreateMember { member: MemberId(2), name: name("<script>&\"'") },
        ];
        for (account, member) in [(1, 1), (2, 2), (3, 1)] {
            let (account, member) = (AccountId(account), MemberId(member));
            commands.push(Command::CreateAccount { account, member, name: name("main") });
            for currency in [BTC, USD] {
                commands.push(deposit(
                    account.0,
                    currency,
                    10_000_000_000,
                    &format!("begin-{currency}"),
                ));
            }
        }
        self.send_all(&commands);
    }

    pub(crate) async fn run(&self) -> Result<StatementRun, Error> {
        let operator = Grant::new([Scope::Admin].into_iter().collect(), []);
        self.bus.send(RunStatements, &Context::new().with_principal(&operator)).await
    }

    /// A run that must complete.
    pub(crate) async fn made(&self) -> RunOutcome {
        match self.run().await.unwrap().stage {
            RunStage::Completed(outcome) => outcome,
            other => panic!("the run does not complete: {other:?}"),
        }
    }

    /// The last run, which completes when the pauses between its attempts are over.
    pub(crate) async fn made_later(&self) -> RunOutcome {
        let begun = Instant::now();
        while self.runs().await[0].ended.is_none() {
            assert!(begun.elapsed() < LONG, "the run does not end");
            self.clock.advance(Duration::from_secs(60));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        match self.runs().await.remove(0).stage {
            RunStage::Completed(outcome) => outcome,
            other => panic!("the run does not complete: {other:?}"),
        }
    }

    pub(crate) async fn runs(&self) -> Vec<StatementRun> {
        let operator = Grant::new([Scope::Admin].into_iter().collect(), []);
        let cx = Context::new().with_principal(&operator);
        self.bus.query(ListStatementRuns { limit: 100 }, &cx).await.unwrap()
    }

    /// The runs, when this many have ended.
    pub(crate) async fn wait_for_runs(&self, count: usize) -> Vec<StatementRun> {
        let begun = Instant::now();
        loop {
            let runs = self.runs().await;
            if runs.iter().filter(|run| run.ended.is_some()).count() >= count {
                return runs;
            }
            assert!(begun.elapsed() < LONG, "{runs:?}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// The files in the outbox of a member: names and contents, by name.
    pub(crate) fn outbox(&self, member: u32) -> Vec<(String, String)> {
        files(&self.depot, &member_tenant(MemberId(member)))
    }

    /// The only file of this ending in the outbox of a member.
    pub(crate) fn only(&self, member: u32, ending: &str) -> String {
        let mut found = self.outbox(member);
        found.retain(|(name, _)| name.ends_with(ending));
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0).1
    }

    /// The state of the core after a sequence.
    pub(crate) fn core(&self, seq: Seq) -> Core {
        let core = self.engine.settled_state(seq).unwrap();
        core.check().unwrap();
        assert_eq!(core.seq(), seq);
        core
    }
}

pub(crate) fn files(depot: &Depot, tenant: &TenantName) -> Vec<(String, String)> {
    if !depot.has_tenant(tenant) {
        return Vec::new();
    }
    let files = depot.kept_files(tenant, STATEMENTS_DIRECTORY, None, 1_000).unwrap();
    let read = |file: rialto_depot::FileInfo| {
        let bytes = depot.open_file(tenant, file.record.id).unwrap().read_all().unwrap();
        (file.record.name.to_string(), String::from_utf8(bytes).unwrap())
    };
    files.into_iter().map(read).collect()
}

pub(crate) fn transfer(account: u32, currency: CurrencyId, amount: i128, name: &str) -> Transfer {
    let (account, amount) = (AccountId(account), Amount(amount));
    Transfer { account, currency, amount, reference: name.parse().unwrap() }
}

pub(crate) fn deposit(account: u32, currency: CurrencyId, amount: i128, name: &str) -> Command {
    Command::deposit(transfer(account, currency, amount, name))
}

pub(crate) fn limit(account: u32, side: Side, quantity: i64, price: i64) -> Command {
    let (quantity, price) = (Quantity(quantity), Price(price));
    Command::Place(NewOrder::limit(AccountId(account), MARKET, side, quantity, price))
}

/// The rows of a CSV, by column name.
pub(crate) struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    pub(crate) fn of(csv: &str) -> Rows {
        let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = csv.lines();
        let names = split(lines.next().expect("a header"));
        let rows: Vec<Vec<String>> = lines.map(split).collect();
        assert!(rows.iter().all(|row| row.len() == names.len()), "{csv}");
        Rows { names, rows }
    }

    fn column(&self, name: &str) -> usize {
        self.names.iter().position(|it| it == name).expect("a column")
    }

    /// The chosen columns of the rows of these records, joined by spaces.
    pub(crate) fn only(&self, record: &str, columns: &[&str]) -> Vec<String> {
        let kind = self.column("record");
        let chosen: Vec<usize> = columns.iter().map(|name| self.column(name)).collect();
        let rows = self.rows.iter().filter(|row| row[kind] == record);
        rows.map(|row| chosen.iter().map(|at| row[*at].clone()).collect::<Vec<_>>().join(" "))
            .collect()
    }

    /// The sum of a column over all rows of an account and currency but opening and closing, in
    /// units of four decimal places.
    pub(crate) fn sum(&self, account: u32, currency: &str, column: &str) -> i128 {
        let (kind, at) = (self.column("record"), self.column(column));
        let (owner, code) = (self.column("account"), self.column("currency"));
        let is_line = |row: &&Vec<String>| {
            row[kind] != "opening"
                && row[kind] != "closing"
                && row[owner] == account.to_string()
                && row[code] == currency
        };
        let rows = self.rows.iter().filter(is_line);
        rows.map(|row| parse_decimal(&row[at], Scale::new(4).unwrap()).unwrap()).sum()
    }

    /// Available and held of a record that is there once for an account and currency.
    pub(crate) fn balance(&self, record: &str, account: u32, currency: &str) -> (i128, i128) {
        let rows = self.only(record, &["account", "currency", "available", "held"]);
        let before = format!("{account} {currency} ");
        let mut found = rows.iter().filter_map(|row| row.strip_prefix(&before));
        let balance = found.next().expect("the balance is there");
        assert_eq!(found.next(), None);
        let (available, held) = balance.split_once(' ').expect("two amounts");
        let units = |text: &str| parse_decimal(text, Scale::new(4).unwrap()).unwrap();
        (units(available), units(held))
    }
}

/// Whether the lines of every balance lead from its opening to its closing, and the closing is the
/// core's.
pub(crate) fn assert_adds_up(stage: &Stage, csv: &str, accounts: &[u32], last: Seq) {
    let (rows, core) = (Rows::of(csv), stage.core(last));
    for account in accounts {
        for (currency, code) in [(BTC, "BTC"), (USD, "USD")] {
            let balance = core.balance(AccountId(*account), currency).unwrap();
            let closing = rows.balance("closing", *account, code);
            assert_eq!(closing, (balance.available.0, balance.reserved.0), "{csv}");
            let opening = rows.balance("opening", *account, code);
            assert_eq!(opening.0 + rows.sum(*account, code, "available"), closing.0, "{csv}");
            assert_eq!(opening.1 + rows.sum(*account, code, "held"), closing.1, "{csv}");
        }
    }
}
