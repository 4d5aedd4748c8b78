//! The directory of snapshots.

use super::cipher::SnapshotCipher;
use super::file::{HEADER_BYTES, SnapshotFileError, SnapshotHeader};
use rialto_core::Core;
use rialto_disk::{Access, Disk, DiskError};
use rialto_model::{EngineId, Seq};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the directory in a data directory.
pub(crate) const SNAPSHOTS_DIR: &str = "snapshots";
const SUFFIX: &str = ".snapshot";
const UNFINISHED_SUFFIX: &str = ".snapshot.tmp";

/// The snapshots of a data directory, one file each.
#[derive(Clone)]
pub(crate) struct SnapshotStore {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    engine: EngineId,
    cipher: SnapshotCipher,
}

impl SnapshotStore {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        data_dir: &Path,
        engine: EngineId,
        cipher: SnapshotCipher,
    ) -> Self {
        Self { disk, dir: data_dir.join(SNAPSHOTS_DIR), engine, cipher }
    }

    /// Creates the directory and removes incomplete files.
    pub(crate) fn prepare(&self) -> Result<(), DiskError> {
        self.disk.create_dir_all(&self.dir)?;
        for name in self.disk.list(&self.dir)? {
            if name.ends_with(UNFINISHED_SUFFIX) {
                self.disk.remove(&self.dir.join(name))?;
            }
        }
        Ok(())
    }

    pub(crate) fn path(&self, seq: Seq) -> PathBuf {
        self.dir.join(format!("{:020}{SUFFIX}", seq.0))
    }

    /// The sequences of all snapshots, newest first.
    pub(crate) fn list(&self) -> Result<Vec<Seq>, DiskError> {
        let names = match self.disk.list(&self.dir) {
            Err(error) if error.is_not_found() => Vec::new(),
            names => names?,
        };
        let mut seqs: Vec<Seq> =
            names.iter().filter_map(|name| name.strip_suffix(SUFFIX)?.parse().ok()).collect();
        seqs.sort_unstable_by(|a, b| b.cmp(a));
        Ok(seqs)
    }

    pub(crate) fn read_header(&self, seq: Seq) -> Result<SnapshotHeader, SnapshotFileError> {
        let path = self.path(seq);
        let mut bytes = [0; HEADER_BYTES];
        let read = self.disk.open(&path, Access::Read)?.read_full_at(0, &mut bytes)?;
        SnapshotHeader::decode(&path, &bytes[..read])
    }

    /// Reads, checks and restores a snapshot.
    pub(crate) fn load(
        &self,
        seq: Seq,
        hash_key: u64,
    ) -> Result<(SnapshotHeader, Core), SnapshotFileError> {
        let (header, content) = self.read(seq)?;
        let core = header.restore(&self.path(seq), &content, hash_key)?;
        Ok((header, core))
    }

    /// The header and the content of a snapshot, checked and decrypted.
    fn read(&self, seq: Seq) -> Result<(SnapshotHeader, Vec<u8>), SnapshotFileError> {
        let path = self.path(seq);
        let file = self.disk.open(&path, Access::Read)?;
        // A length beyond the memory is damage that the check below reports, but it must not be
        // allocated first.
        let header = self.read_header(seq)?;
        let bytes = file.len()?.saturating_sub(HEADER_BYTES as u64).min(header.content_bytes);
        let mut stored = vec![0; usize::try_from(bytes).unwrap_or(0)];
        let read = file.read_full_at(HEADER_BYTES as u64, &mut stored)?;
        stored.truncate(read);
        header.check_stored(&path, &stored)?;
        let content = self.cipher.open(&header, stored);
        let content = content.map_err(|error| SnapshotFileError::Sealed { file: path, error })?;
        Ok((header, content))
    }

    /// Writes a snapshot of the core durably; `epoch` is the journal's epoch at its sequence. The
    /// journal must be synced through it.
    pub(crate) fn write(&self, core: &Core, epoch: u64) -> Result<PathBuf, SnapshotFileError> {
        let content = core.snapshot();
        let header = SnapshotHeader::new(core, self.engine, epoch, &content);
        self.write_content(header, content)
    }

    /// Copies a snapshot of another data directory; `epoch` replaces the one in its header.
    pub(crate) fn copy_from(
        &self,
        other: &SnapshotStore,
        seq: Seq,
        epoch: u64,
    ) -> Result<PathBuf, SnapshotFileError> {
        let (mut header, content) = other.read(seq)?;
        header.position.epoch = epoch;
        self.write_content(header, content)
    }

    fn write_content(
        &self,
        mut header: SnapshotHeader,
        content: Vec<u8>,
    ) -> Result<PathBuf, SnapshotFileError> {
        let path = self.path(header.seq());
        let stored = self.cipher.seal(&mut header, content);
        let stored =
            stored.map_err(|error| SnapshotFileError::Sealed { file: path.clone(), error })?;
        let unfinished = self.dir.join(format!("{:020}{UNFINISHED_SUFFIX}", header.seq().0));
        match self.disk.remove(&unfinished) {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
        let file = self.disk.create(&unfinished, Access::Buffered)?;
        file.write_all_at(0, &header.encode())?;
        file.write_all_at(HEADER_BYTES as u64, &stored)?;
        file.sync_data()?;
        self.disk.rename(&unfinished, &path)?;
        self.disk.sync_dir(&self.dir)?;
        Ok(path)
    }

    /// Removes all but the newest `kept` and the first one of the data directory.
    pub(crate) fn prune(&self, kept: usize) -> Result<(), DiskError> {
        for seq in self.list()?.into_iter().skip(kept.max(1)) {
            if seq > Seq::ZERO {
                self.disk.remove(&self.path(seq))?;
            }
        }
        self.disk.sync_dir(&self.dir)
    }
}
