//! The fuzz targets of the binary form, with a bounded number of inputs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

extern crate self as libfuzzer_sys;

#[path = "../../../fuzz/bounded.rs"]
mod bounded;
#[path = "../../../fuzz/fuzz_targets/decode_command.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod decode_command;
#[path = "../../../fuzz/fuzz_targets/decode_events.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod decode_events;
#[allow(dead_code, reason = "how full a sample is matters to other tests")]
mod samples;

use rialto_model::{
    ATTRIBUTION_BYTES_MAX, COMMAND_BYTES_MAX, EVENT_BYTES_MAX, EventEncoder, encode_attribution,
    encode_command,
};

fn commands() -> Vec<Vec<u8>> {
    let encode = |command: &rialto_model::Command| {
        let mut buffer = [0; COMMAND_BYTES_MAX];
        let length = encode_command(samples::TIME, command, &mut buffer);
        buffer[..length].to_vec()
    };
    let plain = samples::commands();
    let plain = plain.iter().map(|sample| encode(&sample.value));
    let attributed = [samples::short_attribution(), samples::full_attribution()].map(|it| {
        let mut record = vec![0; ATTRIBUTION_BYTES_MAX];
        let length = encode_attribution(&it, &mut record);
        record.truncate(length);
        record.extend(encode(&rialto_model::Command::Tick));
        record
    });
    plain.chain(attributed).collect()
}

/// Each event alone, and all of them together.
fn events() -> Vec<Vec<u8>> {
    let samples: Vec<_> = samples::events().iter().map(|sample| sample.value).collect();
    let encode = |events: &[rialto_model::Event]| {
        let mut buffer = vec![0; (events.len() + 1) * EVENT_BYTES_MAX];
        let mut encoder = EventEncoder::new(samples::TIME, &mut buffer);
        events.iter().for_each(|event| encoder.push(event).unwrap());
        let length = encoder.finish();
        buffer.truncate(length);
        buffer
    };
    samples.chunks(1).chain([&samples[..]]).map(encode).collect()
}

#[test]
fn bytes_are_refused_or_are_the_only_form_of_a_command() {
    bounded::check(decode_command::target, &commands());
}

#[test]
fn bytes_are_refused_or_are_the_only_form_of_events() {
    bounded::check(decode_events::target, &events());
}

#[test]
#[should_panic(expected = "with the bytes")]
fn a_changed_command_that_can_be_read_is_met() {
    bounded::check(
        |bytes| {
            let is_sample = || commands().iter().any(|sample| sample == bytes);
            assert!(rialto_model::decode_command(bytes).is_err() || is_sample());
        },
        &commands(),
    );
}
