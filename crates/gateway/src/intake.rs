//! Counts requests, and refuses new ones when the process is stopping.

use crate::ApiError;
use rialto_api::Route;
use rialto_lifecycle::{Kind, Operation, Overview};

/// Admits requests, and counts them until they are answered.
pub(crate) struct Intake {
    /// The process of the gateway.
    pub(crate) process: Overview,
    /// By route number; `None` for probes and operators, which are served until the end, and for
    /// long polls, which must not delay a shutdown.
    routes: Box<[Option<Kind>]>,
    messages: Kind,
}

impl Intake {
    pub(crate) fn new(process: Overview) -> Intake {
        let watches =
            |route| matches!(route, Route::Health | Route::Ready | Route::Alive | Route::Metrics);
        let waits = |route| {
            use Route::{DepotClaim, DepotClaimAny, QueueFetch, QueueRead, QueueStream};
            matches!(route, QueueFetch | QueueRead | QueueStream | DepotClaim | DepotClaimAny)
        };
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

    /// Begins a request on a route; it counts until the returned value is dropped.
    pub(crate) fn begin(&self, route: Route) -> Result<Option<Operation<'_>>, ApiError> {
        let kind = self.routes[route as usize].as_ref();
        kind.map(Kind::begin).transpose().map_err(|_| ApiError::stopped())
    }

    /// Begins a request in a stream's message.
    pub(crate) fn begin_message(&self) -> Result<Operation<'_>, ApiError> {
        self.messages.begin().map_err(|_| ApiError::stopped())
    }
}
