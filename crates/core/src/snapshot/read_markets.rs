//! Instruments from bytes: their rules, and what each has for its auctions.

use super::formats::{WITH_AUCTIONS, WITH_CONTRACT_TERMS, WITH_RESUMED_PHASES};
use super::read::Result;
use super::read_timetable::halt;
use super::reader::Reader;
use crate::Core;
use crate::halts::{Halt, PhaseEnd, Resumed, follows_an_auction};
use crate::instruments::{Market, instrument_on};
use crate::limit_state::LimitState;
use crate::ranges::TimedCall;
use rialto_model::{
    AuctionRules, ContractTerms, CurrencyId, InstrumentId, InstrumentSpec, InstrumentState,
    LotFees, Restriction, Timestamp, TradingRules,
};

pub(super) fn markets(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
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
