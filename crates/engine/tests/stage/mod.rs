//! A small venue for the tests: one instrument, a few members with deposits.
#![allow(dead_code, clippy::unwrap_used)] // Each test binary uses its part of the stage.

mod lines;

#[allow(unused_imports, reason = "each test binary uses a part of it")]
pub(crate) use lines::Lines;

use rialto_disk::{Disk, SimDisk};
use rialto_engine::{
    Clock, Engine, EngineConfig, Health, KeyRing, Level, ManualClock, Producer, RecoveryReport,
    Reply, Sources, StartError, Stepped, WaitStrategy,
};
use rialto_log::{Reader, Verify};
use rialto_model::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A timeout that fails the test on any machine.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// The accounts, numbered from 1.
pub(crate) const ACCOUNTS: u32 = 4;

pub(crate) fn config(dir: &Path, level: Level) -> EngineConfig {
    EngineConfig {
        data_dir: dir.to_owned(),
        level,
        segment_bytes: 2 << 20,
        group_bytes_max: EngineConfig::GROUP_BYTES_MIN,
        snapshot_every: u64::MAX,
        wait: WaitStrategy { spins: 0, yields: 0 },
        ..EngineConfig::default()
    }
}

pub(crate) fn start(config: &EngineConfig, disk: &Arc<dyn Disk>) -> (Engine, RecoveryReport) {
    Engine::start(config.clone(), Arc::clone(disk)).unwrap()
}

/// The rules of the instrument.
pub(crate) fn rules() -> TradingRules {
    TradingRules {
        quantity_max: Quantity(1_000_000),
        market_protection_ppm: 100_000,
        maker_fee_ppm: 100,
        taker_fee_ppm: 500,
        open_orders_max: 100_000,
        ..TradingRules::unrestrained()
    }
}

/// The reference data: two currencies, an instrument, members with accounts and deposits.
pub(crate) fn setting() -> Vec<Command> {
    let mut commands = Vec::new();
    for (code, scale) in [("BTC", 8), ("USD", 8)] {
        let scale = Scale::new(scale).unwrap();
        commands.push(Command::CreateCurrency { code: code.parse().unwrap(), scale });
    }
    commands.push(Command::CreateInstrument(InstrumentSpec {
        symbol: "BTC-USD".parse().unwrap(),
        kind: InstrumentKind::Spot,
        base: CurrencyId(1),
        quote: CurrencyId(2),
        price_scale: Scale::new(2).unwrap(),
        quantity_scale: Scale::new(4).unwrap(),
        rules: rules(),
    }));
    for id in 1..=ACCOUNTS {
        let name: Name = format!("member-{id}").parse().unwrap();
        commands.push(Command::CreateMember { member: MemberId(id), name });
        let account = AccountId(id);
        commands.push(Command::CreateAccount { account, member: MemberId(id), name });
        for currency in [1, 2] {
            commands.push(Command::deposit(Transfer {
                account,
                currency: CurrencyId(currency),
                amount: Amount(1 << 80),
                reference: format!("d{currency}").parse().unwrap(),
            }));
        }
    }
    commands
}

pub(crate) fn limit(account: u32, side: Side, price: i64, quantity: i64) -> Command {
    Command::Place(NewOrder::limit(
        AccountId(account),
        InstrumentId(1),
        side,
        Quantity(quantity),
        Price(price),
    ))
}

/// A good-till-date order.
pub(crate) fn until(expire_at: Timestamp, command: Command) -> Command {
    let Command::Place(order) = command else { panic!("{command:?} places no order") };
    Command::Place(NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..order })
}

/// Submits commands one by one and returns their replies.
pub(crate) fn send(producer: &mut Producer, commands: &[Command]) -> Vec<Reply> {
    commands
        .iter()
        .map(|command| {
            producer.submit(7, command, None).unwrap();
            producer.reply_timeout(LONG).expect("a reply within the time")
        })
        .collect()
}

/// A run of orders that rest, trade and are cancelled.
pub(crate) fn flow(count: u64) -> Vec<Command> {
    (0..count)
        .map(|i| {
            let account = (i % u64::from(ACCOUNTS)) as u32 + 1;
            let side = if i * 7 % 3 == 0 { Side::Buy } else { Side::Sell };
            limit(account, side, 1_000 + (i * 31 % 17) as i64, 1 + (i % 9) as i64)
        })
        .collect()
}

/// The events of a range of sequences as bytes.
pub(crate) fn events(engine: &Engine, from: Seq, to: Seq) -> Vec<(Seq, Vec<u8>)> {
    let mut reader = engine.events(from);
    let mut events: Vec<(Seq, Vec<u8>)> = Vec::new();
    while reader.next_seq() <= to {
        let batch = reader.next_timeout(LONG).unwrap().expect("events within the time");
        events.extend(batch.iter().map(|record| (record.seq, record.bytes.to_vec())));
    }
    events.retain(|(seq, _)| *seq <= to);
    events
}

/// The commands in the journal of a data directory, the first one first.
pub(crate) fn journaled(disk: &Arc<dyn Disk>, data_dir: &Path) -> Vec<Command> {
    let journal = data_dir.join("journal");
    let (segments, _) =
        rialto_log::inspect(Arc::clone(disk), &journal, Verify::Whole, &KeyRing::empty()).unwrap();
    let mut reader = Reader::open(&segments, 1).unwrap();
    let mut commands = Vec::new();
    while let Some(group) = reader.next_group().unwrap() {
        commands.extend(group.into_iter().map(|(_, record)| decode_command(record).unwrap().1));
    }
    commands
}

/// An engine whose steps the test drives, on a simulated disk with a clock that stands still.
pub(crate) struct Bench {
    pub(crate) disk: SimDisk,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) config: EngineConfig,
}

impl Bench {
    pub(crate) fn new(seed: u64, level: Level) -> Self {
        Self {
            disk: SimDisk::new(seed),
            clock: Arc::new(ManualClock::new(Timestamp(1_000))),
            config: config(Path::new("/venue"), level),
        }
    }

    pub(crate) fn shared_disk(&self) -> Arc<dyn Disk> {
        Arc::new(self.disk.clone())
    }

    pub(crate) fn try_start(&self) -> Result<(Engine, Stepped, RecoveryReport), StartError> {
        let random = AtomicU64::new(self.disk.operations() + 1);
        let random =
            move || random.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let clock: Arc<dyn Clock> = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let sources = Sources { clock, random: Arc::new(random) };
        Stepped::start(self.config.clone(), self.shared_disk(), &sources)
    }

    pub(crate) fn start(&self) -> (Engine, Stepped, RecoveryReport) {
        self.try_start().unwrap()
    }
}

/// Submits all and takes all steps until there is no work; returns the replies.
pub(crate) fn settle(
    producer: &mut Producer,
    stepped: &mut Stepped,
    commands: &[Command],
) -> Vec<Reply> {
    for command in commands {
        producer.submit(7, command, None).unwrap();
    }
    stepped.run_until_idle();
    std::iter::from_fn(|| producer.try_reply()).collect()
}

/// Lets an engine without threads finish: everything is confirmed and closed.
pub(crate) fn finish(engine: &Engine, stepped: &mut Stepped) {
    engine.close_intake();
    stepped.run_until_idle();
    assert!(matches!(engine.health(), Health::Stopped), "{}", engine.health());
}

/// An error with its causes.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    told
}
