//! The binary form of messages for other processes.
//!
//! A packed batch holds messages as topics store them, so that stored messages are sent as they
//! are, and received ones are copied once, into the buffer that is written.
//! `docs/formats/messages.md` describes the format.

mod layout;
mod leases;
mod pieces;
mod read;
mod writer;

pub use layout::{LEASES_MEDIA_TYPE, MESSAGES_MEDIA_TYPE};
pub use leases::PackedLeases;
pub use pieces::{Piece, Stored, pack_fetched, pack_messages};
pub use read::{InvalidPacked, Packed, PackedMessage, PackedMessages};
pub use writer::PackedWriter;
