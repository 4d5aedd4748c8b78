//! Past commands and events of a running engine, for readers that begin before its end.

use crate::engine::Engine;
use crate::replay::{ReplayError, decode_next};
use rialto_core::{Core, EventCount};
use rialto_log::Reader;
use rialto_model::{Seq, Timestamp};

impl Engine {
    /// The newest snapshot that is on disk.
    #[must_use]
    pub fn last_snapshot(&self) -> Seq {
        self.state.snapshots.durable()
    }

    /// The state after `seq`, or after the first command behind it that leaves no order suspended
    /// on its way into the book: the newest snapshot at or below `seq`, and the journal from there.
    ///
    /// It does not disturb the engine, but takes as long as replaying takes.
    ///
    /// # Errors
    /// No snapshot is old enough, the journal has not been written that far, or the disk failed.
    pub fn settled_state(&self, seq: Seq) -> Result<Core, ReplayError> {
        let mut core = self.snapshot_before(seq)?;
        let end = self.marks().written;
        let mut reader = Reader::open(&self.journal, core.seq().next().0)?;
        reader.set_end(end.0);
        let settled = |core: &Core| core.seq() >= seq && core.next_due() != Timestamp::ZERO;
        let mut events = EventCount::default();
        while !settled(&core) {
            let Some(group) = reader.next_group()? else {
                return Err(ReplayError::BeyondEnd { last: end, wanted: seq });
            };
            for (next, record) in group {
                let (time, command) = decode_next(&core, Seq(next), record)?;
                core.apply(Seq(next), time, &command, &mut events);
                if settled(&core) {
                    break;
                }
            }
        }
        Ok(core)
    }

    /// The newest snapshot at or below `seq` that can be used.
    fn snapshot_before(&self, seq: Seq) -> Result<Core, ReplayError> {
        let mut unusable = None;
        for at in self.store.list()?.into_iter().filter(|at| *at <= seq) {
            match self.store.load(at, 0) {
                Ok((_, core)) => return Ok(core),
                // Besides being damaged it may just have been removed for a newer one.
                Err(error) => unusable = Some(error),
            }
        }
        Err(match unusable {
            Some(error) => error.into(),
            None => ReplayError::NoSnapshot { at: format!("sequence {seq}") },
        })
    }
}
