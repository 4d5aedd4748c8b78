//! Concurrent requests with ordered answers.

use futures_util::future::{Either, Ready, ready};
use futures_util::stream::{self, FuturesOrdered, Stream, StreamExt};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Serves the requests of a stream, at most `concurrent` at a time.
///
/// Most handlers answer on the first poll. Every future is therefore polled once in a reused slot;
/// only one that has to wait is allocated.
pub(crate) fn in_order<R, Fut: Future>(
    requests: impl Stream<Item = R>,
    serve: impl Fn(R) -> Fut,
    concurrent: usize,
) -> impl Stream<Item = Fut::Output> {
    let mut requests = Box::pin(requests.fuse());
    let mut waiting = FuturesOrdered::<Either<Slot<Fut>, Ready<Fut::Output>>>::new();
    let mut spare = None;
    stream::poll_fn(move |cx| {
        while waiting.len() < concurrent {
            let Poll::Ready(Some(request)) = requests.as_mut().poll_next(cx) else { break };
            let mut slot = spare.take().unwrap_or_else(Slot::empty);
            slot.0.set(Some(serve(request)));
            match Pin::new(&mut slot).poll(cx) {
                Poll::Ready(answer) => {
                    spare = Some(slot);
                    if waiting.is_empty() {
                        return Poll::Ready(Some(answer));
                    }
                    waiting.push_back(Either::Right(ready(answer)));
                }
                // It is polled again below, to register the waker.
                Poll::Pending => waiting.push_back(Either::Left(slot)),
            }
        }
        match waiting.poll_next_unpin(cx) {
            Poll::Ready(None) if !requests.is_done() => Poll::Pending,
            answer => answer,
        }
    })
}

/// A slot for a pinned future.
struct Slot<Fut>(Pin<Box<Option<Fut>>>);

impl<Fut> Slot<Fut> {
    fn empty() -> Slot<Fut> {
        Slot(Box::pin(None))
    }
}

impl<Fut: Future> Future for Slot<Fut> {
    type Output = Fut::Output;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Fut::Output> {
        let Some(future) = self.0.as_mut().as_pin_mut() else { return Poll::Pending };
        let answer = future.poll(cx);
        if answer.is_ready() {
            self.0.set(None);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::rc::Rc;

    /// Answers with its request at the poll after `polls` others.
    fn after(polls: u32, request: u32, in_flight: Rc<Cell<u32>>) -> impl Future<Output = u32> {
        in_flight.set(in_flight.get() + 1);
        let mut left = polls;
        poll_fn(move |cx| {
            if left == 0 {
                in_flight.set(in_flight.get() - 1);
                return Poll::Ready(request);
            }
            left -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }

    #[tokio::test]
    async fn answers_come_in_the_order_of_the_requests_however_long_each_waits() {
        let in_flight = Rc::new(Cell::new(0));
        let most = Rc::new(Cell::new(0));
        let waits = [0, 7, 1, 3, 9, 4, 0, 1, 5, 0, 2];
        let serve = |request: u32| {
            let answer = after(waits[request as usize % waits.len()], request, in_flight.clone());
            most.set(most.get().max(in_flight.get()));
            answer
        };
        let answers: Vec<u32> = in_order(stream::iter(0..100), serve, 4).collect().await;
        assert_eq!(answers, (0..100).collect::<Vec<_>>());
        assert_eq!((most.get(), in_flight.get()), (4, 0));
    }

    #[tokio::test]
    async fn a_stream_that_is_slow_to_ask_is_waited_for() {
        let mut turn = 0;
        let requests = stream::poll_fn(move |cx| {
            turn += 1;
            cx.waker().wake_by_ref();
            match turn {
                1..20 if turn % 3 == 0 => Poll::Ready(Some(turn)),
                1..20 => Poll::Pending,
                _ => Poll::Ready(None),
            }
        });
        let in_flight = Rc::new(Cell::new(0));
        let serve = |request: u32| after(request % 2, request, in_flight.clone());
        let answers: Vec<u32> = in_order(requests, serve, 2).collect().await;
        assert_eq!(answers, [3, 6, 9, 12, 15, 18]);
    }
}
