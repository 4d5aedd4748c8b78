//! `[[calendars]]`: the calendars that a venue runs by, each with the file that has it.

use super::ConfigError;
use crate::calendar_file::{self, CalendarFile};
use rialto_calendar::DAYS_MAX;
use rialto_core::CALENDARS_MAX;
use rialto_model::{Name, Timestamp};
use std::ops::Range;
use std::path::PathBuf;
use toml::Spanned;
use toml::de::DeValue;

/// The name of the list in a file.
pub(super) const KEY: &str = "calendars";

/// What a printed configuration says of the list.
pub(super) const MEANING: &str = "Trading calendars, at most 64 (docs/calendar.md). Each has a table \
    [[calendars]] with name, by which an instrument is assigned to it: 1 to 36 letters, digits, \
    dashes and underscores; file, a path that starts at the directory of this file; and \
    plan_days, for how many days its transitions are planned ahead: 1 to 366, and 14 unless given.";

const PLAN_DAYS: u32 = 14;

/// A calendar that the venue runs by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarConfig {
    /// The name by which instruments are assigned to it.
    pub name: Name,
    /// The file.
    pub file: PathBuf,
    /// For how many days its transitions are planned ahead.
    pub plan_days: u32,
}

impl CalendarConfig {
    /// Reads the file.
    pub(crate) fn read(&self) -> Result<CalendarFile, ConfigError> {
        let path = &self.file;
        let bytes = calendar_file::bytes(path)
            .map_err(|source| ConfigError::Read { path: path.clone(), source })?;
        calendar_file::parse(path, &bytes)
    }

    /// Refuses a calendar whose holidays and half days are all before the date at `now`.
    pub(crate) fn check_days(
        &self,
        file: &CalendarFile,
        now: Timestamp,
    ) -> Result<(), ConfigError> {
        let today = file.calendar.local(now).date();
        let checked = file.calendar.check_special_days(today);
        checked.map_err(|error| calendar_file::refused(&self.file, &error))
    }

    /// Its table in a file.
    pub(super) fn told(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let (name, file) = (quoted(self.name.as_str()), quoted(&self.file.to_string_lossy()));
        format!("[[{KEY}]]\nname = {name}\nfile = {file}\nplan_days = {}", self.plan_days)
    }
}

/// A fault, and where it is, unless it is where the list begins.
type Fault = (Option<Range<usize>>, String);

/// Reads the list.
pub(super) fn parse(list: &Spanned<DeValue<'_>>) -> Result<Vec<CalendarConfig>, Fault> {
    let DeValue::Array(entries) = list.get_ref() else {
        return Err((None, "calendars is a list: write [[calendars]] on a line of its own".into()));
    };
    if entries.len() > CALENDARS_MAX {
        let message = format!("{} calendars are too many: at most {CALENDARS_MAX}", entries.len());
        return Err((None, message));
    }
    let mut calendars: Vec<CalendarConfig> = Vec::new();
    for entry in entries {
        let calendar = parse_one(entry)?;
        if calendars.iter().any(|earlier| earlier.name == calendar.name) {
            let message = format!("there are two calendars with the name {}", calendar.name);
            return Err((Some(entry.span()), message));
        }
        calendars.push(calendar);
    }
    Ok(calendars)
}

fn parse_one(entry: &Spanned<DeValue<'_>>) -> Result<CalendarConfig, Fault> {
    let DeValue::Table(table) = entry.get_ref() else {
        let message = "a calendar is a table: write [[calendars]] on a line of its own";
        return Err((Some(entry.span()), message.into()));
    };
    let (mut name, mut file, mut plan_days) = (None, None, PLAN_DAYS);
    for (key, value) in table {
        let wrong = |what: &str| {
            let message = format!("{} must be {what}", key.get_ref());
            (Some(value.span()), message)
        };
        let text = || value.get_ref().as_str();
        match AsRef::<str>::as_ref(key.get_ref()) {
            "name" => {
                let read = text().and_then(plain_name);
                let what = "1 to 36 letters, digits, dashes and underscores";
                name = Some(read.ok_or_else(|| wrong(what))?);
            }
            "file" => {
                let path = text().filter(|path| !path.is_empty()).map(PathBuf::from);
                file = Some(path.ok_or_else(|| wrong("the path of a calendar"))?);
            }
            "plan_days" => {
                let integer = value.get_ref().as_integer();
                let days = integer.and_then(|it| u32::from_str_radix(it.as_str(), it.radix()).ok());
                let days = days.filter(|days| (1..=DAYS_MAX).contains(days));
                plan_days = days.ok_or_else(|| wrong(&format!("1 to {DAYS_MAX}")))?;
            }
            unknown => {
                let message = format!(
                    "there is no setting {unknown} in [[calendars]]; it has name, file and plan_days"
                );
                return Err((Some(key.span()), message));
            }
        }
    }
    let missing = |key: &str| {
        let message = format!("this calendar has no {key}: each needs name and file");
        (Some(entry.span()), message)
    };
    let name = name.ok_or_else(|| missing("name"))?;
    Ok(CalendarConfig { name, file: file.ok_or_else(|| missing("file"))?, plan_days })
}

/// A name that needs no quotes in a path or on a command line.
fn plain_name(text: &str) -> Option<Name> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let name: Name = text.parse().ok()?;
    (!name.is_empty() && text.bytes().all(is_plain)).then_some(name)
}
