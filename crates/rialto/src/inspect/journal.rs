//! `rialto journal`: commands and their events, one line a command.

use super::read_only::{EVENTS_DIR, JOURNAL_DIR};
use super::{output, read_only, utc};
use crate::keys::KeyArgs;
use crate::{Error, tell_all};
use rialto_disk::Disk;
use rialto_log::{KeyRing, Reader, Segments, Verify};
use rialto_model::{
    Attribution, Command, Event, Seq, Timestamp, decode_attribution, decode_command, decode_events,
};
use serde_json::json;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Lists commands with their events. Changes nothing. The venue must be stopped.
#[derive(Debug, clap::Args)]
pub struct JournalArgs {
    /// The data directory.
    dir: PathBuf,
    /// The first sequence; by default the oldest.
    #[arg(long)]
    from: Option<u64>,
    /// The last sequence; by default the newest.
    #[arg(long)]
    to: Option<u64>,
    /// Print one JSON object a line instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    keys: KeyArgs,
}

/// Runs the command.
///
/// # Errors
/// The directory is in use or damaged, or does not hold these sequences.
pub fn run(args: &JournalArgs) -> Result<(), Error> {
    let disk = read_only::open(&args.dir)?;
    let _lock = disk.lock(&args.dir).map_err(|error| Error::Usage(error.to_string()))?;
    let keys = args.keys.ring()?;
    let (journal, first, last) = inspect(&disk, &args.dir.join(JOURNAL_DIR), &keys)?;
    let (from, to) = (args.from.unwrap_or(first), args.to.unwrap_or(last));
    if last < first && args.from.is_none() && args.to.is_none() {
        return Ok(());
    }
    if from > to || from < first || to > last {
        let reason = format!("the journal holds sequences {first} to {last}, not {from} to {to}");
        return Err(Error::Usage(reason));
    }
    let (events, events_first, events_last) = inspect(&disk, &args.dir.join(EVENTS_DIR), &keys)?;
    let mut events = match from.max(events_first) <= events_last {
        true => Some(EventLines::open(&events, from.max(events_first), to.min(events_last))?),
        false => None,
    };
    let mut reader = Reader::open(&journal, from).map_err(failed)?;
    reader.set_end(to);
    let mut out = output::many();
    while let Some(group) = reader.next_group().map_err(failed)? {
        for (seq, record) in group {
            let (attribution, record) = match decode_attribution(record).map_err(failed)? {
                Some((attribution, record)) => (Some(attribution), record),
                None => (None, record),
            };
            let (time, command) = decode_command(record).map_err(failed)?;
            let events = match &mut events {
                Some(events) => events.of(seq)?,
                None => None,
            };
            let line = Line { seq: Seq(seq), time, attribution, command, events };
            if line.write(&mut out, args.json).is_err() {
                // Whoever read along has seen enough.
                return Ok(());
            }
        }
    }
    drop(out.flush());
    Ok(())
}

fn failed(error: impl std::error::Error) -> Error {
    Error::Failed(tell_all(&error))
}

/// A log with its first and last sequence.
fn inspect(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    keys: &KeyRing,
) -> Result<(Segments, u64, u64), Error> {
    let (segments, report) =
        rialto_log::inspect(Arc::clone(disk), dir, Verify::Newest, keys).map_err(failed)?;
    Ok((segments, report.first_seq, report.last_seq))
}

struct Line {
    seq: Seq,
    time: Timestamp,
    attribution: Option<Attribution>,
    command: Command,
    /// `None` where the event log ends before the journal.
    events: Option<Vec<Event>>,
}

impl Line {
    fn write(&self, out: &mut impl Write, as_json: bool) -> io::Result<()> {
        let Line { seq, time, attribution, command, events } = self;
        if as_json {
            let time_ns = time;
            let time = utc::show(*time);
            let mut line = json!({
                "seq": seq, "time": time, "time_ns": time_ns, "command": command, "events": events,
            });
            if let Some(attribution) = attribution {
                line["attribution"] = json!(attribution);
            }
            return writeln!(out, "{line}");
        }
        writeln!(out, "{seq} {} {}", utc::show(*time), json!(command))?;
        match events {
            Some(events) => {
                events.iter().try_for_each(|event| writeln!(out, "    {}", json!(event)))
            }
            None => writeln!(out, "    no events: the event log does not reach here"),
        }
    }
}

/// Reads the events of each sequence in turn.
struct EventLines {
    reader: Reader,
    ready: VecDeque<(u64, Vec<Event>)>,
}

impl EventLines {
    fn open(events: &Segments, from: u64, to: u64) -> Result<EventLines, Error> {
        let mut reader = Reader::open(events, from).map_err(failed)?;
        reader.set_end(to);
        Ok(EventLines { reader, ready: VecDeque::new() })
    }

    fn of(&mut self, seq: u64) -> Result<Option<Vec<Event>>, Error> {
        while self.ready.is_empty() {
            let Some(group) = self.reader.next_group().map_err(failed)? else { return Ok(None) };
            for (seq, record) in group {
                let (_, events) = decode_events(record).map_err(failed)?;
                let events: Result<Vec<Event>, _> = events.collect();
                self.ready.push_back((seq, events.map_err(failed)?));
            }
        }
        let is_here = self.ready.front().is_some_and(|(first, _)| *first == seq);
        Ok(if is_here { self.ready.pop_front().map(|(_, events)| events) } else { None })
    }
}
