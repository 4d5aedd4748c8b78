//! Uploads: requests whose bodies are passed on piece by piece, and never held as a whole.

use crate::ApiError;
use crate::auth::{Caller, LinkTarget, Standing};
use crate::call::{self, Arrival, DURABILITY, context};
use crate::gate::Gate;
use crate::origin;
use crate::recorded::Notes;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use rialto_api::sign::{HEADER_BODY_SHA256, from_hex};
use rialto_bus::Context;
use rialto_depot_desk::{ContentSender, UploadPace};
use rialto_desk::Level;
use std::pin::pin;
use std::time::Instant;

/// An authenticated request whose body has not been read.
pub(crate) struct Incoming {
    pub(crate) caller: Caller,
    pub(crate) head: Parts,
    body: Body,
    /// The SHA-256 of the body, if the head declares it. A signed head does.
    pub(crate) sha256: Option<[u8; 32]>,
}

impl Incoming {
    /// Authenticates a request by its head.
    pub(crate) fn admit(gate: &Gate, request: Request) -> Result<Incoming, ApiError> {
        let (head, body) = request.into_parts();
        let peer = Arrival::of(&head.extensions).peer;
        Notes::step(&head.extensions, "authenticate");
        let standing = gate.gatekeeper.check_head(&head, !body.is_end_stream(), peer)?;
        let Standing::Proved(caller, signed) = standing else {
            gate.gatekeeper.charge_address(peer)?;
            let message = format!(
                "A file is stored with a signature of scheme 2, so that its sender is known before \
                 its content arrives: {HEADER_BODY_SHA256} has the SHA-256 of the content."
            );
            return Err(ApiError::new(StatusCode::UNAUTHORIZED, "credentials_invalid", message));
        };
        let sha256 = match signed {
            Some(signed) => Some(signed),
            None => declared_sha256(&head)?,
        };
        call::proved(&head, &caller)?;
        origin::note_caller(&caller);
        Ok(Incoming { caller, head, body, sha256 })
    }

    /// Admits a request with a link instead of a signature.
    pub(crate) fn admit_linked(
        gate: &Gate,
        request: Request,
        link: &str,
        target: LinkTarget<'_>,
    ) -> Result<Incoming, ApiError> {
        let (head, body) = request.into_parts();
        let peer = Arrival::of(&head.extensions).peer;
        let caller = gate.gatekeeper.check_link(link, target, peer)?;
        let sha256 = declared_sha256(&head)?;
        origin::note_caller(&caller);
        Ok(Incoming { caller, head, body, sha256 })
    }

    /// The length of the body, if the head declares it.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// The durability level in the head.
    pub(crate) fn level(&self, gate: &Gate) -> Result<Option<Level>, ApiError> {
        let asked = self.head.headers.get(&DURABILITY);
        asked.map(|value| gate.level(value.to_str().unwrap_or("?"))).transpose()
    }

    /// The body, and the rest.
    pub(crate) fn into_parts(self) -> (Caller, Parts, Body) {
        (self.caller, self.head, self.body)
    }
}

/// The context of a request of this caller on the depot's bus.
pub(crate) fn depot_context<'a>(head: &'a Parts, caller: &'a Caller) -> Context<'a> {
    context(head, caller.grant()).with_principal(caller.depot_principal())
}

/// The SHA-256 that an unsigned head declares. Operators need not.
fn declared_sha256(head: &Parts) -> Result<Option<[u8; 32]>, ApiError> {
    let Some(value) = head.headers.get(HEADER_BODY_SHA256) else { return Ok(None) };
    let hash = value.to_str().ok().and_then(from_hex);
    hash.map(Some).ok_or_else(|| {
        let message = "The SHA-256 of a body is 64 hexadecimal digits, in lower case.";
        ApiError::invalid(HEADER_BODY_SHA256, message)
    })
}

/// Takes the pieces of a body. Dropping it says that the body is not whole.
pub(crate) trait Pieces {
    /// Passes a piece on when there is room for it. Returns whether more is wanted.
    async fn take(&mut self, piece: Bytes) -> Result<bool, ApiError>;

    /// The body is whole. An error says that it is not what it should be.
    async fn end(self) -> Result<(), ApiError>;
}

impl Pieces for ContentSender {
    async fn take(&mut self, piece: Bytes) -> Result<bool, ApiError> {
        Ok(self.send(piece).await)
    }

    async fn end(self) -> Result<(), ApiError> {
        ContentSender::end(self).await;
        Ok(())
    }
}

/// Passes a body on while `storing` takes it, and returns the result of `storing`. If the body does
/// not arrive whole and in time, or the caller's key ends, nothing is stored; the answer comes when
/// nothing is left of it.
pub(crate) async fn pass_on<T>(
    gate: &Gate,
    caller: &Caller,
    body: Body,
    mut pieces: impl Pieces,
    storing: impl Future<Output = rialto_bus::Result<T>>,
) -> Result<T, ApiError> {
    let mut storing = pin!(storing);
    let arrived = {
        let arriving = async {
            tokio::select! {
                biased;
                () = gate.gatekeeper.ended(caller) => Err(ApiError::key_not_valid()),
                arrived = arrive(gate, body, &mut pieces) => arrived,
            }
        };
        let mut arriving = pin!(arriving);
        tokio::select! {
            stored = &mut storing => return Ok(stored?),
            arrived = &mut arriving => arrived,
        }
    };
    let (ended, stored) = match arrived {
        // At once: there may be no room for the end until the depot has taken pieces, which it may not
        // have begun.
        Ok(()) if gate.gatekeeper.is_still_valid(caller) => tokio::join!(pieces.end(), storing),
        arrived => {
            drop(pieces);
            (Err(arrived.err().unwrap_or_else(ApiError::key_not_valid)), storing.await)
        }
    };
    match ended {
        Ok(()) => Ok(stored?),
        // The depot has removed what it had.
        Err(error) => Err(error),
    }
}

/// Sends the pieces of a body until its end. If nobody wants more, it does not return.
async fn arrive(gate: &Gate, body: Body, pieces: &mut impl Pieces) -> Result<(), ApiError> {
    let mut body = body;
    let mut pace = UploadPace::new(gate.config.body_timeout, gate.config.depot.upload_rate_min);
    loop {
        let frame = tokio::time::timeout_at(pace.deadline().into(), body.frame()).await;
        let arrived = match frame {
            Ok(None) => return Ok(()),
            Ok(Some(Err(_))) => {
                let message = "The body is incomplete or malformed; nothing was stored.";
                return Err(ApiError::new(StatusCode::BAD_REQUEST, "malformed_body", message));
            }
            Ok(Some(Ok(frame))) => frame.into_data().ok(),
            Err(_elapsed) => None,
        };
        pace.count(arrived.as_ref().map_or(0, |data| data.len() as u64)).map_err(|slow| {
            let message = format!("{slow} Nothing was stored.");
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "upload_too_slow", message)
        })?;
        let Some(data) = arrived else { continue };
        let began = Instant::now();
        if !pieces.take(data).await? {
            // The refusal is the answer, and is waited for.
            std::future::pending::<()>().await;
        }
        // A client is not slow because the disk is.
        pace.leave_out(began.elapsed());
    }
}
