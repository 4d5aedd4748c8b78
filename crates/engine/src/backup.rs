//! Backups: consistent copies of a running venue.

use crate::engine::Engine;
use crate::events::{Chain, GroupNote};
use crate::lineage::{self, LineageError};
use crate::replay::{EVENTS_DIR, JOURNAL_DIR};
use crate::snapshot::{SnapshotFailed, SnapshotFileError, SnapshotStore};
use rialto_disk::{Access, DiskError};
use rialto_log::{Commit, Group, OpenError, Options, ReadError, Reader, Segments, WriteError};
use rialto_model::Seq;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The file that marks a data directory as a backup, which has no keys.
pub const BACKUP_FILE: &str = "BACKUP";

/// The longest wait for the first snapshot of a backup.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(600);

/// The reason why a backup failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The directory is not empty.
    #[error("{} is not empty; a backup needs an empty directory", dir.display())]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
    /// The first snapshot failed.
    #[error(transparent)]
    Snapshot(#[from] SnapshotFailed),
    /// A snapshot could not be copied.
    #[error("a snapshot could not be copied")]
    CopySnapshot(#[from] SnapshotFileError),
    /// A log could not be created.
    #[error("a log could not be created in the backup")]
    Open(#[from] OpenError),
    /// A log could not be read.
    #[error("a log could not be read")]
    Read(#[from] ReadError),
    /// A log could not be written.
    #[error("a log could not be written in the backup")]
    Write(#[from] WriteError),
    /// The lineage of the journal could not be read.
    #[error(transparent)]
    Lineage(#[from] LineageError),
    /// The engine ended before.
    #[error("the engine ended before its events were recorded")]
    Stopped,
}

impl Engine {
    /// Copies journal, event log, the first and a new snapshot into an empty directory, up to the
    /// last applied command, and returns its sequence. The venue continues meanwhile. The copy is a
    /// data directory of its own.
    ///
    /// # Errors
    /// The backup is incomplete; the directory is of no use.
    pub fn backup(&self, dir: &Path) -> Result<Seq, BackupError> {
        let through = self.request_snapshot().wait(SNAPSHOT_TIMEOUT)?;
        self.wait_recorded(through)?;
        let disk = &self.disk;
        disk.create_dir_all(dir)?;
        if !disk.list(dir)?.is_empty() {
            return Err(BackupError::NotEmpty { dir: dir.to_owned() });
        }
        let _lock = disk.lock(dir)?;
        self.copy_log(&self.journal, &dir.join(JOURNAL_DIR), through, |_| {})?;
        // A program that tracks the epochs of the journal can continue with the copy.
        let lineage = lineage::of(&self.journal, &self.ancestors()?, through.0);
        lineage::write(&**disk, dir, &lineage)?;
        let mut chain = Chain::start();
        let level = self.config.level;
        self.copy_log(&self.events, &dir.join(EVENTS_DIR), through, |group| {
            chain.extend(u64::from(group.records()), group.body());
            group.set_caller(GroupNote { chain: chain.value(), level }.encode());
        })?;
        let copies = SnapshotStore::new(
            Arc::clone(disk),
            dir,
            self.config.engine,
            self.config.snapshot_cipher(&self.sources),
        );
        copies.prepare()?;
        let mut snapshots = self.store.list()?;
        snapshots.retain(|seq| *seq == Seq::ZERO || *seq == through);
        for seq in snapshots {
            // The copied journal has one epoch, its first; before it, there is none.
            copies.copy_from(&self.store, seq, u64::from(seq > Seq::ZERO))?;
        }
        let marker = disk.create(&dir.join(BACKUP_FILE), Access::Buffered)?;
        let text = format!("A backup of a Rialto venue to sequence {through}, without its keys.\n");
        marker.write_all_at(0, text.as_bytes())?;
        marker.sync_data()?;
        disk.sync_dir(dir)?;
        Ok(through)
    }

    fn wait_recorded(&self, through: Seq) -> Result<(), BackupError> {
        let mut reader = self.events(through);
        let deadline = Instant::now() + SNAPSHOT_TIMEOUT;
        while self.marks().recorded < through {
            if reader.is_over() || Instant::now() > deadline {
                return Err(BackupError::Stopped);
            }
            // Events are published just before they are recorded.
            let _ = reader.next_timeout(Duration::from_millis(10));
        }
        Ok(())
    }

    fn copy_log(
        &self,
        from: &Segments,
        dir: &Path,
        through: Seq,
        mut finish: impl FnMut(&mut Group),
    ) -> Result<(), BackupError> {
        let options = Options {
            segment_bytes: self.config.segment_bytes,
            // The first segment has the rules version of the first command.
            rules_version: from
                .rules_version_of(from.first_seq())
                .unwrap_or(self.config.rules_version),
            sealing: self.config.sealing,
            keys: self.config.keys.clone(),
            ..Options::new(self.sources.salt())
        };
        let (mut writer, _) = rialto_log::open(Arc::clone(&self.disk), dir, options)?;
        if through >= Seq(from.first_seq()) {
            let mut reader = Reader::open(from, from.first_seq())?;
            reader.set_end(through.0);
            let mut copy = Group::new(rialto_log::GROUP_BYTES_MAX);
            while let Some(group) = reader.next_group()? {
                if let Some(version) = from.rules_version_of(group.first_seq()) {
                    writer.set_rules_version(version);
                }
                copy.begin(group.first_seq());
                for (_, record) in group {
                    copy.append(record).expect("a group's records fit the greatest group");
                }
                finish(&mut copy);
                writer.write(&mut copy, Commit::Written)?;
            }
        }
        writer.close()?;
        Ok(())
    }
}
