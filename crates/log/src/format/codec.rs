//! How the body of a group is stored: the two numbers of the codec field.

use super::Flaw;
use crate::group::GROUP_BYTES_MAX;
use crate::sealing::{Cipher, TAG_BYTES};

use super::GROUP_HEADER_BYTES;

/// The longest body before compression and encryption.
pub(crate) const PLAIN_BYTES_MAX: usize = GROUP_BYTES_MAX - GROUP_HEADER_BYTES;
/// The longest body as it is stored: an encrypted one carries its tag.
const STORED_BYTES_MAX: usize = PLAIN_BYTES_MAX + TAG_BYTES;

/// A way of compressing, by its number on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Method {
    /// One block of LZ4, without a frame.
    Lz4 = 1,
    /// One Zstandard frame.
    Zstd = 2,
    /// One gzip member without optional header fields.
    Gzip = 3,
}

/// The transformations of a body: compression, then encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Codec {
    pub(crate) method: Option<Method>,
    pub(crate) cipher: Option<Cipher>,
}

impl Codec {
    /// The number of the method in the low byte, that of the cipher in the high one.
    pub(crate) fn number(self) -> u16 {
        let method = self.method.map_or(0, |method| method as u16);
        let cipher = self.cipher.map_or(0, Cipher::number);
        method | u16::from(cipher) << 8
    }

    /// Reads the codec and key fields of a header. A key goes with a cipher and only with one.
    pub(crate) fn decode(number: u16, key: u64) -> Result<Self, Flaw> {
        let unknown = Flaw::Codec { codec: number, key };
        let [method, cipher] = number.to_le_bytes();
        let method = match method {
            0 => None,
            1 => Some(Method::Lz4),
            2 => Some(Method::Zstd),
            3 => Some(Method::Gzip),
            _ => return Err(unknown),
        };
        let cipher = match cipher {
            0 => None,
            cipher => Some(Cipher::from_number(cipher).ok_or(unknown.clone())?),
        };
        if cipher.is_some() == (key != 0) { Ok(Self { method, cipher }) } else { Err(unknown) }
    }
}

/// The form in which a body is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) codec: Codec,
    /// The id of the master key; 0 when the body is not encrypted.
    pub(crate) key: u64,
    /// The length of the body as its records make it.
    pub(crate) plain_bytes: u32,
    /// The length of the body as it is stored.
    pub(crate) stored_bytes: u32,
}

impl Form {
    /// A body that is stored as it is.
    pub(crate) fn plain(bytes: u32) -> Self {
        Self { codec: Codec::default(), key: 0, plain_bytes: bytes, stored_bytes: bytes }
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.codec == Codec::default()
    }

    /// The bytes that the cipher adds.
    pub(crate) fn tag_bytes(codec: Codec) -> usize {
        if codec.cipher.is_some() { TAG_BYTES } else { 0 }
    }

    /// Refuses impossible lengths before anything is allocated or decompressed.
    pub(crate) fn check(&self) -> Result<(), Flaw> {
        let (plain, stored) = (self.plain_bytes as usize, self.stored_bytes as usize);
        if plain > PLAIN_BYTES_MAX {
            return Err(Flaw::Length(plain as u64));
        }
        let packed = stored.checked_sub(Self::tag_bytes(self.codec));
        let fits = match self.codec.method {
            None => packed == Some(plain),
            Some(_) => packed.is_some_and(|packed| packed < plain),
        };
        if fits && stored <= STORED_BYTES_MAX { Ok(()) } else { Err(Flaw::Length(stored as u64)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_is_read_back_as_written() {
        let methods = [None, Some(Method::Lz4), Some(Method::Zstd), Some(Method::Gzip)];
        let ciphers = Cipher::ALL.into_iter().map(Some).chain([None]);
        for (cipher, method) in ciphers.flat_map(|cipher| methods.map(|method| (cipher, method))) {
            let codec = Codec { method, cipher };
            let key = u64::from(cipher.is_some()) * 7;
            assert_eq!(Codec::decode(codec.number(), key), Ok(codec));
            assert!(Codec::decode(codec.number(), 7 - key).is_err(), "{codec:?}");
        }
    }

    #[test]
    fn unknown_numbers_are_refused() {
        for number in [4, 0x0400, 0xff00] {
            assert_eq!(Codec::decode(number, 1), Err(Flaw::Codec { codec: number, key: 1 }));
        }
    }

    #[test]
    fn impossible_lengths_are_refused() {
        let gcm = Codec { method: None, cipher: Some(Cipher::Aes256Gcm) };
        let lz4 = Codec { method: Some(Method::Lz4), cipher: None };
        let form =
            |codec, plain_bytes, stored_bytes| Form { codec, key: 0, plain_bytes, stored_bytes };
        assert!(form(gcm, 100, 116).check().is_ok());
        assert!(form(gcm, 100, 100).check().is_err());
        assert!(form(gcm, 0, 8).check().is_err());
        assert!(form(lz4, 100, 99).check().is_ok());
        assert!(form(lz4, 100, 100).check().is_err());
        assert!(form(lz4, PLAIN_BYTES_MAX as u32, 100).check().is_ok());
        // The length that a decompression bomb would have.
        assert!(form(lz4, PLAIN_BYTES_MAX as u32 + 1, 100).check().is_err());
        assert!(Form::plain(PLAIN_BYTES_MAX as u32).check().is_ok());
    }
}
