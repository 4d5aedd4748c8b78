//! Faults of the disk and the clock.

use super::history::History;
use rialto_disk::{Disk, Faults};
use rialto_engine::{Engine, Health, SubmitError};
use rialto_model::Command;
use std::sync::Arc;
use std::time::Duration;

/// More operations than any history has.
pub(crate) const NEVER: u64 = 1 << 60;

/// The faults of the disk in one life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    None,
    /// A power failure after this many operations of the disk.
    PowerLoss(u64),
    FailedWrite(u64),
    FailedSync(u64),
    FailedRead(u64),
    FullDisk,
    DirectRefused,
    ShortWrites,
    LyingSync(u64),
    /// A bit flips before the start.
    Flip,
    /// A bit flips while the engine runs.
    FlipWhileRunning,
    Misdirected(u64),
    StaleRead(u64),
    Hangs,
}

/// The kind of damage of stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Bytes are different: cut bytes are reported.
    Flipped,
    /// Bytes are missing, as if they had never been written.
    Missing,
}

impl History<'_> {
    /// Mostly one, sometimes two at once.
    pub(crate) fn troubles(&mut self) -> Vec<Trouble> {
        let mut troubles = vec![self.trouble()];
        if self.random.percent(15) {
            troubles.push(self.trouble());
        }
        troubles.retain(|trouble| *trouble != Trouble::None);
        troubles.dedup_by_key(|trouble| std::mem::discriminant(trouble));
        self.coverage.two_faults += u64::from(troubles.len() > 1);
        troubles
    }

    fn trouble(&mut self) -> Trouble {
        let nth = self.random.below(60);
        match self.random.below(100) {
            0..23 => Trouble::None,
            23..27 => Trouble::FlipWhileRunning,
            27..31 => Trouble::Misdirected(nth / 2),
            31..35 => Trouble::StaleRead(nth / 2),
            35..39 => Trouble::Hangs,
            39..65 => Trouble::PowerLoss(nth),
            65..72 => Trouble::FailedWrite(nth),
            72..79 => Trouble::FailedSync(nth / 2),
            79..82 => Trouble::FailedRead(nth / 4),
            82..86 => Trouble::FullDisk,
            86..90 => Trouble::DirectRefused,
            90..94 => Trouble::ShortWrites,
            94..97 => Trouble::LyingSync(nth / 2),
            _ => Trouble::Flip,
        }
    }

    pub(crate) fn afflict(&mut self, troubles: &[Trouble]) {
        let disk = &self.bench.disk;
        // Planned faults of an earlier life that did not happen are cancelled.
        disk.crash_after(NEVER);
        disk.fail_write(NEVER);
        disk.fail_sync(NEVER);
        disk.fail_read(NEVER);
        disk.lie_at_sync(NEVER);
        disk.misdirect_write(NEVER);
        disk.stale_read(NEVER);
        disk.hang_never();
        let mut faults = Faults { stale_bytes: self.random.percent(50), ..Faults::default() };
        let mut flips = false;
        for trouble in troubles {
            match *trouble {
                Trouble::None | Trouble::FlipWhileRunning | Trouble::Hangs => {}
                Trouble::PowerLoss(after) => disk.crash_after(after),
                Trouble::FailedWrite(nth) => disk.fail_write(nth),
                Trouble::FailedSync(nth) => disk.fail_sync(nth),
                Trouble::FailedRead(nth) => disk.fail_read(nth),
                Trouble::FullDisk => faults.capacity_bytes = Some(self.random.below(4 << 20)),
                Trouble::DirectRefused => faults.direct_refused = true,
                Trouble::ShortWrites => faults.short_write_per_mille = 100,
                Trouble::LyingSync(nth) => disk.lie_at_sync(nth),
                Trouble::Flip => flips = true,
                Trouble::Misdirected(nth) => disk.misdirect_write(nth),
                Trouble::StaleRead(nth) => disk.stale_read(nth),
            }
        }
        disk.set_faults(faults);
        if flips {
            self.flip_a_bit();
            self.coverage.flips += u64::from(self.damage.is_some());
        }
    }

    /// Makes the next operation of the disk slow, with a check at its end.
    pub(crate) fn hang(&mut self, engine: &Arc<Engine>) {
        self.coverage.hangs += 1;
        let lasting = self.random.pick(&[60, 200, 1_500, 40_000]);
        let (engine, clock) = (Arc::clone(engine), Arc::clone(&self.bench.clock));
        let (violation, released) = (Arc::clone(&self.violation), engine.released());
        self.bench.disk.hang(&self.bench.config.data_dir, 0, move || {
            clock.advance(Duration::from_millis(lasting));
            let health = engine.health();
            let submit = engine.producer().submit(0, &Command::Tick, None);
            let is_so = match &health {
                Health::Stalled(_) => lasting >= 1_000 && submit == Err(SubmitError::Busy),
                Health::Failed(_) => submit == Err(SubmitError::Stopped),
                _ => lasting < 1_000,
            };
            if !is_so || engine.released() != released {
                let told = format!("while the disk hung for {lasting} ms: {health}, {submit:?}");
                *violation.lock().expect("no thread panics with it") = Some(told);
            }
        });
    }

    /// Planned damage may not have happened.
    pub(crate) fn notice_damage(&mut self) {
        let (misdirected, stale) = (self.bench.disk.misdirected(), self.bench.disk.stale_reads());
        if misdirected + stale > 0 {
            self.damage = Some(Damage::Missing);
        }
        self.coverage.misdirected += u64::from(misdirected > 0);
        self.coverage.stale_reads += u64::from(stale > 0);
    }

    pub(crate) fn flip_a_bit(&mut self) {
        let dir =
            self.bench.config.data_dir.join(self.random.pick(&["journal", "events", "snapshots"]));
        let Ok(names) = self.bench.disk.list(&dir) else { return };
        let names: Vec<String> = names.into_iter().filter(|name| name != "LOCK").collect();
        if names.is_empty() {
            return;
        }
        let file = dir.join(&names[self.random.below(names.len() as u64) as usize]);
        let Some(bytes) = self.bench.disk.bytes_of(&file) else { return };
        // Mostly within the written part.
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        if used > 0 {
            self.bench.disk.flip_bit(
                &file,
                self.random.below(used as u64),
                self.random.below(8) as u8,
            );
            self.damage.get_or_insert(Damage::Flipped);
        }
    }
}
