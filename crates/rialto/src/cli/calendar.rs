//! `rialto calendar`: checks a trading calendar, and shows its days.

use crate::terminal::say;
use crate::{Error, calendar_file};
use rialto_calendar::{Calendar, CallTimes, DAYS_MAX, Date, DayKind, Transition};
use rialto_ident::{Clock, SystemClock};
use rialto_model::Timestamp;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check a calendar file.
    Check(Check),
    /// Print the trading days of a calendar file with their phases.
    Show(Show),
}

#[derive(Debug, clap::Args)]
struct Check {
    /// The calendar.
    file: PathBuf,
    /// Check as on this date, instead of today: holidays and half days must not all be before it.
    #[arg(long, value_name = "DATE", value_parser = date)]
    today: Option<Date>,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The calendar.
    file: PathBuf,
    /// The first date; today if it is omitted.
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<Date>,
    /// The number of dates, trading days or not.
    #[arg(long, value_name = "N", default_value_t = 7)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(DAYS_MAX)))]
    days: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    match &args.command {
        Command::Check(check) => check.run(),
        Command::Show(show) => show.run(),
    }
}

fn date(text: &str) -> Result<Date, String> {
    rialto_calendar::date(text)
        .ok_or_else(|| "a date must be from 1970-01-01 to 2499-12-31, as 2026-12-24".to_owned())
}

fn read(path: &Path) -> Result<Calendar, Error> {
    let bytes = calendar_file::bytes(path).map_err(Error::file("read", path))?;
    Ok(calendar_file::parse(path, &bytes)?.calendar)
}

fn today(calendar: &Calendar) -> Date {
    calendar.local(SystemClock.now()).date()
}

impl Check {
    fn run(&self) -> Result<(), Error> {
        let calendar = read(&self.file)?;
        let today = self.today.unwrap_or_else(|| today(&calendar));
        calendar
            .check_special_days(today)
            .map_err(|error| calendar_file::refused(&self.file, &error))?;
        let weekdays: Vec<String> =
            calendar.weekdays().map(|day| format!("{day:?}").to_lowercase()).collect();
        say(format_args!("{}: valid", self.file.display()));
        say(format_args!("time zone     {}", calendar.zone()));
        say(format_args!("weekdays      {}", weekdays.join(", ")));
        say(format_args!("sessions      {}", calendar.sessions()));
        let special: Vec<_> = calendar.special_days().collect();
        let half_days = special.iter().filter(|(_, kind)| kind.is_trading_day()).count();
        say(format_args!("holidays      {}", special.len() - half_days));
        say(format_args!("half days     {half_days}"));
        if let Some((next, kind)) = special.iter().find(|(date, _)| *date >= today) {
            say(format_args!("next of them  {next}, {}", told(*kind)));
        }
        if let Some((last, kind)) = special.last() {
            say(format_args!("last of them  {last}, {}", told(*kind)));
        }
        Ok(())
    }
}

/// A kind of day with its name.
fn told(kind: DayKind<'_>) -> String {
    let (what, name) = match kind {
        DayKind::HalfDay { name } => ("half day", name),
        DayKind::Holiday { name } => ("holiday", name),
        DayKind::Ordinary => ("trading day", None),
        DayKind::OffWeekday => ("no trading day", None),
    };
    name.map_or_else(|| what.to_owned(), |name| format!("{what}: {name}"))
}

impl Show {
    fn run(&self) -> Result<(), Error> {
        let calendar = read(&self.file)?;
        let first = self.from.unwrap_or_else(|| today(&calendar));
        let dates: Vec<Date> = std::iter::successors(Some(first), |date| date.tomorrow().ok())
            .take(self.days as usize)
            .collect();
        if self.json {
            let days: Vec<Value> =
                dates.into_iter().filter_map(|date| day_in_json(&calendar, date)).collect();
            say(format_args!("{}", json!({ "time_zone": calendar.zone(), "days": days })));
            return Ok(());
        }
        let mut lines = Vec::new();
        for date in dates {
            let kind = calendar.kind(date);
            if matches!(kind, DayKind::HalfDay { .. } | DayKind::Holiday { .. }) {
                lines.push(format!("{date}  {}", told(kind)));
            }
            let day = calendar.trading_day(date);
            let transitions = day.into_iter().flat_map(|day| day.transitions);
            lines.extend(transitions.map(|it| line(&calendar, &it)));
        }
        if lines.is_empty() {
            say(format_args!("no trading day and no holiday"));
            return Ok(());
        }
        say(format_args!(
            "{:<12}{:<15}{:<21}{:<22}{:<17}ENDS",
            "DAY", "PHASE", "BEGINS", "BEGINS (UTC)", "NO CANCELS FROM"
        ));
        say(format_args!("{}", lines.join("\n")));
        Ok(())
    }
}

fn line(calendar: &Calendar, transition: &Transition) -> String {
    let Transition { at, phase, day, call } = transition;
    let (begin, utc) = (calendar.local(*at), utc(*at));
    let begin = format!("{} {}", begin.date(), begin.time());
    let mut line = format!("{day}  {phase:<15}{begin:<21}{utc:<22}");
    if let Some(CallTimes { no_cancel_from, earliest_end, latest_end }) = call {
        let clock = |time: Timestamp| calendar.local(time).time().to_string();
        let no_cancel_from = no_cancel_from.map(clock).unwrap_or_default();
        let earliest_end = clock(*earliest_end);
        let latest_end = clock(*latest_end);
        let _ = write!(line, "{no_cancel_from:<17}{earliest_end}");
        if earliest_end != latest_end {
            let _ = write!(line, " to {latest_end}");
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Times of a calendar are whole seconds.
fn utc(time: Timestamp) -> String {
    crate::inspect::utc::show(time).replace(".000000000", "")
}

/// A trading day or a holiday; `None` for an ordinary date without trading.
fn day_in_json(calendar: &Calendar, date: Date) -> Option<Value> {
    let (kind, name) = match calendar.kind(date) {
        DayKind::Ordinary => ("ordinary", None),
        DayKind::HalfDay { name } => ("half_day", name),
        DayKind::Holiday { name } => ("holiday", name),
        DayKind::OffWeekday => return None,
    };
    let day = calendar.trading_day(date);
    let transitions: Vec<Value> = day
        .into_iter()
        .flat_map(|day| day.transitions)
        .map(|it| {
            let call = it.call.map(|call| {
                json!({
                    "no_cancel_from": call.no_cancel_from,
                    "earliest_end": call.earliest_end,
                    "latest_end": call.latest_end,
                })
            });
            json!({
                "at": it.at,
                "local": calendar.local(it.at).to_string(),
                "phase": it.phase.name(),
                "call": call,
            })
        })
        .collect();
    Some(json!({
        "date": date.to_string(),
        "kind": kind,
        "name": name,
        "transitions": transitions,
    }))
}
