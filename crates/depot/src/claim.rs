//! Claims: files in the hands of workers.

use crate::FileId;
use crate::name::TenantName;
use crate::record::FileRecord;
use crate::work::Held;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use rialto_clock::Timestamp;
use rialto_queue::{Delivered, MessageId};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// What a worker asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimOptions {
    /// The most files.
    pub files_max: usize,
    /// How long the claim lasts; the pool's `claim_duration` if it is not given.
    pub duration: Option<Duration>,
}

impl Default for ClaimOptions {
    fn default() -> Self {
        Self { files_max: 1, duration: None }
    }
}

impl ClaimOptions {
    /// At most this many files.
    #[must_use]
    pub fn up_to(files_max: usize) -> Self {
        Self { files_max, ..Self::default() }
    }

    /// Sets how long the claim lasts.
    #[must_use]
    pub fn lasting(mut self, duration: Duration) -> Self {
        self.duration = Some(duration);
        self
    }
}

/// A file in the hands of a worker, until it is completed, fails, or the deadline passes.
#[derive(Clone, Debug)]
pub struct Claim {
    pub(crate) token: ClaimToken,
    pub(crate) file: Arc<FileRecord>,
    pub(crate) attempt: u16,
    pub(crate) deadline: Timestamp,
    pub(crate) problem: Option<String>,
    /// The message, which has the bytes of an inline file.
    pub(crate) message: Delivered,
}

impl Claim {
    /// The token that names the claim in later calls.
    #[must_use]
    pub fn token(&self) -> &ClaimToken {
        &self.token
    }

    /// The tenant of the file.
    #[must_use]
    pub fn tenant(&self) -> &TenantName {
        &self.token.tenant
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &FileRecord {
        &self.file
    }

    /// The number of times that the file was handed out, this time included.
    #[must_use]
    pub fn attempt(&self) -> u16 {
        self.attempt
    }

    /// When the claim ends, unless it is renewed.
    #[must_use]
    pub fn deadline(&self) -> Timestamp {
        self.deadline
    }

    /// The reason that the bytes cannot be read, if they are missing. Such a file cannot be completed;
    /// fail it, and it becomes a dead letter.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}

/// The name of a claim. It is of no use once the claim has ended, and none in another run of the
/// process. It has 128 random bits, so that nobody computes the token of another's claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimToken {
    pub(crate) tenant: TenantName,
    pub(crate) file: FileId,
    pub(crate) message: MessageId,
    pub(crate) lease: u64,
    pub(crate) secret: ClaimSecret,
}

/// The random bits of a claim.
#[derive(Clone, Copy, Debug, Eq)]
pub(crate) struct ClaimSecret(pub(crate) u128);

impl PartialEq for ClaimSecret {
    /// Takes the same time wherever the bits differ.
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.0.to_le_bytes(), other.0.to_le_bytes());
        verify_slices_are_equal(&one, &other).is_ok()
    }
}

impl Hash for ClaimSecret {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl ClaimToken {
    /// The tenant of the file.
    #[must_use]
    pub fn tenant(&self) -> &TenantName {
        &self.tenant
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> FileId {
        self.file
    }

    pub(crate) fn held(&self) -> Held {
        Held { message: self.message, lease: self.lease }
    }
}

impl fmt::Display for ClaimToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MessageId { lane, seq } = self.message;
        write!(f, "{}.{}.{lane:x}.{seq:x}.", self.tenant, self.file)?;
        write!(f, "{:x}.{:032x}", self.lease, self.secret.0)
    }
}

/// A text that is not a [`ClaimToken`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the token of a claim; use the one that the claim was answered with")]
pub struct InvalidClaimToken(pub String);

impl FromStr for ClaimToken {
    type Err = InvalidClaimToken;

    fn from_str(text: &str) -> Result<Self, InvalidClaimToken> {
        let invalid = || InvalidClaimToken(text.chars().take(160).collect());
        let mut parts = text.split('.');
        let mut next = || parts.next().ok_or_else(invalid);
        let (tenant, file) = (next()?, next()?);
        let number = |text: &str| u64::from_str_radix(text, 16).map_err(|_| invalid());
        let token = Self {
            tenant: TenantName::new(tenant).map_err(|_| invalid())?,
            file: file.parse().map_err(|_| invalid())?,
            message: MessageId {
                lane: u8::try_from(number(next()?)?).map_err(|_| invalid())?,
                seq: number(next()?)?,
            },
            lease: number(next()?)?,
            secret: ClaimSecret(u128::from_str_radix(next()?, 16).map_err(|_| invalid())?),
        };
        // A token has one form.
        if token.to_string() == text { Ok(token) } else { Err(invalid()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_from_its_text() {
        let token = ClaimToken {
            tenant: TenantName::new("acme").unwrap(),
            file: FileId(77),
            message: MessageId { lane: 3, seq: 1 << 40 },
            lease: u64::MAX,
            secret: ClaimSecret(u128::MAX - 9),
        };
        assert_eq!(token.to_string().parse(), Ok(token.clone()));
        let more = format!("{token}.1");
        for text in ["", "acme", "acme.1.2.3.4.5", &more, "ACME.0.0.0.0.0"] {
            assert!(text.parse::<ClaimToken>().is_err(), "{text}");
        }
    }
}
