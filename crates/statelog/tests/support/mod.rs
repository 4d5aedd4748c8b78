//! A state of counters, as small as one can be that needs images.
#![allow(dead_code, reason = "each test file uses a part")]

use rialto_disk::SimDisk;
use rialto_log::SEGMENT_BYTES_FOR_ANY_GROUP;
use rialto_statelog::{
    InvalidRecord, Level, LoggedState, PendingRecords, StateLog, StateLogError, StateLogOptions,
    Ticket,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub(crate) const DIR: &str = "/counters";
pub(crate) const FORMAT_VERSION: u32 = 3;

const OPENED: u8 = 0;
const ADDED: u8 = 1;
const CLOSED: u8 = 2;
const IMAGE: u8 = 3;
const NEXT: u8 = 4;
/// The kind, the number and the value of a record; padding follows.
const RECORD_BYTES: usize = 13;

/// Counters with numbers that are never used twice.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) values: BTreeMap<u32, u64>,
    pub(crate) next: u32,
    /// Counters whose image was not read yet, with the first change of them.
    pub(crate) orphans: BTreeMap<u32, u64>,
    /// The bytes that an image takes in addition.
    pub(crate) image_padding: usize,
}

impl Counters {
    pub(crate) fn open(&mut self, records: &mut PendingRecords) -> Result<Ticket, StateLogError> {
        let ticket = put(records, OPENED, self.next, 0, 0)?;
        self.values.insert(self.next, 0);
        self.next += 1;
        Ok(ticket)
    }

    pub(crate) fn add(
        &mut self,
        records: &mut PendingRecords,
        number: u32,
        amount: u64,
        padding: usize,
    ) -> Result<Ticket, StateLogError> {
        let ticket = put(records, ADDED, number, amount, padding)?;
        *self.values.get_mut(&number).expect("an open counter") += amount;
        Ok(ticket)
    }

    pub(crate) fn close(
        &mut self,
        records: &mut PendingRecords,
        number: u32,
    ) -> Result<Ticket, StateLogError> {
        let ticket = put(records, CLOSED, number, 0, 0)?;
        self.values.remove(&number);
        Ok(ticket)
    }
}

fn put(
    records: &mut PendingRecords,
    kind: u8,
    number: u32,
    value: u64,
    padding: usize,
) -> Result<Ticket, StateLogError> {
    records.append(RECORD_BYTES + padding, |room| {
        room.first_mut().map(|first| *first = kind)?;
        room.get_mut(1..5)?.copy_from_slice(&number.to_le_bytes());
        room.get_mut(5..RECORD_BYTES)?.copy_from_slice(&value.to_le_bytes());
        room.get_mut(RECORD_BYTES..)?.fill(0xAB);
        Some(RECORD_BYTES + padding)
    })
}

/// Where a checkpoint stands: the next counter, and the end of those that need an image.
pub(crate) struct Cursor {
    next: u32,
    end: u32,
}

impl LoggedState for Counters {
    type Cursor = Cursor;

    fn read(&mut self, seq: u64, record: &[u8]) -> Result<(), InvalidRecord> {
        let (Some(number), Some(value)) = (record.get(1..5), record.get(5..RECORD_BYTES)) else {
            return Err(InvalidRecord::new(seq, "it is too short"));
        };
        let number = u32::from_le_bytes(number.try_into().unwrap());
        let value = u64::from_le_bytes(value.try_into().unwrap());
        match record[0] {
            OPENED | IMAGE => {
                self.orphans.remove(&number);
                self.values.insert(number, value);
                self.next = self.next.max(number + 1);
            }
            ADDED => match self.values.get_mut(&number) {
                Some(counter) => *counter += value,
                None => drop(self.orphans.entry(number).or_insert(seq)),
            },
            CLOSED => {
                self.orphans.remove(&number);
                self.values.remove(&number);
            }
            NEXT => self.next = self.next.max(number),
            kind => return Err(InvalidRecord::new(seq, format!("there is no kind {kind}"))),
        }
        Ok(())
    }

    fn finish_reading(&mut self) -> Result<(), InvalidRecord> {
        match self.orphans.first_key_value() {
            Some((number, seq)) => {
                Err(InvalidRecord::new(*seq, format!("counter {number} has no beginning")))
            }
            None => Ok(()),
        }
    }

    fn weight(&self) -> usize {
        self.values.len() * RECORD_BYTES
    }

    fn begin_checkpoint(&self) -> Cursor {
        Cursor { next: 0, end: self.next }
    }

    fn write_images(
        &self,
        cursor: &mut Cursor,
        records: &mut PendingRecords,
        bytes: usize,
    ) -> Result<bool, StateLogError> {
        let mut written = 0;
        while written < bytes {
            let Some((number, value)) = self.values.range(cursor.next..cursor.end).next() else {
                put(records, NEXT, self.next, 0, 0)?;
                return Ok(true);
            };
            put(records, IMAGE, *number, *value, self.image_padding)?;
            cursor.next = number + 1;
            written += RECORD_BYTES + self.image_padding;
        }
        Ok(false)
    }
}

pub(crate) fn options(level: Level, life: u8) -> StateLogOptions {
    StateLogOptions {
        segment_bytes: 2 << 20,
        // As short as segments can be, so that little data makes many.
        first_segment_bytes: Some(SEGMENT_BYTES_FOR_ANY_GROUP),
        salt: [life; 16],
        ..StateLogOptions::new(level, FORMAT_VERSION)
    }
}

pub(crate) fn try_open(
    disk: &SimDisk,
    options: StateLogOptions,
) -> Result<StateLog<Counters>, StateLogError> {
    StateLog::open(Arc::new(disk.clone()), Path::new(DIR), options, Counters::default())
}

pub(crate) fn open(disk: &SimDisk, level: Level, life: u8) -> StateLog<Counters> {
    try_open(disk, options(level, life)).unwrap()
}

/// Opens a counter, unless there is one, and adds to it.
pub(crate) fn add(log: &StateLog<Counters>, amount: u64) -> Result<Ticket, StateLogError> {
    log.change(|counters, records| {
        if counters.values.is_empty() {
            counters.open(records)?;
        }
        counters.add(records, 0, amount, 0)
    })
}

pub(crate) fn value(log: &StateLog<Counters>) -> u64 {
    log.read(|counters| counters.values.get(&0).copied().unwrap_or(0)).unwrap()
}
