//! Opens the log of a history, and checks what is found.

use super::evidence;
use super::faults::{Damage, Fault, Flip};
use super::history::{Checked, DIR, History};
use super::model::{Ending, Excuse};
use crate::error::{OpenError, ReadError};
use crate::{Cut, OpenReport, Reader, Segments, Writer, recover};
use std::path::Path;
use std::sync::Arc;

/// The state before an opening.
struct Before {
    stale_reads: u64,
    vouched_by_head: Option<u64>,
    damages: usize,
    excuse: Excuse,
}

impl History {
    /// Opens the log, through crashes while it is being opened, and checks what was found. Nothing is
    /// returned when the log was rightly refused for good.
    pub(super) fn open(&mut self) -> Checked<Option<Writer>> {
        let mut crashes = if self.random.one_in(3) { 2 } else { 0 };
        loop {
            if crashes > 0 {
                self.disk.crash_after(self.random.below(20));
                crashes -= 1;
            } else {
                self.disk.kill();
            }
            self.notice_damage();
            let before = Before {
                stale_reads: self.disk.stale_reads(),
                vouched_by_head: evidence::vouched_by_head(&self.disk),
                damages: self.suffered.damages.len(),
                excuse: self.excuse(),
            };
            let opened = self.open_once(&before);
            self.notice_damage();
            match opened {
                Ok(opened) => {
                    self.notice_stale_reads(&before);
                    // Everything has been read.
                    self.forget_damage(before.damages);
                    self.notice_sync();
                    return opened.map(Some);
                }
                Err(error) if error.is_crash() => self.power_is_lost(),
                // A disk error during an opening fails only the opening.
                Err(OpenError::Disk(_)) if self.has(Fault::Failure) => self.power_is_lost(),
                Err(error) => {
                    if !self.is_refused_for_now(&before, &error)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Checks a refusal. True: the next opening must find everything that is promised.
    fn is_refused_for_now(&mut self, before: &Before, error: &OpenError) -> Checked<bool> {
        self.outcome.refusals += 1;
        let told = error.to_string();
        if !told.contains(DIR) {
            return Err(format!("a refusal names no file: {told}"));
        }
        let is_stale = self.notice_stale_reads(before);
        if self.disk.lies_told() > 0 {
            return Ok(false);
        }
        match self.suffered.damages.as_slice() {
            [] if is_stale => {
                self.outcome.refused_for_now += 1;
                Ok(true)
            }
            [] => Err(format!("refused without cause: {told}")),
            [Damage::Flipped(flip)] if !is_stale => {
                if !told.contains(&flip.path.display().to_string()) {
                    return Err(format!("{flip:?} was reported as: {told}"));
                }
                // A refusal changes nothing, so that mending the file mends the log.
                let is_mended = flip.is_mendable;
                if is_mended {
                    self.disk.flip_bit(&flip.path, flip.offset, flip.bit);
                    self.suffered.damages.clear();
                }
                Ok(is_mended)
            }
            _ => Ok(false),
        }
    }

    fn notice_stale_reads(&mut self, before: &Before) -> bool {
        let strikes = self.disk.stale_reads() - before.stale_reads;
        self.outcome.stale_reads += strikes as u32;
        strikes > 0
    }

    /// The outer error comes from the disk or the log, the inner one is a broken invariant.
    fn open_once(&mut self, before: &Before) -> Result<Checked<Writer>, OpenError> {
        if !self.trusting && self.random.one_in(4) {
            // It is found and left alone, and opened to be written only later.
            let found = recover(Arc::new(self.disk.clone()), Path::new(DIR), self.options())?;
            self.suffered.cuts.extend(found.report().cut.clone());
            found.rest()?;
        }
        let options = self.options();
        let mut recovered = recover(Arc::new(self.disk.clone()), Path::new(DIR), options)?;
        let found = recovered.report().clone();
        self.suffered.cuts.extend(found.cut.clone());
        if let Err(broken) = self.check_opened(&found, &recovered.segments(), before)? {
            return Ok(Err(broken));
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
        before: &Before,
    ) -> Result<Checked<()>, ReadError> {
        let promised = self.model.least(self.ending, Excuse::Nothing);
        let excuse = match before.excuse {
            // It may have been the proof that was read so.
            Excuse::Unproven if self.disk.stale_reads() > before.stale_reads => {
                Excuse::After(before.vouched_by_head.unwrap_or_default())
            }
            excuse => excuse,
        };
        let lies = self.disk.lies_told() > 0;
        let least = if lies { 0 } else { self.model.least(self.ending, excuse) };
        self.outcome.cuts += u32::from(found.cut.is_some());
        self.outcome.lost_unsynced += u32::from(found.last_seq < self.model.written);
        if lies {
            self.model.kept_from = self.model.kept_from.max(found.first_seq);
        } else if found.last_seq < promised {
            self.outcome.lost_unproven += 1;
            // A bit that turned leaves something to be seen.
            if let ([Damage::Flipped(flip)], Excuse::Unproven) =
                (self.suffered.damages.as_slice(), excuse)
                && !self.suffered.cuts.iter().any(|cut| flip.is_in(cut))
            {
                return Ok(Err(format!("{promised} was lost to {flip:?} without a word")));
            }
        }
        if !self.trusting && before.vouched_by_head.is_some_and(|seq| seq > found.last_seq) {
            let head = before.vouched_by_head;
            return Ok(Err(format!("{head:?} in HEAD was not held against the end")));
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

    fn power_is_lost(&mut self) {
        self.notice_power_loss();
        self.disk.restart();
        self.ending = Ending::PowerLost;
    }
}

impl Flip {
    /// Whether the bit stands in what was given up.
    fn is_in(&self, cut: &Cut) -> bool {
        cut.file == self.path && (cut.offset..cut.offset + cut.bytes).contains(&self.offset)
    }
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
