//! Delayed messages, which wait in a lane of their own and are moved when they are due.

use super::Topic;
use super::reading::{LaneCursor, Step};
use crate::error::QueueError;
use crate::group::{Progress, Range};
use crate::message::Message;
use crate::sabotage::Sabotage;
use rialto_clock::Timestamp;
use rialto_log::Level;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// The most messages, and the most bytes, that are moved at once.
const MOVE_MESSAGES: usize = 512;
const MOVE_BYTES: usize = 256 << 10;

/// The last message of the lane that is as durable as the topic's level.
fn safe(topic: &Topic) -> u64 {
    match topic.level() {
        Level::Memory => u64::MAX,
        _ => topic.lanes[topic.lanes.len() - 1].mark(Level::Synced),
    }
}

/// The index of delayed messages by due time. It is rebuilt from the lane and not stored.
pub(crate) struct Delayed {
    cursor: LaneCursor,
    reread: LaneCursor,
    due: BinaryHeap<Reverse<(Timestamp, u64)>>,
    /// The number below which everything has been moved.
    floor: u64,
    /// Other messages that have been moved.
    moved: BTreeSet<u64>,
    /// Messages that may be dropped once a round of the control log is synced.
    leaving: VecDeque<(u64, u64)>,
    /// The round of the control log with the last move of this process.
    moved_round: Option<u64>,
}

impl Delayed {
    /// An index from the beginning of the lane.
    pub(crate) fn new(nth: usize) -> Self {
        Self {
            cursor: LaneCursor::new(nth, 1),
            reread: LaneCursor::new(nth, 1),
            due: BinaryHeap::new(),
            floor: 1,
            moved: BTreeSet::new(),
            leaving: VecDeque::new(),
            moved_round: None,
        }
    }

    /// Continues the progress of an earlier process. Numbers after `end` were lost and are assigned
    /// again.
    pub(crate) fn restore(&mut self, progress: &Progress, first: u64, end: u64) {
        self.floor = progress.floors.first().copied().unwrap_or(1).max(first).min(end);
        for (_, range) in &progress.done {
            for seq in range.first.max(self.floor)..=range.last.min(end - 1) {
                self.moved.insert(seq);
            }
        }
        self.settle();
        self.cursor.seek(self.floor);
    }

    fn settle(&mut self) {
        while self.moved.remove(&self.floor) {
            self.floor += 1;
        }
    }

    /// The progress for the control log.
    pub(crate) fn image(&self, lane: u8) -> Progress {
        let range = |seq: &u64| (lane, Range { first: *seq, last: *seq });
        Progress {
            floors: vec![self.floor],
            done: self.moved.iter().map(range).collect(),
            ..Progress::default()
        }
    }

    /// Adds the messages that arrived since the last call.
    fn take_note(&mut self, topic: &Topic) -> Result<(), QueueError> {
        loop {
            match self.cursor.step(topic)? {
                Step::Message(message) => {
                    let (seq, at) = (message.id().seq, message.deliver_at());
                    if !self.moved.contains(&seq) {
                        self.due.push(Reverse((at.unwrap_or_default(), seq)));
                    }
                }
                Step::End => return Ok(()),
                Step::Gap(..) => {}
            }
        }
    }

    /// Some of the messages that are due, in due order.
    pub(crate) fn take_due(
        &mut self,
        topic: &Topic,
        now: Timestamp,
    ) -> Result<Vec<Message>, QueueError> {
        self.take_note(topic)?;
        let safe = safe(topic);
        let is_early = topic.runtime.sabotage.is(Sabotage::MoveEarly);
        let mut messages = Vec::new();
        let mut bytes = 0;
        while let Some(&Reverse((at, seq))) = self.due.peek()
            && (at <= now || is_early)
            && seq <= safe
            && messages.len() < MOVE_MESSAGES
        {
            self.reread.seek(seq);
            if let Step::Message(message) = self.reread.step(topic)? {
                bytes += message.record().len();
                // A message above the limit is moved alone.
                if bytes > MOVE_BYTES && !messages.is_empty() {
                    break;
                }
                messages.push(message);
            }
            self.due.pop();
        }
        Ok(messages)
    }

    /// Whether the next message is due but not durable. If it were moved, a loss of power could
    /// take messages published before it, and their repetition would be refused as duplicates.
    pub(crate) fn waits_for_sync(&self, topic: &Topic, now: Timestamp) -> bool {
        self.due.peek().is_some_and(|&Reverse((at, seq))| at <= now && seq > safe(topic))
    }

    /// Marks messages as moved by a record in this round of the control log.
    pub(crate) fn moved(&mut self, messages: &[Message], round: u64) {
        self.moved.extend(messages.iter().map(|message| message.id().seq));
        self.settle();
        self.leaving.push_back((round, self.floor));
        self.moved_round = Some(round);
    }

    /// The round of the control log that brings the last moved messages to their lanes.
    pub(crate) fn moved_round(&self) -> Option<u64> {
        self.moved_round
    }

    /// The number below which everything has been moved.
    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    /// Whether a message has been moved.
    pub(crate) fn is_moved(&self, seq: u64) -> bool {
        seq < self.floor || self.moved.contains(&seq)
    }

    /// The number below which everything may be dropped, because its move is synced.
    pub(crate) fn droppable(&mut self, safe_rounds: u64) -> Option<u64> {
        let mut below = None;
        while let Some(&(round, floor)) = self.leaving.front()
            && round <= safe_rounds
        {
            self.leaving.pop_front();
            below = Some(floor);
        }
        below
    }

    /// The number of delayed messages, where `last` is the last visible one.
    pub(crate) fn waiting(&self, last: u64) -> u64 {
        (last + 1).saturating_sub(self.floor + self.moved.len() as u64)
    }

    /// Puts back messages that could not be moved.
    pub(crate) fn not_moved(&mut self, messages: &[Message]) {
        for message in messages {
            let at = message.deliver_at().unwrap_or_default();
            self.due.push(Reverse((at, message.id().seq)));
        }
    }
}
