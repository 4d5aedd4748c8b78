//! Names of topics, groups and consumers.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 128;

/// A text that is not a valid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a name: use 1 to {NAME_BYTES_MAX} of the characters a to z, A to Z, 0 to 9, `.`, `_` \
     and `-`, the first of which is a letter or a digit"
)]
pub struct InvalidName(pub String);

/// The name of a topic, a group or a consumer. It is fit for a file name on any system and for a
/// path in a URL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Arc<str>);

impl Name {
    /// Checks a name.
    pub fn new(text: &str) -> Result<Self, InvalidName> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if begins_well && text.len() <= NAME_BYTES_MAX && text.bytes().all(fits) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName(text.chars().take(NAME_BYTES_MAX).collect()))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl TryFrom<String> for Name {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        Self::new(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_fit_for_a_file_and_a_path() {
        for good in ["a", "orders", "Orders-2.eu_west", "9lives"] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "-x", "a/b", "a b", "é", "a\0", &"x".repeat(129)] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }
}
