//! Zero-copy archives.

use super::{Codec, CodecError, or_nothing};
use rkyv::api::high::{HighDeserializer, HighSerializer, HighValidator};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Error;
use rkyv::ser::allocator::ArenaHandle;
use rkyv::{Deserialize, Serialize};

/// An rkyv archive: little-endian, without alignment, so that it may begin at any byte of a buffer.
///
/// [`Archive::access`] checks the bytes and hands out a view of them; nothing is copied. Decoding
/// checks them too and then makes the value. Derive `rkyv::Archive`, `rkyv::Serialize` and
/// `rkyv::Deserialize` for what is to be archived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Archive;

impl Archive {
    /// A checked view of the archived value that ends where these bytes end. Unlike
    /// [`Codec::decode`] it does not build the value.
    ///
    /// # Errors
    /// If they hold no archive of such a value.
    #[inline]
    pub fn access<'a, T>(&self, bytes: &'a [u8]) -> Result<&'a T::Archived, CodecError>
    where
        T: rkyv::Archive,
        T::Archived: for<'b> CheckBytes<HighValidator<'b, Error>>,
    {
        Ok(rkyv::access::<T::Archived, Error>(bytes)?)
    }
}

impl<T> Codec<T> for Archive
where
    T: rkyv::Archive
        + for<'a, 'b> Serialize<HighSerializer<&'a mut Vec<u8>, ArenaHandle<'b>, Error>>,
    T::Archived:
        for<'a> CheckBytes<HighValidator<'a, Error>> + Deserialize<T, HighDeserializer<Error>>,
{
    #[inline]
    fn encode(&self, value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        or_nothing(out, |out| rkyv::api::high::to_bytes_in(value, out).map(drop))
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, CodecError> {
        Ok(rkyv::from_bytes(bytes)?)
    }
}
