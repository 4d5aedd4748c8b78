//! Bytes are refused, or stand for a message: the codec `Json`.
#![no_main]

pub(crate) mod message;

use libfuzzer_sys::fuzz_target;
use rialto_bus::codec::Json;

fuzz_target!(|bytes: &[u8]| {
    message::check(&Json, bytes);
});
