//! Logs single requests: failures, slow requests, and requests that change shared state.

use crate::ApiError;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::Route;
use std::time::Instant;

/// A request in progress.
pub(crate) struct RequestLog {
    route: Route,
    began: Instant,
    /// The path of a request that changes shared state; it contains no secret.
    path: Option<String>,
}

impl RequestLog {
    pub(crate) fn begin(route: Route, request: &Request) -> RequestLog {
        let changes = changes_venue(route) || changes_queues(route);
        let path = changes.then(|| request.uri().path().to_owned());
        RequestLog { route, began: Instant::now(), path }
    }

    /// Logs the end of the request.
    pub(crate) fn end(self, gate: &Gate, status: StatusCode, error: Option<&ApiError>) {
        if let Some(error) = error {
            gate.refusals.count(error);
            failed(self.route, error);
        }
        let took = self.began.elapsed();
        if took >= gate.config.slow_request && !waits(self.route) {
            let (route, took_ms) = (self.route.name(), took.as_millis() as u64);
            tracing::info!(route, took_ms, status = status.as_u16(), "a request was slow");
        }
        let Some(path) = self.path.filter(|_| status.is_success()) else { return };
        let route = self.route.name();
        // Two call sites, so that members' lines cannot suppress operators' lines.
        match changes_venue(self.route) {
            true => tracing::info!(route, path, "an operator has changed the venue"),
            false => tracing::info!(route, path, "a caller has changed a topic or a group"),
        }
    }
}

/// Whether it is an operator's route that changes something.
fn changes_venue(route: Route) -> bool {
    const PREFIXES: [&str; 3] = ["/v1/admin/", "/v1/depot/tenants", "/v1/depot/volumes"];
    PREFIXES.iter().any(|prefix| route.path().starts_with(prefix)) && route.method() != "GET"
}

/// Whether it creates or deletes topics or groups, or drops or moves messages.
fn changes_queues(route: Route) -> bool {
    matches!(
        route,
        Route::QueueCreate
            | Route::QueueDelete
            | Route::QueueGroupCreate
            | Route::QueueGroupDelete
            | Route::QueuePurge
            | Route::QueueRedrive
    )
}

/// Whether the caller can make it wait.
fn waits(route: Route) -> bool {
    matches!(
        route,
        Route::QueueFetch
            | Route::DepotClaim
            | Route::DepotClaimAny
            | Route::DepotPut
            | Route::DepotCompleteWith
            | Route::DepotWatchScan
            | Route::DepotAdopt
    )
}

/// Logs a failed request. Callers can cause most refusals at will, so that those are logged as
/// sums.
fn failed(route: Route, error: &ApiError) {
    let (route, code, status) = (route.name(), error.code, error.status.as_u16());
    match error.status {
        StatusCode::INTERNAL_SERVER_ERROR | StatusCode::GATEWAY_TIMEOUT => {
            tracing::error!(route, code, status, "a request failed");
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            tracing::info!(route, code, status, "a request was not served");
        }
        _ => tracing::debug!(route, code, status, "a request was refused"),
    }
}
