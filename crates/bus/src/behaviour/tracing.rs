//! Each request is a span, in the trace that it belongs to.

use super::randomness::{Randomness, SplitMix};
use crate::{Behaviour, BehaviourNow, Context, Handler, HandlerNow, Request, Result, TraceContext};
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// Makes a span of the `tracing` crate of each request, with the ids of the W3C's trace context,
/// and passes the id of the span on.
///
/// A request that belongs to no trace begins one of its own, marked as recorded. The span is called
/// `request` and has the fields `name`, `trace_id`, `span_id`, `parent_span_id` if there is one,
/// `request_id` if it has one, and `error` with the code if it fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracing<G = SplitMix>(pub G);

impl<G: Randomness> Tracing<G> {
    /// The trace context of the inner handler.
    fn child_of(&self, parent: TraceContext) -> TraceContext {
        let (trace_id, flags) = match parent.trace_id {
            // It is enough if one of the two numbers is not zero.
            0 => ((u128::from(self.new_id()) << 64) | u128::from(self.0.next()), 1),
            known => (known, parent.flags),
        };
        TraceContext { trace_id, span_id: self.new_id(), flags }
    }

    /// An id: any number but zero, which means that there is none.
    fn new_id(&self) -> u64 {
        self.0.next().max(1)
    }
}

fn span_of<R: Request>(cx: &Context<'_>, parent: TraceContext) -> Span {
    let span = tracing::info_span!(
        "request",
        name = R::NAME,
        trace_id = format_args!("{:032x}", cx.trace.trace_id),
        span_id = format_args!("{:016x}", cx.trace.span_id),
        parent_span_id = Empty,
        request_id = Empty,
        error = Empty,
    );
    if parent.trace_id != 0 && parent.span_id != 0 {
        span.record("parent_span_id", format_args!("{:016x}", parent.span_id));
    }
    if cx.request_id != 0 {
        span.record("request_id", cx.request_id);
    }
    span
}

fn note_failure<T>(span: &Span, answer: &Result<T>) {
    if let Err(error) = answer {
        span.record("error", error.code());
    }
}

impl<R: Request, G: Randomness> Behaviour<R> for Tracing<G> {
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` would keep a second copy of the request"
    )]
    fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        async move {
            let mut own = *cx;
            own.trace = self.child_of(cx.trace);
            let span = span_of::<R>(&own, cx.trace);
            let answer = next.handle(request, &own).instrument(span.clone()).await;
            note_failure(&span, &answer);
            answer
        }
    }
}

impl<R: Request, G: Randomness> BehaviourNow<R> for Tracing<G> {
    fn call_now<N: HandlerNow<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        let mut own = *cx;
        own.trace = self.child_of(cx.trace);
        let span = span_of::<R>(&own, cx.trace);
        let answer = span.in_scope(|| next.handle_now(request, &own));
        note_failure(&span, &answer);
        answer
    }
}
