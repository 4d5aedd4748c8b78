//! Reading released events.

use super::Block;
use super::ring::RingLookup;
use crate::marks::Phase;
use crate::state::EngineState;
use rialto_log::{ReadError, Reader, Segments};
use rialto_model::{DecodeError, EventIter, Seq, Timestamp, decode_events};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The reason why events cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the event log could not be read")]
pub struct ReadEventsError(#[from] ReadError);

/// Reads released events in order: from memory while it keeps up, otherwise from the event log. It
/// never delays the engine.
pub struct EventReader {
    next: Seq,
    state: Arc<EngineState>,
    log: Segments,
    /// The reader of the event log, while it is behind.
    behind: Option<Reader>,
}

impl EventReader {
    pub(crate) fn new(from: Seq, state: Arc<EngineState>, log: Segments) -> Self {
        Self { next: from.max(Seq(1)), state, log, behind: None }
    }

    /// The next sequence.
    #[must_use]
    pub fn next_seq(&self) -> Seq {
        self.next
    }

    /// Another reader of the same engine, from another sequence on.
    #[must_use]
    pub fn again(&self, from: Seq) -> EventReader {
        Self::new(from, Arc::clone(&self.state), self.log.clone())
    }

    /// The last sequence that is visible.
    #[must_use]
    pub fn released(&self) -> Seq {
        self.state.progression.released()
    }

    /// The oldest sequence in the event log; the next one if it is empty.
    #[must_use]
    pub fn oldest(&self) -> Seq {
        Seq(self.log.first_seq())
    }

    /// The next events, if there are any.
    ///
    /// # Errors
    /// The event log is damaged or the disk failed; the error names file and offset.
    pub fn try_next(&mut self) -> Result<Option<EventBatch>, ReadEventsError> {
        let block = match self.state.events.find(self.next) {
            RingLookup::Here(block) => {
                self.behind = None;
                block
            }
            RingLookup::Ahead if self.next > self.state.progression.recorded() => return Ok(None),
            RingLookup::Ahead | RingLookup::Behind => match self.read_log()? {
                Some(block) => Arc::new(block),
                None => return Ok(None),
            },
        };
        let (first, offset) = (self.next, block.offset_of(self.next));
        self.next = block.last().next();
        Ok(Some(EventBatch { block, first, offset }))
    }

    /// Waits up to `timeout` for the next events. `None` comes early when the engine has ended; see
    /// [`EventReader::is_over`].
    ///
    /// # Errors
    /// The event log is damaged or the disk failed; the error names file and offset.
    pub fn next_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Option<EventBatch>, ReadEventsError> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            // Checked before reading, so that events published before the end are found.
            let over = self.state.progression.phase() >= Phase::Stopped;
            if let Some(batch) = self.try_next()? {
                return Ok(Some(batch));
            }
            let left = match deadline {
                Some(deadline) => deadline.saturating_duration_since(Instant::now()),
                None => Duration::from_secs(3_600),
            };
            if over || left.is_zero() {
                return Ok(None);
            }
            let ended = || self.state.progression.phase() >= Phase::Stopped;
            self.state.events.wait(self.next, left, ended);
        }
    }

    /// Whether the engine has ended and all released events have been read.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state.progression.phase() >= Phase::Stopped
            && self.next > self.state.progression.recorded()
            && !matches!(self.state.events.find(self.next), RingLookup::Here(_))
    }

    fn read_log(&mut self) -> Result<Option<Block>, ReadError> {
        let mut reader = match self.behind.take() {
            Some(reader) => reader,
            None => Reader::open(&self.log, self.next.0)?,
        };
        reader.set_end(self.state.progression.recorded().0);
        let block = reader.next_group()?.map(|group| {
            let mut block = Block::default();
            let records = group.last_seq() + 1 - group.first_seq();
            block.fill(Seq(group.first_seq()), records, group.framed());
            block
        });
        self.behind = Some(reader);
        Ok(block)
    }
}

/// A run of events. Clones share them.
#[derive(Clone, Debug)]
pub struct EventBatch {
    block: Arc<Block>,
    first: Seq,
    offset: usize,
}

impl EventBatch {
    /// The first sequence.
    #[must_use]
    pub fn first(&self) -> Seq {
        self.first
    }

    /// The last sequence.
    #[must_use]
    pub fn last(&self) -> Seq {
        self.block.last()
    }

    /// The number of sequences.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        (self.last().0 + 1).saturating_sub(self.first.0)
    }

    /// Takes the events of the first sequence.
    pub fn take_first(&mut self) -> Option<EventRecord<'_>> {
        let seq = self.first;
        if seq > self.last() {
            return None;
        }
        let (bytes, next) = self.block.record_at(self.offset)?;
        (self.first, self.offset) = (seq.next(), next);
        Some(EventRecord { seq, bytes })
    }

    /// The events of each sequence, in order.
    pub fn iter(&self) -> impl Iterator<Item = EventRecord<'_>> {
        let mut offset = self.offset;
        (self.first.0..=self.last().0).map_while(move |seq| {
            let (bytes, next) = self.block.record_at(offset)?;
            offset = next;
            Some(EventRecord { seq: Seq(seq), bytes })
        })
    }
}

/// All events of one command, in their binary form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRecord<'a> {
    /// The command's sequence.
    pub seq: Seq,
    /// The record in the event log's format; `docs/formats/journal.md` describes it.
    pub bytes: &'a [u8],
}

impl<'a> EventRecord<'a> {
    /// Decodes the command's time and events.
    ///
    /// # Errors
    /// The record has a version that this build does not support.
    pub fn decode(&self) -> Result<(Timestamp, EventIter<'a>), DecodeError> {
        decode_events(self.bytes)
    }
}
