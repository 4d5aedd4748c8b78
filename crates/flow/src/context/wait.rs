//! Waiting for events and times.

use super::FlowContext;
use crate::Timestamp;
use crate::error::FlowError;
use crate::history::{Entry, EntryPosition, Kind};
use crate::observe::Observed;
use crate::run::Replayed;
use crate::run::replay::Recorded;
use serde::de::DeserializeOwned;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// How long a wait lasts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    Never,
    Until(Timestamp),
    Within(Duration),
}

type WaitFuture<'c, T> = Pin<Box<dyn Future<Output = Result<T, FlowError>> + Send + 'c>>;

/// A wait for an event, without a limit. Awaiting it returns the event's payload.
#[must_use = "a wait does nothing until it is awaited"]
pub struct Wait<'c, 'a, T> {
    cx: &'c FlowContext<'a>,
    name: &'static str,
    position: EntryPosition,
    value: PhantomData<fn() -> T>,
}

/// A wait for an event with a limit. Awaiting it returns `None` if the time comes first.
#[must_use = "a wait does nothing until it is awaited"]
pub struct TimedWait<'c, 'a, T> {
    wait: Wait<'c, 'a, T>,
    limit: Limit,
}

impl<'c, 'a, T: DeserializeOwned + Send + 'static> Wait<'c, 'a, T> {
    pub(super) fn new(cx: &'c FlowContext<'a>, name: &'static str) -> Self {
        Self { cx, name, position: cx.position(), value: PhantomData }
    }

    /// Gives the wait an end.
    pub fn until(self, time: Timestamp) -> TimedWait<'c, 'a, T> {
        TimedWait { wait: self, limit: Limit::Until(time) }
    }

    /// Ends the wait after this duration, counted from when it first begins.
    pub fn within(self, duration: Duration) -> TimedWait<'c, 'a, T> {
        TimedWait { wait: self, limit: Limit::Within(duration) }
    }
}

impl<'c, T: DeserializeOwned + Send + 'static> IntoFuture for Wait<'c, '_, T> {
    type Output = Result<T, FlowError>;
    type IntoFuture = WaitFuture<'c, T>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { cx, name, position, .. } = self;
        Box::pin(async move {
            match wait(cx, name, position, Limit::Never, true).await? {
                Some(payload) => decode(name, &payload),
                // A wait without a limit has no time to lapse at.
                None => std::future::pending().await,
            }
        })
    }
}

impl<'c, T: DeserializeOwned + Send + 'static> IntoFuture for TimedWait<'c, '_, T> {
    type Output = Result<Option<T>, FlowError>;
    type IntoFuture = WaitFuture<'c, Option<T>>;

    fn into_future(self) -> Self::IntoFuture {
        let Wait { cx, name, position, .. } = self.wait;
        let limit = self.limit;
        Box::pin(async move {
            let payload = wait(cx, name, position, limit, true).await?;
            payload.map(|payload| decode(name, &payload)).transpose()
        })
    }
}

fn decode<T: DeserializeOwned>(name: &'static str, payload: &[u8]) -> Result<T, FlowError> {
    postcard::from_bytes(payload)
        .map_err(|error| FlowError::Codec { name: name.to_owned(), reason: error.to_string() })
}

pub(super) async fn sleep(
    cx: &FlowContext<'_>,
    name: &'static str,
    limit: Limit,
) -> Result<(), FlowError> {
    let position = cx.position();
    wait(cx, name, position, limit, false).await.map(|_| ())
}

/// Waits; returns the payload of the event, or `None` when the time has come.
async fn wait(
    cx: &FlowContext<'_>,
    name: &'static str,
    position: EntryPosition,
    limit: Limit,
    for_event: bool,
) -> Result<Option<Vec<u8>>, FlowError> {
    let run = &*cx.run;
    let recorded_until = match cx.meet(position, Kind::Wait, name) {
        Replayed::Recorded(Recorded::Received { event, .. }, _) => {
            let arrived = run.state().events.get(event as usize).cloned();
            return Ok(arrived.map(|arrived| arrived.payload));
        }
        Replayed::Recorded(Recorded::Lapsed { .. }, _) => return Ok(None),
        Replayed::Recorded(Recorded::Waiting { until }, _) => Some(until),
        // Nothing else is recorded of a wait.
        Replayed::Recorded(..) | Replayed::Changed => std::future::pending().await,
        Replayed::Refused(error) => return Err(error),
        Replayed::Fresh => {
            if run.state().history_bytes >= run.services.history_bytes_max {
                return Err(FlowError::HistoryFull { name: name.to_owned() });
            }
            None
        }
    };
    if recorded_until.is_none() {
        cx.observe(Observed::StepBegan { kind: Kind::Wait, name, attempt: 1 });
    }
    let mut begun = recorded_until;
    let mut asked = false;
    let ptr = cx.ptr();
    let (mark, payload) = poll_fn(|context| {
        let state = &mut *run.state();
        let at = state.polled_at;
        let event = state.events.iter().position(|it| for_event && !it.taken && it.name == name);
        if let Some(event) = event {
            state.events[event].taken = true;
            let payload = std::mem::take(&mut state.events[event].payload);
            let entry = Entry::Received { position, name, at, event: event as u32 };
            return Poll::Ready(Ok((state.record(&entry), Some(payload))));
        }
        if state.cancelled {
            return Poll::Ready(Err(FlowError::Cancelled));
        }
        let until = *begun.get_or_insert_with(|| {
            let until = match limit {
                Limit::Never => Timestamp::MAX,
                Limit::Until(time) => time,
                Limit::Within(duration) => at.after(duration),
            };
            // A time that was counted from now must be the same after a restart.
            if until != Timestamp::MAX && until > at {
                state.record(&Entry::Waiting { position, name, at, until });
            }
            until
        });
        if at >= until {
            return Poll::Ready(Ok((state.record(&Entry::Lapsed { position, name, at }), None)));
        }
        if !asked {
            state.want(until);
            asked = true;
        }
        state.sleep(ptr, context.waker());
        Poll::Pending
    })
    .await?;
    if let Some(until) = begun.filter(|_| asked) {
        run.state().unwant(until);
    }
    let output = payload.as_deref().unwrap_or_default();
    cx.observe(Observed::StepFinished { kind: Kind::Wait, name, output });
    cx.confirm(mark).await;
    Ok(payload)
}
