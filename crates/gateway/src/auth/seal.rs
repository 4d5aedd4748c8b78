//! The encrypted form of the key file: header, nonce, sealed content.

use super::file::KeyFileError;
use super::key::random;
use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

const MAGIC: &[u8; 8] = b"RLTOKEYS";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 12;
const NONCE_BYTES: usize = 12;

/// Encrypts the content as a whole. The nonce is random: a file is rewritten a few thousand times,
/// far too few for 96 random bits to repeat.
pub(super) fn seal(master: &[u8; 32], content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + NONCE_BYTES + content.len() + 16);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    let nonce: [u8; NONCE_BYTES] = random();
    let mut sealed = content.to_vec();
    key(master)
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(&bytes),
            &mut sealed,
        )
        .expect("only a content of 256 GiB and more is refused");
    bytes.extend_from_slice(&nonce);
    bytes.extend_from_slice(&sealed);
    bytes
}

/// Decrypts the output of [`seal`]. A change of any byte is detected.
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
    let Some((nonce, sealed)) = rest.split_first_chunk::<NONCE_BYTES>() else {
        return Err(KeyFileError::Unreadable);
    };
    let mut content = sealed.to_vec();
    let opened = key(master)
        .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(header), &mut content)
        .map_err(|_| KeyFileError::Unreadable)?;
    let bytes = opened.len();
    content.truncate(bytes);
    Ok(content)
}

fn key(master: &[u8; 32]) -> LessSafeKey {
    let key = UnboundKey::new(&CHACHA20_POLY1305, master);
    LessSafeKey::new(key.expect("a key of this cipher has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_content_opens_and_every_flipped_byte_is_detected() {
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
    fn a_file_that_another_implementation_sealed_opens() {
        let file = "524c544f4b45595301000000000102030405060708090a0be2045bf59fe9f3eae0480adfa971a405c5968184e1cd3c";
        let bytes: Vec<u8> = (0..file.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&file[at..at + 2], 16).unwrap())
            .collect();
        assert_eq!(open(&[3; 32], &bytes).unwrap(), b"content");
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
