//! Bytes are refused, or stand for a message: the codec `Compact`.
#![no_main]

pub(crate) mod message;

use libfuzzer_sys::fuzz_target;
use rialto_bus::codec::Compact;

fuzz_target!(|bytes: &[u8]| {
    message::check(&Compact, bytes);
});
