//! Background work from bytes: mass cancels, closings, uncrossings, and the work of rules version 1.

use super::formats::{WITH_AUCTIONS, WITH_TRIGGERS};
use super::read::{Result, account_slot};
use super::reader::Reader;
use crate::Core;
use crate::auction::{Auction, PriceCheck, Stage};
use crate::background::{Claim, Kind, Scope};
use crate::book::{Part, Progress, Slot, UncrossSearch};
use crate::halts::follows_an_auction;
use crate::instruments::Market;
use crate::orders::{NIL, STAND_IN};
use crate::restrictions::AccountWalk;
use crate::work::{BackgroundTask, CancelMany};
use rialto_model::{InstrumentId, InstrumentState, MemberId, OrderId, Price, Side};
use std::collections::BTreeSet;

pub(super) fn background(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    core.background.turn = from.choice()?;
    let known = Kind::known(core.rules_version);
    let fine = (core.background.turn as usize) < known;
    from.refuse_unless(fine, "the rules in force do not know this kind of work")?;
    sweeps(core, from)?;
    for _ in 0..from.u32()? {
        let market = from.u16()?;
        let listed = core.markets.get_mut(usize::from(market));
        let listed = from.needs(listed, "there is no such instrument")?;
        listed.closing |= !listed.clearing;
        let is_withdrawn = listed.state() == InstrumentState::Withdrawn;
        let fine = listed.clearing || is_withdrawn || from.format < WITH_AUCTIONS;
        from.refuse_unless(fine, "the orders of an instrument end for no reason")?;
        let waits = core.background.closings().any(|closing| closing == market);
        from.refuse_unless(!waits, "an instrument is closed twice")?;
        core.background.begin_closing(market);
    }
    from.refuse_unless(core.clearings_wait(), "a restricted instrument is cleared by nothing")?;
    if from.format >= WITH_AUCTIONS {
        let turns = core.background.sweeps().len();
        sweeps(core, from)?;
        core.background.hold_up_behind(turns);
        uncrossings(core, from)?;
        walks(core, from)?;
    }
    if from.format >= WITH_TRIGGERS {
        for _ in 0..from.u32()? {
            let at = from.u16()?;
            let market = core.markets.get_mut(usize::from(at));
            let market = market.filter(|market| !market.triggers.has_turn);
            from.needs(market, "an instrument without triggers has a turn, or has two")?
                .triggers
                .has_turn = true;
            core.background.wait_triggering(at);
        }
    }
    Ok(())
}

/// The accounts of members, or of the venue, whose orders are cancelled.
fn walks(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for _ in 0..from.u32()? {
        let member = MemberId(from.u32()?);
        let known = member == MemberId(0) || core.accounts.has_member(member);
        let fine = known && seen.insert(member);
        from.refuse_unless(fine, "a walk is of no member, or is listed twice")?;
        let cursor = account_slot(core, from)?;
        let upto = OrderId(from.u64()?);
        core.background.wait_walk(AccountWalk { member, cursor, upto });
    }
    Ok(())
}

/// The auctions whose orders trade.
fn uncrossings(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    let uncross = |market: &&Market| market.state() == InstrumentState::Uncrossing;
    let frozen = core.markets.iter().filter(uncross).count();
    let count = from.u32()?;
    from.refuse_unless(count as usize == frozen, "an instrument uncrosses without an auction")?;
    let mut seen = BTreeSet::new();
    for _ in 0..count {
        let market = from.u16()?;
        let listed = core.markets.get(usize::from(market)).filter(uncross);
        from.refuse_unless(
            listed.is_some() && seen.insert(market),
            "an uncrossing is of an instrument that does not uncross, or is listed twice",
        )?;
        let (phase, next): (InstrumentState, InstrumentState) = (from.choice()?, from.choice()?);
        let fine = (phase.collects()
            || phase == InstrumentState::Halted
            || phase == InstrumentState::Closed
            || phase == InstrumentState::Listed
            || phase == InstrumentState::Withdrawn)
            && follows_an_auction(next);
        from.refuse_unless(fine, "an uncrossing is of an instrument that was in no call")?;
        let check = match from.u8()? {
            0 => PriceCheck::Off,
            1 => PriceCheck::First,
            2 => PriceCheck::Extended,
            _ => return Err(from.wrong("the range of an uncrossing is unknown")),
        };
        let stage = match from.u8()? {
            0 => Stage::Expiring,
            1 => {
                let search = search(from)?;
                let fine = core.search_reaches(market, &search);
                from.refuse_unless(fine, "the search for a price is at a point not in its book")?;
                Stage::Searching(search)
            }
            2 => Stage::Trading(from.price()?),
            3 => Stage::Ending,
            _ => return Err(from.wrong("the stage of an uncrossing is unknown")),
        };
        core.background.wait_uncrossing(Auction { market, phase, next, check, stage });
    }
    Ok(())
}

fn search(from: &mut Reader<'_>) -> Result<UncrossSearch> {
    let (began, volume) = (from.bool()?, from.amount()?.0);
    from.refuse_unless(volume >= 0, "the volume of an auction is negative")?;
    let (buys, sells) = (progress(from)?, progress(from)?);
    Ok(UncrossSearch { volume, buys, sells, began })
}

fn progress(from: &mut Reader<'_>) -> Result<Progress> {
    let (limit, best, last) = (limit(from)?, limit(from)?, limit(from)?);
    let (is_protection, last_is_protection) = (from.bool()?, from.bool()?);
    let quantity = from.amount()?.0;
    from.refuse_unless(quantity >= 0, "a quantity of an auction is negative")?;
    let next = Part { limit, quantity, is_protection };
    Ok(Progress { next, best, last, last_is_protection })
}

/// A limit, or none.
fn limit(from: &mut Reader<'_>) -> Result<Option<Price>> {
    let price = from.price()?;
    from.refuse_unless(price.0 >= 0, "a price of an auction is negative")?;
    Ok((price != Price::ZERO).then_some(price))
}

fn sweeps(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        let account = account_slot(core, from)?;
        let owner = core.accounts.get(account);
        from.refuse_unless(owner.under_way == 0, "an account is swept twice")?;
        let at = core.background.begin_sweep(account, owner.head);
        core.accounts.get_mut(account).under_way = at + 1;
        let under_way = from.bool()?;
        let left_frozen = from.format >= WITH_AUCTIONS && from.bool()?;
        let cursor = listed(core, from, account)?;
        core.background.restore_cursor(at, cursor, (under_way, left_frozen));
        let scopes = [
            Scope::Side(None, Side::Buy),
            Scope::Side(None, Side::Sell),
            Scope::DeadMan,
            Scope::Disconnect,
            Scope::Restricted,
        ];
        let known = if from.format >= WITH_AUCTIONS { 5 } else { 4 };
        for &scope in &scopes[..known] {
            let claim = claim(from)?;
            core.background.set_claim(at, scope, claim);
        }
        let mut last = None;
        for _ in 0..from.u32()? {
            let market = from.u16()?;
            let fine =
                usize::from(market) < core.markets.len() && last.replace(market) < Some(market);
            from.refuse_unless(fine, "a mass cancel is of no instrument, or out of order")?;
            for &side in Side::ALL {
                let claim = claim(from)?;
                core.background.set_claim(at, Scope::Side(Some(market), side), claim);
            }
        }
    }
    Ok(())
}

fn claim(from: &mut Reader<'_>) -> Result<Claim> {
    let laps = from.u8()?;
    from.refuse_unless(laps <= 2, "a mass cancel takes too long")?;
    let upto = if laps == 0 { OrderId(0) } else { OrderId(from.u64()?) };
    Ok(Claim { upto, laps })
}

/// The slot of an order in its account's list, or none.
fn listed(core: &Core, from: &mut Reader<'_>, account: u32) -> Result<u32> {
    let id = OrderId(from.u64()?);
    if id == OrderId(0) {
        return Ok(NIL);
    }
    let amended = core.urgent.filter(|taker| taker.amended && taker.order == id);
    let amended = amended.map(|taker| (STAND_IN, taker.account));
    let resting = core.orders.find(id).map(Slot::at);
    let resting = resting.map(|slot| (slot, core.open.get(slot).account));
    let found = from.needs(resting.or(amended), "a mass cancel stands at no order")?;
    let own = found.1 == account;
    from.refuse_unless(own, "a mass cancel stands at an order of another account")?;
    Ok(found.0)
}

pub(super) fn works(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        if !from.bool()? {
            let market = from.u16()?;
            let listed = core.markets.get_mut(usize::from(market));
            from.needs(listed, "there is no such instrument")?.closing = true;
            core.works.push(BackgroundTask::Close(market));
            continue;
        }
        let account = account_slot(core, from)?;
        let market = match from.u32()? {
            0 => None,
            id => {
                let market = core.market(InstrumentId(id)).ok();
                Some(from.needs(market, "there is no such instrument")?)
            }
        };
        let side = from.optional(2)?;
        let on_disconnect_only = from.bool()?;
        let reason = from.choice()?;
        let upto = OrderId(from.u64()?);
        let cursor = listed(core, from, account)?;
        core.accounts.get_mut(account).under_way += 1;
        core.works.push(BackgroundTask::Cancel(CancelMany {
            account,
            market,
            side,
            on_disconnect_only,
            reason,
            upto,
            cursor,
        }));
    }
    Ok(())
}
