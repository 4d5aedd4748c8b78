//! Authenticated requests with their bodies.

use crate::auth::{Caller, HEADER_DURABILITY, Standing};
use crate::connections::Open;
use crate::gate::Gate;
use crate::limits::{BodyMemory, NoRoom, Owner};
use crate::recorded::Notes;
use crate::{ApiError, json, origin};
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, StatusCode, header};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use rialto_api::Rows;
use rialto_bus::behaviour::Randomness;
use rialto_bus::{Context, TraceContext};
use rialto_desk::{Grant, Level};
use rialto_ident::Id;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// The header with the trace of a request: W3C Recommendation "Trace Context", section 3.2.
static HEADER_TRACE: HeaderName = HeaderName::from_static("traceparent");
pub(crate) static DURABILITY: HeaderName = HeaderName::from_static(HEADER_DURABILITY);

/// A connection keeps no larger map of headers for its next request.
const ANSWER_HEADERS_MAX: usize = 32;

/// Origin and ids of a request, added by the server.
#[derive(Clone)]
pub(crate) struct Arrival {
    /// The sender's address for limits: the /64 of an IPv6 address, and the client's behind a
    /// trusted proxy.
    pub(crate) peer: IpAddr,
    /// The trace of the request.
    pub(crate) trace: TraceContext,
    /// `None` if the clock was too far off to make an id.
    pub(crate) request_id: Option<Id>,
    /// The connection.
    pub(crate) connection: Arc<Open>,
}

impl Arrival {
    pub(crate) fn of(extensions: &Extensions) -> &Arrival {
        extensions.get::<Arrival>().expect("the server puts it on every request")
    }
}

/// The remote address of a request.
pub(crate) fn peer(head: &Parts) -> IpAddr {
    Arrival::of(&head.extensions).peer
}

/// The trace of a request: the one in its header, or a new one. A malformed header is ignored, as
/// the standard says.
pub(crate) fn trace(headers: &HeaderMap, own: &impl Randomness) -> TraceContext {
    let parent = headers.get(&HEADER_TRACE).and_then(|value| value.to_str().ok());
    parent.and_then(TraceContext::parse).unwrap_or_else(|| {
        // One of the two numbers is made non-zero.
        let trace_id = (u128::from(own.next().max(1)) << 64) | u128::from(own.next());
        TraceContext { trace_id, span_id: 0, flags: 1 }
    })
}

/// The context of a request with this grant on the bus.
pub(crate) fn context<'a>(head: &'a Parts, grant: &'a Grant) -> Context<'a> {
    let mut cx = Context::new().with_principal(grant);
    let arrival = Arrival::of(&head.extensions);
    cx.request_id = arrival.request_id.map_or(0, Id::get);
    cx.trace = arrival.trace;
    Notes::follow(&head.extensions, cx)
}

/// A request that needs no authentication.
pub(crate) struct Visit {
    pub(crate) head: Parts,
    /// The caller, if the request is signed.
    pub(crate) caller: Option<Caller>,
}

impl Visit {
    /// Admits a request if its caller has an allowance.
    pub(crate) fn admit(gate: &Gate, request: Request) -> Result<Visit, ApiError> {
        let (head, _) = request.into_parts();
        let arrival = Arrival::of(&head.extensions);
        let caller = gate.gatekeeper.check_public(&head, arrival.peer)?;
        if let Some(caller) = &caller {
            arrival.connection.signed_by(caller.id())?;
            arrival.connection.note_requests_left(caller.requests_left());
        }
        Ok(Visit { head, caller })
    }

    /// The context of the request on the bus.
    pub(crate) fn cx(&self) -> Context<'_> {
        context(&self.head, Grant::nobody())
    }

    pub(crate) fn query<'a, T: Deserialize<'a> + JsonSchema>(&'a self) -> Result<T, ApiError> {
        json::read_query(self.head.uri.query().unwrap_or_default())
    }

    /// The part of the path after `prefix`.
    pub(crate) fn name_after(&self, prefix: &str) -> Result<Cow<'_, str>, ApiError> {
        name_after(&self.head, prefix)
    }
}

/// A request of an authenticated caller with its body.
pub(crate) struct Call {
    pub(crate) caller: Caller,
    pub(crate) head: Parts,
    body: Bytes,
    /// An operator's reason for the request.
    reason: Option<String>,
    /// Holds the memory of the body until the request is answered.
    _held: Option<BodyMemory>,
}

impl Call {
    /// Reads and authenticates a request.
    pub(crate) async fn read(gate: &Gate, request: Request) -> Result<Call, ApiError> {
        Call::read_if(gate, request, gate.config.body_bytes_max, |_, _| Ok(())).await
    }

    /// The same for a route with bodies of up to `bytes_max`. `may` is called as soon as the caller
    /// is known: before the body is read, if the head suffices.
    pub(crate) async fn read_if(
        gate: &Gate,
        request: Request,
        bytes_max: usize,
        may: impl Fn(&Caller, &Parts) -> Result<(), ApiError>,
    ) -> Result<Call, ApiError> {
        let (head, body) = request.into_parts();
        let peer = peer(&head);
        Notes::step(&head.extensions, "authenticate");
        let standing = gate.gatekeeper.check_head(&head, !body.is_end_stream(), peer)?;
        if let Standing::Proved(caller, _) = &standing {
            proved(&head, caller)?;
            may(caller, &head)?;
        }
        Notes::step(&head.extensions, "read");
        let owner = gate.gatekeeper.owner(&standing, peer);
        let was_proved = matches!(standing, Standing::Proved(..));
        let (body, mut held, has_waited) = match read_body(gate, body, bytes_max, owner).await {
            // No caller was authenticated whom the body could be charged to.
            Err(error) if !was_proved => {
                gate.gatekeeper.charge_address(peer)?;
                return Err(error);
            }
            read => read?,
        };
        Notes::body(&head.extensions, body.len());
        let caller = gate.gatekeeper.check_body(&head, standing, &body, peer)?;
        // The key may have ended while the body was read.
        if has_waited && !gate.gatekeeper.is_still_valid(&caller) {
            return Err(ApiError::key_not_valid());
        }
        if !was_proved {
            proved(&head, &caller)?;
            may(&caller, &head)?;
            if let (Some(held), Owner::Key(share)) = (&mut held, gate.gatekeeper.owner_of(&caller))
            {
                held.pay_from(share).map_err(no_room)?;
            }
        }
        if !head.uri.path().starts_with("/v1/orders") {
            origin::note_caller(&caller);
        }
        Ok(Call { caller, head, body, reason: None, _held: held })
    }

    /// The same for a route without a body.
    pub(crate) async fn read_bare(gate: &Gate, request: Request) -> Result<Call, ApiError> {
        let call = Call::read(gate, request).await?;
        if call.body.is_empty() {
            return Ok(call);
        }
        let message = "This request has no body; its parameters are in the query.";
        Err(ApiError::new(StatusCode::BAD_REQUEST, "unexpected_body", message).of("body"))
    }

    /// The context of the request on the bus.
    pub(crate) fn cx(&self) -> Context<'_> {
        let mut cx = context(&self.head, self.caller.grant());
        cx.reason = self.reason.as_deref();
        cx
    }

    /// The same request with an operator's reason, which goes into the audit trail.
    pub(crate) fn because(self, reason: Option<String>) -> Call {
        Call { reason, ..self }
    }

    /// Waits for the result of a request, unless its caller's key ends meanwhile.
    pub(crate) async fn while_valid<T>(
        &self,
        gate: &Gate,
        waiting: impl Future<Output = rialto_bus::Result<T>>,
    ) -> Result<T, ApiError> {
        let waited = tokio::select! {
            biased;
            () = gate.gatekeeper.ended(&self.caller) => None,
            waited = waiting => Some(waited),
        };
        waited.map_or_else(|| Err(ApiError::key_not_valid()), |waited| Ok(waited?))
    }

    /// The context of the request on the queue's bus.
    pub(crate) fn queue_cx(&self) -> Context<'_> {
        self.cx().with_principal(self.caller.queue_principal())
    }

    /// The context of the request on the depot's bus.
    pub(crate) fn depot_cx(&self) -> Context<'_> {
        self.cx().with_principal(self.caller.depot_principal())
    }

    /// Whether the content type is this media type.
    pub(crate) fn is_of(&self, kind: &[u8]) -> bool {
        let named = self.head.headers.get(header::CONTENT_TYPE).map_or(&b""[..], |v| v.as_bytes());
        let named = named.split(|byte| *byte == b';').next().unwrap_or_default();
        named.trim_ascii().eq_ignore_ascii_case(kind)
    }

    /// The emptied map of the request's headers, to be used for the answer: the connection then has
    /// it for its next request, and allocates none.
    pub(crate) fn into_empty_headers(self) -> HeaderMap {
        let mut headers = self.head.headers;
        if headers.capacity() > ANSWER_HEADERS_MAX {
            return HeaderMap::new();
        }
        headers.clear();
        headers
    }

    /// The body.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// Whether the `Accept` header names this media type.
    pub(crate) fn accepts(&self, kind: &str) -> bool {
        let kinds = self.head.headers.get_all(header::ACCEPT).iter();
        let mut kinds = kinds.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        kinds.any(|named| {
            let named = named.split(|byte| *byte == b';').next().unwrap_or_default();
            named.trim_ascii().eq_ignore_ascii_case(kind.as_bytes())
        })
    }

    /// The body as a JSON array, or as JSON objects in lines, by its content type.
    pub(crate) fn json_rows<T, const MAX: usize>(&self) -> Result<Vec<T>, ApiError>
    where
        T: for<'de> Deserialize<'de> + JsonSchema,
    {
        if self.is_of(b"application/x-ndjson") {
            Notes::step(&self.head.extensions, "decode");
            return json::read_lines(&self.body, MAX);
        }
        if !self.is_of(b"application/json") {
            let message = "The body must be JSON, with content-type application/json or \
                           application/x-ndjson.";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let error = ApiError::new(status, "unsupported_media_type", message);
            return Err(error.of("content-type"));
        }
        Notes::step(&self.head.extensions, "decode");
        json::read_list(&self.body).map(|Rows(rows): Rows<T, MAX>| rows)
    }

    /// The body as JSON.
    pub(crate) fn json<'a, T: Deserialize<'a> + JsonSchema>(&'a self) -> Result<T, ApiError> {
        if !self.is_of(b"application/json") {
            let message = "The body must be JSON, with content-type application/json.";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let error = ApiError::new(status, "unsupported_media_type", message);
            return Err(error.of("content-type"));
        }
        Notes::step(&self.head.extensions, "decode");
        json::read(&self.body)
    }

    pub(crate) fn query<'a, T: Deserialize<'a> + JsonSchema>(&'a self) -> Result<T, ApiError> {
        json::read_query(self.head.uri.query().unwrap_or_default())
    }

    /// The level in the body or, by default, in the header.
    pub(crate) fn level(
        &self,
        gate: &Gate,
        in_body: Option<&str>,
    ) -> Result<Option<Level>, ApiError> {
        let asked = match in_body {
            Some(text) => Some(text),
            None => match self.head.headers.get(&DURABILITY) {
                Some(value) => Some(value.to_str().unwrap_or("?")),
                None => None,
            },
        };
        asked.map(|text| gate.level(text)).transpose()
    }

    /// The part of the path after `prefix`.
    pub(crate) fn name_after(&self, prefix: &str) -> Result<Cow<'_, str>, ApiError> {
        name_after(&self.head, prefix)
    }
}

/// After authentication: counts the connection for the key, and notes the key's remaining allowance
/// for the answer.
pub(crate) fn proved(head: &Parts, caller: &Caller) -> Result<(), ApiError> {
    let connection = &Arrival::of(&head.extensions).connection;
    connection.signed_by(caller.id())?;
    connection.note_requests_left(caller.requests_left());
    Ok(())
}

/// The part of the path after `prefix`, percent-decoded.
fn name_after<'a>(head: &'a Parts, prefix: &str) -> Result<Cow<'a, str>, ApiError> {
    unescape(head.uri.path().strip_prefix(prefix).unwrap_or_default())
}

/// Decodes percent-encoding.
pub(crate) fn unescape(text: &str) -> Result<Cow<'_, str>, ApiError> {
    percent_encoding::percent_decode_str(text)
        .decode_utf8()
        .map_err(|_| ApiError::invalid("path", "The path is not valid percent-encoded UTF-8."))
}

/// Reads a body within its limits of length, time and memory; also returns whether it had to wait.
async fn read_body(
    gate: &Gate,
    body: Body,
    max: usize,
    owner: Owner<'_>,
) -> Result<(Bytes, Option<BodyMemory>, bool), ApiError> {
    if body.size_hint().lower() > max as u64 {
        return Err(too_large(max));
    }
    if body.is_end_stream() {
        return Ok((Bytes::new(), None, false));
    }
    // The announced length, so that a body without room is refused before it is sent.
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(max).min(max);
    let mut held = gate.bodies.take(owner, announced).map_err(no_room)?;
    let mut has_waited = false;
    let read = {
        let mut reading = pin!(collect(body, max, &mut held));
        // Mostly the body has arrived, and no timer is needed.
        match poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await {
            Poll::Ready(read) => read,
            Poll::Pending => {
                has_waited = true;
                let reading = tokio::time::timeout(gate.config.body_timeout, reading);
                reading.await.unwrap_or_else(|_| {
                    let message = "The body did not arrive in time.";
                    Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message))
                })
            }
        }
    };
    Ok((read?, Some(held), has_waited))
}

async fn collect(mut body: Body, max: usize, held: &mut BodyMemory) -> Result<Bytes, ApiError> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(max).min(max);
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            let message = "The body is incomplete or malformed.";
            ApiError::new(StatusCode::BAD_REQUEST, "malformed_body", message)
        })?;
        let Ok(data) = frame.into_data() else { continue };
        let bytes = first.len() + all.len() + data.len();
        if bytes > max {
            return Err(too_large(max));
        }
        held.grow_to(bytes).map_err(no_room)?;
        // A single frame, the usual case, is not copied.
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            if all.is_empty() {
                // Reserved at once, so that it does not grow with every frame.
                all.reserve_exact(announced);
                all.extend_from_slice(&std::mem::take(&mut first));
            }
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { Bytes::from(all) })
}

fn too_large(max: usize) -> ApiError {
    let message = format!("The body is longer than {max} bytes.");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message).of("body")
}

/// The error of a body without memory.
fn no_room(reason: NoRoom) -> ApiError {
    match reason {
        NoRoom::OfAll => ApiError::busy(),
        NoRoom::OfOwner => {
            let message = "The requests under way of this key, or of this address while nobody is \
                           proved, hold as many bytes of bodies as they may; wait for their answers.";
            let status = StatusCode::TOO_MANY_REQUESTS;
            ApiError { retry: true, ..ApiError::new(status, "too_many_bodies", message) }
        }
    }
}
