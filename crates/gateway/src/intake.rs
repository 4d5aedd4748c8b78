//! Requests under way, and turning away what comes once the process is stopping.

use crate::ApiError;
use rialto_api::Route;
use rialto_lifecycle::{Kind, Operation, Overview};

/// Lets requests in, and counts them until they are answered.
pub(crate) struct Intake {
    /// The process that the gateway is a part of.
    pub(crate) process: Overview,
    /// By the numbers of the routes; none where somebody watches over the venue, who is answered
    /// until the very end, or waits for messages, which is nothing that a shutdown should wait for.
    routes: Box<[Option<Kind>]>,
    messages: Kind,
}

impl Intake {
    pub(crate) fn new(process: Overview) -> Intake {
        let watches =
            |route| matches!(route, Route::Health | Route::Ready | Route::Alive | Route::Metrics);
        let waits =
            |route| matches!(route, Route::QueueFetch | Route::QueueRead | Route::QueueStream);
        let kind = |&route: &Route| {
            let is_work = !watches(route) && !waits(route);
            is_work.then(|| process.operations().kind(route.name()))
        };
        Intake {
            routes: Route::ALL.iter().map(kind).collect(),
            messages: process.operations().kind("messages of streams"),
            process,
        }
    }

    /// Begins a request on a route; it is under way until what is returned is dropped.
    pub(crate) fn begin(&self, route: Route) -> Result<Option<Operation<'_>>, ApiError> {
        let kind = self.routes[route as usize].as_ref();
        kind.map(Kind::begin).transpose().map_err(|_| ApiError::stopped())
    }

    /// Begins what a message on a stream asks for.
    pub(crate) fn begin_message(&self) -> Result<Operation<'_>, ApiError> {
        self.messages.begin().map_err(|_| ApiError::stopped())
    }
}
