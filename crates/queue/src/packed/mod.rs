//! Messages as bytes, to carry them to other processes.
//!
//! A packed batch holds messages as topics store them, so that what is stored is sent without being
//! taken apart, and what is received is copied once, into the buffer that is written. It is written
//! down byte by byte in `docs/formats/messages.md`.

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
