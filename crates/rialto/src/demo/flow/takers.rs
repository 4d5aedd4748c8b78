//! Takers: trade with resting orders, in moods; in a call they enter orders for its auction.

use super::conditional::{conditional, moved};
use super::linked::linked;
use super::plan::{Plan, Purpose};
use super::varied::varied;
use super::world::{Entry, World};
use crate::demo::markets::{CURRENCIES, MARKETS, Role, accounts};
use rialto_feed::Feed;
use rialto_model::{
    AccountId, Command, OrderId, OrderKind, OrderRef, OrderSize, Price, Side, TimeInForce,
};
use std::collections::VecDeque;

/// How much worse than the value a taker's limit may be, relative to it.
const HASTE: f64 = 0.001_5;
/// The median worth of a taker's order and the most, in dollars.
const DOLLARS_MEDIAN: f64 = 900.0;
const DOLLARS_MAX: f64 = 60_000.0;
/// The largest number of orders of an account for the auction of a market. At this number, the
/// account cancels the oldest.
const WAITING_MAX: usize = 40;

/// How often a taker's order waits for a price.
const CONDITIONAL: f64 = 0.1;
/// The most conditional orders that are remembered.
const CONDITIONAL_MAX: usize = 64;
/// How often a taker moves the trigger price of an order that waits, instead of entering one.
const MOVED: f64 = 0.03;
/// How often others are linked with more orders.
const LINKED: f64 = 0.06;
/// How often others are of a kind that is used less.
const VARIED: f64 = 0.1;

/// All takers.
pub(super) struct Takers {
    accounts: Vec<AccountId>,
    /// The orders for an auction of each account and market.
    waiting: Vec<VecDeque<OrderId>>,
    /// Orders that wait for a price, oldest first, and their markets.
    conditional: VecDeque<(usize, OrderId)>,
}

impl Takers {
    pub(super) fn new() -> Takers {
        let accounts = accounts(Role::Taker);
        let waiting = vec![VecDeque::new(); accounts.len() * MARKETS.len()];
        Takers { accounts, waiting, conditional: VecDeque::new() }
    }

    /// Trades, enters an order for the auction, or moves one that waits for a price.
    pub(super) fn plan(&mut self, world: &mut World, feed: &Feed, plan: &mut Plan) {
        let market = world.pick_market();
        let who = world.dice.below(self.accounts.len());
        let (account, list) = (self.accounts[who], who * MARKETS.len() + market);
        let auction_only = match world.entry(market) {
            Entry::Refused => return,
            Entry::ForAuction(auction_only) => Some(auction_only),
            Entry::Continuous => None,
        };
        let side = match auction_only {
            // An account that enters orders of one side only does not trade with itself.
            Some(_) if world.opinion(market, account) > 0.0 => Side::Buy,
            Some(_) => Side::Sell,
            None => world.pick_mood_side(),
        };
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
        if let Some(auction_only) = auction_only {
            let any = world.dice.chance(0.3);
            order.time_in_force = if any { TimeInForce::Gfa } else { auction_only };
            plan.add(Purpose::Waiting(list as u32), Command::Place(order));
            self.withdraw(list, account, plan);
            return;
        }
        // The auction that these waited for is over.
        self.waiting[list].clear();
        if world.dice.chance(MOVED)
            && let Some(command) = self.move_conditional(world, feed)
        {
            plan.add(Purpose::Plain, command);
            return;
        }
        if world.dice.chance(CONDITIONAL) {
            let command = conditional(world, market, order);
            let purpose = match command {
                Command::PlaceConditional(_) => Purpose::Conditional(market as u32),
                _ => Purpose::Plain,
            };
            plan.add(purpose, command);
            return;
        }
        if world.dice.chance(LINKED) {
            plan.add(Purpose::Plain, linked(world, market, order));
            return;
        }
        if world.dice.chance(VARIED) {
            plan.add(Purpose::Plain, Command::Place(varied(world, market, order)));
            return;
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

    /// Moves the trigger price of an order, or forgets it if it waits no longer.
    fn move_conditional(&mut self, world: &mut World, feed: &Feed) -> Option<Command> {
        let at = world.dice.below(self.conditional.len().max(1));
        let (market, order) = *self.conditional.get(at)?;
        if world.entry(market) != Entry::Continuous {
            return None;
        }
        let command = feed.order(order).and_then(|order| moved(world, market, &order));
        if command.is_none() {
            self.conditional.remove(at);
        }
        command
    }

    /// Withdraws the oldest order of a list that has grown too long.
    fn withdraw(&mut self, list: usize, account: AccountId, plan: &mut Plan) {
        if self.waiting[list].len() > WAITING_MAX
            && let Some(order) = self.waiting[list].pop_front()
        {
            plan.add(Purpose::Plain, Command::Cancel { account, order: OrderRef::Id(order) });
        }
    }

    /// Handles the answer to an order for an auction.
    pub(super) fn learn(&mut self, list: u32, order: Option<OrderId>) {
        if let (Some(list), Some(order)) = (self.waiting.get_mut(list as usize), order) {
            list.push_back(order);
        }
    }

    /// Handles the answer to an order that waits for a price.
    pub(super) fn learn_conditional(&mut self, market: u32, order: Option<OrderId>) {
        self.conditional.extend(order.map(|order| (market as usize, order)));
        if self.conditional.len() > CONDITIONAL_MAX {
            self.conditional.pop_front();
        }
    }
}
