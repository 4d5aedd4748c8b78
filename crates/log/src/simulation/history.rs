//! One life after another of a log, drawn from a seed.

use super::model::{Ending, Model};
use crate::error::{OpenError, ReadError, WriteError};
use crate::format::Ground;
use crate::{
    Cipher, Commit, Compression, Group, KeyRing, OpenReport, Options, Reader, Sealing, Segments,
    SpareFiles, Verify, Writer, recover,
};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rialto_disk::{Disk, Faults, SimDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DIR: &str = "/log";
const SEGMENT_BYTES: u64 = 48 << 10;

/// What goes wrong in a history besides crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nothing else.
    None,
    /// One stored bit turns between two lives.
    BitFlip,
    /// The disk fills up.
    NoSpace,
    /// A write or a sync fails.
    Failure,
    /// A sync reports success without being one.
    LyingSync,
}

/// What a history came to.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) lives: u32,
    pub(super) cuts: u32,
    pub(super) refusals: u32,
    pub(super) rolls: u32,
    pub(super) truncations: u32,
    pub(super) poisoned: u32,
    pub(super) lost_unsynced: u32,
    pub(super) sealed_lives: u32,
    pub(super) rotations: u32,
    pub(super) recycled: u32,
    pub(super) rests: u32,
}

pub(super) struct History {
    disk: SimDisk,
    faults: Faults,
    random: Random,
    model: Model,
    trouble: Trouble,
    trusting: bool,
    /// Whether the lives of this history seal their groups, each in a way of its own.
    sealing: bool,
    spares: SpareFiles,
    keys: KeyRing,
    openings: u64,
    ending: Ending,
    /// Whether a failure left the kernel's view of the disk unreliable until the power goes.
    suspect: bool,
    outcome: Outcome,
}

/// The generator that proptest brings, so that the crate needs no other.
struct Random(TestRng);

impl Random {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn below(&mut self, bound: u64) -> u64 {
        use proptest::prelude::Rng;
        self.0.next_u64() % bound.max(1)
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// Two keys, of which one is written with.
fn keys_with_current(current: u64) -> KeyRing {
    let key = |digit: &str| digit.repeat(64);
    let text = format!("1: {}\n2: {}\ncurrent: {current}\n", key("a"), key("b"));
    KeyRing::parse(&text, "the simulation").expect("the text is that of two keys")
}

type Checked<T> = Result<T, String>;

impl History {
    pub(super) fn new(seed: u64, trouble: Trouble, trusting: bool) -> Self {
        let disk = SimDisk::new(seed);
        let mut random = Random::new(seed);
        let faults = Faults {
            direct_refused: random.one_in(4),
            stale_bytes: random.one_in(2),
            short_write_per_mille: if random.one_in(4) { 100 } else { 0 },
            ..Faults::default()
        };
        disk.set_faults(faults.clone());
        let sealing = random.one_in(2);
        let spares = SpareFiles::up_to(if random.one_in(4) { 0 } else { 2 * SEGMENT_BYTES });
        Self {
            disk,
            faults,
            random,
            model: Model::new(),
            trouble,
            trusting,
            sealing,
            spares,
            keys: keys_with_current(1),
            openings: 0,
            ending: Ending::Closed,
            suspect: false,
            outcome: Outcome::default(),
        }
    }

    /// Runs the history; an error is a broken invariant.
    pub(super) fn run(mut self) -> Checked<Outcome> {
        let lives = 2 + self.random.below(5);
        for _ in 0..lives {
            self.outcome.lives += 1;
            let flip = match self.trouble {
                Trouble::BitFlip if self.openings > 0 => self.flip_a_bit(),
                _ => None,
            };
            let Some(mut writer) = self.open(flip)? else { return Ok(self.outcome) };
            self.make_trouble();
            let survived = self.live(&mut writer)?;
            self.end(survived.then_some(writer))?;
        }
        Ok(self.outcome)
    }

    fn options(&mut self) -> Options {
        self.openings += 1;
        let mut salt = [0; 16];
        salt[..8].copy_from_slice(&self.openings.to_le_bytes());
        let verify = if self.random.one_in(2) || self.trouble == Trouble::BitFlip {
            Verify::Whole
        } else {
            Verify::Newest
        };
        Options {
            segment_bytes: SEGMENT_BYTES,
            verify,
            sealing: self.draw_sealing(),
            keys: self.keys.clone(),
            spares: self.spares.clone(),
            trusting: self.trusting,
            ..Options::new(salt)
        }
    }

    fn draw_sealing(&mut self) -> Sealing {
        if !self.sealing {
            return Sealing::NONE;
        }
        let compression = match self.random.below(4) {
            0 => Compression::None,
            1 => Compression::Lz4,
            2 => Compression::Zstd { level: 1 },
            _ => Compression::Gzip { level: 1 },
        };
        let encryption = Cipher::ALL.get(self.random.below(4) as usize).copied();
        let sealing = Sealing { compression, encryption };
        self.outcome.sealed_lives += u32::from(sealing != Sealing::NONE);
        sealing
    }

    /// Opens the log, through crashes while it is being opened, and checks what was found. Nothing is
    /// returned when the log was rightly refused for good.
    fn open(&mut self, mut flip: Option<Flip>) -> Checked<Option<Writer>> {
        let mut crashes = if self.random.one_in(3) { 2 } else { 0 };
        loop {
            if crashes > 0 {
                self.disk.crash_after(self.random.below(20));
                crashes -= 1;
            } else {
                self.disk.kill();
            }
            let least = self.model.least(self.ending, flip.is_some());
            match self.open_once(least) {
                Ok(opened) => return opened.map(Some),
                Err(error) if error.is_crash() => {
                    self.disk.restart();
                    self.ending = Ending::PowerLost;
                }
                // What a disk fails while the log is being opened fails the opening, and no more.
                Err(OpenError::Disk(_)) if self.trouble == Trouble::Failure => {
                    self.disk.restart();
                    self.ending = Ending::PowerLost;
                }
                Err(error) => {
                    self.outcome.refusals += 1;
                    match flip.take() {
                        Some(flip) => {
                            if !error.to_string().contains(&flip.path.display().to_string()) {
                                return Err(format!("{flip:?} was reported as: {error}"));
                            }
                            // A refusal changes nothing, so that mending the file mends the log.
                            self.disk.flip_bit(&flip.path, flip.offset, flip.bit);
                        }
                        None if self.disk.lies_told() > 0 => return Ok(None),
                        None => return Err(format!("refused without cause: {error}")),
                    }
                }
            }
        }
    }

    /// The outer error comes from the disk or the log, the inner one is a broken invariant.
    fn open_once(&mut self, least: u64) -> Result<Checked<Writer>, OpenError> {
        let promised_by_head = self.best_head();
        if !self.trusting && self.random.one_in(4) {
            // It is found and left alone, and opened to be written only later.
            recover(Arc::new(self.disk.clone()), Path::new(DIR), self.options())?.rest()?;
        }
        let options = self.options();
        let mut recovered = recover(Arc::new(self.disk.clone()), Path::new(DIR), options)?;
        let found = recovered.report().clone();
        if let Err(broken) = self.check_opened(&found, &recovered.segments(), least)? {
            return Ok(Err(broken));
        }
        if !self.trusting && promised_by_head.is_some_and(|seq| seq > found.last_seq) {
            return Ok(Err(format!("{promised_by_head:?} in HEAD was not held against the end")));
        }
        // What recovery handed out was made durable before, unless the disk lies.
        let kept = found.last_seq + 1 - found.first_seq;
        if kept > 0 && self.random.one_in(5) {
            let to = found.last_seq - self.random.below(kept + 1);
            recovered.truncate_after(to)?;
            self.model.cutting_to = Some(to);
            self.outcome.truncations += 1;
        }
        let (writer, _) = recovered.start()?;
        if let Some(to) = self.model.cutting_to.take() {
            self.model.attempted.truncate(to as usize);
            self.model.synced = to;
            self.model.written = to;
            self.model.proven = to;
            self.model.kept_from = self.model.kept_from.min(to + 1);
        }
        self.suspect = false;
        Ok(Ok(writer))
    }

    fn check_opened(
        &mut self,
        found: &OpenReport,
        segments: &Segments,
        least: u64,
    ) -> Result<Checked<()>, ReadError> {
        let least = if self.disk.lies_told() > 0 { 0 } else { least };
        self.outcome.cuts += u32::from(found.cut.is_some());
        self.outcome.lost_unsynced += u32::from(found.last_seq < self.model.written);
        if self.disk.lies_told() > 0 {
            self.model.kept_from = self.model.kept_from.max(found.first_seq);
        }
        if let Err(broken) = self.model.check_opened(found.last_seq, found.first_seq, least) {
            return Ok(Err(broken));
        }
        if found.last_seq < found.first_seq {
            return Ok(Ok(()));
        }
        self.check_reading(segments, found.first_seq, found.last_seq)
    }

    fn check_reading(
        &self,
        segments: &Segments,
        from: u64,
        to: u64,
    ) -> Result<Checked<()>, ReadError> {
        let mut reader = Reader::open(segments, from)?;
        reader.set_end(to);
        let mut next = from;
        while let Some(group) = reader.next_group()? {
            for (seq, record) in group {
                if seq != next {
                    return Ok(Err(format!("read {seq} instead of {next}")));
                }
                if let Err(broken) = self.model.check_record(seq, record) {
                    return Ok(Err(broken));
                }
                next += 1;
            }
        }
        if next != to + 1 {
            return Ok(Err(format!("reading stopped before {next} instead of after {to}")));
        }
        Ok(Ok(()))
    }

    /// The greatest end that a readable slot of HEAD vouches for, read without the code under test's
    /// choice between them.
    fn best_head(&self) -> Option<u64> {
        let bytes = self.disk.bytes_of(&Path::new(DIR).join("HEAD"))?;
        let slots = bytes.as_chunks::<{ rialto_disk::BLOCK_BYTES }>().0;
        let slots = slots.iter().filter_map(|slot| crate::format::HeadSlot::decode(slot).ok());
        slots.max_by_key(|slot| slot.generation).map(|slot| slot.end_seq)
    }

    fn make_trouble(&mut self) {
        match self.trouble {
            Trouble::None | Trouble::BitFlip => {}
            Trouble::NoSpace => {
                let files = self.disk.list(Path::new(DIR)).unwrap_or_default();
                let used: usize = files
                    .iter()
                    .filter_map(|file| self.disk.bytes_of(&Path::new(DIR).join(file)))
                    .map(|bytes| bytes.len())
                    .sum();
                let room = self.random.below(2 * SEGMENT_BYTES);
                self.limit(Some(used as u64 + room));
            }
            Trouble::Failure if self.random.one_in(2) => {
                self.disk.fail_write(1 + self.random.below(30));
            }
            Trouble::Failure => self.disk.fail_sync(1 + self.random.below(20)),
            Trouble::LyingSync => self.disk.lie_at_sync(1 + self.random.below(20)),
        }
    }

    fn limit(&mut self, capacity_bytes: Option<u64>) {
        self.disk.set_faults(Faults { capacity_bytes, ..self.faults.clone() });
    }

    /// Uses the log for a while. Returns false when the writer failed.
    fn live(&mut self, writer: &mut Writer) -> Checked<bool> {
        if self.random.one_in(2) {
            self.disk.crash_after(self.random.below(60));
        }
        let mut group = Group::new(16 << 10);
        let mut reader = Reader::open(&writer.segments(), writer.next_seq())
            .map_err(|error| format!("no reader at the end: {error}"))?;
        for _ in 0..self.random.below(25) {
            let done = self.step(writer, &mut group);
            match done {
                Ok(checked) => checked?,
                Err(WriteError::Disk(_)) => {
                    self.outcome.poisoned += 1;
                    group.begin(writer.next_seq());
                    let again = writer.write(&mut group, Commit::Written);
                    if !matches!(again, Err(WriteError::Poisoned { .. })) {
                        return Err(format!("a failed writer went on: {again:?}"));
                    }
                    return Ok(false);
                }
                Err(error) => return Err(format!("refused to write: {error}")),
            }
            reader.set_end(writer.position().seq);
            while let Some(group) = reader.next_group().map_err(|error| error.to_string())? {
                for (seq, record) in group {
                    self.model.check_record(seq, record)?;
                }
            }
            if reader.next_seq() != writer.next_seq() {
                return Err(format!("a tail reader stands at {}", reader.next_seq()));
            }
        }
        Ok(true)
    }

    fn step(&mut self, writer: &mut Writer, group: &mut Group) -> Result<Checked<()>, WriteError> {
        let (rolled_from, first) = (writer.segments().count(), writer.next_seq());
        match self.random.below(20) {
            0 => {
                writer.sync()?;
                self.model.synced = self.model.written;
            }
            1 => {
                writer.confirm()?;
                self.model.synced = self.model.written;
                self.model.proven = self.model.written;
            }
            2 if writer.wants_segment() => {
                // Preparing may fail without harm to the writer, unless the machine is gone.
                if let Ok(prepared) = writer.preparer().prepare() {
                    assert!(writer.accept(prepared).is_ok(), "the segment was wanted");
                }
            }
            3 | 5 => {
                let seq = 1 + self.random.below(writer.next_seq());
                self.model.kept_from = self.model.kept_from.max(seq);
                let retained = writer.retain_from(seq)?;
                if retained.first_seq > self.model.kept_from {
                    return Ok(Err(format!("asked to keep {seq}, but {retained:?}")));
                }
            }
            6 => {
                writer.rest()?;
                self.outcome.rests += 1;
                self.model.synced = self.model.written;
                self.model.proven = self.model.written;
            }
            7 => {
                writer.release()?;
                self.model.synced = self.model.written;
            }
            4 if self.sealing => {
                self.keys.swap(&keys_with_current(1 + self.random.below(2)));
                self.outcome.rotations += 1;
            }
            _ => {
                let commit = if self.random.one_in(3) { Commit::Written } else { Commit::Synced };
                group.begin(writer.next_seq());
                for _ in 0..=self.random.below(12) {
                    let record = self.record();
                    if group.append(&record).is_ok() {
                        self.model.attempted.push(record);
                    }
                }
                let durable_before = writer.durable_seq();
                let position = writer.write(group, commit)?;
                self.model.written = position.seq;
                if commit == Commit::Synced {
                    self.model.proven = self.model.proven.max(durable_before);
                    self.model.synced = position.seq;
                }
            }
        }
        self.outcome.rolls += u32::from(writer.segments().count() > rolled_from);
        if let Some((_, newest)) = writer.segments().oldest_and_newest()
            && newest.name().first_seq == first
        {
            self.outcome.recycled += u32::from(newest.header.ground == Ground::Used);
        }
        Ok(Ok(()))
    }

    /// A record that says where it was written first, so that no other can be taken for it.
    fn record(&mut self) -> Vec<u8> {
        let len = match self.random.below(10) {
            0 => 0,
            1 => self.random.below(3000),
            _ => self.random.below(200),
        };
        let mark = self.random.below(u64::MAX);
        mark.to_le_bytes().into_iter().cycle().take(len as usize).collect()
    }

    fn end(&mut self, writer: Option<Writer>) -> Checked<()> {
        let sound = writer.is_some();
        // After a failed sync only a loss of power shows what the disk really holds; see the chapter
        // on what cannot be proven in `docs/formats/log.md`.
        self.suspect |= !sound;
        self.ending = match (self.random.below(3), writer) {
            (0, Some(writer)) => match writer.close() {
                Ok(_) => {
                    self.model.synced = self.model.written;
                    self.model.proven = self.model.written;
                    Ending::Closed
                }
                Err(WriteError::Disk(_)) => {
                    self.suspect = true;
                    Ending::PowerLost
                }
                Err(error) => return Err(format!("refused to close: {error}")),
            },
            (1, Some(_)) => Ending::Killed,
            _ => Ending::PowerLost,
        };
        self.limit(None);
        if self.suspect || self.ending == Ending::PowerLost || self.random.one_in(2) {
            self.disk.restart();
            if self.ending == Ending::Killed || self.suspect {
                self.ending = Ending::PowerLost;
            }
        } else {
            self.disk.kill();
        }
        Ok(())
    }

    fn flip_a_bit(&mut self) -> Option<Flip> {
        let files: Vec<String> = self.disk.list(Path::new(DIR)).ok()?;
        let files: Vec<String> =
            files.into_iter().filter(|it| it.ends_with(".log") || it == "HEAD").collect();
        let file = files.get(self.random.below(files.len() as u64) as usize)?;
        let path = Path::new(DIR).join(file);
        let bytes = self.disk.bytes_of(&path)?;
        // Most of a segment is zeros, where nothing can be damaged.
        let used = bytes.iter().rposition(|byte| *byte != 0)? as u64 + 1;
        let flip = Flip { path, offset: self.random.below(used), bit: self.random.below(8) as u8 };
        self.disk.flip_bit(&flip.path, flip.offset, flip.bit).then_some(flip)
    }
}

#[derive(Debug)]
struct Flip {
    path: PathBuf,
    offset: u64,
    bit: u8,
}

trait Crash {
    fn is_crash(&self) -> bool;
}

impl Crash for OpenError {
    fn is_crash(&self) -> bool {
        match self {
            OpenError::Disk(error) => error.is_crash(),
            OpenError::Read(ReadError::Disk(error)) => error.is_crash(),
            _ => false,
        }
    }
}
