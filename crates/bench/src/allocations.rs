//! Counts allocations, for the row that says how many an order costs.
//!
//! Only a program can choose its allocator. One that makes this its own gets the row:
//!
//! ```
//! use rialto_bench::CountingAllocator;
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! assert!(rialto_bench::allocations_of(|| drop(Box::new(7_u64))).is_some_and(|count| count > 0));
//! ```

use rialto_engine::LargePages;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::hint::black_box;

/// The allocator of a venue, with a count of each thread's allocations: one addition for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is being torn down may still allocate; nobody counts that.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the other allocator unchanged. Counting allocates nothing: the
// cell is a constant and needs no destructor.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { LargePages.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { LargePages.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { LargePages.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { LargePages.realloc(memory, layout, size) }
    }
}

/// How many times `work` allocates on this thread; `None` where the program's allocator is another
/// one, so that nothing counts.
pub fn allocations_of(work: impl FnOnce()) -> Option<u64> {
    let before = ALLOCATIONS.get();
    drop(black_box(Box::new(before)));
    let is_counting = ALLOCATIONS.get() > before;
    let before = ALLOCATIONS.get();
    work();
    is_counting.then(|| ALLOCATIONS.get() - before)
}
