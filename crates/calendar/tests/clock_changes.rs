//! The rule of local times that do not exist or exist twice: a phase begins at the first instant at
//! which the clocks show its time or a later one.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_calendar::{Calendar, Timestamp, date};

/// A night session from Saturday to Sunday, in which clocks change, and a day session.
fn calendar(zone: &str) -> Calendar {
    Calendar::parse(&format!(
        r#"
        zone = "{zone}"
        weekdays = ["saturday", "sunday", "monday"]
        [[session]]
        begins = "trading_day_before"
        end = "04:00"
        phases = [
            {{ at = "23:00", phase = "continuous" }},
            {{ at = "01:30", phase = "intraday_call", no_cancel_from = "02:15", end = "02:30" }},
            {{ at = "02:45", phase = "continuous" }},
            {{ at = "03:30", phase = "closing_call" }},
        ]
        [[session]]
        end = "12:00"
        phases = [{{ at = "09:00", phase = "continuous" }}]
        "#
    ))
    .unwrap()
}

fn utc(time: Timestamp) -> String {
    jiff::Timestamp::from_nanosecond(time.0.into()).unwrap().strftime("%H:%M").to_string()
}

/// Begins in UTC; for a call also no cancels and the latest end.
fn shown(zone: &str, day: &str) -> Vec<String> {
    let day = calendar(zone).trading_day(date(day).unwrap()).unwrap();
    let shown = day.transitions.iter().map(|it| {
        let mut line = format!("{} {}", utc(it.at), it.phase);
        for time in
            it.call.into_iter().flat_map(|call| [call.no_cancel_from, Some(call.latest_end)])
        {
            line.push(' ');
            line.push_str(&time.map_or_else(|| "-".to_owned(), utc));
        }
        line
    });
    shown.collect()
}

#[test]
fn berlin_in_spring() {
    // At 01:00 UTC the clocks go from 02:00 to 03:00.
    let expected = [
        "22:00 continuous",
        "00:30 intraday_call 01:00 01:00",
        "01:00 continuous",
        "01:30 closing_call - 02:00",
        "02:00 break",
        "07:00 continuous",
        "10:00 closed",
    ];
    assert_eq!(shown("Europe/Berlin", "2026-03-29"), expected);
}

#[test]
fn berlin_in_autumn() {
    // At 01:00 UTC the clocks go from 03:00 to 02:00: the times from 02:00 on exist twice.
    let expected = [
        "21:00 continuous",
        "23:30 intraday_call 00:15 00:30",
        "00:45 continuous",
        "02:30 closing_call - 03:00",
        "03:00 break",
        "08:00 continuous",
        "11:00 closed",
    ];
    assert_eq!(shown("Europe/Berlin", "2026-10-25"), expected);
}

#[test]
fn new_york_in_spring() {
    // At 07:00 UTC the clocks go from 02:00 to 03:00.
    let expected = [
        "04:00 continuous",
        "06:30 intraday_call 07:00 07:00",
        "07:00 continuous",
        "07:30 closing_call - 08:00",
        "08:00 break",
        "13:00 continuous",
        "16:00 closed",
    ];
    assert_eq!(shown("America/New_York", "2026-03-08"), expected);
}

#[test]
fn new_york_in_autumn() {
    // At 06:00 UTC the clocks go from 02:00 to 01:00: the times from 01:00 on exist twice.
    let expected = [
        "03:00 continuous",
        "05:30 intraday_call 07:15 07:30",
        "07:45 continuous",
        "08:30 closing_call - 09:00",
        "09:00 break",
        "14:00 continuous",
        "17:00 closed",
    ];
    assert_eq!(shown("America/New_York", "2026-11-01"), expected);
}

#[test]
fn days_without_a_change_have_the_usual_length() {
    for (zone, day, open) in
        [("Europe/Berlin", "2026-03-30", "21:00"), ("America/New_York", "2026-11-02", "04:00")]
    {
        let shown = shown(zone, day);
        assert_eq!(shown.len(), 7);
        assert!(shown[0].starts_with(open), "{shown:?}");
    }
}

#[test]
fn a_phase_that_the_clocks_skip_is_left_out() {
    let calendar = Calendar::parse(
        r#"
        zone = "Europe/Berlin"
        weekdays = ["sunday"]
        [[session]]
        end = "05:00"
        phases = [
            { at = "01:00", phase = "pre_open" },
            { at = "02:10", phase = "opening_call", end = "02:20" },
            { at = "02:30", phase = "continuous" },
        ]
        "#,
    )
    .unwrap();
    let names = |day: &str| -> Vec<&str> {
        let day = calendar.trading_day(date(day).unwrap()).unwrap();
        day.transitions.iter().map(|it| it.phase.name()).collect()
    };
    assert_eq!(names("2026-03-29"), ["pre_open", "continuous", "closed"]);
    assert_eq!(names("2026-04-05"), ["pre_open", "opening_call", "continuous", "closed"]);
}

#[test]
fn a_date_that_begins_twice_does_not_bring_a_trading_day_back() {
    // In 2010, Newfoundland's clocks went from 00:01 of 7 November to 23:01 of the 6th, at 02:31 UTC.
    let calendar = Calendar::parse(
        r#"
        zone = "America/St_Johns"
        weekdays = ["saturday", "sunday", "monday"]
        [[session]]
        begins = "day_before"
        on_holiday_eve = true
        end = "00:00"
        phases = [{ at = "00:00", phase = "continuous" }]
        "#,
    )
    .unwrap();
    let second = |utc: &str| {
        let time: jiff::Timestamp = utc.parse().unwrap();
        Timestamp(u64::try_from(time.as_nanosecond()).unwrap())
    };
    for (utc, local, day) in [
        ("2010-11-07T02:29:59Z", "2010-11-06T23:59:59", "2010-11-07"),
        ("2010-11-07T02:30:00Z", "2010-11-07T00:00:00", "2010-11-08"),
        ("2010-11-07T02:31:00Z", "2010-11-06T23:01:00", "2010-11-08"),
        ("2010-11-07T03:30:00Z", "2010-11-07T00:00:00", "2010-11-08"),
    ] {
        let now = second(utc);
        assert_eq!(calendar.local(now).to_string(), local);
        assert_eq!(calendar.in_force(now).unwrap().day, date(day).unwrap(), "{utc}");
    }
}
