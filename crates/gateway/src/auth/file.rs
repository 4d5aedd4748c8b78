//! The files of the key store: `keys`, `master.key` and `lock` in the directory `auth`.

use super::key::random;
use super::seal;
use rialto_api::sign::{from_hex, to_hex};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const KEYS_FILE: &str = "keys";
/// The environment variable that may hold the master key.
const MASTER_KEY_VARIABLE: &str = "RIALTO_MASTER_KEY";

/// The reason why a key file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// Its magic number is wrong.
    #[error("it is not a key file; restore it from a backup")]
    NotAKeyFile,
    /// It was written by a newer binary.
    #[error("it has format version {got}; this binary reads up to {max}, use a newer one")]
    Version {
        /// The file's version.
        got: u32,
        /// The newest version that this binary reads.
        max: u32,
    },
    /// It cannot be decrypted.
    #[error(
        "it cannot be decrypted: it is damaged, or it belongs to another master key; restore both"
    )]
    Unreadable,
    /// Its decrypted content is invalid.
    #[error("its content is invalid: {0}")]
    Content(#[from] serde_json::Error),
    /// The master key is not 64 lower-case hexadecimal digits.
    #[error(
        "a master key is 64 lower-case hexadecimal digits, and this is none: restore it from a copy, \
         or set {MASTER_KEY_VARIABLE} to it. Without it the keys cannot be read: move the directory \
         auth away and run rialto admin-key --new DIR, which begins without API keys"
    )]
    MasterKey,
    /// Other users can read the master key.
    #[error("other users can read it (mode {mode:o}); run chmod 600 on it")]
    Exposed {
        /// The file's permissions.
        mode: u32,
    },
    /// There is a key file, but no master key.
    #[error(
        "it is missing, and the key file cannot be read without it; restore it, or set {MASTER_KEY_VARIABLE}"
    )]
    NoMasterKey,
    /// Another process uses it.
    #[error("another process uses this key store; stop it first")]
    InUse,
    /// The system's error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The source of the key that encrypts the key file.
#[derive(Clone)]
pub enum MasterKey {
    /// The environment variable `RIALTO_MASTER_KEY` if it is set; otherwise the file
    /// `auth/master.key`. If there are no keys yet, that file is created, readable by its owner
    /// only.
    Find,
    /// This one.
    Given([u8; 32]),
}

/// The directory of the key store, locked by this process.
pub(super) struct AuthDir {
    dir: PathBuf,
    master: [u8; 32],
    /// Closing the file releases the lock.
    _lock: File,
}

/// An error with its file.
pub(super) type At<T> = Result<T, (PathBuf, KeyFileError)>;

fn at<T, E: Into<KeyFileError>>(path: &Path, result: Result<T, E>) -> At<T> {
    result.map_err(|error| (path.to_owned(), error.into()))
}

impl AuthDir {
    pub(super) fn open(dir: &Path, master: &MasterKey) -> At<AuthDir> {
        at(dir, make(dir))?;
        let path = dir.join("lock");
        let lock = at(&path, private().create(true).truncate(false).write(true).open(&path))?;
        at(dir, lock_alone(&lock))?;
        let master = match master {
            MasterKey::Given(key) => *key,
            MasterKey::Find => match std::env::var(MASTER_KEY_VARIABLE) {
                Ok(text) => {
                    let place = Path::new(MASTER_KEY_VARIABLE);
                    at(place, from_hex(text.trim()).ok_or(KeyFileError::MasterKey))?
                }
                Err(_) => master_key_file(dir)?,
            },
        };
        Ok(AuthDir { dir: dir.to_owned(), master, _lock: lock })
    }

    /// Whether this directory has a key file.
    pub(super) fn has_keys(dir: &Path) -> bool {
        dir.join(KEYS_FILE).exists()
    }

    fn keys(&self) -> PathBuf {
        self.dir.join(KEYS_FILE)
    }

    /// The decrypted content of the key file; `None` if there is no file.
    pub(super) fn read(&self) -> At<Option<Vec<u8>>> {
        let path = self.keys();
        match fs::read(&path) {
            Ok(bytes) => at(&path, seal::open(&self.master, &bytes)).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => at(&path, Err(error)),
        }
    }

    /// Replaces the key file atomically: after a crash it is either the old or the new one.
    pub(super) fn write(&self, content: &[u8]) -> At<()> {
        let path = self.keys();
        let sealed = seal::seal(&self.master, content);
        at(&path, replace(&self.dir, &path, &sealed))
    }

    pub(super) fn error(&self, error: impl Into<KeyFileError>) -> (PathBuf, KeyFileError) {
        (self.keys(), error.into())
    }
}

/// Opens files for their owner only.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Creates the directory and its missing parents durably. A directory lost in a power failure would
/// look like a store that never had keys.
fn make(dir: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|above| !above.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // An existing directory too: the process that created it may have ended before the sync.
    for made in missing.into_iter().chain([dir]) {
        let above = made.parent().filter(|above| !above.as_os_str().is_empty());
        File::open(above.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// Locks the store for this process. An interrupted call is repeated.
fn lock_alone(lock: &File) -> Result<(), KeyFileError> {
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => return Err(KeyFileError::InUse),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}

fn replace(dir: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("new");
    // A leftover of a crash, or a planted link: a new file follows no link.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private().create_new(true).write(true).open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    File::open(dir)?.sync_all()
}

fn master_key_file(dir: &Path) -> At<[u8; 32]> {
    let path = dir.join("master.key");
    match fs::read(&path) {
        Ok(bytes) => {
            let mode = at(&path, fs::metadata(&path))?.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return at(&path, Err(KeyFileError::Exposed { mode }));
            }
            let key = std::str::from_utf8(&bytes).ok().and_then(|text| from_hex(text.trim()));
            at(&path, key.ok_or(KeyFileError::MasterKey))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => at(&path, Err(error)),
        // A new master key would make the existing keys unreadable.
        Err(_) if AuthDir::has_keys(dir) => at(&path, Err(KeyFileError::NoMasterKey)),
        Err(_) => {
            let key: [u8; 32] = random();
            let text = format!("{}\n", to_hex(&key));
            at(&path, replace(dir, &path, text.as_bytes()))?;
            Ok(key)
        }
    }
}
