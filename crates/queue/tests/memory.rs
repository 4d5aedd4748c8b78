//! The memory that a queue takes and gives back, as the system counts it: buffers are not all had from
//! an allocator.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_queue::{GroupOptions, Level, Publish, Queue, QueueOptions, TopicOptions};
use std::sync::{Mutex, PoisonError};

/// What the system counts is the whole process's, so that one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

const MIB: i64 = 1 << 20;

/// The memory of this process that is in use, in bytes.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<i64>().unwrap() << 10
}

fn fill(queue: &Queue, name: &str, messages: usize) {
    queue.create_topic(name, TopicOptions::stream().level(Level::Memory)).unwrap();
    let producer = queue.producer(name).unwrap();
    let payload = vec![7; 1_000_000];
    for _ in 0..messages {
        let _ = producer.send(&Publish::new(&payload)).unwrap();
    }
}

#[test]
fn deleted_and_closed_topics_free_their_memory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = resident();
    let queue = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
    let fill_and_fetch = || {
        fill(&queue, "t", 64);
        queue.create_group("t", "g", GroupOptions::default()).unwrap();
        let consumer = queue.consumer("t", "g").unwrap();
        assert_eq!(consumer.try_fetch(4).unwrap().messages.len(), 4);
    };
    fill_and_fetch();
    let full = resident() - before;
    assert!(full >= 60 * MIB, "{full} bytes hold 64 MB");
    queue.delete_topic("t").unwrap();
    let spare = resident();
    assert!(spare - before < 48 * MIB, "{} bytes are kept for others", spare - before);
    for _ in 0..4 {
        fill_and_fetch();
        queue.delete_topic("t").unwrap();
    }
    let more = resident() - spare;
    assert!(more < 16 * MIB, "{more} bytes of deleted topics are still held");
    fill_and_fetch();
    drop(queue);
    let left = resident() - before;
    assert!(left < 16 * MIB, "{left} bytes of a queue that is gone are still held");
}

#[test]
fn memory_that_was_made_ready_is_what_messages_lie_in() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = resident();
    let options = QueueOptions { buffers_bytes: 64 << 20, ..QueueOptions::in_memory() };
    let queue = Queue::open_stepped(options).unwrap();
    let opened = resident();
    let ready = opened - before;
    assert!((60 * MIB..72 * MIB).contains(&ready), "{ready} bytes were made ready");
    fill(&queue, "t", 64);
    let more = resident() - opened;
    assert!(more < 8 * MIB, "{more} bytes were taken beside the ready ones");
}

#[test]
fn recent_messages_use_memory_up_to_the_bound_of_the_topic() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let home = tempfile::tempdir().unwrap();
    let queue = Queue::open_stepped(QueueOptions::at(home.path())).unwrap();
    let recent = |name: &str, recent_bytes_max: usize| {
        let options = TopicOptions::stream().level(Level::Buffered);
        queue.create_topic(name, TopicOptions { recent_bytes_max, ..options }).unwrap();
        let producer = queue.producer(name).unwrap();
        for _ in 0..100 {
            let _ = producer.publish(&Publish::new(&[7; 1_000])).unwrap();
        }
        queue.stats(name).unwrap().recent_bytes
    };
    let all = recent("all", 32 << 20);
    assert!((100_000..200_000).contains(&all), "{all} bytes hold 100 messages of 1,000");
    let some = recent("some", 20_000);
    assert!((10_000..=20_000).contains(&some), "{some} bytes are kept of 20,000 that may be");
}
