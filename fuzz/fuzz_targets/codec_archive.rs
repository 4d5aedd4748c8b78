//! Bytes are refused, or stand for a message, read in place as well as decoded: the codec `Archive`.
#![no_main]

pub(crate) mod message;

use libfuzzer_sys::fuzz_target;
use message::Message;
use rialto_bus::codec::Archive;

fuzz_target!(|bytes: &[u8]| {
    let decoded = message::check(&Archive, bytes);
    let in_place = Archive.access::<Message>(bytes);
    // A map with one key twice can be looked at and yet not be made.
    assert!(in_place.is_ok() || decoded.is_none(), "decoded without being sound");
});
