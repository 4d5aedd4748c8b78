//! Holidays and half days.

use super::input::{Input, Table};
use super::{SPECIAL_DAYS_MAX, WEEKDAYS, name, quoted, session};
use crate::calendar::SpecialDay;
use crate::schedule::Session;
use crate::{Calendar, CalendarError, DayKind};
use std::sync::Arc;
use toml::de::DeTable;

/// Reads the special days into `calendar`, whose weekdays are known.
pub(super) fn read_all(
    input: &Input<'_>,
    table: &DeTable<'_>,
    calendar: &mut Calendar,
) -> Result<(), CalendarError> {
    for holiday in input.tables(table, "holiday")? {
        input.known_keys(holiday.entries, &["dates", "name"], "a holiday")?;
        add(input, &holiday, "the holiday", None, calendar)?;
    }
    for half_day in input.tables(table, "half_day")? {
        input.known_keys(half_day.entries, &["dates", "name", "session"], "a half day")?;
        let sessions = input.tables(half_day.entries, "session")?;
        if sessions.is_empty() {
            let message = "the half day has no session: add [[half_day.session]], or list its dates \
                           under [[holiday]]";
            return Err(input.fault(half_day.span.clone(), message));
        }
        let sessions: Arc<[Session]> = session::read_all(input, &sessions)?.into();
        add(input, &half_day, "the half day", Some(&sessions), calendar)?;
    }
    Ok(())
}

fn add(
    input: &Input<'_>,
    table: &Table<'_, '_>,
    of: &str,
    sessions: Option<&Arc<[Session]>>,
    calendar: &mut Calendar,
) -> Result<(), CalendarError> {
    let name = table.get("name").map(|value| name(input, value)).transpose()?;
    let value = table.required(input, "dates", of, "dates = [2026-12-24]")?;
    let dates = input.list(value, "dates", "a list of dates, as [2026-12-24]")?;
    if dates.is_empty() {
        let message = format!("{of} has no dates: list at least one, or drop it");
        return Err(input.fault(value.span(), message));
    }
    for value in dates {
        let date = input.date(value)?;
        let place = input.place(value.span());
        let fault = |message: String| Err(place.fault(message));
        if let Some(first) = calendar.special_days.get(&date) {
            let was = if first.sessions.is_some() { "half day" } else { "holiday" };
            let is = if sessions.is_some() { "half day" } else { "holiday" };
            let line = first.place.line;
            return fault(if was == is {
                format!("{date} is given twice, first in line {line}; keep one of the two")
            } else {
                format!("{date} is a {was} in line {line} and a {is} here; keep one of the two")
            });
        }
        if sessions.is_some() && calendar.kind(date) == DayKind::OffWeekday {
            let at = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or_default();
            let weekday = WEEKDAYS.get(at).copied().unwrap_or_default();
            return fault(format!(
                "{date} is a {weekday}, on which there is no trading; a half day must be one of the \
                 weekdays, {}",
                quoted(&trading(calendar))
            ));
        }
        if calendar.special_days.len() == SPECIAL_DAYS_MAX {
            return fault(format!(
                "a calendar has at most {SPECIAL_DAYS_MAX} holidays and half days, and this is one \
                 more; drop past ones"
            ));
        }
        let day = SpecialDay { name: name.map(str::to_owned), sessions: sessions.cloned(), place };
        calendar.special_days.insert(date, day);
    }
    Ok(())
}

fn trading(calendar: &Calendar) -> Vec<&'static str> {
    let days = WEEKDAYS.iter().zip(calendar.weekdays);
    days.filter(|(_, trades)| *trades).map(|(name, _)| *name).collect()
}
