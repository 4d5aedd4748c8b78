//! Journals with what was decided about them: the core that they began with, each command with its
//! events, both in their binary form, and state hashes on the way.
//!
//! A file is a sequence of frames, all of it compressed with LZ4: one byte for what it is, the
//! length as a little-endian `u32`, the bytes.

use rialto_core::{Core, CoreConfig, EventSink, Limits, StateHash};
use rialto_model::{
    COMMAND_BYTES_MAX, Command, EVENT_BYTES_MAX, EVENTS_HEADER_BYTES, EngineId, Event,
    EventEncoder, Seq, Timestamp, decode_command, encode_command,
};

/// Commands with their times.
pub(crate) type Journal = Vec<(Timestamp, Command)>;

/// The number of commands between two hashes of the state. The last command is followed by one too.
const HASH_EVERY: usize = 16;

/// A snapshot of the core that a run begins with.
const BEGIN: u8 = b'S';
const COMMAND: u8 = b'C';
const EVENTS: u8 = b'E';
const HASH: u8 = b'H';

/// The journals of a file.
pub(crate) struct Recorded {
    pub(crate) runs: Vec<Run>,
}

/// One journal with what was decided about it.
pub(crate) struct Run {
    begin: Vec<u8>,
    steps: Vec<Step>,
}

struct Step {
    command: Vec<u8>,
    events: Vec<u8>,
    hash: Option<StateHash>,
}

struct Events(Vec<Event>);

impl EventSink for Events {
    fn event(&mut self, event: &Event) {
        self.0.push(*event);
    }
}

/// Decides a command; returns the binary form of its events.
fn decide(core: &mut Core, time: Timestamp, command: &Command) -> Vec<u8> {
    let mut events = Events(Vec::new());
    core.apply(Seq(core.seq().0 + 1), time, command, &mut events);
    let mut bytes = vec![0; EVENTS_HEADER_BYTES + events.0.len() * EVENT_BYTES_MAX];
    let mut encoder = EventEncoder::new(time, &mut bytes);
    events.0.iter().for_each(|event| encoder.push(event).expect("there is room for all"));
    let len = encoder.finish();
    bytes.truncate(len);
    bytes
}

impl Recorded {
    /// Decides journals under a version of the rules and records it.
    pub(crate) fn of(rules_version: u32, journals: &[(Limits, Journal)]) -> Recorded {
        let run = |(limits, journal): &(Limits, Journal)| {
            let config = CoreConfig::new(EngineId(7));
            let mut core = Core::new(CoreConfig { rules_version, limits: *limits, ..config });
            let begin = core.snapshot();
            let steps = (1..).zip(journal).map(|(number, (time, command))| {
                let mut record = vec![0; COMMAND_BYTES_MAX];
                let len = encode_command(*time, command, &mut record);
                record.truncate(len);
                let events = decide(&mut core, *time, command);
                let hashed = number % HASH_EVERY == 0 || number == journal.len();
                Step { command: record, events, hash: hashed.then(|| core.state_hash()) }
            });
            Run { begin, steps: steps.collect() }
        };
        Recorded { runs: journals.iter().map(run).collect() }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        let mut frame = |kind: u8, bytes: &[u8]| {
            plain.push(kind);
            plain.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            plain.extend_from_slice(bytes);
        };
        for run in &self.runs {
            frame(BEGIN, &run.begin);
            for step in &run.steps {
                frame(COMMAND, &step.command);
                frame(EVENTS, &step.events);
                if let Some(hash) = &step.hash {
                    frame(HASH, &hash.0);
                }
            }
        }
        lz4_flex::compress_prepend_size(&plain)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Recorded {
        let plain = lz4_flex::decompress_size_prepended(bytes).expect("the fixture is whole");
        let mut runs: Vec<Run> = Vec::new();
        let mut rest = plain.as_slice();
        while let [kind, a, b, c, d, behind @ ..] = rest {
            let len = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
            let (frame, behind) = behind.split_at(len);
            rest = behind;
            let frame = frame.to_vec();
            if *kind == BEGIN {
                runs.push(Run { begin: frame, steps: Vec::new() });
                continue;
            }
            let steps = &mut runs.last_mut().expect("a run has begun").steps;
            match *kind {
                COMMAND => steps.push(Step { command: frame, events: Vec::new(), hash: None }),
                EVENTS => steps.last_mut().expect("a command comes first").events = frame,
                HASH => {
                    let hash = frame.try_into().expect("a hash has 32 bytes");
                    steps.last_mut().expect("a command comes first").hash = Some(StateHash(hash));
                }
                other => panic!("the fixture holds a frame of kind {other}"),
            }
        }
        Recorded { runs }
    }
}

impl Run {
    /// The core before the first command.
    pub(crate) fn start(&self) -> Core {
        Core::restore(&self.begin, 0).expect("the run begins with a snapshot")
    }

    pub(crate) fn journal(&self) -> impl Iterator<Item = (Timestamp, Command)> {
        let decoded = |step: &Step| decode_command(&step.command).expect("the fixture is whole");
        self.steps.iter().map(decoded)
    }

    /// Decides the journal again; every event and hash must be the recorded one.
    pub(crate) fn must_be_decided_again(&self, name: &str) -> Core {
        let mut core = self.start();
        for (number, (step, (time, command))) in self.steps.iter().zip(self.journal()).enumerate() {
            let events = decide(&mut core, time, &command);
            let told = || format!("{name}: command {} at {time}: {command:?}", number + 1);
            assert_eq!(events, step.events, "{}", told());
            if let Some(hash) = step.hash {
                assert_eq!(core.state_hash(), hash, "{}", told());
            }
        }
        core.check().expect("the state is sound");
        core
    }
}
