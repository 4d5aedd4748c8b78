//! The flows.

use super::{MarketBuilder, MarketFlow};
use crate::random::XorShift;
use rialto_model::{AccountId, InstrumentId, OrderId, Price, Quantity, Side};

/// Instruments and accounts of QAExchange's program.
const INSTRUMENTS: u64 = 10;
const ACCOUNTS: u64 = 100;
/// Its price in the middle: 100.0.
const MIDDLE: i64 = 1_000;
/// Its quantity.
const QUANTITY: Quantity = Quantity(10);
/// The prices between the levels of [`crossed_levels`].
const GAP: i64 = 8;
/// Price levels on each instrument of [`resting_orders`].
const LEVELS: i64 = 1_000;
const SEED: u64 = 1;

/// The facts of the orders of QAExchange's `benchmark_million_orders`: order `i` is of account `i mod
/// 100` and instrument `i mod 10`, buys at 100 - 0.1 (i mod 10) or sells at 100 + 0.1 (i mod 10),
/// and has quantity 10.
///
/// Its program makes `i mod 2` the side, so that an instrument has orders of one side only and
/// nothing trades. Here the side changes after every ten orders. Both sides of the first instrument
/// then meet at 100; the orders of the others rest.
#[must_use]
pub fn qaexchange(orders: usize) -> MarketFlow {
    let mut builder = MarketBuilder::new(INSTRUMENTS as u32, ACCOUNTS as u32);
    place_qaexchange(&mut builder, orders);
    builder.build(format!("QAExchange's orders, {orders}"))
}

fn place_qaexchange(builder: &mut MarketBuilder, orders: usize) {
    for order in 0..orders as u64 {
        let step = (order % INSTRUMENTS) as i64;
        let side = if (order / INSTRUMENTS).is_multiple_of(2) { Side::Buy } else { Side::Sell };
        let price = Price(if side == Side::Buy { MIDDLE - step } else { MIDDLE + step });
        let instrument = InstrumentId((order % INSTRUMENTS) as u32 + 1);
        let account = AccountId((order % ACCOUNTS) as u32 + 1);
        builder.place(instrument, account, side, QUANTITY, price);
    }
}

/// The orders of [`qaexchange`], and then for each that rests one that takes it, so that the books
/// are bounded and end empty. Every order trades once.
///
/// # Panics
/// If the number is odd, or an odd number of orders trade among themselves.
#[must_use]
pub fn paired_round(orders: usize) -> MarketFlow {
    let mut builder = MarketBuilder::new(INSTRUMENTS as u32, ACCOUNTS as u32);
    place_qaexchange(&mut builder, orders);
    for id in builder.ids() {
        let Some((instrument, side, order)) = builder.resting(id) else { continue };
        let (price, quantity) = (order.price, order.left);
        // Half way round, so that it is another account.
        let taker = (u64::from(order.user) - 1 + ACCOUNTS / 2) % ACCOUNTS;
        let account = AccountId(taker as u32 + 1);
        builder.place(instrument, account, side.opposite(), quantity, price);
    }
    builder.build(format!("QAExchange's orders and one against each, rounds of {orders}"))
}

/// `levels` price levels on each side with one order each, and pairs of orders at one price between
/// them: the first rests and the second takes it. The sides change with every pair.
#[must_use]
pub fn crossed_levels(levels: u64, pairs: u64) -> MarketFlow {
    let mut builder = MarketBuilder::new(1, ACCOUNTS as u32);
    let instrument = InstrumentId(1);
    let account = |number: u64| AccountId((number % ACCOUNTS) as u32 + 1);
    let middle = 10 * levels as i64 + MIDDLE;
    for level in 0..levels {
        let away = level as i64;
        let bid = Price(middle - 1 - away);
        let ask = Price(middle + GAP + away);
        builder.place(instrument, account(2 * level), Side::Buy, QUANTITY, bid);
        builder.place(instrument, account(2 * level + 1), Side::Sell, QUANTITY, ask);
    }
    builder.end_prefill();
    for pair in 0..pairs {
        let side = if pair.is_multiple_of(2) { Side::Buy } else { Side::Sell };
        let price = Price(middle + pair as i64 / 2 % GAP);
        builder.place(instrument, account(2 * pair), side, QUANTITY, price);
        builder.place(instrument, account(2 * pair + 1), side.opposite(), QUANTITY, price);
    }
    builder.build(format!("two orders at one price, {levels} levels on each side"))
}

/// Orders of account 1 that rest, on the first nine instruments at a thousand prices each. The tenth
/// instrument and the other account have none.
#[must_use]
pub fn resting_orders(orders: u64) -> MarketFlow {
    let mut builder = MarketBuilder::new(INSTRUMENTS as u32, 3);
    for order in 0..orders {
        let instrument = InstrumentId((order % (INSTRUMENTS - 1)) as u32 + 1);
        let side = if (order / INSTRUMENTS).is_multiple_of(2) { Side::Buy } else { Side::Sell };
        let away = (order / (2 * INSTRUMENTS)) as i64 % LEVELS;
        let price = Price(if side == Side::Buy { 2_000 - away } else { 2_001 + away });
        builder.place(instrument, AccountId(1), side, QUANTITY, price);
    }
    builder.end_prefill();
    builder.build(format!("{orders} resting orders of one account"))
}

/// Two orders that trade with each other, on the instrument and of the accounts that
/// [`resting_orders`] leaves alone.
#[must_use]
pub fn pair_beside() -> MarketFlow {
    let mut builder = MarketBuilder::new(INSTRUMENTS as u32, 3);
    let instrument = InstrumentId(INSTRUMENTS as u32);
    builder.place(instrument, AccountId(2), Side::Buy, QUANTITY, Price(MIDDLE));
    builder.place(instrument, AccountId(3), Side::Sell, QUANTITY, Price(MIDDLE));
    builder.build("two orders of another instrument")
}

/// A resting order of the last account that is large enough for all others, and `orders` orders that
/// take from it, of `members` accounts in turn.
#[must_use]
pub fn one_maker(members: u32, orders: u64) -> MarketFlow {
    let mut builder = MarketBuilder::new(1, members + 1);
    let (instrument, price) = (InstrumentId(1), Price(MIDDLE));
    let all = Quantity(QUANTITY.0 * (orders as i64 + 1));
    builder.place(instrument, AccountId(members + 1), Side::Sell, all, price);
    builder.end_prefill();
    for order in 0..orders {
        let account = AccountId((order % u64::from(members)) as u32 + 1);
        builder.place(instrument, account, Side::Buy, QUANTITY, price);
    }
    builder.build(format!("{orders} orders that take from one"))
}

/// About as many commands as asked for: half of them orders at ten prices on each side of the
/// middle, which trade or rest, a quarter amendments of the price, and a quarter cancels. At the end
/// all that rests is cancelled.
#[must_use]
pub fn every_kind(commands: usize) -> MarketFlow {
    let mut builder = MarketBuilder::new(INSTRUMENTS as u32, ACCOUNTS as u32);
    let mut random = XorShift::seeded(SEED);
    let mut open: Vec<OrderId> = Vec::new();
    for _ in 0..commands {
        let price = Price(MIDDLE - 10 + random.below(21) as i64);
        let kind = random.below(4);
        let found = match kind {
            0 | 1 => None,
            _ => take_resting(&mut open, &builder, &mut random),
        };
        match (kind, found) {
            (2, Some(id)) => {
                // An amendment must change something.
                let is_same = builder.resting(id).is_some_and(|(_, _, it)| it.price == price);
                builder.amend(id, Price(price.0 + i64::from(is_same)));
                open.push(id);
            }
            (_, Some(id)) => builder.cancel(id),
            (_, None) => {
                let instrument = InstrumentId(random.below(INSTRUMENTS) as u32 + 1);
                let account = AccountId(random.below(ACCOUNTS) as u32 + 1);
                let side = if random.below(2) == 0 { Side::Buy } else { Side::Sell };
                let quantity = Quantity(1 + random.below(20) as i64);
                open.push(builder.place(instrument, account, side, quantity, price));
            }
        }
    }
    for id in builder.ids() {
        if builder.resting(id).is_some() {
            builder.cancel(id);
        }
    }
    builder.build("orders, amendments and cancels on ten instruments")
}

/// Takes an order out of the list that still rests.
fn take_resting(
    open: &mut Vec<OrderId>,
    builder: &MarketBuilder,
    random: &mut XorShift,
) -> Option<OrderId> {
    while !open.is_empty() {
        let id = open.swap_remove(random.below(open.len() as u64) as usize);
        if builder.resting(id).is_some() {
            return Some(id);
        }
    }
    None
}
