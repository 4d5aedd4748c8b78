//! The encrypted form of the key file: header, nonce, sealed content.

use super::file::KeyFileError;
use super::key::random;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};

const MAGIC: &[u8; 8] = b"RLTOKEYS";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 12;
const NONCE_BYTES: usize = 12;

/// Encrypts the content as a whole. The nonce is random: a file is rewritten a few thousand times
/// in its life, far from where 96 random bits could repeat.
pub(super) fn seal(master: &[u8; 32], content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + NONCE_BYTES + content.len() + 16);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    let nonce: [u8; NONCE_BYTES] = random();
    let payload = Payload { msg: content, aad: &bytes };
    let sealed = ChaCha20Poly1305::new(master.into())
        .encrypt(Nonce::from_slice(&nonce), payload)
        .expect("only a content of 256 GiB and more is refused");
    bytes.extend_from_slice(&nonce);
    bytes.extend_from_slice(&sealed);
    bytes
}

/// Decrypts what [`seal`] made. Any change to any byte is noticed.
pub(super) fn open(master: &[u8; 32], bytes: &[u8]) -> Result<Vec<u8>, KeyFileError> {
    let Some((header, rest)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err(KeyFileError::NotAKeyFile);
    };
    let (magic, version) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(KeyFileError::NotAKeyFile);
    }
    let version = u32::from_le_bytes(version.try_into().expect("12 bytes less 8 are 4"));
    if version != VERSION {
        return Err(KeyFileError::Version { got: version, max: VERSION });
    }
    let Some((nonce, sealed)) = rest.split_at_checked(NONCE_BYTES) else {
        return Err(KeyFileError::Unreadable);
    };
    ChaCha20Poly1305::new(master.into())
        .decrypt(Nonce::from_slice(nonce), Payload { msg: sealed, aad: header })
        .map_err(|_| KeyFileError::Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens_and_every_flipped_byte_is_noticed() {
        let sealed = seal(&[3; 32], b"content");
        assert_eq!(open(&[3; 32], &sealed).unwrap(), b"content");
        assert!(matches!(open(&[4; 32], &sealed), Err(KeyFileError::Unreadable)));
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert!(open(&[3; 32], &damaged).is_err(), "byte {at}");
            assert!(open(&[3; 32], &sealed[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn the_same_content_never_looks_the_same() {
        assert_ne!(seal(&[3; 32], b"content"), seal(&[3; 32], b"content"));
    }

    #[test]
    fn a_newer_version_is_named() {
        let mut sealed = seal(&[3; 32], b"");
        sealed[8] = 2;
        assert!(matches!(open(&[3; 32], &sealed), Err(KeyFileError::Version { got: 2, max: 1 })));
    }
}
