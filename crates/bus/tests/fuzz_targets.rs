//! The fuzz targets of the codecs, with a bounded number of inputs.
#![allow(clippy::duplicate_mod, reason = "each target has the message of its own")]

extern crate self as libfuzzer_sys;

#[path = "../../../fuzz/bounded.rs"]
mod bounded;
#[path = "../../../fuzz/fuzz_targets/codec_archive.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod codec_archive;
#[path = "../../../fuzz/fuzz_targets/codec_compact.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod codec_compact;
#[path = "../../../fuzz/fuzz_targets/codec_json.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod codec_json;

use rialto_bus::codec::{Archive, Compact, Json};

#[test]
fn json_is_refused_or_decodes_to_a_message() {
    bounded::check(codec_json::target, &codec_json::message::samples(&Json));
}

#[test]
fn compact_bytes_are_refused_or_stand_for_a_message() {
    bounded::check(codec_compact::target, &codec_compact::message::samples(&Compact));
}

#[test]
fn archived_bytes_are_refused_or_stand_for_a_message() {
    bounded::check(codec_archive::target, &codec_archive::message::samples(&Archive));
}
