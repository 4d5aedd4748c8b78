//! The framing of bodies that are sent in chunks (`aws-chunked`), before it is decoded.
//!
//! The decoder holds a chunk in memory until it is whole, and a chunk may be of 4 GiB. So the framing is
//! followed here first. A signed chunk is bounded. An unsigned one may be of any length: its signature
//! covers nothing, so that it is cut into smaller chunks.

use bytes::{Buf, Bytes};
use std::collections::VecDeque;

/// The longest signed chunk, in bytes.
pub const CHUNK_BYTES_MAX: u64 = 2 << 20;
/// The longest line before a chunk.
const LINE_BYTES_MAX: usize = 1 << 10;
/// A length is of at most 15 hexadecimal digits, so that it does not overflow.
const DIGITS_MAX: usize = 15;

/// The reason that a body in chunks is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChunkFault {
    /// The framing is not `aws-chunked`.
    #[error("The body is not in chunks as it says.")]
    Malformed,
    /// A signed chunk is too long.
    #[error("A signed chunk has {0} bytes; at most {CHUNK_BYTES_MAX} are taken.")]
    TooLong(u64),
}

/// Follows the framing of a body in chunks.
#[derive(Debug)]
pub struct ChunkGuard {
    is_signed: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The line before a chunk, as far as it is known.
    Line(Vec<u8>),
    /// Bytes of the chunk that are missing.
    Chunk(u64),
    /// Bytes of the line end behind the chunk that are there.
    End(usize),
    /// Everything behind the last chunk.
    Trailers,
}

impl ChunkGuard {
    /// Follows a body whose chunks are signed, or not.
    #[must_use]
    pub fn new(is_signed: bool) -> ChunkGuard {
        ChunkGuard { is_signed, state: State::Line(Vec::new()) }
    }

    /// Adds bytes that arrived, and appends what the decoder is to get.
    ///
    /// # Errors
    /// If the framing is wrong. The body is of no use then.
    pub fn follow(
        &mut self,
        mut bytes: Bytes,
        out: &mut VecDeque<Bytes>,
    ) -> Result<(), ChunkFault> {
        while !bytes.is_empty() {
            match &mut self.state {
                State::Line(line) => {
                    let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
                    let part = bytes.split_to(end.unwrap_or(bytes.len()));
                    if line.len() + part.len() > LINE_BYTES_MAX {
                        return Err(ChunkFault::Malformed);
                    }
                    line.extend_from_slice(&part);
                    if end.is_none() {
                        continue;
                    }
                    let length = length_of(line)?;
                    let line = std::mem::take(line);
                    if self.is_signed {
                        if length > CHUNK_BYTES_MAX {
                            return Err(ChunkFault::TooLong(length));
                        }
                        out.push_back(line.into());
                    } else if length == 0 {
                        out.push_back(Bytes::from_static(b"0\r\n"));
                    }
                    self.state = if length == 0 { State::Trailers } else { State::Chunk(length) };
                }
                State::Chunk(missing) => {
                    let there = usize::try_from(*missing).unwrap_or(usize::MAX).min(bytes.len());
                    let part = bytes.split_to(there);
                    *missing -= there as u64;
                    let is_whole = *missing == 0;
                    if self.is_signed {
                        out.push_back(part);
                    } else {
                        out.push_back(format!("{:x}\r\n", part.len()).into());
                        out.push_back(part);
                        out.push_back(Bytes::from_static(b"\r\n"));
                    }
                    if is_whole {
                        self.state = State::End(0);
                    }
                }
                State::End(there) => {
                    if bytes[0] != b"\r\n"[*there] {
                        return Err(ChunkFault::Malformed);
                    }
                    bytes.advance(1);
                    *there += 1;
                    if *there == 2 {
                        if self.is_signed {
                            out.push_back(Bytes::from_static(b"\r\n"));
                        }
                        self.state = State::Line(Vec::new());
                    }
                }
                State::Trailers => out.push_back(std::mem::take(&mut bytes)),
            }
        }
        Ok(())
    }

    /// Whether the last chunk has arrived.
    #[must_use]
    pub fn has_last(&self) -> bool {
        matches!(self.state, State::Trailers)
    }
}

/// The length in the line before a chunk.
fn length_of(line: &[u8]) -> Result<u64, ChunkFault> {
    let line = line.strip_suffix(b"\r\n").ok_or(ChunkFault::Malformed)?;
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let is_number = (1..=DIGITS_MAX).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_hexdigit)
        && !line.contains(&b'\r');
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number);
    text.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or(ChunkFault::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the decoder gets if the body arrives in pieces of this length.
    fn followed(is_signed: bool, body: &[u8], piece: usize) -> Result<(Vec<u8>, bool), ChunkFault> {
        let (mut guard, mut out) = (ChunkGuard::new(is_signed), VecDeque::new());
        for piece in body.chunks(piece) {
            guard.follow(Bytes::copy_from_slice(piece), &mut out)?;
        }
        Ok((out.into_iter().flatten().collect(), guard.has_last()))
    }

    #[test]
    fn signed_chunks_pass_unchanged() {
        let body = b"4;chunk-signature=ab\r\nabcd\r\n0;chunk-signature=cd\r\nx-amz-checksum-crc32:aa==\r\n\r\n";
        for piece in 1..body.len() {
            assert_eq!(followed(true, body, piece), Ok((body.to_vec(), true)), "{piece}");
        }
    }

    #[test]
    fn unsigned_chunks_are_cut_as_they_arrive() {
        let body = b"00006\r\nabcdef\r\n0\r\nx-amz-checksum-crc32:aa==\r\n\r\n";
        let cut = b"4\r\nabcd\r\n2\r\nef\r\n0\r\nx-amz-checksum-crc32:aa==\r\n\r\n";
        assert_eq!(followed(false, body, 11), Ok((cut.to_vec(), true)));
    }

    /// Whatever arrives, in whatever pieces: the guard refuses it, or passes all bytes of the content.
    #[test]
    fn no_bytes_are_lost_or_made_up() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |bound: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random).unwrap_or(0) % bound
        };
        let alphabet = b"0123af;:\r\n\r\n\r\nchunk-signature=x";
        for nth in 0..20_000 {
            let noise: Vec<u8> = (0..below(60)).map(|_| alphabet[below(alphabet.len())]).collect();
            let (mut body, mut content) = (Vec::new(), Vec::new());
            for _ in 0..below(4) {
                let chunk: Vec<u8> = (0..1 + below(9)).map(|_| alphabet[below(9)]).collect();
                body.extend(format!("{:x}\r\n", chunk.len()).bytes());
                body.extend_from_slice(&chunk);
                body.extend_from_slice(b"\r\n");
                content.extend(chunk);
            }
            body.extend_from_slice(if nth % 2 == 0 { b"0\r\n" } else { &noise });
            let piece = 1 + below(12);
            let Ok((cut, has_last)) = followed(false, &body, piece) else { continue };
            let again =
                followed(false, &cut, 1 + below(12)).expect("what was passed is well-formed");
            assert_eq!(again.1, has_last);
            if nth % 2 == 0 {
                assert_eq!(decoded(&cut), content, "{body:?} by {piece}");
                assert_eq!(followed(true, &body, piece), Ok((body, true)));
            }
        }
    }

    /// The content of well-formed chunks.
    fn decoded(mut wire: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        loop {
            let end = wire.windows(2).position(|pair| pair == b"\r\n").unwrap();
            let length = std::str::from_utf8(&wire[..end]).unwrap();
            let length = usize::from_str_radix(length, 16).unwrap();
            if length == 0 {
                return content;
            }
            content.extend_from_slice(&wire[end + 2..end + 2 + length]);
            wire = &wire[end + 4 + length..];
        }
    }

    #[test]
    fn wrong_framing_is_refused() {
        for bad in [
            &b"4\nabcd\r\n"[..],
            b"4\r\nabcdXY",
            b"4\r\nabcd\rX",
            b"x\r\n",
            b"\r\n",
            b"4 \r\nabcd\r\n",
            b"-4\r\n",
            b"1000000000000000\r\n",
            b"4\r;\r\nabcd\r\n",
            &[b'0'; 2_000],
        ] {
            for piece in [1, 3, 4_000] {
                assert_eq!(followed(false, bad, piece), Err(ChunkFault::Malformed), "{bad:?}");
            }
        }
        assert_eq!(followed(true, b"ffffffff\r\n", 1), Err(ChunkFault::TooLong(0xffff_ffff)));
        assert_eq!(followed(false, b"ffffffff\r\nabc", 1).map(|(_, last)| last), Ok(false));
    }
}
