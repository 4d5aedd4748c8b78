//! The observations of clients and readers, and the guarantees that follow.

use rialto_engine::{Answer, Level, Marks, Reply};
use rialto_model::{Command, Seq};
use std::collections::BTreeMap;
use std::time::Duration;

/// A command with the received answer.
pub(crate) struct Answered {
    pub(crate) command: Command,
    pub(crate) answer: Answer,
}

/// Everything that left the engine. It survives every crash.
pub(crate) struct Shadow {
    level: Level,
    pub(crate) answered: Vec<Answered>,
    pub(crate) events: BTreeMap<Seq, Vec<u8>>,
    /// Must survive the end of the process.
    pub(crate) survives_kill: Seq,
    /// Must survive a power failure.
    pub(crate) survives_power: Seq,
    /// Must survive, or be reported missing, even after damage of stored data: it was synced before
    /// another sync that proves it.
    pub(crate) proven: Seq,
    seen: Marks,
    /// The releases, oldest first: the last sequence of each, and the monotonic clock.
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

    /// A reply that `level` released.
    pub(crate) fn reply(&mut self, reply: &Reply, command: Command, level: Option<Level>) {
        let Ok(answer) = reply.answer else { return };
        self.answered.push(Answered { command, answer });
        self.promise(answer.seq, level.map_or(self.level, |level| level.max(self.level)));
    }

    pub(crate) fn event(&mut self, seq: Seq, bytes: &[u8]) -> Result<(), String> {
        // At any level, events are visible only when the journal has them.
        self.promise(seq, self.level.max(Level::Buffered));
        match self.events.insert(seq, bytes.to_vec()) {
            Some(before) if before != bytes => {
                Err(format!("events of {seq} were shown twice, differently"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn marks(&mut self, marks: Marks, now: Duration) {
        // Data written after this and synced has the mark.
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

    /// After a start, found commands are durable, and missing ones are lost for ever.
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

    /// The time of lost acknowledgements, if the journal ends with `last`.
    pub(crate) fn time_lost(&self, last: Seq) -> Duration {
        let lost = self.releases.iter().filter(|(seq, _)| *seq > last).map(|(_, at)| *at);
        let (first, newest) = (lost.clone().min(), lost.max());
        first.zip(newest).map_or(Duration::ZERO, |(first, newest)| newest - first)
    }
}
