//! Errors of requests on the desk's bus.

use crate::{DeskError, Scope};
use rialto_bus::{Error, ErrorKind};
use rialto_engine::NoAnswer;
use rialto_model::{RejectReason, Seq};
use std::borrow::Cow;

/// The sender may not make this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// The grant lacks this scope.
    #[error("This key does not have the scope {}.", .0.name())]
    Scope(Scope),
    /// The grant does not include the account.
    #[error("This key may not act for that account.")]
    Account,
    /// The request has no principal.
    #[error("The request has no principal.")]
    Nobody,
}

impl From<Forbidden> for Error {
    fn from(forbidden: Forbidden) -> Error {
        let kind = match forbidden {
            Forbidden::Nobody => ErrorKind::Unauthenticated,
            Forbidden::Scope(_) | Forbidden::Account => ErrorKind::Forbidden,
        };
        Error::new(kind, "forbidden", forbidden.to_string()).with_source(forbidden)
    }
}

/// The invalid field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the field {0} is invalid")]
pub struct AtField(pub &'static str);

impl AtField {
    /// The error of an invalid field.
    #[must_use]
    pub fn invalid(self, message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(ErrorKind::Invalid, "invalid_field", message).with_source(self)
    }
}

/// The engine rejected the command. The reject is in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", reason.sentence())]
pub struct Refused {
    /// The reason.
    pub reason: RejectReason,
    /// The command's sequence.
    pub seq: Seq,
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        let kind = match refused.reason {
            RejectReason::VenueFull => ErrorKind::Busy,
            _ => ErrorKind::Conflict,
        };
        // The reject is in the journal: a retry of the command would be decided again.
        Error::new(kind, refused.reason.code(), refused.reason.sentence())
            .retryable(false)
            .with_source(refused)
    }
}

impl From<DeskError> for Error {
    fn from(error: DeskError) -> Error {
        let (kind, code) = match error {
            DeskError::Busy => (ErrorKind::Busy, "busy"),
            DeskError::Stopped => (ErrorKind::Unavailable, "stopped"),
            DeskError::StorageLow => (ErrorKind::Unavailable, "storage_low"),
            DeskError::OrderRate => (ErrorKind::Busy, "order_rate"),
            DeskError::NoAnswer(NoAnswer::NoSnapshot) => {
                (ErrorKind::Unavailable, "snapshot_failed")
            }
            DeskError::NoAnswer(NoAnswer::OutcomeUnknown) => {
                (ErrorKind::Internal, "outcome_unknown")
            }
        };
        Error::new(kind, code, error.to_string()).with_source(error)
    }
}
