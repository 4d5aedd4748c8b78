//! Opening a state log.

use crate::commit::WriteTurns;
use crate::error::StateLogError;
use crate::logged_state::{InvalidRecord, LoggedState};
use crate::options::StateLogOptions;
use crate::pending::PendingRecords;
use crate::saving::{LogContents, SavePoint};
use crate::state_log::{Files, Inner, StateLog};
use rialto_clock::Timestamp;
use rialto_disk::Disk;
use rialto_log::{Reader, Segments};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};

impl<S: LoggedState> StateLog<S> {
    /// Opens the log in a directory of a disk, creating it when there is none, and folds it into
    /// `state`, which is empty.
    ///
    /// # Errors
    /// If another process holds the directory, the log is damaged or of a newer format, or the state
    /// refuses a record. Nothing was changed on the disk then.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: StateLogOptions,
        state: S,
    ) -> Result<Self, StateLogError> {
        Self::open_with(disk, dir, options, |_| state)
    }

    /// As [`StateLog::open`], for a state that depends on the epoch of the log. It is 1 for a new
    /// log and greater at every opening.
    ///
    /// # Errors
    /// Those of [`StateLog::open`].
    pub fn open_with(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: StateLogOptions,
        empty: impl FnOnce(u64) -> S,
    ) -> Result<Self, StateLogError> {
        Self::open_saved(disk, dir, options, |contents| (empty(contents.epoch()), None))
    }

    /// As [`StateLog::open_with`], for a state that was saved outside the log. `begin` returns the
    /// state, and the save point of the image that it was made from: records up to there are not
    /// read. It must be a save point that the log [holds](LogContents::holds); with `None` the state
    /// is empty, and all records are read.
    ///
    /// # Errors
    /// Those of [`StateLog::open`]. If it is [`StateLogError::Unsaved`], the log does not hold the
    /// save point.
    pub fn open_saved(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: StateLogOptions,
        begin: impl FnOnce(&LogContents) -> (S, Option<SavePoint>),
    ) -> Result<Self, StateLogError> {
        let log_options = options.of_log();
        let shortest_bytes = log_options.first_segment_bytes.unwrap_or(log_options.segment_bytes);
        let recovered = rialto_log::recover(disk, dir, log_options)?;
        let contents = LogContents::new(recovered.segments(), recovered.report().epoch + 1);
        let (mut state, saved) = begin(&contents);
        if let Some(saved) = saved.filter(|saved| !contents.holds(saved)) {
            return Err(StateLogError::Unsaved { dir: dir.to_owned(), seq: saved.seq });
        }
        let from = saved.map(|saved| saved.seq + 1);
        let read_bytes =
            read_from(&recovered.segments(), from, options.format_version, &mut state)?;
        let grown_bytes = saved.map_or(0, |saved| saved.grown_bytes).saturating_add(read_bytes);
        let (writer, _) = recovered.start()?;
        let next_seq = writer.next_seq();
        // Every opening adds a segment. Segments with few records count too, so that a log that is
        // opened often is rewritten before it has many.
        let segments_bytes = shortest_bytes * writer.segments().count() as u64;
        Ok(Self {
            dir: dir.to_owned(),
            level: options.level,
            inner: Mutex::new(Inner { state, records: PendingRecords::new(next_seq) }),
            files: Mutex::new(Files {
                writer,
                groups: VecDeque::new(),
                grown_bytes: segments_bytes.max(grown_bytes),
                checkpoint: None,
                checkpoint_bytes: options.checkpoint_bytes,
                flush_every: options.flush_every,
                flushed: Timestamp::ZERO,
            }),
            turns: WriteTurns::default(),
            confirmed: AtomicU64::new(next_seq - 1),
            failed: OnceLock::new(),
        })
    }
}

/// Reads everything, or what is at `from` and behind it, into a state. Returns the bytes of the
/// records.
fn read_from<S: LoggedState>(
    segments: &Segments,
    from: Option<u64>,
    known: u32,
    state: &mut S,
) -> Result<u64, StateLogError> {
    let invalid = |InvalidRecord { seq, reason }| StateLogError::InvalidRecord {
        file: file_of(segments, seq),
        seq,
        reason,
    };
    let mut bytes = 0;
    if segments.count() > 0 {
        let mut reader = Reader::open(segments, from.unwrap_or_else(|| segments.first_seq()))?;
        while let Some(group) = reader.next_group()? {
            let first_seq = group.first_seq();
            let found = segments.rules_version_of(first_seq).unwrap_or(0);
            if found > known {
                let file = file_of(segments, first_seq);
                return Err(StateLogError::Version { file, found, known });
            }
            bytes += group.framed().len() as u64;
            for (seq, record) in group.records() {
                state.read(seq, record).map_err(invalid)?;
            }
        }
    }
    state.finish_reading().map_err(invalid)?;
    Ok(bytes)
}

/// The segment that holds a record.
fn file_of(segments: &Segments, seq: u64) -> PathBuf {
    let beginnings = segments.beginnings().into_iter();
    let before = beginnings.take_while(|(first_seq, _)| *first_seq <= seq);
    before.last().map(|(_, file)| file).unwrap_or_default()
}
