//! Takers: trade with resting orders, in moods.

use super::plan::{Plan, Purpose};
use super::world::World;
use crate::demo::markets::{CURRENCIES, Role, accounts};
use rialto_model::{AccountId, Command, OrderKind, OrderSize, Price, Side, TimeInForce};

/// How much worse than the value a taker's limit may be, relative to it.
const HASTE: f64 = 0.001_5;
/// The median worth of a taker's order and the most, in dollars.
const DOLLARS_MEDIAN: f64 = 900.0;
const DOLLARS_MAX: f64 = 60_000.0;

/// All takers.
pub(super) struct Takers {
    accounts: Vec<AccountId>,
}

impl Takers {
    pub(super) fn new() -> Takers {
        Takers { accounts: accounts(Role::Taker) }
    }

    /// Trades.
    pub(super) fn plan(&mut self, world: &mut World, plan: &mut Plan) {
        let market = world.pick_market();
        let account = self.accounts[world.dice.below(self.accounts.len())];
        let side = world.pick_mood_side();
        let dollars = (DOLLARS_MEDIAN * (world.dice.normal() * 1.1).exp()).min(DOLLARS_MAX);
        let quantity = world.quantity(market, dollars.max(20.0));
        let away = match side {
            Side::Buy => 1.0 + HASTE,
            Side::Sell => 1.0 - HASTE,
        };
        let price = world.price(market, world.prices[market] * away, side);
        let mut order = world.limit(account, market, side, price, quantity);
        order.time_in_force = TimeInForce::Ioc;
        let way = world.dice.unit();
        if way < 0.4 {
            order.kind = OrderKind::Market;
            order.price = Price::ZERO;
        }
        if way < 0.2 {
            // An order of this value at present prices.
            let instrument = &world.instruments[market];
            let quote = &CURRENCIES[usize::from(instrument.spec.quote.0).saturating_sub(1)];
            let dollar = if quote.code == "USD" { 1.0 } else { 1.0 / world.prices[0] };
            let whole = dollars.max(20.0) * dollar;
            let amount = (whole * quote.scale().factor() as f64) as i128;
            order.size = OrderSize::Quote(rialto_model::Amount(amount));
        }
        plan.add(Purpose::Plain, Command::Place(order));
    }
}
