//! Encryption of snapshots.

use super::file::SnapshotHeader;
use rialto_log::{BlobError, Cipher, KeyRing};
use std::sync::Arc;

/// The context of the keys, so that no other ciphertext can be used.
const PURPOSE: &str = "rialto snapshot";
/// An encrypted content begins with the salt of its key.
const SALT_BYTES: usize = 16;

/// Encrypts contents before they are written and decrypts them after they are read.
#[derive(Clone)]
pub(crate) struct SnapshotCipher {
    keys: KeyRing,
    sealing: Option<Sealing>,
}

#[derive(Clone)]
struct Sealing {
    cipher: Cipher,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl SnapshotCipher {
    /// Encrypts with the cipher, if there is one; `random` makes the salts.
    pub(crate) fn new(
        cipher: Option<Cipher>,
        keys: KeyRing,
        random: &Arc<dyn Fn() -> u64 + Send + Sync>,
    ) -> Self {
        let sealing = cipher.map(|cipher| Sealing { cipher, random: Arc::clone(random) });
        Self { keys, sealing }
    }

    /// For readers.
    pub(crate) fn reading(keys: &KeyRing) -> Self {
        Self { keys: keys.clone(), sealing: None }
    }

    /// Completes a header for its content, and returns the content in its stored form.
    pub(crate) fn seal(
        &self,
        header: &mut SnapshotHeader,
        mut content: Vec<u8>,
    ) -> Result<Vec<u8>, BlobError> {
        header.seal = None;
        if let Some(Sealing { cipher, random }) = &self.sealing {
            let mut salt = [0; SALT_BYTES];
            salt[..8].copy_from_slice(&random().to_le_bytes());
            salt[8..].copy_from_slice(&random().to_le_bytes());
            let key = self.keys.seal_with(*cipher, &salt, PURPOSE)?;
            header.seal = Some((*cipher, key.id()));
            key.seal(&header.bound(), &mut content)?;
            content.splice(..0, salt);
        }
        header.describe(&content);
        Ok(content)
    }

    /// The content of a header, from its verified stored form.
    pub(crate) fn open(
        &self,
        header: &SnapshotHeader,
        stored: Vec<u8>,
    ) -> Result<Vec<u8>, BlobError> {
        let Some((cipher, id)) = header.seal else { return Ok(stored) };
        let Some((salt, sealed)) = stored.split_first_chunk::<SALT_BYTES>() else {
            return Err(BlobError::Undecryptable { key: id });
        };
        self.keys.open_with(cipher, id, salt, PURPOSE)?.open(&header.bound(), sealed)
    }
}
