//! Readers of complete files get the mapped bytes without a copy.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_queue::{
    Compression, GroupOptions, Level, Message, Publish, Queue, QueueOptions, Read, Start,
    TopicOptions,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use tempfile::TempDir;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread, and their bytes.
struct Counting;

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
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

const MESSAGES: u64 = 1_000;
const PAYLOAD_BYTES: usize = 16 << 10;
const SEGMENT_BYTES: u64 = 4 << 20;

fn payload(seq: u64) -> Vec<u8> {
    let mut payload = vec![seq as u8; PAYLOAD_BYTES];
    payload[..8].copy_from_slice(&seq.to_le_bytes());
    payload
}

fn check(message: &Message) {
    assert!(message.payload() == payload(message.id().seq), "message {}", message.id());
}

fn options() -> TopicOptions {
    TopicOptions {
        segment_bytes: SEGMENT_BYTES,
        recent_bytes_max: 1,
        ..TopicOptions::stream().level(Level::Buffered)
    }
}

/// A queue with a topic that fills some files, opened again so that nothing of it is in memory and
/// only the newest file, which is empty, is still written.
fn filled(options: TopicOptions) -> (TempDir, Queue) {
    filled_keeping(options, 64)
}

fn filled_keeping(options: TopicOptions, mapped_segments_max: usize) -> (TempDir, Queue) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let queue = Queue::open(QueueOptions::at(dir.path())).unwrap();
    queue.create_topic("t", options).unwrap();
    let producer = queue.producer("t").unwrap();
    for seq in 1..MESSAGES {
        let _ = producer.send(&Publish::new(&payload(seq))).unwrap();
    }
    let _ = producer.publish(&Publish::new(&payload(MESSAGES))).unwrap();
    queue.close().unwrap();
    let options = QueueOptions { mapped_segments_max, ..QueueOptions::at(dir.path()) };
    (dir, Queue::open(options).unwrap())
}

fn read(queue: &Queue) -> Vec<Message> {
    let mut reader = queue.reader("t", Start::Oldest).unwrap();
    std::iter::from_fn(move || match reader.try_next().unwrap() {
        Some(Read::Message(message)) => Some(message),
        _ => None,
    })
    .collect()
}

/// The paths of the topic's files, oldest first.
fn files(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.join("topics")];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "log") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Whether memory is a part of a mapped file.
fn is_in_a_file(bytes: &[u8]) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let start = bytes.as_ptr() as usize;
    let line = maps.lines().find(|line| {
        let range = line.split_whitespace().next().and_then(|range| range.split_once('-'));
        range.is_some_and(|(from, to)| {
            let parse = |text| usize::from_str_radix(text, 16).unwrap();
            (parse(from)..parse(to)).contains(&start)
        })
    });
    line.is_some_and(|line| line.trim_end_matches(" (deleted)").ends_with(".log"))
}

#[test]
fn messages_of_complete_files_are_delivered_from_the_mapping() {
    let (_dir, queue) = filled(options());
    let before = (COUNT.with(Cell::get), BYTES.with(Cell::get));
    let mut reader = queue.reader("t", Start::Oldest).unwrap();
    let mut read = 0;
    while let Some(Read::Message(message)) = reader.try_next().unwrap() {
        read += 1;
        assert!(message.payload().starts_with(&message.id().seq.to_le_bytes()));
    }
    let (count, bytes) = (COUNT.with(Cell::get) - before.0, BYTES.with(Cell::get) - before.1);
    assert_eq!(read, MESSAGES);
    // Some for each file and each group of up to a megabyte; none for a message, and no place to
    // which 16 MiB of messages could have been copied.
    assert!(count < 200, "{count} allocations for {MESSAGES} messages");
    assert!(bytes < 32 << 10, "{bytes} bytes allocated for {MESSAGES} messages");
}

#[test]
fn all_who_read_and_all_who_consume_share_the_mapped_bytes() {
    let (_dir, queue) = filled(options());
    queue.create_group("t", "g", GroupOptions::default()).unwrap();
    let consumer = queue.consumer("t", "g").unwrap();
    // A fetch takes some megabytes at most.
    let fetch = || consumer.try_fetch(MESSAGES as usize).unwrap().messages;
    let fetched = std::iter::repeat_with(fetch).take_while(|messages| !messages.is_empty());
    let delivered: Vec<_> = fetched.flatten().collect();
    let (once, again) = (read(&queue), read(&queue));
    assert_eq!((once.len() as u64, delivered.len() as u64), (MESSAGES, MESSAGES));
    for ((one, other), delivered) in once.iter().zip(&again).zip(&delivered) {
        check(one);
        assert_eq!(one.payload().as_ptr(), other.payload().as_ptr());
        assert_eq!(one.payload().as_ptr(), delivered.payload().as_ptr());
    }
    for message in [&once[0], &once[MESSAGES as usize / 2], &once[MESSAGES as usize - 1]] {
        assert!(is_in_a_file(message.payload()), "message {}", message.id());
    }
}

#[test]
fn messages_outlive_the_file_that_retention_deletes() {
    let (dir, queue) = filled(options());
    let held = read(&queue);
    let before = files(dir.path());
    assert!(before.len() > 3, "{before:?}");
    assert_eq!(queue.purge("t").unwrap(), MESSAGES);
    let left = files(dir.path());
    assert!(before[..4].iter().all(|path| !left.contains(path)), "{left:?}");
    let producer = queue.producer("t").unwrap();
    for seq in 1..=MESSAGES {
        let _ = producer.send(&Publish::new(&payload(seq + 7))).unwrap();
    }
    held.iter().for_each(check);
    assert!(is_in_a_file(held[0].payload()));
    assert!(read(&queue).iter().all(|message| message.id().seq > MESSAGES));
}

#[test]
fn damage_of_a_mapped_file_is_reported_with_file_and_offset() {
    use std::os::unix::fs::FileExt;
    let (dir, queue) = filled(options());
    let path = files(dir.path()).swap_remove(1);
    let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let (mut byte, at) = ([0], file.metadata().unwrap().len() / 2);
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    let mut reader = queue.reader("t", Start::Oldest).unwrap();
    let error = loop {
        match reader.try_next() {
            Ok(Some(Read::Message(message))) => check(&message),
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains(path.to_str().unwrap()) && error.contains("offset"), "{error}");
}

#[test]
fn compressed_files_are_read_and_not_mapped() {
    let (_dir, queue) = filled(options().compression(Compression::Lz4));
    let messages = read(&queue);
    assert_eq!(messages.len() as u64, MESSAGES);
    messages.iter().for_each(check);
    assert!(!is_in_a_file(messages[0].payload()));
}

#[test]
fn a_queue_that_shall_map_nothing_maps_nothing() {
    let (_dir, queue) = filled_keeping(options(), 0);
    let messages = read(&queue);
    assert_eq!(messages.len() as u64, MESSAGES);
    messages.iter().for_each(check);
    assert!(!is_in_a_file(messages[0].payload()));
}

#[test]
fn a_deleted_topic_frees_its_files_despite_an_open_producer() {
    let (dir, queue) = filled(options());
    let _producer = queue.producer("t").unwrap();
    let held = read(&queue).swap_remove(0);
    let is_mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let path = dir.path().to_str().unwrap().to_owned();
        maps.lines().filter(|line| line.contains(&path)).count()
    };
    assert!(is_mapped() > 3);
    queue.delete_topic("t").unwrap();
    assert_eq!(is_mapped(), 1, "only the file of the message that is held");
    check(&held);
    drop(held);
    assert_eq!(is_mapped(), 0);
}
