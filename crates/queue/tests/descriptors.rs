//! Idle topics hold no descriptors and hardly any disk. It is the only test of this program that
//! opens files, because it counts those of the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_queue::{
    DESCRIPTORS_MIN, GroupOptions, Level, Publish, Queue, QueueOptions, TOPICS_MAX, TopicOptions,
};
use std::path::Path;
use std::time::{Duration, Instant};

const WIDE_TOPICS: usize = 8;
const PRIORITIES: u8 = 16;

/// Descriptors that the process needs otherwise.
const OTHERS: usize = 40;

/// Many times the measured value for each topic.
const OPENING_MAX: Duration = Duration::from_millis(30);

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// With the least bound there is.
fn narrow(dir: &Path) -> QueueOptions {
    QueueOptions { descriptors_max: DESCRIPTORS_MIN, ..QueueOptions::at(dir) }
}

/// The default options.
fn usual(dir: &Path) -> QueueOptions {
    QueueOptions::at(dir)
}

#[test]
fn descriptors_are_bounded_however_many_topics_there_are() {
    descriptors_are_bounded_with(1_000, narrow);
}

/// With `--include-ignored --test-threads 1`: what the other test opens would be counted with it.
#[test]
#[ignore = "takes a minute: cargo test --release -p rialto-queue --test descriptors -- --ignored"]
fn descriptors_are_bounded_with_as_many_topics_as_there_may_be() {
    descriptors_are_bounded_with(TOPICS_MAX - WIDE_TOPICS, usual);
}

#[allow(clippy::print_stdout, reason = "the page says what was measured")]
fn descriptors_are_bounded_with(topics: usize, options: fn(&Path) -> QueueOptions) {
    let dir = tempfile::tempdir().unwrap();
    let bound = options(dir.path()).descriptors_max + OTHERS;
    let queue = Queue::open(options(dir.path())).unwrap();
    let topic = TopicOptions {
        segment_bytes: (1 << 20) + 8192,
        recent_bytes_max: 0,
        ..TopicOptions::stream().level(Level::Buffered)
    };
    let mut most = 0;
    for nth in 0..WIDE_TOPICS {
        let name = format!("wide{nth}");
        queue.create_topic(&name, topic.clone().priorities(PRIORITIES)).unwrap();
        queue.create_group(&name, "g", GroupOptions::default()).unwrap();
        let producer = queue.producer(&name).unwrap();
        for round in 0..2 {
            for priority in 0..PRIORITIES {
                let text = format!("{round} {priority}");
                let message = Publish::new(text.as_bytes()).priority(priority);
                let _ = producer.publish(&message).unwrap();
                most = most.max(descriptors());
            }
        }
    }
    for nth in 0..WIDE_TOPICS {
        let consumer = queue.consumer(&format!("wide{nth}"), "g").unwrap();
        let messages = consumer.try_fetch(100).unwrap().messages;
        assert_eq!(messages.len(), 2 * usize::from(PRIORITIES), "of topic {nth}");
        most = most.max(descriptors());
    }
    for nth in 0..topics {
        let name = format!("t{nth}");
        queue.create_topic(&name, topic.clone()).unwrap();
        let _ = queue.producer(&name).unwrap().publish(&Publish::new(b"alone")).unwrap();
        most = most.max(descriptors());
    }
    assert!(most <= bound, "{most} descriptors were open");
    queue.close().unwrap();

    let began = Instant::now();
    let queue = Queue::open(options(dir.path())).unwrap();
    let took = began.elapsed();
    let there = topics + WIDE_TOPICS;
    println!("{there} topics are open after {took:?}, with {} descriptors", descriptors());
    assert!(took < OPENING_MAX * there as u32, "{took:?}");
    assert!(descriptors() <= bound, "{} descriptors", descriptors());
    for nth in [0, topics - 1] {
        let name = format!("t{nth}");
        let _ = queue.producer(&name).unwrap().publish(&Publish::new(b"another")).unwrap();
        assert_eq!(queue.stats(&name).unwrap().messages, 2);
    }
}
