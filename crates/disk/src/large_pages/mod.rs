//! Memory in large pages, which many systems provide only on request.
#![allow(unsafe_code, reason = "advice to the system, and memory that is owned in parts")]

mod allocator;
mod counting;
mod slab;

pub use allocator::LargePages;
pub use counting::{Allocated, CountingAllocator, allocated_by, allocations_of};
pub(crate) use slab::Part;

pub(crate) const LARGE_PAGE_BYTES: usize = 2 << 20;

/// Asks for large pages for the whole pages within memory that the caller has just been given. It is
/// only advice: where it is refused, nothing is lost.
#[cold]
fn advise(memory: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        const PAGE_BYTES: usize = 4 << 10;
        let lead = memory.align_offset(PAGE_BYTES);
        if memory.is_null() || lead >= bytes {
            return;
        }
        let whole = (bytes - lead) / PAGE_BYTES * PAGE_BYTES;
        // SAFETY: the pages lie within memory that was just handed out, and this advice changes no
        // contents.
        let _ = unsafe { madvise(memory.add(lead).cast(), whole, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, bytes);
}
