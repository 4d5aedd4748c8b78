//! Concurrent branches.

use crate::error::FlowError;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

pub(super) async fn both<A, B>(
    first: impl Future<Output = Result<A, FlowError>>,
    second: impl Future<Output = Result<B, FlowError>>,
) -> Result<(A, B), FlowError> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut one, mut two) = (None, None);
    poll_fn(|cx| {
        if one.is_none()
            && let Poll::Ready(result) = first.as_mut().poll(cx)
        {
            one = Some(result);
        }
        if two.is_none()
            && let Poll::Ready(result) = second.as_mut().poll(cx)
        {
            two = Some(result);
        }
        if one.is_some() && two.is_some() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    match (one, two) {
        (Some(one), Some(two)) => Ok((one?, two?)),
        // The loop above ends with both.
        _ => std::future::pending().await,
    }
}

/// A part, until it has its result.
enum Part<F, T> {
    Going(Pin<Box<F>>),
    Done(Option<Result<T, FlowError>>),
}

pub(super) async fn all<T, F>(parts: Vec<F>) -> Result<Vec<T>, FlowError>
where
    F: Future<Output = Result<T, FlowError>>,
{
    let mut parts: Vec<Part<F, T>> =
        parts.into_iter().map(|part| Part::Going(Box::pin(part))).collect();
    poll_fn(|cx| {
        let mut going = false;
        for part in &mut parts {
            if let Part::Going(future) = part {
                match future.as_mut().poll(cx) {
                    Poll::Ready(result) => *part = Part::Done(Some(result)),
                    Poll::Pending => going = true,
                }
            }
        }
        if going { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    let results = parts.into_iter().filter_map(|part| match part {
        Part::Done(result) => result,
        Part::Going(_) => None,
    });
    results.collect()
}
