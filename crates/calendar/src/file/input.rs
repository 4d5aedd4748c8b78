//! Values of a file, and faults with their places.

use super::quoted;
use crate::CalendarError;
use crate::error::Place;
use crate::local::{self, LocalTime};
use jiff::civil::Date;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// The text of a file.
#[derive(Clone, Copy)]
pub(super) struct Input<'t> {
    pub(super) text: &'t str,
}

/// A table and where it begins.
pub(super) struct Table<'v, 'i> {
    pub(super) entries: &'v DeTable<'i>,
    pub(super) span: Range<usize>,
}

impl Input<'_> {
    pub(super) fn fault(&self, at: Range<usize>, message: impl Into<String>) -> CalendarError {
        self.place(at).fault(message)
    }

    pub(super) fn place(&self, at: Range<usize>) -> Place {
        Place::of(self.text, at.start)
    }

    /// Refuses keys that `known` does not list; `of` is what they are keys of.
    pub(super) fn known_keys(
        &self,
        table: &DeTable<'_>,
        known: &[&str],
        of: &str,
    ) -> Result<(), CalendarError> {
        // In the order of the file, not of the keys.
        let unknown = table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        match unknown.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => {
                let (name, known) = (key.get_ref(), known.join(", "));
                let message = format!("{of} has no key {name}; the keys are {known}");
                Err(self.fault(key.span(), message))
            }
        }
    }

    fn wrong_type(&self, value: &Value<'_>, key: &str, right: &str) -> CalendarError {
        let got = value.get_ref().type_str();
        self.fault(value.span(), format!("{key} must be {right}, and this is of type {got}"))
    }

    pub(super) fn text<'t>(
        &self,
        value: &'t Value<'_>,
        key: &str,
        right: &str,
    ) -> Result<&'t str, CalendarError> {
        value.get_ref().as_str().ok_or_else(|| self.wrong_type(value, key, right))
    }

    pub(super) fn switch(&self, value: &Value<'_>, key: &str) -> Result<bool, CalendarError> {
        value.get_ref().as_bool().ok_or_else(|| self.wrong_type(value, key, "true or false"))
    }

    pub(super) fn list<'v, 'i>(
        &self,
        value: &'v Value<'i>,
        key: &str,
        right: &str,
    ) -> Result<&'v [Value<'i>], CalendarError> {
        match value.get_ref() {
            DeValue::Array(list) => Ok(list),
            _ => Err(self.wrong_type(value, key, right)),
        }
    }

    /// The tables under `key`, none if it is missing.
    pub(super) fn tables<'v, 'i>(
        &self,
        table: &'v DeTable<'i>,
        key: &str,
    ) -> Result<Vec<Table<'v, 'i>>, CalendarError> {
        let Some(value) = table.get(key) else { return Ok(Vec::new()) };
        let right = format!("tables: write [[{key}]] on a line of its own");
        let list = self.list(value, key, &right)?;
        list.iter().map(|item| self.table(item, key, &right)).collect()
    }

    pub(super) fn table<'v, 'i>(
        &self,
        value: &'v Value<'i>,
        key: &str,
        right: &str,
    ) -> Result<Table<'v, 'i>, CalendarError> {
        match value.get_ref() {
            DeValue::Table(entries) => Ok(Table { entries, span: value.span() }),
            _ => Err(self.wrong_type(value, key, right)),
        }
    }

    /// One of `names`, by its position.
    pub(super) fn one_of(
        &self,
        value: &Value<'_>,
        key: &str,
        names: &[&str],
    ) -> Result<usize, CalendarError> {
        let right = format!("one of {}", quoted(names));
        let name = self.text(value, key, &right)?;
        names.iter().position(|it| *it == name).ok_or_else(|| {
            self.fault(value.span(), format!("{key} is {name:?}; it must be {right}"))
        })
    }

    /// A local time, in quotes or as TOML's own.
    pub(super) fn time(&self, value: &Value<'_>, key: &str) -> Result<LocalTime, CalendarError> {
        let right = "a local time, as \"17:30\" or \"17:30:05\", up to \"24:00\"";
        let text = self.moment(value, key, right)?;
        LocalTime::parse(&text).ok_or_else(|| {
            self.fault(value.span(), format!("{key} is {text:?}; it must be {right}"))
        })
    }

    /// A date, in quotes or as TOML's own.
    pub(super) fn date(&self, value: &Value<'_>) -> Result<Date, CalendarError> {
        let right = "a date from 1970-01-01 to 2499-12-31, as 2026-12-24";
        let text = self.moment(value, "a date", right)?;
        local::date(&text).ok_or_else(|| {
            self.fault(value.span(), format!("{text:?} is not a date here; it must be {right}"))
        })
    }

    fn moment(&self, value: &Value<'_>, key: &str, right: &str) -> Result<String, CalendarError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Datetime(moment) => Ok(moment.to_string()),
            _ => Err(self.wrong_type(value, key, right)),
        }
    }
}

impl<'v, 'i> Table<'v, 'i> {
    pub(super) fn get(&self, key: &str) -> Option<&'v Value<'i>> {
        self.entries.get(key)
    }

    pub(super) fn required(
        &self,
        input: &Input<'_>,
        key: &str,
        of: &str,
        example: &str,
    ) -> Result<&'v Value<'i>, CalendarError> {
        self.get(key).ok_or_else(|| {
            let message = format!("{of} has no `{key}`: add it, as in {example}");
            input.fault(self.span.clone(), message)
        })
    }
}
