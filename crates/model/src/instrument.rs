//! Currencies and instruments, and the arithmetic of trades, fees and reserves.

use crate::enumeration;
use crate::{
    Amount, CurrencyCode, CurrencyId, InstrumentId, Price, Quantity, Scale, SelfTrade, Symbol,
};
use serde::{Deserialize, Serialize};

/// A currency or other asset that balances are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Currency {
    /// Its number.
    pub id: CurrencyId,
    /// Its code, such as `USD`.
    pub code: CurrencyCode,
    /// Decimal places of its smallest unit.
    pub scale: Scale,
}

enumeration! {
    /// What kind of contract an instrument is. Futures and perpetuals have numbers reserved after this one.
    #[derive(Default)]
    pub enum InstrumentKind {
        /// Base currency against quote currency, settled with the trade.
        #[default]
        Spot = 0, "spot";
    }
}

enumeration! {
    /// The phase of an instrument's market. Rules versions before 4 know the first three.
    #[derive(Default)]
    pub enum InstrumentState {
        /// Continuous trading: orders trade as they come in.
        #[default]
        Open = 0, "open";
        /// Only cancels are allowed.
        Halted = 1, "halted";
        /// Nothing is allowed; open orders were cancelled.
        Withdrawn = 2, "withdrawn";
        /// Known, and not traded yet.
        Listed = 3, "listed";
        /// Orders collect for the next auction, and nothing trades.
        PreOpen = 4, "pre_open";
        /// A call: orders collect, nothing trades, and the price at which they would is published.
        Call = 5, "call";
        /// The orders of a call trade with each other, all at one price. Nothing is allowed until
        /// that has ended.
        Uncrossing = 6, "uncrossing";
        /// The call before the close.
        ClosingCall = 7, "closing_call";
        /// Only cancels are allowed; the market opens again another day.
        Closed = 8, "closed";
        /// No longer traded.
        Delisted = 9, "delisted";
    }
}

impl InstrumentState {
    /// Whether the best buy may be above the best sell: where orders collect, where their auction
    /// trades, and where a call was halted or withdrawn.
    #[must_use]
    pub fn may_be_crossed(self) -> bool {
        self.collects()
            || matches!(
                self,
                InstrumentState::Uncrossing | InstrumentState::Halted | InstrumentState::Withdrawn
            )
    }

    /// Whether orders collect, so that the book may cross.
    #[must_use]
    #[inline]
    pub fn collects(self) -> bool {
        matches!(
            self,
            InstrumentState::PreOpen | InstrumentState::Call | InstrumentState::ClosingCall
        )
    }

    /// The first version of the rules that knows the state.
    #[must_use]
    pub fn rules_version_min(self) -> u32 {
        match self {
            InstrumentState::Open | InstrumentState::Halted | InstrumentState::Withdrawn => 1,
            _ => 4,
        }
    }
}

enumeration! {
    /// What is published of the orders in a call. The indicative price always is.
    #[derive(Default)]
    pub enum CallDepth {
        /// All of the book.
        #[default]
        Full = 0, "full";
        /// What would trade at the indicative price, and what would be left there.
        Indicative = 1, "indicative";
        /// Nothing.
        Hidden = 2, "hidden";
    }
}

/// The rules of an instrument's auctions, and the price ranges that interrupt its trading. Since
/// rules version 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuctionRules {
    /// Fee of both sides of a trade in an auction, in millionths of the notional; at most the taker
    /// fee of the order.
    pub fee_ppm: i32,
    /// What happens when two orders of one member would trade with each other in an auction.
    pub self_trade: SelfTrade,
    /// The limits of the day: how far a limit may be from the reference price of the trading rules,
    /// in millionths of it; zero is no limit. Without a reference price there are no limits.
    pub daily_range_ppm: u32,
    /// How far a trade may be from the price of the last trade in an auction, in millionths of it,
    /// before trading is interrupted by a call; zero is no range. Before the first such trade the
    /// reference price of the trading rules is taken.
    pub static_range_ppm: u32,
    /// The same from the last price.
    pub dynamic_range_ppm: u32,
    /// How far the price of an auction may be from the last price, in millionths of it, before its
    /// call is extended; zero is no range.
    pub auction_range_ppm: u32,
    /// The same for the auction of an extended call. If the price of an auction is outside this range, in
    /// the first call or in an extended one, the call lasts until a command ends it; zero is no range.
    pub extended_range_ppm: u32,
    /// How long an interruption or an extension lasts at least, in milliseconds.
    pub call_ms: u32,
    /// How much longer it may last, in milliseconds. Its length is not known in advance.
    pub random_end_ms: u32,
    /// What is published of the orders in a call.
    pub call_depth: CallDepth,
    /// The limits of continuous trading: how far a limit may be from the price of the last trade in an
    /// auction, in millionths of it; zero is no limit. Before the first such trade the reference price
    /// of the trading rules is taken.
    pub limit_range_ppm: u32,
    /// How long the best price may stand at such a limit before trading is halted, in milliseconds;
    /// zero is for ever.
    pub limit_state_ms: u32,
    /// How long that halt lasts, in milliseconds, at least [`AuctionRules::HALT_MS_MIN`]; zero if
    /// there is none.
    pub halt_ms: u32,
}

impl AuctionRules {
    /// The longest call and the longest random end, in milliseconds: one day.
    pub const CALL_MS_MAX: u32 = 86_400_000;
    /// The shortest halt after a limit state, in milliseconds. A price can stay at a limit for days, so
    /// that one halt follows the other.
    pub const HALT_MS_MIN: u32 = 1_000;

    /// No fee, no ranges, and orders of one member trade with each other.
    pub const PLAIN: AuctionRules = AuctionRules {
        fee_ppm: 0,
        self_trade: SelfTrade::Allow,
        daily_range_ppm: 0,
        static_range_ppm: 0,
        dynamic_range_ppm: 0,
        auction_range_ppm: 0,
        extended_range_ppm: 0,
        call_ms: 0,
        random_end_ms: 0,
        call_depth: CallDepth::Full,
        limit_range_ppm: 0,
        limit_state_ms: 0,
        halt_ms: 0,
    };

    /// Whether the rules are consistent in themselves.
    pub fn check(&self) -> Result<(), InstrumentError> {
        if !(0..=100_000).contains(&self.fee_ppm) {
            return Err(InstrumentError::AuctionFee);
        }
        let ranges = [
            ("daily_range_ppm", self.daily_range_ppm),
            ("static_range_ppm", self.static_range_ppm),
            ("dynamic_range_ppm", self.dynamic_range_ppm),
            ("auction_range_ppm", self.auction_range_ppm),
            ("extended_range_ppm", self.extended_range_ppm),
            ("limit_range_ppm", self.limit_range_ppm),
        ];
        if let Some((field, _)) = ranges.into_iter().find(|(_, range)| i128::from(*range) >= PPM) {
            return Err(InstrumentError::Range { field });
        }
        let is_wider = self.extended_range_ppm == 0
            || (self.auction_range_ppm != 0 && self.extended_range_ppm >= self.auction_range_ppm);
        if !is_wider {
            return Err(InstrumentError::ExtendedRange);
        }
        let calls = [self.static_range_ppm, self.dynamic_range_ppm, self.auction_range_ppm];
        let most = Self::CALL_MS_MAX;
        let needs_call = calls.into_iter().any(|range| range != 0);
        if (needs_call && self.call_ms == 0) || self.call_ms > most {
            return Err(InstrumentError::CallLength);
        }
        if self.random_end_ms > most {
            return Err(InstrumentError::RandomEnd);
        }
        let halts = self.limit_state_ms != 0;
        if self.limit_state_ms > most || (halts && self.limit_range_ppm == 0) {
            return Err(InstrumentError::LimitState);
        }
        let fits = if halts { Self::HALT_MS_MIN..=most } else { 0..=0 };
        if !fits.contains(&self.halt_ms) {
            return Err(InstrumentError::HaltLength);
        }
        Ok(())
    }
}

impl Default for AuctionRules {
    fn default() -> AuctionRules {
        AuctionRules::PLAIN
    }
}

/// The rules of an instrument that may change during its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TradingRules {
    /// A limit price must be a multiple of this.
    pub tick: Price,
    /// A quantity must be a multiple of this.
    pub lot: Quantity,
    /// The largest quantity of one order.
    pub quantity_max: Quantity,
    /// The least price times quantity of one order, in the quote currency's smallest unit.
    pub notional_min: Amount,
    /// How far a limit price may be from the reference price, in millionths of it; zero is no collar.
    /// The reference is the last trade's price, or `reference_price` before the first trade.
    pub collar_ppm: u32,
    /// The price that the limits of the day are around, set by an operator for the day; also the
    /// reference price before the first trade. Zero is none: then there are no limits of the day,
    /// and before the first trade no collar.
    pub reference_price: Price,
    /// How far a market order without a protection price may trade from the opposite best price,
    /// in millionths of that price.
    pub market_protection_ppm: u32,
    /// Fee of the resting order, in millionths of the notional; negative is a rebate.
    pub maker_fee_ppm: i32,
    /// Fee of the incoming order, in millionths of the notional; at least the size of the maker fee.
    pub taker_fee_ppm: i32,
    /// Self-trade prevention of orders that name none.
    pub self_trade: SelfTrade,
    /// Orders that one account may have open in this instrument.
    pub open_orders_max: u32,
    /// When the day of day orders ends, in seconds after midnight UTC.
    pub day_end_s: u32,
    /// Whether balances are reserved, checked and posted. Without it the instrument only matches,
    /// and another system settles. It can change only while no order is open.
    pub risk: bool,
}

impl TradingRules {
    /// Rules without restrictions: a tick and a lot of one unit, no smallest and no largest order,
    /// no collar, no fees. Balances are reserved, checked and posted.
    #[must_use]
    pub fn unrestrained() -> TradingRules {
        TradingRules {
            tick: Price(1),
            lot: Quantity(1),
            quantity_max: Quantity::MAX,
            notional_min: Amount::ZERO,
            collar_ppm: 0,
            reference_price: Price::ZERO,
            market_protection_ppm: 999_999,
            maker_fee_ppm: 0,
            taker_fee_ppm: 0,
            self_trade: SelfTrade::Allow,
            open_orders_max: u32::MAX,
            day_end_s: 0,
            risk: true,
        }
    }
}

/// An instrument as it is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstrumentSpec {
    /// Its symbol, such as `BTC-USD`.
    pub symbol: Symbol,
    /// What kind of contract it is.
    pub kind: InstrumentKind,
    /// The currency that is bought and sold.
    pub base: CurrencyId,
    /// The currency that prices and fees are in.
    pub quote: CurrencyId,
    /// Decimal places of prices, fixed for the instrument's life.
    pub price_scale: Scale,
    /// Decimal places of quantities, fixed for the instrument's life.
    pub quantity_scale: Scale,
    /// The rules, which may change.
    pub rules: TradingRules,
}

/// Why an instrument cannot be listed or changed in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstrumentError {
    /// No symbol.
    #[error("an instrument needs a symbol of 1 to 24 bytes")]
    NoSymbol,
    /// Base and quote are one currency.
    #[error("base and quote currency must differ")]
    SameCurrency,
    /// The base currency cannot express every quantity.
    #[error("the quantity scale must not exceed the base currency's scale")]
    BaseScale,
    /// The quote currency cannot express every notional.
    #[error("price scale plus quantity scale must not exceed the quote currency's scale")]
    QuoteScale,
    /// The tick or the lot is not positive.
    #[error("{field} must be positive")]
    NotPositive {
        /// `tick` or `lot`.
        field: &'static str,
    },
    /// The largest quantity is less than a lot.
    #[error("quantity_max must be at least one lot")]
    QuantityMax,
    /// A negative minimum or reference.
    #[error("{field} must not be negative")]
    Negative {
        /// `notional_min` or `reference_price`.
        field: &'static str,
    },
    /// The fee of takers is out of range.
    #[error("taker_fee_ppm must be 0 to 100000")]
    TakerFee,
    /// The fee of makers is out of range.
    #[error("maker_fee_ppm must be no larger in size than taker_fee_ppm")]
    MakerFee,
    /// The end of day is not within a day.
    #[error("day_end_s must be 0 to 86399")]
    DayEnd,
    /// The fee of auctions is out of range.
    #[error("the auction fee must be 0 to 100000 ppm")]
    AuctionFee,
    /// A distance from a price is out of range.
    #[error("{field} must be below 1000000 ppm")]
    Range {
        /// The name of the range, the collar or the protection.
        field: &'static str,
    },
    /// The extended range is less than the range of auctions, or is set without it.
    #[error("extended_range_ppm must be 0 or at least auction_range_ppm, which must then not be 0")]
    ExtendedRange,
    /// The length of calls does not fit the ranges, or is out of range.
    #[error("call_ms must be at most 86400000, and not 0 where a range leads to a call")]
    CallLength,
    /// The random end of calls is out of range.
    #[error("random_end_ms must be at most 86400000")]
    RandomEnd,
    /// The time at a limit does not fit the limits, or is out of range.
    #[error("limit_state_ms must be at most 86400000, and 0 without limit_range_ppm")]
    LimitState,
    /// The length of halts does not fit, or is out of range.
    #[error("halt_ms must be 1000 to 86400000, or 0 where limit_state_ms is 0")]
    HaltLength,
    /// The largest notional is out of range.
    #[error("notional_max must be 0 or at least notional_min, and at most 2^100 smallest units")]
    NotionalMax,
    /// Fees by the lot are out of range.
    #[error(
        "the taker fee of a lot must be 0 to 2^63 - 1 smallest units, the maker fee no larger in \
             size, and the auction fee 0 to the taker fee"
    )]
    LotFees,
}

/// A listed instrument: its specification and the values derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instrument {
    /// Its number.
    pub id: InstrumentId,
    /// As it was listed, with the rules in force.
    pub spec: InstrumentSpec,
    /// The phase.
    pub state: InstrumentState,
    base_factor: i64,
    quote_factor: i64,
}

/// Millionths in one.
pub const PPM: i128 = 1_000_000;

impl TradingRules {
    /// Whether the rules are consistent in themselves.
    pub fn check(&self) -> Result<(), InstrumentError> {
        if self.tick.0 <= 0 {
            return Err(InstrumentError::NotPositive { field: "tick" });
        }
        if self.lot.0 <= 0 {
            return Err(InstrumentError::NotPositive { field: "lot" });
        }
        if self.quantity_max < self.lot {
            return Err(InstrumentError::QuantityMax);
        }
        if self.notional_min.0 < 0 {
            return Err(InstrumentError::Negative { field: "notional_min" });
        }
        if self.reference_price.0 < 0 {
            return Err(InstrumentError::Negative { field: "reference_price" });
        }
        let taker = self.taker_fee_ppm;
        if !(0..=100_000).contains(&taker) {
            return Err(InstrumentError::TakerFee);
        }
        if !(-taker..=taker).contains(&self.maker_fee_ppm) {
            return Err(InstrumentError::MakerFee);
        }
        if i128::from(self.collar_ppm) >= PPM {
            return Err(InstrumentError::Range { field: "collar_ppm" });
        }
        if i128::from(self.market_protection_ppm) >= PPM {
            return Err(InstrumentError::Range { field: "market_protection_ppm" });
        }
        if self.day_end_s >= 86_400 {
            return Err(InstrumentError::DayEnd);
        }
        Ok(())
    }
}

impl Instrument {
    /// The largest notional of one order: 2^100 smallest units, so that fees never overflow.
    pub const NOTIONAL_MAX: Amount = Amount(1 << 100);

    /// Lists an instrument.
    pub fn new(
        id: InstrumentId,
        spec: InstrumentSpec,
        base: &Currency,
        quote: &Currency,
    ) -> Result<Instrument, InstrumentError> {
        debug_assert!(spec.base == base.id && spec.quote == quote.id);
        if spec.symbol.is_empty() {
            return Err(InstrumentError::NoSymbol);
        }
        if spec.base == spec.quote {
            return Err(InstrumentError::SameCurrency);
        }
        let scale_left = |from: Scale, used: u8| {
            from.places().checked_sub(used).and_then(Scale::new).map(Scale::factor)
        };
        let base_factor = scale_left(base.scale, spec.quantity_scale.places())
            .ok_or(InstrumentError::BaseScale)?;
        let quote_factor =
            scale_left(quote.scale, spec.price_scale.places() + spec.quantity_scale.places())
                .ok_or(InstrumentError::QuoteScale)?;
        spec.rules.check()?;
        Ok(Instrument { id, spec, state: InstrumentState::Open, base_factor, quote_factor })
    }

    /// The amount of base currency that a quantity is. Exact.
    #[must_use]
    #[inline]
    pub fn base_amount(&self, quantity: Quantity) -> Amount {
        Amount(i128::from(quantity.0) * i128::from(self.base_factor))
    }

    /// Price times quantity in the quote currency. Exact; `None` above [`Self::NOTIONAL_MAX`].
    #[must_use]
    #[inline]
    pub fn notional(&self, price: Price, quantity: Quantity) -> Option<Amount> {
        let product = i128::from(price.0) * i128::from(quantity.0);
        let notional = if self.quote_factor == 1 {
            product
        } else {
            product.checked_mul(i128::from(self.quote_factor))?
        };
        (notional <= Self::NOTIONAL_MAX.0).then_some(Amount(notional))
    }

    /// Smallest quote units in one price unit times one quantity unit.
    #[must_use]
    pub fn quote_factor(&self) -> i64 {
        self.quote_factor
    }

    /// The fee on a notional at a rate in millionths: `notional * ppm / 1,000,000`, rounded towards
    /// zero, so that the payer keeps the residue. Negative is a rebate.
    ///
    /// Because it rounds down, the fees of the parts never exceed the fee of the whole, and a
    /// reserve for the whole covers the parts.
    #[must_use]
    #[inline]
    pub fn fee(notional: Amount, ppm: i32) -> Amount {
        let product = notional.0 * i128::from(ppm);
        match i64::try_from(product) {
            Ok(small) => Amount(i128::from(small / PPM as i64)),
            Err(_) => Amount(product / PPM),
        }
    }

    /// The fee of one more trade of an order, and the residue that it leaves.
    ///
    /// The residue is what the order owes below the smallest unit, in millionths of it: at least
    /// zero and below a million, zero for a new order. All fees of an order then add up to the sum
    /// of `notional * ppm / 1,000,000` over its trades, rounded down once. A negative fee is a
    /// rebate.
    #[must_use]
    #[inline]
    pub fn accrued_fee(notional: Amount, ppm: i32, residue: u32) -> (Amount, u32) {
        let owed = notional.0 * i128::from(ppm) + i128::from(residue);
        match i64::try_from(owed) {
            Ok(small) => {
                let fee = small.div_euclid(PPM as i64);
                (Amount(i128::from(fee)), (small - fee * PPM as i64) as u32)
            }
            Err(_) => {
                let (fee, residue) = divide_by_ppm(owed);
                (Amount(fee), residue)
            }
        }
    }

    /// The reserve of a buy order: its notional and the largest taker fee, with the
    /// [residue](Self::accrued_fee) of its fee so far.
    #[must_use]
    #[inline]
    pub fn buy_reserve(
        &self,
        price: Price,
        quantity: Quantity,
        taker_fee_ppm: i32,
        residue: u32,
    ) -> Option<Amount> {
        let notional = self.notional(price, quantity)?;
        let (fee, _) = Self::accrued_fee(notional, taker_fee_ppm, residue);
        Some(Amount(notional.0 + fee.0))
    }
}

/// A division by a million: the quotient, rounded down, and the remainder.
///
/// It divides 64 bits at a time: that division by a constant compiles to a multiplication, one of 128 bits is
/// a call.
fn divide_by_ppm(value: i128) -> (i128, u32) {
    const DIVISOR: u64 = PPM as u64;
    let magnitude = value.unsigned_abs();
    let digit = |rest: u64, shift: u32| {
        let dividend = rest << 32 | u64::from((magnitude >> shift) as u32);
        (dividend / DIVISOR, dividend % DIVISOR)
    };
    let high = (magnitude >> 64) as u64;
    let (first, rest) = (high / DIVISOR, high % DIVISOR);
    let (second, rest) = digit(rest, 32);
    let (third, rest) = digit(rest, 0);
    let quotient = i128::from(first) << 64 | i128::from(second << 32 | third);
    match (value < 0, rest) {
        (false, _) => (quotient, rest as u32),
        (true, 0) => (-quotient, 0),
        (true, _) => (-quotient - 1, (DIVISOR - rest) as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_by_a_million_is_that_of_integers() {
        let edges = (0..127).map(|bits| 1_i128 << bits);
        let near =
            |edge: i128| [edge - 1, edge, edge + 1, edge / PPM * PPM, edge / 3, edge / 7 * 5];
        let values = edges.flat_map(near).chain([i128::MAX, i128::MAX / PPM * PPM]);
        for value in values.flat_map(|value| [value, -value]).chain([0, i128::MIN]) {
            let expected = (value.div_euclid(PPM), value.rem_euclid(PPM) as u32);
            assert_eq!(divide_by_ppm(value), expected, "{value}");
        }
    }
}
