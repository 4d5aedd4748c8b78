//! Filters: the messages that a group receives.

use crate::message::Message;
use serde::{Deserialize, Serialize};

/// A condition on the headers of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// The message has a header of this name.
    Has(String),
    /// The first header of this name has this value.
    Equals(String, String),
    /// The value of the first header of this name begins with this.
    StartsWith(String, String),
    /// The condition does not hold.
    Not(Box<Filter>),
    /// All hold.
    All(Vec<Filter>),
    /// One of them holds.
    Any(Vec<Filter>),
}

/// The most bytes of all names and values of a filter.
pub const FILTER_BYTES_MAX: usize = 16 << 10;

/// The most conditions of a filter, `and`, `or` and `not` included.
pub const FILTER_CONDITIONS_MAX: usize = 256;

/// A text that is not a valid filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a filter; write NAME, !NAME, NAME=VALUE, NAME!=VALUE or NAME^=PREFIX, and several \
     with commas between them if all shall hold"
)]
pub struct InvalidFilter(pub String);

impl Filter {
    /// Whether the filter is within its bounds.
    pub(super) fn is_bounded(&self) -> bool {
        let (mut bytes, mut conditions) = (0, 0);
        let mut rest = vec![self];
        while let Some(filter) = rest.pop() {
            conditions += 1;
            match filter {
                Self::Has(name) => bytes += name.len(),
                Self::Equals(name, value) | Self::StartsWith(name, value) => {
                    bytes += name.len() + value.len();
                }
                Self::Not(filter) => rest.push(filter),
                Self::All(filters) | Self::Any(filters) => rest.extend(filters),
            }
            if bytes > FILTER_BYTES_MAX || conditions + rest.len() > FILTER_CONDITIONS_MAX {
                return false;
            }
        }
        true
    }

    /// Whether the filter holds for a message.
    #[must_use]
    pub fn holds(&self, message: &Message) -> bool {
        match self {
            Self::Has(name) => message.header(name).is_some(),
            Self::Equals(name, value) => message.header(name) == Some(value.as_bytes()),
            Self::StartsWith(name, prefix) => {
                message.header(name).is_some_and(|value| value.starts_with(prefix.as_bytes()))
            }
            Self::Not(filter) => !filter.holds(message),
            Self::All(filters) => filters.iter().all(|filter| filter.holds(message)),
            Self::Any(filters) => filters.iter().any(|filter| filter.holds(message)),
        }
    }
}

impl std::str::FromStr for Filter {
    type Err = InvalidFilter;

    fn from_str(text: &str) -> Result<Self, InvalidFilter> {
        let one = |part: &str| {
            let part = part.trim();
            let filter = if let Some((name, value)) = part.split_once("!=") {
                Self::Not(Box::new(Self::Equals(name.to_owned(), value.to_owned())))
            } else if let Some((name, value)) = part.split_once("^=") {
                Self::StartsWith(name.to_owned(), value.to_owned())
            } else if let Some((name, value)) = part.split_once('=') {
                Self::Equals(name.to_owned(), value.to_owned())
            } else if let Some(name) = part.strip_prefix('!') {
                Self::Not(Box::new(Self::Has(name.to_owned())))
            } else {
                Self::Has(part.to_owned())
            };
            let names_nothing = part.trim_start_matches(['!', '^', '=']).is_empty()
                || part.starts_with(['=', '^'])
                || part.starts_with("!=");
            if names_nothing { Err(InvalidFilter(text.to_owned())) } else { Ok(filter) }
        };
        let mut filters = text.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
        match filters.len() {
            1 => Ok(filters.remove(0)),
            _ => Ok(Self::All(filters)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_written_as_people_write_them() {
        let not = |filter| Filter::Not(Box::new(filter));
        let equals = |name: &str, value: &str| Filter::Equals(name.into(), value.into());
        assert_eq!("trace".parse(), Ok(Filter::Has("trace".into())));
        assert_eq!("!trace".parse(), Ok(not(Filter::Has("trace".into()))));
        assert_eq!("kind=a=b".parse(), Ok(equals("kind", "a=b")));
        assert_eq!("kind!=a".parse(), Ok(not(equals("kind", "a"))));
        assert_eq!(
            "kind=a, region^=eu".parse(),
            Ok(Filter::All(vec![
                equals("kind", "a"),
                Filter::StartsWith("region".into(), "eu".into())
            ]))
        );
        for bad in ["", "=x", "!", "a,,b", "^=x", "!=x"] {
            assert!(bad.parse::<Filter>().is_err(), "{bad:?}");
        }
    }
}
