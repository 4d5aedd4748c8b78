//! Reads a calendar. What it does not know, it refuses, and says where.

mod adjacent;
mod input;
mod session;
mod special;

use crate::zone::Zone;
use crate::{Calendar, CalendarError};
use input::{Input, Value};
use std::ops::Range;
use toml::Spanned;
use toml::de::DeTable;

/// The most bytes of a file.
pub const FILE_BYTES_MAX: usize = 256 * 1024;

/// The most holidays and half days of a calendar together.
pub const SPECIAL_DAYS_MAX: usize = 2_000;

/// The most characters of a name.
pub const NAME_CHARACTERS_MAX: usize = 100;

const KEYS: &[&str] = &["zone", "weekdays", "session", "holiday", "half_day"];

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

impl Calendar {
    /// Reads a file.
    ///
    /// # Errors
    /// [`CalendarError::Fault`] with the place of the first fault that is found.
    pub fn from_bytes(bytes: &[u8]) -> Result<Calendar, CalendarError> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(too_long());
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Calendar::parse(text),
            Err(error) => {
                let valid = error.valid_up_to();
                let before = String::from_utf8_lossy(bytes.get(..valid).unwrap_or_default());
                let message = "this byte is not UTF-8; save the file as UTF-8";
                Err(Input { text: &before }.fault(valid..valid, message))
            }
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As [`Calendar::from_bytes`].
    pub fn parse(text: &str) -> Result<Calendar, CalendarError> {
        if text.len() > FILE_BYTES_MAX {
            return Err(too_long());
        }
        let input = Input { text };
        let table = DeTable::parse(text).map_err(|error| {
            let message = format!("this is not TOML: {}", error.message().replace('\n', "; "));
            input.fault(error.span().unwrap_or_default(), message)
        })?;
        let table = table.get_ref();
        input.known_keys(table, KEYS, "the calendar")?;
        let zone = zone(&input, table)?;
        let weekdays = weekdays(&input, table)?;
        let listed = input.tables(table, "session")?;
        if listed.is_empty() {
            let message = "the calendar has no session: add [[session]] with `phases` and `end`";
            return Err(input.fault(place_of(table, "session"), message));
        }
        let sessions = session::read_all(&input, &listed)?;
        let mut calendar =
            Calendar { zone, weekdays, sessions, special_days: std::collections::BTreeMap::new() };
        special::read_all(&input, table, &mut calendar)?;
        adjacent::check(&calendar)?;
        Ok(calendar)
    }
}

fn too_long() -> CalendarError {
    let message = format!(
        "the file has more than {FILE_BYTES_MAX} bytes, the most that a calendar may have; drop \
         dates that are past"
    );
    Input { text: "" }.fault(0..0, message)
}

/// Where a key is, or the begin of the file if it is missing.
fn place_of(table: &DeTable<'_>, key: &str) -> Range<usize> {
    table.get(key).map_or(0..0, Spanned::span)
}

fn zone(input: &Input<'_>, table: &DeTable<'_>) -> Result<Zone, CalendarError> {
    let Some(value) = table.get("zone") else {
        let message = "the calendar has no `zone`: name the time zone of its local times, as in \
                       zone = \"Europe/Berlin\"";
        return Err(input.fault(0..0, message));
    };
    let name = input.text(value, "zone", "the name of a time zone, as in \"Europe/Berlin\"")?;
    Zone::named(name).map_err(|alike| {
        let hint = match alike.as_slice() {
            [] => "names are those of the tz database, as \"Europe/Berlin\"".to_owned(),
            alike => format!("did you mean {}?", quoted(alike)),
        };
        input.fault(value.span(), format!("there is no time zone {name:?}; {hint}"))
    })
}

fn weekdays(input: &Input<'_>, table: &DeTable<'_>) -> Result<[bool; 7], CalendarError> {
    let example = "as in weekdays = [\"monday\", \"tuesday\"]";
    let Some(value) = table.get("weekdays") else {
        let message = format!("the calendar has no `weekdays`: list those of trading, {example}");
        return Err(input.fault(0..0, message));
    };
    let mut weekdays = [false; 7];
    let list = input.list(value, "weekdays", "a list of weekdays")?;
    if list.is_empty() {
        let message = format!("weekdays is empty: list at least one, {example}");
        return Err(input.fault(value.span(), message));
    }
    for item in list {
        let name = input.text(item, "a weekday", "one of the names in quotes")?;
        let Some(at) = WEEKDAYS.iter().position(|it| *it == name) else {
            let message =
                format!("there is no weekday {name:?}; the weekdays are {}", quoted(&WEEKDAYS));
            return Err(input.fault(item.span(), message));
        };
        if weekdays.get(at).copied().unwrap_or_default() {
            let message = format!("{name} is given twice; list each weekday once");
            return Err(input.fault(item.span(), message));
        }
        weekdays.iter_mut().skip(at).take(1).for_each(|it| *it = true);
    }
    Ok(weekdays)
}

/// Texts in quotes, with commas between them.
fn quoted<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("{:?}", text.as_ref())).collect();
    texts.join(", ")
}

/// A name that people give a day. Control characters would garble a terminal.
fn name<'t>(input: &Input<'_>, value: &'t Value<'_>) -> Result<&'t str, CalendarError> {
    let name = input.text(value, "name", "text in quotes")?;
    let characters = name.chars().count();
    if !(1..=NAME_CHARACTERS_MAX).contains(&characters) || name.chars().any(char::is_control) {
        let message = format!(
            "a name must have 1 to {NAME_CHARACTERS_MAX} characters, none of them a control \
             character; this one has {characters} characters"
        );
        return Err(input.fault(value.span(), message));
    }
    Ok(name)
}
