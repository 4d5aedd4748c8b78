//! Names of files that the pool gives.

use rialto_clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The id of a file: unique in all pools, and greater than those of files that the same process made
/// before. As text it is 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub u128);

impl FileId {
    /// The shard of a file: a byte that is evenly distributed.
    #[must_use]
    pub fn shard(self) -> u8 {
        // The low bits count; multiplying spreads them over the high ones.
        ((self.0 >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a [`FileId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a file id: it has 32 digits of 0 to 9 and a to f")]
pub struct InvalidFileId(pub String);

impl FromStr for FileId {
    type Err = InvalidFileId;

    fn from_str(text: &str) -> Result<Self, InvalidFileId> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let valid = text.len() == 32 && text.bytes().all(is_digit);
        let number = valid.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        number.map(Self).ok_or_else(|| InvalidFileId(text.chars().take(64).collect()))
    }
}

/// Makes ids: the time in nanoseconds, at least one more than the last, before 64 random bits of
/// this opening of the pool.
pub(crate) struct FileIds {
    opening: u64,
    last: AtomicU64,
}

impl FileIds {
    pub(crate) fn new(opening: u64) -> Self {
        Self { opening, last: AtomicU64::new(0) }
    }

    pub(crate) fn next(&self, now: Timestamp) -> FileId {
        let next = |last: u64| now.0.max(last + 1);
        let last = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)))
            .unwrap_or_else(|last| last);
        FileId(u128::from(next(last)) << 64 | u128::from(self.opening))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_increase_when_the_clock_does_not() {
        let ids = FileIds::new(7);
        let first = ids.next(Timestamp(1_000));
        let second = ids.next(Timestamp(1_000));
        let third = ids.next(Timestamp(10));
        assert!(first < second && second < third);
    }

    #[test]
    fn an_id_is_read_back_from_its_text() {
        let id = FileIds::new(7).next(Timestamp(1_700_000_000_000_000_000));
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in ["", "00", "../../../../etc/passwd0000000000", &"G".repeat(32)] {
            assert!(text.parse::<FileId>().is_err(), "{text}");
        }
    }
}
