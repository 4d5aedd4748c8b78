//! Encrypts a blob with the keys of the log: a file beside it that is as confidential.

use super::cipher::{Aead, TAG_BYTES};
use super::{Cipher, KeyRing};

/// The error of sealing or opening a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// The ring has no such key.
    #[error(
        "it is encrypted with key {key}, which is not among the keys given; give the keys that it \
         was written with"
    )]
    UnknownKey {
        /// The key's id.
        key: u64,
    },
    /// The ring has no current key to seal with.
    #[error("it is to be encrypted, but no key is current; give one")]
    NoKey,
    /// It was not sealed under this key, or was changed.
    #[error(
        "key {key} does not decrypt it: either the key given under this id is another than the one \
         it was written with, or somebody has changed the file"
    )]
    Undecryptable {
        /// The key's id.
        key: u64,
    },
    /// The cipher failed.
    #[error("it could not be encrypted")]
    Encryption,
}

/// The key of one blob, made from a master key and a salt of its own.
pub struct BlobKey {
    id: u64,
    aead: Box<dyn Aead>,
}

impl KeyRing {
    /// The key to seal one blob with, from the current master key. `salt` must be fresh for every
    /// blob; it and the id must be kept beside the blob. `purpose` is the kind of the blob, so that
    /// a blob cannot be used as another kind.
    pub fn seal_with(
        &self,
        cipher: Cipher,
        salt: &[u8; 16],
        purpose: &str,
    ) -> Result<BlobKey, BlobError> {
        let keys = self.keys();
        let current = keys.current.and_then(|id| Some((id, keys.by_id.get(&id)?)));
        let (id, master) = current.ok_or(BlobError::NoKey)?;
        Ok(BlobKey { id, aead: cipher.blob_key(master, salt, purpose) })
    }

    /// The key to open a blob with that was sealed with the master key `id`.
    pub fn open_with(
        &self,
        cipher: Cipher,
        id: u64,
        salt: &[u8; 16],
        purpose: &str,
    ) -> Result<BlobKey, BlobError> {
        let keys = self.keys();
        let master = keys.by_id.get(&id).ok_or(BlobError::UnknownKey { key: id })?;
        Ok(BlobKey { id, aead: cipher.blob_key(master, salt, purpose) })
    }
}

impl BlobKey {
    /// The id of the master key.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Encrypts `bytes` where they stand and appends the tag of 16 bytes. They will open with the
    /// same `bound` bytes only. A key seals once.
    pub fn seal(self, bound: &[u8], bytes: &mut Vec<u8>) -> Result<(), BlobError> {
        let tag = self.aead.seal_in_place(0, bound, bytes).map_err(|_| BlobError::Encryption)?;
        bytes.extend_from_slice(&tag);
        Ok(())
    }

    /// Decrypts what [`BlobKey::seal`] has made, its tag included.
    pub fn open(self, bound: &[u8], stored: &[u8]) -> Result<Vec<u8>, BlobError> {
        let failed = BlobError::Undecryptable { key: self.id };
        let mut bytes = vec![0; stored.len().checked_sub(TAG_BYTES).ok_or(failed)?];
        self.aead.open_into(0, bound, stored, &mut bytes).map_err(|_| failed)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(id: u64, digit: &str) -> KeyRing {
        KeyRing::parse(&format!("{id}: {}", digit.repeat(64)), "the test").unwrap()
    }

    #[test]
    fn a_blob_opens_with_its_own_key_salt_purpose_and_bound_bytes_only() {
        for cipher in Cipher::ALL {
            let keys = ring(3, "a");
            let mut stored = b"balances".to_vec();
            let key = keys.seal_with(cipher, &[1; 16], "test").unwrap();
            assert_eq!(key.id(), 3);
            key.seal(b"header", &mut stored).unwrap();
            let open = |keys: &KeyRing, salt: u8, purpose, bound: &[u8]| {
                keys.open_with(cipher, 3, &[salt; 16], purpose)?.open(bound, &stored)
            };
            assert_eq!(open(&keys, 1, "test", b"header"), Ok(b"balances".to_vec()));
            let refused = Err(BlobError::Undecryptable { key: 3 });
            assert_eq!(open(&ring(3, "b"), 1, "test", b"header"), refused);
            assert_eq!(open(&keys, 2, "test", b"header"), refused);
            assert_eq!(open(&keys, 1, "rest", b"header"), refused);
            assert_eq!(open(&keys, 1, "test", b"Header"), refused);
            let unknown = open(&ring(4, "a"), 1, "test", b"header");
            assert_eq!(unknown, Err(BlobError::UnknownKey { key: 3 }));
        }
    }

    #[test]
    fn a_text_shorter_than_a_tag_is_refused() {
        let key = ring(1, "a").open_with(Cipher::Aes128Gcm, 1, &[0; 16], "test").unwrap();
        assert_eq!(key.open(b"", b"short"), Err(BlobError::Undecryptable { key: 1 }));
        let none = KeyRing::empty().seal_with(Cipher::Aes128Gcm, &[0; 16], "test");
        assert!(matches!(none, Err(BlobError::NoKey)));
    }
}
