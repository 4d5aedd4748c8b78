//! Random calendars against a second-by-second reference, and against themselves.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod plan;

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use plan::{Boundary, Plan, plan};
use proptest::prelude::*;
use rialto_calendar::{Calendar, CallTimes, Timestamp, Transition};
use std::ops::Range;

fn calendar(plan: &Plan) -> Calendar {
    let text = plan.toml();
    Calendar::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The midnight UTC at which `date` begins.
fn midnight(date: Date) -> Timestamp {
    let time = TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).unwrap();
    Timestamp(u64::try_from(time.as_nanosecond()).unwrap())
}

/// A clock on the wall that is looked at every second. It never goes back: where the real one does, it
/// stands still. A local time is reached at the first second at which it shows that or later.
struct WallClock {
    zone: TimeZone,
    second: i64,
    shows: DateTime,
}

impl WallClock {
    fn tick(&mut self) {
        self.second += 1;
        let now = self.zone.to_datetime(jiff::Timestamp::from_second(self.second).unwrap());
        self.shows = self.shows.max(now);
    }
}

/// What the reference says, within `window`.
fn reference(plan: &Plan, window: Range<Timestamp>) -> Vec<Transition> {
    let far = 30.days();
    let boundaries = plan.boundaries(plan.middle - far, plan.middle + far);
    let begin = i64::try_from(window.start.0 / Timestamp::SECOND).unwrap();
    let end = i64::try_from(window.end.0 / Timestamp::SECOND).unwrap();
    let mut clock = WallClock {
        zone: TimeZoneDatabase::bundled().get(plan.zone).unwrap(),
        second: begin - 1,
        shows: DateTime::MIN,
    };
    clock.tick();
    // What is before the window has begun. A call that the window cuts is compared by its begin only.
    let mut next = boundaries.partition_point(|it| it.at < clock.shows);
    let mut found: Vec<(Timestamp, Boundary)> = Vec::new();
    let mut reached: Vec<(DateTime, Timestamp)> = Vec::new();
    let mut waited_for: Vec<DateTime> = Vec::new();
    while clock.second < end {
        let now = Timestamp(u64::try_from(clock.second).unwrap() * Timestamp::SECOND);
        while boundaries.get(next).is_some_and(|it| it.at <= clock.shows) {
            let boundary = boundaries[next];
            // Of phases that begin together, the last is in force.
            if found.last().is_some_and(|(at, _)| *at == now) {
                found.pop();
            }
            found.push((now, boundary));
            let call = boundary.call.into_iter();
            waited_for.extend(call.flat_map(|(a, b, c)| [a, Some(b), Some(c)]).flatten());
            next += 1;
        }
        waited_for.retain(|local| {
            let is_reached = *local <= clock.shows;
            if is_reached {
                reached.push((*local, now));
            }
            !is_reached
        });
        clock.tick();
    }
    let instant = |local: DateTime| {
        let found = reached.iter().find(|(it, _)| *it == local);
        found.map_or(Timestamp::MAX, |(_, at)| *at)
    };
    let transition = |(at, Boundary { phase, day, call, .. }): (Timestamp, Boundary)| {
        let call = call.map(|(no_cancel, earliest, latest)| CallTimes {
            no_cancel_from: no_cancel.map(instant),
            earliest_end: instant(earliest),
            latest_end: instant(latest),
        });
        Transition { at, phase, day, call }
    };
    found.into_iter().map(transition).collect()
}

/// Without what the end of a window hides from the reference.
fn comparable(transitions: Vec<Transition>, end: Timestamp) -> Vec<Transition> {
    let cut = |mut it: Transition| {
        it.call = it.call.filter(|call| call.latest_end < end);
        it
    };
    transitions.into_iter().map(cut).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Four days around a change of the clocks, second by second.
    #[test]
    fn transitions_are_those_of_the_reference(plan in plan()) {
        let calendar = calendar(&plan);
        let begin = midnight(plan.middle - 2.days()).saturating_add(43_200 * Timestamp::SECOND);
        let end = begin.saturating_add(4 * Timestamp::DAY);
        let expected = comparable(reference(&plan, begin..end), end);
        let got = comparable(calendar.transitions(begin, 4).unwrap(), end);
        prop_assert_eq!(got, expected, "{}", plan.toml());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn times_ascend_and_calls_end_before_the_next_phase(plan in plan()) {
        let calendar = calendar(&plan);
        let all = calendar.transitions(midnight(plan.middle - 10.days()), 20).unwrap();
        for pair in all.windows(2) {
            prop_assert!(pair[0].at < pair[1].at, "{pair:?}\n{}", plan.toml());
            prop_assert!(pair[0].day <= pair[1].day, "{pair:?}\n{}", plan.toml());
        }
        for (nth, transition) in all.iter().enumerate() {
            prop_assert_eq!(transition.call.is_some(), transition.phase.is_call());
            let Some(call) = transition.call else { continue };
            let from = call.no_cancel_from.unwrap_or(transition.at);
            prop_assert!(transition.at <= from && from <= call.earliest_end);
            prop_assert!(call.earliest_end <= call.latest_end);
            if let Some(next) = all.get(nth + 1) {
                prop_assert!(call.latest_end <= next.at, "{transition:?} {next:?}");
            }
            let end = transition.call_end(1).unwrap();
            prop_assert!((call.earliest_end..=call.latest_end).contains(&end));
        }
    }

    #[test]
    fn another_now_gives_the_same_transitions(
        plan in plan(),
        from in 0..8 * Timestamp::DAY,
        days in 1_u32..14,
    ) {
        let calendar = calendar(&plan);
        let base = midnight(plan.middle - 8.days());
        let all = calendar.transitions(base, 30).unwrap();
        let now = base.saturating_add(from);
        let end = now.saturating_add(u64::from(days) * Timestamp::DAY);
        let within: Vec<_> =
            all.iter().copied().filter(|it| (now..end).contains(&it.at)).collect();
        prop_assert_eq!(calendar.transitions(now, days).unwrap(), within);

        // By trading days they are the same too.
        let mut date = plan.middle - 40.days();
        let mut by_day = Vec::new();
        while date < plan.middle + 60.days() {
            if let Some(day) = calendar.trading_day(date) {
                prop_assert!(day.transitions.iter().all(|it| it.day == date));
                by_day.extend(day.transitions);
            }
            prop_assert_eq!(calendar.kind(date).is_trading_day(), plan.is_trading_day(date));
            date = date.tomorrow().unwrap();
        }
        by_day.retain(|it| (now..end).contains(&it.at));
        prop_assert_eq!(by_day, calendar.transitions(now, days).unwrap());
    }

    #[test]
    fn adjacent_windows_join(
        plan in plan(),
        from in 0..8 * Timestamp::DAY,
        (first, second) in (0_u32..10, 0_u32..10),
    ) {
        let calendar = calendar(&plan);
        let now = midnight(plan.middle - 8.days()).saturating_add(from);
        let then = now.saturating_add(u64::from(first) * Timestamp::DAY);
        let mut joined = calendar.transitions(now, first).unwrap();
        joined.extend(calendar.transitions(then, second).unwrap());
        prop_assert_eq!(joined, calendar.transitions(now, first + second).unwrap());
    }

    #[test]
    fn the_phase_in_force_is_that_of_the_last_transition(
        plan in plan(),
        nows in prop::collection::vec(40 * Timestamp::DAY..80 * Timestamp::DAY, 24),
    ) {
        let calendar = calendar(&plan);
        let base = midnight(plan.middle - 60.days());
        let all = calendar.transitions(base, 120).unwrap();
        let begins = all.iter().map(|it| it.at.0 - base.0);
        for after in nows.into_iter().chain(begins.skip(40).take(40)) {
            let now = base.saturating_add(after);
            let last = all.iter().rfind(|it| it.at <= now).copied();
            prop_assert_eq!(calendar.in_force(now), last);
        }
    }

    /// A file that is damaged anywhere is read or refused, and its faults are within it.
    #[test]
    fn damaged_files_are_read_or_refused(
        plan in plan(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..40), 1..6),
    ) {
        let mut bytes = plan.toml().into_bytes();
        for (at, byte, cut) in edits {
            let at = at.index(bytes.len());
            match byte % 3 {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.drain(at..(at + cut).min(bytes.len()))),
            }
            bytes.push(b'\n');
        }
        match Calendar::from_bytes(&bytes) {
            Ok(calendar) => {
                let all = calendar.transitions(midnight(plan.middle), 10).unwrap();
                prop_assert!(all.windows(2).all(|pair| pair[0].at < pair[1].at));
            }
            Err(rialto_calendar::CalendarError::Fault { line, column, message }) => {
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
                prop_assert!((1..=lines).contains(&line) && column > 0);
                prop_assert!(!message.is_empty() && !message.contains('\n'));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
