//! The behaviours that all buses of the venue share.

use crate::Durations;
use rialto_bus::behaviour::{Counters, IsolatePanics, Metrics, Tracing, Validation};
use rialto_bus::{Behaviours, Context, Handler, Pipeline, Request, Result, behaviours};
use rialto_recorder::{RecordRequests, Recorder};
use std::sync::Arc;

/// The behaviours that all buses of the venue share, in the order in which they run.
///
/// | Behaviour | Reason for its position |
/// |---|---|
/// | [`Tracing`] | the span covers all others |
/// | [`Metrics`], [`Counters`] | forbidden and invalid requests, and panics, are measured and counted too |
/// | [`IsolatePanics`] | the recorder ends its record when a panic passes it |
/// | [`RecordRequests`], if there is a recorder | forbidden and invalid requests are recorded too |
/// | `A`, the authorisation | a client learns nothing about a request that it may not make |
/// | [`Validation`] | last before the handler |
///
/// It is a [`Pipeline`] of exactly these behaviours. A call compiles to the same code as a call of
/// nested pairs.
pub struct VenueBehaviours<A> {
    pipeline: VenuePipeline<A>,
}

type VenuePipeline<A> = Behaviours![
    Tracing,
    Metrics<Arc<Durations>>,
    Counters,
    IsolatePanics,
    Option<RecordRequests>,
    A,
    Validation,
];

impl<A> VenueBehaviours<A> {
    /// The behaviours with this authorisation, without a recorder.
    #[must_use]
    pub fn new(authorisation: A) -> VenueBehaviours<A> {
        VenueBehaviours {
            pipeline: behaviours![
                Tracing::default(),
                Metrics::new(Arc::default()),
                Counters::default(),
                IsolatePanics,
                None,
                authorisation,
                Validation,
            ],
        }
    }

    /// The same behaviours with this recorder, or without one.
    #[must_use]
    pub fn recorded_by(mut self, recorder: Option<Arc<Recorder>>) -> VenueBehaviours<A> {
        let (_tracing, (_metrics, (_counters, (_panics, (record, _))))) = &mut self.pipeline;
        *record = recorder.map(RecordRequests);
        self
    }

    /// The number of requests by name and outcome, forbidden requests included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        let (_tracing, (_metrics, (counters, _))) = &self.pipeline;
        counters
    }

    /// The durations of requests, from the bus to the answer.
    #[must_use]
    pub fn durations(&self) -> &Arc<Durations> {
        let (_tracing, (metrics, _)) = &self.pipeline;
        metrics.sink()
    }
}

impl<R: Request, A: Send + Sync> Pipeline<R> for VenueBehaviours<A>
where
    VenuePipeline<A>: Pipeline<R>,
{
    #[inline]
    fn run<H: Handler<R>>(
        &self,
        request: R,
        cx: &Context<'_>,
        handler: &H,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        self.pipeline.run(request, cx, handler)
    }
}
