//! Queues: messages and leases in the packed form of topics.

use super::respond;
use crate::ApiError;
use crate::call::Call;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::body::{Frame, SizeHint};
use rialto_api::{IdRange, PublishedAnswer};
use rialto_broker::{DeliveredLease, LeaseTokens, MESSAGES_MAX, Published};
use rialto_queue::MessageId;
use rialto_queue::packed::{
    InvalidPacked, LEASES_MEDIA_TYPE, MESSAGES_MEDIA_TYPE, Packed, PackedLeases, Piece,
};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The packed messages of a request, if its content type says so.
pub(super) fn messages(call: &Call) -> Result<Option<Packed<Bytes>>, ApiError> {
    if !call.is_of(MESSAGES_MEDIA_TYPE.as_bytes()) {
        return Ok(None);
    }
    let packed = Packed::read(call.body().clone()).map_err(malformed)?;
    packed.check_new().map_err(malformed)?;
    Ok(Some(packed))
}

/// The packed leases of a request, if its content type says so.
pub(super) fn leases(
    call: &Call,
    tokens: LeaseTokens,
) -> Result<Option<Vec<DeliveredLease>>, ApiError> {
    if !call.is_of(LEASES_MEDIA_TYPE.as_bytes()) {
        return Ok(None);
    }
    leases_in(call.body(), tokens).map(Some)
}

/// Packed leases.
pub(crate) fn leases_in(
    bytes: &[u8],
    tokens: LeaseTokens,
) -> Result<Vec<DeliveredLease>, ApiError> {
    let packed = PackedLeases::read(bytes).map_err(malformed)?;
    // A few bytes may stand for very many messages.
    if packed.len() > MESSAGES_MAX as u64 {
        let message = format!("There must be 1 to {MESSAGES_MAX} messages.");
        return Err(ApiError::invalid("messages", message));
    }
    Ok(tokens.numbers(&packed))
}

fn malformed(error: InvalidPacked) -> ApiError {
    let field = match error {
        InvalidPacked::Message(nth) | InvalidPacked::NotNew(nth) => format!("[{nth}]"),
        _ => "body".to_owned(),
    };
    let message = format!("The body is malformed: {error}.");
    ApiError::new(StatusCode::BAD_REQUEST, "malformed_body", message).of(field)
}

/// Whether the answer is to be packed.
pub(super) fn is_asked_for(call: &Call) -> bool {
    call.accepts(MESSAGES_MEDIA_TYPE)
}

/// An answer with packed messages.
pub(super) fn respond_packed(pieces: Vec<Piece>) -> Response {
    let mut response = Response::new(Body::new(BoxBody::new(PackedBody::of(pieces))));
    let kind = HeaderValue::from_static(MESSAGES_MEDIA_TYPE);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// An answer with the positions of messages: the first and the last of each range of numbers.
pub(super) fn respond_published(published: &Published) -> Response {
    let mut rows: Vec<(MessageId, u64)> = Vec::new();
    for id in &published.ids {
        match rows.last_mut() {
            Some((first, last)) if first.lane == id.lane && *last + 1 == id.seq => *last = id.seq,
            _ => rows.push((*id, id.seq)),
        }
    }
    let ranges = rows.into_iter().map(|(first, last)| IdRange {
        first: first.to_string(),
        last: MessageId { seq: last, ..first }.to_string(),
    });
    let ranges: Vec<_> = ranges.collect();
    let capacity = 64 + 48 * ranges.len();
    let duplicates = published.duplicates;
    let response = PublishedAnswer { ids: None, ranges: Some(ranges), duplicates };
    respond(StatusCode::CREATED, &response, capacity)
}

/// Pieces of a batch that are being sent. Data of a topic is not copied here.
struct PackedBody {
    pieces: VecDeque<Bytes>,
    left: u64,
}

impl PackedBody {
    fn of(pieces: Vec<Piece>) -> PackedBody {
        let bytes = |piece| match piece {
            Piece::Made(bytes) => Bytes::from(bytes),
            Piece::Stored(stored) => Bytes::from_owner(stored),
        };
        let pieces: VecDeque<_> = pieces.into_iter().map(bytes).collect();
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        PackedBody { pieces, left }
    }
}

impl hyper::body::Body for PackedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(piece) = self.pieces.pop_front() else { return Poll::Ready(None) };
        self.left -= piece.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
