//! The binary form is what it was: journals are kept, and must be read for ever.
//!
//! If a test here fails, the format has changed. A change of a format that was released needs a new
//! version beside the old one, and a new fixture beside the old one, never a changed fixture.

mod samples;

use rialto_model::{
    ATTRIBUTION_BYTES_MAX, COMMAND_BYTES_MAX, EVENT_BYTES_MAX, EVENTS_HEADER_BYTES, Event,
    EventEncoder, decode_attribution, decode_command, decode_events, encode_attribution,
    encode_command, encode_event,
};
use std::fmt::Write;

const COMMANDS: &str = include_str!("fixtures/commands-v1.hex");
const EVENTS: &str = include_str!("fixtures/events-v1.hex");
const ATTRIBUTIONS: &str = include_str!("fixtures/attributions-v1.hex");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two hex digits");
    (0..text.len()).step_by(2).map(digits).collect()
}

/// The lines of a fixture: a name and bytes.
fn lines(fixture: &str) -> Vec<(&str, Vec<u8>)> {
    let parts = |line| str::split_once(line, ' ').expect("a name and bytes");
    fixture.lines().map(parts).map(|(name, bytes)| (name, unhex(bytes))).collect()
}

/// The name of a sample in the fixture.
fn name(kind: impl serde::Serialize, full: bool) -> String {
    let kind = serde_json::to_value(kind).expect("a kind has a name");
    let form = if full { "full" } else { "short" };
    format!("{}/{form}", kind.as_str().expect("the name is a text"))
}

#[test]
fn commands_encode_as_they_always_did() {
    let mut found = String::new();
    for sample in samples::commands() {
        let command = sample.value;
        let mut buffer = [0xaa; COMMAND_BYTES_MAX];
        let bytes = encode_command(samples::TIME, &command, &mut buffer);
        let line = format!("{} {}\n", name(command.kind(), sample.full), hex(&buffer[..bytes]));
        found.push_str(&line);
    }
    assert_eq!(found, COMMANDS, "\n{found}");
}

#[test]
fn events_encode_as_they_always_did() {
    let mut found = String::new();
    for sample in samples::events() {
        let event = sample.value;
        let mut buffer = [0xaa; EVENT_BYTES_MAX];
        let bytes = encode_event(&event, &mut buffer);
        let line = format!("{} {}\n", name(event.kind(), sample.full), hex(&buffer[..bytes]));
        found.push_str(&line);
    }
    let all: Vec<Event> = samples::events().iter().map(|sample| sample.value).collect();
    let mut buffer = vec![0xaa; EVENTS_HEADER_BYTES + all.len() * EVENT_BYTES_MAX];
    let mut encoder = EventEncoder::new(samples::TIME, &mut buffer);
    for event in &all[..2] {
        encoder.push(event).expect("there is room for each");
    }
    let bytes = encoder.finish();
    found.push_str(&format!("record {}\n", hex(&buffer[..bytes])));
    assert_eq!(found, EVENTS, "\n{found}");
}

#[test]
fn attributions_encode_as_they_always_did_and_can_still_be_read() {
    let samples = [("short", samples::short_attribution()), ("full", samples::full_attribution())];
    let mut found = String::new();
    for (name, attribution) in samples {
        let mut buffer = [0xaa; ATTRIBUTION_BYTES_MAX];
        let bytes = encode_attribution(&attribution, &mut buffer);
        found.push_str(&format!("{name} {}\n", hex(&buffer[..bytes])));
    }
    assert_eq!(found, ATTRIBUTIONS, "\n{found}");
    for ((name, bytes), (_, attribution)) in lines(ATTRIBUTIONS).iter().zip(samples) {
        assert_eq!(decode_attribution(bytes), Ok(Some((attribution, &[][..]))), "{name}");
    }
}

#[test]
fn commands_that_were_written_once_can_still_be_read() {
    let samples = samples::commands();
    let lines = lines(COMMANDS);
    assert_eq!(lines.len(), samples.len());
    for ((name, bytes), sample) in lines.iter().zip(&samples) {
        assert_eq!(decode_command(bytes), Ok((samples::TIME, sample.value)), "{name}");
    }
}

#[test]
fn events_that_were_written_once_can_still_be_read() {
    let samples: Vec<Event> = samples::events().iter().map(|sample| sample.value).collect();
    let mut lines = lines(EVENTS);
    let (_, record) = lines.pop().expect("the last line is a whole record");
    let (time, events) = decode_events(&record).expect("the header is valid");
    assert_eq!(time, samples::TIME);
    assert_eq!(events.collect::<Result<Vec<_>, _>>().as_deref(), Ok(&samples[..2]));

    assert_eq!(lines.len(), samples.len());
    for ((name, bytes), sample) in lines.iter().zip(&samples) {
        // A record of one event differs from the last line in its count only.
        let mut one = record[..EVENTS_HEADER_BYTES].to_vec();
        one[4] = 1;
        one.extend_from_slice(bytes);
        let (_, mut events) = decode_events(&one).expect("the header is valid");
        assert_eq!(events.next(), Some(Ok(*sample)), "{name}");
        assert_eq!(events.next(), None, "{name}");
    }
}

#[test]
fn the_stated_maximum_is_the_longest_there_is() {
    let longest = |fixture: &str| lines(fixture).iter().map(|(_, bytes)| bytes.len()).max();
    assert_eq!(longest(COMMANDS), Some(COMMAND_BYTES_MAX));
    let events = EVENTS.rsplit_once("record").expect("the last line is a whole record").0;
    assert_eq!(longest(events), Some(EVENT_BYTES_MAX));
    assert_eq!(longest(ATTRIBUTIONS), Some(ATTRIBUTION_BYTES_MAX));
}

#[test]
fn every_kind_has_a_fixture() {
    for kind in rialto_model::CommandKind::ALL {
        let name = name(kind, false);
        assert!(lines(COMMANDS).iter().any(|(line, _)| *line == name), "{name}");
    }
    for kind in rialto_model::EventKind::ALL {
        let name = name(kind, false);
        assert!(lines(EVENTS).iter().any(|(line, _)| *line == name), "{name}");
    }
}
