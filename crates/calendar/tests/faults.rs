//! What is wrong with a file is refused, with its place and with what would be right.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_calendar::{
    Calendar, FILE_BYTES_MAX, NAME_CHARACTERS_MAX, PHASES_MAX, SESSIONS_MAX, SPECIAL_DAYS_MAX,
};
use std::fmt::Write as _;

const GOOD: &str = r#"zone = "Europe/Berlin"
weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"]
[[session]]
begins = "trading_day_before"
end = "02:00"
phases = [
  { at = "22:00", phase = "continuous" },
]
[[session]]
end = "12:00"
phases = [
  { at = "08:00", phase = "pre_open" },
  { at = "08:50", phase = "opening_call", no_cancel_from = "08:58", earliest_end = "09:00", latest_end = "09:01" },
  { at = "09:02", phase = "continuous" },
]
[[session]]
end = "17:00"
phases = [{ at = "13:00", phase = "continuous" }]
[[holiday]]
name = "Christmas"
dates = [2026-12-25, "2026-12-26"]
[[half_day]]
dates = [2026-12-24]
[[half_day.session]]
end = "12:00"
phases = [{ at = "09:00", phase = "continuous" }]
"#;

fn refused(text: &str) -> String {
    match Calendar::parse(text) {
        Ok(_) => panic!("it is not refused:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// Replaces `old` in the good file, once, and expects `error`.
#[track_caller]
fn check(old: &str, new: &str, error: &str) {
    assert_eq!(GOOD.matches(old).count(), 1, "{old:?} is there once");
    assert_eq!(refused(&GOOD.replace(old, new)), error);
}

#[test]
fn the_good_file_is_good() {
    Calendar::parse(GOOD).unwrap();
}

#[test]
fn unknown_names() {
    check(
        "Europe/Berlin",
        "Europe/Berln",
        "1:8: there is no time zone \"Europe/Berln\"; names are those of the tz database, as \
         \"Europe/Berlin\"",
    );
    check(
        "Europe/Berlin",
        "Berlin",
        "1:8: there is no time zone \"Berlin\"; did you mean \"Europe/Berlin\"?",
    );
    check(
        "\"wednesday\"",
        "\"Wed\"",
        "2:34: there is no weekday \"Wed\"; the weekdays are \"monday\", \"tuesday\", \
         \"wednesday\", \"thursday\", \"friday\", \"saturday\", \"sunday\"",
    );
    check(
        "\"pre_open\"",
        "\"preopen\"",
        "12:27: phase is \"preopen\"; it must be one of \"pre_open\", \"opening_call\", \
         \"continuous\", \"intraday_call\", \"closing_call\"",
    );
    check(
        "\"trading_day_before\"",
        "\"friday\"",
        "4:10: begins is \"friday\"; it must be one of \"trading_day\", \"day_before\", \
         \"trading_day_before\"",
    );
}

#[test]
fn unknown_keys() {
    check(
        "zone =",
        "zonen = 1\nzone =",
        "1:1: the calendar has no key zonen; the keys are zone, weekdays, session, holiday, half_day",
    );
    check(
        "end = \"17:00\"",
        "end = \"17:00\"\nstart = 1",
        "18:1: a session has no key start; the keys are begins, on_holiday_eve, phases, end",
    );
    check(
        "{ at = \"09:02\",",
        "{ at = \"09:02\", until = \"10:00\",",
        "14:19: a phase has no key until; the keys are at, phase, no_cancel_from, end, earliest_end, \
         latest_end",
    );
    check(
        "name = \"Christmas\"",
        "nam = \"Christmas\"",
        "20:1: a holiday has no key nam; the keys are dates, name",
    );
    check(
        "dates = [2026-12-24]",
        "dates = [2026-12-24]\nhours = 3",
        "24:1: a half day has no key hours; the keys are dates, name, session",
    );
}

#[test]
fn missing_keys() {
    let no_zone = GOOD.replace("zone = \"Europe/Berlin\"\n", "");
    assert_eq!(
        refused(&no_zone),
        "1:1: the calendar has no `zone`: name the time zone of its local times, as in zone = \
         \"Europe/Berlin\""
    );
    check("end = \"17:00\"\n", "", "16:1: the session has no `end`: add it, as in end = \"17:30\"");
    check(
        "{ at = \"08:00\", phase = \"pre_open\" }",
        "{ phase = \"pre_open\" }",
        "12:3: the phase has no `at`: add it, as in at = \"09:00\"",
    );
    check(
        "{ at = \"08:00\", phase = \"pre_open\" }",
        "{ at = \"08:00\" }",
        "12:3: the phase has no `phase`: add it, as in phase = \"continuous\"",
    );
    check(
        "dates = [2026-12-24]\n",
        "",
        "22:1: the half day has no `dates`: add it, as in dates = [2026-12-24]",
    );
}

#[test]
fn wrong_types() {
    check(
        "zone = \"Europe/Berlin\"",
        "zone = 1",
        "1:8: zone must be the name of a time zone, as in \"Europe/Berlin\", and this is of type \
         integer",
    );
    check(
        "end = \"17:00\"",
        "end = 17",
        "17:7: end must be a local time, as \"17:30\" or \"17:30:05\", up to \"24:00\", and this is \
         of type integer",
    );
    check(
        "[[holiday]]",
        "[holiday]",
        "19:1: holiday must be tables: write [[holiday]] on a line of its own, and this is of type \
         table",
    );
    check(
        "dates = [2026-12-24]",
        "dates = 2026-12-24",
        "23:9: dates must be a list of dates, as [2026-12-24], and this is of type datetime",
    );
    check(
        "begins = \"trading_day_before\"",
        "begins = \"trading_day_before\"\non_holiday_eve = \"no\"",
        "5:18: on_holiday_eve must be true or false, and this is of type string",
    );
}

#[test]
fn an_empty_calendar() {
    let no_zone = "1:1: the calendar has no `zone`";
    assert!(refused("").starts_with(no_zone));
    assert!(refused("# nothing\n").starts_with(no_zone));
    let zone = "zone = \"UTC\"\n";
    assert_eq!(
        refused(zone),
        "1:1: the calendar has no `weekdays`: list those of trading, as in weekdays = [\"monday\", \
         \"tuesday\"]"
    );
    assert_eq!(
        refused(&format!("{zone}weekdays = []")),
        "2:12: weekdays is empty: list at least one, as in weekdays = [\"monday\", \"tuesday\"]"
    );
    assert_eq!(
        refused(&format!("{zone}weekdays = [\"monday\"]")),
        "1:1: the calendar has no session: add [[session]] with `phases` and `end`"
    );
    check(
        "phases = [{ at = \"13:00\", phase = \"continuous\" }]",
        "phases = []",
        "18:10: a session has 1 to 16 phases, and this one has 0",
    );
    let (without, _) = GOOD.split_once("[[half_day.session]]").unwrap();
    assert_eq!(
        refused(without),
        "22:1: the half day has no session: add [[half_day.session]], or list its dates under \
         [[holiday]]"
    );
    check(
        "dates = [2026-12-24]",
        "dates = []",
        "23:9: the half day has no dates: list at least one, or drop it",
    );
}

#[test]
fn times_that_are_none() {
    for text in ["9:00", "24:01", "12:60", "noon", "2026-01-01"] {
        check(
            "\"13:00\"",
            &format!("\"{text}\""),
            &format!(
                "18:18: at is {text:?}; it must be a local time, as \"17:30\" or \"17:30:05\", up to \
                 \"24:00\""
            ),
        );
    }
    check(
        "\"2026-12-26\"",
        "\"2026-02-29\"",
        "21:22: \"2026-02-29\" is not a date here; it must be a date from 1970-01-01 to 2499-12-31, \
         as 2026-12-24",
    );
}

#[test]
fn a_time_may_be_written_without_quotes() {
    let calendar = Calendar::parse(&GOOD.replace("\"13:00\"", "13:00:00")).unwrap();
    let same = Calendar::parse(GOOD).unwrap();
    let date = rialto_calendar::date("2026-12-23").unwrap();
    assert_eq!(calendar.trading_day(date), same.trading_day(date));
}

#[test]
fn times_out_of_order() {
    check(
        "at = \"09:02\"",
        "at = \"08:50\"",
        "14:10: the phase begins at 08:50, which is not after the begin of the phase before it, \
         08:50; list phases in their order",
    );
    check(
        "at = \"09:02\"",
        "at = \"12:00\"",
        "14:10: the phase begins at 12:00, which is not before the end of its session, 12:00; begin \
         it earlier, or end the session later",
    );
    check(
        "end = \"17:00\"",
        "end = \"13:00\"",
        "17:7: the session ends at 13:00, which is not after its begin at 13:00; one that passes \
         midnight belongs to the trading day on which it ends: set begins = \"day_before\" or \
         \"trading_day_before\"",
    );
    check(
        "  { at = \"22:00\", phase = \"continuous\" },",
        "  { at = \"22:00\", phase = \"continuous\" },\n{ at = \"21:00\", phase = \"pre_open\" },",
        "8:8: the phase begins at 21:00, which is not before the end of its session, 02:00; begin \
         it earlier, or end the session later",
    );
    check(
        "\"09:02\", phase = \"continuous\"",
        "\"09:02\", phase = \"opening_call\"",
        "14:27: opening_call follows itself; drop the second",
    );
    check(
        "\"13:00\"",
        "\"24:00\"",
        "18:18: a session cannot begin at 24:00; begin it at \"00:00\" of the next date",
    );
}

#[test]
fn overlaps() {
    check(
        "\"13:00\"",
        "\"11:59:59\"",
        "18:18: session 3 begins at 11:59:59, before session 2 ends at 12:00; list sessions in their \
         order, so that each begins when the one before has ended",
    );
    check(
        "end = \"02:00\"",
        "end = \"08:01\"",
        "12:10: session 2 begins at 08:00, before session 1 ends at 08:01; list sessions in their \
         order, so that each begins when the one before has ended",
    );
    check(
        "end = \"17:00\"",
        "end = \"22:01\"",
        "7:10: the session begins at 22:00 of the date before, and the last session of a trading day \
         ends at 22:01; the next trading day must not begin before",
    );
    // The half day ends when the night session of the next trading day has begun.
    let late = GOOD
        .replace("[[half_day.session]]\nend = \"12:00\"", "[[half_day.session]]\nend = \"22:30\"");
    Calendar::parse(&late).expect("Christmas leaves the night session out");
    assert_eq!(
        refused(&late.replace("2026-12-24", "2026-12-22")),
        "7:10: the trading day 2026-12-23 begins here at 2026-12-22T22:00:00, before the trading day \
         2026-12-22 ends at 2026-12-22T22:30:00; begin it then or later"
    );
    // A night session of a half day begins before the day before has ended.
    let early = GOOD.replace(
        "[[half_day.session]]\nend = \"12:00\"\nphases = [{ at = \"09:00\"",
        "[[half_day.session]]\nbegins = \"day_before\"\non_holiday_eve = true\nend = \"12:00\"\nphases \
         = [{ at = \"16:00\"",
    );
    assert_eq!(
        refused(&early),
        "28:18: the trading day 2026-12-24 begins here at 2026-12-23T16:00:00, before the trading day \
         2026-12-23 ends at 2026-12-23T17:00:00; begin it then or later"
    );
}

#[test]
fn calls() {
    check(
        "latest_end = \"09:01\"",
        "latest_end = \"09:02:01\"",
        "13:106: the call may last until 09:02:01, and the next phase begins at 09:02; it must end by \
         then",
    );
    check(
        "latest_end = \"09:01\"",
        "latest_end = \"08:59\"",
        "13:106: latest_end is 08:59, before earliest_end at 09:00; it must be that time or later",
    );
    check(
        ", latest_end = \"09:01\"",
        "",
        "13:84: a random end has two bounds: give both `earliest_end` and `latest_end`",
    );
    check(
        ", latest_end = \"09:01\"",
        ", end = \"09:01\"",
        "13:99: a call has either `end`, or `earliest_end` and `latest_end` for a random end; drop \
         one of the two",
    );
    check(
        "no_cancel_from = \"08:58\"",
        "no_cancel_from = \"09:00:01\"",
        "13:60: no_cancel_from is 09:00:01; it must be from the begin of the call at 08:50 to its \
         earliest end at 09:00",
    );
    check(
        "earliest_end = \"09:00\"",
        "earliest_end = \"08:50\"",
        "13:84: the call may end at 08:50, which is not after its begin at 08:50; it must be later",
    );
    check(
        "at = \"09:02\",",
        "at = \"09:02\", end = \"10:00\",",
        "14:25: end is for calls, and continuous is none; a phase ends when the next one begins",
    );
    check(
        "phases = [{ at = \"13:00\", phase = \"continuous\" }]",
        "phases = [{ at = \"13:00\", phase = \"closing_call\", end = \"17:01\" }]",
        "18:57: the call may last until 17:01, and its session ends at 17:00; it must end by then",
    );
}

#[test]
fn phases_that_are_not_listed() {
    for name in ["break", "closed"] {
        check(
            "\"pre_open\"",
            &format!("\"{name}\""),
            &format!(
                "12:27: {name} is not listed: after a session that another one of the trading day \
                 follows is a break, and after the last one the market is closed; end the session \
                 instead"
            ),
        );
    }
}

#[test]
fn special_days() {
    check(
        "dates = [2026-12-25, \"2026-12-26\"]",
        "dates = [2026-12-25, \"2026-12-25\"]",
        "21:22: 2026-12-25 is given twice, first in line 21; keep one of the two",
    );
    check(
        "dates = [2026-12-24]",
        "dates = [2026-12-25]",
        "23:10: 2026-12-25 is a holiday in line 21 and a half day here; keep one of the two",
    );
    check(
        "dates = [2026-12-24]",
        "dates = [2026-12-27]",
        "23:10: 2026-12-27 is a sunday, on which there is no trading; a half day must be one of the \
         weekdays, \"monday\", \"tuesday\", \"wednesday\", \"thursday\", \"friday\"",
    );
    check("\"tuesday\"", "\"monday\"", "2:23: monday is given twice; list each weekday once");
    check(
        "[[session]]\nend = \"17:00\"",
        "[[session]]\non_holiday_eve = true\nend = \"17:00\"",
        "17:18: on_holiday_eve is for a session that begins on an earlier date; drop it, or set \
         begins = \"trading_day_before\"",
    );
}

#[test]
fn a_day_after_a_holiday_has_a_session() {
    let text = "zone = \"UTC\"\nweekdays = [\"monday\"]\n[[session]]\nbegins = \"day_before\"\n\
                end = \"16:00\"\nphases = [{ at = \"17:00\", phase = \"continuous\" }]\n";
    assert_eq!(
        refused(text),
        "3:1: no session would be held after a holiday: set on_holiday_eve = true, or add a session \
         that begins on the trading day"
    );
    Calendar::parse(&text.replace("end =", "on_holiday_eve = true\nend =")).unwrap();
}

#[test]
fn what_is_not_toml_or_not_utf_8() {
    assert_eq!(
        refused("zone = \"UTC"),
        "1:12: this is not TOML: invalid basic string, expected `\"`"
    );
    assert_eq!(refused("zone = \"UTC\"\nzone = \"UTC\"\n"), "2:1: this is not TOML: duplicate key");
    let error = Calendar::from_bytes(b"zone = \"UTC\"\n# \xff\n").unwrap_err().to_string();
    assert_eq!(error, "2:3: this byte is not UTF-8; save the file as UTF-8");
}

/// A calendar with `count` holidays.
fn with_holidays(count: usize) -> String {
    let mut date = rialto_calendar::date("2026-01-01").unwrap();
    let mut dates = String::new();
    for _ in 0..count {
        writeln!(dates, "{date},").unwrap();
        date = date.tomorrow().unwrap();
    }
    let (head, _) = GOOD.split_once("[[holiday]]").unwrap();
    format!("{head}[[holiday]]\ndates = [\n{dates}]\n")
}

#[test]
fn a_calendar_has_a_most_of_special_days() {
    let calendar = Calendar::parse(&with_holidays(SPECIAL_DAYS_MAX)).unwrap();
    assert_eq!(calendar.special_days().count(), SPECIAL_DAYS_MAX);
    for count in [SPECIAL_DAYS_MAX + 1, 10_000] {
        assert_eq!(
            refused(&with_holidays(count)),
            "2021:1: a calendar has at most 2000 holidays and half days, and this is one more; drop \
             past ones"
        );
    }
}

#[test]
fn a_file_has_a_most_of_bytes() {
    let expected = "1:1: the file has more than 262144 bytes, the most that a calendar may have; \
                    drop dates that are past";
    let longest = format!("{GOOD}#{}", "x".repeat(FILE_BYTES_MAX - GOOD.len() - 1));
    Calendar::parse(&longest).unwrap();
    for bytes in [longest + "x", "x".repeat(1 << 20)] {
        assert_eq!(refused(&bytes), expected);
        assert_eq!(Calendar::from_bytes(bytes.as_bytes()).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_day_has_a_most_of_sessions_and_phases() {
    let head = "zone = \"UTC\"\nweekdays = [\"monday\"]\n";
    let sessions = |count: usize| {
        (0..count).fold(head.to_owned(), |text, nth| {
            format!(
                "{text}[[session]]\nend = \"{nth:02}:30\"\nphases = [{{ at = \"{nth:02}:00\", phase = \
                 \"continuous\" }}]\n"
            )
        })
    };
    Calendar::parse(&sessions(SESSIONS_MAX)).unwrap();
    assert_eq!(
        refused(&sessions(SESSIONS_MAX + 1)),
        "27:1: a trading day has at most 8 sessions; this is one more"
    );
    let phases = |count: usize| {
        let phase = |nth| {
            let phase = ["pre_open", "continuous"][nth % 2];
            format!("{{ at = \"{nth:02}:00\", phase = \"{phase}\" }}")
        };
        let phases: Vec<String> = (0..count).map(phase).collect();
        format!("{head}[[session]]\nend = \"23:00\"\nphases = [{}]\n", phases.join(", "))
    };
    Calendar::parse(&phases(PHASES_MAX)).unwrap();
    assert_eq!(
        refused(&phases(PHASES_MAX + 1)),
        "5:10: a session has 1 to 16 phases, and this one has 17"
    );
}

#[test]
fn a_name_is_short_and_harmless() {
    let long = "ü".repeat(NAME_CHARACTERS_MAX);
    Calendar::parse(&GOOD.replace("Christmas", &long)).unwrap();
    for (name, characters) in [(long + "ü", 101), (String::new(), 0), ("\\u001b[2J".into(), 4)] {
        check(
            "Christmas",
            &name,
            &format!(
                "20:8: a name must have 1 to 100 characters, none of them a control character; this \
                 one has {characters} characters"
            ),
        );
    }
}
