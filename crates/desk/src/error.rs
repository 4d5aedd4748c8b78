//! Why a request on the desk's bus has no answer.

use crate::{DeskError, Scope};
use rialto_bus::{Error, ErrorKind};
use rialto_engine::NoAnswer;
use rialto_model::{RejectReason, Seq};
use std::borrow::Cow;

/// The caller may not do this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// Its grant lacks this scope.
    #[error("This key does not have the scope {}.", .0.name())]
    Scope(Scope),
    /// Its grant does not name the account.
    #[error("This key may not act for that account.")]
    Account,
    /// The sender is unknown.
    #[error("Nobody may do this unnamed.")]
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

/// The part of a request that is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the field {0} is at fault")]
pub struct AtField(pub &'static str);

impl AtField {
    /// It holds what it may not.
    #[must_use]
    pub fn invalid(self, message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(ErrorKind::Invalid, "invalid_field", message).with_source(self)
    }
}

/// The engine has decided against the command. The refusal is in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", reason.sentence())]
pub struct Refused {
    /// Why.
    pub reason: RejectReason,
    /// The command's place in the journal.
    pub seq: Seq,
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        let kind = match refused.reason {
            RejectReason::VenueFull => ErrorKind::Busy,
            _ => ErrorKind::Conflict,
        };
        // It is in the journal: the same command again would be decided again.
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
