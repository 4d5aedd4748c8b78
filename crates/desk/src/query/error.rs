//! Errors of queries.

use rialto_bus::{Error, ErrorKind};
use rialto_model::{RejectReason, Seq};

/// The reason why a query has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The object does not exist; the reason is the same as in a reject of a command about it.
    #[error("{}", .0.sentence())]
    Unknown(RejectReason),
    /// The feed did not reach this sequence in time.
    #[error("Sequence {0} is not visible yet; try again.")]
    Behind(Seq),
    /// The fill before the page is no longer kept.
    #[error("That fill is no longer kept, or never existed.")]
    FillForgotten,
    /// The sequence to resume from is in the future.
    #[error("The venue has not reached sequence {0}.")]
    NotYet(Seq),
    /// The sequence to resume from is too old; the stream can be resumed from this one on.
    #[error(
        "The stream can be resumed from sequence {0} on; subscribe without from_seq and read what \
         was missed from GET /v1/orders and GET /v1/fills."
    )]
    TooFarBack(Seq),
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Error {
        let (kind, code) = match error {
            QueryError::Unknown(reason) => (ErrorKind::NotFound, reason.code()),
            QueryError::Behind(_) => (ErrorKind::Unavailable, "behind"),
            QueryError::FillForgotten => (ErrorKind::Invalid, "fill_forgotten"),
            QueryError::NotYet(_) => (ErrorKind::Invalid, "not_yet"),
            QueryError::TooFarBack(_) => (ErrorKind::Conflict, "too_far_back"),
        };
        Error::new(kind, code, error.to_string()).with_source(error)
    }
}
