//! Ids of runs.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// The longest id in bytes.
const LEN_MAX: usize = 55;

/// The name of one run, unique among all runs that the store still holds, whatever their flow.
///
/// It is 1 to 55 bytes of printable ASCII without spaces and is inline, so that it is copied
/// without allocating. A good id says what the run is about (`withdrawal-4711`): starting it a
/// second time then finds the first run instead of beginning another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId {
    /// Zeros behind the end, so that comparing whole arrays compares the texts.
    bytes: [u8; LEN_MAX],
    len: u8,
}

/// A text that is not a valid id of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an id of a run: use 1 to 55 bytes of printable ASCII without spaces")]
pub struct FlowIdError(pub String);

impl FlowId {
    /// Checks and takes a text.
    pub fn new(text: &str) -> Result<Self, FlowIdError> {
        let sound =
            (1..=LEN_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !sound {
            return Err(FlowIdError(text.to_owned()));
        }
        let mut bytes = [0; LEN_MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self { bytes, len: text.len() as u8 })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)])
            .expect("an id is made of ASCII only")
    }
}

impl From<u64> for FlowId {
    fn from(number: u64) -> Self {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let digits = &digits[at..];
        let mut bytes = [0; LEN_MAX];
        bytes[..digits.len()].copy_from_slice(digits);
        Self { bytes, len: digits.len() as u8 }
    }
}

impl FromStr for FlowId {
    type Err = FlowIdError;

    fn from_str(text: &str) -> Result<Self, FlowIdError> {
        Self::new(text)
    }
}

impl TryFrom<&str> for FlowId {
    type Error = FlowIdError;

    fn try_from(text: &str) -> Result<Self, FlowIdError> {
        Self::new(text)
    }
}

impl Hash for FlowId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Only as far as there is something: hashing all the zeros behind a short id would take most
        // of the time. Those in its last word are no part of any text.
        for word in self.bytes.chunks(8).take(usize::from(self.len).div_ceil(8)) {
            let word = match word.first_chunk::<8>() {
                Some(eight) => u64::from_le_bytes(*eight),
                None => word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
            };
            state.write_u64(word);
        }
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl Serialize for FlowId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FlowId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        Self::new(text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_printable_text_without_spaces() {
        assert_eq!(FlowId::new("withdrawal-4711").unwrap().as_str(), "withdrawal-4711");
        assert!(FlowId::new(&"x".repeat(LEN_MAX)).is_ok());
        for wrong in ["", "two words", "naïve", &"x".repeat(LEN_MAX + 1)] {
            assert_eq!(FlowId::new(wrong), Err(FlowIdError(wrong.to_owned())));
        }
    }

    #[test]
    fn numbers_are_ids_in_decimal() {
        for number in [0, 7, 10, u64::MAX] {
            assert_eq!(FlowId::from(number).as_str(), number.to_string());
        }
    }
}
