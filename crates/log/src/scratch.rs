//! Buffers in which one group is read, sealed or unsealed.

use crate::format::GROUP_STORED_BYTES_MAX;
use crate::group::GROUP_BYTES_MAX;
use rialto_disk::AlignedBuf;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// The number of buffers that are kept for reuse.
const KEPT: usize = 8;

/// The longest stored group, and room for the output of a compression that does not pay.
pub(crate) const SCRATCH_BYTES: usize = GROUP_STORED_BYTES_MAX + GROUP_BYTES_MAX / 8;

/// The free buffers.
static IDLE: Mutex<Vec<AlignedBuf>> = Mutex::new(Vec::new());

/// A buffer for the longest group in any form, with whatever was in it before. All logs of the
/// process share them: in new memory the system first allocates and clears each page, which takes
/// longer than reading or encrypting a group.
pub(crate) struct Scratch(Option<AlignedBuf>);

impl Scratch {
    /// No memory yet.
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn take() -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self(Some(idle.unwrap_or_else(|| AlignedBuf::zeroed(SCRATCH_BYTES))))
    }

    /// The buffer, which is taken now if it was not before.
    pub(crate) fn taken(&mut self) -> &mut [u8] {
        if self.0.is_none() {
            *self = Self::take();
        }
        self
    }
}

impl Deref for Scratch {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl DerefMut for Scratch {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(buf) = self.0.take() else { return };
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(buf);
        }
    }
}
