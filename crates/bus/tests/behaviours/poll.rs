//! Futures polled one step at a time, and only when they were woken: a lost wake-up shows.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// A future and whether it wants to be polled.
pub(crate) struct Stepped<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + 'a>>,
    woken: Arc<Flag>,
}

impl<'a, T> Stepped<'a, T> {
    pub(crate) fn new(future: impl Future<Output = T> + 'a) -> Stepped<'a, T> {
        Stepped { future: Box::pin(future), woken: Arc::new(Flag(AtomicBool::new(true))) }
    }

    /// Whether it was woken since it was polled last.
    pub(crate) fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::Acquire)
    }

    /// Polls it if it was woken, and returns its output.
    pub(crate) fn step(&mut self) -> Option<T> {
        if !self.woken.0.swap(false, Ordering::AcqRel) {
            return None;
        }
        let waker = Waker::from(self.woken.clone());
        match self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }
}

/// The output of a future that does not wait.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    Stepped::new(future).step().expect("the future has nothing to wait for")
}
