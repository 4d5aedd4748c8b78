//! Names of tenants, directories and files, checked where they enter.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The longest name of a tenant, in bytes.
pub const TENANT_BYTES_MAX: usize = 63;
/// The longest name of a file, and of one part of a directory, in bytes.
pub const FILE_NAME_BYTES_MAX: usize = 255;
/// The longest directory, in bytes.
pub const DIRECTORY_BYTES_MAX: usize = 1024;
/// The most parts of a directory.
pub const DIRECTORY_DEPTH_MAX: usize = 16;

/// How much of an invalid name an error shows, in characters.
const SHOWN: usize = 80;

/// A text that is not a valid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDepotName {
    /// It is not the name of a tenant.
    #[error(
        "{0:?} is not the name of a tenant: use 1 to {TENANT_BYTES_MAX} of the characters a to z, \
         0 to 9, `_` and `-`, the first of which is a letter or a digit"
    )]
    Tenant(String),
    /// It is not a directory.
    #[error(
        "{0:?} is not a directory: use up to {DIRECTORY_DEPTH_MAX} names separated by `/`, of \
         {DIRECTORY_BYTES_MAX} bytes in all; none is `.` or `..`, and none has control characters \
         or `\\`"
    )]
    Directory(String),
    /// It is not the name of a file.
    #[error(
        "{0:?} is not the name of a file: use 1 to {FILE_NAME_BYTES_MAX} bytes without `/`, `\\` and \
         control characters, and neither `.` nor `..`"
    )]
    File(String),
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// The name of a tenant. It is fit for a file name, the name of a topic and a bucket.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantName(Arc<str>);

impl TenantName {
    /// Checks a name.
    pub fn new(text: &str) -> Result<Self, InvalidDepotName> {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins_well = text.bytes().next().is_some_and(letter);
        let fits = text.bytes().all(|byte| letter(byte) || b"_-".contains(&byte));
        if begins_well && fits && text.len() <= TENANT_BYTES_MAX {
            Ok(Self(text.into()))
        } else {
            Err(InvalidDepotName::Tenant(shown(text)))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text is one part of a path.
fn is_part(text: &str) -> bool {
    let fits = |character: char| !character.is_control() && character != '/' && character != '\\';
    (1..=FILE_NAME_BYTES_MAX).contains(&text.len())
        && text != "."
        && text != ".."
        && text.chars().all(fits)
}

/// A directory of a tenant: names separated by `/`, or the root, which is empty. It is a logical
/// path; no directory on a volume has its name.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Directory(Arc<str>);

impl Directory {
    /// Checks a directory. The empty text is the root.
    pub fn new(text: &str) -> Result<Self, InvalidDepotName> {
        let fits = text.len() <= DIRECTORY_BYTES_MAX
            && text.split('/').count() <= DIRECTORY_DEPTH_MAX
            && text.split('/').all(is_part);
        if text.is_empty() || fits {
            Ok(Self(text.into()))
        } else {
            Err(InvalidDepotName::Directory(shown(text)))
        }
    }

    /// The root.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The directory as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory and those above it, the root last, as text.
    pub fn with_ancestors(&self) -> impl Iterator<Item = &str> {
        let mut rest = Some(&*self.0);
        std::iter::from_fn(move || {
            let this = rest?;
            rest = match this.rfind('/') {
                Some(end) => Some(&this[..end]),
                None if this.is_empty() => None,
                None => Some(""),
            };
            Some(this)
        })
    }
}

/// The name that a file was given; two files may have the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileName(Arc<str>);

impl FileName {
    /// Checks a name.
    pub fn new(text: &str) -> Result<Self, InvalidDepotName> {
        if is_part(text) { Ok(Self(text.into())) } else { Err(InvalidDepotName::File(shown(text))) }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A path of a directory and a name, as they are listed.
#[must_use]
pub fn joined(directory: &Directory, name: &FileName) -> String {
    match directory.as_str() {
        "" => name.as_str().to_owned(),
        directory => format!("{directory}/{}", name.as_str()),
    }
}

/// Splits a path into a directory and a name, and checks both.
pub fn split_path(path: &str) -> Result<(Directory, FileName), InvalidDepotName> {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    if directory.is_empty() && path.starts_with('/') {
        return Err(InvalidDepotName::Directory(shown(path)));
    }
    Ok((Directory::new(directory)?, FileName::new(name)?))
}

macro_rules! text_type {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidDepotName;

            fn try_from(text: String) -> Result<Self, InvalidDepotName> {
                Self::new(&text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidDepotName;

            fn from_str(text: &str) -> Result<Self, InvalidDepotName> {
                Self::new(text)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                (*name.0).to_owned()
            }
        }
    };
}

text_type!(TenantName);
text_type!(Directory);
text_type!(FileName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_their_place_are_refused() {
        let long = "x".repeat(4096);
        for bad in ["", ".", "..", "a/b", "a\\b", "a\0b", "a\nb", &long] {
            assert!(FileName::new(bad).is_err(), "{bad:?}");
        }
        for bad in ["..", "a/../b", "/a", "a/", "a//b", "./a", "a/\0", &long, &"a/".repeat(400)] {
            assert!(Directory::new(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "A", "a.b", "-a", "a/b", "ü", &"a".repeat(64)] {
            assert!(TenantName::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_directory_names_those_above_it() {
        let directory = Directory::new("in/orders/today").unwrap();
        let above: Vec<_> = directory.with_ancestors().collect();
        assert_eq!(above, ["in/orders/today", "in/orders", "in", ""]);
        assert_eq!(Directory::root().with_ancestors().collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_path_is_split_into_directory_and_name() {
        let (directory, name) = split_path("in/orders/a.csv").unwrap();
        assert_eq!((directory.as_str(), name.as_str()), ("in/orders", "a.csv"));
        assert_eq!(joined(&directory, &name), "in/orders/a.csv");
        assert_eq!(split_path("a.csv").unwrap().0, Directory::root());
        for bad in ["/a.csv", "in//a.csv", "in/", "../a.csv"] {
            assert!(split_path(bad).is_err(), "{bad:?}");
        }
    }
}
