//! Compares the event log with the journal, and finds the chain.

use super::StartError;
use crate::events::{CHAIN_SPAN, Chain, GroupNote};
use rialto_log::{GroupView, ReadError, Reader, Segments};
use rialto_model::Seq;
use std::path::{Path, PathBuf};

/// The value of the chain in a group's header, and its sequence.
fn noted(group: &GroupView<'_>) -> Option<(Seq, GroupNote)> {
    let note = GroupNote::decode(group.caller())?;
    Some((Chain::span_start(Seq(group.stored_last_seq())), note))
}

/// The chain after `seq`, from the event log: the nearest value in a group header at or before it,
/// and the records from there.
pub(crate) fn chain_after(events: &Segments, seq: Seq) -> Result<Chain, ReadError> {
    let mut boundary = Chain::span_start(seq);
    let mut chain = Chain::start();
    while boundary >= Seq(events.first_seq()).max(Seq(1)) {
        let group_note = match Reader::open(events, boundary.0)?.next_group()? {
            Some(group) => noted(&group),
            None => None,
        };
        if let Some((covered, note)) = group_note
            && covered == boundary
        {
            chain = Chain::resume(boundary, note.chain);
            break;
        }
        // That group extends beyond the next span; the value is in an earlier one.
        boundary = Seq(boundary.0.saturating_sub(CHAIN_SPAN));
    }
    if chain.next() <= seq {
        let mut reader = Reader::open(events, chain.next().0)?;
        reader.set_end(seq.0);
        while let Some(group) = reader.next_group()? {
            chain.extend(group.last_seq() + 1 - group.first_seq(), group.framed());
        }
    }
    Ok(chain)
}

/// Compares regenerated events with the released ones, to find the difference.
pub(crate) struct EventCheck {
    reader: Reader,
    chain: Chain,
    dir: PathBuf,
}

impl EventCheck {
    /// `chain` is at the sequence before the first to compare.
    pub(crate) fn new(events: &Segments, dir: &Path, chain: Chain) -> Result<Self, ReadError> {
        let reader = Reader::open(events, chain.next().0)?;
        Ok(Self { reader, chain, dir: dir.to_owned() })
    }

    /// Compares the framed records of `first` to `last` with the event log.
    pub(crate) fn compare(
        &mut self,
        first: Seq,
        last: Seq,
        mut framed: &[u8],
    ) -> Result<(), StartError> {
        self.reader.set_end(last.0);
        let mut next = first;
        while let Some(group) = self.reader.next_group().map_err(StartError::ReadEvents)? {
            let differ =
                |seq: Seq, what| StartError::EventsDiffer { dir: self.dir.clone(), seq, what };
            let stored = group.framed();
            let same = framed.get(..stored.len()) == Some(stored);
            if !same || next.0 != group.first_seq() {
                let seq = first_difference(&group, framed).unwrap_or(next);
                return Err(differ(seq, "other events"));
            }
            self.chain.extend(group.last_seq() + 1 - group.first_seq(), stored);
            if group.last_seq() == group.stored_last_seq() {
                let intact = GroupNote::decode(group.caller())
                    .is_some_and(|note| note.chain == self.chain.value());
                if !intact {
                    return Err(differ(Seq(group.last_seq()), "the chained hash is broken"));
                }
            }
            framed = &framed[stored.len()..];
            next = Seq(group.last_seq()).next();
        }
        if next <= last {
            let dir = self.dir.clone();
            return Err(StartError::EventsDiffer { dir, seq: next, what: "no events" });
        }
        Ok(())
    }

    /// Every record is equal, so that only the chain can be wrong.
    pub(crate) fn broken_at(self, seq: Seq) -> StartError {
        StartError::EventsDiffer { dir: self.dir, seq, what: "the chained hash is broken" }
    }
}

fn first_difference(group: &GroupView<'_>, mut framed: &[u8]) -> Option<Seq> {
    for (seq, record) in group.records() {
        let stored = crate::events::frame_bytes(record.len());
        if framed.get(4..4 + record.len()) != Some(record) {
            return Some(Seq(seq));
        }
        framed = framed.get(stored..).unwrap_or(&[]);
    }
    None
}
