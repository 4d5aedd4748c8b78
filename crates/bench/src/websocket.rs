//! The few parts of a WebSocket client that the benchmarks need: short unfragmented frames.

use std::io;

/// The request that makes a connection a stream of the venue.
pub(crate) const UPGRADE: &[u8] = b"GET /v1/stream HTTP/1.1\r\nhost: rialto\r\n\
    connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
/// The longest payload with the middle form of the length.
const PAYLOAD_MAX: usize = u16::MAX as usize;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Text = 1,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

/// A frame of a client: whole, with a zero mask.
///
/// # Panics
/// If the payload is longer than 65,535 bytes.
pub(crate) fn frame(kind: FrameKind, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() <= PAYLOAD_MAX, "a longer frame has another head");
    let mut frame = vec![0x80 | kind as u8];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | length as u8),
        length => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(payload);
    frame
}

/// The first frame of a server in these bytes: its kind, its payload, and its length in all. `None`
/// while it is incomplete.
pub(crate) fn first_frame(bytes: &[u8]) -> io::Result<Option<(FrameKind, &[u8], usize)>> {
    let wrong = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let (&[first, second], rest) = match bytes {
        [first, second, rest @ ..] => (&[*first, *second], rest),
        _ => return Ok(None),
    };
    let kind = match first {
        0x81 => FrameKind::Text,
        0x88 => FrameKind::Close,
        0x89 => FrameKind::Ping,
        0x8a => FrameKind::Pong,
        _ => return wrong("a frame is of another kind, or not whole"),
    };
    let (head, length) = match (second, rest) {
        (length @ 0..=125, _) => (2, usize::from(length)),
        (126, [high, low, ..]) => (4, usize::from(u16::from_be_bytes([*high, *low]))),
        (126, _) => return Ok(None),
        _ => return wrong("a frame is masked, or longer than any message"),
    };
    let whole = head + length;
    Ok(bytes.get(head..whole).map(|payload| (kind, payload, whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame as a server sends it: without a mask.
    fn of_server(payload: &[u8]) -> Vec<u8> {
        let mut bytes = frame(FrameKind::Text, payload);
        let head = bytes.len() - payload.len();
        bytes.drain(head - 4..head);
        bytes[1] &= 0x7f;
        bytes
    }

    #[test]
    fn a_frame_is_read_when_it_is_whole() {
        for length in [0, 1, 125, 126, 300] {
            let payload = vec![b'x'; length];
            let mut bytes = of_server(&payload);
            let whole = bytes.len();
            for cut in 0..whole {
                assert_eq!(first_frame(&bytes[..cut]).expect("so far it is one"), None, "{cut}");
            }
            bytes.extend_from_slice(b"\x89\x00");
            let read = first_frame(&bytes).expect("it is one").expect("it is whole");
            assert_eq!(read, (FrameKind::Text, &payload[..], whole));
            let next = first_frame(&bytes[whole..]).expect("it is one").expect("it is whole");
            assert_eq!(next, (FrameKind::Ping, &b""[..], 2));
        }
    }

    #[test]
    fn masked_and_long_frames_and_other_kinds_are_refused() {
        for bytes in [&[0x81, 0x80][..], &[0x81, 127], &[0x01, 0], &[0x82, 0]] {
            assert!(first_frame(bytes).is_err(), "{bytes:?}");
        }
    }
}
