//! A body on its way in: its pace, its framing, and the checksums of the bodies that `s3s` reads
//! itself.

use crate::chunks::{ChunkFault, ChunkGuard};
use crate::digests::BodyDigest;
use crate::session::{BodyFault, Session};
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use rialto_depot_desk::UploadPace;
use s3s::S3ErrorCode;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::time::Sleep;

/// A body on its way in.
pub(crate) struct Arriving {
    /// `None` when it has ended.
    inner: Option<Incoming>,
    session: Arc<Session>,
    pace: UploadPace,
    timer: Pin<Box<Sleep>>,
    /// Since when nobody has read from the client.
    unread_since: Option<Instant>,
    chunks: Option<ChunkGuard>,
    digest: Option<BodyDigest>,
    /// Whether some of it was asked for.
    was_begun: bool,
    /// What was followed and not taken yet.
    ready: VecDeque<Bytes>,
}

impl Arriving {
    pub(crate) fn new(
        inner: Incoming,
        session: Arc<Session>,
        pace: UploadPace,
        chunks: Option<ChunkGuard>,
        digest: Option<BodyDigest>,
    ) -> Arriving {
        let timer = Box::pin(tokio::time::sleep_until(pace.deadline().into()));
        let ready = VecDeque::new();
        Arriving {
            inner: Some(inner),
            session,
            pace,
            timer,
            unread_since: Some(Instant::now()),
            chunks,
            digest,
            was_begun: false,
            ready,
        }
    }

    fn refuse(&mut self, fault: BodyFault) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let error = io::Error::other(fault.message.clone());
        self.session.refuse_body(fault);
        self.ready.clear();
        Poll::Ready(Some(Err(error)))
    }

    /// Judges the end of the body.
    fn end(&mut self) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.inner = None;
        if self.chunks.as_ref().is_some_and(|chunks| !chunks.has_last()) {
            let message = "The body ended before its last chunk.";
            return self.refuse(BodyFault::new(S3ErrorCode::IncompleteBody, message));
        }
        match self.digest.take().map(|digest| digest.finish(None)) {
            Some(Err(fault)) => self.refuse(fault),
            _ => Poll::Ready(None),
        }
    }

    fn accept(&mut self, data: Bytes) -> Result<(), BodyFault> {
        if let Some(digest) = &mut self.digest {
            digest.update(&data);
        }
        let Some(chunks) = &mut self.chunks else {
            self.ready.push_back(data);
            return Ok(());
        };
        chunks.follow(data, &mut self.ready).map_err(|fault| {
            let code = match fault {
                ChunkFault::Malformed => S3ErrorCode::InvalidRequest,
                ChunkFault::TooLong(_) => S3ErrorCode::EntityTooLarge,
            };
            BodyFault::new(code, fault.to_string())
        })
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(since) = self.unread_since.take() {
            // A client is not slow because the disk is.
            self.pace.leave_out(since.elapsed());
        }
        self.was_begun = true;
        loop {
            if let Some(ready) = self.ready.pop_front() {
                self.unread_since = Some(Instant::now());
                return Poll::Ready(Some(Ok(Frame::data(ready))));
            }
            let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
            let arrived = match Pin::new(inner).poll_frame(cx) {
                Poll::Ready(None) => return self.end(),
                Poll::Ready(Some(Err(error))) => {
                    self.inner = None;
                    let message = "The body is incomplete; nothing was stored.";
                    self.session.refuse_body(BodyFault::new(S3ErrorCode::IncompleteBody, message));
                    return Poll::Ready(Some(Err(io::Error::other(error))));
                }
                Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
                Poll::Pending => {
                    let deadline = self.pace.deadline().into();
                    if self.timer.deadline() != deadline {
                        self.timer.as_mut().reset(deadline);
                    }
                    if self.timer.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    None
                }
            };
            let bytes = arrived.as_ref().map_or(0, Bytes::len) as u64;
            if let Err(slow) = self.pace.count(bytes) {
                return self.refuse(BodyFault::new(S3ErrorCode::RequestTimeout, slow.to_string()));
            }
            let accepted = arrived.map_or(Ok(()), |data| self.accept(data));
            if let Err(fault) = accepted {
                return self.refuse(fault);
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        // A body is judged at its end, so that the end is asked for.
        self.ready.is_empty() && self.inner.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.inner, &self.chunks) {
            (Some(inner), None) => inner.size_hint(),
            _ => SizeHint::default(),
        }
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if let Some(unread) = self.inner.take() {
            self.session.leave_unread((unread, self.was_begun));
        }
    }
}
