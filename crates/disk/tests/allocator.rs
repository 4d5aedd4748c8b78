//! The contract of an allocator, with small blocks and with blocks that ask for large pages.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_disk::{CountingAllocator, LargePages, allocated_by, allocations_of};
use std::alloc::{GlobalAlloc, Layout};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const LARGE_BYTES: usize = 8 << 20;
/// Around every size at which something changes, with every alignment that a page may have.
const SIZES: [usize; 7] =
    [1, 4_095, 4_097, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1, 3 * LARGE_BYTES];
const ALIGNMENTS: [usize; 4] = [1, 64, 4 << 10, 2 << 20];

/// Every size with every alignment, by both allocators.
fn for_each_block(check: impl Fn(&dyn GlobalAlloc, Layout)) {
    for size in SIZES {
        for alignment in ALIGNMENTS {
            let layout = Layout::from_size_align(size, alignment).unwrap();
            check(&LargePages, layout);
            check(&CountingAllocator, layout);
        }
    }
}

/// The bytes at which a page begins or ends, and the last of the block.
fn edges(bytes: usize) -> impl Iterator<Item = usize> {
    (0..bytes).step_by(4_096).chain((4_095..bytes).step_by(4_096)).chain([bytes - 1])
}

fn mark(at: usize) -> u8 {
    (at % 251) as u8 + 1
}

#[test]
fn a_block_is_aligned_and_holds_what_was_written() {
    for_each_block(|allocator, layout| {
        // SAFETY: the block is used within its layout, and given back with it.
        unsafe {
            let block = allocator.alloc(layout);
            assert!(!block.is_null());
            assert_eq!(block.align_offset(layout.align()), 0);
            edges(layout.size()).for_each(|at| block.add(at).write(mark(at)));
            edges(layout.size()).for_each(|at| assert_eq!(block.add(at).read(), mark(at)));
            allocator.dealloc(block, layout);
        }
    });
}

#[test]
fn a_zeroed_block_is_zero() {
    for_each_block(|allocator, layout| {
        // SAFETY: the block is used within its layout, and given back with it.
        unsafe {
            let used = allocator.alloc(layout);
            used.write_bytes(7, layout.size());
            allocator.dealloc(used, layout);
            let block = allocator.alloc_zeroed(layout);
            assert!(std::slice::from_raw_parts(block, layout.size()).iter().all(|byte| *byte == 0));
            allocator.dealloc(block, layout);
        }
    });
}

#[test]
fn a_block_that_grows_or_shrinks_keeps_its_bytes() {
    for_each_block(|allocator, layout| {
        for size in SIZES {
            // SAFETY: the block is used within its layout, and given back with the one it has then.
            unsafe {
                let block = allocator.alloc(layout);
                edges(layout.size()).for_each(|at| block.add(at).write(mark(at)));
                let block = allocator.realloc(block, layout, size);
                assert!(!block.is_null());
                assert_eq!(block.align_offset(layout.align()), 0);
                let kept = edges(layout.size()).filter(|at| *at < size);
                kept.for_each(|at| assert_eq!(block.add(at).read(), mark(at)));
                allocator.dealloc(block, Layout::from_size_align(size, layout.align()).unwrap());
            }
        }
    });
}

#[test]
fn a_block_may_be_given_back_by_another_thread() {
    let blocks: Vec<Vec<u8>> = SIZES.iter().map(|size| vec![7; *size]).collect();
    let freed = std::thread::spawn(move || blocks.iter().all(|block| block.ends_with(&[7])));
    assert!(freed.join().unwrap());
}

#[test]
fn allocations_are_counted_with_their_bytes() {
    let allocated = allocated_by(|| {
        let mut grows = Vec::<u8>::with_capacity(100);
        grows.reserve_exact(200);
        drop(std::hint::black_box(grows));
    });
    let allocated = allocated.unwrap();
    assert_eq!((allocated.count, allocated.bytes), (2, 300));
    assert_eq!(allocations_of(|| ()), Some(0));
}
