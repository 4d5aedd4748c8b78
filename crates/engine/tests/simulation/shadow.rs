//! What clients and readers have seen, and what they may therefore rely on.

use rialto_engine::{Answer, Level, Marks, Reply};
use rialto_model::{Command, Seq};
use std::collections::BTreeMap;
use std::time::Duration;

/// A command, and the answer that a client has got to it.
pub(crate) struct Answered {
    pub(crate) command: Command,
    pub(crate) answer: Answer,
}

/// Everything that left the engine. It outlives every crash.
pub(crate) struct Shadow {
    level: Level,
    pub(crate) answered: Vec<Answered>,
    pub(crate) events: BTreeMap<Seq, Vec<u8>>,
    /// What must survive the end of the process.
    pub(crate) survives_kill: Seq,
    /// What must survive the loss of power.
    pub(crate) survives_power: Seq,
    /// What must survive, or be missed loudly, also when something stored is damaged: what was synced
    /// before something else was synced that says so.
    pub(crate) proven: Seq,
    seen: Marks,
    /// When sequences were released, oldest first: the last of a release, and the monotonic clock.
    releases: Vec<(Seq, Duration)>,
}

impl Shadow {
    pub(crate) fn new(level: Level) -> Self {
        Self {
            level,
            answered: Vec::new(),
            events: BTreeMap::new(),
            survives_kill: Seq::ZERO,
            survives_power: Seq::ZERO,
            proven: Seq::ZERO,
            seen: Marks::default(),
            releases: Vec::new(),
        }
    }

    /// A reply came that was gated by `level`.
    pub(crate) fn reply(&mut self, reply: &Reply, command: Command, level: Option<Level>) {
        let Ok(answer) = reply.answer else { return };
        self.answered.push(Answered { command, answer });
        self.promise(answer.seq, level.map_or(self.level, |level| level.max(self.level)));
    }

    pub(crate) fn event(&mut self, seq: Seq, bytes: &[u8]) -> Result<(), String> {
        // Whatever the level, events are shown only when the journal has them.
        self.promise(seq, self.level.max(Level::Buffered));
        match self.events.insert(seq, bytes.to_vec()) {
            Some(before) if before != bytes => {
                Err(format!("events of {seq} were shown twice, differently"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn marks(&mut self, marks: Marks, now: Duration) {
        // What was written after this and is synced carries the mark.
        if marks.synced > self.seen.written {
            self.proven = self.proven.max(self.seen.synced);
        }
        if marks.released > self.seen.released {
            self.releases.push((marks.released, now));
        }
        self.seen = marks;
        self.promise(marks.written, Level::Buffered);
        self.promise(marks.synced, Level::Synced);
    }

    fn promise(&mut self, seq: Seq, level: Level) {
        if level >= Level::Buffered {
            self.survives_kill = self.survives_kill.max(seq);
        }
        if level >= Level::Synced {
            self.survives_power = self.survives_power.max(seq);
        }
    }

    /// After a start, what was found is durable, and what was not found is gone for good.
    pub(crate) fn recovered(&mut self, last: Seq) {
        self.answered.retain(|it| it.answer.seq <= last);
        self.events.retain(|seq, _| *seq <= last);
        self.survives_kill = last;
        self.survives_power = last;
        self.proven = last;
        self.seen =
            Marks { applied: last, written: last, synced: last, released: last, recorded: last };
        self.releases.clear();
    }

    /// How much time of acknowledgements was lost, if the journal ends with `last`.
    pub(crate) fn time_lost(&self, last: Seq) -> Duration {
        let lost = self.releases.iter().filter(|(seq, _)| *seq > last).map(|(_, at)| *at);
        let (first, newest) = (lost.clone().min(), lost.max());
        first.zip(newest).map_or(Duration::ZERO, |(first, newest)| newest - first)
    }
}
