//! Writing words, amounts and texts one after the other.

use super::flag;
use crate::{
    Attribution, AuctionRules, CircuitBreakerRule, ContractTerms, InstrumentId, InstrumentSpec,
    PlannedTransition, Restrict, Text, TradingRules, TrailTerms, Trigger,
};

/// Writes into a buffer that has room for the largest record.
pub(super) struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

/// Amounts that are written together: their low halves in the fixed part, their high halves after
/// it if any of them does not fit 64 bits.
pub(super) struct Amounts<const N: usize>(pub(super) [i128; N]);

/// Two 32-bit fields in a word.
#[inline]
pub(super) fn halves(first: u32, second: u32) -> u64 {
    u64::from(first) | (u64::from(second) << 32)
}

/// An optional value of an enumeration: zero for none, otherwise its number plus one.
#[inline]
pub(super) fn optional(number: Option<u8>) -> u8 {
    number.map_or(0, |number| number + 1)
}

impl<const N: usize> Amounts<N> {
    /// [`flag::WIDE`] if an amount does not fit 64 bits.
    #[inline]
    pub(super) fn flag(&self) -> u16 {
        let wide = self.0.iter().any(|&amount| i64::try_from(amount).is_err());
        if wide { flag::WIDE } else { 0 }
    }

    /// The low halves.
    #[inline]
    pub(super) fn low(&self) -> [u64; N] {
        self.0.map(|amount| amount as u64)
    }
}

impl<'a> Writer<'a> {
    /// Writes from `at` on.
    #[inline]
    pub(super) fn new(out: &'a mut [u8], at: usize) -> Self {
        Writer { out, at }
    }

    /// The offset behind the last byte written.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.at
    }

    /// Writes words.
    #[inline]
    pub(super) fn words<const N: usize>(&mut self, words: [u64; N]) {
        let target = &mut self.out[self.at..self.at + 8 * N];
        for (bytes, word) in target.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        self.at += 8 * N;
    }

    /// Writes the high halves of amounts if `flags` says that they follow.
    #[inline]
    pub(super) fn high_halves<const N: usize>(&mut self, flags: u16, amounts: &Amounts<N>) {
        if flags & flag::WIDE != 0 {
            self.words(amounts.0.map(|amount| (amount >> 64) as u64));
        }
    }

    /// Writes a text: its length, its bytes, zeros up to the next word.
    ///
    /// Always stores the full capacity of the text, because a copy of constant size takes a few
    /// instructions; the next field overwrites the excess.
    #[inline]
    pub(super) fn text<const N: usize>(&mut self, text: &Text<N>) {
        self.padded(text.len(), text.padded());
    }

    /// Writes `len` bytes as a text; `bytes` is zero past them.
    #[inline]
    fn padded<const N: usize>(&mut self, len: usize, bytes: &[u8; N]) {
        let block = const { (N + 8) / 8 * 8 };
        let target = &mut self.out[self.at..self.at + block];
        target[0] = len as u8;
        target[1..1 + N].copy_from_slice(bytes);
        target[1 + N..].fill(0);
        self.at += (len + 8) / 8 * 8;
    }

    /// Writes who sent a command, and why.
    pub(super) fn attribution(&mut self, attribution: &Attribution) {
        self.text(&attribution.by);
        self.padded(attribution.reason.len(), attribution.reason.padded());
    }

    /// Writes a restriction and its target.
    pub(super) fn restrict(&mut self, restrict: &Restrict) {
        let (kind, id) = restrict.target.number();
        let flags = [u8::from(restrict.by_member), u8::from(restrict.cancel)];
        let how = [kind, restrict.restriction.number(), flags[0], flags[1]];
        self.words([halves(id, u32::from_le_bytes(how))]);
    }

    /// Writes the fixed part of an instrument's rules.
    pub(super) fn rules(&mut self, rules: &TradingRules) {
        let [notional_min] = Amounts([rules.notional_min.0]).low();
        self.words([
            rules.tick.0 as u64,
            rules.lot.0 as u64,
            rules.quantity_max.0 as u64,
            rules.reference_price.0 as u64,
            notional_min,
            halves(rules.collar_ppm, rules.market_protection_ppm),
            halves(rules.maker_fee_ppm as u32, rules.taker_fee_ppm as u32),
            halves(rules.open_orders_max, rules.day_end_s),
            u64::from_le_bytes([rules.self_trade.number(), u8::from(rules.risk), 0, 0, 0, 0, 0, 0]),
        ]);
    }

    /// Writes the rules of an instrument's auctions.
    pub(super) fn auction_rules(&mut self, rules: &AuctionRules) {
        self.words([
            halves(rules.fee_ppm as u32, rules.daily_range_ppm),
            halves(rules.static_range_ppm, rules.dynamic_range_ppm),
            halves(rules.auction_range_ppm, rules.extended_range_ppm),
            halves(rules.call_ms, rules.random_end_ms),
            u64::from(rules.self_trade.number())
                | u64::from(rules.call_depth.number()) << 8
                | u64::from(rules.limit_range_ppm) << 32,
            halves(rules.limit_state_ms, rules.halt_ms),
        ]);
    }

    /// Writes the terms of an instrument's contract; returns the flags of its amounts.
    pub(super) fn contract_terms(
        &mut self,
        instrument: InstrumentId,
        terms: &ContractTerms,
    ) -> u16 {
        let fees = terms.lot_fees.map(|fees| [fees.maker.0, fees.taker.0, fees.auction.0]);
        let [maker, taker, auction] = fees.unwrap_or_default();
        let amounts = Amounts([terms.notional_max.0, maker, taker, auction]);
        self.words([halves(instrument.0, u32::from(fees.is_some()))]);
        self.words(amounts.low());
        self.high_halves(amounts.flag(), &amounts);
        amounts.flag()
    }

    /// Writes a circuit breaker.
    pub(super) fn circuit_breaker(&mut self, breaker: &CircuitBreakerRule) {
        let CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms } = breaker;
        self.words([halves(instrument.0, *range_ppm), u64::from(*halt_ms)]);
        self.text(calendar);
    }

    /// Writes a trigger, and whether it may be reached at entry.
    pub(super) fn trigger(&mut self, trigger: &Trigger, immediate: bool) {
        let Trigger { kind, price } = trigger;
        let small = [kind.number(), u8::from(immediate), 0, 0, 0, 0, 0, 0];
        self.words([price.0 as u64, u64::from_le_bytes(small)]);
    }

    /// Writes what a trailing stop follows.
    pub(super) fn trail(&mut self, trail: &TrailTerms) {
        let TrailTerms { distance, activation_price } = trail;
        let kind = u64::from(distance.kind().number());
        self.words([activation_price.0 as u64, distance.value() as u64, kind]);
    }

    /// Writes a transition of a timetable.
    pub(super) fn transition(&mut self, transition: &PlannedTransition) {
        let small = [
            transition.state.number(),
            transition.next.number(),
            u8::from(transition.ends_session),
            u8::from(transition.ends_day),
        ];
        self.words([
            transition.at.0,
            transition.earliest_end.0,
            transition.no_cancel_from.0,
            halves(transition.random_end_ms, u32::from_le_bytes(small)),
        ]);
    }

    /// Writes the fixed part of an instrument's specification, rules included.
    pub(super) fn spec(&mut self, spec: &InstrumentSpec) {
        let kinds =
            [spec.kind.number(), spec.price_scale.places(), spec.quantity_scale.places(), 0];
        let currencies = u32::from(spec.base.0) | (u32::from(spec.quote.0) << 16);
        self.words([halves(u32::from_le_bytes(kinds), currencies)]);
        self.rules(&spec.rules);
    }
}
