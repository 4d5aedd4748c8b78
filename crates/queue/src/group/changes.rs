//! The changes of a group that the control log records.

use super::window::Range;
use crate::message::MessageId;
use rialto_clock::Timestamp;
use serde::{Deserialize, Serialize};

/// The progress of a group: all of it, or the changes since it was last written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The numbers below which everything is acknowledged, one for each lane; empty for changes.
    pub(crate) floors: Vec<u64>,
    /// Other acknowledged messages.
    pub(crate) done: Vec<(u8, Range)>,
    /// The numbers from which on no message was delivered.
    pub(crate) seen: Vec<(u8, u64)>,
    /// Messages that were delivered and given back: the attempts, and when the next one is due.
    #[serde(with = "tried")]
    pub(crate) tried: Vec<(MessageId, u16, Timestamp)>,
}

/// The most entries of one record of the control log.
const PIECE_ENTRIES: usize = 8192;

impl Progress {
    /// Splits the progress into pieces of one record each. The later ones add to the first.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Self> {
        let Self { floors, mut done, seen, mut tried } = self;
        let mut first = Some((floors, seen));
        std::iter::from_fn(move || {
            if first.is_none() && done.is_empty() && tried.is_empty() {
                return None;
            }
            let (floors, seen) = first.take().unwrap_or_default();
            let more = done.split_off(done.len().min(PIECE_ENTRIES));
            let done = std::mem::replace(&mut done, more);
            let more = tried.split_off(tried.len().min(PIECE_ENTRIES));
            let tried = std::mem::replace(&mut tried, more);
            Some(Self { floors, done, seen, tried })
        })
    }
}

impl Progress {
    /// The number below which everything of a lane is acknowledged.
    pub(crate) fn floor(&self, lane: u8) -> u64 {
        let of_lane = self.done.iter().filter(|(other, _)| *other == lane);
        let mut done: Vec<_> = of_lane.map(|(_, range)| *range).collect();
        done.sort_unstable_by_key(|range| range.first);
        let mut floor = self.floors.get(usize::from(lane)).copied().unwrap_or(1);
        for range in done {
            if range.first > floor {
                break;
            }
            floor = floor.max(range.last + 1);
        }
        floor
    }

    /// Forgets acknowledgements of a lane from `end` on. Returns whether there were any.
    pub(crate) fn forget_from(&mut self, lane: u8, end: u64) -> bool {
        let mut has_forgotten = false;
        let mut clamp = |number: &mut u64, max: u64| {
            has_forgotten |= *number > max;
            *number = max.min(*number);
        };
        if let Some(floor) = self.floors.get_mut(usize::from(lane)) {
            clamp(floor, end);
        }
        for (_, range) in self.done.iter_mut().filter(|(other, _)| *other == lane) {
            clamp(&mut range.last, end - 1);
        }
        for (_, seen) in self.seen.iter_mut().filter(|(other, _)| *other == lane) {
            clamp(seen, end);
        }
        let tried = self.tried.len();
        self.tried.retain(|(id, ..)| id.lane != lane || id.seq < end);
        self.done.retain(|(_, range)| range.first <= range.last);
        has_forgotten || self.tried.len() < tried
    }
}

mod tried {
    use super::{MessageId, Timestamp};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Tried = Vec<(MessageId, u16, Timestamp)>;

    pub(super) fn serialize<S: Serializer>(tried: &Tried, to: S) -> Result<S::Ok, S::Error> {
        let flat: Vec<_> = tried.iter().map(|(id, n, due)| (id.lane, id.seq, *n, due.0)).collect();
        flat.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Tried, D::Error> {
        let flat = Vec::<(u8, u64, u16, u64)>::deserialize(from)?;
        let each = |(lane, seq, n, due)| (MessageId { lane, seq }, n, Timestamp(due));
        Ok(flat.into_iter().map(each).collect())
    }
}

/// The changes since the progress was last written.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Acknowledged ranges, by lane. Neighbours are joined.
    pub(crate) done: Vec<(u8, Range)>,
    /// Deliveries that were not acknowledged: the attempts, and when the next one is due.
    pub(crate) tried: Vec<(MessageId, u16, Timestamp)>,
    /// Whether messages were delivered for the first time.
    pub(crate) has_seen_more: bool,
}

impl Changes {
    #[inline]
    pub(crate) fn done(&mut self, id: MessageId) {
        if let Some((lane, range)) = self.done.last_mut()
            && *lane == id.lane
            && range.last + 1 == id.seq
        {
            range.last = id.seq;
            return;
        }
        self.done.push((id.lane, Range { first: id.seq, last: id.seq }));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.tried.is_empty() && !self.has_seen_more
    }
}
