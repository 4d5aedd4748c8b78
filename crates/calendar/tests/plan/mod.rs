//! Random calendars: a plan, its text as a file, and its boundaries in local times.
//!
//! The boundaries are found without the crate, as the reference to compare it with.

#![allow(dead_code, reason = "each test uses a part")]

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use proptest::prelude::*;
use rialto_calendar::Phase;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const DAY_S: i64 = 86_400;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) zone: &'static str,
    /// By offset from Monday.
    pub(crate) weekdays: [bool; 7],
    pub(crate) ordinary: Vec<PlannedSession>,
    /// `None` for a holiday.
    pub(crate) special: BTreeMap<Date, Option<Vec<PlannedSession>>>,
    /// The day in the middle of what is compared.
    pub(crate) middle: Date,
}

#[derive(Clone, Debug)]
pub(crate) struct PlannedSession {
    /// On an earlier date than its trading day: on the date before, or the trading day before.
    pub(crate) night: Option<Night>,
    /// Seconds since the midnight of the date on which it begins.
    pub(crate) phases: Vec<PlannedPhase>,
    pub(crate) end: i64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Night {
    pub(crate) is_after_trading_day: bool,
    pub(crate) on_holiday_eve: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedPhase {
    pub(crate) at: i64,
    pub(crate) phase: Phase,
    /// No cancels, earliest end, latest end.
    pub(crate) call: Option<(Option<i64>, i64, i64)>,
}

/// A phase that begins, in local times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boundary {
    pub(crate) at: DateTime,
    pub(crate) phase: Phase,
    pub(crate) day: Date,
    pub(crate) call: Option<(Option<DateTime>, DateTime, DateTime)>,
}

impl Plan {
    pub(crate) fn is_trading_day(&self, date: Date) -> bool {
        match self.special.get(&date) {
            Some(sessions) => sessions.is_some(),
            None => self.weekdays[date.weekday().to_monday_zero_offset() as usize],
        }
    }

    /// The boundaries of the trading days from `first` to `last`, in order.
    pub(crate) fn boundaries(&self, first: Date, last: Date) -> Vec<Boundary> {
        let mut all = Vec::new();
        let mut day = first;
        while day <= last {
            if self.is_trading_day(day) {
                let sessions = match self.special.get(&day) {
                    Some(sessions) => sessions.clone().unwrap(),
                    None => self.ordinary.clone(),
                };
                let mut of_day: Vec<Boundary> = Vec::new();
                for session in &sessions {
                    let Some(on) = self.begins_on(session, day) else { continue };
                    of_day.extend(session.phases.iter().map(|phase| Boundary {
                        at: local(on, phase.at),
                        phase: phase.phase,
                        day,
                        call: phase.call.map(|(no_cancel, earliest, latest)| {
                            let no_cancel = no_cancel.map(|at| local(on, at));
                            (no_cancel, local(on, earliest), local(on, latest))
                        }),
                    }));
                    let at = local(on, session.end);
                    of_day.push(Boundary { at, phase: Phase::Break, day, call: None });
                }
                of_day.last_mut().unwrap().phase = Phase::Closed;
                all.extend(of_day);
            }
            day = day.tomorrow().unwrap();
        }
        all
    }

    fn begins_on(&self, session: &PlannedSession, day: Date) -> Option<Date> {
        let Some(night) = session.night else { return Some(day) };
        let mut date = day.yesterday().unwrap();
        let mut is_holiday_between = self.special.get(&date).is_some_and(Option::is_none);
        while night.is_after_trading_day && !self.is_trading_day(date) {
            date = date.yesterday().unwrap();
            is_holiday_between |= self.special.get(&date).is_some_and(Option::is_none);
        }
        (night.on_holiday_eve || !is_holiday_between).then_some(date)
    }

    pub(crate) fn toml(&self) -> String {
        let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
        let weekdays: Vec<_> =
            names.iter().zip(self.weekdays).filter(|(_, is)| *is).map(|(name, _)| name).collect();
        let mut text = format!("zone = {:?}\nweekdays = {weekdays:?}\n", self.zone);
        write_sessions(&mut text, "session", &self.ordinary);
        for (date, sessions) in &self.special {
            match sessions {
                None => write!(text, "[[holiday]]\ndates = [{date}]\n").unwrap(),
                Some(sessions) => {
                    write!(text, "[[half_day]]\ndates = [\"{date}\"]\n").unwrap();
                    write_sessions(&mut text, "half_day.session", sessions);
                }
            }
        }
        text
    }
}

fn local(date: Date, second: i64) -> DateTime {
    date.at(0, 0, 0, 0) + second.seconds()
}

fn clock(second: i64) -> String {
    let second = if second == DAY_S { DAY_S } else { second % DAY_S };
    format!("\"{:02}:{:02}:{:02}\"", second / 3_600, second / 60 % 60, second % 60)
}

fn write_sessions(text: &mut String, key: &str, sessions: &[PlannedSession]) {
    for session in sessions {
        writeln!(text, "[[{key}]]").unwrap();
        if let Some(night) = session.night {
            let begins =
                if night.is_after_trading_day { "trading_day_before" } else { "day_before" };
            writeln!(text, "begins = {begins:?}\non_holiday_eve = {}", night.on_holiday_eve)
                .unwrap();
        }
        writeln!(text, "end = {}\nphases = [", clock(session.end)).unwrap();
        for phase in &session.phases {
            write!(text, "  {{ at = {}, phase = \"{}\"", clock(phase.at), phase.phase).unwrap();
            if let Some((no_cancel, earliest, latest)) = phase.call {
                if let Some(at) = no_cancel {
                    write!(text, ", no_cancel_from = {}", clock(at)).unwrap();
                }
                let (earliest, latest) = (clock(earliest), clock(latest));
                write!(text, ", earliest_end = {earliest}, latest_end = {latest}").unwrap();
            }
            writeln!(text, " }},").unwrap();
        }
        writeln!(text, "]").unwrap();
    }
}

/// A zone, and local times near which its clocks change. Havana and Santiago change at midnight, Lord
/// Howe by half an hour, St. John's in 2010 from one minute after midnight to the date before.
const MIDDLES: &[(&str, &str)] = &[
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("America/Havana", "2026-03-08"),
    ("America/Havana", "2026-11-01"),
    ("America/Santiago", "2026-09-06"),
    ("America/Santiago", "2026-04-05"),
    ("America/St_Johns", "2010-03-14"),
    ("America/St_Johns", "2010-11-07"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Asia/Shanghai", "2026-10-01"),
    ("UTC", "2028-02-29"),
    ("America/New_York", "2027-12-31"),
];

/// Times of day: half of them where clocks change.
fn second_of_day() -> impl Strategy<Value = i64> {
    prop_oneof![
        0..DAY_S,
        (0_i64..240).prop_map(|minute| minute * 60),
        (1_360_i64..1_440).prop_map(|minute| minute * 60),
    ]
}

/// Sessions between the end of trading on the date before, `until - DAY_S`, and that of the date.
fn sessions(until: i64) -> impl Strategy<Value = Vec<PlannedSession>> {
    let points = prop::collection::btree_set(second_of_day(), 2..14);
    (points, prop::collection::vec(any::<(u8, u8, u8)>(), 32), any::<(bool, bool)>()).prop_map(
        move |(points, chances, (is_after_trading_day, on_holiday_eve))| {
            let mut points: Vec<i64> =
                points.into_iter().map(|it| if it >= until { it - DAY_S } else { it }).collect();
            points.sort_unstable();
            let mut sessions: Vec<PlannedSession> = Vec::new();
            let mut open: Option<PlannedSession> = None;
            for (nth, at) in points.iter().copied().enumerate() {
                let (kind, ends, shape) = chances[nth];
                let is_last = nth + 1 == points.len();
                if let Some(mut session) = open.take() {
                    let base = if session.night.is_some() { DAY_S } else { 0 };
                    if !is_last && ends % 3 != 0 {
                        push(&mut session, at + base, kind, shape);
                        open = Some(session);
                        continue;
                    }
                    end(&mut session, at + base, shape);
                    sessions.push(session);
                    if ends % 2 == 0 {
                        continue;
                    }
                }
                if !is_last && sessions.len() < 8 {
                    let night = (at < 0).then_some(Night { is_after_trading_day, on_holiday_eve });
                    let base = if night.is_some() { DAY_S } else { 0 };
                    let mut session = PlannedSession { night, phases: Vec::new(), end: 0 };
                    push(&mut session, at + base, kind, shape);
                    open = Some(session);
                }
            }
            if sessions.iter().all(|it| it.night.is_some_and(|night| !night.on_holiday_eve)) {
                let nights = sessions.iter_mut().filter_map(|it| it.night.as_mut());
                nights.for_each(|it| it.on_holiday_eve = true);
            }
            sessions
        },
    )
}

const PHASES: [Phase; 5] = [
    Phase::PreOpen,
    Phase::OpeningCall,
    Phase::Continuous,
    Phase::IntradayCall,
    Phase::ClosingCall,
];

fn push(session: &mut PlannedSession, at: i64, kind: u8, shape: u8) {
    let mut phase = PHASES[usize::from(kind) % 5];
    if session.phases.last().is_some_and(|it| it.phase == phase) {
        phase = PHASES[(usize::from(kind) + 1) % 5];
    }
    bound_call(session, at, shape);
    let call = phase.is_call().then_some((None, 0, 0));
    session.phases.push(PlannedPhase { at, phase, call });
}

fn end(session: &mut PlannedSession, at: i64, shape: u8) {
    bound_call(session, at, shape);
    session.end = at;
}

/// Gives the last phase its times, if it is a call, now that it is known when the next one begins.
fn bound_call(session: &mut PlannedSession, next: i64, shape: u8) {
    if let Some(PlannedPhase { at, call: Some(call), .. }) = session.phases.last_mut() {
        let length = next - *at;
        let latest = if shape.is_multiple_of(2) { next } else { next - length / 3 };
        let earliest =
            if shape.is_multiple_of(3) { latest } else { *at + 1 + (latest - *at - 1) / 2 };
        let no_cancel = match shape % 5 {
            0 => Some(*at),
            1 => Some(earliest),
            2 => Some(*at + (earliest - *at) / 2),
            _ => None,
        };
        *call = (no_cancel, earliest, latest);
    }
}

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let until = prop_oneof![Just(DAY_S), 60..DAY_S, 75_600_i64..DAY_S];
    let head = (0..MIDDLES.len(), prop::array::uniform7(prop::bool::weighted(0.8)), until);
    head.prop_flat_map(|(at, weekdays, until)| {
        let special =
            (prop_oneof![-3_i64..4, -12_i64..12], prop::option::weighted(0.4, sessions(until)));
        let special = prop::collection::vec(special, 0..5);
        (Just((at, weekdays)), sessions(until), special)
    })
    .prop_map(|((at, mut weekdays), ordinary, listed)| {
        let (zone, middle) = MIDDLES[at];
        let middle: Date = middle.parse().unwrap();
        // The date of the change trades.
        weekdays[middle.weekday().to_monday_zero_offset() as usize] = true;
        let mut special = BTreeMap::new();
        for (away, sessions) in listed {
            let date = middle + away.days();
            let trades = weekdays[date.weekday().to_monday_zero_offset() as usize];
            if trades || sessions.is_none() {
                special.insert(date, sessions);
            }
        }
        Plan { zone, weekdays, ordinary, special, middle }
    })
    .prop_filter("a day has a session", |plan| {
        let mut days = plan.special.values().flatten();
        !plan.ordinary.is_empty() && days.all(|sessions| !sessions.is_empty())
    })
}
