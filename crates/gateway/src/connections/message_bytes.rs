//! How much a client may send before it has finished a message.
//!
//! A WebSocket library hands out whole messages and says nothing of their frames: a message that
//! never ends, of frames that hold nothing, would cost time for ever and be counted nowhere. So the
//! bytes are counted where they are read, heads of frames included.

use std::sync::atomic::{AtomicU64, Ordering};

/// How much of what comes is read at a time on a stream. What is read may begin further messages.
pub(crate) const STREAM_READ_BYTES: usize = 32 << 10;

/// Counts what was read since the last whole message. One task at a time reads and takes messages.
pub(super) struct MessageBytes {
    read: AtomicU64,
    max: AtomicU64,
}

impl MessageBytes {
    /// Nothing is counted until there is a limit.
    pub(super) fn unlimited() -> MessageBytes {
        MessageBytes { read: AtomicU64::new(0), max: AtomicU64::new(u64::MAX) }
    }

    /// Messages may have this many bytes from now on.
    pub(super) fn limit(&self, message_bytes_max: usize) {
        let max = message_bytes_max + 2 * STREAM_READ_BYTES;
        self.max.store(max as u64, Ordering::Relaxed);
    }

    /// A whole message has come.
    pub(super) fn message(&self) {
        self.read.store(0, Ordering::Relaxed);
    }

    /// Counts what was read; `false` if it is more than a message may have.
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
