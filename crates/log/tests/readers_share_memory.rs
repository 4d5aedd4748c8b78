//! Readers that come and go read into memory that others used before them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_disk::RealDisk;
use rialto_log::{Cipher, Commit, Compression, Group, KeyRing, Options, Reader, Sealing, open};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

struct Counting;

thread_local! {
    static LARGE: Cell<u64> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    if bytes >= 256 << 10 {
        // A thread that is being torn down may still allocate; that is not counted.
        let _ = LARGE.try_with(|count| count.set(count.get() + 1));
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The only test of this program, because all logs of a process share that memory.
#[test]
fn a_reader_takes_no_large_memory_that_another_has_left() {
    let keys = KeyRing::parse(&format!("1: {}", "a".repeat(64)), "the test").unwrap();
    let home = tempfile::tempdir().unwrap();
    let options = Options {
        segment_bytes: 4 << 20,
        sealing: Sealing { compression: Compression::Lz4, encryption: Some(Cipher::Aes128Gcm) },
        keys,
        ..Options::new([1; 16])
    };
    let (mut writer, _) =
        open(Arc::new(RealDisk::new()), &home.path().join("log"), options).unwrap();
    let mut group = Group::new(1 << 20);
    for round in 1..=3_u8 {
        group.begin(writer.next_seq());
        while group.append(&[round; 4_000]).is_ok() {}
        writer.write(&mut group, Commit::Synced).unwrap();
    }
    let read_all = || {
        let mut reader = Reader::open(&writer.segments(), 1).unwrap();
        let mut records = 0;
        while let Some(view) = reader.next_group().unwrap() {
            let first = view.records().next().unwrap().1[0];
            assert!(view.records().all(|(_, record)| record == [first; 4_000]));
            records += view.records().count() as u64;
        }
        assert_eq!(records, writer.next_seq() - 1);
    };
    read_all();
    let before = LARGE.get();
    (0..10).for_each(|_| read_all());
    assert_eq!(LARGE.get() - before, 0);
}
