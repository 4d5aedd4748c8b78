//! What can go wrong, by what the caller must do.

use rialto_api::ErrorDetail;
use rialto_model::Seq;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a request has no answer of success. The variants are grouped by what the caller must do.
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
    /// The request was sent and its answer did not come. Find out what became of it before sending
    /// another: [`Client::order`](crate::Client::order) finds an order by its client order id, and a
    /// request that is sent again with the same client order id or reference takes effect at most
    /// once.
    #[error(
        "{0}; whether the request took effect is not known. Ask for the order by its client order \
         id, or send the same request again: with the same client order id or reference it takes \
         effect at most once"
    )]
    OutcomeUnknown(String),
    /// An answer came and cannot be read: the other side is of another version, or is no venue.
    #[error("{0}: is that a Rialto venue of this version?")]
    Malformed(String),
    /// The caller asked for something that cannot be sent.
    #[error("{0}")]
    Invalid(String),
    /// A key file could not be read or written.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// What was tried, as in "cannot read".
        verb: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
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

/// What the venue said when it refused.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The HTTP status; 0 on a stream, which has none.
    pub status: u16,
    /// What happened, in snake case. Codes are stable.
    pub code: String,
    /// What happened, to what, and what to do next, in a sentence.
    pub message: String,
    /// The field, parameter or header at fault.
    pub field: Option<String>,
    /// The command's place in the journal, where the engine refused it.
    pub seq: Option<Seq>,
    /// After how long the same request may succeed.
    pub retry_after: Option<Duration>,
    /// The answer as it came.
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
    /// What an error message of the venue says.
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
