//! The content of a file on its way from a client to the depot, piece by piece.

use bytes::Bytes;
use tokio::sync::mpsc;

/// The most pieces that wait between the client and the depot. A client that is faster than the
/// disk is not read from meanwhile.
pub const PIECES_MAX: usize = 4;

enum Piece {
    Bytes(Bytes),
    End,
}

/// The content of a file, as it arrives.
pub struct FileContent(mpsc::Receiver<Piece>);

/// The end of the client. Dropping it without [`ContentSender::end`] means that the content is not
/// whole: no file comes to exist.
pub struct ContentSender(mpsc::Sender<Piece>);

/// The content ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the content ended before its end; nothing was stored")]
pub(crate) struct Interrupted;

impl FileContent {
    /// Both ends.
    #[must_use]
    pub fn channel() -> (ContentSender, FileContent) {
        let (sender, receiver) = mpsc::channel(PIECES_MAX);
        (ContentSender(sender), FileContent(receiver))
    }

    /// The next piece; `None` at the end. It blocks the thread.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, Interrupted> {
        match self.0.blocking_recv() {
            Some(Piece::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Piece::End) => Ok(None),
            None => Err(Interrupted),
        }
    }
}

impl ContentSender {
    /// Sends a piece when there is room for it. Returns whether it is still wanted.
    pub async fn send(&self, bytes: Bytes) -> bool {
        self.0.send(Piece::Bytes(bytes)).await.is_ok()
    }

    /// Ends the content: it is whole.
    pub async fn end(self) {
        // Nobody waits for the end of a refused file.
        let _ = self.0.send(Piece::End).await;
    }
}
