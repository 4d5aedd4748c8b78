//! Contents in pieces: uploads and downloads that never hold a file in memory.

use crate::{Client, ClientError, HttpAnswer, HttpRequest};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, ETAG, HeaderName, HeaderValue, RANGE};
use rialto_api::sign::{EMPTY_SHA256, HEADER_BODY_SHA256, sha256, to_hex};
use rialto_api::{
    DepotCompleteWithQuery, DepotFile, DepotGetQuery, DepotPutQuery, RESULTS_MEDIA_TYPE, Route,
};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::sync::mpsc;

/// The pieces that wait to be sent.
const PIECES_MAX: usize = 4;

enum Piece {
    Bytes(Bytes),
    End,
}

/// The waiting pieces. A connection may keep its content after the answer, so that they are shared with
/// [`Refusing`].
#[derive(Clone, Debug)]
struct Pieces(Arc<Mutex<mpsc::Receiver<Piece>>>);

impl Pieces {
    fn receiver(&self) -> MutexGuard<'_, mpsc::Receiver<Piece>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes no more pieces when it is dropped, so that a sender which waits for room goes on.
struct Refusing(Pieces);

impl Drop for Refusing {
    fn drop(&mut self) {
        self.0.receiver().close();
    }
}

/// A content on its way to a venue.
#[derive(Debug)]
pub struct OutgoingContent {
    pieces: Pieces,
    /// The bytes that are missing, if the length is known.
    left: Option<u64>,
    /// The bytes that were taken.
    taken: Arc<AtomicU64>,
    has_ended: bool,
}

/// Sends the pieces of a content. Dropping it without [`PieceSender::end`] breaks the request off, and
/// the venue stores nothing.
#[derive(Debug)]
pub struct PieceSender(mpsc::Sender<Piece>);

impl std::fmt::Debug for Piece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Piece::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Piece::End => f.write_str("end"),
        }
    }
}

impl OutgoingContent {
    /// A content of this length, or of an unknown one, with the sender of its pieces.
    #[must_use]
    pub fn channel(bytes: Option<u64>) -> (PieceSender, OutgoingContent) {
        let (sender, pieces) = mpsc::channel(PIECES_MAX);
        let (pieces, taken) = (Pieces(Arc::new(Mutex::new(pieces))), Arc::default());
        (PieceSender(sender), OutgoingContent { pieces, left: bytes, taken, has_ended: false })
    }
}

impl PieceSender {
    /// Sends a piece when there is room for it. Returns whether more is wanted. It blocks the thread.
    pub fn blocking_send(&self, bytes: Bytes) -> bool {
        self.0.blocking_send(Piece::Bytes(bytes)).is_ok()
    }

    /// As [`PieceSender::blocking_send`], within a runtime.
    pub async fn send(&self, bytes: Bytes) -> bool {
        self.0.send(Piece::Bytes(bytes)).await.is_ok()
    }

    /// Ends the content: it is whole. It blocks the thread.
    pub fn blocking_end(self) {
        // A refused request takes no more.
        let _ = self.0.blocking_send(Piece::End);
    }

    /// As [`PieceSender::blocking_end`], within a runtime.
    pub async fn end(self) {
        let _ = self.0.send(Piece::End).await;
    }
}

impl Body for OutgoingContent {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let piece = ready!(self.pieces.receiver().poll_recv(cx));
        Poll::Ready(match piece {
            Some(Piece::Bytes(bytes)) => {
                let length = bytes.len() as u64;
                self.taken.fetch_add(length, Relaxed);
                match self.left {
                    Some(left) if length > left => {
                        Some(Err(io::Error::other("the content is longer than was declared")))
                    }
                    left => {
                        self.left = left.map(|left| left - length);
                        Some(Ok(Frame::data(bytes)))
                    }
                }
            }
            Some(Piece::End) => {
                self.has_ended = true;
                match self.left {
                    None | Some(0) => None,
                    Some(_) => {
                        Some(Err(io::Error::other("the content is shorter than was declared")))
                    }
                }
            }
            None => Some(Err(io::Error::other("the content ended before its end"))),
        })
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// What is known of a file that is stored, besides its place.
#[derive(Debug)]
pub struct FileUpload<'a> {
    /// The media type; empty for none.
    pub content_type: &'a str,
    /// Names and values to keep with the file.
    pub metadata: &'a [(String, String)],
    /// A key that makes a repeat harmless.
    pub idempotency_key: Option<&'a str>,
    /// The SHA-256 of the content. An API key needs it, because it signs it; the admin key does not.
    pub sha256: Option<[u8; 32]>,
    /// The content.
    pub content: OutgoingContent,
}

/// A file that is being read.
#[derive(Debug)]
pub struct FileDownload {
    client: Client,
    path: String,
    body: Incoming,
    /// The bytes that are still to come.
    left: Option<u64>,
    tag: Option<String>,
}

impl FileDownload {
    /// The SHA-256 of the whole file in hexadecimal digits, if the venue knows it.
    #[must_use]
    pub fn sha256(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| tag.len() == EMPTY_SHA256.len())
    }

    /// The bytes that are still to come, if the venue said how many.
    #[must_use]
    pub fn bytes_left(&self) -> Option<u64> {
        self.left
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// The content broke off: the venue found it to be damaged, or cannot be reached any more.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        loop {
            let frame = tokio::time::timeout(self.client.options().timeout, self.body.frame());
            let frame = frame.await.map_err(|_| self.client.late("GET", &self.path))?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| self.client.broken_off("GET", &error))?;
            if let Ok(bytes) = frame.into_data() {
                self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
                return Ok(Some(bytes));
            }
        }
    }
}

impl Client {
    /// Stores a file whose content comes in pieces. Returns it, and whether it was stored now: a file
    /// that was accepted earlier under the same key was not. Nothing is sent twice.
    ///
    /// # Errors
    /// The venue refused, or no usable answer came.
    pub async fn put_file_from(
        &self,
        tenant: &str,
        query: &DepotPutQuery<'_>,
        upload: FileUpload<'_>,
    ) -> Result<(DepotFile, bool), ClientError> {
        let FileUpload { content_type, metadata, idempotency_key, sha256, content } = upload;
        let mut headers = Vec::with_capacity(metadata.len() + 2);
        if !content_type.is_empty() {
            headers.push((CONTENT_TYPE, header("the media type", content_type)?));
        }
        for (name, value) in metadata {
            let named = HeaderName::try_from(format!("x-rialto-meta-{name}"));
            let named = named.ok().filter(|it| it.as_str().ends_with(name.as_str()));
            let wrong = || {
                ClientError::Invalid(format!(
                    "{name:?} is not the name of metadata: use a to z, 0 to 9, `-`, `_` and `.`"
                ))
            };
            headers.push((named.ok_or_else(wrong)?, header(name, value)?));
        }
        if let Some(key) = idempotency_key {
            let value = header("the submit key", key)?;
            headers.push((HeaderName::from_static("idempotency-key"), value));
        }
        let request = HttpRequest::new(Route::DepotPut, &[tenant], query)?;
        let answer = self.send_content(&request, headers, sha256, content).await?;
        let is_new = answer.status == 201;
        Ok((answer.read()?, is_new))
    }

    /// Completes a claimed file together with its results: all of it, or nothing. `results` has for each a
    /// line of JSON, [`DepotResult`](rialto_api::DepotResult), and its content. `sha256` is that of all.
    ///
    /// # Errors
    /// The venue refused, for instance because the claim has ended, or no usable answer came.
    pub async fn complete_claim_with(
        &self,
        claim: &str,
        sha256: Option<[u8; 32]>,
        results: OutgoingContent,
    ) -> Result<(), ClientError> {
        let query = DepotCompleteWithQuery { claim: claim.into() };
        let request = HttpRequest::new(Route::DepotCompleteWith, &[], &query)?;
        let media_type = HeaderValue::from_static(RESULTS_MEDIA_TYPE);
        let headers = vec![(CONTENT_TYPE, media_type)];
        let answer = self.send_content(&request, headers, sha256, results).await?;
        answer.accepted().map(drop)
    }

    /// Begins to read a file, from byte `first` to the end, or to byte `last`.
    ///
    /// # Errors
    /// The venue refused, or no answer came.
    pub async fn open_file(
        &self,
        tenant: &str,
        id: &str,
        first: u64,
        last: Option<u64>,
    ) -> Result<FileDownload, ClientError> {
        let request = HttpRequest::new(Route::DepotGet, &[tenant, id], &DepotGetQuery::default())?;
        let (method, path) = (request.method, request.path);
        let mut head = self.head(method, &path, || sha256(b""));
        if first > 0 || last.is_some() {
            let last = last.map(|last| last.to_string()).unwrap_or_default();
            head = head.header(RANGE, format!("bytes={first}-{last}"));
        }
        let body = http_body_util::Empty::new().map_err(|never| match never {}).boxed();
        let request = head.body(body).map_err(|error| self.unwritable(method, &path, &error))?;
        let timeout = self.options().timeout;
        let answer = tokio::time::timeout(timeout, self.pool().request(request)).await;
        let answer = answer.map_err(|_| self.late(method, &path))?;
        let answer = answer.map_err(|error| self.unanswered(method, &error))?;
        if !answer.status().is_success() {
            let end = Instant::now() + timeout;
            self.collect(method, &path, answer, end).await?.accepted()?;
            return Err(ClientError::Malformed("the venue answered without a content".to_owned()));
        }
        let tag = answer.headers().get(ETAG).and_then(|value| value.to_str().ok());
        let tag = tag.map(|tag| tag.trim_matches('"').to_owned());
        let body = answer.into_body();
        let left = body.size_hint().exact();
        Ok(FileDownload { client: self.clone(), path, body, left, tag })
    }

    /// Sends a request whose body comes in pieces, once. It has not failed as long as the venue takes
    /// pieces.
    pub(crate) async fn send_content(
        &self,
        request: &HttpRequest<'_>,
        headers: Vec<(HeaderName, HeaderValue)>,
        sha256_of_content: Option<[u8; 32]>,
        content: OutgoingContent,
    ) -> Result<HttpAnswer, ClientError> {
        let _refusing = Refusing(content.pieces.clone());
        let HttpRequest { method, path, .. } = request;
        let is_signed = matches!(self.credentials(), crate::Credentials::Key { .. });
        let hash = match sha256_of_content {
            Some(hash) => hash,
            None if is_signed => {
                let why = "an API key signs the SHA-256 of a content, which is missing";
                return Err(ClientError::Invalid(why.to_owned()));
            }
            None => [0; 32],
        };
        let mut head = self.head(method, path, || hash);
        // The headers of a signature have it already.
        if sha256_of_content.is_some() && !is_signed {
            head = head.header(HEADER_BODY_SHA256, to_hex(&hash));
        }
        for (name, value) in headers {
            head = head.header(name, value);
        }
        let taken = Arc::clone(&content.taken);
        let request =
            head.body(content.boxed()).map_err(|error| self.unwritable(method, path, &error))?;
        let timeout = self.options().timeout;
        let mut answering = std::pin::pin!(self.pool().request(request));
        let mut before = 0;
        let answer = loop {
            match tokio::time::timeout(timeout, &mut answering).await {
                Ok(answer) => break answer.map_err(|error| self.unanswered(method, &error))?,
                Err(_elapsed) => {
                    let now = taken.load(Relaxed);
                    if now == before {
                        return Err(self.late(method, path));
                    }
                    before = now;
                }
            }
        };
        self.collect(method, path, answer, Instant::now() + timeout).await
    }
}

fn header(what: &str, value: &str) -> Result<HeaderValue, ClientError> {
    HeaderValue::from_bytes(value.as_bytes()).map_err(|_| {
        ClientError::Invalid(format!("{what}: {value:?} has characters that no header may have"))
    })
}
