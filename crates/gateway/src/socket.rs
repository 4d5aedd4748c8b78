//! A client's connection with a timeout for writes.

use crate::connections::{Open, Pool};
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// Shorter parts are copied together and written at once, which is cheaper than a vectored write.
const TOGETHER_BYTES_MAX: usize = 4 << 10;

/// The bytes that a client must receive before the timeout begins again.
const TAKEN_BYTES_MIN: usize = 64 << 10;

/// A connection that is closed when its client does not receive its answers.
pub(crate) struct Socket {
    /// `None` if it could not be moved to another runtime.
    stream: Option<TcpStream>,
    /// Bytes that were read before, and how many of them are taken.
    ahead: Vec<u8>,
    ahead_taken: usize,
    open: Arc<Open>,
    /// The pool whose reactor has the stream.
    pool: Pool,
    /// How long the client may take for [`TAKEN_BYTES_MIN`], or for the rest.
    patience: Duration,
    /// Made at the first blocked write.
    timer: Option<Pin<Box<Sleep>>>,
    /// The bytes that the client received since the timer was set; `None` while no write is
    /// blocked.
    taken_bytes: Option<usize>,
    /// The buffer for parts that are copied together.
    together: Vec<u8>,
}

impl Socket {
    pub(crate) fn new(
        stream: TcpStream,
        ahead: Vec<u8>,
        open: Arc<Open>,
        patience: Duration,
    ) -> Socket {
        Socket {
            stream: Some(stream),
            ahead,
            ahead_taken: 0,
            pool: open.pool(),
            open,
            patience,
            timer: None,
            taken_bytes: None,
            together: Vec::new(),
        }
    }

    /// The stream, registered in the reactor of its pool. Otherwise the old threads would be woken
    /// by its events.
    fn stream(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        let pool = self.open.pool();
        if pool != self.pool
            && let Some(stream) = self.stream.take()
        {
            self.stream = Some(TcpStream::from_std(stream.into_std()?)?);
            self.pool = pool;
        }
        self.stream.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// The result of a write, or an error after the timeout.
    fn timed(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => {
                let taken = self.taken_bytes.map(|taken| taken + bytes);
                self.taken_bytes = taken.filter(|taken| *taken < TAKEN_BYTES_MIN);
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => self.wait(cx).map(Err),
        }
    }

    /// Waits for the timeout.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let patience = self.patience;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        if self.taken_bytes.is_none() {
            self.taken_bytes = Some(0);
            timer.as_mut().reset(Instant::now() + patience);
        }
        timer.as_mut().poll(cx).map(|()| io::ErrorKind::TimedOut.into())
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead_taken < self.ahead.len() {
            let rest = &self.ahead[self.ahead_taken..];
            let bytes = rest.len().min(buffer.remaining());
            buffer.put_slice(&rest[..bytes]);
            self.ahead_taken += bytes;
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = self.stream()?.poll_read(cx, buffer);
        if !self.open.count_read(buffer.filled().len() - before) {
            return Poll::Ready(Err(io::Error::other("the message is too long")));
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.stream()?.poll_write(cx, bytes);
        self.timed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let written = if bytes > TOGETHER_BYTES_MAX {
            self.stream()?.poll_write_vectored(cx, parts)
        } else {
            let mut together = std::mem::take(&mut self.together);
            together.clear();
            parts.iter().for_each(|part| together.extend_from_slice(part));
            let written = self.stream()?.poll_write(cx, &together);
            self.together = together;
            written
        };
        self.timed(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // At a flush, nothing is left to write.
        self.taken_bytes = None;
        self.stream()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(cx)
    }
}
