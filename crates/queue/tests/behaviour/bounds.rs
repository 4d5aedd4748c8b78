//! What happens at the limits: full topics, overtaken readers, messages that are too large.

use crate::stage::{Stage, stream, take, take_payloads};
use rialto_queue::{
    GroupOptions, Kind, Level, Publish, QueueError, Read, SlowReaderPolicy, Start, TopicOptions,
    WhenFull,
};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn work_queue() -> TopicOptions {
    TopicOptions { kind: Kind::WorkQueue, ..stream() }
}

#[test]
fn a_full_work_queue_refuses_until_every_group_is_done_with_something() {
    for level in Level::ALL {
        let stage = Stage::new();
        stage.queue().create_topic("t", work_queue().messages_max(2).level(level)).unwrap();
        let (one, two) = (stage.consumer("t", "one"), stage.consumer("t", "two"));
        stage.publish("t", b"a");
        stage.publish("t", b"b");
        let producer = stage.queue().producer("t").unwrap();
        let refused = || producer.send(&Publish::new(b"c")).map(drop).unwrap_err();
        assert!(matches!(refused(), QueueError::Full { messages: 2, .. }), "{level}");
        one.ack(&take(&one)[0]).unwrap();
        assert!(matches!(refused(), QueueError::Full { .. }), "{level}");
        two.ack(&take(&two)[0]).unwrap();
        stage.publish("t", b"c");
        assert_eq!(take_payloads(&one), ["c"], "{level}");
    }
}

#[test]
fn a_work_queue_is_full_of_bytes_until_they_are_acknowledged() {
    for level in Level::ALL {
        let stage = Stage::new();
        stage.queue().create_topic("t", work_queue().bytes_max(1_000).level(level)).unwrap();
        let consumer = stage.consumer("t", "g");
        let payload = [7; 400];
        stage.publish("t", &payload);
        stage.publish("t", &payload);
        let producer = stage.queue().producer("t").unwrap();
        let send = || producer.try_send(&Publish::new(&payload)).map(drop);
        assert!(matches!(send(), Err(QueueError::Full { messages: 2, .. })), "{level}");
        take(&consumer).iter().for_each(|message| consumer.ack(message).unwrap());
        send().unwrap();
    }
}

#[test]
fn a_work_queue_keeps_what_no_group_has_seen() {
    let stage = Stage::new();
    stage.queue().create_topic("t", work_queue()).unwrap();
    stage.publish("t", b"a");
    stage.pass(3600 * SECOND);
    assert_eq!(take_payloads(&stage.consumer("t", "late")), ["a"]);
}

#[test]
fn a_publisher_can_wait_for_room() {
    let queue = rialto_queue::Queue::open(rialto_queue::QueueOptions::in_memory()).unwrap();
    let options =
        TopicOptions::work_queue().messages_max(1).when_full(WhenFull::Block(20 * SECOND));
    queue.create_topic("t", options).unwrap();
    queue.create_group("t", "g", GroupOptions::default()).unwrap();
    let consumer = queue.consumer("t", "g").unwrap();
    let producer = queue.producer("t").unwrap();
    let _ = producer.send(&Publish::new(b"a")).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| producer.send(&Publish::new(b"b")).map(drop));
        let first = consumer.fetch(1, 20 * SECOND).unwrap().messages;
        consumer.ack(&first[0]).unwrap();
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(consumer.fetch(1, 20 * SECOND).unwrap().messages[0].payload(), b"b");
}

#[test]
fn a_publisher_that_waits_in_vain_is_refused() {
    let queue = rialto_queue::Queue::open(rialto_queue::QueueOptions::in_memory()).unwrap();
    let wait = WhenFull::Block(Duration::from_millis(20));
    let options = TopicOptions::work_queue().messages_max(1).when_full(wait);
    queue.create_topic("t", options).unwrap();
    let producer = queue.producer("t").unwrap();
    let _ = producer.send(&Publish::new(b"a")).unwrap();
    let refused = producer.send(&Publish::new(b"b")).map(drop);
    assert!(matches!(refused, Err(QueueError::Full { .. })));
}

#[test]
fn a_stream_drops_its_oldest_and_tells_those_who_had_not_read_them() {
    for level in Level::ALL {
        let stage = Stage::new();
        stage.queue().create_topic("t", stream().messages_max(2).level(level)).unwrap();
        let consumer = stage.consumer("t", "g");
        let mut reader = stage.queue().reader("t", Start::Oldest).unwrap();
        for payload in ["a", "b", "c", "d", "e"] {
            stage.publish("t", payload.as_bytes());
        }
        stage.pass(2 * SECOND);
        let missed = reader.try_next().unwrap();
        assert!(matches!(missed, Some(Read::Missed { lane: 0, messages: 3 })), "{missed:?}");
        let fetched = consumer.try_fetch(10).unwrap();
        assert_eq!((fetched.missed, fetched.messages.len()), (3, 2), "{level}");
        assert_eq!(stage.queue().stats("t").unwrap().messages, 2, "{level}");
    }
}

#[test]
fn leased_messages_may_be_dropped_by_retention() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream().messages_max(1)).unwrap();
    let consumer = stage.consumer("t", "g");
    stage.publish("t", b"a");
    let held = take(&consumer).remove(0);
    stage.publish("t", b"b");
    stage.pass(2 * SECOND);
    // It has been read, so that it can still be processed and acknowledged.
    assert_eq!(held.payload(), b"a");
    consumer.ack(&held).unwrap();
    assert_eq!(take_payloads(&consumer), ["b"]);
}

#[test]
fn bytes_and_age_bound_a_stream_to_a_stretch() {
    let stage = Stage::new();
    let (bytes, stretch) = (1 << 20, 256 << 10);
    let options = stream().bytes_max(bytes).max_age(100 * SECOND).level(Level::Memory);
    stage.queue().create_topic("t", options).unwrap();
    let payload = vec![7; 10_000];
    for _ in 0..1_000 {
        stage.publish("t", &payload);
    }
    stage.pass(2 * SECOND);
    let held = stage.queue().stats("t").unwrap();
    assert!((bytes..bytes + 2 * stretch).contains(&held.bytes), "{held:?}");
    assert!(held.recent_bytes < bytes + (4 << 20), "{held:?}");
    stage.pass(101 * SECOND);
    assert_eq!(stage.queue().stats("t").unwrap().messages, 0);
}

#[test]
fn files_of_dropped_messages_go() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream().messages_max(10).level(Level::Buffered)).unwrap();
    let payload = vec![7; 500_000];
    for _ in 0..40 {
        stage.publish("t", &payload);
    }
    stage.pass(2 * SECOND);
    let dir = std::path::Path::new("/queue/topics/000001/lane-0");
    let files = rialto_disk::Disk::list(&*stage.disk, dir).unwrap();
    // Ten messages take at most ten files here, and HEAD, LOCK and one in the making come to them.
    assert!(files.len() <= 13, "{files:?}");
}

#[test]
fn messages_that_no_topic_takes_are_refused_with_their_measure() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    let producer = stage.queue().producer("t").unwrap();
    let (huge, long) = (vec![0; 1 << 20], vec![b'k'; 1_025]);
    let mut crowded = Publish::new(b"");
    for _ in 0..65 {
        crowded = crowded.header("h", b"v");
    }
    let long_type = "t".repeat(256);
    for (message, expected) in [
        (Publish::new(&huge), "takes 1048640 bytes in all"),
        (Publish::new(b"").key(&long), "the key has 1025 bytes"),
        (Publish::new(b"").content_type(&long_type), "the content type has 256 bytes"),
        (crowded, "has 65 headers"),
        (Publish::new(b"").priority(1), "the priorities 0 to 0"),
    ] {
        let refused = producer.send(&message).map(drop).unwrap_err();
        assert!(refused.to_string().contains(expected), "{refused}");
    }
    let largest = vec![1; rialto_queue::MESSAGE_BYTES_MAX - 64];
    stage.publish("t", &largest);
    assert_eq!(take(&stage.consumer("t", "g"))[0].payload(), largest);
}

#[test]
fn topics_that_contradict_themselves_are_not_made() {
    let stage = Stage::new();
    for options in [
        stream().priorities(0),
        stream().priorities(17),
        stream().messages_max(0),
        work_queue().max_age(SECOND),
        TopicOptions { segment_bytes: 5_000, ..stream() },
        TopicOptions { message_bytes_max: 10, ..stream() },
    ] {
        let refused = stage.queue().create_topic("t", options);
        assert!(matches!(refused, Err(QueueError::Options(_))), "{refused:?}");
    }
    let other = stage.queue().create_topic("t", stream());
    other.unwrap();
    let exists = stage.queue().create_topic("t", stream().priorities(2));
    assert!(matches!(exists, Err(QueueError::TopicExists(_))));
}

#[test]
fn an_overtaken_reader_continues_as_the_topic_says() {
    let overtake = |overtaken| {
        let stage = Stage::new();
        stage.queue().create_topic("t", stream().messages_max(3).overtaken(overtaken)).unwrap();
        let mut reader = stage.queue().reader("t", Start::Oldest).unwrap();
        for payload in ["a", "b", "c", "d", "e"] {
            stage.publish("t", payload.as_bytes());
        }
        stage.pass(2 * SECOND);
        let mut met = Vec::new();
        loop {
            match reader.try_next() {
                Ok(Some(Read::Message(message))) => {
                    met.push(String::from_utf8(message.payload().to_vec()).unwrap());
                }
                Ok(Some(Read::Missed { messages, .. })) => met.push(format!("missed {messages}")),
                Ok(Some(other)) => panic!("{other:?}"),
                Ok(None) => return met,
                Err(QueueError::CutOff { messages, .. }) => {
                    assert!(reader.try_next().is_err(), "it was not cut off for good");
                    met.push(format!("cut off after {messages}"));
                    return met;
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    assert_eq!(overtake(SlowReaderPolicy::Oldest), ["missed 2", "c", "d", "e"]);
    assert_eq!(overtake(SlowReaderPolicy::Newest), ["missed 4", "e"]);
    assert_eq!(overtake(SlowReaderPolicy::CutOff), ["cut off after 2"]);
}

#[test]
fn delayed_messages_have_a_bound_of_their_own() {
    for kind in [Kind::Stream, Kind::WorkQueue] {
        let stage = Stage::new();
        let options = TopicOptions { kind, ..stream() };
        stage.queue().create_topic("t", options.bytes_max(1_000)).unwrap();
        let producer = stage.queue().producer("t").unwrap();
        let payload = [7; 400];
        let delayed = Publish::new(&payload).delay(SECOND);
        let send = || producer.try_send(&delayed).map(drop);
        send().unwrap();
        send().unwrap();
        assert!(matches!(send(), Err(QueueError::Full { messages: 2, .. })), "{kind:?}");
        producer.try_send(&Publish::new(&payload)).map(drop).unwrap();
    }
}

#[test]
fn a_group_has_a_bounded_number_of_outstanding_messages() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    (0..5).for_each(|_| stage.publish("t", b"x"));
    let options = GroupOptions { outstanding_max: 2, ..GroupOptions::default() };
    let consumer = stage.consumer_with("t", "g", options);
    let held = take(&consumer);
    assert_eq!((held.len(), take(&consumer).len()), (2, 0));
    consumer.ack(&held[0]).unwrap();
    assert_eq!(take(&consumer).len(), 1);
}
