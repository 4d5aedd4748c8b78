//! OBW1: one stream of order book operations that several engines can be fed with.
//!
//! All numbers are little-endian. A header of 64 bytes:
//!
//! | offset | type | field |
//! | --- | --- | --- |
//! | 0 | 4 bytes | `OBW1` |
//! | 4 | u32 | version, 1 |
//! | 8 | u64 | seed |
//! | 16 | u64 | operations of the prefill |
//! | 24 | u64 | operations after it |
//! | 32 | u64 | trades over the whole stream |
//! | 40 | u64 | traded quantity |
//! | 48 | u64 | orders that rest at the end |
//! | 56 | u64 | digest of the fills ([`FillDigest`]) |
//!
//! Then one record of 24 bytes an operation:
//!
//! | offset | type | field |
//! | --- | --- | --- |
//! | 0 | u64 | order id; ids count up from 1 in order of placing |
//! | 8 | u32 | price in ticks |
//! | 12 | u32 | quantity; of a cancel, what is still open |
//! | 16 | u32 | user |
//! | 20 | u8 | kind: 0 passive limit, 1 cancel, 2 crossing limit |
//! | 21 | u8 | side: 0 buy, 1 sell; of a cancel, that of the order |
//! | 22 | u16 | 0 |

mod generate;
mod read;
mod write;

pub use generate::generate;
pub use read::{ObwError, Reader, read};
pub use write::write;

use super::operation::{Operation, Workload};
use crate::digest::FillDigest;
use rialto_model::{OrderId, Price, Quantity, Side, TimeInForce};

const MAGIC: [u8; 4] = *b"OBW1";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 64;
const RECORD_BYTES: usize = 24;

/// The header of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The seed of the stream.
    pub seed: u64,
    /// Operations that fill the book, outside of any timing.
    pub prefill: u64,
    /// Operations after them.
    pub operations: u64,
    /// Trades that a price-time engine makes of the whole stream.
    pub trades: u64,
    /// Their quantity.
    pub traded_quantity: u64,
    /// Orders that rest at the end.
    pub resting: u64,
    /// The digest of all fills.
    pub digest: FillDigest,
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A limit order that rests without trading.
    Passive = 0,
    /// The cancel of a resting order.
    Cancel = 1,
    /// A limit order that trades at once; what is left of it rests.
    Crossing = 2,
}

/// One operation of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The order.
    pub id: u64,
    /// Its price in ticks.
    pub price: u32,
    /// Its quantity; of a cancel, what is still open.
    pub quantity: u32,
    /// The user who placed it.
    pub user: u32,
    /// The kind of operation.
    pub kind: Kind,
    /// The side of the order.
    pub side: Side,
}

impl Record {
    /// The operation that this record stands for.
    #[must_use]
    pub fn operation(&self) -> Operation {
        let id = OrderId(self.id);
        match self.kind {
            Kind::Cancel => Operation::Cancel { id },
            Kind::Passive | Kind::Crossing => Operation::Place {
                id,
                side: self.side,
                time_in_force: TimeInForce::Gtc,
                user: self.user,
                price: Price(i64::from(self.price)),
                quantity: Quantity(i64::from(self.quantity)),
            },
        }
    }
}

/// A whole stream in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The header.
    pub header: Header,
    /// The operations: prefill first, as many as the header says.
    pub records: Vec<Record>,
}

impl Stream {
    /// The stream as a workload, with totals found again rather than taken from the header.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let header = &self.header;
        let name = format!("OBW1 depth {}, seed {}", header.prefill, header.seed);
        let operations = self.records.iter().map(Record::operation).collect();
        // A stream in memory is far shorter than an address space.
        Workload::new(name, header.prefill as usize, operations)
    }
}
