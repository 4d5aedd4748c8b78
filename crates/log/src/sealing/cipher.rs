//! Encryption with authentication, behind a trait, so that one file knows the library.

use super::keys::MasterKey;
use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce,
    UnboundKey,
};
use aws_lc_rs::hkdf;

/// The length of the tag that every cipher puts behind what it encrypts.
pub(crate) const TAG_BYTES: usize = 16;

/// A cipher that authenticates what it encrypts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES-GCM with a key of 128 bits.
    Aes128Gcm,
    /// AES-GCM with a key of 256 bits.
    Aes256Gcm,
    /// ChaCha20-Poly1305; the one to choose where the processor has no instructions for AES.
    ChaCha20Poly1305,
}

impl Cipher {
    /// Every cipher.
    pub const ALL: [Self; 3] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];

    /// Its name, as it is written in configurations and bound into the keys.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes128Gcm => "aes-128-gcm",
            Self::Aes256Gcm => "aes-256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
        }
    }

    /// Its number on disk, from 1.
    pub const fn number(self) -> u8 {
        match self {
            Self::Aes128Gcm => 1,
            Self::Aes256Gcm => 2,
            Self::ChaCha20Poly1305 => 3,
        }
    }

    /// The cipher with a number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|cipher| cipher.number() == number)
    }

    fn algorithm(self) -> &'static Algorithm {
        match self {
            Self::Aes128Gcm => &AES_128_GCM,
            Self::Aes256Gcm => &AES_256_GCM,
            Self::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        }
    }

    /// The key of one epoch: HKDF-SHA256 of the master key with the epoch's salt, bound to the
    /// cipher and the epoch. With a fresh salt for every opening no two epochs share a key, be they
    /// of one log or of two clones of it, so that group numbers may serve as nonces.
    pub(crate) fn key(self, master: &MasterKey, salt: &[u8; 16], epoch: u64) -> Box<dyn Aead> {
        let epoch = epoch.to_le_bytes();
        self.derive(master, salt, &[b"rialto log group ", self.name().as_bytes(), &epoch])
    }

    /// The key of one blob, bound to the cipher and to what the blob is.
    pub(crate) fn blob_key(
        self,
        master: &MasterKey,
        salt: &[u8; 16],
        purpose: &str,
    ) -> Box<dyn Aead> {
        self.derive(master, salt, &[purpose.as_bytes(), b" ", self.name().as_bytes()])
    }

    fn derive(self, master: &MasterKey, salt: &[u8; 16], info: &[&[u8]]) -> Box<dyn Aead> {
        let pseudo_random = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(master.bytes());
        let key = pseudo_random
            .expand(info, self.algorithm())
            .expect("a key is shorter than the 8160 bytes that the expansion can make");
        Box::new(LessSafeKey::new(UnboundKey::from(key)))
    }
}

impl std::fmt::Display for Cipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Cipher {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|cipher| cipher.name() == text).ok_or_else(|| {
            format!("`{text}` is no cipher: use aes-128-gcm, aes-256-gcm or chacha20-poly1305")
        })
    }
}

/// A failure of the cipher: the bytes are not authentic, or the library failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CipherFailed;

/// A cipher with its key. A number must never be used twice to seal: two bodies with one nonce
/// reveal each other.
pub(crate) trait Aead: Send + Sync {
    /// Encrypts `body` where it stands and returns its tag.
    fn seal_in_place(
        &self,
        number: u64,
        bound: &[u8],
        body: &mut [u8],
    ) -> Result<[u8; TAG_BYTES], CipherFailed>;

    /// Encrypts `plain` into `target`, which is as long, and returns its tag.
    fn seal_into(
        &self,
        number: u64,
        bound: &[u8],
        plain: &[u8],
        target: &mut [u8],
    ) -> Result<[u8; TAG_BYTES], CipherFailed>;

    /// Decrypts `stored`, a body and its tag, into `target`, which is as long as the body. After a
    /// failure the contents of `target` are undefined.
    fn open_into(
        &self,
        number: u64,
        bound: &[u8],
        stored: &[u8],
        target: &mut [u8],
    ) -> Result<(), CipherFailed>;
}

/// The number of a group as a nonce of 96 bits.
fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(bytes)
}

impl Aead for LessSafeKey {
    fn seal_in_place(
        &self,
        number: u64,
        bound: &[u8],
        body: &mut [u8],
    ) -> Result<[u8; TAG_BYTES], CipherFailed> {
        let tag = self
            .seal_in_place_separate_tag(nonce(number), Aad::from(bound), body)
            .map_err(|_| CipherFailed)?;
        tag.as_ref().try_into().map_err(|_| CipherFailed)
    }

    fn seal_into(
        &self,
        number: u64,
        bound: &[u8],
        plain: &[u8],
        target: &mut [u8],
    ) -> Result<[u8; TAG_BYTES], CipherFailed> {
        let mut tag = [0; TAG_BYTES];
        let bound = Aad::from(bound);
        self.seal_out_of_place_scatter(nonce(number), bound, plain, target, &[], &mut tag)
            .map_err(|_| CipherFailed)?;
        Ok(tag)
    }

    fn open_into(
        &self,
        number: u64,
        bound: &[u8],
        stored: &[u8],
        target: &mut [u8],
    ) -> Result<(), CipherFailed> {
        let (body, tag) = stored.split_last_chunk::<TAG_BYTES>().ok_or(CipherFailed)?;
        self.open_separate_gather(nonce(number), Aad::from(bound), body, tag, target)
            .map_err(|_| CipherFailed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(cipher: Cipher, master: u8, salt: u8, epoch: u64) -> Box<dyn Aead> {
        cipher.key(&MasterKey::new([master; 32]), &[salt; 16], epoch)
    }

    fn sealed(key: &dyn Aead, number: u64, bound: &[u8]) -> Vec<u8> {
        let mut body = b"an order for ten lots".to_vec();
        let tag = key.seal_in_place(number, bound, &mut body).unwrap();
        body.extend(tag);
        body
    }

    #[test]
    fn both_ways_of_sealing_agree_and_open() {
        for cipher in Cipher::ALL {
            let key = key(cipher, 1, 2, 3);
            let stored = sealed(&*key, 4, b"header");
            let plain = b"an order for ten lots";
            let mut apart = vec![0; plain.len()];
            let tag = key.seal_into(4, b"header", plain, &mut apart).unwrap();
            apart.extend(tag);
            assert_eq!(apart, stored, "{cipher}");
            assert!(!stored.windows(5).any(|part| part == b"order"));
            let mut back = vec![0; plain.len()];
            key.open_into(4, b"header", &stored, &mut back).unwrap();
            assert_eq!(back, plain);
        }
    }

    #[test]
    fn any_difference_prevents_decryption() {
        for cipher in Cipher::ALL {
            let stored = sealed(&*key(cipher, 1, 2, 3), 4, b"header");
            let mut back = vec![0; stored.len() - TAG_BYTES];
            let mut opens = |key: Box<dyn Aead>, number, bound: &[u8]| {
                key.open_into(number, bound, &stored, &mut back).is_ok()
            };
            assert!(opens(key(cipher, 1, 2, 3), 4, b"header"));
            assert!(!opens(key(cipher, 9, 2, 3), 4, b"header"), "another master key");
            assert!(!opens(key(cipher, 1, 9, 3), 4, b"header"), "another salt");
            assert!(!opens(key(cipher, 1, 2, 9), 4, b"header"), "another epoch");
            assert!(!opens(key(cipher, 1, 2, 3), 9, b"header"), "another group");
            assert!(!opens(key(cipher, 1, 2, 3), 4, b"Header"), "another header");
            for other in Cipher::ALL.into_iter().filter(|other| *other != cipher) {
                assert!(!opens(key(other, 1, 2, 3), 4, b"header"), "{other} for {cipher}");
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for cipher in Cipher::ALL {
            assert_eq!(cipher.name().parse(), Ok(cipher));
            assert_eq!(Cipher::from_number(cipher.number()), Some(cipher));
        }
        assert!("aes".parse::<Cipher>().unwrap_err().contains("aes-128-gcm"));
    }
}
