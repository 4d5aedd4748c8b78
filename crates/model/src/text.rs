//! Short texts of bounded length, held in place: symbols, client order ids, references, names.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Writes a value in its text form in JSON.
pub(crate) fn to_text<S, T>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    S: Serializer,
    T: fmt::Display,
{
    serializer.collect_str(value)
}

/// Reads a value from its text form in JSON.
pub(crate) fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: fmt::Display,
{
    struct Visitor<T>(std::marker::PhantomData<T>);
    impl<T> serde::de::Visitor<'_> for Visitor<T>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    deserializer.deserialize_str(Visitor(std::marker::PhantomData))
}

/// The reason that a text is not a [`Text`] of a given length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Longer than the field holds.
    #[error("is {got} bytes long; at most {max} are allowed")]
    TooLong {
        /// Bytes given.
        got: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// Holds a byte that is not printable ASCII.
    #[error(
        "holds byte 0x{byte:02x} at offset {at}; only printable ASCII (0x21 to 0x7e) is allowed"
    )]
    NotPrintable {
        /// The offending byte.
        byte: u8,
        /// The byte's offset.
        at: usize,
    },
}

/// At most `N` bytes of printable ASCII without spaces, held in place. Empty means "none".
///
/// Bytes past the length are zero, so that equality and hashing may use the whole array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: u8,
}

/// The member's own name for an order: 1 to 36 bytes; empty means that the order has none.
pub type ClientOrderId = Text<36>;
/// The name that a deposit or withdrawal is given from outside: 1 to 36 bytes.
pub type Reference = Text<36>;
/// The symbol of an instrument, such as `BTC-USD`: 1 to 24 bytes.
pub type Symbol = Text<24>;
/// The code of a currency, such as `USD`: 1 to 12 bytes.
pub type CurrencyCode = Text<12>;
/// The name of a member or an account: at most 36 bytes.
pub type Name = Text<36>;

impl<const N: usize> Text<N> {
    /// Bytes of the longest text.
    pub const BYTES_MAX: usize = N;

    /// The empty text.
    pub const EMPTY: Self = Text { bytes: [0; N], len: 0 };

    /// Takes `bytes` if they fit and are printable ASCII.
    pub fn new(bytes: &[u8]) -> Result<Self, TextError> {
        const { assert!(N < 256) }
        if bytes.len() > N {
            return Err(TextError::TooLong { got: bytes.len(), max: N });
        }
        if let Some(at) = bytes.iter().position(|byte| !(0x21..=0x7e).contains(byte)) {
            return Err(TextError::NotPrintable { byte: bytes[at], at });
        }
        let mut text = Self::EMPTY;
        text.bytes[..bytes.len()].copy_from_slice(bytes);
        text.len = bytes.len() as u8;
        Ok(text)
    }

    /// The bytes of the text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// All bytes that the text could have; zero past its length.
    pub(crate) fn padded(&self) -> &[u8; N] {
        &self.bytes
    }

    /// The text as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only printable ASCII gets in (see `new`), so this never falls back.
        std::str::from_utf8(self.as_bytes()).unwrap_or("")
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> FromStr for Text<N> {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::new(text.as_bytes())
    }
}

impl<const N: usize> Serialize for Text<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, const N: usize> Deserialize<'de> for Text<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_full_length_fits_and_one_more_byte_does_not() {
        assert_eq!(Text::<4>::new(b"abcd").map(|text| text.len()), Ok(4));
        assert_eq!(Text::<4>::new(b"abcde"), Err(TextError::TooLong { got: 5, max: 4 }));
    }

    #[test]
    fn only_printable_ascii_without_spaces_is_a_text() {
        for byte in 0..=u8::MAX {
            let expected = if byte.is_ascii_graphic() {
                Ok(byte)
            } else {
                Err(TextError::NotPrintable { byte, at: 2 })
            };
            let text = Text::<4>::new(&[b'a', b'b', byte]);
            assert_eq!(text.map(|text| text.as_bytes()[2]), expected);
        }
    }

    #[test]
    fn texts_of_one_field_are_equal_only_if_their_bytes_are() {
        let texts: Vec<Text<4>> =
            ["", "a", "ab", "b", "abcd"].iter().map(|text| text.parse().unwrap()).collect();
        for (at, one) in texts.iter().enumerate() {
            for (other_at, other) in texts.iter().enumerate() {
                assert_eq!(one == other, at == other_at);
            }
        }
    }

    #[test]
    fn the_empty_text_is_the_default() {
        assert!(Text::<4>::default().is_empty());
        assert_eq!("".parse(), Ok(Text::<4>::EMPTY));
        assert_eq!(Text::<4>::EMPTY.as_str(), "");
    }

    #[test]
    fn a_text_shows_as_itself_and_obeys_the_width() {
        let text: Text<8> = "BTC-USD".parse().unwrap();
        assert_eq!(format!("{text}|{text:>9}|{text:?}"), "BTC-USD|  BTC-USD|\"BTC-USD\"");
    }
}
