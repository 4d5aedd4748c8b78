//! The binary form of commands and events: fixed little-endian records, as
//! `docs/formats/journal.md` describes them.
//!
//! Every value has exactly one form, and decoding refuses all others, so that bytes that decode
//! encode to the same bytes. Fields stand in 8-byte words and are aligned to their size.

mod attribution;
mod command_decode;
mod command_encode;
mod error;
mod event_decode;
mod event_encode;
mod reader;
mod writer;

pub use attribution::{ATTRIBUTION_BYTES_MAX, decode_attribution, encode_attribution};
pub use command_decode::decode_command;
pub use command_encode::{COMMAND_BYTES_MAX, encode_command, encode_order};
pub use error::{DecodeError, DecodeFault};
pub use event_decode::{EventIter, decode_events};
pub use event_encode::{
    EVENT_BYTES_MAX, EVENTS_HEADER_BYTES, EventEncoder, EventsFull, encode_event,
};

/// Bytes before the body of a command.
const COMMAND_HEADER_BYTES: usize = 16;
/// Bytes before the body of an event.
const EVENT_HEADER_BYTES: usize = 8;
/// Version of every command and event so far.
const VERSION: u8 = 1;
/// Stands in the place of a command's kind, so that a reader given the wrong log fails.
const EVENTS_MARK: u8 = 255;
/// Stands in the place of a command's kind where an attribution is before the command.
const ATTRIBUTION_MARK: u8 = 254;

/// The media type of a record of events.
pub const EVENTS_CONTENT_TYPE: &str = "application/vnd.rialto.events";

/// Flags of commands and events. A bit means the same wherever it is allowed.
mod flag {
    /// Amounts do not all fit 64 bits: their high halves follow the fixed part.
    pub(super) const WIDE: u16 = 1 << 0;
    /// A client order id is given.
    pub(super) const CLIENT_ID: u16 = 1 << 1;
    /// The order has an expiry time.
    pub(super) const EXPIRES: u16 = 1 << 2;
    /// The order is sized in quote currency.
    pub(super) const QUOTE: u16 = 1 << 3;
    /// The order is cancelled when the connection is lost.
    pub(super) const CANCEL_ON_DISCONNECT: u16 = 1 << 4;
    /// The whole order went to the book.
    pub(super) const RESTS: u16 = 1 << 5;
    /// A price is given.
    pub(super) const PRICE: u16 = 1 << 6;
    /// A quantity is given.
    pub(super) const QUANTITY: u16 = 1 << 7;
    /// An instrument is given.
    pub(super) const INSTRUMENT: u16 = 1 << 8;
    /// The time at which a transfer was made is given.
    pub(super) const TIME: u16 = 1 << 9;
    /// A minimum quantity is given.
    pub(super) const MINIMUM: u16 = 1 << 10;
}
