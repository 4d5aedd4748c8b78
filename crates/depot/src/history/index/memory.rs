//! Rows in memory, for disks that are none of the operating system.

use super::rows::{Changes, IndexError, Row, Rows};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(in crate::history) struct MemoryRows(Mutex<BTreeMap<Vec<u8>, Vec<u8>>>);

impl MemoryRows {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows for MemoryRows {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        Ok(self.lock().get(key).cloned())
    }

    fn range<'a>(
        &'a self,
        from: Bound<&[u8]>,
        end: Bound<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Row, IndexError>> + 'a> {
        let (mut from, end) = (from.map(<[u8]>::to_vec), end.map(<[u8]>::to_vec));
        Box::new(std::iter::from_fn(move || {
            let rows = self.lock();
            let range = (from.as_ref().map(Vec::as_slice), end.as_ref().map(Vec::as_slice));
            let (key, value) = rows.range::<[u8], _>(range).next()?;
            from = Bound::Excluded(key.clone());
            Some(Ok((key.clone(), value.clone())))
        }))
    }

    fn write(&self, changes: &Changes) -> Result<(), IndexError> {
        let mut rows = self.lock();
        for (key, value) in changes {
            match value {
                Some(value) => drop(rows.insert(key.clone(), value.clone())),
                None => drop(rows.remove(key)),
            }
        }
        Ok(())
    }

    fn invalidate(&self) {
        self.lock().clear();
    }
}
