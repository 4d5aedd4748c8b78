//! Records HTTP requests.

use crate::ApiError;
use crate::call::Arrival;
use axum::extract::Request;
use axum::http::{Extensions, Method};
use axum::response::Response;
use rialto_api::Route;
use rialto_bus::Context;
use rialto_ident::Id;
use rialto_recorder::{Recorder, Recording, Subject};
use std::sync::Arc;

/// Records requests that may change something, if the venue has a recorder.
///
/// It records the route, the length of the body and the status of an HTTP request, and no data of
/// the client: no headers, keys or signatures.
#[derive(Debug, Default)]
pub(crate) struct Recorded(Option<With>);

#[derive(Debug)]
struct With {
    recorder: Arc<Recorder>,
    /// For read-only requests, so that their requests on the bus are not recorded either.
    left_out: Notes,
}

/// The record of one request, shared by its parts.
#[derive(Clone, Debug)]
pub(crate) struct Notes(Arc<Recording<'static>>);

impl Recorded {
    pub(crate) fn by(recorder: Option<Arc<Recorder>>) -> Recorded {
        Recorded(recorder.map(|recorder| {
            let left_out = Notes(Arc::new(recorder.leave_out()));
            With { recorder, left_out }
        }))
    }

    /// Begins a record of a request.
    pub(crate) fn begin(&self, route: Route, request: &mut Request) -> Option<Notes> {
        let With { recorder, left_out } = self.0.as_ref()?;
        let notes = match *request.method() {
            Method::GET | Method::HEAD => left_out.clone(),
            _ => {
                let arrival = Arrival::of(request.extensions());
                let request_id = arrival.request_id.map_or(0, Id::get);
                let trace_id = arrival.trace.trace_id;
                let subject = Subject { request_id, trace_id, ..Subject::default() };
                Notes(Arc::new(recorder.begin_shared(route.name(), subject)))
            }
        };
        request.extensions_mut().insert(notes.clone());
        Some(notes)
    }
}

impl Notes {
    /// The record of a request, if there is one.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Notes> {
        extensions.get()
    }

    /// Records a step of the request.
    pub(crate) fn step(extensions: &Extensions, name: &'static str) {
        if let Some(Notes(recording)) = Notes::of(extensions) {
            recording.step(name);
        }
    }

    /// Records the length of the body.
    pub(crate) fn body(extensions: &Extensions, bytes: usize) {
        if let Some(Notes(recording)) = Notes::of(extensions) {
            recording.fields(|fields| fields.unsigned("body_bytes", bytes as u64));
        }
    }

    /// The context with the record.
    pub(crate) fn follow<'a>(extensions: &'a Extensions, cx: Context<'a>) -> Context<'a> {
        match Notes::of(extensions) {
            Some(Notes(recording)) => cx.with_trail(&**recording),
            None => cx,
        }
    }

    /// Ends the record with the result.
    pub(crate) fn end(self, handled: &Result<Response, ApiError>) {
        let Notes(recording) = self;
        let status = match handled {
            Ok(response) => response.status(),
            Err(error) => error.status,
        };
        recording.fields(|fields| fields.unsigned("status", u64::from(status.as_u16())));
        // All other holders have dropped it.
        let Some(recording) = Arc::into_inner(recording) else { return };
        match handled {
            Ok(_) => recording.succeed(),
            Err(error) => recording.fail(error.code, &error.message),
        }
    }
}
