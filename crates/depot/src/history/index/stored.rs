//! Rows on the disk.

use super::rows::{Changes, IndexError, Row, Rows};
use fjall::config::{CompressionPolicy, PinningPolicy};
use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use std::io;
use std::ops::Bound;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

/// The memory for blocks that were read.
const CACHE_BYTES: u64 = 8 << 20;
/// Changes are stored as sorted tables, so that this table in memory stays empty.
const MEMTABLE_BYTES: u64 = 1 << 20;
/// The most files that the index of kept files has open.
pub const INDEX_DESCRIPTORS: usize = 64;
/// The file that says of which version the rows are. It is written last and removed first.
const VERSION_FILE: &str = "VERSION";
const VERSION: &str = "rialto depot index 1\n";

pub(in crate::history) struct StoredRows {
    dir: PathBuf,
    rows: Keyspace,
    _database: Database,
}

impl StoredRows {
    /// Opens the rows in a directory, which are none if they are missing, damaged or of another
    /// version.
    pub(in crate::history) fn open(dir: &Path) -> Result<Self, IndexError> {
        let is_known =
            std::fs::read(dir.join(VERSION_FILE)).is_ok_and(|it| it == VERSION.as_bytes());
        if is_known {
            match open(dir) {
                Ok(rows) => return Ok(rows),
                Err(error) => {
                    let dir = dir.display();
                    tracing::warn!(%dir, "the index of kept files is made again: {error}");
                }
            }
        }
        Self::make(dir)
    }

    /// Removes the rows and begins anew.
    pub(in crate::history) fn make(dir: &Path) -> Result<Self, IndexError> {
        Self::remove(dir)?;
        std::fs::create_dir_all(dir).map_err(IndexError::new)?;
        let made = open(dir)?;
        std::fs::write(dir.join(VERSION_FILE), VERSION).map_err(IndexError::new)?;
        Ok(made)
    }

    /// Removes the rows, if there are any.
    pub(in crate::history) fn remove(dir: &Path) -> Result<(), IndexError> {
        let removed = [std::fs::remove_file(dir.join(VERSION_FILE)), std::fs::remove_dir_all(dir)];
        let is_bad = |error: &io::Error| error.kind() != io::ErrorKind::NotFound;
        let bad = removed.into_iter().filter_map(Result::err).find(is_bad);
        bad.map_or(Ok(()), |error| Err(IndexError::new(error)))
    }
}

fn open(dir: &Path) -> Result<StoredRows, IndexError> {
    // Damaged files make the library panic in places.
    let opened = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let database = Database::builder(dir.join("rows"))
            .cache_size(CACHE_BYTES)
            .max_cached_files(Some(INDEX_DESCRIPTORS))
            .worker_threads(1)
            .open()?;
        let rows = database.keyspace("files", || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(MEMTABLE_BYTES)
                .data_block_compression_policy(CompressionPolicy::disabled())
                .index_block_compression_policy(CompressionPolicy::disabled())
                .filter_block_pinning_policy(PinningPolicy::all(false))
                .index_block_pinning_policy(PinningPolicy::all(false))
        })?;
        Ok::<_, fjall::Error>((database, rows))
    }));
    let panicked = |_| IndexError::new("its files are damaged");
    let (database, rows) = opened.map_err(panicked)?.map_err(IndexError::new)?;
    Ok(StoredRows { dir: dir.to_owned(), rows, _database: database })
}

/// Runs a call of the library, which may panic on damaged files.
fn caught<T>(call: impl FnOnce() -> fjall::Result<T>) -> Result<T, IndexError> {
    let called = std::panic::catch_unwind(AssertUnwindSafe(call));
    called.map_err(|_| IndexError::new("its files are damaged"))?.map_err(IndexError::new)
}

impl Rows for StoredRows {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        Ok(caught(|| self.rows.get(key))?.map(|value| value.to_vec()))
    }

    fn range<'a>(
        &'a self,
        from: Bound<&[u8]>,
        end: Bound<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Row, IndexError>> + 'a> {
        let mut rows = match caught(|| Ok(self.rows.range::<&[u8], _>((from, end)))) {
            Ok(rows) => rows,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        Box::new(std::iter::from_fn(move || {
            let row = caught(|| rows.next().map(fjall::Guard::into_inner).transpose());
            row.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec()))).transpose()
        }))
    }

    fn write(&self, changes: &Changes) -> Result<(), IndexError> {
        // A sorted table of its own, added as a whole: no journal is written or read.
        caught(|| {
            let mut table = self.rows.start_ingestion()?;
            for (key, value) in changes {
                match value {
                    Some(value) => table.write(key.as_slice(), value.as_slice())?,
                    None => table.write_tombstone(key.as_slice())?,
                }
            }
            table.finish()
        })
    }

    fn invalidate(&self) {
        // Without it the rows are removed at the next opening.
        if let Err(error) = std::fs::remove_file(self.dir.join(VERSION_FILE)) {
            tracing::warn!(dir = %self.dir.display(), "the index cannot be marked: {error}");
        }
    }
}
