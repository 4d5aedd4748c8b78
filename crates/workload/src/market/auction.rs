//! A call auction whose price, volume and trades are known.

use super::{MarketBuilder, MarketFlow, MarketTotals, quote_of};
use crate::commands::rules;
use crate::random::XorShift;
use crate::reference::Fill;
use rialto_model::{
    AccountId, AuctionRules, Command, InstrumentId, InstrumentState, NewOrder, OrderId, OrderKind,
    Price, Quantity, Side, TimeInForce, TradingRules,
};

/// The fees of auctions, for the report.
pub const AUCTION_FEES: &str =
    "Fees: 0.01 % on both sides of every trade of the auction. Self-trades are allowed.";

/// The instrument of the auction, and one beside it.
const INSTRUMENT: InstrumentId = InstrumentId(1);
const BESIDE: InstrumentId = InstrumentId(2);
const INSTRUMENTS: u32 = 2;
const ACCOUNTS: u32 = 1_000;
const FEE_PPM: i32 = 100;
/// The price of the auction: 10,000.0.
const PRICE: Price = Price(100_000);
/// How far market orders may trade: beyond every limit.
const PROTECTION_PPM: u32 = 100_000;
const PROTECTION: i64 = PRICE.0 * PROTECTION_PPM as i64 / 1_000_000;
/// Of as many orders of a side, one is a market order.
const MARKET_EVERY: u64 = 10;
/// Of as many orders that cross, there is one that does not.
const BEHIND_EVERY: u64 = 100;
/// The levels of a side that the orders which do not cross are on.
const BEHIND_LEVELS: u64 = 10;
const QUANTITY_MAX: u64 = 20;
/// What buys more than is sold at the price.
const SURPLUS: i64 = 7;
/// A prime, so that successive orders are on levels far from each other and all levels get as many.
const STRIDE: u64 = 7_919;
const SEED: u64 = 1;

/// The commands of a call, the command that ends it, and what it must come to.
#[derive(Clone, Debug)]
pub struct CallAuction {
    /// The flow. Its prefill collects the orders, and its last command makes them trade. It leaves
    /// nothing resting, so that it can be repeated.
    pub flow: MarketFlow,
    /// The levels of the orders that cross, of both sides together.
    pub levels: u64,
    /// The price of the auction.
    pub price: Price,
    /// The quantity that trades.
    pub volume: Quantity,
    /// What finds nobody at the price: it would be bought.
    pub surplus: Quantity,
    /// The number of orders that end with the auction, with what is left of them.
    pub ended: u64,
    /// What is left of these.
    pub ended_quantity: i128,
    /// The quantity of all orders.
    pub placed_quantity: i128,
}

/// An order of the call.
#[derive(Clone, Copy, Debug)]
struct Collected {
    id: u64,
    account: AccountId,
    limit: Price,
    left: i64,
}

#[derive(Default)]
struct Collecting {
    commands: Vec<Command>,
    buys: Vec<Collected>,
    sells: Vec<Collected>,
}

/// Orders of 1,000 accounts that cross, on this many levels of both sides together, and one in a
/// hundred besides that do not. They buy at the price of the auction or above it and sell at it or
/// below it; one in ten is a market order. The last that buys at the price trades in part. All others
/// that cross trade in full, so that no other price has as much volume.
///
/// # Panics
/// If a level would have no order, or a limit would be beyond the protection of market orders.
#[must_use]
pub fn call_auction(orders: u64, levels: u64) -> CallAuction {
    let (pairs, limits) = (orders / 2, levels / 2 - 1);
    assert!(limits > 0 && limits as i64 <= PROTECTION, "{levels} levels");
    assert!(pairs - pairs / MARKET_EVERY >= 2 * limits, "{orders} orders on {levels} levels");
    let mut random = XorShift::seeded(SEED);
    let quantity = |random: &mut XorShift| Quantity(1 + random.below(QUANTITY_MAX) as i64);
    let quantities: Vec<Quantity> = (0..pairs).map(|_| quantity(&mut random)).collect();
    let mut call = Collecting { commands: opening().into(), ..Collecting::default() };
    for pair in 0..pairs {
        let is_market = pair % MARKET_EVERY == MARKET_EVERY - 1;
        let away = ((pair - pair / MARKET_EVERY) * STRIDE % limits) as i64;
        // Both sides have the same quantities, and so the same sum.
        let (bought, sold) = (quantities[pair as usize], quantities[(pairs - 1 - pair) as usize]);
        if pair == pairs - 1 {
            let all = Quantity(bought.0 + SURPLUS);
            call.for_auction(Side::Buy, all, PRICE, account(&mut random));
        } else if is_market {
            call.market(Side::Buy, bought, account(&mut random));
        } else {
            call.limit(Side::Buy, bought, Price(PRICE.0 + away), account(&mut random));
        }
        if is_market {
            call.market(Side::Sell, sold, account(&mut random));
        } else {
            call.limit(Side::Sell, sold, Price(PRICE.0 - away), account(&mut random));
        }
        if pair % BEHIND_EVERY == 0 {
            let away = 1 + (pair / BEHIND_EVERY % BEHIND_LEVELS) as i64;
            let (buys, sells) = (Price(PRICE.0 - away), Price(PRICE.0 + away));
            call.for_auction(Side::Buy, bought, buys, account(&mut random));
            call.for_auction(Side::Sell, sold, sells, account(&mut random));
        }
    }
    call.uncrossed(format!("{orders} orders that cross on {levels} levels"), levels)
}

fn account(random: &mut XorShift) -> AccountId {
    AccountId(random.below(ACCOUNTS.into()) as u32 + 1)
}

fn opening() -> [Command; 3] {
    let rules =
        TradingRules { reference_price: PRICE, market_protection_ppm: PROTECTION_PPM, ..rules() };
    let auction = AuctionRules { fee_ppm: FEE_PPM, ..AuctionRules::PLAIN };
    let instrument = INSTRUMENT;
    [
        Command::SetRules { instrument, rules },
        Command::SetAuctionRules { instrument, rules: auction, seed: 0 },
        Command::SetInstrumentState { instrument, state: InstrumentState::Call },
    ]
}

impl Collecting {
    fn limit(&mut self, side: Side, quantity: Quantity, limit: Price, account: AccountId) {
        self.place(NewOrder::limit(account, INSTRUMENT, side, quantity, limit), quantity, limit);
    }

    fn for_auction(&mut self, side: Side, quantity: Quantity, limit: Price, account: AccountId) {
        let order = NewOrder::limit(account, INSTRUMENT, side, quantity, limit);
        self.place(NewOrder { time_in_force: TimeInForce::Gfa, ..order }, quantity, limit);
    }

    fn market(&mut self, side: Side, quantity: Quantity, account: AccountId) {
        let order = NewOrder {
            kind: OrderKind::Market,
            time_in_force: TimeInForce::Gfa,
            ..NewOrder::limit(account, INSTRUMENT, side, quantity, Price::ZERO)
        };
        let sign = if side == Side::Buy { 1 } else { -1 };
        self.place(order, quantity, Price(PRICE.0 + sign * PROTECTION));
    }

    fn place(&mut self, order: NewOrder, quantity: Quantity, limit: Price) {
        let id = (self.buys.len() + self.sells.len()) as u64 + 1;
        let collected = Collected { id, account: order.account, limit, left: quantity.0 };
        match order.side {
            Side::Buy => self.buys.push(collected),
            Side::Sell => self.sells.push(collected),
        }
        self.commands.push(Command::Place(order));
    }

    /// Lets the best buy and the best sell trade, of those at one price the earliest, as long as both
    /// accept the price.
    fn uncrossed(self, name: String, levels: u64) -> CallAuction {
        let Collecting { mut commands, mut buys, mut sells } = self;
        let placed = (buys.len() + sells.len()) as u64;
        let sum = |orders: &[Collected]| orders.iter().map(|it| i128::from(it.left)).sum::<i128>();
        let placed_quantity = sum(&buys) + sum(&sells);
        buys.sort_by_key(|order| (-order.limit.0, order.id));
        sells.sort_by_key(|order| (order.limit.0, order.id));
        let quote = quote_of(INSTRUMENTS);
        let mut totals = MarketTotals::new(INSTRUMENTS, ACCOUNTS);
        let (mut buy, mut sell) = (0, 0);
        while buys[buy].limit >= PRICE && sells[sell].limit <= PRICE {
            let (bought, sold) = (&mut buys[buy], &mut sells[sell]);
            let quantity = bought.left.min(sold.left);
            bought.left -= quantity;
            sold.left -= quantity;
            // The later order counts as the taker.
            let (maker, taker, side) = match bought.id < sold.id {
                true => (&*bought, &*sold, Side::Sell),
                false => (&*sold, &*bought, Side::Buy),
            };
            let fill = Fill {
                maker: OrderId(maker.id),
                taker: OrderId(taker.id),
                price: PRICE,
                quantity: Quantity(quantity),
            };
            let accounts = [maker.account, taker.account];
            totals.post(&fill, (INSTRUMENT.0 as u16, quote), side, accounts, [FEE_PPM; 2]);
            buy += usize::from(bought.left == 0);
            sell += usize::from(sold.left == 0);
        }
        let left = || buys[buy..].iter().chain(&sells[sell..]);
        let volume = i64::try_from(totals.tally.traded_quantity);
        let prefill = commands.len();
        let (instrument, state) = (INSTRUMENT, InstrumentState::Open);
        commands.push(Command::SetInstrumentState { instrument, state });
        CallAuction {
            levels,
            price: PRICE,
            volume: Quantity(volume.expect("orders of at most 20 add up to far less")),
            surplus: Quantity(SURPLUS),
            ended: left().count() as u64,
            ended_quantity: left().map(|order| i128::from(order.left)).sum(),
            placed_quantity,
            flow: MarketFlow {
                name,
                instruments: INSTRUMENTS,
                accounts: ACCOUNTS,
                prefill,
                commands,
                placed,
                expected: totals,
                resting_max: placed,
            },
        }
    }
}

impl CallAuction {
    /// The instrument of the auction.
    pub const INSTRUMENT: InstrumentId = INSTRUMENT;

    /// The commands that collect the orders, and the one that makes them trade.
    ///
    /// # Panics
    /// Never: the last command is always there.
    #[must_use]
    pub fn parts(&self) -> (&[Command], &Command) {
        let (uncross, collect) = self.flow.commands.split_last().expect("it has a last command");
        (collect, uncross)
    }

    /// Two orders that trade with each other on the instrument beside it.
    #[must_use]
    pub fn pair_beside(&self) -> MarketFlow {
        let mut builder = MarketBuilder::new(INSTRUMENTS, ACCOUNTS);
        for (account, side) in [(1, Side::Buy), (2, Side::Sell)] {
            builder.place(BESIDE, AccountId(account), side, Quantity(10), PRICE);
        }
        builder.build("two orders of another instrument")
    }

    /// What the auction and some rounds of the pair beside it come to together. The digest is that of
    /// the auction.
    #[must_use]
    pub fn with_pairs(&self, rounds: u64) -> MarketFlow {
        let mut both = self.flow.clone();
        both.expected.add(&self.pair_beside().expected, rounds);
        both
    }
}

impl MarketTotals {
    /// Adds some rounds of other trades, without their digest.
    fn add(&mut self, other: &MarketTotals, rounds: u64) {
        self.tally.trades += other.tally.trades * rounds;
        self.tally.traded_quantity += other.tally.traded_quantity * i128::from(rounds);
        let gained = self.gained.iter_mut().zip(&other.gained);
        gained.for_each(|(gained, more)| *gained += more * i128::from(rounds));
        self.fees += other.fees * i128::from(rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn orders(auction: &CallAuction) -> impl Iterator<Item = &NewOrder> {
        auction.flow.commands.iter().filter_map(|command| match command {
            Command::Place(order) => Some(order),
            _ => None,
        })
    }

    #[test]
    fn it_has_as_many_orders_and_levels_as_its_name_says() {
        for (count, levels) in [(2_000, 40), (2_000, 200)] {
            let auction = call_auction(count, levels);
            let crosses = |order: &&NewOrder| match order.side {
                _ if order.kind == OrderKind::Market => true,
                Side::Buy => order.price >= PRICE,
                Side::Sell => order.price <= PRICE,
            };
            let crossing: Vec<&NewOrder> = orders(&auction).filter(crosses).collect();
            assert_eq!(crossing.len() as u64, count);
            let prices = crossing.iter().map(|order| (order.side == Side::Buy, order.price));
            assert_eq!(prices.collect::<BTreeSet<_>>().len() as u64, levels);
            let market = crossing.iter().filter(|order| order.kind == OrderKind::Market).count();
            assert!((count / 11..=count / 10).contains(&(market as u64)), "{market}");
        }
    }

    #[test]
    fn no_other_price_has_as_much_volume() {
        let auction = call_auction(2_000, 40);
        let volume = |price: i64| {
            let sum = |side: Side| -> i64 {
                let reached = orders(&auction).filter(|order| {
                    let reaches = match side {
                        Side::Buy => order.price.0 >= price,
                        Side::Sell => order.price.0 <= price,
                    };
                    order.side == side && (order.kind == OrderKind::Market || reaches)
                });
                let quantities = reached.filter_map(|order| match order.size {
                    rialto_model::OrderSize::Base(quantity) => Some(quantity.0),
                    rialto_model::OrderSize::Quote(_) => None,
                });
                quantities.sum()
            };
            let (buys, sells) = (sum(Side::Buy), sum(Side::Sell));
            (buys.min(sells), buys - sells)
        };
        assert_eq!(volume(PRICE.0), (auction.volume.0, auction.surplus.0));
        for away in (-50..=50).filter(|away| *away != 0) {
            assert!(volume(PRICE.0 + away).0 < auction.volume.0, "{away}");
        }
    }

    #[test]
    fn what_has_not_traded_ends() {
        let auction = call_auction(2_000, 40);
        let traded = 2 * i128::from(auction.volume.0);
        assert_eq!(traded + auction.ended_quantity, auction.placed_quantity);
        assert_eq!(auction.ended, auction.flow.placed - 2_000 + 1);
    }
}
