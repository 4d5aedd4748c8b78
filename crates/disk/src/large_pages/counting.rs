//! Counts allocations and their bytes, for measurements of what an order or a call costs.
//!
//! Only a program can choose its allocator. One that makes this its own can ask:
//!
//! ```
//! use rialto_disk::CountingAllocator;
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! assert!(rialto_disk::allocations_of(|| drop(Box::new(7_u64))).is_some_and(|count| count > 0));
//! ```

use super::LargePages;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::hint::black_box;

/// The allocator of a venue, with a count of each thread's allocations: two additions for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// Counts of allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// The number of allocations.
    pub count: u64,
    /// The bytes in all. Memory that grows counts with its new size, as if it had moved.
    pub bytes: u64,
}

thread_local! {
    static ALLOCATED: Cell<Allocated> = const { Cell::new(Allocated { count: 0, bytes: 0 }) };
}

fn count(bytes: usize) {
    // A thread that is being torn down may still allocate; that is not counted.
    let _ = ALLOCATED.try_with(|allocated| {
        let Allocated { count, bytes: before } = allocated.get();
        allocated.set(Allocated { count: count + 1, bytes: before + bytes as u64 });
    });
}

// SAFETY: every call goes to the other allocator unchanged. Counting allocates nothing: the
// cell is a constant and needs no destructor.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { LargePages.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { LargePages.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { LargePages.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { LargePages.realloc(memory, layout, size) }
    }
}

/// The number of allocations of `work` on this thread; `None` if the program has another allocator.
pub fn allocations_of(work: impl FnOnce()) -> Option<u64> {
    allocated_by(work).map(|allocated| allocated.count)
}

/// The allocations of `work` on this thread; `None` if the program has another allocator.
pub fn allocated_by(work: impl FnOnce()) -> Option<Allocated> {
    let before = ALLOCATED.get();
    drop(black_box(Box::new(before)));
    let is_counting = ALLOCATED.get() != before;
    let before = ALLOCATED.get();
    work();
    let after = ALLOCATED.get();
    is_counting
        .then(|| Allocated { count: after.count - before.count, bytes: after.bytes - before.bytes })
}
