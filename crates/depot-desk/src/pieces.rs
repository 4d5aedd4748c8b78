//! The content of a file on its way to a client, piece by piece.

use crate::{OpenedFile, TransferSlot, depot_error};
use bytes::Bytes;
use rialto_bus::{Error, ErrorKind, Result};
use rialto_depot::{DepotError, FileReader};
use std::future::poll_fn;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::{JoinError, JoinHandle};

/// The bytes of a piece, which is as long as a block of a volume, so that a block is read once.
const PIECE_BYTES: u64 = 1 << 20;

/// A range of the content of a file. A piece is read when the one before was taken, and no thread
/// waits for the client.
pub struct FilePieces {
    state: State,
    at: u64,
    end: u64,
    _slot: TransferSlot,
}

enum State {
    /// The first piece has been read.
    First(FileReader, Bytes),
    Waiting(FileReader),
    Reading(JoinHandle<PieceRead>),
    Ended,
}

type PieceRead = (FileReader, std::result::Result<Bytes, DepotError>);

/// The content cannot be read any further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the content ends at {at}: {reason}")]
pub struct ContentCut {
    /// The bytes before it were read.
    pub at: u64,
    /// Why.
    pub reason: String,
}

/// Reads the piece at an offset, at most to `end`.
fn read_piece(mut reader: FileReader, at: u64, end: u64) -> PieceRead {
    // Later pieces begin where blocks do.
    let piece_end = (at / PIECE_BYTES + 1) * PIECE_BYTES;
    let length = usize::try_from(piece_end.min(end) - at).unwrap_or(usize::MAX);
    let mut piece = vec![0; length];
    let mut done = 0;
    while done < length {
        match reader.read_at(at + done as u64, &mut piece[done..]) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) => return (reader, Err(error)),
        }
    }
    piece.truncate(done);
    (reader, Ok(piece.into()))
}

fn begin_piece(reader: FileReader, at: u64, end: u64) -> JoinHandle<PieceRead> {
    tokio::task::spawn_blocking(move || read_piece(reader, at, end))
}

fn panicked(error: JoinError) -> Error {
    Error::new(ErrorKind::Internal, "depot_failed", format!("The operation failed: {error}."))
}

impl FilePieces {
    /// Reads the first piece of a range that is not empty, so that its errors can be answered before
    /// anything is sent.
    ///
    /// # Errors
    /// Those of the content.
    pub async fn begin(opened: OpenedFile, range: Range<u64>) -> Result<FilePieces> {
        let OpenedFile { reader, slot } = opened;
        let (at, end) = (range.start, range.end);
        let (reader, piece) = begin_piece(reader, at, end).await.map_err(panicked)?;
        let piece = piece.map_err(depot_error)?;
        Ok(FilePieces { state: State::First(reader, piece), at, end, _slot: slot })
    }

    /// The bytes that were not taken yet.
    #[must_use]
    pub fn bytes_left(&self) -> u64 {
        self.end - self.at
    }

    /// Whether there is nothing more to take.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.at >= self.end || matches!(self.state, State::Ended)
    }

    fn cut(&mut self, reason: String) -> ContentCut {
        self.state = State::Ended;
        ContentCut { at: self.at, reason }
    }

    /// The next piece, `None` at the end.
    pub fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Bytes, ContentCut>>> {
        loop {
            let (reader, piece) = match std::mem::replace(&mut self.state, State::Ended) {
                State::First(reader, piece) => (reader, piece),
                State::Ended => return Poll::Ready(None),
                State::Waiting(_) if self.at >= self.end => return Poll::Ready(None),
                State::Waiting(reader) => {
                    self.state = State::Reading(begin_piece(reader, self.at, self.end));
                    continue;
                }
                State::Reading(mut reading) => {
                    let Poll::Ready(read) = Pin::new(&mut reading).poll(cx) else {
                        self.state = State::Reading(reading);
                        return Poll::Pending;
                    };
                    match read {
                        Ok((reader, Ok(piece))) => (reader, piece),
                        Ok((_, Err(error))) => {
                            return Poll::Ready(Some(Err(self.cut(error.to_string()))));
                        }
                        Err(error) => return Poll::Ready(Some(Err(self.cut(error.to_string())))),
                    }
                }
            };
            if piece.is_empty() {
                let reason = "the file is shorter than its record says".to_owned();
                return Poll::Ready(Some(Err(self.cut(reason))));
            }
            self.at += piece.len() as u64;
            self.state = State::Waiting(reader);
            return Poll::Ready(Some(Ok(piece)));
        }
    }

    /// As [`FilePieces::poll_next`], and waits.
    pub async fn next(&mut self) -> Option<std::result::Result<Bytes, ContentCut>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }
}
