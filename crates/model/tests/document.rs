//! `docs/formats/journal.md` says what the code does: kinds, lists, flags, offsets and lengths.

mod samples;

use rialto_model::{
    ATTRIBUTION_BYTES_MAX, COMMAND_BYTES_MAX, CallDepth, CommandKind, DistanceKind, DoneReason,
    EVENT_BYTES_MAX, EventKind, HaltCause, InstrumentKind, InstrumentState, LinkKind, OrderKind,
    PostOnly, ReduceReason, RejectReason, Restriction, SelfTrade, Side, TimeInForce, TriggerKind,
    encode_command, encode_event,
};
use std::collections::BTreeMap;

const DOCUMENT: &str = include_str!("../../../docs/formats/journal.md");

fn name(kind: impl serde::Serialize) -> String {
    let name = serde_json::to_value(kind).expect("a kind has a name");
    name.as_str().expect("the name is a text").to_owned()
}

/// The text under a heading, up to the next one.
fn section(heading: &str) -> &'static str {
    let heading = format!("\n### {heading}\n");
    let (_, rest) = DOCUMENT.split_once(&heading).unwrap_or_else(|| panic!("no {heading}"));
    rest.split("\n#").next().unwrap_or(rest)
}

/// The cells of the rows of all tables in a section, headings left out.
fn rows(section: &'static str) -> Vec<Vec<&'static str>> {
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect();
    let table = section.lines().filter(|line| line.starts_with('|'));
    table.filter(|line| !line.contains("---") && !line.contains("Offset")).map(cells).collect()
}

/// The bytes of a text of at most `type` when it is empty and when it is full.
fn text_bytes(kind: &str) -> (usize, usize) {
    let max: usize = kind.strip_prefix("text").expect("a text").parse().expect("its length");
    (8, (max + 8) / 8 * 8)
}

/// Checks that the fields of a kind follow each other and are aligned; gives its least and its
/// greatest length.
fn lengths(heading: &str, start: usize) -> (usize, usize) {
    let mut at = start;
    let (mut least, mut greatest) = (0, 0);
    for row in rows(section(heading)) {
        let [offset, size, kind, field, meaning] = row[..] else {
            panic!("{heading}: {row:?}");
        };
        if offset == "then" {
            let (short, full) = match size.parse() {
                Ok(size) => (size, size),
                Err(_) => text_bytes(kind),
            };
            assert_eq!(at % 8, 0, "{heading}: {field} does not begin a word");
            least += if meaning.contains("if `") { 0 } else { short };
            greatest += if meaning.contains("unless `") { 0 } else { full };
        } else {
            assert_eq!(offset.parse(), Ok(at), "{heading}: {field}");
            let size: usize = size.parse().expect("the fixed part has fixed sizes");
            if !matches!(kind, "zero" | "rules" | "specification" | "auction rules" | "transition")
            {
                assert_eq!(at % size, 0, "{heading}: {field} is not aligned");
            }
            at += size;
        }
    }
    (at + least, at + greatest)
}

/// The flags that a section names.
fn flags(heading: &str) -> u16 {
    let text = section(heading);
    let (_, table) = DOCUMENT.split_once("\n### Flags\n").expect("flags are described");
    let table = rows(table.split("\n#").next().unwrap_or(table));
    let described = table.iter().filter(|row| row[0] != "Bit");
    let named = described.filter(|row| text.contains(row[2]));
    named.map(|row| row[1].parse::<u16>().expect("the value of a flag")).sum()
}

#[test]
fn every_command_is_described() {
    let mut longest = 0;
    let mut flags_seen = BTreeMap::new();
    for sample in samples::commands() {
        let kind = sample.value.kind();
        let heading = format!("Command {}: {}", kind.number(), name(kind));
        let (least, greatest) = lengths(&heading, 16);
        longest = longest.max(greatest);
        let mut bytes = [0; COMMAND_BYTES_MAX];
        let length = encode_command(samples::TIME, &sample.value, &mut bytes);
        if sample.full {
            assert!(length <= greatest, "{heading}");
            let seen: &mut u16 = flags_seen.entry(heading).or_default();
            *seen |= u16::from_le_bytes([bytes[2], bytes[3]]);
        } else {
            assert_eq!(length, least, "{heading}");
        }
    }
    for (heading, seen) in flags_seen {
        assert_eq!(seen, flags(&heading), "{heading}");
    }
    assert_eq!(longest, COMMAND_BYTES_MAX);
    assert!(DOCUMENT.contains(&format!("At most {COMMAND_BYTES_MAX} bytes.")));
}

#[test]
fn every_event_is_described() {
    let mut longest = 0;
    let mut flags_seen = BTreeMap::new();
    for sample in samples::events() {
        let kind = sample.value.kind();
        let heading = format!("Event {}: {}", kind.number(), name(kind));
        let (least, greatest) = lengths(&heading, 6);
        longest = longest.max(greatest);
        let mut bytes = [0; EVENT_BYTES_MAX];
        let length = encode_event(&sample.value, &mut bytes);
        if sample.full {
            assert!(length <= greatest, "{heading}");
            let seen: &mut u16 = flags_seen.entry(heading).or_default();
            *seen |= u16::from_le_bytes([bytes[4], bytes[5]]);
        } else {
            assert_eq!(length, least, "{heading}");
        }
    }
    for (heading, seen) in flags_seen {
        assert_eq!(seen, flags(&heading), "{heading}");
    }
    assert_eq!(longest, EVENT_BYTES_MAX);
    assert!(DOCUMENT.contains(&format!("each at most {EVENT_BYTES_MAX} bytes")));
}

#[test]
fn shared_parts_are_described() {
    assert_eq!(lengths("Rules", 0), (72, 72));
    assert_eq!(lengths("Auction rules", 0), (48, 48));
    assert_eq!(lengths("Transition", 0), (32, 32));
    assert_eq!(lengths("Specification", 0), (80, 80));
    assert_eq!(lengths("Leg", 0), (40, 40));
    assert_eq!(lengths("Attribution", 0), (24, ATTRIBUTION_BYTES_MAX));
    assert!(DOCUMENT.contains(&format!("at most {ATTRIBUTION_BYTES_MAX} bytes long. No other")));
}

#[test]
fn every_kind_has_a_section_and_no_section_is_left_over() {
    let sections = |what: &str| DOCUMENT.matches(&format!("\n### {what} ")).count();
    assert_eq!(sections("Command"), CommandKind::ALL.len());
    assert_eq!(sections("Event"), EventKind::ALL.len());
}

#[test]
fn every_list_is_described() {
    fn describes<T: Copy + serde::Serialize>(list: &str, all: &[T], number: fn(T) -> u8) {
        let entry = |value: &T| format!("{} {}", number(*value), name(value));
        let entries: Vec<String> = all.iter().map(entry).collect();
        let row = format!("| {list} | {} |\n", entries.join(", "));
        assert!(DOCUMENT.contains(&row), "{row}");
    }
    describes("side", Side::ALL, Side::number);
    describes("order kind", OrderKind::ALL, OrderKind::number);
    describes("time in force", TimeInForce::ALL, TimeInForce::number);
    describes("trigger kind", TriggerKind::ALL, TriggerKind::number);
    describes("distance kind", DistanceKind::ALL, DistanceKind::number);
    describes("link kind", LinkKind::ALL, LinkKind::number);
    describes("post-only", PostOnly::ALL, PostOnly::number);
    describes("self-trade mode", SelfTrade::ALL, SelfTrade::number);
    describes("instrument kind", InstrumentKind::ALL, InstrumentKind::number);
    describes("instrument state", InstrumentState::ALL, InstrumentState::number);
    describes("done reason", DoneReason::ALL, DoneReason::number);
    describes("reduce reason", ReduceReason::ALL, ReduceReason::number);
    describes("call depth", CallDepth::ALL, CallDepth::number);
    describes("halt cause", HaltCause::ALL, HaltCause::number);
    describes("restriction", Restriction::ALL, Restriction::number);
    describes("command kind", CommandKind::ALL, CommandKind::number);
    describes("reject reason", RejectReason::ALL, RejectReason::number);
}
