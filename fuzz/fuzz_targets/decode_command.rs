//! Bytes are refused, or are the only form of a command, with or without an attribution.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rialto_model::{
    ATTRIBUTION_BYTES_MAX, COMMAND_BYTES_MAX, decode_attribution, decode_command,
    encode_attribution, encode_command,
};

fuzz_target!(|bytes: &[u8]| {
    let decoded = decode_attribution(bytes).and_then(|attributed| match attributed {
        Some((attribution, bytes)) => Ok((Some(attribution), decode_command(bytes)?)),
        None => Ok((None, decode_command(bytes)?)),
    });
    let (attribution, (time, command)) = match decoded {
        Ok(decoded) => decoded,
        Err(error) => {
            assert!(error.offset <= bytes.len(), "{error} is past the end");
            return;
        }
    };
    let mut buffer = [0xaa; ATTRIBUTION_BYTES_MAX + COMMAND_BYTES_MAX];
    let mut length = attribution.map_or(0, |it| encode_attribution(&it, &mut buffer));
    length += encode_command(time, &command, &mut buffer[length..]);
    assert_eq!(&buffer[..length], bytes, "{command:?} has two forms");
});
