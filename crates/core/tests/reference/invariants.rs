//! What must hold after every command, checked on plain figures.

use super::{Account, Reference};
use rialto_core::Links;
use rialto_model::{
    AccountId, ClientOrderId, CurrencyId, Event, Handling, InstrumentId, InstrumentState, OrderId,
    OrderKind, PostOnly, Price, Quantity, SelfTrade, Side, TimeInForce, Timestamp, TrailState,
    Trigger, TriggerKind,
};
use std::collections::BTreeMap;

/// An open order, from the core or the fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub id: OrderId,
    pub account: AccountId,
    pub instrument: InstrumentId,
    pub side: Side,
    pub price: Price,
    /// The total quantity.
    pub quantity: Quantity,
    pub remaining: Quantity,
    pub reserved: i128,
    pub time_in_force: TimeInForce,
    /// Zero is never.
    pub expire_at: Timestamp,
    pub post_only: PostOnly,
    pub self_trade: SelfTrade,
    pub handling: Handling,
    pub maker_fee_ppm: i32,
    pub taker_fee_ppm: i32,
    pub client_order_id: ClientOrderId,
    /// What it waits for.
    pub trigger: Option<Trigger>,
    pub trail: Option<TrailState>,
    /// What an iceberg displays at most, and now.
    pub iceberg: Option<(Quantity, Quantity)>,
    pub links: Option<Links>,
}

/// Balances and books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// Available and reserved, wherever one of them is not zero.
    pub balances: BTreeMap<(AccountId, CurrencyId), (i128, i128)>,
    /// By instrument, bids before asks, best first, and then the waiting orders.
    pub orders: Vec<Standing>,
}

impl Holdings {
    pub fn of(reference: &Reference) -> Holdings {
        let balances = reference.balances();
        let mut orders = Vec::new();
        for listed in &reference.instruments {
            let id = listed.instrument.id;
            let sides = [Side::Buy, Side::Sell];
            let mut all: Vec<_> =
                sides.into_iter().flat_map(|side| reference.queue(id, side)).collect();
            all.extend(reference.waiting_queue(id));
            for order in all {
                orders.push(Standing {
                    id: order.id,
                    account: order.account,
                    instrument: order.instrument,
                    side: order.side,
                    price: order.price,
                    quantity: Quantity(order.filled.0 + order.remaining.0),
                    remaining: order.remaining,
                    reserved: reference.hold(&order).0,
                    time_in_force: order.time_in_force,
                    expire_at: order.expire_at,
                    post_only: order.post_only,
                    self_trade: order.self_trade,
                    handling: order.handling,
                    maker_fee_ppm: order.maker_fee_ppm,
                    taker_fee_ppm: order.taker_fee_ppm,
                    client_order_id: order.client_order_id,
                    trigger: order
                        .waits
                        .filter(|waits| waits.follows.is_none())
                        .map(|waits| Trigger { kind: waits.kind, price: waits.at }),
                    trail: order.waits.and_then(|it| it.follows).map(|follows| follows.state()),
                    iceberg: order.parts.map(|parts| (parts.most, parts.shown)),
                    links: reference.links(order.id),
                });
            }
        }
        Holdings { balances, orders }
    }

    pub fn queue(
        &self,
        instrument: InstrumentId,
        side: Side,
    ) -> impl Iterator<Item = &Standing> + '_ {
        let on_it = move |order: &&Standing| {
            order.instrument == instrument
                && order.side == side
                && order.trigger.is_none()
                && order.trail.is_none()
        };
        self.orders.iter().filter(on_it)
    }
}

/// Every invariant that can be seen from balances and books.
///
/// The reference supplies what holdings lack: instruments, the suspended taker, and withdrawals.
pub fn check(holdings: &Holdings, told: &Reference) -> Result<(), String> {
    let Reference { instruments, taking, held, .. } = told;
    let mut sums: BTreeMap<CurrencyId, i128> = BTreeMap::new();
    let mut reserved: BTreeMap<(AccountId, CurrencyId), i128> = BTreeMap::new();
    for ((account, currency), balance) in &holdings.balances {
        *sums.entry(*currency).or_default() += balance.0 + balance.1;
        if !account.is_house() && (balance.0 < 0 || balance.1 < 0) {
            return Err(format!("account {account} holds {balance:?} of currency {currency}"));
        }
        if balance.1 != 0 {
            reserved.insert((*account, *currency), balance.1);
        }
    }
    if let Some((currency, sum)) = sums.iter().find(|(_, sum)| **sum != 0) {
        return Err(format!("currency {currency} sums to {sum}, not zero"));
    }

    let open = holdings.orders.iter().map(|o| (o.account, o.instrument, o.side, o.reserved));
    let taker = taking.iter().map(|o| (o.account, o.instrument, o.side, told.hold(o).0));
    for (account, instrument, side, amount) in open.chain(taker) {
        let spec = instruments[instrument.0 as usize - 1].instrument.spec;
        let currency = if side == Side::Buy { spec.quote } else { spec.base };
        *reserved.entry((account, currency)).or_default() -= amount;
    }
    for held in held {
        *reserved.entry((held.account, held.currency)).or_default() -= held.amount.0;
    }
    if let Some((whose, rest)) = reserved.iter().find(|(_, rest)| **rest != 0) {
        return Err(format!(
            "the reserve of {whose:?} exceeds that of its orders and withdrawals by {rest}"
        ));
    }

    pairs_hold_the_larger_need(holdings, told)?;
    linked_orders_are_on_their_sides(holdings)?;

    for listed in instruments {
        let id = listed.instrument.id;
        let bid = holdings.queue(id, Side::Buy).next();
        let ask = holdings.queue(id, Side::Sell).next();
        if let (Some(bid), Some(ask)) = (bid, ask)
            && bid.price >= ask.price
            && !may_cross(listed.instrument.state)
        {
            return Err(format!("the book is crossed by {bid:?} and {ask:?}"));
        }
    }
    Ok(())
}

/// Of two linked orders, each of which may end the other, no more is held than for the one that needs more.
fn pairs_hold_the_larger_need(holdings: &Holdings, told: &Reference) -> Result<(), String> {
    for order in &holdings.orders {
        let Some(other) = order.links.and_then(|links| links.other) else { continue };
        let other =
            holdings.orders.iter().find(|it| it.id == other).ok_or("a pair of one order")?;
        let need = |id| {
            let order = told.orders.iter().find(|order| order.id == id);
            order.map_or(0, |order| told.need(order).0)
        };
        let (held, needed) = (order.reserved + other.reserved, need(order.id).max(need(other.id)));
        if held != needed {
            return Err(format!("a pair holds {held}, not {needed}: {order:?} and {other:?}"));
        }
    }
    Ok(())
}

impl Standing {
    /// The price from which it may trade. None of a trailing stop.
    fn level(&self) -> Option<Price> {
        match (self.trigger, self.trail) {
            (Some(trigger), _) => Some(trigger.price),
            (None, Some(_)) => None,
            (None, None) => Some(self.price),
        }
    }

    fn is_stop_loss(&self) -> bool {
        let is_stop = |trigger: Trigger| trigger.kind == TriggerKind::Stop;
        self.trail.is_some() || self.trigger.is_some_and(is_stop)
    }
}

/// Of two linked orders, the first is at a better price than the second. An exit is as its entry tells.
fn linked_orders_are_on_their_sides(holdings: &Holdings) -> Result<(), String> {
    let find = |id: OrderId| holdings.orders.iter().find(|order| order.id == id);
    for order in &holdings.orders {
        let Some(links) = order.links else { continue };
        if let Some(other) = links.other.and_then(find)
            && other.is_stop_loss()
            && let (Some(better), Some(worse)) = (order.level(), other.level())
            && (if order.side == Side::Sell { better <= worse } else { better >= worse })
        {
            return Err(format!("of a pair, {order:?} is not beyond {other:?}"));
        }
        let is_entry = |it: &&Standing| it.id != order.id && links.other != Some(it.id);
        let Some(entry) = find(links.list).filter(is_entry) else { continue };
        let told = entry.links.and_then(|links| match order.is_stop_loss() {
            true => links.stop_loss,
            false => links.take_profit,
        });
        let is_as_told = told.is_some_and(|leg| {
            // The limit of a market order may have moved with its trigger price.
            let has_own_limit = leg.kind == OrderKind::Market || leg.price == order.price;
            leg.nearest_price() == order.level() && has_own_limit
        });
        if !is_as_told {
            return Err(format!("the exit {order:?} is not as its entry tells: {entry:?}"));
        }
    }
    Ok(())
}

/// The phases in which the best buy may be above the best sell.
fn may_cross(state: InstrumentState) -> bool {
    use InstrumentState as S;
    ![S::Open, S::Closed, S::Listed, S::Delisted].contains(&state)
}

/// No trade pays out more than it brings in.
pub fn fees_are_covered(events: &[Event]) -> Result<(), String> {
    let mut trades = events.iter().filter_map(|event| match event {
        Event::Trade(trade) => Some(trade),
        _ => None,
    });
    match trades.find(|trade| trade.maker_fee.0 + trade.taker_fee.0 < 0) {
        Some(trade) => Err(format!("the rebate exceeds the fee: {trade:?}")),
        None => Ok(()),
    }
}

/// Nothing but the clock, the sequence and the memory of client order ids may have changed.
pub fn nothing_changed(before: &Reference, after: &Reference) -> Result<(), String> {
    let accounts = |reference: &Reference| -> Vec<Account> {
        let forgetful = |account: &Account| Account { entered: Vec::new(), ..account.clone() };
        reference.accounts.values().map(forgetful).collect()
    };
    let same = before.currencies == after.currencies
        && before.instruments == after.instruments
        && before.members == after.members
        && accounts(before) == accounts(after)
        && Holdings::of(before) == Holdings::of(after)
        && before.orders == after.orders
        && before.taking == after.taking
        && before.work == after.work
        && before.sweeps == after.sweeps
        && before.held_up == after.held_up
        && before.auctions == after.auctions
        && before.triggering == after.triggering
        && before.lists == after.lists
        && before.lists_to_read == after.lists_to_read
        && before.timetables == after.timetables
        && before.postings == after.postings
        && before.transfers == after.transfers
        && before.deposits == after.deposits
        && before.ended_withdrawals == after.ended_withdrawals
        && before.held == after.held
        && before.orders_entered == after.orders_entered
        && before.trades_made == after.trades_made
        && before.rules_version == after.rules_version;
    if same { Ok(()) } else { Err("a refused command changed something".to_owned()) }
}
