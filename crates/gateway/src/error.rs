//! The API's error format.

use crate::json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rialto_api::{ErrorAnswer, ErrorDetail};
use rialto_broker::{AtMessage, AtPath};
use rialto_bus::ErrorKind;
use rialto_desk::{AtField, DeskError, Forbidden, NoAnswer, QueryError, Refused};
use rialto_model::{RejectReason, Seq};
use rialto_payments::InvalidTransfer;
use std::borrow::Cow;

/// An error of the API: `{"error":{"code":"…","message":"…","field":"…","seq":"…"}}` with an HTTP
/// status.
///
/// Codes are stable; messages may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// The code, in snake case.
    pub code: &'static str,
    /// A sentence that says what happened, to what, and what to do next.
    pub message: Cow<'static, str>,
    /// The invalid field, parameter or header.
    pub field: Option<Cow<'static, str>>,
    /// The command's sequence, if the engine rejected it.
    pub seq: Option<Seq>,
    /// Whether a retry after a second may succeed.
    pub retry: bool,
}

impl ApiError {
    /// An error with a code and a message.
    #[must_use]
    pub fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> ApiError {
        ApiError { status, code, message: message.into(), field: None, seq: None, retry: false }
    }

    /// The error of an invalid field.
    #[must_use]
    pub fn invalid(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_field", message).of(field)
    }

    /// The error of a missing field.
    #[must_use]
    pub fn missing(field: impl Into<Cow<'static, str>>) -> ApiError {
        let field = field.into();
        let message = format!("The field {field} is missing.");
        ApiError::new(StatusCode::BAD_REQUEST, "missing_field", message).of(field)
    }

    /// The error of an unknown object in the path or the query.
    #[must_use]
    pub fn unknown(reason: RejectReason) -> ApiError {
        ApiError { seq: None, ..ApiError::rejected(reason, Seq::ZERO) }
    }

    /// The error of a command that the engine rejected.
    #[must_use]
    pub fn rejected(reason: RejectReason, seq: Seq) -> ApiError {
        ApiError {
            status: status_of(reason),
            code: reason.code(),
            message: Cow::Borrowed(reason.sentence()),
            field: field_of(reason).map(Cow::Borrowed),
            seq: Some(seq),
            retry: false,
        }
    }

    /// The bound on commands in flight is reached.
    #[must_use]
    pub fn busy() -> ApiError {
        let message =
            "The venue has reached its limit of commands in flight. Nothing was done; try again.";
        ApiError { retry: true, ..ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message) }
    }

    /// The venue accepts no more commands.
    #[must_use]
    pub fn stopped() -> ApiError {
        let message = "The venue is shutting down or has stopped. Nothing was done.";
        ApiError {
            retry: true,
            ..ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", message)
        }
    }

    /// The rest of the disk is reserved for commands that reduce risk.
    #[must_use]
    pub fn storage_low() -> ApiError {
        let message = "The venue's disk is nearly full: until there is room, orders are cancelled and \
                       not entered or amended. Nothing was done.";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        ApiError { retry: true, ..ApiError::new(status, "storage_low", message) }
    }

    /// The snapshot before a change of the rules version failed.
    #[must_use]
    pub fn no_snapshot() -> ApiError {
        let message = "No snapshot could be made, and the rules change only behind one. Nothing was \
                       done. The log of the venue says what failed.";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "snapshot_failed", message)
    }

    /// The engine ended before it confirmed the command.
    #[must_use]
    pub fn outcome_unknown() -> ApiError {
        let message = "The engine stopped before this was confirmed; it may have taken effect or \
                       not. When the venue is back, ask for the order by its client order id, or \
                       send the same request again with the same client order id or reference: \
                       it takes effect at most once.";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "outcome_unknown", message)
    }

    /// The key was valid and is no longer.
    #[must_use]
    pub fn key_not_valid() -> ApiError {
        let message = "The key has expired, or it or its secret was revoked.";
        ApiError::new(StatusCode::UNAUTHORIZED, "key_not_valid", message)
    }

    /// The caller's allowance is used up.
    #[must_use]
    pub fn rate_limited() -> ApiError {
        let message = "Too many requests; slow down.";
        ApiError {
            retry: true,
            ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
        }
    }

    /// The key's journal quota is used up.
    #[must_use]
    pub fn journal_quota() -> ApiError {
        let message = "This key has used up what it may write to the venue's journal in a day. \
                       Cancels are taken; orders again as the quota refills, evenly over a day.";
        let status = StatusCode::TOO_MANY_REQUESTS;
        ApiError { retry: true, ..ApiError::new(status, "journal_quota", message) }
    }

    /// The member has entered as many orders as it may in a second.
    #[must_use]
    pub fn order_rate() -> ApiError {
        let message = "This member has entered as many orders as it may in a second, over all its \
                       keys and files. Cancels are taken; slow down.";
        let status = StatusCode::TOO_MANY_REQUESTS;
        ApiError { retry: true, ..ApiError::new(status, "order_rate", message) }
    }

    /// Whether the command that it answers may be in the journal: a refusal of the engine is, and names
    /// its sequence.
    pub(crate) fn may_be_submitted(&self) -> bool {
        self.seq.is_some() || matches!(self.code, "outcome_unknown" | "handler_panicked")
    }

    /// The path needs a WebSocket.
    pub(crate) fn websocket_required() -> ApiError {
        let message = "This path needs a WebSocket: connect with a WebSocket client.";
        ApiError::new(StatusCode::UPGRADE_REQUIRED, "websocket_required", message)
    }

    /// The same error with this field.
    #[must_use]
    pub fn of(mut self, field: impl Into<Cow<'static, str>>) -> ApiError {
        self.field = Some(field.into());
        self
    }

    /// The same error, about `field` if the venue refused the command for this reason.
    pub(crate) fn names(self, reason: RejectReason, field: &'static str) -> ApiError {
        if self.code == reason.code() { self.of(field) } else { self }
    }

    /// The same error with a prefix of its field's path.
    pub(crate) fn within(mut self, at: &str) -> ApiError {
        let field = self.field.as_deref().filter(|field| *field != "body").unwrap_or_default();
        let dot = if field.is_empty() || field.starts_with('[') { "" } else { "." };
        self.field = Some(format!("{at}{dot}{field}").into());
        self
    }

    /// The error in the body of an answer.
    pub(crate) fn detail(&self) -> ErrorDetail {
        ErrorDetail {
            code: self.code.into(),
            message: self.message.clone(),
            field: self.field.clone(),
            seq: self.seq,
        }
    }

    /// The body of the answer.
    pub(crate) fn body(&self) -> Vec<u8> {
        json::write(&ErrorAnswer { error: self.detail() }, 256)
    }
}

impl From<Forbidden> for ApiError {
    fn from(forbidden: Forbidden) -> ApiError {
        let status = match forbidden {
            Forbidden::Nobody => StatusCode::UNAUTHORIZED,
            Forbidden::Scope(_) | Forbidden::Account => StatusCode::FORBIDDEN,
        };
        let error = ApiError::new(status, "forbidden", forbidden.to_string());
        match forbidden {
            Forbidden::Account => error.of("account"),
            Forbidden::Scope(_) | Forbidden::Nobody => error,
        }
    }
}

impl From<rialto_bus::Error> for ApiError {
    fn from(error: rialto_bus::Error) -> ApiError {
        if let Some(Refused { reason, seq }) = error.source_as() {
            return ApiError::rejected(*reason, *seq);
        }
        if let Some(forbidden) = error.source_as::<Forbidden>() {
            return ApiError::from(*forbidden);
        }
        if let Some(InvalidTransfer(reason)) = error.source_as() {
            return ApiError::unknown(*reason);
        }
        if let Some(error) = error.source_as::<DeskError>() {
            return match error {
                DeskError::Busy => ApiError::busy(),
                DeskError::Stopped => ApiError::stopped(),
                DeskError::StorageLow => ApiError::storage_low(),
                DeskError::OrderRate => ApiError::order_rate(),
                DeskError::NoAnswer(NoAnswer::OutcomeUnknown) => ApiError::outcome_unknown(),
                DeskError::NoAnswer(NoAnswer::NoSnapshot) => ApiError::no_snapshot(),
            };
        }
        let status = match error.code() {
            "file_too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            _ => status_of_kind(error.kind()),
        };
        let api_error = ApiError {
            retry: error.is_retryable(),
            ..ApiError::new(status, error.code(), error.message().to_owned())
        };
        if let Some(AtField(field)) = error.source_as() {
            return api_error.of(*field);
        }
        if let Some(AtMessage(at)) = error.source_as() {
            return api_error.of(format!("[{at}]"));
        }
        if let Some(AtPath(place)) = error.source_as() {
            return api_error.of(place.clone());
        }
        match error.source_as() {
            Some(QueryError::Unknown(reason)) => ApiError::unknown(*reason),
            Some(QueryError::Behind(_)) => api_error.of("min_seq"),
            Some(QueryError::FillForgotten) => ApiError::invalid("after", api_error.message),
            Some(QueryError::NotYet(_)) => ApiError::invalid("from_seq", api_error.message),
            Some(QueryError::TooFarBack(oldest)) => {
                ApiError { seq: Some(*oldest), ..api_error.of("from_seq") }
            }
            None => api_error,
        }
    }
}

/// The HTTP status of an error of the bus or of a behaviour.
fn status_of_kind(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Invalid => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::Busy | ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = Response::new(self.body().into());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.code == "stopped" {
            // Closes the connection, so that the client tries another venue at once.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Rialto-HMAC"));
        }
        response
    }
}

/// The HTTP status of a reject.
#[must_use]
pub fn status_of(reason: RejectReason) -> StatusCode {
    use RejectReason as R;
    match reason {
        R::UnknownInstrument
        | R::UnknownAccount
        | R::UnknownMember
        | R::UnknownCurrency
        | R::UnknownOrder
        | R::UnknownWithdrawal
        | R::UnknownCalendar
        | R::UnknownTransition => StatusCode::NOT_FOUND,
        R::PriceNotPositive
        | R::QuantityNotPositive
        | R::AmountNotPositive
        | R::AmountTooLarge
        | R::ExpiryInvalid
        | R::InvalidCombination
        | R::ReferenceMissing
        | R::IdOutOfRange
        | R::InvalidRules
        | R::NothingToAmend
        | R::RulesVersionUnknown
        | R::AttributeUnknown
        | R::CommandUnknown
        | R::StateUnknown
        | R::RestrictionInvalid
        | R::NameInvalid
        | R::TimerInvalid
        | R::HaltInvalid
        | R::CircuitBreakerInvalid
        | R::TriggerPriceInvalid
        | R::TrailInvalid
        | R::DisplayQuantityInvalid
        | R::ExitPriceInvalid
        | R::TransitionInvalid => StatusCode::BAD_REQUEST,
        R::ClientIdConflict
        | R::ReferenceConflict
        | R::AlreadyExists
        | R::HasOpenOrders
        | R::OrderExpired
        | R::OrderWaiting
        | R::OrderLinked
        | R::OrderTriggered
        | R::RulesVersionOlder
        | R::ReferenceTooOld
        | R::StateChangeInvalid
        | R::PlanIncomplete
        | R::WithdrawalSettled
        | R::WithdrawalReleased => StatusCode::CONFLICT,
        R::OpenOrdersLimit | R::WithdrawalsLimit => StatusCode::TOO_MANY_REQUESTS,
        R::VenueFull => StatusCode::SERVICE_UNAVAILABLE,
        R::AccountRestricted
        | R::InstrumentRestricted
        | R::InstrumentHalted
        | R::InstrumentClosed
        | R::InstrumentUncrossing
        | R::WrongPhase
        | R::NoCancelPeriod
        | R::NoReferencePrice
        | R::PriceOutsideLimits
        | R::PriceOffTick
        | R::PriceOutsideCollar
        | R::QuantityOffLot
        | R::QuantityTooLarge
        | R::NotionalTooSmall
        | R::NotionalTooLarge
        | R::InsufficientBalance
        | R::WouldCross
        | R::WouldTrigger
        | R::NoLiquidity
        | R::Unfillable
        | R::TooDeep
        | R::QuantityBelowFilled => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// The field that a reject is about.
fn field_of(reason: RejectReason) -> Option<&'static str> {
    use RejectReason as R;
    match reason {
        R::UnknownInstrument
        | R::InstrumentHalted
        | R::InstrumentClosed
        | R::InstrumentRestricted
        | R::InstrumentUncrossing => Some("instrument"),
        R::RestrictionInvalid => Some("restriction"),
        R::StateUnknown | R::StateChangeInvalid => Some("state"),
        R::UnknownAccount | R::AccountRestricted => Some("account"),
        R::UnknownMember => Some("member"),
        R::UnknownCurrency => Some("currency"),
        R::UnknownCalendar => Some("calendar"),
        R::UnknownTransition => Some("at"),
        R::TransitionInvalid => Some("to"),
        R::UnknownOrder | R::UnknownWithdrawal | R::OrderExpired | R::OrderWaiting => Some("id"),
        R::TriggerPriceInvalid | R::WouldTrigger | R::OrderTriggered => Some("trigger_price"),
        R::TrailInvalid => Some("trail_distance"),
        R::DisplayQuantityInvalid => Some("display_quantity"),
        R::PriceNotPositive
        | R::PriceOffTick
        | R::PriceOutsideCollar
        | R::PriceOutsideLimits
        | R::NoReferencePrice
        | R::WouldCross
        | R::ExitPriceInvalid => Some("price"),
        R::QuantityNotPositive
        | R::QuantityOffLot
        | R::QuantityTooLarge
        | R::QuantityBelowFilled
        | R::OrderLinked => Some("quantity"),
        R::ExpiryInvalid => Some("expire_at"),
        R::ClientIdConflict => Some("client_order_id"),
        R::ReferenceMissing | R::ReferenceConflict => Some("reference"),
        R::ReferenceTooOld => Some("time"),
        R::AmountNotPositive | R::AmountTooLarge => Some("amount"),
        R::NameInvalid => Some("name"),
        R::TimerInvalid => Some("timeout_ms"),
        R::HaltInvalid => Some("duration_ms"),
        R::CircuitBreakerInvalid => Some("instrument"),
        R::WrongPhase
        | R::NoCancelPeriod
        | R::PlanIncomplete
        | R::NotionalTooSmall
        | R::NotionalTooLarge
        | R::InsufficientBalance
        | R::OpenOrdersLimit
        | R::WithdrawalsLimit
        | R::WithdrawalSettled
        | R::WithdrawalReleased
        | R::VenueFull
        | R::NoLiquidity
        | R::Unfillable
        | R::TooDeep
        | R::InvalidCombination
        | R::AlreadyExists
        | R::IdOutOfRange
        | R::InvalidRules
        | R::HasOpenOrders
        | R::NothingToAmend
        | R::AttributeUnknown
        | R::CommandUnknown
        | R::RulesVersionUnknown
        | R::RulesVersionOlder => None,
    }
}
