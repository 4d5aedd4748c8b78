//! A client's connection, as answers are written to it.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// What is no longer is copied together and written at once, which costs less than to have the
/// kernel look at several parts.
const TOGETHER_BYTES_MAX: usize = 4 << 10;

/// So much a client takes of its answers each time before its patience begins anew.
const TAKEN_BYTES_MIN: usize = 64 << 10;

/// A connection that is closed when its client does not take what it asked for.
pub(crate) struct Socket {
    stream: TcpStream,
    /// How long the client may take for [`TAKEN_BYTES_MIN`], or for what is left.
    patience: Duration,
    /// Made when the client first keeps an answer waiting.
    timer: Option<Pin<Box<Sleep>>>,
    /// What the client has taken since the timer was set; nothing while it keeps nothing waiting.
    taken_bytes: Option<usize>,
    /// Where parts are copied together.
    together: Vec<u8>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, patience: Duration) -> Socket {
        Socket { stream, patience, timer: None, taken_bytes: None, together: Vec::new() }
    }

    /// What a write came to, unless the client has kept it waiting for too long.
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

    /// Waits until the client's time is up.
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
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Socket { stream, together, .. } = &mut *self;
        let stream = Pin::new(stream);
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let written = if bytes > TOGETHER_BYTES_MAX {
            stream.poll_write_vectored(cx, parts)
        } else {
            together.clear();
            parts.iter().for_each(|part| together.extend_from_slice(part));
            stream.poll_write(cx, together)
        };
        self.timed(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Whoever flushes has nothing left to write.
        self.taken_bytes = None;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
