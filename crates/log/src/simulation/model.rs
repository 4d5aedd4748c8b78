//! A model of the log: a list in memory.

/// The records that were ever handed to the writer and may still be found, and what is promised
/// about them.
#[derive(Default)]
pub(super) struct Model {
    /// Record `seq` is at `seq - 1`. Everything that may be found, in order.
    pub(super) attempted: Vec<Vec<u8>>,
    /// The last sequence that must survive the loss of power.
    pub(super) synced: u64,
    /// The last sequence that must survive the death of the process.
    pub(super) written: u64,
    /// The last sequence that must survive, or be missed loudly, even when something that is stored is
    /// damaged: the synced records that a later mark vouches for.
    pub(super) proven: u64,
    /// The oldest sequence that must still be there.
    pub(super) kept_from: u64,
    /// A cut that was begun and may or may not have happened.
    pub(super) cutting_to: Option<u64>,
}

/// What may be missing when something that is stored is not what was written. A refusal that names the
/// file is always in order then; this is about a log that opens all the same. Whatever the excuse, no
/// record may be found that is not the one appended, and none after one that is missing.
///
/// A stale read excuses nothing: it may be refused, and the next opening finds everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excuse {
    Nothing,
    /// One damage: everything after what is [proven](Model::proven). A bit that turned must stand
    /// in what is reported as cut. What went elsewhere looks as if it had never been written, so
    /// that nothing need be reported.
    Unproven,
    /// Damage that may have taken a group and its proof: everything after this sequence, the last
    /// that the disk still proves.
    After(u64),
}

/// The end of the log's last life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Closed,
    /// The process died.
    Killed,
    PowerLost,
}

impl Model {
    pub(super) fn new() -> Self {
        Self { kept_from: 1, ..Self::default() }
    }

    /// The least sequence at which the log may end after `ending`.
    pub(super) fn least(&self, ending: Ending, excuse: Excuse) -> u64 {
        let promised = match ending {
            Ending::Closed | Ending::PowerLost => self.synced,
            Ending::Killed => self.written,
        };
        let promised = match excuse {
            Excuse::Nothing => promised,
            Excuse::Unproven => promised.min(self.proven),
            Excuse::After(seq) => promised.min(seq),
        };
        self.cutting_to.map_or(promised, |to| promised.min(to))
    }

    /// Checks what an opening found, and takes it over as the truth from now on.
    pub(super) fn check_opened(
        &mut self,
        last_seq: u64,
        first_seq: u64,
        least: u64,
    ) -> Result<(), String> {
        if last_seq < least {
            return Err(format!("lost: the log ends at {last_seq}, but {least} was acknowledged"));
        }
        if last_seq > self.attempted.len() as u64 {
            return Err(format!(
                "invented: the log ends at {last_seq}, but only {} were appended",
                self.attempted.len()
            ));
        }
        if first_seq > self.kept_from {
            return Err(format!("lost: the log begins at {first_seq}, not {}", self.kept_from));
        }
        self.attempted.truncate(last_seq as usize);
        self.synced = last_seq;
        self.written = last_seq;
        self.proven = last_seq;
        self.cutting_to = None;
        Ok(())
    }

    pub(super) fn check_record(&self, seq: u64, record: &[u8]) -> Result<(), String> {
        match self.attempted.get(seq as usize - 1) {
            Some(expected) if expected == record => Ok(()),
            Some(_) => Err(format!("record {seq} is not what was appended")),
            None => Err(format!("record {seq} was never appended")),
        }
    }
}
