//! Records the requests of a bus.

use crate::capture::Capture;
use crate::clock::TickClock;
use crate::record::{RecordId, Subject};
use crate::recording::Recording;
use crate::records::Recorder;
use rialto_bus::{Behaviour, BehaviourNow, Context, Handler, HandlerNow, Request, Result};
use rialto_clock::Clock;
use std::sync::Arc;

/// Records each request by its name, with the steps and notes of `cx.step` and `cx.note`. A request
/// that a handler sends with its own context is recorded as its child.
///
/// Put it outside of behaviours that may refuse a request, and inside of ones that isolate panics.
#[derive(Debug)]
pub struct RecordRequests<C = TickClock>(pub Arc<Recorder<C>>);

/// Records each request as [`RecordRequests`] does, and with it the fields that the request
/// [captures](Capture).
#[derive(Debug)]
pub struct RecordVariables<C = TickClock>(pub Arc<Recorder<C>>);

impl<C> Clone for RecordRequests<C> {
    fn clone(&self) -> RecordRequests<C> {
        RecordRequests(Arc::clone(&self.0))
    }
}

impl<C> Clone for RecordVariables<C> {
    fn clone(&self) -> RecordVariables<C> {
        RecordVariables(Arc::clone(&self.0))
    }
}

#[inline]
fn begin<'a, R: Request, C: Clock>(
    recorder: &'a Recorder<C>,
    cx: &Context<'_>,
) -> Recording<'a, C> {
    let subject = Subject {
        flow: None,
        request_id: cx.request_id,
        trace_id: cx.trace.trace_id,
        parent: RecordId(cx.trail_id()),
    };
    recorder.begin(R::NAME, subject)
}

#[inline]
fn end<T, C: Clock>(recording: Recording<'_, C>, answer: &Result<T>) {
    match answer {
        Ok(_) => recording.succeed(),
        Err(error) => recording.fail(error.code(), error.message()),
    }
}

/// Writes both forms of a behaviour that records.
macro_rules! records {
    ($behaviour:ident where $request:ident: $bound:path, $tell:expr) => {
        impl<$request: $bound + Request, C: Clock> Behaviour<$request> for $behaviour<C> {
            fn call<N: Handler<$request> + Copy>(
                &self,
                request: $request,
                cx: &Context<'_>,
                next: N,
            ) -> impl Future<Output = Result<$request::Response>> + Send {
                async move {
                    let recording = begin::<$request, C>(&self.0, cx);
                    $tell(&recording, &request);
                    let answer = next.handle(request, &cx.with_trail(&recording)).await;
                    end(recording, &answer);
                    answer
                }
            }
        }

        impl<$request: $bound + Request, C: Clock> BehaviourNow<$request> for $behaviour<C> {
            #[inline]
            fn call_now<N: HandlerNow<$request> + Copy>(
                &self,
                request: $request,
                cx: &Context<'_>,
                next: N,
            ) -> Result<$request::Response> {
                let recording = begin::<$request, C>(&self.0, cx);
                $tell(&recording, &request);
                let answer = next.handle_now(request, &cx.with_trail(&recording));
                end(recording, &answer);
                answer
            }
        }
    };
}

records!(RecordRequests where R: Request, |_: &Recording<'_, C>, _: &R| ());
records!(RecordVariables where R: Capture, |recording: &Recording<'_, C>, request: &R| {
    recording.capture(request)
});
