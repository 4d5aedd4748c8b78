//! Decimal text is exact both ways at every scale, and no text makes it panic.

use proptest::prelude::*;
use rialto_model::testing::wild;
use rialto_model::{Amount, Decimal, DecimalError, Price, Quantity, parse_decimal};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_number_survives_its_decimal_text(
        amount in wild::amount(),
        price in wild::int64(),
        scale in wild::scale(),
    ) {
        prop_assert_eq!(Amount::parse(&amount.decimal(scale).to_string(), scale), Ok(amount));
        let text = Price(price).decimal(scale).to_string();
        prop_assert_eq!(Price::parse(&text, scale), Ok(Price(price)));
        prop_assert_eq!(Quantity::parse(&text, scale), Ok(Quantity(price)));
    }

    #[test]
    fn decimal_text_has_as_many_places_as_the_scale(
        value in any::<i128>(),
        scale in wild::scale(),
    ) {
        let text = Decimal { value, scale }.to_string();
        let places = text.split_once('.').map_or(0, |(_, places)| places.len());
        prop_assert_eq!(places, usize::from(scale.places()));
        prop_assert_eq!(text.replace('.', "").parse::<i128>(), Ok(value));
    }

    /// An accepted text means the number of its digits, shifted by the scale.
    #[test]
    fn a_text_like_a_number_is_read_exactly_or_refused(
        text in "-?[0-9]{0,25}(\\.[0-9]{0,22})?",
        scale in wild::scale(),
    ) {
        let read = parse_decimal(&text, scale);
        if let Ok(value) = read {
            let shown = Decimal { value, scale }.to_string();
            let trim = |text: &str| {
                let magnitude = text.trim_start_matches('-').trim_start_matches('0');
                let magnitude = match magnitude.contains('.') {
                    true => magnitude.trim_end_matches('0').trim_end_matches('.'),
                    false => magnitude,
                };
                (text.starts_with('-') && value != 0, magnitude.to_owned())
            };
            prop_assert_eq!(trim(&shown), trim(&text));
        } else if let Some((whole, places)) = text.split_once('.') {
            let whole = whole.trim_start_matches('-');
            let significant = places.trim_end_matches('0').len();
            match read {
                Err(DecimalError::Malformed) => {
                    prop_assert!(whole.is_empty() || places.is_empty());
                }
                Err(DecimalError::TooPrecise { got, max }) => {
                    prop_assert!(got == significant && got > usize::from(max));
                }
                _ => prop_assert!(whole.len() + usize::from(scale.places()) >= 39),
            }
        }
    }

    #[test]
    fn no_text_makes_reading_fall_over(text in ".{0,70}", scale in wild::scale()) {
        if let Ok(value) = parse_decimal(&text, scale) {
            let shown = Decimal { value, scale }.to_string();
            prop_assert_eq!(parse_decimal(&shown, scale), Ok(value));
        }
    }
}
