//! Bytes are refused, or are the only form of the events of a command.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rialto_model::{EVENT_BYTES_MAX, EventEncoder, decode_events};

fuzz_target!(|bytes: &[u8]| {
    let (time, events) = match decode_events(bytes) {
        Ok(decoded) => decoded,
        Err(error) => {
            assert!(error.offset <= bytes.len(), "{error} is past the end");
            return;
        }
    };
    // Room for the longest event after the last is what the encoder asks for.
    let mut buffer = vec![0xaa; bytes.len() + EVENT_BYTES_MAX];
    let mut encoder = EventEncoder::new(time, &mut buffer);
    for event in events {
        match event {
            Ok(event) => encoder.push(&event).expect("no event takes more than it was read from"),
            Err(error) => {
                assert!(error.offset <= bytes.len(), "{error} is past the end");
                return;
            }
        }
    }
    let length = encoder.finish();
    assert_eq!(&buffer[..length], bytes, "these events have two forms");
});
