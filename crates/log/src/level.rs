//! Durability levels.

use std::fmt;
use std::str::FromStr;

/// The durability of an acknowledged record. Each level is stronger than the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Applied; lost with the process.
    Memory,
    /// Applied and written: survives the end of the process, but a power failure may take the last
    /// of it; how much, the writer of the log decides.
    Buffered,
    /// Applied, and the disk has confirmed this record and all before it.
    #[default]
    Synced,
}

/// A name that is not a durability level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a durability level; choose memory, buffered or synced")]
pub struct UnknownLevel(pub String);

impl Level {
    /// All levels, weakest first.
    pub const ALL: [Level; 3] = [Level::Memory, Level::Buffered, Level::Synced];

    /// The name used in configuration and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Memory => "memory",
            Level::Buffered => "buffered",
            Level::Synced => "synced",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        Level::ALL
            .into_iter()
            .find(|level| level.name() == text)
            .ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_by_what_they_promise() {
        assert!(Level::Memory < Level::Buffered && Level::Buffered < Level::Synced);
    }

    #[test]
    fn names_go_both_ways() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert!("durable".parse::<Level>().is_err());
    }
}
