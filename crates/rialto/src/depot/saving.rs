//! Claimed files as files of a directory.

use super::any_pool::{Claimed, ReadError};
use super::workers::Keeper;
use crate::Error;
use rialto_depot::FILE_NAME_BYTES_MAX;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The bytes of two files that are compared at a time.
const COMPARED: usize = 64 << 10;

/// A directory that files are moved to. A file never replaces another.
pub(super) struct Saving {
    path: PathBuf,
    /// The directory, synced to make names durable.
    dir: File,
}

impl Saving {
    /// Fails if the directory does not exist.
    pub(super) fn open(path: &Path) -> Result<Saving, Error> {
        let dir = File::open(path).map_err(Error::file("write to", path))?;
        if !dir.metadata().map_err(Error::file("write to", path))?.is_dir() {
            return Err(Error::Usage(format!("{} is not a directory", path.display())));
        }
        Ok(Saving { path: path.to_owned(), dir })
    }

    /// Writes the content of a claimed file to a file named ID-NAME. An existing one with the same
    /// content was written before the last process ended; any other is an error. The name is durable
    /// after [`Saving::sync`].
    pub(super) fn save(&self, claimed: &Claimed, keeper: &mut Keeper<'_>) -> Result<(), ReadError> {
        if let Some(problem) = &claimed.problem {
            return Err(ReadError::Content(Error::Failed(problem.clone())));
        }
        let path = self.path.join(name(&claimed.id.to_string(), claimed.name.as_str()));
        let failed = |error| Error::file("write", &path)(error);
        let mut begun = tempfile::Builder::new()
            .prefix(&format!(".{}.", claimed.id))
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(&self.path)
            .map_err(|error| ReadError::Sink(failed(error)))?;
        keeper.read(claimed, |bytes| begun.write_all(bytes).map_err(failed))?;
        begun.as_file().sync_all().map_err(|error| ReadError::Sink(failed(error)))?;
        let Err(error) = begun.persist_noclobber(&path) else { return Ok(()) };
        if error.error.kind() != ErrorKind::AlreadyExists {
            return Err(ReadError::Sink(failed(error.error)));
        }
        match is_same(&path, error.file.as_file()) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let path = path.display();
                let reason = format!(
                    "{path} exists and holds something else: it stays, and the file is not completed"
                );
                Err(ReadError::Sink(Error::Failed(reason)))
            }
            Err(error) => Err(ReadError::Sink(failed(error))),
        }
    }

    /// Returns when all saved files are durable.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.dir.sync_all().map_err(Error::file("write to", &self.path))
    }
}

/// The id and the name, whose begin is left out if both are too long for a file system.
fn name(id: &str, name: &str) -> String {
    let room = FILE_NAME_BYTES_MAX - id.len() - 1;
    let mut begin = name.len().saturating_sub(room);
    while !name.is_char_boundary(begin) {
        begin += 1;
    }
    format!("{id}-{}", &name[begin..])
}

/// Whether a file holds the same bytes as a new one. If so, it is synced, because the process that
/// wrote it may have been killed before its sync.
fn is_same(path: &Path, mut new: &File) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() || metadata.len() != new.metadata()?.len() {
        return Ok(false);
    }
    let mut old = File::open(path)?;
    new.rewind()?;
    let (mut found, mut expected) = (vec![0; COMPARED], vec![0; COMPARED]);
    let mut left = metadata.len();
    while left > 0 {
        let bytes = usize::try_from(left).unwrap_or(COMPARED).min(COMPARED);
        old.read_exact(&mut found[..bytes])?;
        new.read_exact(&mut expected[..bytes])?;
        if found[..bytes] != expected[..bytes] {
            return Ok(false);
        }
        left -= bytes as u64;
    }
    old.sync_all()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_end() {
        let id = "0".repeat(32);
        assert_eq!(name(&id, "a.csv"), format!("{id}-a.csv"));
        let long = format!("{}.csv", "é".repeat(120));
        let kept = name(&id, &long);
        assert!(kept.len() <= 255 && kept.ends_with("é.csv"), "{kept}");
    }
}
