//! Consumer groups: deliveries and redeliveries.

use crate::stage::{Stage, payloads, stream, take, take_payloads};
use rialto_queue::{
    BatchOptions, Batcher, DeadLetter, Delivery, DeliveryOrder, GroupOptions, Level, MessageId,
    Publish, QueueError, Sharing, Start, dead_header,
};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn with_topic(messages: &[&str]) -> Stage {
    let stage = Stage::new();
    stage.queue().create_topic("jobs", stream()).unwrap();
    for message in messages {
        stage.publish("jobs", message.as_bytes());
    }
    stage
}

#[test]
fn consumers_of_a_group_share_and_groups_each_get_all() {
    let stage = with_topic(&["a", "b", "c", "d"]);
    let (one, two) = (stage.consumer("jobs", "g"), stage.consumer("jobs", "g"));
    let first = one.try_fetch(2).unwrap().messages;
    assert_eq!(payloads(&first), ["a", "b"]);
    assert_eq!(take_payloads(&two), ["c", "d"]);
    assert_eq!(take_payloads(&stage.consumer("jobs", "other")), ["a", "b", "c", "d"]);
}

#[test]
fn a_message_is_redelivered_after_its_deadline() {
    let stage = with_topic(&["a"]);
    let consumer = stage.consumer("jobs", "g");
    assert_eq!(take(&consumer)[0].attempt(), 1);
    stage.pass(29 * SECOND);
    assert!(take(&consumer).is_empty());
    stage.pass(SECOND);
    assert_eq!(take(&consumer)[0].attempt(), 2);
}

#[test]
fn a_deadline_can_be_moved() {
    let stage = with_topic(&["a"]);
    let consumer = stage.consumer("jobs", "g");
    let message = take(&consumer).remove(0);
    stage.pass(20 * SECOND);
    consumer.extend(&message).unwrap();
    stage.pass(20 * SECOND);
    assert!(take(&consumer).is_empty());
    consumer.ack(&message).unwrap();
}

#[test]
fn an_acknowledgement_counts_until_the_message_is_redelivered() {
    let stage = with_topic(&["a", "b"]);
    let consumer = stage.consumer("jobs", "g");
    let messages = take(&consumer);
    stage.pass(30 * SECOND);
    consumer.ack(&messages[0]).unwrap();
    assert_eq!(take_payloads(&consumer), ["b"]);
    let late = consumer.ack(&messages[1]);
    assert!(matches!(late, Err(QueueError::LeaseLost(id)) if id == messages[1].id()));
}

#[test]
fn a_nacked_message_is_redelivered_after_its_delay() {
    let stage = with_topic(&["a", "b"]);
    let consumer = stage.consumer("jobs", "g");
    let messages = take(&consumer);
    consumer.nack(&messages[0], Some(5 * SECOND), "later").unwrap();
    consumer.nack(&messages[1], None, "again").unwrap();
    assert_eq!(take_payloads(&consumer), ["b"]);
    stage.pass(5 * SECOND);
    assert_eq!(take_payloads(&consumer), ["a"]);
}

#[test]
fn after_the_last_attempt_a_message_becomes_a_dead_letter_with_the_reason() {
    let stage = with_topic(&["poison", "good"]);
    let options = GroupOptions { attempts_max: 2, ..GroupOptions::default() };
    let consumer = stage.consumer_with("jobs", "g", options);
    for attempt in 1..=2 {
        let messages = take(&consumer);
        assert_eq!(messages[0].attempt(), attempt);
        consumer.nack(&messages[0], None, "it is bad").unwrap();
        if let Some(good) = messages.get(1) {
            consumer.ack(good).unwrap();
        }
    }
    stage.queue().step();
    assert!(take(&consumer).is_empty());
    let dead = take(&stage.consumer("jobs.dead", "look")).remove(0);
    let header = |name| std::str::from_utf8(dead.header(name).unwrap()).unwrap().to_owned();
    assert_eq!(dead.payload(), b"poison");
    assert_eq!(header(dead_header::REASON), "rejected");
    assert_eq!(header(dead_header::DETAIL), "it is bad");
    assert_eq!(header(dead_header::TOPIC), "jobs");
    assert_eq!(header(dead_header::GROUP), "g");
    assert_eq!(header(dead_header::ID), "0:1");
    assert_eq!(header(dead_header::ATTEMPTS), "2");
}

#[test]
fn a_refused_message_is_dead_lettered_at_once_and_may_be_dropped() {
    let stage = with_topic(&["a"]);
    let options = GroupOptions { dead_letter: DeadLetter::Drop, ..GroupOptions::default() };
    let consumer = stage.consumer_with("jobs", "g", options);
    consumer.refuse(&take(&consumer)[0], "no").unwrap();
    stage.pass(60 * SECOND);
    assert!(take(&consumer).is_empty());
    assert_eq!(stage.queue().stats("jobs").unwrap().groups[0].counts.dead, 1);
    assert_eq!(stage.queue().topics().len(), 1);
}

#[test]
fn messages_of_one_key_are_worked_on_one_at_a_time_and_in_order() {
    let stage = with_topic(&[]);
    for (key, payload) in [("x", "x1"), ("x", "x2"), ("y", "y1"), ("", "free"), ("x", "x3")] {
        stage.send("jobs", &Publish::new(payload.as_bytes()).key(key.as_bytes()));
    }
    let options = GroupOptions { order: DeliveryOrder::PerKey, ..GroupOptions::default() };
    let (one, two) = (
        stage.consumer_with("jobs", "g", options.clone()),
        stage.consumer_with("jobs", "g", options),
    );
    let first = one.try_fetch(1).unwrap().messages;
    assert_eq!(payloads(&first), ["x1"]);
    assert_eq!(take_payloads(&two), ["y1", "free"]);
    // A failure holds the key up, and nothing of it overtakes.
    one.nack(&first[0], Some(SECOND), "").unwrap();
    assert!(take(&two).is_empty());
    stage.pass(SECOND);
    let again = take(&two);
    assert_eq!(payloads(&again), ["x1"]);
    two.ack(&again[0]).unwrap();
    let next = take(&one);
    assert_eq!(payloads(&next), ["x2"]);
    one.ack(&next[0]).unwrap();
    assert_eq!(take_payloads(&two), ["x3"]);
}

#[test]
fn a_single_active_consumer_is_followed_by_the_next() {
    let stage = with_topic(&["a", "b"]);
    let options = GroupOptions { sharing: Sharing::SingleActive, ..GroupOptions::default() };
    let one = stage.consumer_with("jobs", "g", options.clone());
    let two = stage.consumer_with("jobs", "g", options);
    assert!(take(&two).is_empty());
    assert_eq!(payloads(&one.try_fetch(1).unwrap().messages), ["a"]);
    drop(one);
    assert_eq!(take_payloads(&two), ["a", "b"]);
}

#[test]
fn at_most_once_messages_are_never_redelivered() {
    let mut stage = with_topic(&["a"]);
    let options = GroupOptions { delivery: Delivery::AtMostOnce, ..GroupOptions::default() };
    assert_eq!(take_payloads(&stage.consumer_with("jobs", "g", options.clone())), ["a"]);
    stage.crash();
    assert!(take(&stage.consumer_with("jobs", "g", options)).is_empty());
}

#[test]
fn a_filter_passes_over_what_it_does_not_hold_for() {
    let stage = with_topic(&["none"]);
    for region in ["eu-west", "us-east"] {
        let message = Publish::new(region.as_bytes()).header("region", region.as_bytes());
        stage.send("jobs", &message);
    }
    let filter = Some("region^=eu".parse().unwrap());
    let consumer =
        stage.consumer_with("jobs", "g", GroupOptions { filter, ..GroupOptions::default() });
    assert_eq!(take_payloads(&consumer), ["eu-west"]);
    assert_eq!(stage.queue().stats("jobs").unwrap().groups[0].counts.filtered, 2);
}

#[test]
fn expired_messages_are_not_delivered() {
    let stage = with_topic(&[]);
    stage.send("jobs", &Publish::new(b"short").expires_after(SECOND));
    stage.send("jobs", &Publish::new(b"long").expires_after(60 * SECOND));
    stage.pass(2 * SECOND);
    assert_eq!(take_payloads(&stage.consumer("jobs", "g")), ["long"]);
}

#[test]
fn a_group_can_begin_anywhere() {
    let stage = with_topic(&["a"]);
    stage.pass(SECOND);
    let time = rialto_queue::Clock::now(&stage.clock);
    stage.publish("jobs", b"b");
    let starts = [
        (Start::Oldest, vec!["a", "b", "c"]),
        (Start::At(time), vec!["b", "c"]),
        (Start::Seq(2), vec!["b", "c"]),
        (Start::Next, vec!["c"]),
    ];
    let consumers: Vec<_> = (0..)
        .zip(&starts)
        .map(|(nth, (start, _))| {
            let options = GroupOptions { start: *start, ..GroupOptions::default() };
            stage.consumer_with("jobs", &format!("g{nth}"), options)
        })
        .collect();
    stage.publish("jobs", b"c");
    for (consumer, (start, expected)) in consumers.iter().zip(&starts) {
        assert_eq!(&take_payloads(consumer), expected, "{start:?}");
    }
}

#[test]
fn higher_priorities_go_first_and_each_keeps_its_order() {
    let stage = Stage::new();
    stage.queue().create_topic("jobs", stream().priorities(3)).unwrap();
    for (priority, payload) in [(0, "l1"), (2, "h1"), (1, "m1"), (2, "h2"), (0, "l2")] {
        stage.send("jobs", &Publish::new(payload.as_bytes()).priority(priority));
    }
    let consumer = stage.consumer("jobs", "g");
    assert_eq!(take_payloads(&consumer), ["h1", "h2", "m1", "l1", "l2"]);
    let producer = stage.queue().producer("jobs").unwrap();
    let too_high = producer.send(&Publish::new(b"x").priority(3));
    assert!(matches!(too_high, Err(QueueError::Message(_))));
}

#[test]
fn acknowledging_up_to_a_message_takes_what_this_consumer_has() {
    let stage = with_topic(&["a", "b", "c"]);
    let (one, two) = (stage.consumer("jobs", "g"), stage.consumer("jobs", "g"));
    let first = one.try_fetch(1).unwrap().messages;
    let second = two.try_fetch(1).unwrap().messages;
    let third = one.try_fetch(1).unwrap().messages;
    assert_eq!(one.ack_through(&third[0]), 2);
    assert!(one.ack(&first[0]).is_err());
    two.ack(&second[0]).unwrap();
    assert_eq!(stage.queue().stats("jobs").unwrap().groups[0].lag, 0);
}

#[test]
fn a_group_of_other_options_is_not_the_same_group() {
    let stage = with_topic(&[]);
    stage.queue().create_group("jobs", "g", GroupOptions::default()).unwrap();
    let other = GroupOptions { attempts_max: 9, ..GroupOptions::default() };
    let created = stage.queue().create_group("jobs", "g", other);
    assert!(matches!(created, Err(QueueError::GroupExists { .. })));
    assert!(matches!(
        stage.queue().consumer("jobs", "nobody"),
        Err(QueueError::UnknownGroup { .. })
    ));
    stage.queue().delete_group("jobs", "g").unwrap();
    assert!(stage.queue().consumer("jobs", "g").is_err());
}

#[test]
fn everything_works_in_memory_too() {
    let stage = Stage::new();
    stage.queue().create_topic("jobs", stream().level(Level::Memory)).unwrap();
    stage.publish("jobs", b"a");
    let options = GroupOptions { attempts_max: 1, ..GroupOptions::default() };
    let consumer = stage.consumer_with("jobs", "g", options);
    consumer.nack(&take(&consumer)[0], None, "").unwrap();
    assert_eq!(take_payloads(&stage.consumer("jobs.dead", "look")), ["a"]);
}

#[test]
fn looking_ahead_takes_nothing() {
    let stage = with_topic(&["a", "b", "c", "d"]);
    let consumer = stage.consumer("jobs", "g");
    let held = consumer.try_fetch(2).unwrap().messages;
    consumer.nack(&held[1], None, "").unwrap();
    let peeked: Vec<_> = consumer.peek(2).unwrap().iter().map(|it| it.payload().to_vec()).collect();
    assert_eq!(peeked, [b"b", b"c"]);
    assert_eq!(take_payloads(&consumer), ["b", "c", "d"]);
}

#[test]
fn a_batcher_publishes_by_count_by_bytes_and_by_time() {
    let stage = with_topic(&[]);
    let options = BatchOptions { messages_max: 3, bytes_max: 100, linger: 3600 * SECOND };
    let mut batcher = Batcher::new(stage.queue().producer("jobs").unwrap(), options);
    for payload in ["1", "2", "3", "4"] {
        batcher.add(b"key", payload.as_bytes(), 0).unwrap();
    }
    assert_eq!(batcher.waiting(), 1);
    batcher.add(b"", &[b'x'; 100], 0).unwrap();
    assert_eq!(batcher.waiting(), 0);
    batcher.add(b"", b"last", 0).unwrap();
    batcher.flush().unwrap();
    let at_once = BatchOptions { linger: Duration::ZERO, ..options };
    let mut hasty = Batcher::new(stage.queue().producer("jobs").unwrap(), at_once);
    hasty.add(b"", b"hasty", 0).unwrap();
    assert_eq!(hasty.waiting(), 0);
    hasty.flush().unwrap();
    let all = take(&stage.consumer("jobs", "g"));
    assert_eq!(all[0].key(), b"key");
    let lengths: Vec<_> = all.iter().map(|it| it.payload().len()).collect();
    assert_eq!(lengths, [1, 1, 1, 1, 100, 4, 5]);
}

#[test]
fn a_waiting_consumer_is_woken_when_the_message_before_is_settled() {
    let queue = rialto_queue::Queue::open(rialto_queue::QueueOptions::in_memory()).unwrap();
    queue.create_topic("t", rialto_queue::TopicOptions::stream()).unwrap();
    let options = GroupOptions { order: DeliveryOrder::PerKey, ..GroupOptions::default() };
    queue.create_group("t", "g", options).unwrap();
    let producer = queue.producer("t").unwrap();
    for payload in [b"1", b"2"] {
        let _ = producer.send(&Publish::new(payload).key(b"k")).unwrap();
    }
    let (one, two) = (queue.consumer("t", "g").unwrap(), queue.consumer("t", "g").unwrap());
    let first = one.fetch(1, Duration::ZERO).unwrap().messages;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| two.fetch(1, 20 * SECOND).unwrap().messages);
        one.ack(&first[0]).unwrap();
        assert_eq!(payloads(&waiting.join().unwrap()), ["2"]);
    });
}

#[test]
fn a_message_nacked_twice_is_redelivered_after_the_last_delay() {
    let stage = with_topic(&["a"]);
    let consumer = stage.consumer("jobs", "g");
    let first = take(&consumer).remove(0);
    consumer.nack(&first, Some(10 * SECOND), "").unwrap();
    consumer.nack(&first, None, "").unwrap();
    let second = take(&consumer).remove(0);
    consumer.nack(&second, Some(60 * SECOND), "").unwrap();
    stage.pass(20 * SECOND);
    assert!(take(&consumer).is_empty(), "it was handed out when the first rest was over");
    stage.pass(40 * SECOND);
    assert_eq!(take(&consumer)[0].attempt(), 3);
}

#[test]
fn higher_priorities_are_redelivered_first_too() {
    let stage = Stage::new();
    stage.queue().create_topic("jobs", stream().priorities(2)).unwrap();
    for (priority, payload) in [(0, "low"), (1, "high")] {
        stage.send("jobs", &Publish::new(payload.as_bytes()).priority(priority));
    }
    let consumer = stage.consumer("jobs", "g");
    for message in take(&consumer) {
        consumer.nack(&message, None, "").unwrap();
    }
    stage.send("jobs", &Publish::new(b"new").priority(1));
    assert_eq!(take_payloads(&consumer), ["high", "new", "low"]);
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits with one consumer while another looks when a message has rested long enough.
fn is_woken_though_another_looked_first(sharing: Sharing, messages: &[&str]) -> bool {
    let stage = with_topic(messages);
    let options = GroupOptions { sharing, ..GroupOptions::default() };
    let one = stage.consumer_with("jobs", "g", options);
    let two = stage.queue().consumer("jobs", "g").unwrap();
    for message in take(&one) {
        one.nack(&message, Some(SECOND), "").unwrap();
    }
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut context = Context::from_waker(&waker);
    let mut waiting = pin!(one.next(10));
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    stage.clock.advance(SECOND);
    let _one_of_them = two.try_fetch(1).unwrap();
    stage.queue().step();
    let is_woken = count.0.load(Ordering::Relaxed) > 0;
    assert!(waiting.as_mut().poll(&mut context).is_ready(), "there is something for it");
    is_woken
}

#[test]
fn a_waiter_is_woken_when_another_found_the_state_first() {
    assert!(is_woken_though_another_looked_first(Sharing::SingleActive, &["a"]));
    assert!(is_woken_though_another_looked_first(Sharing::Competing, &["a", "b"]));
}

#[test]
fn a_message_without_a_lease_cannot_be_settled() {
    let stage = with_topic(&[]);
    for payload in [b"1", b"2"] {
        stage.send("jobs", &Publish::new(payload).key(b"k"));
    }
    let options = GroupOptions { order: DeliveryOrder::PerKey, ..GroupOptions::default() };
    let consumer = stage.consumer_with("jobs", "g", options);
    let first = take(&consumer).remove(0);
    consumer.ack(&first).unwrap();
    // The second waited for the first, and may be handed out now.
    let second = MessageId { seq: 2, ..first.id() };
    let is_lost = |result| matches!(result, Err(QueueError::LeaseLost(_)));
    assert!(is_lost(consumer.ack_lease(second, 0)));
    assert!(is_lost(consumer.refuse_lease(second, 0, "")));
    assert_eq!(consumer.ack_leases(&[(second, 0)]), [second]);
    assert_eq!(take_payloads(&consumer), ["2"]);
}

#[test]
fn a_message_is_settled_by_the_consumer_that_has_it() {
    let stage = with_topic(&["a", "b"]);
    let (one, two) = (stage.consumer("jobs", "g"), stage.consumer("jobs", "g"));
    let [a, b] = &take(&one)[..] else { panic!("there are two") };
    let is_lost = |result| matches!(result, Err(QueueError::LeaseLost(_)));
    assert!(is_lost(two.ack(a)));
    assert!(is_lost(two.nack(a, None, "")));
    assert!(is_lost(two.refuse(a, "")));
    assert!(is_lost(two.extend(a)));
    one.ack(a).unwrap();
    // It left the group: its messages may be delivered to, and acknowledged by, any consumer.
    let b = b.clone();
    drop(one);
    two.ack(&b).unwrap();
    assert_eq!(stage.queue().stats("jobs").unwrap().groups[0].lag, 0);
}

#[test]
fn dropped_messages_do_not_count_as_lag() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream().priorities(2)).unwrap();
    let consumer = stage.consumer("t", "g");
    let lag = || stage.queue().stats("t").unwrap().groups[0].lag;
    stage.publish("t", b"a");
    stage.send("t", &Publish::new(b"b").priority(1));
    assert_eq!(lag(), 2);
    stage.queue().purge("t").unwrap();
    assert_eq!(lag(), 0);
    stage.publish("t", b"new");
    assert_eq!(lag(), 1);
    assert_eq!(take_payloads(&consumer), ["new"]);
}
