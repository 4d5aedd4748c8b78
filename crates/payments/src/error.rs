//! Errors of withdrawals.

use crate::withdrawal::{State, Withdrawal, WithdrawalId};
use rialto_bus::{Error, ErrorKind};
use rialto_flow::store::StoreError;
use rialto_flow::{FlowIdError, FlowsError};
use rialto_model::RejectReason;
use std::io;

/// The error of opening the withdrawals.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaymentsOpenError {
    /// The flows cannot be run.
    #[error("cannot resume the unfinished withdrawals")]
    Flows(#[from] FlowsError),
    /// The store cannot be read.
    #[error("cannot read the unfinished withdrawals")]
    Store(#[from] StoreError),
    /// A stored withdrawal has a form that this program does not know.
    #[error(
        "withdrawal flow {id} is stored in a form that this program does not know ({reason}); run \
         the version that wrote it"
    )]
    Unreadable {
        /// The flow.
        id: String,
        /// The reason.
        reason: String,
    },
    /// The unfinished flows were not resumed in time.
    #[error("the unfinished withdrawals were not resumed within {seconds} s; check the disk")]
    Slow {
        /// The time waited.
        seconds: u64,
    },
    /// No thread could be started.
    #[error("cannot start a thread for withdrawals")]
    Thread(#[source] io::Error),
}

/// The error of a decision about a withdrawal that was decided already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The withdrawal {id} is {state} already; this changes nothing.")]
pub struct Decided {
    /// The withdrawal.
    pub id: WithdrawalId,
    /// The state of the withdrawal.
    pub state: State,
}

impl From<Decided> for Error {
    fn from(decided: Decided) -> Error {
        Error::new(ErrorKind::Conflict, "withdrawal_decided", decided.to_string())
            .with_source(decided)
    }
}

pub(crate) fn decided(withdrawal: &Withdrawal) -> Error {
    Decided { id: withdrawal.id(), state: withdrawal.state }.into()
}

/// A request that the engine would refuse, refused before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.sentence())]
pub struct InvalidTransfer(pub RejectReason);

impl From<InvalidTransfer> for Error {
    fn from(invalid: InvalidTransfer) -> Error {
        let kind = match invalid.0 {
            RejectReason::UnknownWithdrawal => ErrorKind::NotFound,
            RejectReason::ReferenceConflict => ErrorKind::Conflict,
            _ => ErrorKind::Invalid,
        };
        Error::new(kind, invalid.0.code(), invalid.0.sentence()).with_source(invalid)
    }
}

pub(crate) fn unknown() -> Error {
    InvalidTransfer(RejectReason::UnknownWithdrawal).into()
}

pub(crate) fn conflict() -> Error {
    InvalidTransfer(RejectReason::ReferenceConflict).into()
}

pub(crate) fn stopped() -> Error {
    let message = "The venue is shutting down; ask again when it is back.";
    Error::new(ErrorKind::Unavailable, "stopped", message)
}

pub(crate) fn bad_id(error: FlowIdError) -> Error {
    Error::new(ErrorKind::Invalid, "invalid_field", "The reference cannot name a withdrawal.")
        .with_source(error)
}

/// The error of a refusal by the flows.
pub(crate) fn of_flows(error: FlowsError) -> Error {
    match error {
        FlowsError::Conflict { .. } => conflict(),
        FlowsError::EventsFull { .. } | FlowsError::Store(StoreError::Full { .. }) => {
            let message =
                "The limit of open withdrawals, or of decisions about this one, is reached.";
            Error::new(ErrorKind::Busy, "busy", message).with_source(error)
        }
        FlowsError::Store(_) => stopped().with_source(error),
        error => {
            let message = format!("The withdrawal cannot be started: {error}.");
            Error::new(ErrorKind::Internal, "internal", message).with_source(error)
        }
    }
}
