//! One life after another of a log, drawn from a seed.

use super::faults::{Fault, InjectedFaults};
use super::model::{Ending, Model};
use super::random::{Random, keys_with_current};
use crate::error::{ReadError, WriteError};
use crate::format::Ground;
use crate::{
    Cipher, Commit, Compression, Group, KeyRing, Options, Reader, Sealing, SpareFiles, Verify,
    Writer,
};
use rialto_disk::{Faults, SimDisk};

pub(super) const DIR: &str = "/log";
pub(super) const SEGMENT_BYTES: u64 = 48 << 10;

/// The counts of a history.
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
    pub(super) flips_while_running: u32,
    pub(super) misdirected: u32,
    pub(super) stale_reads: u32,
    /// Openings that were refused for a stale read, and of which the next one found everything.
    pub(super) refused_for_now: u32,
    /// Openings that found less than was acknowledged, because damage had taken what nothing proved.
    pub(super) lost_unproven: u32,
    /// Readers that met damage while the log was written.
    pub(super) readers_failed: u32,
    /// Histories that met two damages at once.
    pub(super) damaged_twice: u32,
}

pub(super) struct History {
    pub(super) disk: SimDisk,
    pub(super) faults: Faults,
    pub(super) random: Random,
    pub(super) model: Model,
    pub(super) planned: Vec<Fault>,
    pub(super) suffered: InjectedFaults,
    pub(super) trusting: bool,
    /// Whether the lives of this history seal their groups, each in a way of its own.
    sealing: bool,
    spares: SpareFiles,
    keys: KeyRing,
    pub(super) openings: u64,
    pub(super) ending: Ending,
    /// Whether a failure left the kernel's view of the disk unreliable until the power goes.
    pub(super) suspect: bool,
    pub(super) outcome: Outcome,
}

pub(super) type Checked<T> = Result<T, String>;

impl History {
    pub(super) fn new(seed: u64, planned: &[Fault], trusting: bool) -> Self {
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
            planned: planned.to_vec(),
            suffered: InjectedFaults::default(),
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
            self.afflict();
            let Some(mut writer) = self.open()? else { return Ok(self.outcome) };
            self.afflict_life();
            let survived = self.live(&mut writer)?;
            self.end(survived.then_some(writer))?;
        }
        Ok(self.outcome)
    }

    pub(super) fn options(&mut self) -> Options {
        self.openings += 1;
        let mut salt = [0; 16];
        salt[..8].copy_from_slice(&self.openings.to_le_bytes());
        let verify = if self.random.one_in(2) || self.has(Fault::BitFlip) {
            Verify::Whole
        } else {
            Verify::Newest
        };
        Options {
            segment_bytes: SEGMENT_BYTES,
            // Some openings begin with short segments, which grow.
            first_segment_bytes: self.openings.is_multiple_of(3).then_some(SEGMENT_BYTES / 3),
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

    /// Uses the log for a while. Returns false when the writer failed.
    fn live(&mut self, writer: &mut Writer) -> Checked<bool> {
        if self.random.one_in(2) {
            self.disk.crash_after(self.random.below(60));
        }
        let mut group = Group::new(16 << 10);
        let mut reader = self.read_along(writer)?;
        for _ in 0..self.random.below(25) {
            let done = self.step(writer, &mut group);
            self.notice_damage();
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
            if self.model.synced == self.model.written {
                self.notice_sync();
            }
            self.flip_while_running();
            if let Some(some) = &mut reader {
                match self.check_tail(writer, some) {
                    Ok(checked) => checked?,
                    Err(error) => {
                        self.check_reader_failed(&error)?;
                        reader = None;
                    }
                }
            }
        }
        Ok(true)
    }

    /// A reader that stands at the end; none if it met damage on its way there.
    fn read_along(&mut self, writer: &Writer) -> Checked<Option<Reader>> {
        let before = self.disk.stale_reads();
        let mut opened = Reader::open(&writer.segments(), writer.next_seq());
        if opened.is_err() && self.disk.stale_reads() > before {
            opened = Reader::open(&writer.segments(), writer.next_seq());
        }
        self.outcome.stale_reads += (self.disk.stale_reads() - before) as u32;
        match opened {
            Ok(reader) => Ok(Some(reader)),
            Err(error) => self.check_reader_failed(&error).map(|()| None),
        }
    }

    /// The outer error comes from the log, the inner one is a broken invariant.
    fn check_tail(
        &mut self,
        writer: &Writer,
        reader: &mut Reader,
    ) -> Result<Checked<()>, ReadError> {
        let before = self.disk.stale_reads();
        reader.set_end(writer.position().seq);
        let mut checked = Ok(());
        while let Some(group) = reader.next_group()? {
            for (seq, record) in group {
                checked = checked.and_then(|()| self.model.check_record(seq, record));
            }
        }
        self.outcome.stale_reads += (self.disk.stale_reads() - before) as u32;
        if reader.next_seq() != writer.next_seq() {
            return Ok(Err(format!("a tail reader stands at {}", reader.next_seq())));
        }
        Ok(checked)
    }

    /// A reader may fail only for damage, and names the file.
    fn check_reader_failed(&mut self, error: &ReadError) -> Checked<()> {
        self.outcome.readers_failed += 1;
        let told = error.to_string();
        if self.suffered.damages.is_empty() || !told.contains(DIR) {
            return Err(format!("a reader failed: {told}"));
        }
        Ok(())
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
        self.outcome.damaged_twice += u32::from(self.suffered.damages.len() > 1);
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
        self.notice_damage();
        if self.ending == Ending::Closed {
            self.notice_sync();
        }
        self.limit(None);
        if self.suspect || self.ending == Ending::PowerLost || self.random.one_in(2) {
            self.notice_power_loss();
            self.disk.restart();
            if self.ending == Ending::Killed || self.suspect {
                self.ending = Ending::PowerLost;
            }
        } else {
            self.disk.kill();
        }
        Ok(())
    }
}
