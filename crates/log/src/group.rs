//! The unit of writing: a buffer that one thread fills and the writer stores.

use crate::format::{
    BLOCK, CALLER_BYTES, Form, GROUP_HEADER_BYTES, GROUP_STORED_BYTES_MAX, GroupHeader,
    RECORD_PREFIX_BYTES, record_bytes,
};
use crate::reader::GroupView;
use rialto_disk::{AlignedBuf, BLOCK_BYTES};

/// The most bytes a group may take on disk: 1 MiB.
pub const GROUP_BYTES_MAX: usize = 1 << 20;

/// The smallest segment that every group fits into, encrypted or not.
pub const SEGMENT_BYTES_FOR_ANY_GROUP: u64 = BLOCK + GROUP_STORED_BYTES_MAX as u64;

/// The longest record: one that fills the greatest group alone.
pub const RECORD_BYTES_MAX: usize = GROUP_BYTES_MAX - GROUP_HEADER_BYTES - RECORD_PREFIX_BYTES;

/// The error of appending a record to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The group has no room left for it; the next one will.
    #[error("the group is full")]
    Full,
    /// No group of this capacity has room for it.
    #[error("a record of {len} bytes is longer than the {max} bytes that a group can hold")]
    TooLong {
        /// The record's length in bytes.
        len: usize,
        /// The longest record of a group of this capacity.
        max: usize,
    },
}

/// An aligned buffer of records with consecutive sequence numbers, laid out as it will be stored.
///
/// The thread that owns a group appends to it; a [`Writer`](crate::Writer) completes the header and
/// stores the buffer as it is. [`Group::begin`] makes it ready for reuse without allocating or
/// clearing anything.
#[derive(Debug)]
pub struct Group {
    buf: AlignedBuf,
    /// The end of the last record in the buffer.
    end: usize,
    first_seq: u64,
    records: u32,
    /// The room that the last `reserve` promised.
    reserved: usize,
    caller: [u8; CALLER_BYTES],
}

impl Group {
    /// A group that takes at most `capacity_bytes` on disk, header and padding included. The
    /// capacity is rounded up to a whole block and held to [`GROUP_BYTES_MAX`].
    pub fn new(capacity_bytes: usize) -> Self {
        let capacity = capacity_bytes.clamp(BLOCK_BYTES, GROUP_BYTES_MAX);
        Self::of(AlignedBuf::zeroed(capacity))
    }

    /// As [`Group::new`], in memory whose pages are already allocated. For a new group the system
    /// allocates each page on its first write. Returns one group, or as many as share a large page.
    pub fn touched(capacity_bytes: usize) -> Vec<Self> {
        let capacity = capacity_bytes.clamp(BLOCK_BYTES, GROUP_BYTES_MAX);
        let mut groups: Vec<_> =
            AlignedBuf::zeroed_together(capacity).into_iter().map(Self::of).collect();
        for group in &mut groups {
            // The value is not zero, so that the compiler cannot remove the write.
            group.buf.iter_mut().step_by(BLOCK_BYTES).for_each(|first_of_page| *first_of_page = 1);
        }
        groups
    }

    fn of(buf: AlignedBuf) -> Self {
        Self {
            buf,
            end: GROUP_HEADER_BYTES,
            first_seq: 1,
            records: 0,
            reserved: 0,
            caller: [0; CALLER_BYTES],
        }
    }

    /// Empties the group; the next record appended is number `first_seq`.
    ///
    /// # Panics
    /// If `first_seq` is 0: sequences begin at 1.
    pub fn begin(&mut self, first_seq: u64) {
        assert!(first_seq > 0, "sequences begin at 1");
        self.end = GROUP_HEADER_BYTES;
        self.first_seq = first_seq;
        self.records = 0;
        self.reserved = 0;
        self.caller = [0; CALLER_BYTES];
    }

    /// Empties the group and fills it with the records that were read, which keep their sequences.
    ///
    /// # Errors
    /// If the capacity is too small for them. The group is empty then.
    pub fn refill(&mut self, read: &GroupView<'_>) -> Result<(), AppendError> {
        self.begin(read.first_seq());
        let framed = read.framed();
        let end = GROUP_HEADER_BYTES + framed.len();
        let Some(room) = self.buf.get_mut(GROUP_HEADER_BYTES..end) else {
            return Err(AppendError::Full);
        };
        room.copy_from_slice(framed);
        self.end = end;
        self.records = (read.last_seq() + 1 - read.first_seq()) as u32;
        Ok(())
    }

    /// Sets the bytes of the header that are the caller's own; they are zero at first. The header
    /// checksum covers them, and readers hand them out with the group.
    pub fn set_caller(&mut self, bytes: [u8; CALLER_BYTES]) {
        self.caller = bytes;
    }

    /// The records so far as they will be stored, each behind its length and padded to eight bytes.
    pub fn body(&self) -> &[u8] {
        &self.buf[GROUP_HEADER_BYTES..self.end]
    }

    pub(crate) fn caller(&self) -> [u8; CALLER_BYTES] {
        self.caller
    }

    /// Appends one record and returns its sequence.
    #[inline]
    pub fn append(&mut self, record: &[u8]) -> Result<u64, AppendError> {
        self.reserve(record.len())?[..record.len()].copy_from_slice(record);
        Ok(self.commit(record.len()))
    }

    /// Room for a record of at most `max_len` bytes, to be encoded in place. Its content is
    /// arbitrary; [`Group::commit`] turns the front of it into a record.
    #[inline]
    pub fn reserve(&mut self, max_len: usize) -> Result<&mut [u8], AppendError> {
        let start = self.end + RECORD_PREFIX_BYTES;
        // The padding behind the record counts, and a capacity is a multiple of eight.
        if max_len > self.buf.len() || self.end + record_bytes(max_len) > self.buf.len() {
            return Err(self.refusal(max_len));
        }
        self.reserved = max_len;
        Ok(&mut self.buf[start..start + max_len])
    }

    /// Makes the first `len` bytes of the last reservation a record and returns its sequence.
    ///
    /// # Panics
    /// If more is committed than was reserved.
    #[inline]
    pub fn commit(&mut self, len: usize) -> u64 {
        assert!(len <= self.reserved, "more was committed than reserved");
        self.reserved = 0;
        let start = self.end;
        let end = start + record_bytes(len);
        self.buf[start..start + RECORD_PREFIX_BYTES].copy_from_slice(&(len as u32).to_le_bytes());
        let padding = &mut self.buf[start + RECORD_PREFIX_BYTES + len..end];
        // A record of whole words leaves four bytes, which takes no call.
        match <&mut [u8; 4]>::try_from(&mut *padding) {
            Ok(four) => *four = [0; 4],
            Err(_) => padding.fill(0),
        }
        self.end = end;
        let seq = self.next_seq();
        self.records += 1;
        seq
    }

    #[cold]
    fn refusal(&self, len: usize) -> AppendError {
        let max = self.buf.len() - GROUP_HEADER_BYTES - RECORD_PREFIX_BYTES;
        if len > max { AppendError::TooLong { len, max } } else { AppendError::Full }
    }

    /// The sequence of the first record, or of the one to come when the group is empty.
    pub fn first_seq(&self) -> u64 {
        self.first_seq
    }

    /// The sequence of the last record; `first_seq - 1` when the group is empty.
    pub fn last_seq(&self) -> u64 {
        self.next_seq() - 1
    }

    /// The sequence that the next record will get.
    #[inline]
    pub fn next_seq(&self) -> u64 {
        self.first_seq + u64::from(self.records)
    }

    /// The number of records in the group.
    pub fn records(&self) -> u32 {
        self.records
    }

    /// Whether the group holds no record.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// The bytes of the records so far, their lengths and padding included.
    pub fn body_bytes(&self) -> usize {
        self.end - GROUP_HEADER_BYTES
    }

    /// The bytes that the group takes on disk as it stands.
    pub fn stored_bytes(&self) -> usize {
        self.end.next_multiple_of(BLOCK_BYTES)
    }

    /// The most bytes that the group may take on disk.
    pub fn capacity_bytes(&self) -> usize {
        self.buf.len()
    }

    /// Completes the buffer with the header that `place` makes for this body, and returns it with
    /// its checksum.
    pub(crate) fn seal(&mut self, place: impl Fn(Form, u32) -> GroupHeader) -> (GroupHeader, u32) {
        let stored = self.stored_bytes();
        self.buf[self.end..stored].fill(0);
        let body = &self.buf[GROUP_HEADER_BYTES..self.end];
        let header = place(Form::plain(body.len() as u32), crc32c::crc32c(body));
        let checksum = header.encode(&mut self.buf);
        (header, checksum)
    }

    /// The sealed bytes, whole blocks.
    pub(crate) fn stored(&self) -> &[u8] {
        &self.buf[..self.stored_bytes()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_count_up_from_the_first() {
        let mut group = Group::new(8192);
        group.begin(10);
        assert_eq!(group.last_seq(), 9);
        assert_eq!(group.append(b"a"), Ok(10));
        assert_eq!(group.append(b""), Ok(11));
        assert_eq!((group.first_seq(), group.last_seq(), group.records()), (10, 11, 2));
        assert_eq!(group.body_bytes(), 16);
    }

    #[test]
    fn a_full_group_refuses_and_keeps_what_it_has() {
        let mut group = Group::new(BLOCK_BYTES);
        group.begin(1);
        let mut count = 0;
        while group.append(&[1; 100]).is_ok() {
            count += 1;
        }
        assert_eq!(group.append(&[1; 100]), Err(AppendError::Full));
        assert_eq!(group.records(), count);
        assert_eq!(count as usize, (BLOCK_BYTES - GROUP_HEADER_BYTES) / record_bytes(100));
        assert!(group.stored_bytes() <= group.capacity_bytes());
    }

    #[test]
    fn the_longest_record_fits_and_a_longer_one_never_will() {
        let mut group = Group::new(usize::MAX);
        group.begin(1);
        assert!(group.append(&vec![1; RECORD_BYTES_MAX]).is_ok());
        group.begin(1);
        let too_long = group.append(&vec![1; RECORD_BYTES_MAX + 1]);
        assert!(matches!(too_long, Err(AppendError::TooLong { max: RECORD_BYTES_MAX, .. })));
    }

    #[test]
    fn encoding_in_place_commits_only_what_was_used() {
        let mut group = Group::new(BLOCK_BYTES);
        group.begin(1);
        group.reserve(100).unwrap()[..3].copy_from_slice(b"abc");
        assert_eq!(group.commit(3), 1);
        assert_eq!(group.body_bytes(), 8);
    }

    /// The stored bytes of a group with these records.
    fn stored_with(mut group: Group, records: &[&[u8]]) -> Vec<u8> {
        group.begin(5);
        for record in records {
            group.append(record).unwrap();
        }
        group.seal(|form, body_checksum| GroupHeader {
            body_checksum,
            previous_checksum: 0,
            salt: [0; 16],
            epoch: 1,
            number: 1,
            first_seq: 5,
            records: records.len() as u32,
            form,
            durable_group: 0,
            caller: [0; CALLER_BYTES],
        });
        group.stored().to_vec()
    }

    fn used() -> Group {
        let mut used = Group::new(BLOCK_BYTES);
        used.begin(1);
        used.append(&[0xff; 3000]).unwrap();
        used
    }

    #[test]
    fn reuse_leaves_no_trace_of_the_last_use() {
        let lengths = || (0..=8).chain(100..=108);
        let records: Vec<Vec<u8>> = lengths().map(|len| vec![b'x'; len]).collect();
        let alone = records.iter().map(|record| vec![&record[..]]);
        let in_sequence = [
            records.iter().map(|record| &record[..]).collect::<Vec<_>>(),
            records.iter().rev().map(|record| &record[..]).collect(),
        ];
        for records in alone.chain(in_sequence) {
            let lengths: Vec<usize> = records.iter().map(|record| record.len()).collect();
            let reused = stored_with(used(), &records);
            assert!(reused == stored_with(Group::new(BLOCK_BYTES), &records), "{lengths:?}");
            // A record ends at a multiple of eight, and what is behind it there is zero.
            let mut at = GROUP_HEADER_BYTES;
            for len in lengths {
                let end = at + record_bytes(len);
                assert_eq!(end % 8, 0);
                let padding = &reused[at + RECORD_PREFIX_BYTES + len..end];
                assert!(padding.iter().all(|byte| *byte == 0), "{len}: {padding:?}");
                at = end;
            }
        }
    }

    #[test]
    fn a_record_shorter_than_its_reservation_leaves_no_trace_of_it() {
        for len in (0..=8).chain(100..=108) {
            let mut group = Group::new(BLOCK_BYTES);
            group.begin(5);
            group.reserve(200).unwrap().fill(0xff);
            group.commit(len);
            let mut expected = Group::new(BLOCK_BYTES);
            expected.begin(5);
            expected.append(&vec![0xff; len]).unwrap();
            assert_eq!(group.body(), expected.body(), "{len}");
        }
    }
}
