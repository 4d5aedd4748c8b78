//! A point in time.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::time::Duration;

/// Nanoseconds since 1970-01-01 00:00 UTC. In JSON and other texts it is a string that holds the
/// integer, in binary formats a `u64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The earliest time; as a due time it means "already due".
    pub const ZERO: Self = Self(0);
    /// The latest time; as a due time it means "never".
    pub const MAX: Self = Self(u64::MAX);
    /// Nanoseconds in a millisecond.
    pub const MILLISECOND: u64 = 1_000_000;
    /// Nanoseconds in a second.
    pub const SECOND: u64 = 1_000_000_000;
    /// Nanoseconds in a day.
    pub const DAY: u64 = 86_400 * Self::SECOND;

    /// This time plus `nanoseconds`, or [`Timestamp::MAX`] if that is past the end of time.
    #[must_use]
    pub const fn saturating_add(self, nanoseconds: u64) -> Self {
        Self(self.0.saturating_add(nanoseconds))
    }

    /// This time plus `duration`, or [`Timestamp::MAX`] if that is past the end of time.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        self.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    /// How much later this is than `earlier`; zero if it is not.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
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
        if serializer.is_human_readable() {
            serializer.serialize_str(itoa::Buffer::new().format(self.0))
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Timestamp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Text)
        } else {
            u64::deserialize(deserializer).map(Timestamp)
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "pattern": "^[0-9]{1,20}$",
            "description": "Nanoseconds since 1970-01-01 00:00 UTC: 64 bits as decimal text."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_string_in_json_and_a_bare_integer_in_binary_formats() {
        let time = Timestamp(u64::MAX);
        let json = serde_json::to_string(&time).unwrap();
        assert_eq!(json, "\"18446744073709551615\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
        assert!(serde_json::from_str::<Timestamp>("1").is_err());

        let bytes = postcard::to_extend(&time, Vec::new()).unwrap();
        assert_eq!(bytes, postcard::to_extend(&time.0, Vec::new()).unwrap());
        assert_eq!(postcard::from_bytes::<Timestamp>(&bytes).unwrap(), time);
    }
}
