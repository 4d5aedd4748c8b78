//! Time as the sequencer stamps it.

use crate::text::from_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Nanoseconds since 1970-01-01 00:00 UTC. In JSON it is a string that holds the integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The beginning of time; "already due" where a due time is meant.
    pub const ZERO: Timestamp = Timestamp(0);
    /// The end of time; "never" where a due time is meant.
    pub const MAX: Timestamp = Timestamp(u64::MAX);
    /// Nanoseconds in a second.
    pub const SECOND: u64 = 1_000_000_000;
    /// Nanoseconds in a day.
    pub const DAY: u64 = 86_400 * Self::SECOND;

    /// This time plus `nanoseconds`, or [`Timestamp::MAX`] if that is past the end of time.
    #[must_use]
    pub fn saturating_add(self, nanoseconds: u64) -> Timestamp {
        Timestamp(self.0.saturating_add(nanoseconds))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(itoa::Buffer::new().format(self.0))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer)
    }
}
