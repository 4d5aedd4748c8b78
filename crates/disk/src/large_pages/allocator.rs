//! An allocator that asks for large pages where memory is large.
//!
//! The books and ledgers of a busy venue take hundreds of megabytes that are visited at random. In
//! pages of 4 KiB nearly every visit also misses the processor's table of pages; in pages of 2 MiB
//! none does.

use super::advise;
use std::alloc::{GlobalAlloc, Layout, System};

/// A smaller block gains nothing: it would often not hold one whole large page.
const LARGE_BYTES: usize = 8 << 20;

/// The system's allocator, but blocks of 8 MiB and more ask for large pages. For the binary that
/// runs an engine:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: rialto_disk::LargePages = rialto_disk::LargePages;
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

// SAFETY: every call goes to the system's allocator unchanged, and its answer is handed on.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for LargePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        let block = unsafe { System.alloc(layout) };
        if layout.size() >= LARGE_BYTES {
            advise(block, layout.size());
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if layout.size() >= LARGE_BYTES {
            advise(block, layout.size());
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.realloc(block, layout, size) };
        if size >= LARGE_BYTES {
            advise(block, size);
        }
        block
    }
}
