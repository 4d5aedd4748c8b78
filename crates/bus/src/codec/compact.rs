//! A compact binary form.

use super::{Codec, CodecError, or_nothing};
use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Postcard's wire format, by way of serde: integers of as many bytes as they need, no names of
/// fields. Reader and writer must agree on the type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compact;

impl<T: Serialize + DeserializeOwned> Codec<T> for Compact {
    #[inline]
    fn encode(&self, value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        or_nothing(out, |out| postcard::serialize_with_flavor(value, Appended(out)))
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, CodecError> {
        let (value, left) = postcard::take_from_bytes(bytes)?;
        // Postcard itself accepts them, but then two byte strings would be one message.
        if left.is_empty() { Ok(value) } else { Err(CodecError::Trailing { left: left.len() }) }
    }
}

/// Adds what postcard writes to a vector that is there already.
struct Appended<'a>(&'a mut Vec<u8>);

impl Flavor for Appended<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
