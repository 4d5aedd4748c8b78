//! The steps of a recovery, in order.

use super::{EventCheck, RecoveryReport, SkippedSnapshot, StartError, chain_after};
use crate::Level;
use crate::batch::{EVENT_RECORD_BYTES_MAX, Encoding};
use crate::config::EngineConfig;
use crate::events::{Chain, GroupNote};
use crate::parts::Sources;
use crate::replay::{Commands, EVENTS_DIR, JOURNAL_DIR, ReplayError};
use crate::sabotage::{Sabotage, SabotageSwitch};
use crate::snapshot::SnapshotStore;
use rialto_core::{Core, CoreConfig, RULES_VERSIONS};
use rialto_disk::{DirLock, Disk};
use rialto_log::{Commit, Cut, Group, Options, Position, Reader, Segments, Writer};
use rialto_model::{Command, Seq, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A recovered venue.
pub(crate) struct Recovered {
    pub(crate) lock: Box<dyn DirLock>,
    pub(crate) core: Core,
    pub(crate) journal: Writer,
    pub(crate) events: Writer,
    pub(crate) chain: Chain,
    pub(crate) store: SnapshotStore,
    pub(crate) newest_snapshot: Seq,
    pub(crate) report: RecoveryReport,
}

pub(crate) fn recover(
    config: &EngineConfig,
    disk: &Arc<dyn Disk>,
    sources: &Sources,
    hash_key: u64,
) -> Result<Recovered, StartError> {
    let began = Instant::now();
    let dir = &config.data_dir;
    disk.create_dir_all(dir)?;
    let lock = disk.lock(dir)?;
    let store =
        SnapshotStore::new(Arc::clone(disk), dir, config.engine, config.snapshot_cipher(sources));
    store.prepare()?;
    let mut report = RecoveryReport::default();
    let headers = good_headers(&store, config, &mut report)?;

    let options = |acknowledged| Options {
        #[cfg(feature = "sabotage")]
        trusting: config.switch().is(Sabotage::CutWithoutProof),
        segment_bytes: config.segment_bytes,
        rules_version: config.rules_version,
        acknowledged,
        sealing: config.sealing,
        keys: config.keys.clone(),
        reserve_segments: config.reserve_segments,
        ..Options::new(sources.salt())
    };
    let acknowledged = headers.iter().copied().max_by_key(|position| position.seq);
    let journal_dir = dir.join(JOURNAL_DIR);
    let mut journal = rialto_log::recover(Arc::clone(disk), &journal_dir, options(acknowledged))
        .map_err(StartError::Journal)?;
    let journal_segments = journal.segments();
    report.last = Seq(journal.report().last_seq);
    report.journal_cut = journal.report().cut.as_ref().map(describe);

    let events_dir = dir.join(EVENTS_DIR);
    let mut events = rialto_log::recover(Arc::clone(disk), &events_dir, options(None))
        .map_err(StartError::EventLog)?;
    report.events_cut = events.report().cut.as_ref().map(describe);
    let event_segments = events.segments();
    let events_last = Seq(events.report().last_seq);
    if events_last > report.last {
        check_unsynced(&event_segments, report.last, events_last, &journal_dir)?;
        events.truncate_after(report.last.0).map_err(StartError::EventLog)?;
        report.events_lost_from = Some(events_last);
    }
    let events_end = events_last.min(report.last);

    let (mut core, from) =
        first_state(&store, config, hash_key, events_end, &journal_segments, &mut report)?;
    let replay = Replay {
        switch: config.switch(),
        ..Replay::new(journal_segments.clone(), config.group_bytes_max)
    };
    let mut chain = chain_after(&event_segments, from).map_err(StartError::ReadEvents)?;
    if from < events_end {
        let start = chain.clone();
        replay.run(&mut core, events_end, |group, _| {
            chain.extend(u64::from(group.records()), group.body());
            Ok(())
        })?;
        // Equal chains mean equal bytes, and finding the recorded chain takes only a few groups.
        // Every byte is compared only if they differ, to find the difference.
        let recorded = chain_after(&event_segments, events_end).map_err(StartError::ReadEvents)?;
        if chain.digest() != recorded.digest() && !config.switch().is(Sabotage::IgnoreChain) {
            let mut core = match report.snapshot {
                Some(seq) => store.load(seq, hash_key)?.1,
                None => {
                    empty_core(CoreConfig { hash_key, ..begun_with(config) }, &journal_segments)
                }
            };
            let mut check = EventCheck::new(&event_segments, &events_dir, start)
                .map_err(StartError::ReadEvents)?;
            replay.run(&mut core, events_end, |group, _| {
                check.compare(Seq(group.first_seq()), Seq(group.last_seq()), group.body())
            })?;
            return Err(check.broken_at(events_end));
        }
    }

    check_clock(config, sources, last_time(&journal_segments, &core, report.last)?)?;

    // All checks have passed; from here on the directory changes. Segments have the rules version
    // at their begin.
    events.set_rules_version(core.rules_version());
    let (mut events, _) = events.start().map_err(StartError::EventLog)?;
    if events_end < report.last {
        report.events_appended = report.last.0 - events_end.0;
        replay.run(&mut core, report.last, |group, rules_version| {
            chain.extend(u64::from(group.records()), group.body());
            let note = GroupNote { chain: chain.value(), level: config.level };
            group.set_caller(note.encode());
            events.set_rules_version(rules_version);
            events.write(group, Commit::Written).map_err(StartError::WriteEvents)?;
            Ok(())
        })?;
        events.sync().map_err(StartError::WriteEvents)?;
    }
    journal.set_rules_version(core.rules_version());
    let (journal, _) = journal.start().map_err(StartError::Journal)?;
    report.created = headers.is_empty() && report.last == Seq::ZERO;
    // The first snapshot can always be made again, for a verification from the beginning. It is
    // small, and an existing one may be lost after a failed sync.
    if journal_segments.first_seq() == 1 {
        // Before the first command, the core has its first rules version.
        let (limits, rules_version) = (*core.limits(), core.rules_version());
        let begun = CoreConfig { limits, rules_version, ..begun_with(config) };
        let first = empty_core(begun, &journal_segments);
        store.write(&first, 0)?;
    }
    // The follower continues from a state that is known to be good.
    let newest_snapshot = report.snapshot.unwrap_or(Seq::ZERO);
    report.replayed = report.last.0 - from.0;
    report.took = began.elapsed();
    report.epoch = journal.epoch();
    Ok(Recovered { lock, core, journal, events, chain, store, newest_snapshot, report })
}

/// The time of the journal's last command. `core` has been replayed to it, or nearly.
fn last_time(journal: &Segments, core: &Core, last: Seq) -> Result<Timestamp, StartError> {
    let mut time = core.time();
    if core.seq() < last {
        let mut reader = Reader::open(journal, last.0).map_err(ReplayError::from)?;
        while let Some(group) = reader.next_group().map_err(ReplayError::from)? {
            for (seq, record) in group {
                time = crate::replay::decode(Seq(seq), record, drop)?.0;
            }
        }
    }
    Ok(time)
}

/// An unused venue has no time to compare the clock with.
fn check_clock(
    config: &EngineConfig,
    sources: &Sources,
    journaled: Timestamp,
) -> Result<(), StartError> {
    let now = sources.clock.now();
    let gap = Duration::from_nanos(now.0.abs_diff(journaled.0));
    if config.accept_clock || journaled == Timestamp::ZERO || gap <= EngineConfig::CLOCK_GAP_MAX {
        return Ok(());
    }
    Err(StartError::ClockGap { dir: config.data_dir.clone(), journaled, now })
}

/// The epoch of the journal at a sequence; zero before its begin.
pub(crate) fn epoch_of(journal: &Segments, seq: Seq) -> u64 {
    journal.position_of(seq.0).map_or(0, |position| position.epoch)
}

/// The positions of all snapshots with readable headers, newest first. Others are in the report;
/// one of a newer program is an error.
fn good_headers(
    store: &SnapshotStore,
    config: &EngineConfig,
    report: &mut RecoveryReport,
) -> Result<Vec<Position>, StartError> {
    let mut positions = Vec::new();
    for seq in store.list()? {
        match store.read_header(seq) {
            Ok(header) if header.engine != config.engine => {
                let (expected, got) = (config.engine, header.engine);
                return Err(StartError::OtherEngine {
                    dir: config.data_dir.clone(),
                    expected,
                    got,
                });
            }
            Ok(header) => positions.push(header.position),
            Err(error) if error.is_damage() => {
                report.skipped.push(SkippedSnapshot { seq, reason: error.to_string() });
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(positions)
}

/// The state at the start of the replay: the newest good snapshot that both logs reach.
fn first_state(
    store: &SnapshotStore,
    config: &EngineConfig,
    hash_key: u64,
    events_end: Seq,
    journal: &Segments,
    report: &mut RecoveryReport,
) -> Result<(Core, Seq), StartError> {
    for seq in store.list()? {
        let known_bad = report.skipped.iter().any(|skipped| skipped.seq == seq);
        if known_bad || seq > events_end {
            continue;
        }
        match store.load(seq, hash_key) {
            Ok((_, core)) => {
                report.snapshot = Some(seq);
                return Ok((core, seq));
            }
            Err(error) if error.is_damage() => {
                let reason = crate::health::tell_all(&error);
                report.skipped.push(SkippedSnapshot { seq, reason });
            }
            Err(error) => return Err(error.into()),
        }
    }
    let known = journal.rules_version_of(1).is_none_or(|version| RULES_VERSIONS.contains(&version));
    if journal.first_seq() > 1 || !known {
        let dir = config.data_dir.join(crate::snapshot::SNAPSHOTS_DIR);
        return Err(StartError::NoStart { dir, first: Seq(journal.first_seq()) });
    }
    let begun = CoreConfig { hash_key, ..begun_with(config) };
    Ok((empty_core(begun, journal), Seq::ZERO))
}

/// The core's configuration in a new data directory.
fn begun_with(config: &EngineConfig) -> CoreConfig {
    let EngineConfig { engine, limits, rules_version, .. } = *config;
    CoreConfig { limits, rules_version, ..CoreConfig::new(engine) }
}

/// The state before the first command, with the journal's first rules version; with the configured
/// one if the journal is empty.
fn empty_core(config: CoreConfig, journal: &Segments) -> Core {
    let begun = journal.rules_version_of(1).filter(|version| RULES_VERSIONS.contains(version));
    Core::new(CoreConfig { rules_version: begun.unwrap_or(config.rules_version), ..config })
}

/// Events without commands must have been released below the synced level.
fn check_unsynced(
    events: &Segments,
    journal_last: Seq,
    events_last: Seq,
    journal_dir: &Path,
) -> Result<(), StartError> {
    let read = StartError::ReadEvents;
    let mut reader = Reader::open(events, journal_last.0 + 1).map_err(read)?;
    while let Some(group) = reader.next_group().map_err(read)? {
        let level = GroupNote::decode(group.caller()).map_or(Level::Synced, |note| note.level);
        if level == Level::Synced {
            return Err(StartError::JournalBehindEvents {
                dir: journal_dir.to_owned(),
                journal_last,
                events_last,
                level,
            });
        }
    }
    Ok(())
}

fn describe(cut: &Cut) -> String {
    format!("{} bytes of {} at offset {} ({})", cut.bytes, cut.file.display(), cut.offset, cut.flaw)
}

/// Replays the journal and makes its events again.
pub(crate) struct Replay {
    journal: Segments,
    group_bytes: usize,
    switch: SabotageSwitch,
}

impl Replay {
    /// `group_bytes` is at least the longest record of an event log.
    pub(crate) fn new(journal: Segments, group_bytes: usize) -> Self {
        Self { journal, group_bytes, switch: SabotageSwitch::default() }
    }

    /// Replays to `end` and passes on the events in groups, each with its rules version.
    pub(crate) fn run(
        &self,
        core: &mut Core,
        end: Seq,
        mut made: impl FnMut(&mut Group, u32) -> Result<(), StartError>,
    ) -> Result<(), StartError> {
        let mut reader =
            Reader::open(&self.journal, core.seq().0 + 1).map_err(ReplayError::from)?;
        reader.set_end(end.0);
        let mut events = Group::new(self.group_bytes);
        events.begin(core.seq().0 + 1);
        let mut rules_version = core.rules_version();
        while let Some(group) = reader.next_group().map_err(ReplayError::from)? {
            let mut commands = Commands::of(group);
            while let Some(mut next) = commands.next(core)? {
                let seq = next.seq;
                if seq == end && self.switch.is(Sabotage::DropRecordAtRecovery) {
                    next.command = &Command::Tick;
                }
                let is_changed = core.rules_version() != rules_version;
                if is_changed || events.reserve(EVENT_RECORD_BYTES_MAX).is_err() {
                    made(&mut events, rules_version)?;
                    events.begin(seq.0);
                    rules_version = core.rules_version();
                }
                let room = events
                    .reserve(EVENT_RECORD_BYTES_MAX)
                    .expect("an empty group takes any record: its least size is checked");
                let mut encoding = Encoding::new(next.time, room);
                next.apply(core, &mut encoding);
                let (len, _) = encoding.finish();
                events.commit(len);
            }
        }
        if events.is_empty() { Ok(()) } else { made(&mut events, rules_version) }
    }
}
