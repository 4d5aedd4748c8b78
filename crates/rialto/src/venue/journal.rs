//! The journal and the event log as a component: the engine's own, watched here apart, because a
//! disk that hangs is no fault of the engine's and yet no state to send requests to.

use super::made::Made;
use crate::tell_all;
use rialto_engine::{Engine, Fault, Health as EngineHealth};
use rialto_lifecycle::{Component, Failure, Health};
use rialto_model::Seq;
use std::time::{Duration, Instant};

/// How long a write may take before the venue is no longer ready. It goes on by itself when the
/// disk does.
const HANGS_AFTER: Duration = Duration::from_secs(5);

pub(super) struct Part {
    engine: Made<Engine>,
    journal: Progress,
    events: Progress,
}

impl Part {
    pub(super) fn new(engine: Made<Engine>) -> Part {
        Part { engine, journal: Progress::default(), events: Progress::default() }
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        self.engine.get().map(drop)
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // The engine closes them, when it has finished what it took.
        Ok(())
    }

    fn health(&mut self) -> Health {
        let Ok(engine) = self.engine.get() else {
            return Health::Failed("there is no engine".to_string());
        };
        if let EngineHealth::Failed(fault) = engine.health()
            && let Fault::Journal(_) | Fault::EventLog(_) = &*fault
        {
            return Health::Failed(tell_all(&*fault));
        }
        let (marks, now) = (engine.marks(), Instant::now());
        let hangs = |what: &str, done: Seq, since: Duration| {
            let since = since.as_secs();
            Health::NotReady(format!("the {what} has been at sequence {done} for {since} s"))
        };
        if let Some(since) = self.journal.hangs(marks.written, marks.applied, now) {
            return hangs("journal", marks.written, since);
        }
        match self.events.hangs(marks.recorded, marks.released, now) {
            Some(since) => hangs("event log", marks.recorded, since),
            None => Health::Up,
        }
    }
}

/// How far something had come when it was last seen to move.
#[derive(Default)]
struct Progress {
    seen: Option<(Seq, Instant)>,
}

impl Progress {
    /// How long there has been work and no progress, if for too long.
    fn hangs(&mut self, done: Seq, wanted: Seq, now: Instant) -> Option<Duration> {
        match self.seen {
            Some((seen, since)) if seen == done && done < wanted => {
                let since = now.saturating_duration_since(since);
                (since >= HANGS_AFTER).then_some(since)
            }
            _ => {
                self.seen = Some((done, now));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_without_progress_hangs() {
        let mut progress = Progress::default();
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(progress.hangs(Seq(5), Seq(5), at(0)), None);
        assert_eq!(progress.hangs(Seq(5), Seq(5), at(60)), None, "there was nothing to do");
        assert_eq!(progress.hangs(Seq(5), Seq(9), at(61)), None, "it began a second ago");
        assert_eq!(progress.hangs(Seq(5), Seq(9), at(64)), None);
        assert_eq!(progress.hangs(Seq(5), Seq(9), at(65)), Some(HANGS_AFTER));
        assert_eq!(progress.hangs(Seq(6), Seq(9), at(66)), None, "it moved");
    }
}
