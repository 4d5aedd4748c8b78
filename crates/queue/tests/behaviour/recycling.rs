//! Topics that reuse the files that retention drops.

use crate::stage::{Stage, stream, take};
use rialto_disk::Faults;
use rialto_queue::{GroupOptions, Level, Publish, Queue, QueueOptions, Read, Reader, Start};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Two of these fill a file.
const PAYLOAD_BYTES: usize = 500_000;
/// The offset of the field that marks a recycled file.
const GROUND_AT: usize = 94;

fn payload(nth: u64) -> Vec<u8> {
    nth.to_le_bytes().repeat(PAYLOAD_BYTES / 8)
}

/// A topic that keeps four messages, and every one of which is on the disk when it is published.
fn with_topics(names: &[&str]) -> Stage {
    let stage = Stage::new();
    for name in names {
        let options = stream().messages_max(4).level(Level::Synced);
        stage.queue().create_topic(name, options).unwrap();
    }
    stage
}

fn publish(stage: &Stage, topic: &str, messages: std::ops::RangeInclusive<u64>) {
    messages.for_each(|nth| stage.publish(topic, &payload(nth)));
}

fn files(stage: &Stage, topic: &str) -> Vec<PathBuf> {
    let is_of = |path: &PathBuf| path.starts_with(Path::new("/queue/topics").join(topic));
    stage.disk.paths().into_iter().filter(is_of).collect()
}

/// The number of a topic's files that wait to be recycled.
fn spare(stage: &Stage, topic: &str) -> usize {
    let is_spare = |path: &&PathBuf| path.to_string_lossy().contains("/spare-");
    files(stage, topic).iter().filter(is_spare).count()
}

/// The files of a topic that hold messages.
fn logs(stage: &Stage, topic: &str) -> Vec<PathBuf> {
    let mut files = files(stage, topic);
    files.retain(|path| path.extension().is_some_and(|it| it == "log"));
    files
}

/// The number of a topic's recycled files.
fn used(stage: &Stage, topic: &str) -> usize {
    let is_used = |path: &&PathBuf| stage.disk.bytes_of(path).unwrap()[GROUND_AT] == 2;
    logs(stage, topic).iter().filter(is_used).count()
}

fn read(reader: &mut Reader) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    while let Some(read) = reader.try_next().unwrap() {
        if let Read::Message(message) = read {
            payloads.push(message.payload().to_vec());
        }
    }
    payloads
}

#[test]
fn a_topic_that_is_full_uses_its_files_again_and_again() {
    let mut stage = with_topics(&["t"]);
    publish(&stage, "t", 1..=40);
    assert!(used(&stage, "000001") >= 2, "{:?}", files(&stage, "000001"));
    let expected: Vec<_> = (37..=40).map(payload).collect();
    for _ in 0..3 {
        let mut reader = stage.queue().reader("t", Start::Oldest).unwrap();
        let found = read(&mut reader);
        assert!(found[found.len() - 4..] == expected);
        drop(reader);
        stage.crash();
    }
    assert_eq!(spare(&stage, "000001"), 0);
}

#[test]
fn a_queue_that_keeps_no_spare_files_uses_none_again() {
    let mut stage = Stage::new();
    let options = QueueOptions { spare_bytes_max: 0, ..stage.options() };
    stage.open_with(options);
    stage.queue().create_topic("t", stream().messages_max(4).level(Level::Synced)).unwrap();
    publish(&stage, "t", 1..=20);
    assert_eq!((used(&stage, "000001"), spare(&stage, "000001")), (0, 0));
}

/// How many files a topic that keeps four messages has after twenty in no time, and a second later.
fn files_in_time(level: Level, spare_bytes_max: u64) -> [usize; 2] {
    let mut stage = Stage::new();
    let options = QueueOptions { spare_bytes_max, ..stage.options() };
    stage.open_with(options);
    stage.queue().create_topic("t", stream().messages_max(4).level(level)).unwrap();
    publish(&stage, "t", 1..=20);
    let at_once = logs(&stage, "000001").len();
    stage.pass(Duration::from_secs(1));
    [at_once, logs(&stage, "000001").len()]
}

#[test]
fn only_what_is_used_again_is_dropped_as_soon_as_a_file_is_full() {
    assert_eq!(files_in_time(Level::Synced, 256 << 20), [3, 2]);
    assert_eq!(files_in_time(Level::Synced, 0), [10, 2]);
    assert_eq!(files_in_time(Level::Buffered, 256 << 20), [10, 2]);
}

#[test]
fn a_message_that_is_held_stays_as_it_is() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let open = || Queue::open_stepped(QueueOptions::at(dir.path())).unwrap();
    let send = |queue: &Queue, nth| {
        let _ = queue.producer("t").unwrap().publish(&Publish::new(&payload(nth))).unwrap();
    };
    let queue = open();
    queue.create_topic("t", stream().messages_max(4).level(Level::Synced)).unwrap();
    queue.create_group("t", "g", GroupOptions::default()).unwrap();
    (1..=4).for_each(|nth| send(&queue, nth));
    queue.close().unwrap();
    // What was published before the queue was opened is read through mappings.
    let queue = open();
    let held = take(&queue.consumer("t", "g").unwrap());
    assert_eq!(held.len(), 4);
    (5..=40).for_each(|nth| send(&queue, nth));
    let files: Vec<_> = std::fs::read_dir(dir.path().join("topics/000001/lane-0"))
        .unwrap()
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    let is_used = |bytes: &&Vec<u8>| bytes.starts_with(b"RIALTLOG") && bytes[GROUND_AT] == 2;
    assert!(files.iter().filter(is_used).count() >= 2);
    for (message, nth) in held.iter().zip(1..) {
        assert!(message.payload() == payload(nth));
    }
}

#[test]
fn the_spare_files_of_a_topic_go_with_it() {
    let stage = with_topics(&["t"]);
    publish(&stage, "t", 1..=20);
    stage.queue().delete_topic("t").unwrap();
    stage.queue().step();
    let left = files(&stage, "000001");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn spare_files_make_room_before_a_message_is_refused() {
    let stage = Stage::new();
    let options = stream().max_age(Duration::from_secs(10)).level(Level::Synced);
    stage.queue().create_topic("t", options.clone()).unwrap();
    stage.queue().create_topic("u", options).unwrap();
    publish(&stage, "t", 1..=12);
    publish(&stage, "u", 1..=1);
    stage.pass(Duration::from_secs(20));
    assert!(spare(&stage, "000001") > 3, "{:?}", files(&stage, "000001"));
    let bytes = |path: &PathBuf| stage.disk.bytes_of(path).unwrap().len() as u64;
    let capacity_bytes = Some(stage.disk.paths().iter().map(bytes).sum());
    stage.disk.set_faults(Faults { capacity_bytes, ..Faults::default() });
    publish(&stage, "u", 2..=6);
    assert_eq!(spare(&stage, "000001"), 0);
}
