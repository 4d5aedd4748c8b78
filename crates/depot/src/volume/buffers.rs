//! Buffers for direct I/O that are used again.

use super::format::BLOCK_CONTENT_BYTES;
use rialto_disk::AlignedBuf;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// A buffer holds a block and, behind it, the end of most files, so that both are one write.
pub(super) const BUFFER_BYTES: usize = BLOCK_CONTENT_BYTES + (64 << 10);

/// The idle buffers.
#[derive(Debug)]
pub(super) struct Buffers {
    idle: Mutex<Vec<AlignedBuf>>,
    idle_max: usize,
}

impl Buffers {
    pub(super) fn new(idle_max: usize) -> Arc<Self> {
        Arc::new(Self { idle: Mutex::default(), idle_max })
    }

    /// A buffer with arbitrary bytes in it, which returns when it is dropped.
    pub(super) fn take(self: &Arc<Self>) -> Buffer {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = idle.unwrap_or_else(|| AlignedBuf::zeroed(BUFFER_BYTES));
        Buffer { bytes: Some(bytes), home: Arc::clone(self) }
    }
}

/// A buffer in use.
pub(super) struct Buffer {
    /// Always some, except while it is dropped.
    bytes: Option<AlignedBuf>,
    home: Arc<Buffers>,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes.as_deref_mut().unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut idle = self.home.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.home.idle_max {
            idle.extend(self.bytes.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_and_no_more_are_kept_than_allowed() {
        let buffers = Buffers::new(1);
        let (mut first, second) = (buffers.take(), buffers.take());
        first[0] = 7;
        drop(first);
        drop(second);
        assert_eq!(buffers.idle.lock().unwrap().len(), 1);
        assert_eq!(buffers.take()[0], 7);
        assert_eq!(buffers.take().len(), BUFFER_BYTES);
    }
}
