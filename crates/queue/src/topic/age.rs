//! The age of the oldest message of a topic.

use super::Topic;
use rialto_clock::Timestamp;

impl Topic {
    pub(crate) fn oldest_published(&self) -> Option<Timestamp> {
        (0..self.lanes.len()).filter_map(|nth| self.oldest_of(nth)).min()
    }

    /// It is read once, because an extent of small messages may span hours.
    fn oldest_of(&self, nth: usize) -> Option<Timestamp> {
        let first = self.lanes[nth].first();
        let is_there = first <= self.lanes[nth].visible();
        let known = self.filling().lanes[nth].oldest.filter(|(seq, _)| *seq == first);
        if let Some((_, time)) = known.filter(|_| is_there) {
            return Some(time);
        }
        let read = if is_there { self.published_at(nth, first) } else { Ok(None) };
        let filled = &mut self.filling().lanes[nth];
        match read {
            Ok(Some(time)) => {
                filled.oldest = Some((first, time));
                Some(time)
            }
            // A message that is not written yet, or cannot be read, counts as old as its neighbour.
            Ok(None) | Err(_) => filled.extents.oldest_time(),
        }
    }
}
