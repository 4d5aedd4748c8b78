//! How often the bytes of a message are copied between the publisher and the disk: once.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_disk::{
    Access, DirEntry, DirLock, Disk, DiskError, File, GroupedSync, IoMode, Metadata, SimDisk,
};
use rialto_queue::{Level, Publish, Queue, QueueOptions, Read, Start, TopicOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::{Arc, Mutex};

thread_local! {
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Counts the bytes that each thread allocates.
struct Counting;

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.with(|bytes| bytes.set(bytes.get() + layout.size() as u64));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A disk that knows from which memory it was written.
struct Watched {
    disk: SimDisk,
    written: Arc<Mutex<Vec<Range<usize>>>>,
}

struct WatchedFile {
    file: Box<dyn File>,
    written: Arc<Mutex<Vec<Range<usize>>>>,
}

impl Watched {
    fn watch(&self, file: Box<dyn File>) -> Box<dyn File> {
        Box::new(WatchedFile { file, written: self.written.clone() })
    }
}

impl Disk for Watched {
    fn create(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        Ok(self.watch(self.disk.create(path, access)?))
    }
    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        Ok(self.watch(self.disk.open(path, access)?))
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> Result<(), DiskError> {
        self.disk.remove(path)
    }
    fn list(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        self.disk.list(dir)
    }
    fn create_dir_all(&self, dir: &Path) -> Result<(), DiskError> {
        self.disk.create_dir_all(dir)
    }
    fn sync_dir(&self, dir: &Path) -> Result<(), DiskError> {
        self.disk.sync_dir(dir)
    }
    fn lock(&self, dir: &Path) -> Result<Box<dyn DirLock>, DiskError> {
        self.disk.lock(dir)
    }
    fn free_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        self.disk.free_bytes(dir)
    }
    fn list_each(
        &self,
        dir: &Path,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        self.disk.list_each(dir, visit)
    }
    fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        self.disk.metadata(path)
    }
    fn grouped_sync(&self, dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
        self.disk.grouped_sync(dir)
    }
    fn total_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        self.disk.total_bytes(dir)
    }
}

impl File for WatchedFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize, DiskError> {
        let start = bytes.as_ptr() as usize;
        self.written.lock().unwrap().push(start..start + bytes.len());
        self.file.write_at(offset, bytes)
    }
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, DiskError> {
        self.file.read_at(offset, bytes)
    }
    fn sync_data(&self) -> Result<(), DiskError> {
        self.file.sync_data()
    }
    fn len(&self) -> Result<u64, DiskError> {
        self.file.len()
    }
    fn set_len(&self, bytes: u64) -> Result<(), DiskError> {
        self.file.set_len(bytes)
    }
    fn reserve(&self, bytes: u64) -> Result<bool, DiskError> {
        self.file.reserve(bytes)
    }
    fn mode(&self) -> IoMode {
        self.file.mode()
    }
    fn path(&self) -> &Path {
        self.file.path()
    }
}

const MESSAGES: u64 = 240;
const PAYLOAD_BYTES: usize = 16 << 10;

/// What is published is encoded into the buffer of the open group. This shows that the disk is
/// written from that buffer, and that readers get slices of it: a message is never copied again.
#[test]
fn a_message_is_written_from_where_it_was_put_when_it_was_published() {
    for level in [Level::Buffered, Level::Synced] {
        let written = Arc::new(Mutex::new(Vec::new()));
        let disk = Watched { disk: SimDisk::new(1), written: written.clone() };
        let options = QueueOptions { disk: Arc::new(disk), ..QueueOptions::at("/queue") };
        let queue = Queue::open_stepped(options).unwrap();
        let options = TopicOptions { segment_bytes: 8 << 20, ..TopicOptions::stream() };
        queue.create_topic("t", options.level(level)).unwrap();
        let producer = queue.producer("t").unwrap();
        let _ = producer.publish(&Publish::new(b"the first makes the file")).unwrap();
        written.lock().unwrap().clear();

        let payload = vec![7; PAYLOAD_BYTES];
        let before = BYTES.with(Cell::get);
        let receipts: Vec<_> =
            (0..MESSAGES).map(|_| producer.send(&Publish::new(&payload)).unwrap()).collect();
        let sending = BYTES.with(Cell::get) - before;
        // Buffers of a megabyte for the groups that are open meanwhile, and no more.
        let total = MESSAGES * PAYLOAD_BYTES as u64;
        assert!(sending < total + (3 << 20), "{sending} bytes allocated to send {total}");
        for receipt in receipts {
            receipt.wait().unwrap();
        }

        let written = written.lock().unwrap();
        let mut reader = queue.reader("t", Start::Seq(2)).unwrap();
        let mut read = 0;
        while let Some(Read::Message(message)) = reader.try_next().unwrap() {
            let start = message.payload().as_ptr() as usize;
            let is_written = written
                .iter()
                .any(|range| range.start <= start && start + PAYLOAD_BYTES <= range.end);
            assert!(is_written, "message {} was copied on its way, {level:?}", message.id());
            read += 1;
        }
        assert_eq!(read, MESSAGES);
    }
}
