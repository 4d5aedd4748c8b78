//! Counts requests by route and status.

use axum::http::StatusCode;
use rialto_api::Route;
use std::sync::atomic::{AtomicU64, Ordering};

/// The statuses of answers; any other counts as the last.
const STATUSES: [u16; 22] = [
    101, 200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 413, 415, 416, 422, 429,
    500, 503, 0,
];

/// The gateway's counts of requests.
pub(crate) struct Traffic {
    requests: Box<[[AtomicU64; STATUSES.len()]]>,
}

impl Traffic {
    pub(crate) fn new() -> Traffic {
        let row = || std::array::from_fn(|_| AtomicU64::new(0));
        Traffic { requests: Route::ALL.iter().map(|_| row()).collect() }
    }

    /// Counts an answered request.
    pub(crate) fn count(&self, route: Route, status: StatusCode) {
        let known = STATUSES.iter().position(|known| *known == status.as_u16());
        let column = known.unwrap_or(STATUSES.len() - 1);
        self.requests[route as usize][column].fetch_add(1, Ordering::Relaxed);
    }

    /// The number of answered requests by route and status, without zeros. Status 0 is "any other".
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&'static str, u16, u64)> {
        Route::ALL.iter().flat_map(move |route| {
            let row = self.requests[*route as usize].iter().zip(STATUSES);
            row.map(move |(count, status)| (route.name(), status, count.load(Ordering::Relaxed)))
                .filter(|(_, _, count)| *count > 0)
        })
    }
}
