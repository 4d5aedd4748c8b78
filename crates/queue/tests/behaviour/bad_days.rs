//! Failing disks and damaged bytes give a clear error, never a silent loss.

use crate::stage::{Stage, payloads, stream, take, take_payloads};
use rialto_disk::{Disk, Faults};
use rialto_queue::{
    Delivery, GroupOptions, Level, Publish, Queue, QueueError, TopicOptions, dead_header,
};
use std::path::Path;
use std::time::Duration;

const LANE: &str = "/queue/topics/000001/lane-0";

fn with_topic(options: TopicOptions) -> Stage {
    let stage = Stage::new();
    stage.queue().create_topic("t", options).unwrap();
    stage
}

#[test]
fn a_topic_on_a_failed_disk_is_failed_and_the_others_continue() {
    let mut stage = with_topic(stream());
    stage.queue().create_topic("other", stream()).unwrap();
    stage.publish("t", b"kept");
    stage.publish("other", b"a");
    stage.disk.fail_write(1);
    let producer = stage.queue().producer("t").unwrap();
    let lost = producer.send(&Publish::new(b"lost")).unwrap();
    assert!(matches!(lost.wait(), Err(QueueError::Failed { .. })));
    let refused = producer.send(&Publish::new(b"refused")).map(drop);
    assert!(matches!(refused, Err(QueueError::Failed { .. })));
    assert!(stage.queue().stats("t").unwrap().failed.is_some());
    stage.publish("other", b"b");
    assert_eq!(take_payloads(&stage.consumer("other", "g")), ["a", "b"]);
    stage.crash();
    assert_eq!(take_payloads(&stage.consumer("t", "g"))[0], "kept");
    stage.publish("t", b"new");
}

#[test]
fn a_full_disk_refuses_messages_and_keeps_those_it_has() {
    let mut stage = with_topic(stream().level(Level::Buffered));
    stage.publish("t", b"kept");
    stage.disk.set_faults(Faults { capacity_bytes: Some(0), ..Faults::default() });
    let producer = stage.queue().producer("t").unwrap();
    let payload = vec![7; 900_000];
    let refused = (0..20).find_map(|_| {
        producer.send(&Publish::new(&payload)).and_then(|receipt| receipt.wait()).err()
    });
    assert!(matches!(refused, Some(QueueError::Failed { .. })), "{refused:?}");
    stage.disk.set_faults(Faults::default());
    stage.crash();
    assert_eq!(take(&stage.consumer("t", "g"))[0].payload(), b"kept");
}

#[test]
fn a_control_log_that_fails_stops_what_needs_it() {
    let stage = with_topic(stream());
    stage.disk.fail_write(1);
    let refused = stage.queue().create_topic("u", stream());
    assert!(matches!(refused, Err(QueueError::ControlFailed(_))), "{refused:?}");
    let mut transaction = stage.queue().begin();
    transaction.publish("t", &Publish::new(b"x")).unwrap();
    assert!(matches!(transaction.commit(), Err(QueueError::ControlFailed(_))));
}

#[test]
fn a_bit_that_flipped_is_an_error_with_file_and_offset() {
    let options = TopicOptions { recent_bytes_max: 0, ..stream() };
    let mut stage = with_topic(options);
    for number in 0..10 {
        stage.publish("t", format!("message {number}").as_bytes());
    }
    stage.reopen();
    let names = stage.disk.list(Path::new(LANE)).unwrap();
    let first = names.iter().find(|name| name.ends_with(".log")).unwrap();
    // The fourth group: a block for each message that was waited for.
    assert!(stage.disk.flip_bit(&Path::new(LANE).join(first), 4 * 4096 + 150, 3));
    let consumer = stage.consumer("t", "g");
    let error = loop {
        match consumer.try_fetch(1) {
            Ok(fetched) => assert!(!fetched.messages.is_empty(), "the damage was passed over"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains(first) && error.contains("16384"), "{error}");
}

#[test]
fn messages_before_damage_are_delivered_and_not_dead_lettered() {
    for delivery in [Delivery::AtLeastOnce, Delivery::AtMostOnce] {
        let mut stage = with_topic(TopicOptions { recent_bytes_max: 0, ..stream() });
        for number in 0..6 {
            stage.publish("t", format!("message {number}").as_bytes());
        }
        stage.reopen();
        let names = stage.disk.list(Path::new(LANE)).unwrap();
        let first = names.iter().find(|name| name.ends_with(".log")).unwrap();
        assert!(stage.disk.flip_bit(&Path::new(LANE).join(first), 4 * 4096 + 150, 3));
        let options = GroupOptions { delivery, ..GroupOptions::default() };
        let consumer = stage.consumer_with("t", "g", options);
        let messages = take(&consumer);
        assert_eq!(payloads(&messages), ["message 0", "message 1", "message 2"], "{delivery:?}");
        if delivery == Delivery::AtMostOnce {
            assert!(consumer.try_fetch(100).is_err());
            continue;
        }
        // Messages that were given back are delivered before the damage is reported again.
        for attempt in 2..=5 {
            assert!(consumer.try_fetch(100).is_err());
            stage.pass(Duration::from_secs(30));
            let again = take(&consumer);
            assert_eq!((again.len(), again[0].attempt()), (3, attempt));
        }
    }
}

#[test]
fn peeking_returns_the_messages_before_damage_and_then_the_error() {
    let mut stage = with_topic(TopicOptions { recent_bytes_max: 0, ..stream() });
    for number in 0..6 {
        let text = format!("message {number}");
        stage.send("t", &Publish::new(text.as_bytes()).header(dead_header::TOPIC, b"jobs"));
    }
    stage.reopen();
    let names = stage.disk.list(Path::new(LANE)).unwrap();
    let first = names.iter().find(|name| name.ends_with(".log")).unwrap();
    assert!(stage.disk.flip_bit(&Path::new(LANE).join(first), 4 * 4096 + 150, 3));
    let letters = || stage.queue().dead_letters("t", 100, usize::MAX);
    assert_eq!(letters().unwrap().len(), 3);
    let consumer = stage.consumer("t", "redrive");
    assert_eq!(consumer.peek(100).unwrap().len(), 3);
    assert_eq!(letters().unwrap().len(), 3);
    for message in take(&consumer) {
        consumer.ack(&message).unwrap();
    }
    assert!(consumer.peek(100).is_err());
    assert!(letters().is_err());
}

#[test]
fn a_directory_is_open_once() {
    let stage = with_topic(stream());
    let Err(refused) = Queue::open_stepped(stage.options()) else { panic!("it was opened twice") };
    assert!(refused.to_string().contains("/queue/control"), "{refused}");
}

#[test]
fn users_of_a_deleted_topic_get_an_error() {
    let stage = with_topic(stream());
    stage.publish("t", b"a");
    let (producer, consumer) = (stage.queue().producer("t").unwrap(), stage.consumer("t", "g"));
    let mut reader = stage.queue().reader("t", rialto_queue::Start::Oldest).unwrap();
    stage.queue().delete_topic("t").unwrap();
    assert!(matches!(
        producer.send(&Publish::new(b"x")).map(drop),
        Err(QueueError::TopicDeleted(_))
    ));
    assert!(consumer.try_fetch(1).is_err());
    // Messages in memory may be read to the end.
    while let Ok(Some(_)) = reader.try_next() {}
    assert!(matches!(reader.try_next(), Err(QueueError::TopicDeleted(_))));
    let files = stage.disk.list(Path::new(LANE));
    assert!(files.as_ref().is_err_and(rialto_disk::DiskError::is_not_found), "{files:?}");
}
