//! The body of a request as it arrives, and the handling of refused bodies.

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::Handle;

/// How long the rest of a refused body is read and discarded.
const DISCARD_MAX: Duration = Duration::from_secs(1);

/// Whether the body of the current request is not at its end. The next request on the connection
/// would begin after it, so that the answer closes the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unread(Arc<AtomicBool>);

impl Unread {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A body that is being received.
pub(crate) struct Arriving {
    /// `None` once it was released.
    body: Option<Incoming>,
    unread: Unread,
}

impl Arriving {
    pub(crate) fn new(body: Incoming, unread: &Unread) -> Arriving {
        unread.0.store(!body.is_end_stream(), Ordering::Relaxed);
        Arriving { body: Some(body), unread: unread.clone() }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(&mut *body).poll_frame(cx);
        let is_over = match &polled {
            Poll::Ready(Some(Ok(_))) => body.is_end_stream(),
            Poll::Ready(None) => true,
            Poll::Ready(Some(Err(_))) | Poll::Pending => false,
        };
        if is_over {
            self.unread.0.store(false, Ordering::Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint)
    }
}

impl Drop for Arriving {
    /// Closing at once would reset the connection of a client that is still sending, and lose the
    /// answer. So its data is discarded for a moment.
    fn drop(&mut self) {
        let mut now = Context::from_waker(Waker::noop());
        // Mostly the rest has arrived already, and the connection can stay open.
        while self.unread.is_set()
            && let Poll::Ready(Some(Ok(_))) = Pin::new(&mut *self).poll_frame(&mut now)
        {}
        let Some(mut body) = self.body.take().filter(|_| self.unread.is_set()) else { return };
        // Without a runtime, the connection has ended too.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            let discard = async { while let Some(Ok(_)) = body.frame().await {} };
            let _ = tokio::time::timeout(DISCARD_MAX, discard).await;
        });
    }
}
