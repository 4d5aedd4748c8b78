//! Reading records in order.

use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::format::{CALLER_BYTES, Flaw, GroupHeader, RECORD_PREFIX_BYTES, record_bytes};
use crate::mapped::{Mapped, MappedRecords};
use crate::maps::Maps;
use crate::segments::{Following, Pin, Segment, Segments};
use std::sync::Arc;

/// Reads a log from some sequence on, group by group, checking every checksum and the chain.
///
/// It reads up to [`Reader::end`] and not further. While a writer in this process continues, raise
/// the end with [`Reader::set_end`] as the durable mark moves; no record beyond it is looked at.
///
/// A reader pins the segment it is in against deletion by retention, unless it is
/// [unpinned](Reader::unpinned).
pub struct Reader {
    segments: Segments,
    segment: Arc<Segment>,
    /// `None` while an unpinned reader is idle.
    pin: Option<Pin>,
    is_unpinned: bool,
    cursor: Cursor,
    /// The sequence of the next record to return.
    next_seq: u64,
    end: u64,
    /// The checksum of the last group that held records, to which the next segment must be tied;
    /// nothing at the beginning.
    record_checksum: Option<u32>,
}

impl Reader {
    /// A reader whose first record is `from`, which may be one that is yet to be written. It reads
    /// up to what is durable now.
    pub fn open(segments: &Segments, from: u64) -> Result<Self, ReadError> {
        let from = from.max(1);
        let end = segments.durable_seq();
        // A record that does not exist yet cannot be sought, so the last existing one is. One that
        // is not durable yet can be sought: reading group by group could take the whole segment.
        let sought = from.min(segments.written_seq());
        let below = || ReadError::BelowOldest { requested: from, oldest: segments.first_seq() };
        let pin = segments.pin(sought.max(segments.first_seq())).ok_or_else(below)?;
        let segment = pin.segment().clone();
        if from < segment.name().first_seq && from < segments.first_seq() {
            return Err(below());
        }
        let mut cursor = Cursor::at_start(segments.disk(), &segment, segments.keys())?;
        if let Err(flaw) = cursor.seek(&segment, sought)? {
            return Err(corrupt(&segment, cursor.offset, flaw));
        }
        Ok(Self {
            segments: segments.clone(),
            segment,
            pin: Some(pin),
            is_unpinned: false,
            cursor,
            next_seq: from,
            end,
            record_checksum: None,
        })
    }

    /// As [`Reader::open`], through mappings where possible: of finished segments without sealing,
    /// on a disk that supports mappings. Mapped groups are not copied ([`GroupView::mapped`]), and
    /// are checked once for all readers that share `maps`. Other groups are read from the file.
    pub fn open_mapped(segments: &Segments, from: u64, maps: &Maps) -> Result<Self, ReadError> {
        let mut reader = Self::open(segments, from)?;
        reader.cursor.read_through(maps, segments.disk(), &reader.segment)?;
        Ok(reader)
    }

    /// From here on the reader does not hold back retention. When its segment has been deleted, it
    /// fails with [`ReadError::Superseded`]; open a new reader then.
    #[must_use]
    pub fn unpinned(mut self) -> Self {
        (self.pin, self.is_unpinned) = (None, true);
        self
    }

    /// The last sequence that this reader may return.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Lets the reader read up to `seq`, which must have been written.
    pub fn set_end(&mut self, seq: u64) {
        self.end = seq;
    }

    /// The sequence of the next record to be returned.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Skips the records before `seq`.
    pub fn skip_to(&mut self, seq: u64) {
        self.next_seq = self.next_seq.max(seq);
    }

    /// The next group with records to return, or `None` at the end.
    pub fn next_group(&mut self) -> Result<Option<GroupView<'_>>, ReadError> {
        if self.next_seq > self.end {
            return Ok(None);
        }
        let (header, checksum, last) = loop {
            let limit = self.enter_segment()?;
            let (header, checksum) = self.group_here()?;
            let last = header.last_seq().min(limit).min(self.end);
            if header.records > 0 {
                self.record_checksum = Some(checksum);
            }
            if header.records > 0 && last >= self.next_seq {
                break (header, checksum, last);
            }
            self.cursor.advance(&self.segment, &header, checksum);
        };
        let first = self.next_seq.max(header.first_seq);
        self.next_seq = last + 1;
        let body_at = self.cursor.offset;
        // A group that is returned in part, because the end is in it, is looked at again.
        if last == header.last_seq() {
            self.cursor.advance(&self.segment, &header, checksum);
        }
        let body = self.cursor.body_at(body_at, &header);
        Ok(Some(GroupView {
            map: self.cursor.map(),
            epoch: header.epoch,
            caller: header.caller,
            group_first: header.first_seq,
            group_last: header.last_seq(),
            first,
            last,
            body,
        }))
    }

    /// Moves to the next segment if this one holds no more of the log, and returns the last
    /// sequence of the log in the present segment.
    fn enter_segment(&mut self) -> Result<u64, ReadError> {
        loop {
            let next = match self.segments.following(&self.segment) {
                Following::Nothing => return Ok(u64::MAX),
                Following::Superseded => {
                    return Err(ReadError::Superseded { file: self.segment.path.clone() });
                }
                Following::Segment(next) => next,
            };
            let first = next.segment().name().first_seq;
            // The part of a group that a later segment supersedes counts as passed.
            if self.cursor.chain.next_seq < first && self.next_seq < first {
                return Ok(first - 1);
            }
            let segment = next.segment();
            let got = segment.header.previous_checksum;
            if let Some(expected) = self.record_checksum.filter(|sum| *sum != got)
                && self.next_seq <= first
            {
                return Err(corrupt(segment, 0, Flaw::Chain { expected, got }));
            }
            self.cursor.enter(self.segments.disk(), segment)?;
            self.record_checksum = None;
            self.segment = segment.clone();
            // Its file is open now, and can be read though it is deleted.
            self.pin = (!self.is_unpinned).then_some(next);
        }
    }

    fn group_here(&mut self) -> Result<(GroupHeader, u32), ReadError> {
        let group = self.cursor.group_read_twice()?;
        group.map_err(|flaw| corrupt(&self.segment, self.cursor.offset, flaw))
    }
}

fn corrupt(segment: &Segment, offset: u64, flaw: Flaw) -> ReadError {
    ReadError::at(&segment.path, offset, flaw)
}

/// A group that has been read and checked; its records lie in the reader's memory, or in a mapped file.
#[derive(Clone, Copy)]
pub struct GroupView<'a> {
    epoch: u64,
    caller: [u8; CALLER_BYTES],
    group_first: u64,
    group_last: u64,
    first: u64,
    last: u64,
    body: &'a [u8],
    /// The mapping that holds the body, if it is not in the reader's memory.
    map: Option<&'a Arc<Mapped>>,
}

impl<'a> GroupView<'a> {
    /// The epoch that wrote the group.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The bytes of the group's header that are the caller's own; see [`Group::set_caller`].
    ///
    /// [`Group::set_caller`]: crate::Group::set_caller
    pub fn caller(&self) -> &[u8; CALLER_BYTES] {
        &self.caller
    }

    /// The sequence of the first record that is returned.
    pub fn first_seq(&self) -> u64 {
        self.first
    }

    /// The sequence of the last record that is returned.
    pub fn last_seq(&self) -> u64 {
        self.last
    }

    /// The sequence of the last record of the group as it was written, which may lie behind
    /// [`GroupView::last_seq`]: behind the reader's end, or superseded. The caller's bytes in the
    /// header refer to this one.
    pub fn stored_last_seq(&self) -> u64 {
        self.group_last
    }

    /// The records that are returned as they are stored: each behind its length and padded to eight
    /// bytes.
    pub fn framed(&self) -> &'a [u8] {
        if (self.first, self.last) == (self.group_first, self.group_last) {
            return self.body;
        }
        let records = self.records();
        let mut behind = records.clone();
        while behind.next().is_some() {}
        &records.rest[..records.rest.len() - behind.rest.len()]
    }

    /// The bytes of [`GroupView::framed`], to be kept without a copy; `None` if the records are in
    /// the reader's memory, which it reuses.
    pub fn mapped(&self) -> Option<MappedRecords> {
        self.map.map(|map| MappedRecords::new(map, self.framed()))
    }

    /// The records with their sequences.
    pub fn records(&self) -> Records<'a> {
        let mut records = Records { rest: self.body, next: self.group_first, last: self.last };
        while records.next < self.first && records.next().is_some() {}
        records
    }
}

impl std::fmt::Debug for GroupView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupView")
            .field("epoch", &self.epoch)
            .field("first_seq", &self.first)
            .field("last_seq", &self.last)
            .field("is_mapped", &self.map.is_some())
            .finish_non_exhaustive()
    }
}

impl<'a> IntoIterator for GroupView<'a> {
    type Item = (u64, &'a [u8]);
    type IntoIter = Records<'a>;

    fn into_iter(self) -> Records<'a> {
        self.records()
    }
}

/// The records of a group, each with its sequence.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    rest: &'a [u8],
    next: u64,
    last: u64,
}

impl<'a> Records<'a> {
    /// The records of a group's [`body`](crate::Group::body), the first of which is number
    /// `first_seq` and the last number `last_seq`. It ends early if the body does.
    pub fn of_body(body: &'a [u8], first_seq: u64, last_seq: u64) -> Self {
        Self { rest: body, next: first_seq, last: last_seq }
    }

    /// The sequence of the record that comes next.
    pub fn next_seq(&self) -> u64 {
        self.next
    }

    /// The bytes that are not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = (u64, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.last {
            return None;
        }
        // The group was checked to consist of whole records before it was handed out.
        let (prefix, record) = self.rest.split_first_chunk::<RECORD_PREFIX_BYTES>()?;
        let len = u32::from_le_bytes(*prefix) as usize;
        let record = record.get(..len)?;
        self.rest = self.rest.get(record_bytes(len)..)?;
        let seq = self.next;
        self.next += 1;
        Some((seq, record))
    }
}
