//! Once a writer and a reader are warm, sealing and reading a group allocates nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_disk::RealDisk;
use rialto_log::{Cipher, Commit, Compression, Group, KeyRing, Options, Reader, Sealing, open};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is being torn down may still allocate; that is not counted.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The library of a cipher and zstd keep memory of their own, which is not counted here: it is taken
/// when a key or a context is made.
#[test]
fn a_sealed_group_costs_no_allocation() {
    let keys = KeyRing::parse(&format!("1: {}", "a".repeat(64)), "the test").unwrap();
    let zstd = Compression::Zstd { level: 3 };
    let gzip = Compression::Gzip { level: 6 };
    let ciphers = [None].into_iter().chain(Cipher::ALL.map(Some));
    for encryption in ciphers {
        for compression in [Compression::None, Compression::Lz4, zstd, gzip] {
            let home = tempfile::tempdir().unwrap();
            let options = Options {
                segment_bytes: 16 << 20,
                sealing: Sealing { compression, encryption },
                keys: keys.clone(),
                ..Options::new([1; 16])
            };
            let disk = Arc::new(RealDisk::new());
            let (mut writer, _) = open(disk, &home.path().join("log"), options).unwrap();
            let mut reader = Reader::open(&writer.segments(), 1).unwrap();
            let mut group = Group::new(64 << 10);
            let mut round = |records: u64| {
                group.begin(writer.next_seq());
                for _ in 0..records {
                    group.append(&[7; 200]).unwrap();
                }
                let written = writer.write(&mut group, Commit::Written).unwrap();
                reader.set_end(written.seq);
                let group = reader.next_group().unwrap().unwrap();
                assert_eq!(group.records().count() as u64, records);
            };
            // The greatest group first, so that all memory has its size.
            round(300);
            let before = ALLOCATIONS.get();
            for records in (1..100).map(|nth| nth * 3) {
                round(records);
            }
            let allocations = ALLOCATIONS.get() - before;
            // The sparse index of the segment grows now and then, sealed or not.
            assert!(allocations <= 4, "{compression} {encryption:?}: {allocations}");
        }
    }
}
