//! The state from bytes.

use super::SnapshotError;
use super::formats::{
    WITH_AMENDED_TRIGGERS, WITH_AUCTIONS, WITH_CONTRACT_TERMS, WITH_ICEBERGS, WITH_LINKS,
    WITH_RESIDUES, WITH_TRIGGERS, WITH_WITHDRAWALS,
};
use super::read_background::{background, works};
use super::read_links::lists;
use super::read_markets::markets;
use super::read_timetable::calendars;
use super::read_transfers::{deposits, ended_withdrawals, transfers, withdrawals};
use super::read_triggers::{extension, triggers};
use super::reader::Reader;
use crate::Core;
use crate::book::LimitOrder;
use crate::client_ids::End;
use crate::fees::Fees;
use crate::instruments::Market;
use crate::ledger::Balance;
use crate::limits::{CoreConfig, Limits};
use crate::orders::{Attributes, Role, STAND_IN};
use crate::restrictions::RestrictionPair;
use crate::taker::{Remaining, Taker};
use rialto_model::{
    AccountId, Amount, CurrencyId, EngineId, Iceberg, InstrumentId, MemberId, NewOrder, OrderId,
    OrderSize, Outcome, PPM, PostOnly, Price, PriceRange, Quantity, RejectReason, Seq, Side,
    Timestamp,
};

pub(super) type Result<T> = std::result::Result<T, SnapshotError>;

/// Reads the canonical content.
pub(super) fn content(format: u32, bytes: &[u8], hash_key: u64) -> Result<Core> {
    let mut from = Reader { format, bytes, at: 0 };
    let mut core = counters(&mut from, hash_key)?;
    accounts(&mut core, &mut from)?;
    markets(&mut core, &mut from)?;
    client_ids(&mut core, &mut from)?;
    let mut listed = orders(&mut core, &mut from)?;
    if from.bool()? {
        let taker = taker(&mut core, &mut from)?;
        if taker.amended {
            listed.push((taker.order, STAND_IN, taker.account, taker.market));
        }
        core.urgent = Some(taker);
    }
    // Each account's list is by ascending id, whatever the books' priority is.
    listed.sort_unstable();
    core.auction_links.cover(core.orders.slots());
    for (_, slot, account, market) in listed {
        core.open.append(core.accounts.get_mut(account), slot);
        core.open_counts.increase(account, market);
        if slot != STAND_IN && core.open.get(slot).attributes.time_in_force.is_for_auction() {
            let list = &mut core.markets[usize::from(market)].auction_orders;
            core.auction_links.append(list, slot);
            let detail = core.open.get(slot);
            if detail.attributes.role.is_market() {
                list.add_market(detail.attributes.side, detail.price);
            }
        }
    }
    if core.rules_since(2) {
        background(&mut core, &mut from)?;
    } else {
        works(&mut core, &mut from)?;
    }
    transfers(&mut core, &mut from)?;
    if format >= WITH_WITHDRAWALS {
        withdrawals(&mut core, &mut from)?;
    }
    if format >= WITH_RESIDUES {
        deposits(&mut core, &mut from)?;
        ended_withdrawals(&mut core, &mut from)?;
    }
    if format >= WITH_AUCTIONS {
        calendars(&mut core, &mut from)?;
    }
    if format >= WITH_LINKS {
        lists(&mut core, &mut from)?;
    }
    from.refuse_unless(from.at == bytes.len(), "the content goes on behind its end")?;
    core.settle_due();
    Ok(core)
}

fn counters(from: &mut Reader<'_>, hash_key: u64) -> Result<Core> {
    let engine = EngineId(from.u16()?);
    let rules_version = from.u32()?;
    super::check_rules(rules_version)?;
    let (seq, time) = (Seq(from.u64()?), from.time()?);
    let (order_count, trade_count) = (from.u64()?, from.u64()?);
    let mut limits = Limits {
        members_max: from.u32()?,
        accounts_max: from.u32()?,
        currencies_max: from.u32()?,
        instruments_max: from.u32()?,
        orders_max: from.u32()?,
        transfers_max: from.u32()?,
        client_ids_max: from.u32()?,
        pending_cancels_max: from.u32()?,
        ..Limits::default()
    };
    if from.format >= WITH_WITHDRAWALS {
        limits.withdrawals_max = from.u32()?;
        limits.account_withdrawals_max = from.u32()?;
    }
    if from.format >= WITH_RESIDUES {
        limits.account_transfers_max = from.u32()?;
        limits.deposits_max = from.u32()?;
        limits.client_ids_total_max = from.u32()?;
    }
    let mut core = Core::new(CoreConfig { engine, rules_version, limits, hash_key });
    // Both older formats are of the first rules.
    let fits = from.format.max(WITH_WITHDRAWALS) == core.format();
    from.refuse_unless(fits, "the rules in force have another format")?;
    (core.seq, core.time) = (seq, time);
    (core.order_count, core.trade_count) = (order_count, trade_count);
    if from.format >= WITH_AUCTIONS {
        let venue = from.choice()?;
        core.restrictions.set_venue(venue);
    }
    Ok(core)
}

fn accounts(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        let (code, scale) = (from.text()?, from.scale()?);
        let created = core.create_currency(code, scale);
        from.needs(created.ok(), "a currency cannot be listed")?;
        let id = CurrencyId(core.currencies.len() as u16);
        let (fees, transit) = (from.amount()?, from.amount()?);
        core.ledger.restore_house(id, fees, transit);
    }
    let limits = core.limits;
    for _ in 0..from.u32()? {
        let (id, name) = (MemberId(from.u32()?), from.text()?);
        let created = core.accounts.create_member(&limits, id, name);
        from.needs(created.ok(), "a member cannot be admitted")?;
        let pair = restrictions(from)?;
        core.restrictions.set_member(id, pair);
    }
    for slot in 0..from.u32()? {
        let (id, member) = (AccountId(from.u32()?), MemberId(from.u32()?));
        let name = from.text()?;
        from.needs(core.open_account(id, member, name).ok(), "an account cannot be opened")?;
        core.accounts.get_mut(slot).restrictions = restrictions(from)?;
        let due = from.time()?;
        if due != Timestamp::MAX {
            core.dead_men.insert(slot, due, u64::from(id.0));
        }
        for _ in 0..from.u32()? {
            let currency = CurrencyId(from.u16()?);
            let listed = usize::from(currency.0).wrapping_sub(1) < core.currencies.len();
            from.refuse_unless(listed, "a balance is of no currency")?;
            let balance = Balance { available: from.amount()?, reserved: from.amount()? };
            core.ledger.restore_balance(slot, currency, balance);
        }
    }
    Ok(())
}

/// The restrictions of a member or an account.
fn restrictions(from: &mut Reader<'_>) -> Result<RestrictionPair> {
    if from.format < WITH_AUCTIONS {
        return Ok(RestrictionPair::default());
    }
    let pair = RestrictionPair::from_bits(from.u8()?);
    from.needs(pair, "a restriction is unknown")
}

fn client_ids(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for slot in 0..core.accounts.len() {
        let account = core.accounts.get(slot).id;
        for in_window in [false, true] {
            let count = from.u32()?;
            let fits = !in_window || count <= core.limits.client_ids_max;
            from.refuse_unless(fits, "an account remembers too many orders")?;
            for _ in 0..count {
                let (terms, extension) = (terms(from, account)?, extension(from)?);
                let answer = answer(from)?;
                let end = end(from)?;
                let known = core.client_ids.find(account, &terms.client_order_id).is_some();
                let fine = !known && !terms.client_order_id.is_empty();
                from.refuse_unless(fine, "a client order id is remembered twice or empty")?;
                let at = match in_window {
                    true => core.client_ids.remember(slot, &terms, extension, answer, false),
                    false => core.client_ids.restore_outside_window(&terms, extension, answer),
                };
                if let Some(end) = end {
                    let ordered = matches!(answer, Outcome::Order { .. });
                    from.refuse_unless(ordered && in_window, "an order that is none has ended")?;
                    core.client_ids.set_end(at, end);
                }
            }
        }
    }
    Ok(())
}

fn terms(from: &mut Reader<'_>, account: AccountId) -> Result<NewOrder> {
    Ok(NewOrder {
        account,
        client_order_id: from.text()?,
        instrument: InstrumentId(from.u32()?),
        side: from.choice()?,
        kind: from.choice()?,
        time_in_force: from.choice()?,
        post_only: from.choice()?,
        self_trade: from.optional(255)?,
        handling: from.handling()?,
        size: match from.bool()? {
            false => OrderSize::Base(from.quantity()?),
            true => OrderSize::Quote(from.amount()?),
        },
        price: from.price()?,
        expire_at: from.time()?,
        minimum_quantity: match from.format < WITH_CONTRACT_TERMS {
            true => rialto_model::Quantity::ZERO,
            false => from.quantity()?,
        },
    })
}

fn answer(from: &mut Reader<'_>) -> Result<Outcome> {
    if !from.bool()? {
        let reason = RejectReason::from_number(from.u8()?);
        return Ok(Outcome::Rejected { reason: from.needs(reason, "a reason is unknown")? });
    }
    Ok(Outcome::Order {
        order: OrderId(from.u64()?),
        status: from.choice()?,
        price: from.price()?,
        filled: from.quantity()?,
        remaining: from.quantity()?,
        repeated: false,
    })
}

/// How an order ended, if that is remembered.
fn end(from: &mut Reader<'_>) -> Result<Option<End>> {
    if from.format < WITH_RESIDUES || !from.bool()? {
        return Ok(None);
    }
    let (seq, time) = (Seq(from.u64()?), from.time()?);
    let reason = from.optional(255)?;
    let (price, self_trade, expire_at) = (from.price()?, from.choice()?, from.time()?);
    let (filled, remaining) = (from.quantity()?, from.quantity()?);
    let fine = filled.0 >= 0 && remaining.0 >= 0 && filled.0.checked_add(remaining.0).is_some();
    from.refuse_unless(fine, "an order ended with more than it was for")?;
    Ok(Some(End { seq, time, reason, price, self_trade, expire_at, filled, remaining }))
}

/// An order's id, slot, account and instrument, for the account's list.
pub(super) type Listed = (OrderId, u32, u32, u16);

fn orders(core: &mut Core, from: &mut Reader<'_>) -> Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for market in 0..core.markets.len() as u16 {
        for &side in Side::ALL {
            let mut before = None;
            for _ in 0..from.u32()? {
                let order = order(core, from, market, side)?;
                let price = core.open.get(order.1).price;
                let fine = is_behind(side, before.replace(price), price);
                from.refuse_unless(fine, "an order stands behind one with a worse price")?;
                listed.push(order);
            }
        }
    }
    if from.format >= WITH_TRIGGERS {
        for market in 0..core.markets.len() as u16 {
            triggers(core, from, market, &mut listed)?;
        }
    }
    Ok(listed)
}

/// Whether an order of this price may stand behind one before it.
pub(super) fn is_behind(side: Side, before: Option<Price>, price: Price) -> bool {
    before.is_none_or(|before| match side {
        Side::Buy => before >= price,
        Side::Sell => before <= price,
    })
}

/// The next order of a side.
fn order(core: &mut Core, from: &mut Reader<'_>, market: u16, side: Side) -> Result<Listed> {
    let (taker, iceberg) = resting(core, from, market, side)?;
    let attributes = taker.attributes;
    let fine = attributes.time_in_force.is_for_auction() || attributes.role != Role::Market;
    from.refuse_unless(fine, "the rules in force do not know the attributes of an order")?;
    let Remaining::Base(quantity) = taker.want else { unreachable!("it was read as a quantity") };
    let (id, price, owner) = (taker.order, taker.limit, taker.member);
    let book = &mut core.markets[usize::from(market)].book;
    let order = LimitOrder { id, side, price, quantity, owner };
    let inserted = book.insert(&mut core.orders, order);
    let slot = from.needs(inserted.ok(), "an order cannot rest")?;
    let listed = admit(core, slot.at(), &taker);
    if let Some(iceberg) = iceberg {
        core.icebergs.set(slot, iceberg);
        core.markets[usize::from(market)].icebergs += 1;
    }
    Ok(listed)
}

/// Keeps what an order in a slot has besides its place.
pub(super) fn admit(core: &mut Core, slot: u32, taker: &Taker) -> Listed {
    core.open.cover(core.orders.slots());
    *core.open.get_mut(slot) = taker.detail();
    if taker.expire_at != Timestamp::MAX {
        core.expiries.insert(slot, taker.expire_at, taker.order.0);
    }
    (taker.order, slot, taker.account, taker.market)
}

/// An open order that is not on its way, and what it displays if it is an iceberg. Its role is that of a market
/// order, an iceberg or none.
pub(super) fn resting(
    core: &mut Core,
    from: &mut Reader<'_>,
    market: u16,
    side: Side,
) -> Result<(Taker, Option<Iceberg>)> {
    let id = order_id(core, from)?;
    let account = account_slot(core, from)?;
    let limit = from.price()?;
    let remaining = from.quantity()?;
    let total = from.quantity()?;
    let filled = total.checked_sub(remaining).filter(|filled| filled.0 >= 0);
    let filled = from.needs(filled, "an order has more open than it is for")?;
    let notional = core.markets[usize::from(market)].instrument.notional(limit, total);
    from.needs(notional, "an order is worth more than can be expressed")?;
    let reserved = from.amount()?;
    let expire_at = from.time()?;
    let fees = fees(from)?;
    let mut attributes = attributes(from, side)?;
    let mut iceberg = None;
    if from.format >= WITH_AUCTIONS {
        attributes.role = match from.u8()? {
            0 => Role::Plain,
            1 => Role::Market,
            2 if from.format >= WITH_ICEBERGS => Role::Iceberg,
            _ => return Err(from.wrong("an order is of no known kind")),
        };
    }
    if attributes.role == Role::Iceberg {
        let (display_quantity, displayed) = (from.quantity()?, from.quantity()?);
        let fine = displayed.0 > 0
            && displayed <= display_quantity.min(remaining)
            && is_iceberg(&attributes, display_quantity, total);
        from.refuse_unless(fine, "an iceberg displays what it may not")?;
        iceberg = Some(Iceberg { display_quantity, displayed });
    }
    let known = core.rules_since(attributes.time_in_force.rules_version_min());
    from.refuse_unless(known, "the rules in force do not know the attributes of an order")?;
    let client = client_entry(core, from, account)?;
    let member = core.accounts.get(account).member;
    let on_grid =
        from.format < WITH_AUCTIONS || limit.0 % core.markets[usize::from(market)].grid.0 == 0;
    from.refuse_unless(on_grid && limit.0 > 0, "an order is not on the grid of prices")?;
    let taker = Taker {
        order: id,
        account,
        member,
        market,
        attributes,
        rests: true,
        amended: false,
        limit,
        range: PriceRange::ALL,
        expire_at,
        want: Remaining::Base(remaining),
        filled,
        reserved,
        fees,
        client,
        display_quantity: iceberg.map_or(Quantity::ZERO, |iceberg| iceberg.display_quantity),
        link: None,
    };
    Ok((taker, iceberg))
}

/// Whether an order may be an iceberg that displays at most `display_quantity`.
fn is_iceberg(attributes: &Attributes, display_quantity: Quantity, total: Quantity) -> bool {
    Iceberg::is_allowed(display_quantity, total) && attributes.time_in_force.rests_in_trading()
}

/// The id of an order that the core has accepted.
fn order_id(core: &Core, from: &mut Reader<'_>) -> Result<OrderId> {
    let id = OrderId(from.u64()?);
    let is_own = OrderId::from_parts(core.engine, id.counter()) == id;
    let known = is_own && (1..=core.order_count).contains(&id.counter());
    from.refuse_unless(known, "an order has an id that was not given to any")?;
    Ok(id)
}

fn attributes(from: &mut Reader<'_>, side: Side) -> Result<Attributes> {
    let (time_in_force, post_only) = (from.choice()?, from.choice()?);
    let (self_trade, handling) = (from.choice()?, from.handling()?);
    Ok(Attributes::new(side, time_in_force, post_only, self_trade, handling))
}

/// An order's fee rates and residue.
fn fees(from: &mut Reader<'_>) -> Result<Fees> {
    let (maker_ppm, taker_ppm) = (from.i32()?, from.i32()?);
    let known = |ppm: i32| (-Fees::PPM_MAX..=Fees::PPM_MAX).contains(&ppm);
    from.refuse_unless(known(maker_ppm) && known(taker_ppm), "a fee rate is out of range")?;
    let residue = if from.format >= WITH_RESIDUES { from.u32()? } else { 0 };
    from.refuse_unless(i128::from(residue) < PPM, "a residue of a fee is a whole unit")?;
    Ok(Fees::new(maker_ppm, taker_ppm, residue))
}

pub(super) fn account_slot(core: &Core, from: &mut Reader<'_>) -> Result<u32> {
    let id = AccountId(from.u32()?);
    from.needs(core.accounts.slot(id).ok(), "there is no such account")
}

/// Finds the memory of an open order's client order id and marks it open; plus one, zero is none.
fn client_entry(core: &mut Core, from: &mut Reader<'_>, account: u32) -> Result<u32> {
    let name = from.text()?;
    if name.is_empty() {
        return Ok(0);
    }
    let found = core.client_ids.find(core.accounts.get(account).id, &name);
    let at = from.needs(found, "an order's client order id is not remembered")?;
    let is_open = core.client_ids.get(at).open;
    from.refuse_unless(!is_open, "two open orders have one client order id")?;
    core.client_ids.set_open(at);
    Ok(at + 1)
}

fn taker(core: &mut Core, from: &mut Reader<'_>) -> Result<Taker> {
    let order = order_id(core, from)?;
    let account = account_slot(core, from)?;
    let market = from.u16()?;
    from.refuse_unless(usize::from(market) < core.markets.len(), "there is no such instrument")?;
    let side = from.choice()?;
    let attributes = attributes(from, side)?;
    let (rests, amended) = (from.bool()?, from.bool()?);
    let takes_five_levels = from.format >= WITH_AMENDED_TRIGGERS && from.bool()?;
    let mut taker = Taker {
        order,
        account,
        member: core.accounts.get(account).member,
        market,
        attributes,
        rests,
        amended,
        limit: from.price()?,
        range: range(from)?,
        expire_at: from.time()?,
        want: match from.bool()? {
            false => Remaining::Base(from.quantity()?),
            true => Remaining::Quote { left: from.amount()?, base_left: from.quantity()? },
        },
        filled: from.quantity()?,
        reserved: from.amount()?,
        fees: fees(from)?,
        display_quantity: match from.format >= WITH_ICEBERGS {
            true => from.quantity()?,
            false => Quantity::ZERO,
        },
        link: None,
        client: client_entry(core, from, account)?,
    };
    if takes_five_levels {
        taker.attributes.role = Role::FiveLevels;
        let fine = taker.rests
            && !taker.amended
            && taker.display_quantity == Quantity::ZERO
            && taker.attributes.post_only == PostOnly::Off
            && !taker.attributes.time_in_force.is_for_auction();
        // What is left of it will rest at the last price.
        let last = core.markets[usize::from(market)].last_price;
        let is_within = last.0 > 0
            && match side {
                Side::Buy => last <= taker.limit,
                Side::Sell => last >= taker.limit,
            };
        let fine = fine && (taker.filled == Quantity::ZERO || is_within);
        from.refuse_unless(fine, "an order of five levels cannot rest")?;
    }
    if taker.display_quantity != Quantity::ZERO {
        taker.attributes.role = Role::Iceberg;
        let total = taker.filled.checked_add(taker.remaining()).unwrap_or(Quantity::MAX);
        let fine = taker.rests && is_iceberg(&taker.attributes, taker.display_quantity, total);
        from.refuse_unless(fine, "an order cannot be an iceberg")?;
    }
    let fine = taker.filled.0 >= 0 && is_covered(&core.markets[usize::from(market)], &taker);
    from.refuse_unless(fine, "the order that is at work is not consistent")?;
    Ok(taker)
}

/// Whether a taker reserves what it needs for what it has left, and that can be expressed.
fn is_covered(market: &Market, taker: &Taker) -> bool {
    let side = taker.attributes.side;
    match taker.want {
        Remaining::Base(left) => {
            let total = taker.filled.checked_add(left).filter(|_| left.0 > 0);
            let notional = total.and_then(|total| market.instrument.notional(taker.limit, total));
            notional.is_some()
                && taker.reserved == market.reserve(side, taker.limit, left, taker.fees)
        }
        Remaining::Quote { left, base_left } => {
            let needed = match side {
                _ if !market.rules().risk => Amount::ZERO,
                Side::Buy => left,
                Side::Sell => market.instrument.base_amount(base_left),
            };
            !taker.rests && left.0 >= 0 && base_left.0 >= 0 && taker.reserved == needed
        }
    }
}

/// The prices at which a taker may trade.
fn range(from: &mut Reader<'_>) -> Result<PriceRange> {
    if from.format < WITH_AUCTIONS {
        return Ok(PriceRange::ALL);
    }
    Ok(PriceRange { low: from.price()?, high: from.price()? })
}
