//! Limits the bytes that a client sends before a message is complete.
//!
//! The WebSocket library delivers complete messages and hides their frames. A message of empty
//! frames without end would take time and be counted nowhere. So bytes are counted where they are
//! read, frame heads included.

use std::sync::atomic::{AtomicU64, Ordering};

/// The size of a read on a stream. One read may contain several messages.
pub(crate) const STREAM_READ_BYTES: usize = 32 << 10;

/// Counts the bytes read since the last complete message. One task at a time reads and takes
/// messages.
pub(super) struct MessageBytes {
    read: AtomicU64,
    max: AtomicU64,
}

impl MessageBytes {
    /// No limit yet.
    pub(super) fn unlimited() -> MessageBytes {
        MessageBytes { read: AtomicU64::new(0), max: AtomicU64::new(u64::MAX) }
    }

    /// Sets the limit of a message.
    pub(super) fn limit(&self, message_bytes_max: usize) {
        let max = message_bytes_max + 2 * STREAM_READ_BYTES;
        self.max.store(max as u64, Ordering::Relaxed);
    }

    /// Resets the count after a complete message.
    pub(super) fn message(&self) {
        self.read.store(0, Ordering::Relaxed);
    }

    /// Counts bytes; `false` beyond the limit.
    pub(super) fn count(&self, bytes: usize) -> bool {
        let max = self.max.load(Ordering::Relaxed);
        if max == u64::MAX {
            return true;
        }
        let read = self.read.load(Ordering::Relaxed) + bytes as u64;
        self.read.store(read, Ordering::Relaxed);
        read <= max
    }
}
