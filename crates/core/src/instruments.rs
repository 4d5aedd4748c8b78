//! Currencies and instruments: listing them, their rules, and the prices that rules allow.

use crate::Core;
use crate::auction_orders::AuctionOrders;
use crate::book::{Book, Orders, Slot, price_grid};
use crate::fees::Fees;
use crate::halts::{Halt, TimedHalt};
use crate::limit_state::LimitState;
use crate::limits::LEVEL_QUANTITY_MAX;
use crate::phases::WITH_AUCTIONS;
use crate::ranges::TimedCall;
use crate::trailing::WaitingSlots;
use crate::triggers::Triggers;
use rialto_model::{
    Amount, AuctionRules, ContractTerms, Currency, CurrencyCode, CurrencyId, Event, Instrument,
    InstrumentError, InstrumentId, InstrumentSpec, Outcome, PPM, Price, Quantity, RejectReason,
    Restriction, Scale, Side, Timestamp, TradingRules,
};
use std::collections::VecDeque;

/// An instrument and its book.
pub(crate) struct Market {
    pub(crate) instrument: Instrument,
    /// The scales of base and quote currency that its arithmetic was built on.
    pub(crate) scales: (Scale, Scale),
    pub(crate) book: Book,
    /// Zero before the first trade.
    pub(crate) last_price: Price,
    pub(crate) triggers: Triggers,
    /// How many icebergs are in the book.
    pub(crate) icebergs: u32,
    /// The lists whose entries have traded more than their exits are for.
    pub(crate) queued_lists: VecDeque<u32>,
    /// Whether it was withdrawn and orders are still being cancelled.
    pub(crate) closing: bool,
    pub(crate) restriction: Restriction,
    /// Whether it was restricted and orders are still being cancelled.
    pub(crate) clearing: bool,
    /// Whether its state or its restriction refuses new orders.
    pub(crate) bars_entry: bool,
    pub(crate) auction_rules: AuctionRules,
    /// The random ends of its calls are drawn from this.
    pub(crate) seed: u64,
    /// How many random ends were drawn.
    pub(crate) calls: u64,
    /// The price of the last trade of an auction; zero before the first.
    pub(crate) auction_price: Price,
    /// All limits in the book are multiples of this.
    pub(crate) grid: Price,
    /// Its call, if that ends at a time or was extended.
    pub(crate) call: Option<TimedCall>,
    /// Its halt, if that ends by itself.
    pub(crate) halt: Option<Halt>,
    /// The best price of a side stands at a limit.
    pub(crate) limit_state: Option<LimitState>,
    /// The halt that begins when its auction has ended.
    pub(crate) halt_next: Option<TimedHalt>,
    /// The range of the armed circuit breaker that watches it; zero without one.
    pub(crate) breaker_ppm: u32,
    /// When its uncrossing began.
    pub(crate) uncrossing_since: Timestamp,
    /// The orders that are for an auction only.
    pub(crate) auction_orders: AuctionOrders,
    /// The index of the calendar whose timetable it follows.
    pub(crate) calendar: Option<u8>,
    pub(crate) terms: ContractTerms,
    /// The largest notional of an order, by its terms.
    pub(crate) notional_max: Amount,
    /// The rates of an order that is entered now, by its rules and terms.
    rates: Fees,
}

pub(crate) const NOTIONAL_CHECKED: &str = "the notional of an order was checked when it came in";

impl Market {
    /// An instrument that is open, and has traded nothing.
    pub(crate) fn new(instrument: Instrument, scales: (Scale, Scale)) -> Market {
        Market {
            grid: instrument.spec.rules.tick,
            instrument,
            scales,
            book: Book::new(),
            last_price: Price::ZERO,
            triggers: Triggers::new(),
            icebergs: 0,
            queued_lists: VecDeque::new(),
            closing: false,
            restriction: Restriction::None,
            clearing: false,
            bars_entry: false,
            auction_rules: AuctionRules::PLAIN,
            seed: 0,
            calls: 0,
            auction_price: Price::ZERO,
            call: None,
            halt: None,
            limit_state: None,
            halt_next: None,
            breaker_ppm: 0,
            uncrossing_since: Timestamp::ZERO,
            auction_orders: AuctionOrders::EMPTY,
            calendar: None,
            terms: ContractTerms::PLAIN,
            notional_max: Instrument::NOTIONAL_MAX,
            rates: rates(&instrument.spec.rules),
        }
    }

    /// Before rules version 4 the tick could change while orders rested, so their limits may be off the
    /// present tick.
    pub(crate) fn adopt_auctions(&mut self) {
        let is_empty = self.open_orders() == 0;
        self.grid = if is_empty { self.rules().tick } else { Price(1) };
    }

    /// Finds the grid of an auction's prices: the tick, unless orders rest off the tick that were
    /// entered before rules version 4. Only then it looks at all prices of the book.
    pub(crate) fn settle_grid(&mut self) {
        let tick = self.rules().tick;
        if self.grid != tick {
            let levels =
                [Side::Buy, Side::Sell].into_iter().flat_map(|side| self.book.levels(side));
            self.grid = price_grid(tick, levels.map(|level| level.price));
        }
    }

    #[inline]
    pub(crate) fn rules(&self) -> &TradingRules {
        &self.instrument.spec.rules
    }

    /// How many open orders it has, the waiting ones included.
    pub(crate) fn open_orders(&self) -> usize {
        let resting = self.book.order_count(Side::Buy) + self.book.order_count(Side::Sell);
        resting + self.triggers.len()
    }

    /// Its open orders: the resting ones by side and priority, and then the waiting ones.
    pub(crate) fn slots<'a>(
        &'a self,
        orders: &'a Orders,
        waiting: &'a WaitingSlots,
    ) -> impl Iterator<Item = Slot> + 'a {
        self.book.all_orders(orders).chain(self.triggers.slots(orders, waiting))
    }

    /// Positive and on the tick.
    #[inline]
    pub(crate) fn check_price(&self, price: Price) -> Result<(), RejectReason> {
        if price.0 <= 0 {
            return Err(RejectReason::PriceNotPositive);
        }
        let tick = self.rules().tick.0;
        if tick != 1 && price.0 % tick != 0 {
            return Err(RejectReason::PriceOffTick);
        }
        Ok(())
    }

    /// Positive, of whole lots, and not too large.
    #[inline]
    pub(crate) fn check_quantity(&self, quantity: Quantity) -> Result<(), RejectReason> {
        let rules = self.rules();
        if quantity.0 <= 0 {
            return Err(RejectReason::QuantityNotPositive);
        }
        if rules.lot.0 != 1 && quantity.0 % rules.lot.0 != 0 {
            return Err(RejectReason::QuantityOffLot);
        }
        if quantity > rules.quantity_max {
            return Err(RejectReason::QuantityTooLarge);
        }
        Ok(())
    }

    /// Not further from the reference price than the collar allows.
    #[inline]
    pub(crate) fn check_collar(&self, price: Price) -> Result<(), RejectReason> {
        let Some(reference) = self.collar_reference() else { return Ok(()) };
        let distance = i128::from(price.0.abs_diff(reference.0));
        if distance * PPM > i128::from(reference.0) * i128::from(self.rules().collar_ppm) {
            return Err(RejectReason::PriceOutsideCollar);
        }
        Ok(())
    }

    /// The reference price of the collar, if there is a collar.
    #[inline]
    fn collar_reference(&self) -> Option<Price> {
        let rules = self.rules();
        let last = self.last_price;
        let reference = if last == Price::ZERO { rules.reference_price } else { last };
        (rules.collar_ppm != 0 && reference != Price::ZERO).then_some(reference)
    }

    /// The limit of a market order, no further than the last tick inside the collar.
    pub(crate) fn clip_to_collar(&self, side: Side, limit: Price) -> Price {
        let Some(reference) = self.collar_reference() else { return limit };
        let reference = i128::from(reference.0);
        let width = reference * i128::from(self.rules().collar_ppm) / PPM;
        let tick = i128::from(self.rules().tick.0);
        match side {
            Side::Buy => {
                let highest = (reference + width) / tick * tick;
                i64::try_from(highest).map_or(limit, |highest| limit.min(Price(highest)))
            }
            Side::Sell => {
                let lowest = (reference - width + tick - 1) / tick * tick;
                i64::try_from(lowest).map_or(Price::MAX, |lowest| limit.max(Price(lowest)))
            }
        }
    }

    /// Price times quantity can be expressed, and is neither too large nor too small.
    #[inline]
    pub(crate) fn check_notional(
        &self,
        price: Price,
        quantity: Quantity,
    ) -> Result<(), RejectReason> {
        let notional = self.instrument.notional(price, quantity);
        let notional = notional.ok_or(RejectReason::NotionalTooLarge)?;
        self.check_amount(notional)
    }

    /// The amount of an order, or its notional, is neither too large nor too small.
    #[inline]
    pub(crate) fn check_amount(&self, notional: Amount) -> Result<(), RejectReason> {
        if notional > self.notional_max {
            return Err(RejectReason::NotionalTooLarge);
        }
        if notional < self.rules().notional_min {
            return Err(RejectReason::NotionalTooSmall);
        }
        Ok(())
    }

    /// Fails unless the sum of quantities at a price stays in range. Orders up to a fair share of a
    /// level's capacity need no look at the level; a larger one must fit in half of it. `leaving`
    /// is the quantity that an amended order removes from the same level.
    #[inline]
    pub(crate) fn check_level(
        &self,
        side: Side,
        price: Price,
        quantity: Quantity,
        leaving: Quantity,
        orders_max: u32,
    ) -> Result<(), RejectReason> {
        check_sum(|| Quantity(self.quantity_at(side, price).0 - leaving.0), quantity, orders_max)
    }

    /// The quantity at a price.
    #[cold]
    #[inline(never)]
    fn quantity_at(&self, side: Side, price: Price) -> Quantity {
        self.book.level(side, price).map_or(Quantity::ZERO, |level| level.quantity)
    }

    /// How far a market order without a protection price may trade.
    pub(crate) fn protection_price(&self, side: Side, best: Price) -> Price {
        let rules = self.rules();
        let tick = i128::from(rules.tick.0);
        let best = i128::from(best.0);
        let width = best * i128::from(rules.market_protection_ppm) / PPM;
        let limit = match side {
            Side::Buy => (best + width).min(i128::from(i64::MAX)) / tick * tick,
            Side::Sell => ((best - width + tick - 1) / tick * tick).max(tick),
        };
        Price(i64::try_from(limit).unwrap_or(i64::MAX))
    }

    /// The largest multiple of the lot in a quantity.
    #[inline]
    pub(crate) fn floor_lot(&self, quantity: i128) -> Quantity {
        let lot = i128::from(self.rules().lot.0);
        let quantity = quantity.min(i128::from(i64::MAX));
        Quantity((quantity - quantity % lot) as i64)
    }

    /// The fees of an order that is entered now, and that owes a residue already.
    #[inline]
    pub(crate) fn fees(&self, residue: u32) -> Fees {
        self.rates.with_residue(residue)
    }

    pub(crate) fn set_rules(&mut self, rules: TradingRules) {
        self.instrument.spec.rules = rules;
        self.settle_rates();
    }

    pub(crate) fn set_terms(&mut self, terms: ContractTerms) {
        self.notional_max = terms.largest_notional();
        self.terms = terms;
        self.settle_rates();
    }

    /// Fees by the lot replace the rates.
    fn settle_rates(&mut self) {
        self.rates = match self.terms.lot_fees {
            Some(_) => Fees::NONE,
            None => rates(self.rules()),
        };
    }

    /// The reserve of an order for `quantity` at `limit`: quote currency and the taker fee for a
    /// buy, base currency for a sell, nothing where risk is off.
    #[inline]
    pub(crate) fn reserve(
        &self,
        side: Side,
        limit: Price,
        quantity: Quantity,
        fees: Fees,
    ) -> Amount {
        if !self.rules().risk {
            return Amount::ZERO;
        }
        match side {
            Side::Buy if self.terms.lot_fees.is_some() => self.cost_by_lot(limit, quantity),
            Side::Buy => self
                .instrument
                .buy_reserve(limit, quantity, fees.taker_ppm(), fees.residue())
                .expect(NOTIONAL_CHECKED),
            Side::Sell => self.instrument.base_amount(quantity),
        }
    }

    #[inline]
    pub(crate) fn reserved_currency(&self, side: Side) -> CurrencyId {
        match side {
            Side::Buy => self.instrument.spec.quote,
            Side::Sell => self.instrument.spec.base,
        }
    }
}

/// Fails unless the quantities at a price stay in range when a quantity is added.
#[inline(always)]
pub(crate) fn check_sum(
    held: impl FnOnce() -> Quantity,
    quantity: Quantity,
    orders_max: u32,
) -> Result<(), RejectReason> {
    let orders_max = (orders_max as usize).clamp(1, Orders::LIMIT_MAX);
    if quantity.0 <= LEVEL_QUANTITY_MAX >> orders_max.next_power_of_two().ilog2() {
        return Ok(());
    }
    if LEVEL_QUANTITY_MAX - quantity.0 < held().0 {
        return Err(RejectReason::QuantityTooLarge);
    }
    Ok(())
}

fn rates(rules: &TradingRules) -> Fees {
    Fees::new(rules.maker_fee_ppm, rules.taker_fee_ppm, 0)
}

fn reason(error: InstrumentError) -> RejectReason {
    match error {
        InstrumentError::NoSymbol => RejectReason::NameInvalid,
        _ => RejectReason::InvalidRules,
    }
}

impl Core {
    pub(crate) fn create_currency(
        &mut self,
        code: CurrencyCode,
        scale: Scale,
    ) -> Result<(Event, Outcome), RejectReason> {
        if code.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        if self.currencies.iter().any(|currency| currency.code == code) {
            return Err(RejectReason::AlreadyExists);
        }
        let number = self.currencies.len() as u32 + 1;
        if number > self.limits.currencies_max.min(u32::from(u16::MAX)) {
            return Err(RejectReason::VenueFull);
        }
        let currency = Currency { id: CurrencyId(number as u16), code, scale };
        self.currencies.push(currency);
        self.ledger.add_currency();
        Ok((Event::CurrencyCreated(currency), Outcome::Created { number }))
    }

    fn currency(&self, id: CurrencyId) -> Option<&Currency> {
        usize::from(id.0).checked_sub(1).and_then(|at| self.currencies.get(at))
    }

    /// Builds the instrument's arithmetic. Where risk is off, a currency that is not listed is
    /// taken to have the scale that the instrument needs.
    pub(crate) fn build_instrument(
        &self,
        id: InstrumentId,
        spec: InstrumentSpec,
    ) -> Result<(Instrument, (Scale, Scale)), RejectReason> {
        let places = spec.price_scale.places() + spec.quantity_scale.places();
        let quote_scale = Scale::new(places).ok_or(RejectReason::InvalidRules)?;
        let (base, quote) = (self.currency(spec.base), self.currency(spec.quote));
        if spec.rules.risk && (base.is_none() || quote.is_none()) {
            return Err(RejectReason::UnknownCurrency);
        }
        let base_scale = base.map_or(spec.quantity_scale, |currency| currency.scale);
        let quote_scale = quote.map_or(quote_scale, |currency| currency.scale);
        let scales = (base_scale, quote_scale);
        Ok((instrument_on(id, spec, scales).map_err(reason)?, scales))
    }

    pub(crate) fn create_instrument(
        &mut self,
        spec: &InstrumentSpec,
    ) -> Result<(Event, Outcome), RejectReason> {
        if spec.symbol.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        if self.markets.iter().any(|market| market.instrument.spec.symbol == spec.symbol) {
            return Err(RejectReason::AlreadyExists);
        }
        let number = self.markets.len() as u32 + 1;
        if number > self.limits.instruments_max.min(u32::from(u16::MAX)) {
            return Err(RejectReason::VenueFull);
        }
        let id = InstrumentId(number);
        let (instrument, scales) = self.build_instrument(id, *spec)?;
        self.markets.push(Market::new(instrument, scales));
        let event = Event::InstrumentCreated { instrument: id, spec: *spec };
        Ok((event, Outcome::Created { number }))
    }

    /// The index of an instrument in the list of instruments.
    #[inline]
    pub(crate) fn market(&self, id: InstrumentId) -> Result<u16, RejectReason> {
        let at = id.0.wrapping_sub(1);
        if (at as usize) < self.markets.len() {
            return Ok(at as u16);
        }
        Err(RejectReason::UnknownInstrument)
    }

    pub(crate) fn set_rules(
        &mut self,
        id: InstrumentId,
        rules: &TradingRules,
    ) -> Result<(Event, Outcome), RejectReason> {
        let at = usize::from(self.market(id)?);
        rules.check().map_err(reason)?;
        let market = &self.markets[at];
        market.terms.check(rules).map_err(reason)?;
        market.check_not_uncrossing()?;
        let is_empty = market.open_orders() == 0;
        if self.rules_since(WITH_AUCTIONS) && !is_empty {
            let old = market.rules();
            let keeps = |old: i64, new: i64| old % new == 0;
            if !keeps(old.tick.0, rules.tick.0) || !keeps(old.lot.0, rules.lot.0) {
                return Err(RejectReason::HasOpenOrders);
            }
            if market.terms.lot_fees.is_some() && rules.lot != old.lot {
                return Err(RejectReason::HasOpenOrders);
            }
            if market.triggers.has_trailing() && rules.tick != old.tick {
                return Err(RejectReason::HasOpenOrders);
            }
        }
        if rules.risk != market.rules().risk {
            if !is_empty {
                return Err(RejectReason::HasOpenOrders);
            }
            let spec = InstrumentSpec { rules: *rules, ..market.instrument.spec };
            let (instrument, scales) = self.build_instrument(id, spec)?;
            let market = &mut self.markets[at];
            let state = market.instrument.state;
            (market.instrument, market.scales) = (instrument, scales);
            market.instrument.state = state;
        }
        let market = &mut self.markets[at];
        market.set_rules(*rules);
        market.grid = if is_empty { rules.tick } else { price_grid(market.grid, [rules.tick]) };
        self.arm_breaker(at as u16);
        Ok((Event::RulesSet { instrument: id, rules: *rules }, Outcome::Done))
    }

    pub(crate) fn set_auction_rules(
        &mut self,
        id: InstrumentId,
        rules: &AuctionRules,
        seed: u64,
    ) -> Result<(Event, Outcome), RejectReason> {
        if !self.rules_since(WITH_AUCTIONS) {
            return Err(RejectReason::CommandUnknown);
        }
        let at = usize::from(self.market(id)?);
        let market = &mut self.markets[at];
        market.check_not_uncrossing()?;
        rules.check().map_err(reason)?;
        market.auction_rules = *rules;
        (market.seed, market.calls) = (seed, 0);
        Ok((Event::AuctionRulesSet { instrument: id, rules: *rules }, Outcome::Done))
    }
}

/// An instrument whose currencies have these scales.
pub(crate) fn instrument_on(
    id: InstrumentId,
    spec: InstrumentSpec,
    (base_scale, quote_scale): (Scale, Scale),
) -> Result<Instrument, InstrumentError> {
    let code = CurrencyCode::EMPTY;
    let base = Currency { id: spec.base, code, scale: base_scale };
    let quote = Currency { id: spec.quote, code, scale: quote_scale };
    Instrument::new(id, spec, &base, &quote)
}
