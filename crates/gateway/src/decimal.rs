//! Converts decimal text to integers at the scales of an instrument or a currency.

use crate::ApiError;
use rialto_model::{Amount, Currency, DecimalError, Price, Quantity, Text};
use std::borrow::Cow;

use rialto_desk::Listing;

fn refused(field: &'static str, text: &str, error: impl std::fmt::Display) -> ApiError {
    // A text that is longer than any number is not repeated.
    let shown: Cow<'_, str> =
        if text.len() <= 60 { Cow::Borrowed(text) } else { Cow::Borrowed("that text") };
    ApiError::invalid(field, format!("The field {field} is invalid: {shown:?} {error}."))
}

pub(crate) fn price(field: &'static str, text: &str, listing: &Listing) -> Result<Price, ApiError> {
    Price::parse(text, listing.price_scale).map_err(|error| refused(field, text, error))
}

pub(crate) fn quantity(
    field: &'static str,
    text: &str,
    listing: &Listing,
) -> Result<Quantity, ApiError> {
    Quantity::parse(text, listing.quantity_scale).map_err(|error| refused(field, text, error))
}

pub(crate) fn amount(
    field: &'static str,
    text: &str,
    currency: &Currency,
) -> Result<Amount, ApiError> {
    Amount::parse(text, currency.scale).map_err(|error: DecimalError| refused(field, text, error))
}

/// Parses a short text: a client order id, a reference, a name.
pub(crate) fn short<const N: usize>(field: &'static str, text: &str) -> Result<Text<N>, ApiError> {
    Text::new(text.as_bytes()).map_err(|error| refused(field, text, error))
}
