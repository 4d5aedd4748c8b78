//! Past states and events of a running engine, for readers that begin before its end.

use crate::engine::Engine;
use crate::replay::{ReplayError, apply_record};
use rialto_core::{Core, EventCount};
use rialto_log::Reader;
use rialto_model::{Seq, Timestamp};

impl Engine {
    /// The newest durable snapshot.
    #[must_use]
    pub fn last_snapshot(&self) -> Seq {
        self.state.snapshots.durable()
    }

    /// The state after `seq`, or after the first later command that leaves no order with suspended
    /// matching: the newest snapshot at or below `seq`, and the journal from there.
    ///
    /// It does not disturb the engine, but takes as long as the replay.
    ///
    /// # Errors
    /// No snapshot is old enough, the journal does not reach `seq`, or the disk failed.
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
                apply_record(&mut core, Seq(next), record, |_| false, &mut events)?;
                if settled(&core) {
                    break;
                }
            }
        }
        Ok(core)
    }

    /// The newest usable snapshot at or below `seq`.
    fn snapshot_before(&self, seq: Seq) -> Result<Core, ReplayError> {
        let mut unusable = None;
        for at in self.store.list()?.into_iter().filter(|at| *at <= seq) {
            match self.store.load(at, 0) {
                Ok((_, core)) => return Ok(core),
                // It may be damaged, or just removed for a newer one.
                Err(error) => unusable = Some(error),
            }
        }
        Err(match unusable {
            Some(error) => error.into(),
            None => ReplayError::NoSnapshot { at: format!("sequence {seq}") },
        })
    }
}
