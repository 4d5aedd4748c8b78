//! An allocator that asks for large pages where memory is large. The one place of the crate with
//! `unsafe`.
//!
//! The books and ledgers of a busy venue take hundreds of megabytes that are visited at random. In
//! pages of 4 KiB nearly every visit also misses the processor's table of pages; in pages of 2 MiB
//! none does. Many systems hand those out to whoever asks and to nobody else.

use std::alloc::{GlobalAlloc, Layout, System};

/// A smaller block gains nothing: it would often not hold one whole large page.
const LARGE_BYTES: usize = 8 << 20;
const PAGE_BYTES: usize = 4 << 10;

/// The system's allocator, but blocks of 8 MiB and more ask for large pages. For the binary that
/// runs an engine:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: rialto_engine::LargePages = rialto_engine::LargePages;
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

/// Asks for large pages for the whole pages within a block. It is only advice: where it is refused,
/// nothing is lost.
#[cold]
fn advise(block: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let lead = block.align_offset(PAGE_BYTES);
        if block.is_null() || lead >= bytes {
            return;
        }
        let whole = (bytes - lead) / PAGE_BYTES * PAGE_BYTES;
        // SAFETY: the pages lie within a block that was just allotted, and this advice changes no
        // contents.
        let _ = unsafe { madvise(block.add(lead).cast(), whole, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (block, bytes, PAGE_BYTES);
}

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
