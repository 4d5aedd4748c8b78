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
    #[error("the withdrawals under way cannot be taken up")]
    Flows(#[from] FlowsError),
    /// The store cannot be read.
    #[error("the withdrawals under way cannot be read")]
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
    #[error("withdrawals under way were not taken up within {seconds} s; see what the disk does")]
    Slow {
        /// The time waited.
        seconds: u64,
    },
    /// No thread could be started.
    #[error("no thread can be started for withdrawals")]
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
pub struct Unfit(pub RejectReason);

impl From<Unfit> for Error {
    fn from(unfit: Unfit) -> Error {
        let kind = match unfit.0 {
            RejectReason::UnknownWithdrawal => ErrorKind::NotFound,
            RejectReason::ReferenceConflict => ErrorKind::Conflict,
            _ => ErrorKind::Invalid,
        };
        Error::new(kind, unfit.0.code(), unfit.0.sentence()).with_source(unfit)
    }
}

pub(crate) fn unknown() -> Error {
    Unfit(RejectReason::UnknownWithdrawal).into()
}

pub(crate) fn conflict() -> Error {
    Unfit(RejectReason::ReferenceConflict).into()
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
            let message = "As many withdrawals, or decisions about this one, are under way as may.";
            Error::new(ErrorKind::Busy, "busy", message).with_source(error)
        }
        FlowsError::Store(_) => stopped().with_source(error),
        error => {
            let message = format!("The withdrawal cannot be taken up: {error}.");
            Error::new(ErrorKind::Internal, "internal", message).with_source(error)
        }
    }
}
