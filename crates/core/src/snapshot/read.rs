//! The state from bytes.

use super::SnapshotError;
use super::formats::{
    WITH_AMENDED_TRIGGERS, WITH_AUCTIONS, WITH_CONTRACT_TERMS, WITH_ICEBERGS, WITH_LINKS,
    WITH_RESIDUES, WITH_RESUMED_PHASES, WITH_TRIGGERS, WITH_WITHDRAWALS,
};
use super::read_background::{background, works};
use super::read_links::lists;
use super::read_timetable::{calendars, halt};
use super::read_triggers::{extension, triggers};
use super::reader::Reader;
use crate::Core;
use crate::book::LimitOrder;
use crate::client_ids::End;
use crate::fees::Fees;
use crate::halts::{Halt, PhaseEnd, Resumed, follows_an_auction};
use crate::instruments::{Market, instrument_on};
use crate::ledger::Balance;
use crate::limit_state::LimitState;
use crate::limits::{CoreConfig, Limits};
use crate::orders::{Attributes, Role, STAND_IN};
use crate::ranges::TimedCall;
use crate::references::KnownDeposit;
use crate::restrictions::RestrictionPair;
use crate::taker::{Remaining, Taker};
use crate::transfers::{Ended, Remembered};
use crate::withdrawals::HeldWithdrawal;
use rialto_model::{
    AccountId, Amount, AuctionRules, ContractTerms, CurrencyId, EngineId, Iceberg, InstrumentId,
    InstrumentSpec, InstrumentState, LotFees, MemberId, NewOrder, OrderId, OrderSize, Outcome, PPM,
    PostOnly, Price, PriceRange, Quantity, RejectReason, Restriction, Seq, Side, Timestamp,
    TradingRules, Transfer,
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

fn markets(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    let count = from.u32()?;
    from.refuse_unless(count <= u32::from(u16::MAX), "there are too many instruments")?;
    for number in 1..=count {
        let symbol = from.text()?;
        let kind = from.choice()?;
        let (base, quote) = (CurrencyId(from.u16()?), CurrencyId(from.u16()?));
        let (price_scale, quantity_scale) = (from.scale()?, from.scale()?);
        let scales = (from.scale()?, from.scale()?);
        let rules = rules(from)?;
        let spec = InstrumentSpec { symbol, kind, base, quote, price_scale, quantity_scale, rules };
        let instrument = instrument_on(InstrumentId(number), spec, scales);
        let mut instrument = from.needs(instrument.ok(), "an instrument is not consistent")?;
        let listed = |id: CurrencyId| (1..=core.currencies.len()).contains(&id.0.into());
        let known = !rules.risk || (listed(base) && listed(quote));
        from.refuse_unless(known, "an instrument with risk is of no currency")?;
        instrument.state = from.choice()?;
        let known = core.rules_since(instrument.state.rules_version_min());
        from.refuse_unless(known, "the rules in force do not know the state of an instrument")?;
        let mut market = Market::new(instrument, scales);
        market.last_price = from.price()?;
        from.refuse_unless(
            market.last_price.0 >= 0,
            "the last price of an instrument is negative",
        )?;
        if from.format >= WITH_AUCTIONS {
            auctions_of(&mut market, from)?;
        }
        if from.format >= WITH_CONTRACT_TERMS {
            let terms = contract_terms(from)?;
            let sound = terms.check(market.rules()).is_ok();
            from.refuse_unless(sound, "the terms of a contract are not consistent")?;
            market.set_terms(terms);
        }
        market.settle_entry();
        core.markets.push(market);
        core.settle_change(number as u16 - 1);
    }
    Ok(())
}

/// What an instrument has for its auctions.
fn auctions_of(market: &mut Market, from: &mut Reader<'_>) -> Result<()> {
    market.auction_rules = AuctionRules {
        fee_ppm: from.i32()?,
        self_trade: from.choice()?,
        daily_range_ppm: from.u32()?,
        static_range_ppm: from.u32()?,
        dynamic_range_ppm: from.u32()?,
        auction_range_ppm: from.u32()?,
        extended_range_ppm: from.u32()?,
        call_ms: from.u32()?,
        random_end_ms: from.u32()?,
        call_depth: from.choice()?,
        limit_range_ppm: from.u32()?,
        limit_state_ms: from.u32()?,
        halt_ms: from.u32()?,
    };
    let sound = market.auction_rules.check().is_ok();
    from.refuse_unless(sound, "the rules of auctions are not consistent")?;
    (market.seed, market.calls) = (from.u64()?, from.u64()?);
    (market.auction_price, market.grid) = (from.price()?, from.price()?);
    let on_grid = market.grid.0 > 0 && market.auction_price.0 >= 0;
    from.refuse_unless(on_grid, "the grid of prices is not positive")?;
    if from.bool()? {
        let (ends, next, extended) = (from.time()?, from.choice()?, from.bool()?);
        let no_cancel_from = from.time()?;
        let is_halt = from.format < WITH_RESUMED_PHASES
            && market.state() == InstrumentState::Halted
            && no_cancel_from == Timestamp::MAX;
        let fine = follows_an_auction(next) && (is_halt || market.state().collects());
        from.refuse_unless(fine, "an instrument that is in no call has the end of one")?;
        if is_halt {
            let resumed = Resumed::before_version_6(next, extended);
            market.halt = Some(Halt { until: ends, resumed });
        } else {
            market.call = Some(TimedCall { ends, next, extended, no_cancel_from });
        }
    }
    if from.format >= WITH_RESUMED_PHASES && from.bool()? {
        let until = from.time()?;
        let (phase, next) = (from.choice()?, from.choice()?);
        let end = match from.u8()? {
            0 => PhaseEnd::Time,
            1 => PhaseEnd::Transition,
            2 => PhaseEnd::Command,
            _ => return Err(from.wrong("a phase has an unknown kind of end")),
        };
        let resumed = Resumed { phase, next, end, extended: from.bool()? };
        let fine = resumed.is_sound() && market.state() == InstrumentState::Halted;
        from.refuse_unless(fine, "an instrument cannot be halted in this way")?;
        market.halt = Some(Halt { until, resumed });
    }
    if from.bool()? {
        market.limit_state = Some(LimitState { side: from.choice()?, ends: from.time()? });
    }
    let fine = market.limit_state.is_none() || market.state() == InstrumentState::Open;
    from.refuse_unless(fine, "an instrument that is not open is in a limit state")?;
    if from.bool()? {
        market.halt_next = Some(halt(from)?);
    }
    let fine = market.halt_next.is_none() || market.state() == InstrumentState::Uncrossing;
    from.refuse_unless(fine, "an instrument that does not uncross is halted afterwards")?;
    market.uncrossing_since = from.time()?;
    (market.restriction, market.clearing) = (from.choice()?, from.bool()?);
    let fine = market.restriction != Restriction::Frozen
        && (!market.clearing
            || (market.restriction == Restriction::CancelOnly
                && market.state() != InstrumentState::Withdrawn));
    from.refuse_unless(fine, "an instrument cannot have such a restriction")?;
    market.calendar = from.u8()?.checked_sub(1);
    Ok(())
}

fn contract_terms(from: &mut Reader<'_>) -> Result<ContractTerms> {
    let notional_max = from.amount()?;
    let mut lot_fees = None;
    if from.bool()? {
        let (maker, taker, auction) = (from.amount()?, from.amount()?, from.amount()?);
        lot_fees = Some(LotFees { maker, taker, auction });
    }
    Ok(ContractTerms { notional_max, lot_fees })
}

fn rules(from: &mut Reader<'_>) -> Result<TradingRules> {
    Ok(TradingRules {
        tick: from.price()?,
        lot: from.quantity()?,
        quantity_max: from.quantity()?,
        notional_min: from.amount()?,
        collar_ppm: from.u32()?,
        reference_price: from.price()?,
        market_protection_ppm: from.u32()?,
        maker_fee_ppm: from.i32()?,
        taker_fee_ppm: from.i32()?,
        self_trade: from.choice()?,
        open_orders_max: from.u32()?,
        day_end_s: from.u32()?,
        risk: from.bool()?,
    })
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

fn transfers(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        let ended = from.choice()?;
        let known_then = from.format >= WITH_WITHDRAWALS || ended <= Ended::Deposited;
        from.refuse_unless(known_then, "this format knows no such end of a transfer")?;
        let transfer = transfer(core, from)?;
        core.transfers.remember(Remembered { transfer, ended });
    }
    Ok(())
}

fn plain_transfer(from: &mut Reader<'_>) -> Result<Transfer> {
    Ok(Transfer {
        account: AccountId(from.u32()?),
        currency: CurrencyId(from.u16()?),
        amount: from.amount()?,
        reference: from.text()?,
    })
}

fn transfer(core: &Core, from: &mut Reader<'_>) -> Result<Transfer> {
    let transfer = plain_transfer(from)?;
    let ended = core.transfers.find(transfer.account, &transfer.reference).is_some();
    let held = core.withdrawals.find(transfer.account, &transfer.reference).is_some();
    from.refuse_unless(!ended && !held, "a reference is remembered twice")?;
    Ok(transfer)
}

fn deposits(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        let transfer = plain_transfer(from)?;
        let deposit = KnownDeposit { transfer, time: from.time()?, seq: Seq(from.u64()?) };
        let only = core.deposits.restore(deposit);
        from.refuse_unless(only, "a deposit is remembered twice, or there are too many")?;
    }
    Ok(())
}

fn ended_withdrawals(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        let ended = from.choice()?;
        let transfer = transfer(core, from)?;
        let slot = core.accounts.slot(transfer.account).ok();
        let slot = from.needs(slot, "a withdrawal is of no account")?;
        let seq = Seq(from.u64()?);
        let only = core.ended_withdrawals.restore(slot, seq, Remembered { transfer, ended });
        let fine = only && ended != Ended::Deposited;
        from.refuse_unless(fine, "a withdrawal is remembered twice, or there are too many")?;
    }
    Ok(())
}

fn withdrawals(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    let mut last = Seq::ZERO;
    for _ in 0..from.u32()? {
        let transfer = transfer(core, from)?;
        let slot = core.accounts.slot(transfer.account).ok();
        let slot = from.needs(slot, "a withdrawal is of no account")?;
        let listed = (1..=core.currencies.len()).contains(&transfer.currency.0.into());
        from.refuse_unless(
            listed && transfer.amount.0 > 0,
            "a withdrawal is of no currency, or of nothing",
        )?;
        let (seq, held_at) = (Seq(from.u64()?), from.time()?);
        let ascends = last < seq && seq <= core.seq;
        from.refuse_unless(ascends, "withdrawals are not in the order in which they were held")?;
        core.withdrawals.hold(slot, HeldWithdrawal { transfer, seq, held_at });
        last = seq;
    }
    Ok(())
}
