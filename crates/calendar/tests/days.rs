//! Trading days: night sessions, holidays, half days, and the ends of months and years.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_calendar::{Calendar, DAYS_MAX, Date, DayKind, Phase, Timestamp, date};

const COMMODITIES: &str = include_str!("../../../docs/calendars/commodities.toml");
const EQUITIES: &str = include_str!("../../../docs/calendars/equities.toml");

fn day(text: &str) -> Date {
    date(text).unwrap()
}

/// The transitions of a trading day as text, in local times.
fn shown(calendar: &Calendar, date: &str) -> Vec<String> {
    let found = calendar.trading_day(day(date)).unwrap();
    let transitions = found.transitions.iter();
    transitions.map(|it| format!("{} {}", calendar.local(it.at), it.phase)).collect()
}

fn begin(calendar: &Calendar, date: &str) -> String {
    shown(calendar, date)[0].clone()
}

fn nanoseconds(utc: &str) -> Timestamp {
    let time: jiff::Timestamp = utc.parse().unwrap();
    Timestamp(u64::try_from(time.as_nanosecond()).unwrap())
}

#[test]
fn a_night_session_belongs_to_the_next_trading_day() {
    let calendar = Calendar::parse(COMMODITIES).unwrap();
    assert_eq!(
        shown(&calendar, "2026-09-15"),
        [
            "2026-09-14T20:55:00 opening_call",
            "2026-09-14T21:00:00 continuous",
            "2026-09-15T02:30:00 break",
            "2026-09-15T08:55:00 opening_call",
            "2026-09-15T09:00:00 continuous",
            "2026-09-15T10:15:00 break",
            "2026-09-15T10:30:00 continuous",
            "2026-09-15T11:30:00 break",
            "2026-09-15T13:30:00 continuous",
            "2026-09-15T15:00:00 closed",
        ]
    );
    let first = calendar.trading_day(day("2026-09-15")).unwrap().transitions[0];
    assert_eq!(first.at, nanoseconds("2026-09-14T12:55:00Z"));
    let call = first.call.unwrap();
    assert_eq!(call.earliest_end, nanoseconds("2026-09-14T12:59:00Z"));
    assert_eq!((call.latest_end, call.no_cancel_from), (call.earliest_end, None));
}

#[test]
fn the_night_of_friday_belongs_to_monday() {
    let calendar = Calendar::parse(COMMODITIES).unwrap();
    assert_eq!(begin(&calendar, "2026-09-14"), "2026-09-11T20:55:00 opening_call");
    // Saturday morning, and Sunday.
    for (utc, phase) in [
        ("2026-09-11T12:54:59Z", Phase::Closed),
        ("2026-09-11T18:00:00Z", Phase::Continuous),
        ("2026-09-11T18:30:00Z", Phase::Break),
        ("2026-09-13T04:00:00Z", Phase::Break),
    ] {
        let in_force = calendar.in_force(nanoseconds(utc)).unwrap();
        assert_eq!(in_force.phase, phase, "{utc}");
        let belongs_to = if phase == Phase::Closed { "2026-09-11" } else { "2026-09-14" };
        assert_eq!(in_force.day, day(belongs_to), "{utc}");
    }
}

#[test]
fn there_is_no_night_session_on_the_eve_of_a_holiday() {
    let calendar = Calendar::parse(COMMODITIES).unwrap();
    // Friday the 25th is a holiday: there is none on Thursday, and Monday begins in the morning.
    assert_eq!(begin(&calendar, "2026-09-28"), "2026-09-28T08:55:00 opening_call");
    assert_eq!(begin(&calendar, "2026-10-08"), "2026-10-08T08:55:00 opening_call");
    let eve = calendar.in_force(nanoseconds("2026-09-24T13:30:00Z")).unwrap();
    assert_eq!((eve.phase, eve.day), (Phase::Closed, day("2026-09-24")));
}

#[test]
fn a_night_session_is_held_on_the_eve_of_a_holiday_if_the_file_says_so() {
    let always = COMMODITIES
        .replace("begins = \"trading_day_before\"", "$0\non_holiday_eve = true")
        .replace("$0", "begins = \"trading_day_before\"");
    let calendar = Calendar::parse(&always).unwrap();
    assert_eq!(begin(&calendar, "2026-09-28"), "2026-09-24T20:55:00 opening_call");
    assert_eq!(begin(&calendar, "2026-10-08"), "2026-09-30T20:55:00 opening_call");
}

#[test]
fn a_holiday_on_a_weekend_has_an_eve_too() {
    let saturday = COMMODITIES.replace("2026-09-25", "2026-09-26");
    let calendar = Calendar::parse(&saturday).unwrap();
    assert_eq!(begin(&calendar, "2026-09-28"), "2026-09-28T08:55:00 opening_call");
    assert_eq!(begin(&calendar, "2026-09-25"), "2026-09-24T20:55:00 opening_call");
}

#[test]
fn a_session_of_the_day_before_begins_on_sunday_for_monday() {
    let calendar = Calendar::parse(
        r#"
        zone = "America/Chicago"
        weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"]
        [[session]]
        begins = "day_before"
        on_holiday_eve = true
        end = "16:00"
        phases = [{ at = "16:45", phase = "pre_open" }, { at = "17:00", phase = "continuous" }]
        [[holiday]]
        dates = ["2027-01-18"]
        "#,
    )
    .unwrap();
    let monday = ["2027-01-10T16:45:00 pre_open", "2027-01-10T17:00:00 continuous"];
    assert_eq!(shown(&calendar, "2027-01-11")[..2], monday);
    assert_eq!(shown(&calendar, "2027-01-11")[2], "2027-01-11T16:00:00 closed");
    assert_eq!(begin(&calendar, "2027-01-19"), "2027-01-18T16:45:00 pre_open");
    assert_eq!(calendar.trading_day(day("2027-01-18")), None);
}

#[test]
fn a_session_of_the_day_before_is_left_out_if_that_is_a_holiday() {
    let calendar = Calendar::parse(
        r#"
        zone = "UTC"
        weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"]
        [[session]]
        begins = "day_before"
        end = "02:00"
        phases = [{ at = "22:00", phase = "continuous" }]
        [[session]]
        end = "17:00"
        phases = [{ at = "09:00", phase = "continuous" }]
        [[holiday]]
        dates = ["2027-01-17", "2027-01-20"]
        "#,
    )
    .unwrap();
    // Sunday the 17th, and Wednesday.
    assert_eq!(begin(&calendar, "2027-01-11"), "2027-01-10T22:00:00 continuous");
    assert_eq!(begin(&calendar, "2027-01-18"), "2027-01-18T09:00:00 continuous");
    assert_eq!(begin(&calendar, "2027-01-19"), "2027-01-18T22:00:00 continuous");
    assert_eq!(begin(&calendar, "2027-01-21"), "2027-01-21T09:00:00 continuous");
    assert_eq!(begin(&calendar, "2027-01-22"), "2027-01-21T22:00:00 continuous");
}

#[test]
fn a_half_day_has_sessions_of_its_own() {
    let calendar = Calendar::parse(EQUITIES).unwrap();
    let half = shown(&calendar, "2026-12-24");
    assert_eq!(half.len(), 5);
    assert_eq!(half[4], "2026-12-24T12:36:00 closed");
    assert_eq!(calendar.kind(day("2026-12-24")), DayKind::HalfDay { name: Some("Christmas Eve") });
    assert_eq!(calendar.kind(day("2026-12-25")), DayKind::Holiday { name: Some("Christmas") });
    assert_eq!(calendar.kind(day("2026-12-26")), DayKind::OffWeekday);
    assert_eq!(calendar.kind(day("2026-12-29")), DayKind::Ordinary);
    assert_eq!(shown(&calendar, "2026-12-23").last().unwrap(), "2026-12-23T16:36:00 closed");
}

#[test]
fn index_futures_of_cffex_have_one_call_a_day() {
    let calendar = Calendar::parse(
        r#"
        zone = "Asia/Shanghai"
        weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"]
        [[session]]
        end = "11:30"
        phases = [
            { at = "09:25", phase = "opening_call", end = "09:29" },
            { at = "09:30", phase = "continuous" },
        ]
        [[session]]
        end = "15:00"
        phases = [{ at = "13:00", phase = "continuous" }]
        "#,
    )
    .unwrap();
    assert_eq!(
        shown(&calendar, "2026-11-25"),
        [
            "2026-11-25T09:25:00 opening_call",
            "2026-11-25T09:30:00 continuous",
            "2026-11-25T11:30:00 break",
            "2026-11-25T13:00:00 continuous",
            "2026-11-25T15:00:00 closed",
        ]
    );
}

#[test]
fn a_night_session_passes_the_end_of_a_year_and_a_leap_day() {
    let calendar = Calendar::parse(
        r#"
        zone = "Asia/Tokyo"
        weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        [[session]]
        begins = "trading_day_before"
        end = "06:00"
        phases = [{ at = "17:00", phase = "continuous" }]
        [[session]]
        end = "15:45"
        phases = [{ at = "08:45", phase = "continuous" }]
        "#,
    )
    .unwrap();
    for (date, begin, end) in [
        ("2027-01-01", "2026-12-31T17:00:00", "2027-01-01T06:00:00"),
        ("2028-02-29", "2028-02-28T17:00:00", "2028-02-29T06:00:00"),
        ("2028-03-01", "2028-02-29T17:00:00", "2028-03-01T06:00:00"),
        ("2027-03-01", "2027-02-28T17:00:00", "2027-03-01T06:00:00"),
        // 2100 is not a leap year.
        ("2100-03-01", "2100-02-28T17:00:00", "2100-03-01T06:00:00"),
    ] {
        let shown = shown(&calendar, date);
        assert_eq!(shown[..2], [format!("{begin} continuous"), format!("{end} break")]);
    }
}

#[test]
fn a_market_that_never_closes_has_one_transition_a_day() {
    let calendar = Calendar::parse(
        r#"
        zone = "UTC"
        weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        [[session]]
        end = "24:00"
        phases = [{ at = "00:00", phase = "continuous" }]
        "#,
    )
    .unwrap();
    let all = calendar.transitions(nanoseconds("2028-02-27T00:00:00Z"), 4).unwrap();
    let shown: Vec<_> = all.iter().map(|it| format!("{} {}", it.day, it.phase)).collect();
    let dates = ["2028-02-27", "2028-02-28", "2028-02-29", "2028-03-01"];
    assert_eq!(shown, dates.map(|date| format!("{date} continuous")));
}

#[test]
fn a_window_holds_what_begins_in_it() {
    let calendar = Calendar::parse(EQUITIES).unwrap();
    let opening = nanoseconds("2026-12-21T08:00:30Z");
    let all = calendar.transitions(opening, 1).unwrap();
    assert_eq!((all[0].at, all[0].phase), (opening, Phase::Continuous));
    let last = all.last().unwrap();
    assert_eq!(last.at, nanoseconds("2026-12-22T07:50:00Z"));
    assert_eq!(calendar.transitions(opening, 0), Ok(Vec::new()));
}

#[test]
fn a_window_from_midnight_has_the_end_of_the_date_before() {
    let calendar = Calendar::parse(
        r#"
        zone = "UTC"
        weekdays = ["friday"]
        [[session]]
        end = "24:00"
        phases = [{ at = "09:00", phase = "continuous" }]
        "#,
    )
    .unwrap();
    let midnight = nanoseconds("2026-11-28T00:00:00Z");
    let all = calendar.transitions(midnight, 1).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].at, all[0].phase, all[0].day), (midnight, Phase::Closed, day("2026-11-27")));
}

#[test]
fn an_expansion_has_a_most_of_days() {
    let calendar = Calendar::parse(EQUITIES).unwrap();
    let now = nanoseconds("2026-12-21T00:00:00Z");
    assert!(calendar.transitions(now, DAYS_MAX).is_ok());
    let error = calendar.transitions(now, DAYS_MAX + 1).unwrap_err().to_string();
    assert_eq!(error, "367 days are more than one expansion covers; ask for at most 366");
}

#[test]
fn the_ends_of_stored_time_are_no_trouble() {
    let calendar = Calendar::parse(COMMODITIES).unwrap();
    assert_eq!(calendar.in_force(Timestamp(0)), None);
    let first = calendar.transitions(Timestamp(0), 3).unwrap()[0];
    // 1 January 1970 is a Thursday; its night session began before time did.
    assert_eq!(first.day, day("1970-01-01"));
    assert!(calendar.transitions(Timestamp::MAX, DAYS_MAX).unwrap().is_empty());
    assert!(calendar.in_force(Timestamp::MAX).is_some());
    assert!(calendar.trading_day(Date::MAX).unwrap().transitions.is_empty());
    assert!(calendar.trading_day("1960-01-04".parse().unwrap()).unwrap().transitions.is_empty());
}

#[test]
fn special_days_that_are_all_past_are_refused() {
    let calendar = Calendar::parse(COMMODITIES).unwrap();
    assert_eq!(calendar.check_special_days(day("2027-01-01")), Ok(()));
    let error = calendar.check_special_days(day("2027-01-02")).unwrap_err().to_string();
    let expected = "39:10: the last holiday or half day is 2027-01-01, before today, 2027-01-02; \
                    add the next ones";
    assert_eq!(error, expected);
    let (without, _) = COMMODITIES.split_once("[[holiday]]").unwrap();
    assert_eq!(Calendar::parse(without).unwrap().check_special_days(day("2400-01-01")), Ok(()));
}
