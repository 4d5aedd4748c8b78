//! Content out.

use super::any_pool::{AnyPool, Range};
use super::progress;
use super::show::{FileArgs, id_of};
use super::shown::number;
use crate::Error;
use serde_json::Value;
use std::fs::Permissions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Writes the content of a file to the standard output, or to a file. Every byte is checked before it
/// is written; the exit code is 1 if the content is damaged.
#[derive(Debug, clap::Args)]
pub(super) struct Get {
    #[command(flatten)]
    file: FileArgs,
    /// Write to this file, which appears, or is replaced, when the content is complete and durable.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Begin at this byte, counted from 0.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    offset: u64,
    /// Write at most this many bytes.
    #[arg(long, value_name = "BYTES")]
    length: Option<u64>,
}

impl Get {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let file = self.file.file(pool)?;
        match &self.into {
            Some(path) => self.save(pool, &file, path),
            None => self.print(pool, &file),
        }
    }

    fn copy(
        &self,
        pool: &dyn AnyPool,
        file: &Value,
        mut write: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let range = Range { offset: self.offset, length: self.length };
        Ok(pool.read(self.file.tenant(), id_of(file)?, range, &mut write)?)
    }

    fn print(&self, pool: &dyn AnyPool, file: &Value) -> Result<(), Error> {
        let mut out = io::stdout().lock();
        let mut is_enough = false;
        let printed = self.copy(pool, file, |bytes| {
            out.write_all(bytes).map_err(|error| {
                is_enough = error.kind() == ErrorKind::BrokenPipe;
                Error::file("write", "the standard output")(error)
            })
        });
        // A reader that closed the output has seen enough.
        if is_enough {
            return Ok(());
        }
        printed?;
        match out.flush() {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Error::file("write", "the standard output")(error))
            }
            _ => Ok(()),
        }
    }

    fn save(&self, pool: &dyn AnyPool, file: &Value, path: &Path) -> Result<(), Error> {
        let failed = |error| Error::file("write", path)(error);
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut begun = tempfile::Builder::new()
            .prefix(".rialto-")
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(parent)
            .map_err(failed)?;
        let left = number(&file["bytes"]).saturating_sub(self.offset);
        let bar = progress::of_bytes(Some(self.length.unwrap_or(left).min(left)));
        let copied = self.copy(pool, file, |bytes| {
            bar.inc(bytes.len() as u64);
            begun.write_all(bytes).map_err(failed)
        });
        bar.finish_and_clear();
        copied?;
        begun.as_file().sync_all().map_err(failed)?;
        begun.persist(path).map_err(|error| failed(error.error))?;
        std::fs::File::open(parent).and_then(|dir| dir.sync_all()).map_err(failed)
    }
}
