//! Measures the core with everything on: risk, fees, funded accounts; events go to a counting sink.
//!
//! ```text
//! cargo run --release -p rialto-core --example core_rate -- FILE.obw [CORES]
//! cargo run --release -p rialto-core --example core_rate -- amends [CORES]
//! cargo run --release -p rialto-core --example core_rate -- resting [ORDERS [PRICES]]
//! cargo run --release -p rialto-core --example core_rate -- crossing [ORDERS]
//! ```
//!
//! For a file (an OBW1 stream): fresh cores, prefilled outside the timing; trades, quantity and
//! resting orders are checked against the header. Amends: 70 % price amendments, 15 % new orders,
//! 15 % cancels over 10,000 open orders. Resting: orders that never trade, as recovery replays
//! them, at random prices: a given number of prices on each side, or hardly two orders at the same
//! one. Crossing: both sides draw from one range of 20 * 10^12 prices, so that most orders trade
//! and a fifth rests, hardly two of them at the same price.

// This program prints and reads clocks; the core itself must not.
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use rialto_core::{Core, CoreConfig, EventCount};
use rialto_model::{
    AccountId, Amend, Amount, Command, CurrencyId, EngineId, InstrumentId, InstrumentKind,
    InstrumentSpec, MemberId, Name, NewOrder, OrderId, OrderRef, Price, Quantity, Scale, Seq, Side,
    Timestamp, TradingRules, Transfer,
};
use std::error::Error;
use std::time::Instant;

const ENGINE: EngineId = EngineId(1);
const ACCOUNTS: u32 = 1_000;
/// Larger inputs are refused rather than read into memory.
const OPERATIONS_MAX: usize = 20_000_000;

fn order_id(counter: u64) -> OrderId {
    OrderId::from_parts(ENGINE, counter)
}

fn limit(account: u32, side: Side, price: i64, quantity: i64) -> Command {
    Command::Place(NewOrder::limit(
        AccountId(account),
        InstrumentId(1),
        side,
        Quantity(quantity),
        Price(price),
    ))
}

struct Rig {
    core: Core,
    seq: u64,
    sink: EventCount,
}

impl Rig {
    #[inline]
    fn apply(&mut self, command: &Command) -> rialto_model::Outcome {
        self.seq += 1;
        self.core.apply(Seq(self.seq), Timestamp(self.seq), command, &mut self.sink)
    }

    /// A venue with one instrument, risk and fees on, and accounts that can pay for everything.
    fn funded(orders: usize) -> Result<Rig, Box<dyn Error>> {
        let core = Core::new(CoreConfig::new(ENGINE));
        let mut rig = Rig { core, seq: 0, sink: EventCount::default() };
        rig.core.reserve(orders);
        let eight = Scale::new(8).ok_or("8 is a scale")?;
        for code in ["BTC", "USD"] {
            rig.apply(&Command::CreateCurrency { code: code.parse()?, scale: eight });
        }
        let rules = TradingRules {
            quantity_max: Quantity(1_000_000_000_000),
            market_protection_ppm: 50_000,
            maker_fee_ppm: -20,
            taker_fee_ppm: 70,
            ..TradingRules::unrestrained()
        };
        rig.apply(&Command::CreateInstrument(InstrumentSpec {
            symbol: "BTC-USD".parse()?,
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: Scale::new(2).ok_or("2 is a scale")?,
            quantity_scale: Scale::new(4).ok_or("4 is a scale")?,
            rules,
        }));
        for id in 1..=ACCOUNTS {
            let name: Name = "trader".parse()?;
            rig.apply(&Command::CreateMember { member: MemberId(id), name });
            let (account, member) = (AccountId(id), MemberId(id));
            rig.apply(&Command::CreateAccount { account, member, name });
            for currency in [CurrencyId(1), CurrencyId(2)] {
                let reference = format!("fund-{}", currency.0).parse()?;
                let amount = Amount(1 << 90);
                rig.apply(&Command::deposit(Transfer { account, currency, amount, reference }));
            }
        }
        Ok(rig)
    }

    /// Applies everything; returns the seconds taken and how many commands were refused.
    fn run(&mut self, commands: &[Command]) -> (f64, u64) {
        let mut refused = 0;
        let start = Instant::now();
        for (at, command) in commands.iter().enumerate() {
            // Prefetches as the engine does, which takes commands in chunks.
            if let Some(far) = commands.get(at + Core::PREFETCH_FAR) {
                self.core.prefetch_far(far);
            }
            if let Some(near) = commands.get(at + Core::PREFETCH_NEAR) {
                self.core.prefetch_near(near);
            }
            refused += u64::from(self.apply(command).is_rejected());
        }
        (start.elapsed().as_secs_f64(), refused)
    }
}

fn report(what: &str, commands: usize, mut seconds: Vec<f64>) {
    seconds.sort_by(f64::total_cmp);
    let rate = |seconds: f64| commands as f64 / seconds / 1e6;
    let (median, best) = (seconds[seconds.len() / 2], seconds[0]);
    println!(
        "{what}: {:.2} M commands/s (median of {}, best {:.2}), {:.1} ns each",
        rate(median),
        seconds.len(),
        rate(best),
        median * 1e9 / commands as f64
    );
}

fn stream(path: &str, cores: usize) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    if !bytes.starts_with(b"OBW1") || bytes.len() > 64 + OPERATIONS_MAX * 24 {
        return Err("not an OBW1 stream, or too long".into());
    }
    let word = |at: usize| -> Result<u64, Box<dyn Error>> {
        Ok(u64::from_le_bytes(bytes[at..at + 8].try_into()?))
    };
    let (prefill, trades, resting) = (word(16)? as usize, word(32)?, word(48)?);
    let number = |record: &[u8], at: usize| {
        u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    // Accounts of orders, to cancel them by; ids in a stream are in order of placing.
    let mut owners = vec![0];
    let mut commands = Vec::new();
    for record in bytes[64..].chunks_exact(24) {
        let user = number(record, 16);
        let side = if record[21] == 0 { Side::Buy } else { Side::Sell };
        if record[20] == 1 {
            let id = u64::from(number(record, 0));
            let account = AccountId(owners[id as usize]);
            commands.push(Command::Cancel { account, order: OrderRef::Id(order_id(id)) });
        } else {
            owners.push(user);
            commands.push(limit(user, side, number(record, 8).into(), number(record, 12).into()));
        }
    }
    let (before, timed) = commands.split_at(prefill);
    let mut seconds = Vec::new();
    for _ in 0..cores {
        let mut rig = Rig::funded(prefill * 2)?;
        rig.run(before);
        let (taken, refused) = rig.run(timed);
        seconds.push(taken);
        assert_eq!((refused, rig.sink.trades), (0, trades), "refusals and trades");
        assert_eq!(rig.core.resting().len() as u64, resting, "resting orders");
        rig.core.check()?;
    }
    report(path, timed.len(), seconds);
    Ok(())
}

/// A plain linear congruential generator: the same mix every time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// A price that never crosses: buys below 1,000,000, sells above.
    fn price(&mut self, side: Side) -> i64 {
        let away = 1 + self.below(200) as i64;
        if side == Side::Buy { 1_000_000 - away } else { 1_000_000 + away }
    }

    fn side(&mut self) -> Side {
        if self.below(2) == 0 { Side::Buy } else { Side::Sell }
    }
}

fn amends(cores: usize) -> Result<(), Box<dyn Error>> {
    let mut draw = Draw(7);
    let (mut open, mut placed) = (Vec::new(), 0);
    let mut commands = Vec::new();
    for at in 0..1_010_000 {
        let kind = if at < 10_000 { 70 } else { draw.below(100) };
        let (account, side) = (1 + draw.below(ACCOUNTS.into()) as u32, draw.side());
        if (70..85).contains(&kind) {
            placed += 1;
            open.push((placed, account, side));
            commands.push(limit(account, side, draw.price(side), 1 + draw.below(100) as i64));
            continue;
        }
        let which = draw.below(open.len() as u64) as usize;
        let (id, account, side) = open[which];
        let (account, order) = (AccountId(account), OrderRef::Id(order_id(id)));
        if kind < 70 {
            let price = Some(Price(draw.price(side)));
            commands.push(Command::Amend(Amend { account, order, price, quantity: None }));
        } else {
            open.swap_remove(which);
            commands.push(Command::Cancel { account, order });
        }
    }
    let mut seconds = Vec::new();
    for _ in 0..cores {
        let mut rig = Rig::funded(20_000)?;
        rig.run(&commands[..10_000]);
        let (taken, refused) = rig.run(&commands[10_000..]);
        // A new price may be the old one, which changes nothing and is refused.
        assert!(refused < 10_000, "{refused} commands were refused");
        rig.core.check()?;
        seconds.push(taken);
    }
    report("70 % price amendments", 1_000_000, seconds);
    Ok(())
}

fn resting(orders: usize, prices: u64) -> Result<(), Box<dyn Error>> {
    let mut draw = Draw(3);
    let mut rig = Rig::funded(orders)?;
    let commands: Vec<Command> = (0..orders)
        .map(|_| {
            let (account, side) = (1 + draw.below(ACCOUNTS.into()) as u32, draw.side());
            let away = 1 + draw.below(prices) as i64;
            let middle = 1_000_000_000;
            let price = if side == Side::Buy { middle - away } else { middle + away };
            limit(account, side, price, 1 + draw.below(100) as i64)
        })
        .collect();
    let tenth = orders - orders / 10;
    let (first, refused) = rig.run(&commands[..tenth]);
    let (last, refused_last) = rig.run(&commands[tenth..]);
    assert_eq!(refused + refused_last, 0, "refusals");
    report("resting orders", tenth, vec![first]);
    report("the last tenth of them", orders - tenth, vec![last]);
    let start = Instant::now();
    let snapshot = rig.core.snapshot();
    println!("snapshot of {} MB: {:.0?}", snapshot.len() >> 20, start.elapsed());
    let start = Instant::now();
    let restored = Core::restore(&snapshot, 0)?;
    println!("restored {} orders: {:.0?}", restored.resting().len(), start.elapsed());
    Ok(())
}

fn crossing(orders: usize) -> Result<(), Box<dyn Error>> {
    let mut draw = Draw(42);
    let commands: Vec<Command> = (0..orders)
        .map(|at| {
            let side = draw.side();
            let price = 40_000_000_000_000 + (draw.below(20_000) * 1_000_000_000) as i64;
            let price = price + draw.below(1_000_000_000) as i64;
            let quantity = 10_000 + draw.below(990_000) as i64;
            limit((at % ACCOUNTS as usize) as u32 + 1, side, price, quantity)
        })
        .collect();
    let mut seconds = Vec::new();
    for pass in 0..3 {
        let mut rig = Rig::funded(orders / 4)?;
        let (taken, refused) = rig.run(&commands);
        assert_eq!(refused, 0, "refusals");
        seconds.push(taken);
        if pass == 0 {
            println!("{} trades, {} orders rest", rig.sink.trades, rig.core.resting().len());
            rig.core.check()?;
        }
    }
    report("crossing orders", orders, seconds);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let what =
        arguments.next().ok_or("usage: core_rate FILE.obw|amends|resting|crossing [NUMBER]")?;
    let number = arguments.next().map(|number| number.parse::<usize>()).transpose()?;
    match what.as_str() {
        "amends" => amends(number.unwrap_or(5).clamp(1, 20)),
        "crossing" => crossing(number.unwrap_or(5_000_000).clamp(10, OPERATIONS_MAX)),
        "resting" => {
            let prices = arguments.next().map(|prices| prices.parse()).transpose()?;
            let prices = prices.unwrap_or(999_000_000).clamp(1, 999_000_000);
            resting(number.unwrap_or(2_500_000).clamp(10, OPERATIONS_MAX), prices)
        }
        path => stream(path, number.unwrap_or(5).clamp(1, 20)),
    }
}
