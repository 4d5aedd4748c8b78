//! Conflation: slow readers get the newest message of each key and the number left out.

use crate::stage::{Stage, stream};
use rialto_queue::{CONFLATED_KEYS_MAX, Level, Publish, Read, Reader, SlowReaderPolicy, Start};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake};
use std::time::Duration;

fn stage(level: Level, behind: u64) -> Stage {
    let stage = Stage::new();
    let options = stream().level(level).overtaken(SlowReaderPolicy::Conflated { behind });
    stage.queue().create_topic("t", options).unwrap();
    stage
}

fn publish(stage: &Stage, messages: &[(&str, &str)]) {
    for (key, payload) in messages {
        stage.send("t", &Publish::new(payload.as_bytes()).key(key.as_bytes()));
    }
}

/// The items of a reader until there are no more.
fn meet(reader: &mut Reader) -> Vec<String> {
    let mut met = Vec::new();
    while let Some(read) = reader.try_next().unwrap() {
        met.push(match read {
            Read::Message(message) => String::from_utf8(message.payload().to_vec()).unwrap(),
            Read::Missed { messages, .. } => format!("missed {messages}"),
            Read::Conflated { messages, .. } => format!("left out {messages}"),
        });
    }
    met
}

#[test]
fn a_lagging_reader_gets_the_last_message_of_each_key_and_those_without_a_key() {
    for level in Level::ALL {
        let stage = stage(level, 3);
        let mut reader = stage.queue().reader("t", Start::Oldest).unwrap();
        publish(&stage, &[("x", "x1"), ("x", "x2"), ("y", "y1")]);
        assert_eq!(meet(&mut reader), ["x1", "x2", "y1"], "{level}");
        publish(&stage, &[("x", "x3"), ("", "free"), ("y", "y2"), ("x", "x4"), ("", "free too")]);
        assert_eq!(meet(&mut reader), ["left out 1", "free", "y2", "x4", "free too"], "{level}");
        assert_eq!(reader.positions(), [9], "{level}");
        publish(&stage, &[("x", "x5"), ("x", "x6")]);
        assert_eq!(meet(&mut reader), ["x5", "x6"], "{level}");
    }
}

#[test]
fn messages_published_during_a_read_are_not_skipped_until_it_lags_again() {
    let stage = stage(Level::Synced, 2);
    let mut reader = stage.queue().reader("t", Start::Oldest).unwrap();
    publish(&stage, &[("x", "x1"), ("x", "x2"), ("y", "y1")]);
    let told = reader.try_next().unwrap();
    assert!(matches!(told, Some(Read::Conflated { lane: 0, messages: 1 })), "{told:?}");
    publish(&stage, &[("x", "x3"), ("y", "y2")]);
    assert_eq!(meet(&mut reader), ["x2", "y1", "x3", "y2"]);
}

#[test]
fn a_reader_overtaken_by_retention_gets_the_number_of_missed_messages_first() {
    let stage = Stage::new();
    let options = stream().messages_max(3).overtaken(SlowReaderPolicy::Conflated { behind: 1 });
    stage.queue().create_topic("t", options).unwrap();
    let mut reader = stage.queue().reader("t", Start::Oldest).unwrap();
    publish(&stage, &[("x", "x1"), ("x", "x2"), ("y", "y1"), ("x", "x3"), ("x", "x4")]);
    stage.pass(Duration::from_secs(2));
    assert_eq!(meet(&mut reader), ["missed 2", "left out 1", "y1", "x4"]);
}

#[test]
fn messages_of_keys_beyond_the_bound_are_all_delivered() {
    let stage = stage(Level::Memory, 0);
    let keys: Vec<_> = (0..=CONFLATED_KEYS_MAX).map(|key| format!("{key:05}")).collect();
    let messages: Vec<_> = keys.iter().chain(&keys).map(|key| (key.as_str(), "")).collect();
    publish(&stage, &messages);
    let mut reader = stage.queue().reader("t", Start::Oldest).unwrap();
    let met = meet(&mut reader);
    assert_eq!(met[0], format!("left out {CONFLATED_KEYS_MAX}"));
    assert_eq!(met.len(), 1 + CONFLATED_KEYS_MAX + 2);
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_task_gives_way_to_others_while_it_looks_at_what_it_is_spared() {
    const MESSAGES: u64 = 40_000;
    let stage = stage(Level::Memory, 10);
    let batch = [(); 1_000].map(|()| Publish::new(b"x").key(b"x"));
    for _ in 0..MESSAGES / 1_000 {
        let _ = stage.queue().producer("t").unwrap().send_batch(&batch).unwrap();
    }
    let mut reader = stage.queue().reader("t", Start::Oldest).unwrap();
    let woken = Arc::new(Woken::default());
    let waker = woken.clone().into();
    let mut context = Context::from_waker(&waker);
    let mut gave_way = 0;
    let read = loop {
        let mut reading = pin!(reader.read());
        match reading.as_mut().poll(&mut context) {
            Poll::Ready(read) => break read.unwrap(),
            Poll::Pending => gave_way += 1,
        }
        assert_eq!(woken.0.load(Ordering::Relaxed), gave_way, "who gives way is woken again");
    };
    assert!(
        matches!(read, Read::Conflated { messages, .. } if messages == MESSAGES - 1),
        "{read:?}"
    );
    assert!(gave_way >= 5, "all was looked at in {} polls", gave_way + 1);
    assert_eq!(meet(&mut reader), ["x"]);
}

#[test]
fn the_option_is_kept() {
    let mut stage = stage(Level::Synced, 17);
    stage.reopen();
    let kept = stage.queue().options("t").unwrap().overtaken;
    assert_eq!(kept, SlowReaderPolicy::Conflated { behind: 17 });
}
