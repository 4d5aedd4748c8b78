//! The crowd: leaves orders further away, takes some back, makes some smaller, lets some expire.

use super::icebergs::resting_command;
use super::makers::is_open;
use super::now;
use super::plan::{Plan, Purpose};
use super::world::{Entry, World};
use crate::demo::markets::{MARKETS, Role, accounts};
use rialto_feed::Feed;
use rialto_model::{
    AccountId, Amend, Command, OrderId, OrderRef, Quantity, Side, TimeInForce, Timestamp,
};

/// The orders that one account rests in one market before it cancels some.
const STANDING_MAX: usize = 60;
/// The mean distance of an order from the value, relative to it, and the most.
const DISTANCE_MEAN: f64 = 0.002;
const DISTANCE_MAX: f64 = 0.03;
/// How much further an order goes where orders collect, relative to the value: some are then beyond
/// the other side of the book.
const EAGERNESS: f64 = 0.001;

/// The crowd's accounts.
pub(super) struct Crowd {
    accounts: Vec<AccountId>,
    /// The resting orders of each account and market.
    standing: Vec<Vec<OrderId>>,
}

impl Crowd {
    pub(super) fn new() -> Crowd {
        let accounts = accounts(Role::Crowd);
        let standing = vec![Vec::new(); accounts.len() * MARKETS.len()];
        Crowd { accounts, standing }
    }

    /// Enters an order, and perhaps cancels or reduces another.
    pub(super) fn plan(&mut self, world: &mut World, feed: &Feed, plan: &mut Plan) {
        let market = world.pick_market();
        let entry = world.entry(market);
        if entry == Entry::Refused {
            return;
        }
        let who = world.dice.below(self.accounts.len());
        let account = self.accounts[who];
        let list = who * MARKETS.len() + market;
        let opinion = world.opinion(market, account);
        let mut distance = (world.dice.exponential() * DISTANCE_MEAN).clamp(0.000_2, DISTANCE_MAX);
        let side = match entry {
            // An account that enters orders of one side only does not trade with itself.
            Entry::ForAuction(_) => {
                distance -= EAGERNESS;
                if opinion > 0.0 { Side::Buy } else { Side::Sell }
            }
            _ => world.pick_side(),
        };
        let away = match side {
            Side::Buy => 1.0 - distance,
            Side::Sell => 1.0 + distance,
        };
        let price = world.price(market, world.prices[market] * away, side);
        let dollars = 50.0 + world.dice.exponential() * 800.0;
        let quantity = world.quantity(market, dollars);
        let mut order = world.limit(account, market, side, price, quantity);
        let mut purpose = Purpose::Standing(list as u32);
        if world.dice.chance(0.4) {
            order.time_in_force = TimeInForce::Gtd;
            let seconds = world.dice.between(3.0, 20.0);
            let nanoseconds = (seconds * Timestamp::SECOND as f64) as u64;
            order.expire_at = now().saturating_add(nanoseconds);
            purpose = Purpose::Plain;
        }
        if let Entry::ForAuction(auction_only) = entry
            && world.dice.chance(0.2)
        {
            order.time_in_force = auction_only;
            order.expire_at = Timestamp::ZERO;
        }
        plan.add(purpose, resting_command(world, market, order));
        self.touch_another(list, account, world, feed, plan);
    }

    fn touch_another(
        &mut self,
        list: usize,
        account: AccountId,
        world: &mut World,
        feed: &Feed,
        plan: &mut Plan,
    ) {
        let standing = &mut self.standing[list];
        if standing.is_empty() {
            return;
        }
        let at = world.dice.below(standing.len());
        let order = standing[at];
        if !is_open(feed, order) {
            standing.swap_remove(at);
        } else if standing.len() > STANDING_MAX || world.dice.chance(0.3) {
            standing.swap_remove(at);
            plan.add(Purpose::Plain, Command::Cancel { account, order: OrderRef::Id(order) });
        } else if world.dice.chance(0.2) {
            plan.steps.extend(
                smaller(feed, account, order).map(|amend| (Purpose::Plain, Command::Amend(amend))),
            );
        }
    }

    /// Handles the answer to an order.
    pub(super) fn learn(&mut self, list: u32, order: Option<OrderId>) {
        if let (Some(list), Some(order)) = (self.standing.get_mut(list as usize), order) {
            list.push(order);
        }
    }
}

/// The same order for three quarters of its quantity, where that is a lot or more.
fn smaller(feed: &Feed, account: AccountId, order: OrderId) -> Option<Amend> {
    let view = feed.order(order)?;
    let lot = feed.instrument(view.terms.instrument)?.spec.rules.lot.0;
    let quantity = view.quantity.0 / 4 * 3 / lot * lot;
    (quantity > view.filled.0 && quantity < view.quantity.0).then_some(Amend {
        account,
        order: OrderRef::Id(order),
        price: None,
        quantity: Some(Quantity(quantity)),
    })
}
