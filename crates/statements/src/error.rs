//! Errors of statements.

use crate::outbox::OutboxRefusal;
use rialto_bus::{Error, ErrorKind};
use rialto_depot::DepotError;
use rialto_engine::{ReadEventsError, ReplayError};
use rialto_flow::FlowsError;
use rialto_flow::store::StoreError;
use rialto_log::ReadError;
use rialto_model::{AccountId, CurrencyId, DecodeError, Seq};
use std::io;

/// Events contradict the positions before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionsError {
    /// Events do not follow each other.
    #[error("the events of sequence {got} cannot follow those of sequence {after}")]
    OutOfOrder {
        /// The last sequence.
        after: Seq,
        /// The sequence that came.
        got: Seq,
    },
    /// An event names what no earlier event created.
    #[error("the events of sequence {seq} contradict earlier ones: {what}")]
    Contradiction {
        /// The sequence.
        seq: Seq,
        /// What is unknown.
        what: &'static str,
    },
    /// A balance would be below zero.
    #[error(
        "the events of sequence {seq} take the balance of account {account} in currency {currency} \
         below zero"
    )]
    BelowZero {
        /// The sequence.
        seq: Seq,
        /// The account.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
    },
}

/// The reason that a run makes no statements.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// The events could not be folded.
    #[error(transparent)]
    Positions(#[from] PositionsError),
    /// The balances after the range are not the venue's.
    #[error(
        "the balances that the events lead to at sequence {last} are not those of the venue; no \
         statement is made. Verify the data directory"
    )]
    NotTheVenues {
        /// The last sequence of the range.
        last: Seq,
    },
    /// The stored positions of an earlier run cannot be used.
    #[error("the positions at sequence {seq} cannot be read: {why}")]
    Unreadable {
        /// The sequence.
        seq: Seq,
        /// The reason.
        why: String,
    },
    /// Events of the range were deleted.
    #[error("the event log begins at sequence {oldest}, and the range at {first}")]
    EventsGone {
        /// The first sequence of the range.
        first: Seq,
        /// The oldest sequence of the log.
        oldest: Seq,
    },
    /// The event log could not be read.
    #[error("the events cannot be read")]
    Read(#[from] ReadEventsError),
    /// A record of the event log could not be decoded.
    #[error("the events of sequence {seq} cannot be decoded")]
    Decode {
        /// The sequence.
        seq: Seq,
        /// The decoder's error.
        source: DecodeError,
    },
    /// The state to begin with could not be made.
    #[error("the balances to begin with cannot be made")]
    Begin(#[from] ReplayError),
    /// The depot refused for a reason that concerns all members.
    #[error(transparent)]
    Depot(#[from] DepotError),
    /// The venue stops.
    #[error("the venue stops; the run continues after the next start")]
    Stopping,
}

impl StatementError {
    /// Whether the same run can succeed later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            StatementError::Positions(_)
            | StatementError::NotTheVenues { .. }
            | StatementError::Unreadable { .. }
            | StatementError::EventsGone { .. }
            | StatementError::Decode { .. } => false,
            // What an operator has to mend would be tried again for ever, and no other run may begin.
            StatementError::Read(error) => !is_damaged(error),
            StatementError::Depot(error) => !matches!(
                error,
                DepotError::TooLarge { .. }
                    | DepotError::Quota { .. }
                    | DepotError::TooMany { .. }
                    | DepotError::TenantStage { .. }
                    | DepotError::Invalid { .. }
                    | DepotError::Name(_)
            ),
            StatementError::Begin(_) | StatementError::Stopping => true,
        }
    }

    /// Why members have no statement if this does not pass by itself. What an operator can mend is tried
    /// again in later runs.
    pub(crate) fn refusal(&self) -> OutboxRefusal {
        match self {
            StatementError::EventsGone { .. } => OutboxRefusal::EventsGone,
            StatementError::Read(error)
                if matches!(log_error(error), Some(ReadError::BelowOldest { .. })) =>
            {
                OutboxRefusal::EventsGone
            }
            _ => OutboxRefusal::Other,
        }
    }
}

fn log_error(error: &ReadEventsError) -> Option<&ReadError> {
    use std::error::Error as _;
    error.source().and_then(|source| source.downcast_ref())
}

/// Whether the event log is damaged, or its keys are missing: reading it again gives the same error.
fn is_damaged(error: &ReadEventsError) -> bool {
    !matches!(log_error(error), Some(ReadError::Disk(_) | ReadError::Superseded { .. }) | None)
}

/// The error of opening the statements.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatementsOpenError {
    /// The flows cannot be run.
    #[error("cannot resume the run of statements that was unfinished")]
    Flows(#[from] FlowsError),
    /// The store cannot be read.
    #[error("cannot read the runs of statements")]
    Store(#[from] StoreError),
    /// No thread could be started.
    #[error("cannot start a thread for statements")]
    Thread(#[source] io::Error),
}

pub(crate) fn busy() -> Error {
    let message = "Statements are being made; ask again when the run has ended.";
    Error::new(ErrorKind::Conflict, "statements_running", message)
}

pub(crate) fn of_flows(error: FlowsError) -> Error {
    let message = format!("The statements cannot be made: {error}.");
    Error::new(ErrorKind::Unavailable, "stopped", message).with_source(error)
}

pub(crate) fn of_store(error: StoreError) -> Error {
    of_flows(FlowsError::Store(error))
}
