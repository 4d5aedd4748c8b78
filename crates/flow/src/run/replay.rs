//! The recorded entries of a resumed run, by position.

use crate::Timestamp;
use crate::history::{self, Ending, Entry, EntryPosition, Kind, StoredError};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    Finished { at: Timestamp, output: Vec<u8> },
    Failed { at: Timestamp, error: StoredError },
    Waiting { until: Timestamp },
    Received { at: Timestamp, event: u32 },
    Lapsed { at: Timestamp },
}

struct BranchCursor {
    kind: Kind,
    name: String,
    /// The index of the entry among all entries of the run.
    order: u32,
    what: Recorded,
}

/// An event that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) name: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) taken: bool,
}

/// A history that is not replayed to its end.
pub(crate) struct Replay {
    positions: BTreeMap<EntryPosition, BranchCursor>,
    /// The error of the flow, if it failed.
    pub(crate) failing: Option<StoredError>,
    undone: BTreeSet<EntryPosition>,
}

/// A decoded history.
pub(crate) struct Read {
    pub(crate) replay: Replay,
    pub(crate) events: Vec<Arrived>,
    pub(crate) cancelled: bool,
    pub(crate) entries: u32,
    pub(crate) ending: Option<Ending>,
}

impl Replay {
    /// Decodes a history. An error names the fault in it.
    pub(crate) fn read(history: &[u8]) -> Result<Read, String> {
        let replay = Self { positions: BTreeMap::new(), failing: None, undone: BTreeSet::new() };
        let mut read =
            Read { replay, events: Vec::new(), cancelled: false, entries: 0, ending: None };
        for entry in history::entries(history) {
            let entry = entry.map_err(|error| error.to_string())?;
            read.take(entry)?;
            read.entries += 1;
        }
        Ok(read)
    }

    /// Replays the entry at a position; or returns the recorded entry if it does not match the
    /// code.
    pub(crate) fn play(
        &mut self,
        position: EntryPosition,
        kind: Kind,
        name: &str,
    ) -> Result<Option<(Recorded, u32)>, String> {
        match self.positions.remove(&position) {
            None => Ok(None),
            Some(here) if here.kind == kind && here.name == name => {
                Ok(Some((here.what, here.order)))
            }
            Some(here) => Err(describe(position, here.kind, &here.name)),
        }
    }

    /// The first entry that was not replayed.
    pub(crate) fn unplayed(&self) -> Option<String> {
        let (position, here) = self.positions.iter().min_by_key(|(_, here)| here.order)?;
        Some(describe(*position, here.kind, &here.name))
    }

    pub(crate) fn is_undone(&self, position: EntryPosition) -> bool {
        self.undone.contains(&position)
    }
}

pub(crate) fn describe(position: EntryPosition, kind: Kind, name: &str) -> String {
    let branch = if position.branch == 0 { "" } else { " of a branch" };
    format!("{} `{name}` as number {}{branch}", kind.word(), position.number)
}

impl Read {
    fn take(&mut self, entry: Entry<'_>) -> Result<(), String> {
        match entry {
            Entry::Finished { position, kind, name, at, output } => {
                self.set(position, kind, name, Recorded::Finished { at, output: output.to_vec() });
            }
            Entry::Failed { position, kind, name, at, error } => {
                self.set(position, kind, name, Recorded::Failed { at, error });
            }
            Entry::Waiting { position, name, until, .. } => {
                self.set(position, Kind::Wait, name, Recorded::Waiting { until });
            }
            Entry::Received { position, name, at, event } => {
                let arrived = self.events.get_mut(event as usize);
                let arrived = arrived.ok_or(format!("there is no event {event}"))?;
                arrived.taken = true;
                self.set(position, Kind::Wait, name, Recorded::Received { at, event });
            }
            Entry::Lapsed { position, name, at } => {
                self.set(position, Kind::Wait, name, Recorded::Lapsed { at });
            }
            Entry::Event { name, payload, .. } => self.events.push(Arrived {
                name: name.to_owned(),
                payload: payload.to_vec(),
                taken: false,
            }),
            Entry::Cancelled { .. } => self.cancelled = true,
            Entry::Failing { error, .. } => self.replay.failing = Some(error),
            Entry::Undone { position, .. } => {
                self.replay.undone.insert(position);
            }
            Entry::Ended { ending, .. } => self.ending = Some(ending),
            Entry::Reopened { .. } => self.ending = None,
        }
        Ok(())
    }

    fn set(&mut self, position: EntryPosition, kind: Kind, name: &str, what: Recorded) {
        let here = BranchCursor { kind, name: name.to_owned(), order: self.entries, what };
        self.replay.positions.insert(position, here);
    }
}
