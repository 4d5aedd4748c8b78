//! Publishing and reading allocate nothing for each message.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_queue::{GroupOptions, Level, Publish, Queue, QueueOptions, Read, Start, TopicOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
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

const MESSAGES: u64 = 20_000;

/// The allocations of this thread for each message, in thousandths.
fn per_thousand(work: impl FnOnce()) -> u64 {
    let before = COUNT.with(Cell::get);
    work();
    (COUNT.with(Cell::get) - before) * 1_000 / MESSAGES
}

#[test]
fn a_message_is_published_and_read_without_an_allocation_of_its_own() {
    let queue = Queue::open(QueueOptions::in_memory()).unwrap();
    queue.create_topic("t", TopicOptions::stream().level(Level::Memory)).unwrap();
    queue.create_group("t", "g", GroupOptions::default()).unwrap();
    let producer = queue.producer("t").unwrap();
    let payload = [7; 500];
    let message = Publish::new(&payload).key(b"key").content_type("text/plain");
    let sent = per_thousand(|| {
        for _ in 0..MESSAGES {
            let _ = producer.send(&message).unwrap();
        }
    });
    let mut reader = queue.reader("t", Start::Oldest).unwrap();
    let mut bytes = 0;
    let read = per_thousand(|| {
        while let Some(Read::Message(message)) = reader.try_next().unwrap() {
            bytes += message.payload().len() as u64;
        }
    });
    assert_eq!(bytes, MESSAGES * 500);
    let consumer = queue.consumer("t", "g").unwrap();
    let mut taken = 0;
    let consumed = per_thousand(|| {
        loop {
            let messages = consumer.try_fetch(1_000).unwrap().messages;
            if messages.is_empty() {
                break;
            }
            taken += messages.len() as u64;
            consumer.ack_all(&messages);
        }
    });
    assert_eq!(taken, MESSAGES);
    // A megabyte of messages is one batch, and a fetch is one vector that grows.
    assert!(sent <= 5, "{sent} allocations for a thousand messages sent");
    assert!(read <= 1, "{read} allocations for a thousand messages read");
    assert!(consumed <= 40, "{consumed} allocations for a thousand messages consumed");
}

#[test]
fn a_kept_message_shares_the_memory_of_the_topic() {
    let queue = Queue::open(QueueOptions::in_memory()).unwrap();
    queue.create_topic("t", TopicOptions::stream().level(Level::Memory)).unwrap();
    let producer = queue.producer("t").unwrap();
    let payload = vec![7; 300_000];
    for _ in 0..4 {
        let _ = producer.send(&Publish::new(&payload)).unwrap();
    }
    let read_all = || {
        let mut reader = queue.reader("t", Start::Oldest).unwrap();
        std::iter::from_fn(move || match reader.try_next().unwrap() {
            Some(Read::Message(message)) => Some(message),
            _ => None,
        })
        .collect::<Vec<_>>()
    };
    let (once, again) = (read_all(), read_all());
    for (one, other) in once.iter().zip(&again) {
        assert_eq!(one.payload().as_ptr(), other.payload().as_ptr());
    }
    assert_eq!(once.len(), 4);
}
