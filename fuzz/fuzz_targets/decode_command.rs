//! Bytes are refused, or are the only form of a command.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rialto_model::{COMMAND_BYTES_MAX, decode_command, encode_command};

fuzz_target!(|bytes: &[u8]| {
    let (time, command) = match decode_command(bytes) {
        Ok(decoded) => decoded,
        Err(error) => {
            assert!(error.offset <= bytes.len(), "{error} is past the end");
            return;
        }
    };
    let mut buffer = [0xaa; COMMAND_BYTES_MAX];
    let length = encode_command(time, &command, &mut buffer);
    assert_eq!(&buffer[..length], bytes, "{command:?} has two forms");
});
