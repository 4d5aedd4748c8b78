//! Bodies in chunks, as clients of S3 send them. The first byte says whether the chunks are signed and
//! in what pieces the body arrives.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use rialto_s3::{CHUNK_BYTES_MAX, ChunkFault, ChunkGuard};
use std::collections::VecDeque;

/// What the decoder gets of a body that arrives in pieces, and whether the last chunk arrived.
fn followed(is_signed: bool, body: &[u8], piece: usize) -> Result<(Vec<u8>, bool), ChunkFault> {
    let (mut guard, mut out) = (ChunkGuard::new(is_signed), VecDeque::new());
    for piece in body.chunks(piece) {
        guard.follow(Bytes::copy_from_slice(piece), &mut out)?;
    }
    Ok((out.into_iter().flatten().collect(), guard.has_last()))
}

/// The content of chunks, the bytes behind the last one, and whether the chunks end in the middle.
fn content(mut wire: &[u8]) -> (Vec<u8>, &[u8], bool) {
    let mut content = Vec::new();
    loop {
        let Some(end) = wire.iter().position(|byte| *byte == b'\n') else {
            return (content, &[], true);
        };
        let (line, rest) = wire.split_at(end + 1);
        let digits = line.split(|byte| !byte.is_ascii_hexdigit()).next().unwrap_or_default();
        let digits = std::str::from_utf8(digits).expect("digits are ASCII");
        let length = u64::from_str_radix(digits, 16).expect("what was passed begins with a length");
        if length == 0 {
            return (content, rest, false);
        }
        let there = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
        content.extend_from_slice(&rest[..there]);
        let Some(rest) = rest.get(there + 2..) else { return (content, &[], true) };
        wire = rest;
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, body)) = bytes.split_first() else { return };
    let (is_signed, piece) = (first & 1 == 1, usize::from(first >> 1) + 1);
    let whole = followed(is_signed, body, body.len().max(1));
    match (whole, followed(is_signed, body, piece)) {
        (Ok((whole, has_last)), Ok((passed, also_last))) => {
            assert_eq!(has_last, also_last);
            let (expected, trailers, is_cut) = content(body);
            assert_eq!(has_last, !is_cut);
            for passed in [&whole, &passed] {
                let (got, behind, _) = content(passed);
                assert_eq!(got, expected, "the content is what was sent");
                assert_eq!(behind, trailers, "what follows the last chunk is what was sent");
            }
            // A line that is not whole is not passed on; all else of signed chunks is.
            assert!(!is_signed || body.starts_with(&passed));
        }
        (Err(fault), Err(also)) => {
            assert_eq!(fault, also);
            let is_long = |length| is_signed && length > CHUNK_BYTES_MAX;
            assert!(!matches!(fault, ChunkFault::TooLong(length) if !is_long(length)));
        }
        (whole, pieces) => panic!("{whole:?} at once, and {pieces:?} in pieces of {piece}"),
    }
});
