//! Why a question has no answer.

use rialto_bus::{Error, ErrorKind};
use rialto_model::{RejectReason, Seq};

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// What it is about does not exist; the reason is the one with which the engine would refuse a
    /// command about it.
    #[error("{}", .0.sentence())]
    Unknown(RejectReason),
    /// The feed has not come to this sequence in time.
    #[error("Sequence {0} is not visible yet; try again.")]
    Behind(Seq),
    /// The fill that a page is to begin after is not remembered.
    #[error("That fill is not remembered any more, or never was.")]
    FillForgotten,
    /// The venue has not come to the sequence that a stream is to be resumed from.
    #[error("The venue has not come to sequence {0}.")]
    NotYet(Seq),
    /// A stream cannot be resumed from so far back, but from this sequence on.
    #[error(
        "The stream can be resumed from sequence {0} on; subscribe without from_seq and read what \
         was missed from GET /v1/orders and GET /v1/fills."
    )]
    TooFarBack(Seq),
}

impl From<Unanswered> for Error {
    fn from(unanswered: Unanswered) -> Error {
        let (kind, code) = match unanswered {
            Unanswered::Unknown(reason) => (ErrorKind::NotFound, reason.code()),
            Unanswered::Behind(_) => (ErrorKind::Unavailable, "behind"),
            Unanswered::FillForgotten => (ErrorKind::Invalid, "fill_forgotten"),
            Unanswered::NotYet(_) => (ErrorKind::Invalid, "not_yet"),
            Unanswered::TooFarBack(_) => (ErrorKind::Conflict, "too_far_back"),
        };
        Error::new(kind, code, unanswered.to_string()).with_source(unanswered)
    }
}
