//! The master keys, by id, shared by writers and readers and exchangeable while they run.

use super::key_text;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use zeroize::Zeroizing;

/// The length of a master key.
pub const MASTER_KEY_BYTES: usize = 32;

/// The longest text that is read as keys: room for some thousand of them.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// The error of reading keys. No message contains any part of a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file could not be read.
    #[error("cannot read the keys in {}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Others than its owner may use the file.
    #[error(
        "{} has the mode {mode:04o}, so that others can read the keys in it; \
         run chmod 600 on it, and consider the keys known",
        file.display()
    )]
    Exposed {
        /// The file.
        file: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The text is malformed.
    #[error("{source_name}, line {line}: {why}")]
    Text {
        /// Where the text comes from: a file, a variable.
        source_name: String,
        /// The line, from 1.
        line: usize,
        /// The fault.
        why: String,
    },
}

/// A master key, wiped from memory when it is dropped.
pub(crate) struct MasterKey(Zeroizing<[u8; MASTER_KEY_BYTES]>);

impl MasterKey {
    pub(crate) fn new(bytes: [u8; MASTER_KEY_BYTES]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &*self.0
    }
}

/// The contents of a ring.
#[derive(Default)]
pub(crate) struct Keys {
    pub(crate) by_id: BTreeMap<u64, MasterKey>,
    /// The key that writers encrypt with.
    pub(crate) current: Option<u64>,
}

/// Master keys by id, one of them current. Clones share one ring.
///
/// Writers encrypt each group with the key that is current when they store it; readers find the key
/// of a group by the id in its header. [`KeyRing::swap`] exchanges the keys under both while they
/// run. A key must stay in the ring as long as a group that was encrypted with it is to be read.
///
/// As text, keys are lines `id: key` and a line `current: id`, which may be left out when there is
/// one key only. An id is a number from 1. A key is 32 random bytes, as 64 hexadecimal digits or as
/// base64. Empty lines and lines that begin with `#` mean nothing.
///
/// ```
/// let keys = rialto_log::KeyRing::parse(
///     "1: 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n\
///      2: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n\
///      current: 2\n",
///     "the example",
/// )?;
/// assert_eq!((keys.ids(), keys.current()), (vec![1, 2], Some(2)));
/// # Ok::<(), rialto_log::KeyError>(())
/// ```
#[derive(Clone, Default)]
pub struct KeyRing {
    shared: Arc<RwLock<Arc<Keys>>>,
}

impl KeyRing {
    /// A ring without keys: enough for logs that are not encrypted.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Reads keys from text that came from `source_name`, which errors name.
    pub fn parse(text: &str, source_name: &str) -> Result<Self, KeyError> {
        let keys = key_text::parse(text).map_err(|(line, why)| KeyError::Text {
            source_name: source_name.to_owned(),
            line,
            why,
        })?;
        Ok(Self { shared: Arc::new(RwLock::new(Arc::new(keys))) })
    }

    /// Reads keys from a file, which nobody but its owner may read or write.
    pub fn read_file(file: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::File { file: file.to_owned(), source };
        let opened = std::fs::File::open(file).map_err(failed)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Read from the open file, so that the file cannot be exchanged in between.
            let mode = opened.metadata().map_err(failed)?.permissions().mode() & 0o7777;
            if mode & 0o077 != 0 {
                return Err(KeyError::Exposed { file: file.to_owned(), mode });
            }
        }
        let mut text = Zeroizing::new(String::new());
        opened.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
        if text.len() as u64 > TEXT_BYTES_MAX {
            return Err(failed(std::io::Error::other("it is longer than 1 MiB")));
        }
        Self::parse(&text, &file.display().to_string())
    }

    /// Takes over the keys of `other`, for every clone of this ring. Groups written from now on are
    /// encrypted with the new current key. Groups of keys that are gone can no longer be read.
    pub fn swap(&self, other: &KeyRing) {
        let keys = other.keys();
        *self.shared.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// The id of the key that writers encrypt with.
    pub fn current(&self) -> Option<u64> {
        self.keys().current
    }

    /// The ids of all keys, in order.
    pub fn ids(&self) -> Vec<u64> {
        self.keys().by_id.keys().copied().collect()
    }

    pub(crate) fn keys(&self) -> Arc<Keys> {
        self.shared.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys = self.keys();
        let ids: Vec<u64> = keys.by_id.keys().copied().collect();
        f.debug_struct("KeyRing").field("ids", &ids).field("current", &keys.current).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const TEXT: &str = "5: 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

    fn file(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        std::fs::write(&path, TEXT).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        (dir, path)
    }

    #[test]
    fn a_file_of_its_owner_is_read() {
        let (_dir, path) = file(0o600);
        assert_eq!(KeyRing::read_file(&path).unwrap().current(), Some(5));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        for mode in [0o640, 0o604, 0o620, 0o666] {
            let (_dir, path) = file(mode);
            let error = KeyRing::read_file(&path).unwrap_err();
            assert!(matches!(error, KeyError::Exposed { mode: got, .. } if got == mode), "{error}");
            assert!(error.to_string().contains("chmod 600"));
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = KeyRing::read_file(Path::new("/nowhere/keys")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/keys"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_list_of_keys_is_refused_with_its_name() {
        for (content, says) in [("1: 00", "line 1: key 1 must"), ("", "line 0: no key")] {
            let (_dir, path) = file(0o600);
            std::fs::write(&path, content).unwrap();
            let error = KeyRing::read_file(&path).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("/keys, "), "{error}");
        }
        let (_dir, path) = file(0o600);
        std::fs::write(&path, "#".repeat(TEXT_BYTES_MAX as usize + 1)).unwrap();
        assert!(KeyRing::read_file(&path).unwrap_err().to_string().contains("1 MiB"));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(KeyRing::read_file(&path).is_err());
    }

    #[test]
    fn all_clones_see_a_swap() {
        let ring = KeyRing::empty();
        let clone = ring.clone();
        ring.swap(&KeyRing::parse(TEXT, "test").unwrap());
        assert_eq!(clone.current(), Some(5));
    }

    #[test]
    fn debug_output_contains_no_key() {
        let ring = KeyRing::parse(TEXT, "test").unwrap();
        assert_eq!(format!("{ring:?}"), "KeyRing { ids: [5], current: Some(5) }");
    }
}
