//! Files, tenants and volumes as the interface of a venue shows them, so that a script reads the same from
//! a directory and from a venue.

use crate::Error;
use serde::Serialize;
use serde_json::Value;

/// What is shown, as JSON.
pub(super) fn of(shown: &impl Serialize) -> Result<Value, Error> {
    let told = |error| Error::Failed(format!("an answer cannot be written as JSON: {error}"));
    serde_json::to_value(shown).map_err(told)
}

/// Several of them.
pub(super) fn all<T: Serialize>(shown: impl IntoIterator<Item = T>) -> Result<Vec<Value>, Error> {
    shown.into_iter().map(|one| of(&one)).collect()
}
