//! Buffers that share a large page.

use super::{LARGE_PAGE_BYTES, advise};
use memmap2::{MmapMut, UncheckedAdvice};
use std::ptr::NonNull;
use std::sync::Arc;

/// A part of a large page, zero at first.
///
/// With large pages, one page fault replaces 512.
///
/// Invariant: the parts of one mapping do not overlap, nobody but a part looks at its bytes, and the
/// mapping goes with its last part.
pub(crate) struct Part {
    start: NonNull<u8>,
    len: usize,
    /// The offset in the mapping.
    offset: usize,
    /// Used for advice only, never read.
    map: Arc<MmapMut>,
}

// SAFETY: a part owns its bytes as a vector would, and advice can be given from any thread.
unsafe impl Send for Part {}
// SAFETY: through a shared part its bytes can only be read.
unsafe impl Sync for Part {}

impl Part {
    /// Parts of `len` bytes that together fill a large page. `None` if the system has no such
    /// memory.
    pub(crate) fn of_large_page(len: usize) -> Option<Vec<Self>> {
        assert!(len > 0 && LARGE_PAGE_BYTES.is_multiple_of(len), "parts fill a large page");
        let (mut map, lead) = map_aligned().filter(|_| cfg!(target_os = "linux"))?;
        let first = map.as_mut_ptr();
        advise(first, map.len());
        let map = Arc::new(map);
        let part = |offset: usize| {
            // SAFETY: offsets end where the large page does, which is within the mapping.
            let start = NonNull::new(unsafe { first.add(offset) })?;
            Some(Self { start, len, offset, map: map.clone() })
        };
        (lead..lead + LARGE_PAGE_BYTES).step_by(len).map(part).collect()
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: by the invariant the bytes are there and nobody changes them meanwhile; they were
        // zero at first.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else looks at them.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if Arc::strong_count(&self.map) > 1 {
            // The others may stay for long, and this memory would with them.
            // SAFETY: nobody looks at these bytes any more.
            let _ = unsafe {
                let advice = UncheckedAdvice::DontNeed;
                self.map.unchecked_advise_range(advice, self.offset, self.len)
            };
        }
    }
}

/// A mapping, and the offset in it at which a large page can begin.
fn map_aligned() -> Option<(MmapMut, usize)> {
    let lead = |map: &MmapMut| {
        let start = map.as_ptr() as usize;
        start.next_multiple_of(LARGE_PAGE_BYTES) - start
    };
    // Newer systems align this by themselves; elsewhere it takes more addresses, but no more memory.
    let exact = MmapMut::map_anon(LARGE_PAGE_BYTES).ok()?;
    if lead(&exact) == 0 {
        return Some((exact, 0));
    }
    drop(exact);
    let longer = MmapMut::map_anon(2 * LARGE_PAGE_BYTES).ok()?;
    let lead = lead(&longer);
    Some((longer, lead))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap_and_outlive_each_other() {
        let Some(mut parts) = Part::of_large_page(LARGE_PAGE_BYTES / 4) else { return };
        assert_eq!(parts.len(), 4);
        for (mark, part) in (1..).zip(&mut parts) {
            assert!(part.bytes().iter().all(|byte| *byte == 0));
            part.bytes_mut().fill(mark);
        }
        let second = parts.remove(1);
        drop(parts);
        assert_eq!(second.bytes().len(), LARGE_PAGE_BYTES / 4);
        assert!(second.bytes().iter().all(|byte| *byte == 2));
    }

    #[test]
    fn parts_go_to_other_threads() {
        let parts = Part::of_large_page(LARGE_PAGE_BYTES / 2).unwrap_or_default();
        std::thread::scope(|scope| {
            for mut part in parts {
                scope.spawn(move || part.bytes_mut().fill(7));
            }
        });
    }
}
