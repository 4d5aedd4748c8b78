//! What topics that nobody writes hold on to: no descriptors, and hardly any disk. The only test of this
//! program that opens files, because it counts those of the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use rialto_queue::{
    DESCRIPTORS_MIN, GroupOptions, Level, Publish, Queue, QueueOptions, TopicOptions,
};
use std::path::Path;
use std::time::{Duration, Instant};

const TOPICS: usize = 1_000;
const PRIORITIES: u8 = 16;

/// What else the process and the moment need.
const OTHERS: usize = 40;

/// Many times what it takes; the page says what was measured.
const OPENING_MAX: Duration = Duration::from_secs(30);

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn options(dir: &Path) -> QueueOptions {
    QueueOptions { descriptors_max: DESCRIPTORS_MIN, ..QueueOptions::at(dir) }
}

#[test]
fn descriptors_are_bounded_however_many_topics_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let queue = Queue::open(options(dir.path())).unwrap();
    let topic = TopicOptions {
        segment_bytes: (1 << 20) + 4096,
        recent_bytes_max: 0,
        ..TopicOptions::stream().level(Level::Buffered)
    };
    let mut most = 0;
    for nth in 0..8 {
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
    for nth in 0..8 {
        let consumer = queue.consumer(&format!("wide{nth}"), "g").unwrap();
        let messages = consumer.try_fetch(100).unwrap().messages;
        assert_eq!(messages.len(), 2 * usize::from(PRIORITIES), "of topic {nth}");
        most = most.max(descriptors());
    }
    for nth in 0..TOPICS {
        let name = format!("t{nth}");
        queue.create_topic(&name, topic.clone()).unwrap();
        let _ = queue.producer(&name).unwrap().publish(&Publish::new(b"alone")).unwrap();
        most = most.max(descriptors());
    }
    assert!(most <= DESCRIPTORS_MIN + OTHERS, "{most} descriptors were open");
    queue.close().unwrap();

    let began = Instant::now();
    let queue = Queue::open(options(dir.path())).unwrap();
    let took = began.elapsed();
    println!("{} topics are open after {took:?}, with {} descriptors", TOPICS + 8, descriptors());
    assert!(took < OPENING_MAX, "{took:?}");
    assert!(descriptors() <= DESCRIPTORS_MIN + OTHERS, "{} descriptors", descriptors());
    for nth in [0, TOPICS - 1] {
        let name = format!("t{nth}");
        let _ = queue.producer(&name).unwrap().publish(&Publish::new(b"another")).unwrap();
        assert_eq!(queue.stats(&name).unwrap().messages, 2);
    }
}
