//! Downloads: the content of a file in pieces, or a range of it.

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use rialto_depot::FileRecord;
use rialto_depot_desk::{FilePieces, OpenedFile};
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

/// The entity tag of a file: its SHA-256, or its CRC-32C.
pub(crate) fn etag(file: &FileRecord) -> String {
    match &file.sha256 {
        Some(hash) => format!("\"{}\"", rialto_api::sign::to_hex(hash)),
        None => format!("\"crc32c-{:08x}\"", file.crc32c),
    }
}

/// Whether a list of entity tags names this one. Comparison is weak (RFC 9110, section 8.8.3.2).
fn names(list: &str, etag: &str) -> bool {
    list.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
}

/// The part of a file that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// These bytes.
    Bytes(Range<u64>),
    /// Nothing, because the client has it.
    NotModified,
    /// None of the bytes that it asks for are there.
    Unsatisfiable,
}

impl Part {
    /// Reads the headers of a request for a file of this length. A range that is malformed, of another
    /// unit, or one of several is ignored, as RFC 9110 allows.
    pub(crate) fn of(headers: &HeaderMap, etag: &str, length: u64) -> Part {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if text(header::IF_NONE_MATCH).is_some_and(|list| names(list, etag)) {
            return Part::NotModified;
        }
        // A range of another version is of no use.
        if text(header::IF_RANGE).is_some_and(|tag| tag.trim() != etag) {
            return Part::Whole;
        }
        let Some(range) = text(header::RANGE).and_then(|text| text.trim().strip_prefix("bytes="))
        else {
            return Part::Whole;
        };
        let Some((first, last)) = range.split_once('-') else { return Part::Whole };
        let (first, last) = (first.trim(), last.trim());
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // A number that is too large is beyond every file.
            is_number.then(|| text.parse().unwrap_or(u64::MAX))
        };
        let range = match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(length),
            (Some(first), None) if last.is_empty() => first..length,
            (None, Some(count)) if first.is_empty() => length.saturating_sub(count)..length,
            _ => return Part::Whole,
        };
        if range.is_empty() { Part::Unsatisfiable } else { Part::Bytes(range) }
    }
}

/// The content of a file as the body of an answer.
pub(crate) struct Download {
    pieces: FilePieces,
    /// Counts downloads that end early.
    cut: Arc<AtomicU64>,
}

impl Download {
    /// Reads the first piece of a range that is not empty. Errors are answered before the head is
    /// sent.
    pub(crate) async fn begin(
        opened: OpenedFile,
        range: Range<u64>,
        cut: &Arc<AtomicU64>,
    ) -> rialto_bus::Result<Download> {
        Ok(Download { pieces: FilePieces::begin(opened, range).await?, cut: cut.clone() })
    }
}

impl Body for Download {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.pieces.poll_next(cx).map(|piece| {
            Some(match piece? {
                Ok(piece) => Ok(Frame::data(piece)),
                // The connection is closed before the length that was announced.
                Err(error) => {
                    self.cut.fetch_add(1, Ordering::Relaxed);
                    tracing::error!(at = error.at, "a download ended early: {}", error.reason);
                    Err(io::Error::other(error))
                }
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.has_ended()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.pieces.bytes_left())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_gets_the_part_that_it_asks_for() {
        let part = |name: header::HeaderName, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            Part::of(&headers, "\"tag\"", 100)
        };
        for (text, expected) in [
            ("bytes=0-9", Part::Bytes(0..10)),
            ("bytes=90-", Part::Bytes(90..100)),
            ("bytes=90-1000", Part::Bytes(90..100)),
            ("bytes=-5", Part::Bytes(95..100)),
            ("bytes=-1000", Part::Bytes(0..100)),
            ("bytes=0-99999999999999999999999", Part::Bytes(0..100)),
            ("bytes=100-", Part::Unsatisfiable),
            ("bytes=-0", Part::Unsatisfiable),
            ("bytes=9-0", Part::Whole),
            ("bytes=0-1,5-6", Part::Whole),
            ("bytes=+1-2", Part::Whole),
            ("bytes=-", Part::Whole),
            ("lines=0-1", Part::Whole),
        ] {
            assert_eq!(part(header::RANGE, text), expected, "{text}");
        }
        for (text, expected) in [
            ("\"tag\"", Part::NotModified),
            ("W/\"tag\"", Part::NotModified),
            ("\"other\", \"tag\"", Part::NotModified),
            ("*", Part::NotModified),
            ("\"other\"", Part::Whole),
        ] {
            assert_eq!(part(header::IF_NONE_MATCH, text), expected, "{text}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, "bytes=0-9".parse().unwrap());
        headers.insert(header::IF_RANGE, "\"other\"".parse().unwrap());
        assert_eq!(Part::of(&headers, "\"tag\"", 100), Part::Whole);
    }
}
