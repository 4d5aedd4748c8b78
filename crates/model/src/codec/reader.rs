//! Reading fields one after the other, trusting nothing.

use super::{DecodeError, DecodeFault, flag};
use crate::{
    AccountId, Amount, Attribution, AuctionRules, AuditReason, CallDepth, CircuitBreakerRule,
    Condition, ContractTerms, CurrencyId, Distance, DistanceKind, HaltScope, Handling,
    InstrumentId, InstrumentKind, InstrumentSpec, InstrumentState, Leg, LotFees, MemberId, OrderId,
    OrderKind, PlannedTransition, Price, Quantity, Restrict, Restriction, RestrictionTarget, Scale,
    SelfTrade, Symbol, Text, TextError, TimeInForce, Timestamp, TradingRules, TrailTerms, Trigger,
    TriggerKind,
};

/// Reads from the bytes of a record.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// An instrument's rules without the high half of their amount.
pub(super) struct Rules {
    rules: TradingRules,
    notional_min: u64,
}

impl<'a> Reader<'a> {
    /// Reads from the beginning.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// The offset of the next field.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Whether all bytes were read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Skips to `at`, which is within the bytes.
    #[inline]
    pub(super) fn skip_to(&mut self, at: usize) {
        debug_assert!(at <= self.bytes.len());
        self.at = at;
    }

    /// A reader of the bytes from `start` to `end`, if the record has them.
    pub(super) fn part(&self, start: usize, end: usize) -> Option<Reader<'a>> {
        let bytes = self.bytes.get(..end)?;
        (start <= end).then_some(Reader { bytes, at: start })
    }

    /// An error at `offset`.
    #[cold]
    pub(super) fn fault<T>(offset: usize, what: DecodeFault) -> Result<T, DecodeError> {
        Err(DecodeError { offset, what })
    }

    /// Fails unless all bytes were read.
    #[inline]
    pub(super) fn end(&self) -> Result<(), DecodeError> {
        if self.is_at_end() { Ok(()) } else { Self::fault(self.at, DecodeFault::Trailing) }
    }

    /// Fails unless `bytes` bytes are left, so that reading them needs no more checks.
    #[inline]
    pub(super) fn require(&self, bytes: usize) -> Result<(), DecodeError> {
        if self.bytes.len() - self.at >= bytes {
            Ok(())
        } else {
            Self::fault(self.bytes.len(), DecodeFault::Truncated)
        }
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(&bytes) => {
                self.at += N;
                Ok(bytes)
            }
            None => Self::fault(self.at, DecodeFault::Truncated),
        }
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(self.take()?))
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.take()?))
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    #[inline]
    fn i64(&mut self) -> Result<i64, DecodeError> {
        Ok(i64::from_le_bytes(self.take()?))
    }

    #[inline]
    fn i32(&mut self) -> Result<i32, DecodeError> {
        Ok(i32::from_le_bytes(self.take()?))
    }

    #[inline]
    pub(super) fn account(&mut self) -> Result<AccountId, DecodeError> {
        self.u32().map(AccountId)
    }

    #[inline]
    pub(super) fn member(&mut self) -> Result<MemberId, DecodeError> {
        self.u32().map(MemberId)
    }

    #[inline]
    pub(super) fn instrument(&mut self) -> Result<InstrumentId, DecodeError> {
        self.u32().map(InstrumentId)
    }

    #[inline]
    pub(super) fn currency(&mut self) -> Result<CurrencyId, DecodeError> {
        self.u16().map(CurrencyId)
    }

    #[inline]
    pub(super) fn order(&mut self) -> Result<OrderId, DecodeError> {
        self.u64().map(OrderId)
    }

    #[inline]
    pub(super) fn price(&mut self) -> Result<Price, DecodeError> {
        self.i64().map(Price)
    }

    #[inline]
    pub(super) fn quantity(&mut self) -> Result<Quantity, DecodeError> {
        self.i64().map(Quantity)
    }

    #[inline]
    pub(super) fn time(&mut self) -> Result<Timestamp, DecodeError> {
        self.u64().map(Timestamp)
    }

    /// Reserved bytes.
    #[inline]
    pub(super) fn zeros<const N: usize>(&mut self) -> Result<(), DecodeError> {
        let at = self.at;
        if self.take::<N>()? == [0; N] { Ok(()) } else { Self::fault(at, DecodeFault::Reserved) }
    }

    /// A value of an enumeration.
    #[inline]
    pub(super) fn one_of<T>(
        &mut self,
        field: &'static str,
        from_number: fn(u8) -> Option<T>,
    ) -> Result<T, DecodeError> {
        let at = self.at;
        match from_number(self.u8()?) {
            Some(value) => Ok(value),
            None => Self::fault(at, DecodeFault::OutOfRange(field)),
        }
    }

    /// An optional value of an enumeration: zero for none, otherwise its number plus one.
    #[inline]
    pub(super) fn optional<T>(
        &mut self,
        field: &'static str,
        from_number: fn(u8) -> Option<T>,
    ) -> Result<Option<T>, DecodeError> {
        let at = self.at;
        match self.u8()? {
            0 => Ok(None),
            number => match from_number(number - 1) {
                Some(value) => Ok(Some(value)),
                None => Self::fault(at, DecodeFault::OutOfRange(field)),
            },
        }
    }

    /// Zero or one.
    #[inline]
    pub(super) fn boolean(&mut self, field: &'static str) -> Result<bool, DecodeError> {
        self.one_of(field, |number| match number {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        })
    }

    #[inline]
    pub(super) fn scale(&mut self, field: &'static str) -> Result<Scale, DecodeError> {
        self.one_of(field, Scale::new)
    }

    /// Completes amounts from their low halves and, if they follow, their high halves.
    #[inline]
    pub(super) fn amounts<const N: usize>(
        &mut self,
        flags: u16,
        low: [u64; N],
    ) -> Result<[Amount; N], DecodeError> {
        let narrow = low.map(|low| i128::from(low as i64));
        if flags & flag::WIDE == 0 {
            return Ok(narrow.map(Amount));
        }
        let at = self.at;
        let mut wide = narrow;
        for (amount, low) in wide.iter_mut().zip(low) {
            *amount = (i128::from(self.i64()?) << 64) | i128::from(low);
        }
        if wide == narrow {
            return Self::fault(at, DecodeFault::NotCanonical("an amount that fits 64 bits"));
        }
        Ok(wide.map(Amount))
    }

    /// A text, which may be empty.
    #[inline]
    pub(super) fn text<const N: usize>(&mut self) -> Result<Text<N>, DecodeError> {
        let at = self.at;
        Text::new(self.padded(N)?).or_else(|error| {
            let offset = match error {
                TextError::NotPrintable { at: within, .. } => at + 1 + within,
                TextError::TooLong { .. } => at,
            };
            Self::fault(offset, DecodeFault::Text(error))
        })
    }

    /// Who sent a command, and why. A command without a sender has no attribution.
    pub(super) fn attribution(&mut self) -> Result<Attribution, DecodeError> {
        let at = self.at;
        let by = self.text()?;
        if by == Text::EMPTY {
            return Self::fault(at, DecodeFault::NotCanonical("an attribution to nobody"));
        }
        let at = self.at;
        let text = std::str::from_utf8(self.padded(AuditReason::BYTES_MAX)?).ok();
        match text.and_then(|text| text.parse().ok()) {
            Some(reason) => Ok(Attribution { by, reason }),
            None => Self::fault(at, DecodeFault::OutOfRange("reason")),
        }
    }

    /// The bytes of a text of at most `max` bytes.
    #[inline]
    fn padded(&mut self, max: usize) -> Result<&'a [u8], DecodeError> {
        let at = self.at;
        let len = usize::from(self.u8()?);
        if len > max {
            let what = DecodeFault::Text(TextError::TooLong { got: len, max });
            return Self::fault(at, what);
        }
        let end = at + (len + 8) / 8 * 8;
        let Some(stored) = self.bytes.get(at + 1..end) else {
            return Self::fault(self.bytes.len(), DecodeFault::Truncated);
        };
        let (text, padding) = stored.split_at(len);
        if let Some(first) = padding.iter().position(|&byte| byte != 0) {
            return Self::fault(at + 1 + len + first, DecodeFault::Reserved);
        }
        self.at = end;
        Ok(text)
    }

    /// A text that is present only if `flags` says so, and then is not empty.
    #[inline]
    pub(super) fn client_order_id(&mut self, flags: u16) -> Result<Text<36>, DecodeError> {
        if flags & flag::CLIENT_ID == 0 {
            return Ok(Text::EMPTY);
        }
        let at = self.at;
        let text = self.text()?;
        if text.is_empty() {
            return Self::fault(at, DecodeFault::NotCanonical("an empty client order id"));
        }
        Ok(text)
    }

    /// How an order is handled: bit 0 stands in the flags, the others in a byte of their own.
    #[inline]
    pub(super) fn handling(&mut self, flags: u16) -> Result<Handling, DecodeError> {
        let at = self.at;
        let first = u16::from(flags & flag::CANCEL_ON_DISCONNECT != 0);
        let bits = u16::from(self.u8()?) << 1 | first;
        match u8::try_from(bits).ok().and_then(Handling::from_bits) {
            Some(handling) => Ok(handling),
            None => Self::fault(at, DecodeFault::Reserved),
        }
    }

    /// An expiry that is given only if `flags` says so, and then is not zero.
    #[inline]
    pub(super) fn expire_at(&mut self, flags: u16) -> Result<Timestamp, DecodeError> {
        self.given_time(flags & flag::EXPIRES, "an expiry of zero")
    }

    /// The minimum quantity that must trade at once, if it is given.
    #[inline]
    pub(super) fn minimum_quantity(&mut self, flags: u16) -> Result<Quantity, DecodeError> {
        if flags & flag::MINIMUM == 0 {
            return Ok(Quantity::ZERO);
        }
        let at = self.at;
        match self.quantity()? {
            Quantity::ZERO => {
                Self::fault(at, DecodeFault::NotCanonical("a minimum quantity of zero"))
            }
            quantity => Ok(quantity),
        }
    }

    /// A time that is present only if `given` is not zero, and then is not zero itself.
    #[inline]
    pub(super) fn given_time(
        &mut self,
        given: u16,
        zero: &'static str,
    ) -> Result<Timestamp, DecodeError> {
        if given == 0 {
            return Ok(Timestamp::ZERO);
        }
        let at = self.at;
        match self.time()? {
            Timestamp::ZERO => Self::fault(at, DecodeFault::NotCanonical(zero)),
            time => Ok(time),
        }
    }

    /// The fixed part of an instrument's rules.
    pub(super) fn rules(&mut self) -> Result<Rules, DecodeError> {
        let tick = self.price()?;
        let lot = self.quantity()?;
        let quantity_max = self.quantity()?;
        let reference_price = self.price()?;
        let notional_min = self.u64()?;
        let rules = TradingRules {
            tick,
            lot,
            quantity_max,
            notional_min: Amount::ZERO,
            reference_price,
            collar_ppm: self.u32()?,
            market_protection_ppm: self.u32()?,
            maker_fee_ppm: self.i32()?,
            taker_fee_ppm: self.i32()?,
            open_orders_max: self.u32()?,
            day_end_s: self.u32()?,
            self_trade: self.one_of("self_trade", SelfTrade::from_number)?,
            risk: self.boolean("risk")?,
        };
        self.zeros::<6>()?;
        Ok(Rules { rules, notional_min })
    }

    /// The rules of an instrument's auctions.
    pub(super) fn auction_rules(&mut self) -> Result<AuctionRules, DecodeError> {
        let rules = AuctionRules {
            fee_ppm: self.i32()?,
            daily_range_ppm: self.u32()?,
            static_range_ppm: self.u32()?,
            dynamic_range_ppm: self.u32()?,
            auction_range_ppm: self.u32()?,
            extended_range_ppm: self.u32()?,
            call_ms: self.u32()?,
            random_end_ms: self.u32()?,
            self_trade: self.one_of("self_trade", SelfTrade::from_number)?,
            call_depth: self.one_of("call_depth", CallDepth::from_number)?,
            limit_range_ppm: {
                self.zeros::<2>()?;
                self.u32()?
            },
            limit_state_ms: self.u32()?,
            halt_ms: self.u32()?,
        };
        Ok(rules)
    }

    /// A restriction and its target.
    pub(super) fn restrict(&mut self) -> Result<Restrict, DecodeError> {
        let at = self.at;
        let (id, kind) = (self.u32()?, self.u8()?);
        let Some(target) = RestrictionTarget::from_number(kind, id) else {
            return Self::fault(at, DecodeFault::OutOfRange("target"));
        };
        Ok(Restrict {
            target,
            restriction: self.one_of("restriction", Restriction::from_number)?,
            by_member: self.boolean("by_member")?,
            cancel: self.boolean("cancel")?,
        })
    }

    /// The calendar of a scope with this kind and instrument.
    pub(super) fn halt_scope(
        &mut self,
        kind: u8,
        instrument: InstrumentId,
    ) -> Result<HaltScope, DecodeError> {
        let at = self.at;
        match HaltScope::from_parts(kind, instrument, self.text()?) {
            Some(scope) => Ok(scope),
            None => Self::fault(at, DecodeFault::OutOfRange("scope")),
        }
    }

    /// An instrument, and the terms of its contract.
    pub(super) fn contract_terms(
        &mut self,
        flags: u16,
    ) -> Result<(InstrumentId, ContractTerms), DecodeError> {
        let instrument = self.instrument()?;
        let given = self.boolean("lot_fees")?;
        self.zeros::<3>()?;
        let low = [self.u64()?, self.u64()?, self.u64()?, self.u64()?];
        let at = self.at;
        let [notional_max, maker, taker, auction] = self.amounts(flags, low)?;
        let fees = LotFees { maker, taker, auction };
        let lot_fees = given.then_some(fees);
        if !given && [maker, taker, auction] != [Amount::ZERO; 3] {
            return Self::fault(at, DecodeFault::NotCanonical("fees not given"));
        }
        Ok((instrument, ContractTerms { notional_max, lot_fees }))
    }

    /// A circuit breaker.
    pub(super) fn circuit_breaker(&mut self) -> Result<CircuitBreakerRule, DecodeError> {
        let instrument = self.instrument()?;
        let (range_ppm, halt_ms) = (self.u32()?, self.u32()?);
        self.zeros::<4>()?;
        Ok(CircuitBreakerRule { calendar: self.text()?, instrument, range_ppm, halt_ms })
    }

    /// A trigger. Seven bytes follow it.
    pub(super) fn trigger(&mut self) -> Result<Trigger, DecodeError> {
        let price = self.price()?;
        let kind = self.one_of("trigger", TriggerKind::from_number)?;
        Ok(Trigger { kind, price })
    }

    /// What a trailing stop follows. Seven bytes follow it.
    pub(super) fn trail(&mut self) -> Result<TrailTerms, DecodeError> {
        let activation_price = self.price()?;
        let at = self.at;
        let value = self.price()?.0;
        let kind = self.one_of("distance kind", DistanceKind::from_number)?;
        match Distance::new(kind, value) {
            Some(distance) => Ok(TrailTerms { distance, activation_price }),
            None => Self::fault(at, DecodeFault::OutOfRange("distance")),
        }
    }

    /// What an order waits for, whose kind was read before, `at` an offset.
    pub(super) fn condition(
        &mut self,
        at: usize,
        kind: u8,
    ) -> Result<Option<Condition>, DecodeError> {
        let words = [u64::from(kind), self.u64()?, self.u64()?];
        match Condition::from_words(words) {
            Some(condition) => Ok(condition),
            None => Self::fault(at, DecodeFault::OutOfRange("condition")),
        }
    }

    /// The legs of linked orders that are there.
    pub(super) fn legs(&mut self, has: [bool; 2]) -> Result<[Option<Leg>; 2], DecodeError> {
        let mut legs = [None; 2];
        for (leg, has) in legs.iter_mut().zip(has) {
            if has {
                *leg = Some(self.leg()?);
            }
        }
        Ok(legs)
    }

    fn leg(&mut self) -> Result<Leg, DecodeError> {
        let kind = self.one_of("kind", OrderKind::from_number)?;
        let time_in_force = self.one_of("time_in_force", TimeInForce::from_number)?;
        let at = self.at;
        let number = self.u8()?;
        self.zeros::<5>()?;
        let (price, expire_at) = (self.price()?, self.time()?);
        let condition = self.condition(at, number)?;
        Ok(Leg { condition, kind, time_in_force, price, expire_at })
    }

    /// A transition of a timetable.
    pub(super) fn transition(&mut self) -> Result<PlannedTransition, DecodeError> {
        let (at, earliest_end, no_cancel_from) = (self.time()?, self.time()?, self.time()?);
        Ok(PlannedTransition {
            at,
            earliest_end,
            no_cancel_from,
            random_end_ms: self.u32()?,
            state: self.one_of("state", InstrumentState::from_number)?,
            next: self.one_of("next", InstrumentState::from_number)?,
            ends_session: self.boolean("ends_session")?,
            ends_day: self.boolean("ends_day")?,
        })
    }

    /// Completes the rules with the high half of their amount.
    pub(super) fn complete_rules(
        &mut self,
        flags: u16,
        rules: Rules,
    ) -> Result<TradingRules, DecodeError> {
        let [notional_min] = self.amounts(flags, [rules.notional_min])?;
        Ok(TradingRules { notional_min, ..rules.rules })
    }

    /// An instrument's specification.
    pub(super) fn spec(&mut self, flags: u16) -> Result<InstrumentSpec, DecodeError> {
        let kind = self.one_of("kind", InstrumentKind::from_number)?;
        let price_scale = self.scale("price_scale")?;
        let quantity_scale = self.scale("quantity_scale")?;
        self.zeros::<1>()?;
        let base = self.currency()?;
        let quote = self.currency()?;
        let rules = self.rules()?;
        let rules = self.complete_rules(flags, rules)?;
        let symbol: Symbol = self.text()?;
        Ok(InstrumentSpec { symbol, kind, base, quote, price_scale, quantity_scale, rules })
    }
}
