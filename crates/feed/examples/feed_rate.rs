//! How many events a second a feed folds: `cargo run --release -p rialto-feed --example feed_rate`.
//!
//! A core makes the events from orders, cancels and crossing orders around a moving price, at
//! three depths of the book; making them is not timed. Bounded: two million commands a depth.
#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use rialto_core::{Core, CoreConfig};
use rialto_feed::{Feed, FeedConfig, Update};
use rialto_model::*;
use std::time::{Duration, Instant};

const ACCOUNTS: u32 = 1_000;
const CHUNK: usize = 50_000;
const CHUNKS: usize = 40;

struct Source {
    core: Core,
    random: u64,
    open: Vec<(AccountId, OrderId)>,
    depth: usize,
}

impl Source {
    fn next(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % below
    }

    fn apply(&mut self, command: &Command, into: &mut Vec<(Seq, Event)>) -> Outcome {
        let seq = self.core.seq().next();
        let time = Timestamp(self.core.time().0 + 2_000);
        let mut events = Vec::new();
        let outcome = self.core.apply(seq, time, command, &mut events);
        into.extend(events.into_iter().map(|event| (seq, event)));
        outcome
    }

    fn set_up(&mut self, into: &mut Vec<(Seq, Event)>) -> Result<(), Box<dyn std::error::Error>> {
        for code in ["BTC", "USD"] {
            let scale = Scale::new(8).ok_or("8 is a scale")?;
            self.apply(&Command::CreateCurrency { code: code.parse()?, scale }, into);
        }
        let name = "member".parse()?;
        self.apply(&Command::CreateMember { member: MemberId(1), name }, into);
        for number in 1..=ACCOUNTS {
            let (account, member) = (AccountId(number), MemberId(1));
            self.apply(&Command::CreateAccount { account, member, name }, into);
            for currency in [CurrencyId(1), CurrencyId(2)] {
                let reference = format!("start{}", currency.0).parse()?;
                let amount = Amount(1 << 90);
                let transfer = Transfer { account, currency, amount, reference };
                self.apply(&Command::deposit(transfer), into);
            }
        }
        let scale = Scale::new(2).ok_or("2 is a scale")?;
        let rules = TradingRules {
            quantity_max: Quantity(1 << 40),
            market_protection_ppm: 0,
            maker_fee_ppm: 1_000,
            taker_fee_ppm: 2_000,
            open_orders_max: 1 << 20,
            ..TradingRules::unrestrained()
        };
        self.apply(
            &Command::CreateInstrument(InstrumentSpec {
                symbol: "BTC-USD".parse()?,
                kind: InstrumentKind::Spot,
                base: CurrencyId(1),
                quote: CurrencyId(2),
                price_scale: scale,
                quantity_scale: scale,
                rules,
            }),
            into,
        );
        Ok(())
    }

    /// Places until the book is as deep as wanted; then cancels about as much as it places, and
    /// lets one order in eight cross.
    fn step(&mut self, into: &mut Vec<(Seq, Event)>) {
        if self.open.len() > self.depth && self.next(100) < 60 {
            let at = self.next(self.open.len() as u64) as usize;
            let (account, order) = self.open.swap_remove(at);
            self.apply(&Command::Cancel { account, order: OrderRef::Id(order) }, into);
            return;
        }
        let side = if self.next(2) == 0 { Side::Buy } else { Side::Sell };
        let away = self.next(self.depth as u64 / 4 + 2) as i64 + 1;
        let crosses = self.open.len() > self.depth && self.next(8) == 0;
        let offset = if crosses { -3 } else { away };
        let price = match side {
            Side::Buy => 1_000_000 - offset,
            Side::Sell => 1_000_000 + offset,
        };
        let account = AccountId(self.next(u64::from(ACCOUNTS)) as u32 + 1);
        let order = NewOrder {
            time_in_force: if crosses { TimeInForce::Ioc } else { TimeInForce::Gtc },
            ..NewOrder::limit(
                account,
                InstrumentId(1),
                side,
                Quantity(self.next(100) as i64 + 1),
                Price(price),
            )
        };
        let outcome = self.apply(&Command::Place(order), into);
        if let Outcome::Order { order, status, .. } = outcome
            && status.is_open()
        {
            self.open.push((account, order));
        }
    }
}

fn measure(depth: usize) -> Result<(), Box<dyn std::error::Error>> {
    let core = Core::new(CoreConfig::new(EngineId(1)));
    let mut source = Source { core, random: 42, open: Vec::new(), depth };
    let mut feed = Feed::new(FeedConfig::default());
    let (mut events, mut updates, mut commands) = (0_u64, 0_u64, 0_u64);
    let mut spent = Duration::ZERO;
    let mut chunk = Vec::new();
    source.set_up(&mut chunk)?;
    for _ in 0..CHUNKS {
        for _ in 0..CHUNK {
            source.step(&mut chunk);
        }
        let mut hear = |_: Update<'_>| updates += 1;
        let begun = Instant::now();
        for command in chunk.chunk_by(|a, b| a.0 == b.0) {
            let seq = command[0].0;
            let time = Timestamp(seq.0 * 2_000);
            for (_, event) in command {
                feed.fold(seq, time, event, &mut hear)?;
            }
            feed.end_of(seq, time, &mut hear)?;
            commands += 1;
        }
        spent += begun.elapsed();
        events += chunk.len() as u64;
        chunk.clear();
    }
    feed.check()?;
    let open: usize = source.core.instruments().map(|view| view.open_orders).sum();
    let folded: u32 = feed.accounts().map(|account| account.open_orders).sum();
    assert_eq!(open, folded as usize, "the feed has the orders that the core has");
    println!(
        "depth {depth:>7}: {:5.2} M events/s, {:5.2} M commands/s, {updates} updates, {open} open",
        events as f64 / spent.as_secs_f64() / 1e6,
        commands as f64 / spent.as_secs_f64() / 1e6,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for depth in [1_000, 10_000, 100_000] {
        measure(depth)?;
    }
    Ok(())
}
