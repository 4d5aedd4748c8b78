//! How fast the engine is: throughput by level, acknowledgement under open load, replay.
//!
//! `cargo run --release -p rialto-engine --example engine_rate -- DIR [ORDERS [SPINS YIELDS]]` works in a fresh
//! directory below DIR and removes it.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use rialto_core::{Core, CoreConfig, EventCount};
use rialto_disk::{Access, AlignedBuf, Disk, RealDisk};
use rialto_engine::{Engine, EngineConfig, Level, Producer, Submission, Wait};
use rialto_model::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: rialto_engine::LargePages = rialto_engine::LargePages;

const USERS: u32 = 1_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = PathBuf::from(arguments.next().expect("a directory to work in"));
    let orders: u64 = arguments.next().map_or(2_000_000, |count| count.parse().unwrap());
    let mut number = || arguments.next().map(|number| number.parse().unwrap());
    let wait = Wait::default();
    let wait =
        Wait { spins: number().unwrap_or(wait.spins), yields: number().unwrap_or(wait.yields) };
    let dir = dir.join(format!("engine-rate-{}", std::process::id()));
    let sync = one_sync(&dir.join("raw"));
    println!("one 64 KiB disk sync: p50 {sync:?}");
    let commands = orders_like_002(orders);
    core_alone(&commands);
    for level in [Level::Memory, Level::Buffered, Level::Synced, Level::Buffered, Level::Synced] {
        throughput(&dir.join("venue"), level, wait, &commands);
    }
    open_load(&dir.join("open"), wait, 100_000, Duration::from_secs(3));
    std::fs::remove_dir_all(&dir).unwrap();
}

/// What the core does alone, on this thread: the bound on everything below.
fn core_alone(commands: &[Submission]) {
    let mut core = Core::new(CoreConfig::new(EngineId(1)));
    let mut events = EventCount::default();
    let mut seq = Seq::ZERO;
    let mut apply = |submission: &Submission| {
        seq = seq.next();
        core.apply(seq, Timestamp(1), &submission.command, &mut events);
    };
    setting().iter().for_each(&mut apply);
    let began = Instant::now();
    commands.iter().for_each(&mut apply);
    let rate = commands.len() as f64 / began.elapsed().as_secs_f64() / 1e6;
    println!("core alone {rate:.2} M orders/s, {} trades", events.trades);
}

/// The median time of a synchronous write of 64 KiB over space that has been written before.
fn one_sync(dir: &Path) -> Duration {
    let disk = RealDisk::new();
    disk.create_dir_all(dir).unwrap();
    let path = dir.join("sync");
    let block = AlignedBuf::zeroed(64 << 10);
    let file = disk.create(&path, Access::Direct).unwrap();
    for at in 0..256 {
        file.write_all_at(at * block.len() as u64, &block).unwrap();
    }
    file.sync_data().unwrap();
    let file = disk.open(&path, Access::DirectSync).unwrap();
    let mut times: Vec<Duration> = (0..256)
        .map(|at| {
            let began = Instant::now();
            file.write_all_at(at * block.len() as u64, &block).unwrap();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// Limit orders whose prices lie evenly over a range, so that most trade.
fn orders_like_002(count: u64) -> Vec<Submission> {
    let mut state = 42_u64;
    let mut next = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..count)
        .map(|i| {
            let side = if next(2) == 0 { Side::Buy } else { Side::Sell };
            let price = 40_000_000_000_000 + (next(20_000_000) * 1_000_000) as i64;
            let quantity = 10_000 + next(990_000) as i64;
            let command = Command::Place(NewOrder {
                account: AccountId((i % u64::from(USERS)) as u32 + 1),
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
            });
            Submission { token: i, command, level: None }
        })
        .collect()
}

fn setting() -> Vec<Submission> {
    let mut commands = vec![
        Command::CreateCurrency { code: "BTC".parse().unwrap(), scale: Scale::new(6).unwrap() },
        Command::CreateCurrency { code: "USD".parse().unwrap(), scale: Scale::new(15).unwrap() },
        Command::CreateInstrument(InstrumentSpec {
            symbol: "BTC-USD".parse().unwrap(),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: Scale::new(9).unwrap(),
            quantity_scale: Scale::new(6).unwrap(),
            rules: TradingRules {
                tick: Price(1),
                lot: Quantity(1),
                quantity_max: Quantity(i64::MAX),
                notional_min: Amount(0),
                collar_ppm: 0,
                reference_price: Price(0),
                market_protection_ppm: 0,
                maker_fee_ppm: 100,
                taker_fee_ppm: 200,
                self_trade: SelfTrade::Allow,
                open_orders_max: u32::MAX,
                day_end_s: 0,
                risk: true,
            },
        }),
        Command::CreateMember { member: MemberId(1), name: "m".parse().unwrap() },
    ];
    for user in 1..=USERS {
        let (account, member) = (AccountId(user), MemberId(1));
        commands.push(Command::CreateAccount { account, member, name: "a".parse().unwrap() });
        for currency in [1, 2] {
            commands.push(Command::Deposit(Transfer {
                account,
                currency: CurrencyId(currency),
                amount: Amount(1 << 100),
                reference: format!("d{currency}").parse().unwrap(),
            }));
        }
    }
    commands.into_iter().map(|command| Submission { token: 0, command, level: None }).collect()
}

/// Submits all from one thread, which also takes the replies; returns how many were accepted.
fn drive(producer: &mut Producer, submissions: &[Submission]) -> u64 {
    let (mut submitted, mut replied, mut accepted) = (0, 0, 0);
    while replied < submissions.len() {
        if submitted < submissions.len() {
            let chunk = &submissions[submitted..(submitted + 256).min(submissions.len())];
            submitted += producer.submit_batch(chunk).unwrap_or(0);
        }
        let mut reply = producer.try_reply();
        if reply.is_none() && (submitted == submissions.len() || producer.outstanding() >= 3_900) {
            reply = producer.reply_timeout(Duration::from_secs(10));
        }
        while let Some(taken) = reply {
            accepted += u64::from(!taken.result.unwrap().is_rejected());
            replied += 1;
            reply = producer.try_reply();
        }
    }
    accepted
}

fn throughput(dir: &Path, level: Level, wait: Wait, commands: &[Submission]) {
    let config = EngineConfig { data_dir: dir.to_owned(), level, wait, ..EngineConfig::default() };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    let (engine, _) = Engine::start(config.clone(), Arc::clone(&disk)).unwrap();
    let mut producer = engine.producer();
    drive(&mut producer, &setting());
    let before = engine.stats();
    let began = Instant::now();
    let accepted = drive(&mut producer, commands);
    let took = began.elapsed();
    assert_eq!(accepted, commands.len() as u64, "every order is accepted");
    let stats = engine.stats();
    let groups = stats.groups - before.groups;
    println!(
        "{level:9} {:.2} M orders/s; {groups} groups, p50 {} KiB, write p50 {} us; {:.1} + {:.1} bytes per order",
        commands.len() as f64 / took.as_secs_f64() / 1e6,
        stats.group_bytes.value_at_quantile(0.5) >> 10,
        stats.write_ns.value_at_quantile(0.5) / 1_000,
        (stats.journal_bytes - before.journal_bytes) as f64 / commands.len() as f64,
        (stats.event_bytes - before.event_bytes) as f64 / commands.len() as f64,
    );
    // No snapshot, so that the restart replays everything.
    drop((producer, engine));
    let began = Instant::now();
    let (engine, report) = Engine::start(config, disk).unwrap();
    let rate = report.replayed as f64 / report.took.as_secs_f64() / 1e6;
    println!("          {report}; {rate:.2} M commands/s, started in {:?}", began.elapsed());
    drop(engine);
    std::fs::remove_dir_all(dir).unwrap();
}

/// Orders at fixed times whatever the engine does; latency from the scheduled time.
fn open_load(dir: &Path, wait: Wait, per_second: u64, length: Duration) {
    let config = EngineConfig { data_dir: dir.to_owned(), wait, ..EngineConfig::default() };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    let mut producer = engine.producer();
    drive(&mut producer, &setting());
    let count = per_second * length.as_secs();
    let orders = orders_like_002(count);
    let mut latencies = Vec::with_capacity(orders.len());
    let gap = 1_000_000_000 / per_second;
    let began = Instant::now();
    let mut next = 0;
    while latencies.len() < orders.len() {
        let now = began.elapsed().as_nanos() as u64;
        while next < orders.len() && next as u64 * gap <= now {
            let order = &orders[next];
            if producer.submit(order.token, &order.command, None).is_err() {
                break;
            }
            next += 1;
        }
        while let Some(reply) = producer.try_reply() {
            latencies.push(began.elapsed().as_nanos() as u64 - reply.token * gap);
        }
        if next < orders.len() {
            let due = (next as u64 * gap).saturating_sub(began.elapsed().as_nanos() as u64);
            if let Some(reply) = producer.reply_timeout(Duration::from_nanos(due)) {
                latencies.push(began.elapsed().as_nanos() as u64 - reply.token * gap);
            }
        }
    }
    latencies.sort_unstable();
    let at = |q: f64| latencies[((latencies.len() - 1) as f64 * q) as usize] / 1_000;
    let stats = engine.stats();
    println!(
        "synced at {per_second}/s: p50 {} p90 {} p99 {} p99.9 {} us, max {} us; group p50 {} KiB, write p50 {} us",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0),
        stats.group_bytes.value_at_quantile(0.5) >> 10,
        stats.write_ns.value_at_quantile(0.5) / 1_000,
    );
    drop((producer, engine));
}
