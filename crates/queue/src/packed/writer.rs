//! Packing messages that are to be published.

use super::layout::{HEAD_BYTES, Head, MESSAGES_MAGIC, PREFIX_BYTES, RUN_BYTES, Run, framed_bytes};
use crate::publish::{Due, Publish, Stamp};
use rialto_clock::Timestamp;
use zerocopy::IntoBytes;

/// Packs messages to be published elsewhere. The topic checks their lengths.
///
/// ```
/// use rialto_queue::packed::{Packed, PackedWriter};
/// use rialto_queue::Publish;
///
/// let mut writer = PackedWriter::new();
/// writer.push(&Publish::new(b"paint it red").key(b"runtime-7"));
/// let batch = Packed::read(writer.bytes())?;
/// assert_eq!(batch.messages().next().map(|message| message.key()), Some(&b"runtime-7"[..]));
/// # Ok::<_, rialto_queue::packed::InvalidPacked>(())
/// ```
#[derive(Clone, Debug)]
pub struct PackedWriter {
    bytes: Vec<u8>,
    messages: u32,
}

impl Default for PackedWriter {
    fn default() -> PackedWriter {
        PackedWriter::new()
    }
}

impl PackedWriter {
    /// An empty batch.
    #[must_use]
    pub fn new() -> PackedWriter {
        let mut writer = PackedWriter { bytes: vec![0; HEAD_BYTES + RUN_BYTES], messages: 0 };
        writer.clear();
        writer
    }

    /// Removes all messages and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.truncate(HEAD_BYTES + RUN_BYTES);
        self.messages = 0;
        self.finish();
    }

    /// Adds a message. Only [`Publish::delay`] is packed. A delivery time is dropped, because the
    /// clocks may differ.
    pub fn push(&mut self, message: &Publish<'_>) {
        let (start, bytes) = (self.bytes.len(), message.bytes());
        let front_bytes = bytes - message.payload.len();
        // Only the bytes that are not copied have to be cleared.
        self.bytes.resize(start + PREFIX_BYTES + front_bytes, 0);
        let after = match message.due {
            Due::After(delay) => Some(Timestamp(0).after(delay)),
            Due::Now | Due::At(_) => None,
        };
        let stamp = Stamp {
            published_at: Timestamp(0),
            deliver_at: after,
            producer: 0,
            producer_sequence: 0,
        };
        let (prefix, front) = self.bytes[start..].split_at_mut(PREFIX_BYTES);
        prefix.copy_from_slice(&(bytes as u32).to_le_bytes());
        message.encode_front(stamp, front);
        self.bytes.extend_from_slice(message.payload);
        self.bytes.resize(start + framed_bytes(bytes), 0);
        self.messages += 1;
        self.finish();
    }

    /// How many messages it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages as usize
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// The batch.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn finish(&mut self) {
        let records = self.bytes.len() - HEAD_BYTES - RUN_BYTES;
        let run = Run {
            messages: self.messages.into(),
            bytes: (records as u32).into(),
            ..Run::default()
        };
        let head = Head::new(MESSAGES_MAGIC, 1, 0, 0);
        self.bytes[..HEAD_BYTES].copy_from_slice(head.as_bytes());
        self.bytes[HEAD_BYTES..HEAD_BYTES + RUN_BYTES].copy_from_slice(run.as_bytes());
    }
}
