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

/// Why a key file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It does not begin as a key file does.
    #[error("it is not a key file; restore it from a backup")]
    NotAKeyFile,
    /// It was written by a newer binary.
    #[error("it has format version {got}; this binary reads up to {max}, use a newer one")]
    Version {
        /// The file's version.
        got: u32,
        /// The newest version this binary reads.
        max: u32,
    },
    /// It does not decrypt.
    #[error("it does not decrypt: it is damaged, or the master key is another; restore both")]
    Unreadable,
    /// What decrypts is not what is expected.
    #[error("its content is not understood: {0}")]
    Content(#[from] serde_json::Error),
    /// The master key is not 64 lower-case hexadecimal digits.
    #[error(
        "a master key is 64 lower-case hexadecimal digits, and this is none: restore it from a copy, \
         or set {MASTER_KEY_VARIABLE} to it. Without it the keys cannot be read: move the directory \
         auth away and run rialto admin-key --new DIR, which begins without API keys"
    )]
    MasterKey,
    /// Others may read the master key.
    #[error("others may read it (mode {mode:o}); run chmod 600 on it")]
    Exposed {
        /// The file's permissions.
        mode: u32,
    },
    /// There are keys, but no master key to read them with.
    #[error(
        "it is missing, and the key file cannot be read without it; restore it, or set {MASTER_KEY_VARIABLE}"
    )]
    NoMasterKey,
    /// Another process has it open.
    #[error("another process uses this key store; stop it first")]
    InUse,
    /// The file system said no.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Where the key that encrypts the key file comes from.
#[derive(Clone)]
pub enum MasterKey {
    /// The environment variable `RIALTO_MASTER_KEY` if it is set; otherwise the file
    /// `auth/master.key`, which is made, readable by its owner only, when there are no keys yet.
    Find,
    /// This one.
    Given([u8; 32]),
}

/// The directory of the key store, held by this process alone.
pub(super) struct AuthDir {
    dir: PathBuf,
    master: [u8; 32],
    /// The lock is let go when the file is closed.
    _lock: File,
}

/// An error with the file that it is about.
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

    /// Whether there is a key file in this directory.
    pub(super) fn has_keys(dir: &Path) -> bool {
        dir.join(KEYS_FILE).exists()
    }

    fn keys(&self) -> PathBuf {
        self.dir.join(KEYS_FILE)
    }

    /// The decrypted content of the key file, unless there is none.
    pub(super) fn read(&self) -> At<Option<Vec<u8>>> {
        let path = self.keys();
        match fs::read(&path) {
            Ok(bytes) => at(&path, seal::open(&self.master, &bytes)).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => at(&path, Err(error)),
        }
    }

    /// Replaces the key file as a whole: after a crash either the old or the new one is there.
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

/// Makes the directory. It and those above it that were missing outlive a power cut from here on:
/// keys that were lost with their directory would pass for keys that never were.
fn make(dir: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|above| !above.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // Also where it was there: whoever made it may have ended before it was synced.
    for made in missing.into_iter().chain([dir]) {
        let above = made.parent().filter(|above| !above.as_os_str().is_empty());
        File::open(above.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// Locks the store for this process, unless another has it. A signal is no reason to give up.
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
    // One that a crash left behind, or a link that somebody put there: a new file follows no link.
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
        // A new master key would only bury the keys that are there.
        Err(_) if AuthDir::has_keys(dir) => at(&path, Err(KeyFileError::NoMasterKey)),
        Err(_) => {
            let key: [u8; 32] = random();
            let text = format!("{}\n", to_hex(&key));
            at(&path, replace(dir, &path, text.as_bytes()))?;
            Ok(key)
        }
    }
}
