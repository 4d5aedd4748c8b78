//! Market makers: each keeps a ladder of quotes around its estimate of the value.

use super::icebergs::resting_command;
use super::plan::{Plan, Purpose};
use super::world::{Entry, World};
use crate::demo::markets::{MARKETS, Role, accounts};
use rialto_feed::Feed;
use rialto_model::{AccountId, Command, Instrument, OrderId, OrderRef, PostOnly, Side};

/// Quotes of one maker on one side of one market.
const LEVELS: usize = 8;
/// The distance of the first quote from the value, relative to it.
const SPREAD: f64 = 0.000_15;
/// The distance from one quote to the next, relative to the value.
const STEP: f64 = 0.000_12;
/// How far a maker moves its quotes when its stock is as far off as it minds, relative to the value.
const SKEW: f64 = 0.000_5;
/// The part of its funds that a maker minds to be off by.
const STOCK_MINDED: f64 = 0.05;

/// All makers.
pub(super) struct Makers {
    accounts: Vec<AccountId>,
    slots: Vec<Slot>,
    /// For each maker and market, how far its quotes are moved, relative to the value.
    skews: Vec<[f64; MARKETS.len()]>,
}

/// The position of one quote. The slots of a market are consecutive.
struct Slot {
    maker: usize,
    side: Side,
    level: usize,
    order: Option<OrderId>,
    /// Whether a new quote has been submitted and not been answered.
    waits: bool,
}

impl Makers {
    pub(super) fn new() -> Makers {
        let accounts = accounts(Role::Maker);
        let mut slots = Vec::new();
        for _market in &MARKETS {
            for maker in 0..accounts.len() {
                for side in [Side::Buy, Side::Sell] {
                    slots.extend((0..LEVELS).map(|level| Slot {
                        maker,
                        side,
                        level,
                        order: None,
                        waits: false,
                    }));
                }
            }
        }
        let skews = vec![[0.0; MARKETS.len()]; accounts.len()];
        Makers { accounts, slots, skews }
    }

    /// Replaces one quote: enters a new order and cancels the old one.
    pub(super) fn plan(&mut self, world: &mut World, feed: &Feed, plan: &mut Plan) {
        let market = world.pick_market();
        let entry = world.entry(market);
        if entry == Entry::Refused {
            return;
        }
        let per_market = self.slots.len() / MARKETS.len();
        let at = market * per_market + world.dice.below(per_market);
        let slot = &mut self.slots[at];
        if slot.waits {
            return;
        }
        let account = self.accounts[slot.maker];
        let distance = SPREAD
            + STEP * (slot.level as f64 + world.dice.unit() * 0.6)
            + STEP * 0.3 * slot.maker as f64;
        let away = match slot.side {
            Side::Buy => -distance,
            Side::Sell => distance,
        };
        let off = self.skews[slot.maker][market] + world.opinion(market, account);
        let value = world.prices[market] * (1.0 + away + off);
        let price = world.price(market, value, slot.side);
        let dollars = world.dice.between(500.0, 3_000.0) * (1.0 + slot.level as f64 * 0.8);
        let quantity = world.quantity(market, dollars);
        let mut order = world.limit(account, market, slot.side, price, quantity);
        if entry == Entry::Continuous {
            order.post_only = PostOnly::Slide;
        }
        slot.waits = true;
        plan.add(Purpose::Quote(at as u32), resting_command(world, market, order));
        let old = slot.order.take().filter(|order| is_open(feed, *order));
        if let Some(order) = old {
            plan.add(Purpose::Plain, Command::Cancel { account, order: OrderRef::Id(order) });
        }
    }

    /// Handles the answer to a quote; `None` if it was not entered.
    pub(super) fn learn(&mut self, slot: u32, order: Option<OrderId>) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.waits = false;
            slot.order = order;
        }
    }

    /// Moves quotes so that stock that is off comes back: who has too much asks for less.
    pub(super) fn skew(&mut self, feed: &Feed, instruments: &[Instrument]) {
        for (account, skews) in self.accounts.iter().zip(&mut self.skews) {
            for (instrument, skew) in instruments.iter().zip(skews) {
                let base = &crate::demo::markets::CURRENCIES
                    [usize::from(instrument.spec.base.0).saturating_sub(1)];
                let Some(balance) = feed.balance(*account, instrument.spec.base) else { continue };
                let funds = base.amount(base.funds).0 as f64;
                let stock = (balance.available.0 + balance.reserved.0) as f64;
                let off = (stock - funds) / (funds * STOCK_MINDED);
                *skew = -off.clamp(-1.0, 1.0) * SKEW;
            }
        }
    }
}

/// Whether an order rests in the book, as far as is known.
pub(super) fn is_open(feed: &Feed, order: OrderId) -> bool {
    feed.order(order).is_some_and(|order| order.status.is_open())
}
