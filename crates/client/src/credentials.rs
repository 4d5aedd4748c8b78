//! Credentials: an API key, the admin key, or none.

use crate::ClientError;
use rialto_api::sign::Secret;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The credentials of a client.
#[derive(Clone)]
pub enum Credentials {
    /// No credentials: market data needs no key.
    None,
    /// A member, by an API key.
    Key {
        /// The public id.
        id: String,
        /// The secret to sign with.
        secret: Secret,
    },
    /// The operator, by the admin key.
    Admin(String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Credentials::None => "None",
            Credentials::Key { id, .. } => return write!(f, "Key({id})"),
            Credentials::Admin(_) => "Admin(…)",
        })
    }
}

/// A file that holds an API key: what `--key-file` reads.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// The venue's URL, such as `http://127.0.0.1:8080`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The public id.
    pub key: String,
    /// The secret, as 64 hexadecimal digits.
    pub secret: String,
    /// The default account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<u32>,
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyFile({})", self.key)
    }
}

impl KeyFile {
    /// Reads a key file.
    ///
    /// # Errors
    /// If it cannot be read, is not a key file, or is readable by others.
    pub fn read(path: &Path) -> Result<KeyFile, ClientError> {
        let metadata = fs::metadata(path).map_err(file_error("read the key file", path))?;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(ClientError::Invalid(format!(
                "{} holds a secret and others may read it (mode {mode:03o}): chmod 600 it, and \
                 rotate the key if somebody may have",
                path.display()
            )));
        }
        let text = fs::read_to_string(path).map_err(file_error("read the key file", path))?;
        let file: KeyFile = toml::from_str(&text).map_err(|error| {
            ClientError::Invalid(format!("{}: {}", path.display(), error.message()))
        })?;
        secret(&file.secret)?;
        Ok(file)
    }

    /// Writes a key file that only its owner may read, all of it or nothing.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ClientError> {
        let text = toml::to_string(self).expect("texts and numbers fit into the file format");
        let new = path.with_extension("toml.new");
        let write = || {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = options.open(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, path)
        };
        write().map_err(file_error("write the key file", path))
    }

    /// The key in it.
    ///
    /// # Errors
    /// If the secret is malformed.
    pub fn credentials(&self) -> Result<Credentials, ClientError> {
        Ok(Credentials::Key { id: self.key.clone(), secret: secret(&self.secret)? })
    }
}

/// For `map_err`: a file that could not be read or written.
fn file_error(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ClientError {
    let path = path.to_owned();
    move |source| ClientError::File { verb, path, source }
}

/// Reads a secret.
///
/// # Errors
/// If it is not 64 hexadecimal digits.
pub fn secret(text: &str) -> Result<Secret, ClientError> {
    let wrong =
        || ClientError::Invalid("a secret is 64 hexadecimal digits, in lower case".to_string());
    Secret::from_hex(text).ok_or_else(wrong)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn file() -> KeyFile {
        KeyFile {
            url: Some("http://127.0.0.1:1".to_string()),
            key: "rk_1".to_string(),
            secret: "0".repeat(64),
            account: Some(7),
        }
    }

    #[test]
    fn a_key_file_reads_back_and_is_readable_by_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key.toml");
        file().write(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(KeyFile::read(&path).unwrap(), file());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key.toml");
        file().write(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = KeyFile::read(&path).unwrap_err().to_string();
        assert!(error.contains("mode 640") && error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn an_invalid_key_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key.toml");
        let mut wrong = file();
        wrong.secret = "short".to_string();
        wrong.write(&path).unwrap();
        assert!(KeyFile::read(&path).unwrap_err().to_string().contains("64 hexadecimal"));
        fs::write(&path, "keys = 1\n").unwrap();
        assert!(KeyFile::read(&path).unwrap_err().to_string().contains("key.toml"));
    }
}
