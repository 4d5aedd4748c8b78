//! The arithmetic of an instrument: exact notionals, fees that never exceed what was reserved.

use proptest::prelude::*;
use rialto_model::testing::plausible;
use rialto_model::{
    Amount, AuctionRules, Currency, CurrencyId, Instrument, InstrumentError, InstrumentId,
    InstrumentKind, InstrumentSpec, Price, Quantity, Scale, SelfTrade, TradingRules,
};

fn scale(places: u8) -> Scale {
    Scale::new(places).expect("at most 18")
}

fn currency(id: u16, places: u8) -> Currency {
    let code = format!("C{id}").parse().expect("it is short and printable");
    Currency { id: CurrencyId(id), code, scale: scale(places) }
}

/// Prices to the cent, quantities to the hundred-millionth.
fn spec() -> InstrumentSpec {
    InstrumentSpec {
        symbol: "BTC-USD".parse().expect("it is short and printable"),
        kind: InstrumentKind::Spot,
        base: CurrencyId(1),
        quote: CurrencyId(2),
        price_scale: scale(2),
        quantity_scale: scale(8),
        rules: TradingRules {
            tick: Price(1),
            lot: Quantity(1),
            quantity_max: Quantity::MAX,
            notional_min: Amount::ZERO,
            collar_ppm: 0,
            reference_price: Price::ZERO,
            market_protection_ppm: 0,
            maker_fee_ppm: 0,
            taker_fee_ppm: 0,
            self_trade: SelfTrade::Allow,
            open_orders_max: 100,
            day_end_s: 0,
            risk: true,
        },
    }
}

fn list(base_places: u8, quote_places: u8) -> Result<Instrument, InstrumentError> {
    let (base, quote) = (currency(1, base_places), currency(2, quote_places));
    Instrument::new(InstrumentId(1), spec(), &base, &quote)
}

fn listed(quote_places: u8) -> Instrument {
    list(8, quote_places).expect("the scales suit the specification")
}

#[test]
fn each_rule_of_auctions_is_refused_with_its_name() {
    let check = |change: fn(&mut AuctionRules)| {
        let mut rules = AuctionRules::PLAIN;
        change(&mut rules);
        rules.check().map_err(|error| error.to_string())
    };
    let below = |field: &str| Err::<(), _>(format!("{field} must be below 1000000 ppm"));
    assert_eq!(check(|rules| rules.daily_range_ppm = 1_000_000), below("daily_range_ppm"));
    assert_eq!(check(|rules| rules.static_range_ppm = 1_000_000), below("static_range_ppm"));
    assert_eq!(check(|rules| rules.dynamic_range_ppm = 1_000_000), below("dynamic_range_ppm"));
    assert_eq!(check(|rules| rules.auction_range_ppm = 1_000_000), below("auction_range_ppm"));
    assert_eq!(check(|rules| rules.extended_range_ppm = 1_000_000), below("extended_range_ppm"));
    let failed = |error: InstrumentError| Err::<(), _>(error.to_string());
    assert_eq!(check(|rules| rules.fee_ppm = -1), failed(InstrumentError::AuctionFee));
    assert_eq!(check(|rules| rules.extended_range_ppm = 5), failed(InstrumentError::ExtendedRange));
    assert_eq!(check(|rules| rules.dynamic_range_ppm = 5), failed(InstrumentError::CallLength));
    assert_eq!(check(|rules| rules.call_ms = 86_400_001), failed(InstrumentError::CallLength));
    assert_eq!(check(|rules| rules.random_end_ms = 86_400_001), failed(InstrumentError::RandomEnd));
    assert_eq!(check(|rules| rules.daily_range_ppm = 999_999), Ok(()));
}

#[test]
fn notional_and_base_amount_are_in_smallest_units() {
    let instrument = list(18, 12).unwrap();
    // 2.00 for each of 0.00000003.
    assert_eq!(instrument.notional(Price(200), Quantity(3)), Some(Amount(600 * 100)));
    assert_eq!(instrument.base_amount(Quantity(3)), Amount(30_000_000_000));
    assert_eq!(instrument.quote_factor(), 100);
}

#[test]
fn the_largest_notional_is_the_limit_and_nothing_wraps_beyond() {
    let wide = listed(18);
    assert_eq!(wide.quote_factor(), 100_000_000);
    assert_eq!(wide.notional(Price::MAX, Quantity::MAX), None);
    let exact = listed(10);
    let half = Price(1 << 50);
    assert_eq!(exact.notional(half, Quantity(1 << 50)), Some(Instrument::NOTIONAL_MAX));
    assert_eq!(exact.notional(half, Quantity((1 << 50) + 1)), None);
    assert_eq!(exact.buy_reserve(half, Quantity((1 << 50) + 1), 0, 0), None);
}

#[test]
fn scales_that_cannot_express_every_amount_are_refused() {
    assert_eq!(list(7, 10), Err(InstrumentError::BaseScale));
    assert_eq!(list(8, 9), Err(InstrumentError::QuoteScale));
    assert!(list(8, 10).is_ok());
}

#[test]
fn a_specification_without_symbol_or_with_one_currency_is_refused() {
    let (base, quote) = (currency(1, 18), currency(2, 18));
    let listed = |spec, quote| Instrument::new(InstrumentId(1), spec, &base, quote).map(|_| ());
    let nameless = InstrumentSpec { symbol: Default::default(), ..spec() };
    assert_eq!(listed(nameless, &quote), Err(InstrumentError::NoSymbol));
    let single = InstrumentSpec { quote: CurrencyId(1), ..spec() };
    assert_eq!(listed(single, &base), Err(InstrumentError::SameCurrency));
}

#[test]
fn rules_are_checked_at_their_edges() {
    let check = |change: fn(&mut TradingRules)| {
        let mut rules = spec().rules;
        change(&mut rules);
        rules.check()
    };
    let not_positive = |field| Err(InstrumentError::NotPositive { field });
    assert_eq!(check(|rules| rules.tick = Price(0)), not_positive("tick"));
    assert_eq!(check(|rules| rules.lot = Quantity(0)), not_positive("lot"));
    assert_eq!(check(|rules| rules.quantity_max.0 = 0), Err(InstrumentError::QuantityMax));
    assert_eq!(check(|rules| rules.quantity_max.0 = rules.lot.0), Ok(()));
    let negative = |field| Err(InstrumentError::Negative { field });
    assert_eq!(check(|rules| rules.notional_min = Amount(-1)), negative("notional_min"));
    assert_eq!(check(|rules| rules.reference_price = Price(-1)), negative("reference_price"));
    assert_eq!(check(|rules| rules.taker_fee_ppm = -1), Err(InstrumentError::TakerFee));
    assert_eq!(check(|rules| rules.taker_fee_ppm = 100_001), Err(InstrumentError::TakerFee));
    assert_eq!(check(|rules| rules.taker_fee_ppm = 100_000), Ok(()));
    assert_eq!(check(|rules| rules.maker_fee_ppm = 1), Err(InstrumentError::MakerFee));
    assert_eq!(check(|rules| rules.maker_fee_ppm = -1), Err(InstrumentError::MakerFee));
    let range = |field| Err(InstrumentError::Range { field });
    assert_eq!(check(|rules| rules.collar_ppm = 1_000_000), range("collar_ppm"));
    assert_eq!(check(|rules| rules.collar_ppm = 999_999), Ok(()));
    let wide = check(|rules| rules.market_protection_ppm = 1_000_000);
    assert_eq!(wide, range("market_protection_ppm"));
    assert_eq!(check(|rules| rules.day_end_s = 86_400), Err(InstrumentError::DayEnd));
    assert_eq!(check(|rules| rules.day_end_s = 86_399), Ok(()));
}

#[test]
fn fees_are_rounded_towards_zero() {
    let fee = |notional, ppm| Instrument::fee(Amount(notional), ppm).0;
    assert_eq!(fee(1_000_000, 250), 250);
    assert_eq!(fee(999_999, 1), 0);
    assert_eq!(fee(1_999_999, 1), 1);
    assert_eq!(fee(1_999_999, -1), -1);
    assert_eq!(fee(999_999, -1), 0);
    assert_eq!(fee(Instrument::NOTIONAL_MAX.0, 100_000), (1 << 100) / 10);
}

/// A notional: small, or large enough that the fee's product needs 128 bits.
fn notional() -> impl Strategy<Value = i128> + Clone {
    prop_oneof![0..=3_000_000_i128, 0..=1_i128 << 62, 0..=Instrument::NOTIONAL_MAX.0 / 8]
}

fn rate() -> impl Strategy<Value = i32> + Clone {
    prop_oneof![0..=100_000_i32, 0..=10_i32]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The fee is the one integer `f` with `f <= notional * rate < f + 1`, in millionths.
    #[test]
    fn a_fee_is_exact_but_for_less_than_one_unit(notional in notional(), ppm in rate()) {
        let product = notional * i128::from(ppm);
        let fee = Instrument::fee(Amount(notional), ppm).0 * 1_000_000;
        prop_assert!(fee <= product && product < fee + 1_000_000);
        let rebate = Instrument::fee(Amount(notional), -ppm).0 * 1_000_000;
        prop_assert_eq!(rebate, -fee);
    }

    #[test]
    fn fees_of_parts_never_exceed_the_fee_of_the_whole(
        parts in proptest::collection::vec(notional(), 1..8),
        ppm in rate(),
    ) {
        let whole = Instrument::fee(Amount(parts.iter().sum()), ppm).0;
        let sum: i128 = parts.iter().map(|part| Instrument::fee(Amount(*part), ppm).0).sum();
        prop_assert!(sum <= whole, "{} > {}", sum, whole);
        // Each part loses less than one unit to rounding.
        prop_assert!(whole - sum <= parts.len() as i128);
    }

    #[test]
    fn a_reserve_covers_every_fill_at_its_price_or_better(
        price in 1..=1_000_000_000_i64,
        fills in proptest::collection::vec((1..=1_000_000_i64, 1..=1_000_000_000_i64), 1..8),
        left in 0..=1_000_i64,
        ppm in rate(),
        quote_places in 10..=18_u8,
    ) {
        let instrument = listed(quote_places);
        let reserve = |quantity| instrument.buy_reserve(Price(price), Quantity(quantity), ppm, 0);
        let mut remaining: i64 = fills.iter().map(|(quantity, _)| quantity).sum::<i64>() + left;
        for (quantity, fill_price) in fills {
            let before = reserve(remaining).unwrap().0;
            remaining -= quantity;
            let freed = before - reserve(remaining).unwrap().0;
            let fill_price = Price(fill_price.min(price));
            let notional = instrument.notional(fill_price, Quantity(quantity)).unwrap();
            let owed = notional.0 + Instrument::fee(notional, ppm).0;
            prop_assert!(owed <= freed, "{} > {}", owed, freed);
        }
        prop_assert!(reserve(remaining).unwrap().0 >= 0);
    }

    #[test]
    fn a_notional_is_price_times_quantity_to_the_last_unit(
        price in any::<i64>(),
        quantity in any::<i64>(),
        quote_places in 10..=18_u8,
    ) {
        let factor = 10_i128.pow(u32::from(quote_places) - 10);
        let product = i128::from(price) * i128::from(quantity);
        let expected = product.checked_mul(factor).filter(|&exact| exact <= 1 << 100);
        let found = listed(quote_places).notional(Price(price), Quantity(quantity));
        prop_assert_eq!(found, expected.map(Amount));
    }

    #[test]
    fn plausible_specifications_can_be_listed(spec in plausible::spec(Default::default())) {
        let (base, quote) = (currency(spec.base.0, 6), currency(spec.quote.0, 6));
        let listed = Instrument::new(InstrumentId(1), spec, &base, &quote).map(|_| ());
        let expected =
            if spec.base == spec.quote { Err(InstrumentError::SameCurrency) } else { Ok(()) };
        prop_assert_eq!(listed, expected);
    }
}
