//! Messages as files of a directory.

use super::shown::Shown;
use crate::Error;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The bytes of a file compared at a time.
const COMPARED: usize = 64 << 10;

/// A directory with one file per message. A message is acknowledged once its file is complete and
/// durable. A file never replaces another.
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

    /// Writes the payload of a message to a file named LANE-NUMBER. An existing file with the same
    /// bytes is a redelivered message; any other is an error. The name is durable after
    /// [`Saving::sync`].
    pub(super) fn save(&self, message: &Shown<'_>) -> Result<(), Error> {
        let (id, payload) = (message.id(), message.payload());
        let name = format!("{}-{}", id.lane, id.seq);
        let path = self.path.join(&name);
        let failed = |error| Error::file("write", &path)(error);
        // Written under a name of this process, with the usual permissions.
        let mut begun = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(&self.path)
            .map_err(failed)?;
        let written = begun.write_all(payload).and_then(|()| begun.as_file().sync_all());
        written.map_err(failed)?;
        match begun.persist_noclobber(&path) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                if holds(&path, payload).map_err(failed)? {
                    return Ok(());
                }
                let path = path.display();
                let reason = format!(
                    "{path} exists and holds something else: it stays, and no message is \
                     acknowledged. Each topic and group needs a directory of its own"
                );
                Err(Error::Failed(reason))
            }
            Err(error) => Err(failed(error.error)),
        }
    }

    /// Returns when all saved files are durable.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.dir.sync_all().map_err(Error::file("write to", &self.path))
    }
}

/// Whether a file holds exactly these bytes. If so, they are synced, because the process that wrote
/// them may have been killed before its sync.
fn holds(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() || metadata.len() != bytes.len() as u64 {
        return Ok(false);
    }
    let mut file = File::open(path)?;
    let mut room = vec![0; COMPARED.min(bytes.len())];
    for expected in bytes.chunks(COMPARED) {
        let found = &mut room[..expected.len()];
        file.read_exact(found)?;
        if found != expected {
            return Ok(false);
        }
    }
    file.sync_all()?;
    Ok(true)
}
