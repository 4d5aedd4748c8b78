//! The state of a queue after its process died or the power failed.

use crate::stage::{Stage, payloads, stream, take, take_payloads};
use rialto_disk::Disk;
use rialto_queue::{DeliveryOrder, GroupOptions, Kind, Level, Publish, TopicOptions};
use std::path::Path;
use std::time::Duration;

fn with_topic(options: TopicOptions) -> Stage {
    let stage = Stage::new();
    stage.queue().create_topic("t", options).unwrap();
    stage
}

#[test]
fn confirmed_messages_and_acknowledgements_survive_a_power_failure() {
    let mut stage = with_topic(stream());
    for payload in [b"a", b"b", b"c"] {
        stage.publish("t", payload);
    }
    let consumer = stage.consumer("t", "g");
    let messages = take(&consumer);
    consumer.ack(&messages[1]).unwrap();
    consumer.confirm().unwrap();
    drop(consumer);
    stage.crash();
    let again = take(&stage.consumer("t", "g"));
    assert_eq!(payloads(&again), ["a", "c"]);
    // They had been handed out before.
    assert_eq!(again.iter().map(|it| it.attempt()).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn a_message_leased_when_the_process_died_counts_as_tried() {
    let mut stage = with_topic(stream());
    stage.publish("t", b"a");
    let consumer = stage.consumer("t", "g");
    assert_eq!(take(&consumer)[0].attempt(), 1);
    // A few milliseconds later the control log has recorded it.
    stage.queue().step();
    stage.kill();
    drop(consumer);
    assert_eq!(take(&stage.consumer("t", "g"))[0].attempt(), 2);
}

#[test]
fn messages_returned_unseen_count_no_attempt_after_a_restart() {
    let mut stage = with_topic(stream());
    stage.publish("t", b"a");
    let consumer = stage.consumer("t", "g");
    let held = take(&consumer);
    assert!(consumer.return_unseen(&[(held[0].id(), held[0].lease())]).is_empty());
    // Nothing more is acknowledged before the process dies.
    let mut consumers = vec![consumer];
    for attempt in [1, 2] {
        stage.queue().step();
        stage.kill();
        consumers.push(stage.consumer("t", "g"));
        assert_eq!(take(&consumers[usize::from(attempt)])[0].attempt(), attempt);
    }
}

#[test]
fn a_full_group_continues_after_a_restart() {
    let mut stage = with_topic(stream());
    for payload in [b"1", b"2", b"3"] {
        stage.publish("t", payload);
    }
    let options = GroupOptions { outstanding_max: 2, ..GroupOptions::default() };
    let consumer = stage.consumer_with("t", "g", options.clone());
    let held = take(&consumer);
    assert_eq!(payloads(&held), ["1", "2"]);
    consumer.ack(&held[1]).unwrap();
    drop(consumer);
    stage.reopen();
    let consumer = stage.consumer_with("t", "g", options);
    let held = take(&consumer);
    assert_eq!(payloads(&held), ["1"], "the oldest is not acknowledged");
    consumer.ack(&held[0]).unwrap();
    assert_eq!(take_payloads(&consumer), ["3"]);
}

#[test]
fn a_close_loses_nothing_at_any_level_but_memory() {
    for level in [Level::Buffered, Level::Synced] {
        let mut stage = with_topic(stream().level(level).priorities(2));
        let producer = stage.queue().producer("t").unwrap();
        let _ = producer.send(&Publish::new(b"low")).unwrap();
        let _ = producer.send(&Publish::new(b"high").priority(1)).unwrap();
        stage.reopen();
        assert_eq!(take_payloads(&stage.consumer("t", "g")), ["high", "low"]);
    }
}

#[test]
fn a_topic_of_memory_is_there_again_and_empty() {
    let mut stage = with_topic(stream().level(Level::Memory));
    stage.publish("t", b"a");
    let consumer = stage.consumer("t", "g");
    consumer.ack(&take(&consumer)[0]).unwrap();
    drop(consumer);
    stage.reopen();
    stage.publish("t", b"b");
    assert_eq!(take_payloads(&stage.consumer("t", "g")), ["b"]);
}

#[test]
fn a_group_beyond_the_kept_messages_goes_back_and_is_reported() {
    let mut rewound = 0;
    for seed in 0..16 {
        let mut stage = Stage::with_seed(seed);
        stage.queue().create_topic("t", stream().level(Level::Buffered)).unwrap();
        stage.publish("t", b"kept");
        stage.pass(Duration::from_secs(1));
        stage.publish("t", b"in danger");
        let consumer = stage.consumer("t", "g");
        assert_eq!(consumer.ack_all(&take(&consumer)), []);
        // What the control log syncs for one, it syncs for all.
        stage.queue().create_topic("other", stream()).unwrap();
        drop(consumer);
        stage.crash();
        let report = stage.queue().report().clone();
        let kept = stage.queue().stats("t").unwrap().messages;
        assert_eq!(report.rewound.len(), usize::from(kept < 2), "seed {seed}: {report:?}");
        if let [group] = &report.rewound[..] {
            assert_eq!((group.group.as_str(), group.next), ("g", 2), "seed {seed}");
            rewound += 1;
        }
        stage.publish("t", b"new");
        assert_eq!(take_payloads(&stage.consumer("t", "g")), ["new"], "seed {seed}");
    }
    assert!(rewound > 0, "no loss of power took what was not synced");
}

#[test]
fn numbered_messages_are_published_once_though_they_are_sent_again_after_a_crash() {
    let mut stage = with_topic(stream().priorities(2));
    let send = |stage: &Stage, number: u64, priority| {
        let producer = stage.queue().producer("t").unwrap();
        let text = number.to_string();
        let message = Publish::new(text.as_bytes()).priority(priority);
        let receipt = producer.send_numbered(&message, (9, number)).unwrap();
        receipt.wait().unwrap();
        receipt.id().is_some()
    };
    assert!(send(&stage, 1, 0));
    assert!(send(&stage, 2, 1));
    assert!(!send(&stage, 1, 0));
    stage.crash();
    assert!(!send(&stage, 1, 0));
    assert!(!send(&stage, 2, 1));
    assert!(send(&stage, 3, 0));
    assert_eq!(take_payloads(&stage.consumer("t", "g")), ["2", "1", "3"]);
}

#[test]
fn messages_that_are_put_off_survive_and_are_delivered_once_in_order_of_time() {
    let mut stage = with_topic(stream());
    for (payload, seconds) in [("late", 20), ("soon", 5)] {
        let delay = Duration::from_secs(seconds);
        stage.send("t", &Publish::new(payload.as_bytes()).delay(delay));
    }
    let consumer = stage.consumer("t", "g");
    stage.pass(Duration::from_secs(4));
    assert!(take(&consumer).is_empty());
    drop(consumer);
    stage.crash();
    stage.pass(Duration::from_secs(1));
    let consumer = stage.consumer("t", "g");
    assert_eq!(take_payloads(&consumer), ["soon"]);
    stage.queue().step();
    drop(consumer);
    stage.crash();
    stage.pass(Duration::from_secs(20));
    let messages = take(&stage.consumer("t", "h"));
    assert_eq!(payloads(&messages), ["soon", "late"]);
    assert_eq!(stage.queue().stats("t").unwrap().delayed, 0);
}

#[test]
fn topics_and_groups_that_were_deleted_stay_so() {
    let mut stage = with_topic(stream());
    stage.publish("t", b"a");
    stage.queue().create_group("t", "g", GroupOptions::default()).unwrap();
    stage.queue().delete_topic("t").unwrap();
    stage.crash();
    assert!(stage.queue().topics().is_empty());
    stage.queue().create_topic("t", stream()).unwrap();
    assert!(take(&stage.consumer("t", "g")).is_empty());
}

#[test]
fn a_topic_holds_as_much_as_before() {
    let mut stage = Stage::new();
    let work_queue = TopicOptions { kind: Kind::WorkQueue, ..stream() };
    stage.queue().create_topic("work", work_queue).unwrap();
    stage.queue().create_topic("stream", stream().messages_max(30)).unwrap();
    let payload = vec![7; 100_000];
    for _ in 0..40 {
        stage.publish("stream", &payload);
        stage.publish("work", &payload);
    }
    let consumer = stage.consumer("work", "g");
    consumer.ack_all(&consumer.try_fetch(30).unwrap().messages);
    drop(consumer);
    stage.pass(Duration::from_secs(2));
    let before = ["work", "stream"].map(|topic| stage.queue().stats(topic).unwrap());
    stage.reopen();
    let after = ["work", "stream"].map(|topic| stage.queue().stats(topic).unwrap());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.messages, after.messages, "{after:?}");
        assert_eq!(before.lanes, after.lanes, "{after:?}");
        // Files go as a whole, and end at a block.
        let (least, most) = (before.messages * 100_000, before.bytes + (1 << 20) + 300_000);
        assert!((least..most).contains(&after.bytes), "{before:?} {after:?}");
    }
}

#[test]
fn messages_age_while_the_queue_is_closed() {
    let mut stage = with_topic(stream().max_age(Duration::from_secs(100)));
    let payload = vec![7; 600_000];
    for _ in 0..4 {
        stage.publish("t", &payload);
        stage.pass(Duration::from_secs(30));
    }
    stage.queue().close().unwrap();
    stage.clock.advance(Duration::from_secs(20));
    stage.open();
    let left = stage.queue().stats("t").unwrap();
    // A message takes a file here, which counts as old as the message after it, and the newest as new.
    assert_eq!(left.lanes, [(2, 4)], "{left:?}");
}

#[test]
fn changes_of_a_deleted_group_do_not_keep_the_queue_from_opening() {
    let mut stage = with_topic(stream());
    stage.publish("t", b"a");
    let (held, acked) = (stage.consumer("t", "held"), stage.consumer("t", "acked"));
    let message = take(&held);
    acked.ack(&take(&acked)[0]).unwrap();
    stage.queue().delete_group("t", "acked").unwrap();
    stage.queue().delete_group("t", "held").unwrap();
    drop((message, held, acked));
    stage.queue().step();
    stage.kill();
    assert!(stage.queue().stats("t").unwrap().groups.is_empty());
}

#[test]
fn the_largest_message_can_be_put_off_and_die() {
    let mut stage = with_topic(stream());
    let payload = vec![7; rialto_queue::MESSAGE_BYTES_MAX - 64];
    for size in [100_000, 100_000, 100_000, payload.len()] {
        stage.send("t", &Publish::new(&payload[..size]).delay(Duration::from_secs(1)));
    }
    stage.pass(Duration::from_secs(2));
    stage.queue().step();
    stage.kill();
    let options = GroupOptions { attempts_max: 1, ..GroupOptions::default() };
    let consumer = stage.consumer_with("t", "g", options);
    let messages = take(&consumer);
    assert_eq!(messages.len(), 4);
    consumer.refuse(messages.last().unwrap(), "too heavy").unwrap();
    stage.queue().step();
    let dead = take(&stage.consumer("t.dead", "look"));
    assert_eq!(dead[0].payload().len(), payload.len());
}

#[test]
fn purged_messages_stay_purged() {
    for crash in [false, true] {
        let mut stage = with_topic(stream().priorities(2));
        stage.publish("t", b"a");
        stage.send("t", &Publish::new(b"b").priority(1));
        assert_eq!(stage.queue().purge("t").unwrap(), 2);
        if crash {
            stage.crash()
        } else {
            stage.reopen()
        }
        assert_eq!(stage.queue().stats("t").unwrap().messages, 0);
        stage.publish("t", b"new");
        assert_eq!(take_payloads(&stage.consumer("t", "g")), ["new"]);
    }
}

#[test]
fn messages_acknowledged_in_a_work_queue_stay_dropped_after_its_group_is_deleted() {
    for crash in [false, true] {
        let mut stage = with_topic(TopicOptions { kind: Kind::WorkQueue, ..stream() });
        stage.publish("t", b"done");
        stage.publish("t", b"kept");
        let consumer = stage.consumer("t", "g");
        consumer.ack(&take(&consumer)[0]).unwrap();
        consumer.confirm().unwrap();
        stage.queue().delete_group("t", "g").unwrap();
        if crash {
            stage.crash()
        } else {
            stage.reopen()
        }
        assert_eq!(stage.queue().stats("t").unwrap().messages, 1);
        assert_eq!(take_payloads(&stage.consumer("t", "g")), ["kept"]);
    }
}

#[test]
fn a_message_that_waited_for_another_of_its_key_was_not_tried() {
    let options =
        GroupOptions { order: DeliveryOrder::PerKey, attempts_max: 1, ..GroupOptions::default() };
    let mut stage = with_topic(stream());
    for payload in [b"1", b"2"] {
        stage.send("t", &Publish::new(payload).key(b"k"));
    }
    let consumer = stage.consumer_with("t", "g", options.clone());
    assert_eq!(take_payloads(&consumer), ["1"]);
    stage.queue().step();
    stage.kill();
    drop(consumer);
    let consumer = stage.consumer_with("t", "g", options);
    // The first was leased on its only attempt; the second never was.
    assert!(take(&consumer).is_empty());
    stage.queue().step();
    let second = take(&consumer);
    assert_eq!(payloads(&second), ["2"]);
    assert_eq!(second[0].attempt(), 1);
    assert_eq!(take_payloads(&stage.consumer("t.dead", "look")), ["1"]);
}

#[test]
fn a_message_that_kills_its_process_every_time_is_given_up() {
    let mut stage = with_topic(stream());
    stage.publish("t", b"poison");
    let options = GroupOptions { attempts_max: 3, ..GroupOptions::default() };
    for attempt in 1..=3 {
        let consumer = stage.consumer_with("t", "g", options.clone());
        assert_eq!(take(&consumer)[0].attempt(), attempt);
        stage.queue().step();
        stage.kill();
    }
    assert!(take(&stage.consumer_with("t", "g", options)).is_empty());
    stage.queue().step();
    assert_eq!(take_payloads(&stage.consumer("t.dead", "look")), ["poison"]);
}

#[test]
fn an_overtaken_group_gets_an_error_after_a_restart_too() {
    let mut stage = with_topic(stream().messages_max(1));
    let consumer = stage.consumer("t", "g");
    // So large that their files go.
    for byte in [1, 2, 3] {
        stage.publish("t", &[byte; 600_000]);
    }
    stage.pass(Duration::from_secs(2));
    drop(consumer);
    stage.reopen();
    let fetched = stage.consumer("t", "g").try_fetch(10).unwrap();
    assert_eq!((fetched.missed, fetched.messages.len()), (2, 1));
    assert_eq!(fetched.messages[0].payload()[0], 3);
}

#[test]
fn numbered_messages_before_a_delayed_one_that_was_moved_are_durable_and_known() {
    for seed in 0..8 {
        let mut stage = Stage::with_seed(seed);
        stage.queue().create_topic("t", stream().level(Level::Buffered)).unwrap();
        let send = |stage: &Stage, number: u64, delay: Option<Duration>| {
            let text = number.to_string();
            let mut message = Publish::new(text.as_bytes());
            if let Some(delay) = delay {
                message = message.delay(delay);
            }
            let producer = stage.queue().producer("t").unwrap();
            let receipt = producer.send_numbered(&message, (9, number)).unwrap();
            receipt.wait().unwrap();
            receipt.id().is_some()
        };
        let soon = Some(Duration::from_millis(1));
        assert!(send(&stage, 1, None));
        assert!(send(&stage, 2, soon));
        // The second is moved by a transaction, which is synced: the first may not be lost then, since
        // the topic could not tell.
        stage.pass(Duration::from_millis(2));
        stage.queue().step();
        stage.crash();
        stage.queue().step();
        assert!(!send(&stage, 1, None), "seed {seed}");
        assert!(!send(&stage, 2, soon), "seed {seed}");
        assert_eq!(take_payloads(&stage.consumer("t", "g")), ["1", "2"], "seed {seed}");
    }
}

#[test]
fn numbers_are_known_though_the_files_that_held_them_are_gone() {
    let mut stage = with_topic(stream().messages_max(1));
    let send = |stage: &Stage| {
        let message = Publish::new(b"once");
        let receipt = stage.queue().producer("t").unwrap().send_numbered(&message, (9, 1)).unwrap();
        receipt.wait().unwrap();
        receipt.id().is_some()
    };
    assert!(send(&stage));
    let mut transaction = stage.queue().begin();
    transaction.publish("t", &Publish::new(b"committed")).unwrap();
    transaction.commit().unwrap();
    for _ in 0..4 {
        stage.publish("t", &[7; 600_000]);
    }
    for _ in 0..3 {
        stage.pass(Duration::from_secs(2));
    }
    stage.kill();
    let files = stage.disk.list(Path::new("/queue/topics/000001/lane-0")).unwrap();
    assert!(files.iter().filter(|name| name.ends_with(".log")).count() <= 3, "{files:?}");
    assert!(!send(&stage), "it was published twice");
    let [(first, last)] = stage.queue().stats("t").unwrap().lanes[..] else { panic!() };
    assert_eq!((first, last), (6, 6), "what a transaction had brought was brought again");
}

#[test]
fn a_topic_holds_as_many_bytes_after_it_was_opened_again() {
    let mut stage = with_topic(stream().bytes_max(100_000));
    // Written one by one, each takes a block of the disk.
    for _ in 0..200 {
        stage.publish("t", &[b'x'; 200]);
    }
    let before = stage.queue().stats("t").unwrap();
    stage.reopen();
    stage.pass(Duration::from_secs(2));
    let after = stage.queue().stats("t").unwrap();
    assert_eq!((after.messages, after.bytes), (200, before.bytes));
}

#[test]
fn pauses_between_messages_cost_a_stream_nothing_when_it_is_opened_again() {
    // A topic that falls idle leaves a proof of its end, which takes a block of its own.
    let options = TopicOptions { segment_bytes: 16 << 20, ..stream() };
    let mut stage = with_topic(options.bytes_max(1 << 20));
    for _ in 0..3_000 {
        stage.publish("t", &[b'x'; 200]);
        (0..2).for_each(|_| stage.pass(Duration::from_secs(1)));
    }
    let before = stage.queue().stats("t").unwrap();
    stage.reopen();
    stage.pass(Duration::from_secs(2));
    let after = stage.queue().stats("t").unwrap();
    assert_eq!((after.messages, after.bytes), (before.messages, before.bytes));
}

#[test]
fn a_work_queue_has_room_after_a_restart_for_what_was_acknowledged_before() {
    let options = TopicOptions { kind: Kind::WorkQueue, ..stream() };
    let mut stage = with_topic(options.bytes_max(1 << 20));
    let consumer = stage.consumer("t", "g");
    for _ in 0..100 {
        stage.publish("t", &[b'x'; 10_000]);
    }
    let messages = take(&consumer);
    messages[..90].iter().for_each(|message| consumer.ack(message).unwrap());
    consumer.confirm().unwrap();
    drop(consumer);
    stage.reopen();
    let held = stage.queue().stats("t").unwrap().bytes;
    assert!((100_000..110_000).contains(&held), "{held}: the ten that are left");
    for _ in 0..80 {
        stage.publish("t", &[b'x'; 10_000]);
    }
}

/// A topic of messages of several lengths, with a number for each. Its files take 1, 2, 4, 8 and 16
/// MiB.
fn mixed(options: TopicOptions, parts: &[(usize, usize)]) -> (Stage, u64) {
    let stage = with_topic(TopicOptions { segment_bytes: 16 << 20, ..options });
    for (messages, bytes) in parts {
        (0..*messages).for_each(|_| stage.publish("t", &vec![b'x'; *bytes]));
    }
    let held = stage.queue().stats("t").unwrap().bytes;
    (stage, held)
}

#[test]
fn long_messages_before_short_ones_cost_a_stream_nothing_when_it_is_opened_again() {
    // Were all as long as the first, they would take several times the bound.
    let (mut stage, _) = mixed(stream().bytes_max(48 << 20), &[(220, 100_000), (1_500, 100)]);
    let before = stage.queue().stats("t").unwrap().messages;
    stage.reopen();
    stage.pass(Duration::from_secs(2));
    assert_eq!(stage.queue().stats("t").unwrap().messages, before);
}

#[test]
fn short_messages_before_long_ones_hide_nothing_from_the_bound() {
    let (mut stage, held) = mixed(stream(), &[(151, 100_000), (400, 100), (130, 100_000)]);
    stage.reopen();
    let after = stage.queue().stats("t").unwrap().bytes;
    // A file may end a group before it is full.
    assert!(after + (4 << 20) >= held, "{after} after {held}");
}
