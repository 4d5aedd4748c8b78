//! Sessions and their phases.

use super::input::{Input, Table, Value};
use crate::local::LocalTime;
use crate::schedule::{Begins, PHASES_MAX, SESSIONS_MAX, ScheduledCall, ScheduledPhase, Session};
use crate::{CalendarError, Phase};

const KEYS: &[&str] = &["begins", "on_holiday_eve", "phases", "end"];
const PHASE_KEYS: &[&str] = &["at", "phase", "no_cancel_from", "end", "earliest_end", "latest_end"];
const CALL_KEYS: &[&str] = &["no_cancel_from", "end", "earliest_end", "latest_end"];

/// Reads the sessions of a day.
pub(super) fn read_all(
    input: &Input<'_>,
    tables: &[Table<'_, '_>],
) -> Result<Vec<Session>, CalendarError> {
    if let Some(table) = tables.get(SESSIONS_MAX) {
        let message =
            format!("a trading day has at most {SESSIONS_MAX} sessions; this is one more");
        return Err(input.fault(table.span.clone(), message));
    }
    let mut sessions: Vec<Session> = Vec::with_capacity(tables.len());
    for (nth, table) in tables.iter().enumerate() {
        let session = read(input, table)?;
        if let Some(before) = sessions.last()
            && session.span_s().0 < before.span_s().1
        {
            let message = format!(
                "session {} begins at {}, before session {nth} ends at {}; list sessions in their \
                 order, so that each begins when the one before has ended",
                nth + 1,
                session.begin(),
                before.end,
            );
            return Err(session.begin_place.fault(message));
        }
        sessions.push(session);
    }
    if let (Some(table), true) = (tables.first(), sessions.iter().all(Session::can_be_left_out)) {
        let message = "no session would be held after a holiday: set on_holiday_eve = true, or add \
                       a session that begins on the trading day";
        return Err(input.fault(table.span.clone(), message));
    }
    Ok(sessions)
}

fn read(input: &Input<'_>, table: &Table<'_, '_>) -> Result<Session, CalendarError> {
    input.known_keys(table.entries, KEYS, "a session")?;
    let begins = match table.get("begins") {
        None => Begins::TradingDay,
        Some(value) => {
            let names = Begins::ALL.map(Begins::name);
            let at = input.one_of(value, "begins", &names)?;
            Begins::ALL.get(at).copied().unwrap_or(Begins::TradingDay)
        }
    };
    let on_holiday_eve = match table.get("on_holiday_eve") {
        None => false,
        Some(value) if begins == Begins::TradingDay => {
            let message = "on_holiday_eve is for a session that begins on an earlier date; drop it, \
                           or set begins = \"trading_day_before\"";
            return Err(input.fault(value.span(), message));
        }
        Some(value) => input.switch(value, "on_holiday_eve")?,
    };
    let example = "phases = [{ at = \"09:00\", phase = \"continuous\" }]";
    let listed = table.required(input, "phases", "the session", example)?;
    let end_value = table.required(input, "end", "the session", "end = \"17:30\"")?;
    let mut end = input.time(end_value, "end")?;
    let list = input.list(listed, "phases", "a list of phases")?;
    if list.is_empty() || list.len() > PHASES_MAX {
        let message =
            format!("a session has 1 to {PHASES_MAX} phases, and this one has {}", list.len());
        return Err(input.fault(listed.span(), message));
    }
    let mut tables = Vec::with_capacity(list.len());
    for value in list {
        let right = "a phase, as { at = \"09:00\", phase = \"continuous\" }";
        let table = input.table(value, "each of phases", right)?;
        input.known_keys(table.entries, PHASE_KEYS, "a phase")?;
        let at = table.required(input, "at", "the phase", "at = \"09:00\"")?;
        tables.push((at, table));
    }
    let begin_at = tables.first().map_or(listed, |(at, _)| *at);
    let begin = input.time(begin_at, "at")?;
    if begin >= LocalTime::MIDNIGHT {
        let message = "a session cannot begin at 24:00; begin it at \"00:00\" of the next date";
        return Err(input.fault(begin_at.span(), message));
    }
    let passes_midnight = end <= begin;
    if passes_midnight && begins == Begins::TradingDay {
        let message = format!(
            "the session ends at {end}, which is not after its begin at {begin}; one that passes \
             midnight belongs to the trading day on which it ends: set begins = \"day_before\" or \
             \"trading_day_before\""
        );
        return Err(input.fault(end_value.span(), message));
    }
    if passes_midnight {
        end = end.on_the_next_date();
    }
    let times = Times { input, begin, passes_midnight };
    let mut starts = Vec::with_capacity(tables.len());
    for (value, _) in &tables {
        let at = times.read(value, "at")?;
        if let Some(before) = starts.last()
            && at <= *before
        {
            let message = format!(
                "the phase begins at {at}, which is not after the begin of the phase before it, \
                 {before}; list phases in their order"
            );
            return Err(input.fault(value.span(), message));
        }
        if at >= end {
            let message = format!(
                "the phase begins at {at}, which is not before the end of its session, {end}; begin \
                 it earlier, or end the session later"
            );
            return Err(input.fault(value.span(), message));
        }
        starts.push(at);
    }
    let begin_place = input.place(begin_at.span());
    let mut phases: Vec<ScheduledPhase> = Vec::with_capacity(tables.len());
    for (nth, ((_, table), at)) in tables.iter().zip(&starts).enumerate() {
        let next = starts.get(nth + 1).copied();
        let phase = phase(&times, table, *at, next.unwrap_or(end), next.is_some())?;
        if let (Some(before), Some(value)) = (phases.last(), table.get("phase"))
            && before.phase == phase.phase
        {
            let message = format!("{} follows itself; drop the second", phase.phase);
            return Err(input.fault(value.span(), message));
        }
        phases.push(phase);
    }
    Ok(Session { begins, on_holiday_eve, phases, end, begin_place })
}

/// Reads times of one session.
struct Times<'a, 't> {
    input: &'a Input<'t>,
    begin: LocalTime,
    passes_midnight: bool,
}

impl Times<'_, '_> {
    /// A time; one that is earlier than the begin of the session is on the next date, if the
    /// session reaches it.
    fn read(&self, value: &Value<'_>, key: &str) -> Result<LocalTime, CalendarError> {
        let time = self.input.time(value, key)?;
        let is_after_midnight = self.passes_midnight && time < self.begin;
        Ok(if is_after_midnight { time.on_the_next_date() } else { time })
    }
}

fn phase(
    times: &Times<'_, '_>,
    table: &Table<'_, '_>,
    at: LocalTime,
    next: LocalTime,
    is_followed: bool,
) -> Result<ScheduledPhase, CalendarError> {
    let input = times.input;
    let value = table.required(input, "phase", "the phase", "phase = \"continuous\"")?;
    let derived = [Phase::Break, Phase::Closed].map(Phase::name);
    if let Some(name) = value.get_ref().as_str().filter(|name| derived.contains(name)) {
        let message = format!(
            "{name} is not listed: after a session that another one of the trading day follows is \
             a break, and after the last one the market is closed; end the session instead"
        );
        return Err(input.fault(value.span(), message));
    }
    let found = input.one_of(value, "phase", &Phase::WRITTEN.map(Phase::name))?;
    let phase = Phase::WRITTEN.get(found).copied().unwrap_or(Phase::Continuous);
    if !phase.is_call() {
        let wrong = CALL_KEYS.iter().find_map(|key| Some((key, table.get(key)?)));
        if let Some((key, value)) = wrong {
            let message = format!(
                "{key} is for calls, and {phase} is none; a phase ends when the next one begins"
            );
            return Err(input.fault(value.span(), message));
        }
        return Ok(ScheduledPhase { phase, at, call: None });
    }
    let call = call(times, table, at, next, is_followed)?;
    Ok(ScheduledPhase { phase, at, call: Some(call) })
}

fn call(
    times: &Times<'_, '_>,
    table: &Table<'_, '_>,
    at: LocalTime,
    next: LocalTime,
    is_followed: bool,
) -> Result<ScheduledCall, CalendarError> {
    let input = times.input;
    let read = |key: &str| -> Result<Option<(LocalTime, &Value<'_>)>, CalendarError> {
        table.get(key).map(|value| Ok((times.read(value, key)?, value))).transpose()
    };
    let whole = || table.span.clone();
    let (earliest, latest) = match (read("end")?, read("earliest_end")?, read("latest_end")?) {
        (None, None, None) => ((next, whole()), (next, whole())),
        (Some((end, value)), None, None) => ((end, value.span()), (end, value.span())),
        (None, Some((earliest, at)), Some((latest, to))) => {
            ((earliest, at.span()), (latest, to.span()))
        }
        (Some((_, value)), _, _) => {
            let message = "a call has either `end`, or `earliest_end` and `latest_end` for a random \
                           end; drop one of the two";
            return Err(input.fault(value.span(), message));
        }
        (None, Some((_, value)), None) | (None, None, Some((_, value))) => {
            let message = "a random end has two bounds: give both `earliest_end` and `latest_end`";
            return Err(input.fault(value.span(), message));
        }
    };
    if earliest.0 <= at {
        let message = format!(
            "the call may end at {}, which is not after its begin at {at}; it must be later",
            earliest.0
        );
        return Err(input.fault(earliest.1, message));
    }
    if latest.0 < earliest.0 {
        let message = format!(
            "latest_end is {}, before earliest_end at {}; it must be that time or later",
            latest.0, earliest.0
        );
        return Err(input.fault(latest.1, message));
    }
    if latest.0 > next {
        let what = if is_followed { "the next phase begins" } else { "its session ends" };
        let message = format!(
            "the call may last until {}, and {what} at {next}; it must end by then",
            latest.0
        );
        return Err(input.fault(latest.1, message));
    }
    let no_cancel_from = match read("no_cancel_from")? {
        None => None,
        Some((time, _)) if (at..=earliest.0).contains(&time) => Some(time),
        Some((time, value)) => {
            let message = format!(
                "no_cancel_from is {time}; it must be from the begin of the call at {at} to its \
                 earliest end at {}",
                earliest.0
            );
            return Err(input.fault(value.span(), message));
        }
    };
    Ok(ScheduledCall { no_cancel_from, earliest_end: earliest.0, latest_end: latest.0 })
}
