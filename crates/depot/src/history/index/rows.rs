//! Sorted rows, wherever they are stored.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Bound;

/// Rows by key; none where one is removed.
pub(in crate::history) type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// The reason that rows could not be read or stored.
#[derive(Debug, thiserror::Error)]
#[error("the index of kept files failed: {0}")]
pub(in crate::history) struct IndexError(String);

impl IndexError {
    pub(in crate::history) fn new(reason: impl Display) -> Self {
        Self(reason.to_string())
    }
}

/// A key and a value.
pub(in crate::history) type Row = (Vec<u8>, Vec<u8>);

/// Sorted rows.
pub(in crate::history) trait Rows: Send + Sync {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError>;

    /// The rows from a key on and before another, in order.
    fn range<'a>(
        &'a self,
        from: Bound<&[u8]>,
        end: Bound<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Row, IndexError>> + 'a>;

    /// Stores all changes or none.
    fn write(&self, changes: &Changes) -> Result<(), IndexError>;

    /// Has the next opening begin anew.
    fn invalidate(&self);
}
