//! The request that a thread is serving, for its log lines.
//!
//! A request's origin is in a thread-local variable while its future is polled, where the logger
//! reads it. That costs less than a span per request.

use crate::auth::Caller;
use rialto_ident::Id;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;

thread_local! {
    static CURRENT: RefCell<Option<Origin>> = const { RefCell::new(None) };
}

/// The origin of a request.
#[derive(Clone)]
pub struct Origin {
    /// The trace (W3C Trace Context).
    pub trace_id: u128,
    /// The request's id, as in `x-request-id`; `None` if the clock was too far off to make one.
    pub request_id: Option<Id>,
    caller: Option<Caller>,
}

impl Origin {
    pub(crate) fn new(trace_id: u128, request_id: Option<Id>) -> Origin {
        Origin { trace_id, request_id, caller: None }
    }

    /// The id of the signing key, or `admin`; `None` if the caller is unknown or the request is
    /// about orders.
    #[must_use]
    pub fn caller(&self) -> Option<&str> {
        self.caller.as_ref().map(|caller| match caller.id() {
            "" => "admin",
            id => id,
        })
    }

    /// Calls `to` with the origin of the request that this thread is serving, if there is one.
    pub fn show(to: impl FnOnce(&Origin)) {
        // A thread that is ending has none.
        let _ = CURRENT.try_with(|current| current.borrow().as_ref().map(to));
    }
}

/// Notes the caller of the request that this thread is serving.
pub(crate) fn note_caller(caller: &Caller) {
    CURRENT.with(|current| {
        if let Some(origin) = current.borrow_mut().as_mut() {
            origin.caller = Some(caller.clone());
        }
    });
}

/// Wraps a future: while it is polled, the thread serves a request of this origin.
///
/// It takes the future where it is pinned: to move it would copy some kilobytes for each request.
pub(crate) async fn within<F: Future>(origin: Origin, mut answering: Pin<&mut F>) -> F::Output {
    let mut origin = Some(origin);
    poll_fn(|cx| {
        let _entered = Entered::swap(&mut origin);
        answering.as_mut().poll(cx)
    })
    .await
}

/// Swaps the two back on drop, also after a panic.
struct Entered<'a>(&'a mut Option<Origin>);

impl<'a> Entered<'a> {
    fn swap(origin: &'a mut Option<Origin>) -> Entered<'a> {
        CURRENT.with(|current| std::mem::swap(&mut *current.borrow_mut(), origin));
        Entered(origin)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        CURRENT.with(|current| std::mem::swap(&mut *current.borrow_mut(), self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn now() -> Option<u128> {
        let mut trace = None;
        Origin::show(|origin| trace = Some(origin.trace_id));
        trace
    }

    #[test]
    fn a_thread_answers_a_request_only_while_it_is_polled() {
        let mut cx = Context::from_waker(Waker::noop());
        let inner = async {
            assert_eq!(now(), Some(8));
            let mut polls = 0;
            poll_fn(|_| {
                polls += 1;
                assert_eq!(now(), Some(8));
                if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        };
        let outer = async {
            assert_eq!(now(), Some(7));
            within(Origin::new(8, None), pin!(inner)).await;
            now()
        };
        let outer = pin!(outer);
        let mut answering = pin!(within(Origin::new(7, None), outer));
        assert!(answering.as_mut().poll(&mut cx).is_pending());
        assert_eq!(now(), None);
        assert_eq!(answering.as_mut().poll(&mut cx), Poll::Ready(Some(7)));
        assert_eq!(now(), None);
    }
}
