//! A small venue for the tests: one instrument, a few members with money.
#![allow(dead_code)] // Each test binary uses its part of the stage.

use rialto_disk::Disk;
use rialto_engine::{Engine, EngineConfig, Level, Producer, RecoveryReport, Reply, Wait};
use rialto_model::*;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Long enough for any machine; a test that waits this long has failed.
pub const LONG: Duration = Duration::from_secs(30);

/// Accounts of the stage, numbered from 1.
pub const ACCOUNTS: u32 = 4;

pub fn config(dir: &Path, level: Level) -> EngineConfig {
    EngineConfig {
        data_dir: dir.to_owned(),
        level,
        segment_bytes: 2 << 20,
        group_bytes_max: EngineConfig::GROUP_BYTES_MIN,
        snapshot_every: u64::MAX,
        wait: Wait { spins: 0 },
        ..EngineConfig::default()
    }
}

pub fn start(config: &EngineConfig, disk: &Arc<dyn Disk>) -> (Engine, RecoveryReport) {
    Engine::start(config.clone(), Arc::clone(disk)).unwrap()
}

/// What makes the stage: two currencies, an instrument, members with accounts and deposits.
pub fn setting() -> Vec<Command> {
    let mut commands = Vec::new();
    for (code, scale) in [("BTC", 8), ("USD", 8)] {
        let scale = Scale::new(scale).unwrap();
        commands.push(Command::CreateCurrency { code: code.parse().unwrap(), scale });
    }
    let rules = TradingRules {
        tick: Price(1),
        lot: Quantity(1),
        quantity_max: Quantity(1_000_000),
        notional_min: Amount(0),
        collar_ppm: 0,
        reference_price: Price(0),
        market_protection_ppm: 100_000,
        maker_fee_ppm: 100,
        taker_fee_ppm: 500,
        self_trade: SelfTrade::Allow,
        open_orders_max: 100_000,
        day_end_s: 0,
        risk: true,
    };
    commands.push(Command::CreateInstrument(InstrumentSpec {
        symbol: "BTC-USD".parse().unwrap(),
        kind: InstrumentKind::Spot,
        base: CurrencyId(1),
        quote: CurrencyId(2),
        price_scale: Scale::new(2).unwrap(),
        quantity_scale: Scale::new(4).unwrap(),
        rules,
    }));
    for id in 1..=ACCOUNTS {
        let name: Name = format!("member-{id}").parse().unwrap();
        commands.push(Command::CreateMember { member: MemberId(id), name });
        let account = AccountId(id);
        commands.push(Command::CreateAccount { account, member: MemberId(id), name });
        for currency in [1, 2] {
            commands.push(Command::Deposit(Transfer {
                account,
                currency: CurrencyId(currency),
                amount: Amount(1 << 80),
                reference: format!("d{currency}").parse().unwrap(),
            }));
        }
    }
    commands
}

pub fn limit(account: u32, side: Side, price: i64, quantity: i64) -> Command {
    Command::Place(NewOrder {
        account: AccountId(account),
        instrument: InstrumentId(1),
        side,
        kind: OrderKind::Limit,
        time_in_force: TimeInForce::Gtc,
        post_only: PostOnly::Off,
        self_trade: None,
        cancel_on_disconnect: false,
        size: OrderSize::Base(Quantity(quantity)),
        price: Price(price),
        expire_at: Timestamp::ZERO,
        client_order_id: ClientOrderId::EMPTY,
    })
}

/// A good-till-date order.
pub fn until(expire_at: Timestamp, command: Command) -> Command {
    let Command::Place(order) = command else { panic!("{command:?} places no order") };
    Command::Place(NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..order })
}

/// Sends commands one after the other and returns their replies.
pub fn send(producer: &mut Producer, commands: &[Command]) -> Vec<Reply> {
    commands
        .iter()
        .map(|command| {
            producer.submit(7, command, None).unwrap();
            producer.reply_timeout(LONG).expect("a reply within the time")
        })
        .collect()
}

/// A run of orders that rest, trade and are cancelled.
pub fn flow(count: u64) -> Vec<Command> {
    (0..count)
        .map(|i| {
            let account = (i % u64::from(ACCOUNTS)) as u32 + 1;
            let side = if i * 7 % 3 == 0 { Side::Buy } else { Side::Sell };
            limit(account, side, 1_000 + (i * 31 % 17) as i64, 1 + (i % 9) as i64)
        })
        .collect()
}

/// All events from a sequence to another as bytes.
pub fn events(engine: &Engine, from: Seq, to: Seq) -> Vec<(Seq, Vec<u8>)> {
    let mut reader = engine.events(from);
    let mut events: Vec<(Seq, Vec<u8>)> = Vec::new();
    while reader.next_seq() <= to {
        let batch = reader.next_timeout(LONG).unwrap().expect("events within the time");
        events.extend(batch.iter().map(|record| (record.seq, record.bytes.to_vec())));
    }
    events.retain(|(seq, _)| *seq <= to);
    events
}
