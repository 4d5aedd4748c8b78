//! Which request a thread is answering, for the lines that it logs meanwhile.
//!
//! A request notes once where it comes from. While its future is polled, that stands in a variable of
//! the thread, and whoever writes a line of the log reads it there: no span is made of a request.

use crate::auth::Caller;
use rialto_ident::Id;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;

thread_local! {
    static CURRENT: RefCell<Option<Origin>> = const { RefCell::new(None) };
}

/// Where a request comes from.
#[derive(Clone)]
pub struct Origin {
    /// The trace that it belongs to (W3C Trace Context).
    pub trace_id: u128,
    /// Its own id, as `x-request-id` tells it; none if the clock was too far off for one.
    pub request_id: Option<Id>,
    caller: Option<Caller>,
}

impl Origin {
    pub(crate) fn new(trace_id: u128, request_id: Option<Id>) -> Origin {
        Origin { trace_id, request_id, caller: None }
    }

    /// The id of the key that signed it, or `admin`, if it is known who sent it and the request is
    /// none about orders, whose lines name nobody.
    #[must_use]
    pub fn caller(&self) -> Option<&str> {
        self.caller.as_ref().map(|caller| match caller.id() {
            "" => "admin",
            id => id,
        })
    }

    /// Shows the request that this thread is answering, if it is answering one.
    pub fn show(to: impl FnOnce(&Origin)) {
        // A thread that ends has none.
        let _ = CURRENT.try_with(|current| current.borrow().as_ref().map(to));
    }
}

/// It is known who sends the request that this thread is answering.
pub(crate) fn note_caller(caller: &Caller) {
    CURRENT.with(|current| {
        if let Some(origin) = current.borrow_mut().as_mut() {
            origin.caller = Some(caller.clone());
        }
    });
}

/// The same future; while it is polled, the thread answers a request that comes from there.
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

/// Changes the two back when it is dropped, also by a panic.
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
