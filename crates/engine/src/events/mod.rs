//! Released events: in memory for readers that keep up, in the event log for all.

mod block;
mod chain;
mod note;
mod reader;
mod ring;
mod writer;

pub(crate) use block::{Block, frame_bytes};
pub(crate) use chain::{CHAIN_SPAN, Chain, ChainValue};
pub(crate) use note::GroupNote;
pub use reader::{EventBatch, EventReader, EventRecord, ReadEventsError};
pub(crate) use ring::EventRing;
pub(crate) use writer::EventWriter;
