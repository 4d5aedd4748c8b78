//! Errors, grouped by what the caller must do.

use rialto_api::ErrorDetail;
use rialto_model::Seq;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The error of a request. The variants are grouped by what the caller must do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The venue refused, and the request had no effect unless its code says otherwise: correct the
    /// request, or wait for as long as [`Refusal::retry_after`] says.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The venue could not be reached, and the request had no effect: send it again later.
    #[error("{0}")]
    Unreachable(String),
    /// The request was sent and its answer did not come. Find out its outcome before sending
    /// another: [`Client::order`](crate::Client::order) finds an order by its client order id, and
    /// a request that is sent again with the same client order id or reference takes effect at most
    /// once.
    #[error(
        "{0}; whether the request took effect is not known. Ask for the order by its client order \
         id, or send the same request again: with the same client order id or reference it takes \
         effect at most once"
    )]
    OutcomeUnknown(String),
    /// An answer came and cannot be read: the other side has another version, or is not a venue.
    #[error("{0}: is that a Rialto venue of this version?")]
    Malformed(String),
    /// The request is invalid and was not sent.
    #[error("{0}")]
    Invalid(String),
    /// A key file could not be read or written.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// The operation, as in "cannot read".
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl ClientError {
    /// The code of a refusal.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            ClientError::Refused(refusal) => Some(&refusal.code),
            _ => None,
        }
    }
}

/// A refusal of the venue.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The HTTP status; 0 on a stream, which has none.
    pub status: u16,
    /// The error's code, in snake case. Codes are stable.
    pub code: String,
    /// What happened, to what, and what to do next, in a sentence.
    pub message: String,
    /// The path of the field, or the name of the parameter or header, at fault.
    pub field: Option<String>,
    /// The sequence of the command, if the engine refused it.
    pub seq: Option<Seq>,
    /// After how long the same request may succeed.
    pub retry_after: Option<Duration>,
    /// The unparsed body of the answer.
    pub body: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl Refusal {
    /// The refusal in an error of the venue.
    pub(crate) fn of(status: u16, error: ErrorDetail, body: String) -> Refusal {
        Refusal {
            status,
            code: error.code.into_owned(),
            message: error.message.into_owned(),
            field: error.field.map(std::borrow::Cow::into_owned),
            seq: error.seq,
            retry_after: None,
            body,
        }
    }
}
