//! `rialto replay` of random order files, compared with an independent matcher: a list of resting
//! orders that is searched completely for every trade.

use crate::running::chance::{Random, seed};
use rialto_model::{OrderId, Price, Quantity};
use rialto_workload::digest::FillDigest;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const FILES: u64 = 6;
const LINES: u64 = 2_500;

const HEADER: &str = "action,id,account,side,type,tif,price,quantity\n";
/// A market order's protection is wider than this range.
const PRICES: std::ops::RangeInclusive<u64> = 60..=110;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Buy,
    Sell,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Limit,
    Market,
    PostOnly,
    Slide,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lasts {
    Gtc,
    Ioc,
    Fok,
}

#[derive(Clone, Copy)]
struct Order {
    id: u64,
    side: Side,
    kind: Kind,
    /// Zero for a market order without a limit.
    price: i64,
    total: i64,
    filled: i64,
}

enum Line {
    Place(Order, Lasts),
    Cancel { id: u64 },
    Amend { id: u64, price: Option<i64>, quantity: Option<i64> },
    Reduce { id: u64, by: i64 },
}

/// The documented behaviour, implemented in the simplest way.
#[derive(Default)]
struct Matcher {
    /// In the order of resting.
    resting: Vec<Order>,
    /// Totals of ended orders, which a file may still name.
    cancelled: BTreeSet<u64>,
    orders: u64,
    accepted: u64,
    cancels: u64,
    amends: u64,
    trades: u64,
    traded: u64,
    without_order: u64,
    digest: FillDigest,
    rejects: BTreeMap<&'static str, u64>,
}

impl Matcher {
    fn line(&mut self, line: &Line) {
        let done = match *line {
            Line::Place(order, lasts) => {
                self.orders += 1;
                self.place(order, lasts)
            }
            Line::Cancel { id } | Line::Amend { id, .. } | Line::Reduce { id, .. }
                if self.cancelled.contains(&id) =>
            {
                self.without_order += 1;
                Ok(())
            }
            Line::Cancel { id } => {
                self.cancelled.insert(id);
                self.take_out(id).map(|_| self.cancels += 1)
            }
            Line::Amend { id, price, quantity } => self.amend(id, price, quantity),
            Line::Reduce { id, by } => match self.resting.iter().find(|order| order.id == id) {
                Some(order) => self.amend(id, None, Some(order.total - by)),
                None => Err("unknown_order"),
            },
        };
        if let Err(reason) = done {
            *self.rejects.entry(reason).or_default() += 1;
        }
    }

    fn place(&mut self, mut order: Order, lasts: Lasts) -> Result<(), &'static str> {
        if matches!(order.kind, Kind::PostOnly | Kind::Slide) && lasts != Lasts::Gtc {
            return Err("invalid_combination");
        }
        if order.total <= 0 {
            return Err("quantity_not_positive");
        }
        if order.kind == Kind::Market {
            if !self.crosses(&order) {
                return Err("no_liquidity");
            }
        } else if order.price <= 0 {
            return Err("price_not_positive");
        }
        self.slide(&mut order)?;
        if lasts == Lasts::Fok && self.available(&order) < order.total {
            return Err("unfillable");
        }
        self.accepted += 1;
        self.enter(order, lasts == Lasts::Gtc);
        Ok(())
    }

    fn amend(
        &mut self,
        id: u64,
        price: Option<i64>,
        quantity: Option<i64>,
    ) -> Result<(), &'static str> {
        let at = self.resting.iter().position(|order| order.id == id).ok_or("unknown_order")?;
        let mut order = self.resting[at];
        let (old_price, old_total) = (order.price, order.total);
        order.price = price.unwrap_or(old_price);
        order.total = quantity.unwrap_or(old_total);
        if (order.price, order.total) == (old_price, old_total) {
            return Err("nothing_to_amend");
        }
        if order.total <= 0 {
            return Err("quantity_not_positive");
        }
        if order.price <= 0 {
            return Err("price_not_positive");
        }
        if order.total <= order.filled {
            return Err("quantity_below_filled");
        }
        if order.price == old_price && order.total < old_total {
            self.resting[at] = order;
        } else {
            self.slide(&mut order)?;
            self.resting.remove(at);
            self.enter(order, true);
        }
        self.amends += 1;
        Ok(())
    }

    /// Slides a post-only order, or refuses it.
    fn slide(&self, order: &mut Order) -> Result<(), &'static str> {
        let Some(best) = self.best(order) else { return Ok(()) };
        match order.kind {
            Kind::PostOnly => Err("would_cross"),
            Kind::Slide => {
                let other = self.resting[best].price;
                order.price = if order.side == Side::Buy { other - 1 } else { other + 1 };
                Ok(())
            }
            Kind::Limit | Kind::Market => Ok(()),
        }
    }

    /// Trades, and rests the remainder if it may rest.
    fn enter(&mut self, mut taker: Order, rests: bool) {
        while taker.filled < taker.total {
            let Some(at) = self.best(&taker) else { break };
            let maker = &mut self.resting[at];
            let quantity = (taker.total - taker.filled).min(maker.total - maker.filled);
            maker.filled += quantity;
            taker.filled += quantity;
            self.trades += 1;
            self.traded += quantity.unsigned_abs();
            let (ids, price) = ((OrderId(maker.id), OrderId(taker.id)), Price(maker.price));
            self.digest.fill(ids.0, ids.1, price, Quantity(quantity));
            if maker.filled == maker.total {
                self.resting.remove(at);
            }
        }
        if rests && taker.filled < taker.total {
            self.resting.push(taker);
        }
    }

    /// The order that this one trades with first: the oldest at the best price.
    fn best(&self, taker: &Order) -> Option<usize> {
        let met = (0..self.resting.len()).filter(|&at| meets(taker, &self.resting[at]));
        // `min_by_key` keeps the first of several.
        met.min_by_key(|&at| {
            let price = self.resting[at].price;
            if taker.side == Side::Buy { price } else { -price }
        })
    }

    fn crosses(&self, taker: &Order) -> bool {
        self.best(taker).is_some()
    }

    fn available(&self, taker: &Order) -> i64 {
        let met = self.resting.iter().filter(|maker| meets(taker, maker));
        met.map(|maker| maker.total - maker.filled).sum()
    }

    fn take_out(&mut self, id: u64) -> Result<Order, &'static str> {
        let at = self.resting.iter().position(|order| order.id == id);
        at.map(|at| self.resting.remove(at)).ok_or("unknown_order")
    }

    /// The form of `--json`.
    fn json(&self) -> Value {
        json!({
            "orders": self.orders,
            "accepted": self.accepted,
            "cancels": self.cancels,
            "amends": self.amends,
            "trades": self.trades,
            "traded_quantity": self.traded,
            "resting_orders": self.resting.len(),
            "digest": self.digest.to_string(),
            "rejects": self.rejects,
            "without_order": self.without_order,
        })
    }
}

fn meets(taker: &Order, maker: &Order) -> bool {
    let without_limit = taker.kind == Kind::Market && taker.price == 0;
    taker.side != maker.side
        && (without_limit
            || match taker.side {
                Side::Buy => maker.price <= taker.price,
                Side::Sell => maker.price >= taker.price,
            })
}

/// Draws a line. Amendments are for recent orders, in runs, so that many follow a refused one.
fn draw(random: &mut Random, placed: &mut u64, last_named: &mut u64) -> Line {
    let price = |random: &mut Random| {
        (PRICES.start() + random.below(PRICES.end() - PRICES.start() + 1)) as i64
    };
    let what = random.below(100);
    if what < 45 || *placed == 0 {
        *placed += 1;
        let side = if random.below(2) == 0 { Side::Buy } else { Side::Sell };
        let kind = match random.below(20) {
            0 | 1 => Kind::Market,
            2 | 3 => Kind::PostOnly,
            4 | 5 => Kind::Slide,
            _ => Kind::Limit,
        };
        let lasts = match (random.below(20), kind) {
            (0..=1, _) | (4..=17, Kind::Market) => Lasts::Ioc,
            (2..=3, _) => Lasts::Fok,
            _ => Lasts::Gtc,
        };
        let price = match random.below(50) {
            0 => 0,
            1..=20 if kind == Kind::Market => 0,
            _ => price(random),
        };
        // Without a price of its own, what is left would rest at the protection price of the venue.
        let unpriced = kind == Kind::Market && price == 0;
        let lasts = if unpriced && lasts == Lasts::Gtc { Lasts::Ioc } else { lasts };
        let (total, filled) = (random.below(30) as i64, 0);
        return Line::Place(Order { id: *placed, side, kind, price, total, filled }, lasts);
    }
    let id = match random.below(3) {
        0 => *last_named,
        1 => *placed - random.below((*placed).min(8)),
        _ => *placed - random.below((*placed).min(200)),
    };
    *last_named = id.max(1);
    let id = *last_named;
    match what {
        45..=54 => Line::Cancel { id },
        55..=79 => Line::Reduce { id, by: random.below(40) as i64 / (1 + random.below(4) as i64) },
        _ => {
            let price = (random.below(2) == 0)
                .then(|| if random.below(20) == 0 { 0 } else { price(random) });
            let quantity =
                (price.is_none() || random.below(3) == 0).then(|| random.below(40) as i64);
            Line::Amend { id, price, quantity }
        }
    }
}

fn print(line: &Line, file: &mut String) {
    let number = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
    match *line {
        Line::Place(order, lasts) => {
            let side = if order.side == Side::Buy { "buy" } else { "sell" };
            let kind = match order.kind {
                Kind::Limit => "limit",
                Kind::Market => "market",
                Kind::PostOnly => "post_only",
                Kind::Slide => "slide",
            };
            let lasts = match lasts {
                Lasts::Gtc => "gtc",
                Lasts::Ioc => "ioc",
                Lasts::Fok => "fok",
            };
            let Order { id, price, total, .. } = order;
            writeln!(file, "place,{id},{},{side},{kind},{lasts},{price},{total}", id % 3)
        }
        Line::Cancel { id } => writeln!(file, "cancel,{id},,,,,,"),
        Line::Amend { id, price, quantity } => {
            writeln!(file, "amend,{id},,,,,{},{}", number(price), number(quantity))
        }
        Line::Reduce { id, by } => writeln!(file, "reduce,{id},,,,,,{by}"),
    }
    .unwrap();
}

/// The members of `--json` that the matcher has too.
fn replay(file: &str) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("orders.csv");
    std::fs::write(&path, file).unwrap();
    let path = path.to_str().unwrap();
    let output = crate::running::rialto(&["replay", path, "--json", "--level", "buffered"]);
    assert!(output.status.success(), "{}", crate::running::text(&output.stderr));
    let mut told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let known = Matcher::default().json();
    told.as_object_mut().unwrap().retain(|name, _| known.get(name).is_some());
    told
}

#[test]
fn random_files_come_to_the_fills_of_an_independent_matcher() {
    let seed = seed();
    let mut refused_amends = 0;
    for file_number in 0..FILES {
        let mut random = Random::new(seed.wrapping_add(file_number));
        let (mut matcher, mut file) = (Matcher::default(), HEADER.to_owned());
        let (mut placed, mut last_named) = (0, 1);
        for _ in 0..LINES {
            let line = draw(&mut random, &mut placed, &mut last_named);
            print(&line, &mut file);
            matcher.line(&line);
        }
        refused_amends += matcher.rejects.get("quantity_below_filled").copied().unwrap_or(0);
        let (got, expected) = (replay(&file), matcher.json());
        if got != expected {
            let path = std::env::temp_dir().join(format!("rialto-replay-{seed}.csv"));
            std::fs::write(&path, &file).unwrap();
            panic!("{} came to\n{got:#}\ninstead of\n{expected:#}", path.display());
        }
    }
    assert!(refused_amends > 0, "the files have no refused amendments of traded orders");
}

#[test]
fn a_refused_change_of_the_quantity_changes_nothing_for_later_reductions() {
    for (refused, reason) in [
        ("reduce,1,,,,,,10", "quantity_not_positive"),
        ("reduce,1,,,,,,99", "quantity_not_positive"),
        ("reduce,1,,,,,,7", "quantity_below_filled"),
        ("amend,1,,,,,,2", "quantity_below_filled"),
        ("amend,1,,,,,,0", "quantity_not_positive"),
    ] {
        let file = format!(
            "{HEADER}place,1,1,sell,,,100,10\nplace,2,2,buy,,,100,3\n{refused}\n\
             reduce,1,,,,,,2\nplace,3,2,buy,,,100,9\n"
        );
        let got = replay(&file);
        assert_eq!(got["rejects"], json!({ reason: 1 }), "{refused}");
        // 10, of which 3 have traded, becomes 8: 5 remain for order 3.
        assert_eq!(got["traded_quantity"], 8, "{refused}");
    }
}

#[test]
fn a_reduction_to_nothing_names_the_reason_of_the_page() {
    for (orders, reason) in [
        ("place,1,1,sell,,,100,10\nreduce,1,,,,,,10\n", "quantity_not_positive"),
        (
            "place,1,1,sell,,,100,10\nplace,2,1,buy,,,100,4\nreduce,1,,,,,,6\n",
            "quantity_below_filled",
        ),
    ] {
        let got = replay(&format!("{HEADER}{orders}"));
        assert_eq!(got["rejects"], json!({ reason: 1 }));
        assert_eq!(got["resting_orders"], 1);
    }
}
