//! Replays the journal into a core: for recovery, for snapshots, for past states.

use crate::health::tell_all;
use crate::snapshot::{SnapshotCipher, SnapshotFileError, SnapshotStore};
use rialto_core::{Core, EventSink};
use rialto_disk::{Disk, DiskError};
use rialto_log::{GroupView, KeyRing, OpenError, ReadError, Reader, Records, Verify};
use rialto_model::{
    Attribution, Command, DecodeError, EngineId, Outcome, Seq, Timestamp, decode_attribution,
    decode_command,
};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// The name of the journal's directory in a data directory.
pub(crate) const JOURNAL_DIR: &str = "journal";
/// The name of the event log's directory in a data directory.
pub(crate) const EVENTS_DIR: &str = "events";

/// Whether a data directory has a journal, so that a start continues it.
#[must_use]
pub fn has_journal(disk: &dyn Disk, data_dir: &Path) -> bool {
    disk.list(&data_dir.join(JOURNAL_DIR)).is_ok_and(|files| !files.is_empty())
}

/// The reason why the journal cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The journal could not be opened.
    #[error("the journal cannot be opened")]
    Open(#[from] OpenError),
    /// The journal could not be read.
    #[error("the journal cannot be read")]
    Read(#[from] ReadError),
    /// A snapshot could not be used.
    #[error("a snapshot cannot be used")]
    Snapshot(#[from] SnapshotFileError),
    /// A record of the journal is not a command.
    #[error("the journal's record of sequence {seq} is not a command that this program knows")]
    NoCommand {
        /// Its sequence.
        seq: Seq,
        /// The decoder's error.
        #[source]
        error: DecodeError,
    },
    /// A command contradicts the one before it.
    #[error("the journal's command of sequence {seq} cannot follow the one before it: {why}")]
    OutOfOrder {
        /// Its sequence.
        seq: Seq,
        /// The contradiction.
        why: &'static str,
    },
    /// There is no state to begin with.
    #[error("there is no snapshot at or below {at}")]
    NoSnapshot {
        /// The requested position.
        at: String,
    },
    /// The journal does not reach the requested sequence.
    #[error("the journal ends at sequence {last}, before sequence {wanted}")]
    BeyondEnd {
        /// The last sequence.
        last: Seq,
        /// The requested sequence.
        wanted: Seq,
    },
}

/// An error with all its causes in one line.
pub(crate) fn tell(error: &ReplayError) -> String {
    tell_all(error)
}

/// A command of the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Journaled<'a> {
    pub(crate) seq: Seq,
    pub(crate) time: Timestamp,
    pub(crate) command: &'a Command,
    pub(crate) attribution: Option<&'a Attribution>,
}

impl Journaled<'_> {
    /// Applies it to a core that accepts it as the next command.
    #[inline]
    pub(crate) fn apply<S: EventSink>(&self, core: &mut Core, sink: &mut S) -> Outcome {
        let Journaled { seq, time, command, attribution } = *self;
        core.apply_attributed(seq, time, command, attribution, sink)
    }
}

/// Decodes a journal record; the attribution goes to `attributed`, if there is one.
#[inline]
pub(crate) fn decode(
    seq: Seq,
    record: &[u8],
    attributed: impl FnOnce(Attribution),
) -> Result<(Timestamp, Command), ReplayError> {
    let failed = |error| ReplayError::NoCommand { seq, error };
    let record = match decode_attribution(record).map_err(failed)? {
        None => record,
        Some((attribution, command)) => {
            attributed(attribution);
            command
        }
    };
    decode_command(record).map_err(failed)
}

/// Decodes a journal record, checks that the core accepts it, and applies it, unless its time is too
/// late. Returns whether it was applied.
pub(crate) fn apply_record<S: EventSink>(
    core: &mut Core,
    seq: Seq,
    record: &[u8],
    is_too_late: impl FnOnce(Timestamp) -> bool,
    sink: &mut S,
) -> Result<bool, ReplayError> {
    let mut attribution = None;
    let (time, command) = decode(seq, record, |it| attribution = Some(it))?;
    check_next(core, seq, time, &command)?;
    if is_too_late(time) {
        return Ok(false);
    }
    core.apply_attributed(seq, time, &command, attribution.as_ref(), sink);
    Ok(true)
}

/// Checks that the core accepts a command: `apply` panics on an error of the sequencer, and a journal
/// may be damaged.
#[inline]
fn check_next(
    core: &Core,
    seq: Seq,
    time: Timestamp,
    command: &Command,
) -> Result<(), ReplayError> {
    let why = if seq != core.seq().next() {
        "its sequence is not the next"
    } else if time < core.time() {
        "its time is earlier"
    } else if core.next_due() <= time && !matches!(command, Command::Tick) {
        "a tick is due before it"
    } else {
        return Ok(());
    };
    Err(ReplayError::OutOfOrder { seq, why })
}

/// The commands of a group, decoded in advance so that the core can prefetch their data.
pub(crate) struct Commands<'a> {
    records: Records<'a>,
    /// Decoded commands, by sequence modulo the length.
    decoded: [(Seq, Timestamp, Command); AHEAD],
    /// The attributions of decoded commands, of which few have one.
    attributions: VecDeque<(Seq, Attribution)>,
    /// The attribution of the command that was taken last.
    attribution: Option<Attribution>,
    taken: usize,
    filled: usize,
}

/// A power of two above the longest prefetch distance.
const AHEAD: usize = (Core::PREFETCH_FAR + 1).next_power_of_two();

impl<'a> Commands<'a> {
    pub(crate) fn of(group: GroupView<'a>) -> Self {
        let decoded = [(Seq::ZERO, Timestamp::ZERO, Command::Tick); AHEAD];
        Self {
            records: group.records(),
            decoded,
            attributions: VecDeque::new(),
            attribution: None,
            taken: 0,
            filled: 0,
        }
    }

    /// The next command, which the core accepts.
    #[inline]
    pub(crate) fn next(&mut self, core: &Core) -> Result<Option<Journaled<'_>>, ReplayError> {
        while self.filled <= self.taken + Core::PREFETCH_FAR
            && let Some((seq, record)) = self.records.next()
        {
            let (seq, slot) = (Seq(seq), &mut self.decoded[self.filled % AHEAD]);
            let attributions = &mut self.attributions;
            let (time, command) =
                decode(seq, record, |attribution| attributions.push_back((seq, attribution)))?;
            *slot = (seq, time, command);
            core.prefetch_far(&slot.2);
            self.filled += 1;
        }
        let near = self.taken + Core::PREFETCH_NEAR;
        if near < self.filled {
            core.prefetch_near(&self.decoded[near % AHEAD].2);
        }
        if self.taken == self.filled {
            return Ok(None);
        }
        let (seq, time, ref command) = self.decoded[self.taken % AHEAD];
        check_next(core, seq, time, command)?;
        self.taken += 1;
        let mut attribution = None;
        if self.attributions.front().is_some_and(|(of, _)| *of == seq) {
            self.attribution = self.attributions.pop_front().map(|(_, attribution)| attribution);
            attribution = self.attribution.as_ref();
        }
        Ok(Some(Journaled { seq, time, command, attribution }))
    }
}

/// Applies the next group of the journal; false at its end.
pub(crate) fn next_group<S: EventSink>(
    core: &mut Core,
    journal: &mut Reader,
    sink: &mut S,
) -> Result<bool, ReplayError> {
    let Some(group) = journal.next_group()? else { return Ok(false) };
    let mut commands = Commands::of(group);
    while let Some(next) = commands.next(core)? {
        next.apply(core, sink);
    }
    Ok(true)
}

/// A past state of a venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// After this command.
    Seq(Seq),
    /// After the last command with this time or an earlier one.
    Time(Timestamp),
}

/// A past state of a venue: the newest snapshot at or before it, and the journal from there. The
/// data directory is not changed, and no engine may be using it.
///
/// # Errors
/// The data directory is in use or damaged, or does not reach the state.
pub fn replay_to(
    disk: &Arc<dyn Disk>,
    data_dir: &Path,
    keys: &KeyRing,
    at: At,
) -> Result<Core, ReplayError> {
    let _lock = disk.lock(data_dir)?;
    let store = SnapshotStore::new(
        Arc::clone(disk),
        data_dir,
        EngineId::default(),
        SnapshotCipher::reading(keys),
    );
    let mut start = None;
    for seq in store.list()? {
        let header = match store.read_header(seq) {
            Err(error) if error.is_damage() => continue,
            header => header?,
        };
        let not_after = match at {
            At::Seq(wanted) => header.seq() <= wanted,
            At::Time(wanted) => header.time <= wanted,
        };
        if not_after {
            match store.load(seq, 0) {
                Err(error) if error.is_damage() => {}
                loaded => {
                    start = Some(loaded?.1);
                    break;
                }
            }
        }
    }
    let mut core = start.ok_or_else(|| ReplayError::NoSnapshot {
        at: match at {
            At::Seq(seq) => format!("sequence {seq}"),
            At::Time(time) => format!("time {time}"),
        },
    })?;
    let journal_dir = data_dir.join(JOURNAL_DIR);
    let (segments, report) =
        rialto_log::inspect(Arc::clone(disk), &journal_dir, Verify::Newest, keys)?;
    if let At::Seq(wanted) = at
        && wanted.0 > report.last_seq
    {
        return Err(ReplayError::BeyondEnd { last: Seq(report.last_seq), wanted });
    }
    let mut reader = Reader::open(&segments, core.seq().0 + 1)?;
    let mut events = rialto_core::EventCount::default();
    while let Some(group) = reader.next_group()? {
        for (seq, record) in group {
            let seq = Seq(seq);
            let is_beyond = |time| match at {
                At::Seq(wanted) => seq > wanted,
                At::Time(wanted) => time > wanted,
            };
            if !apply_record(&mut core, seq, record, is_beyond, &mut events)? {
                return Ok(core);
            }
        }
    }
    Ok(core)
}
