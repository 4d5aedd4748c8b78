//! Transactions: all or nothing, across failures.

use crate::stage::{Stage, stream, take, take_payloads};
use rialto_queue::{Committed, Level, Publish, Queue, QueueError, QueueOptions};
use std::time::Duration;

fn stage() -> Stage {
    let stage = Stage::new();
    stage.queue().create_topic("in", stream()).unwrap();
    stage.queue().create_topic("out", stream()).unwrap();
    stage.queue().create_topic("log", stream().level(Level::Buffered)).unwrap();
    stage.publish("in", b"order");
    stage
}

fn pass_on(stage: &Stage) -> Result<(), QueueError> {
    let consumer = stage.consumer("in", "g");
    let messages = take(&consumer);
    let mut transaction = stage.queue().begin();
    transaction.ack(&consumer, &messages[0])?;
    transaction.publish("out", &Publish::new(b"done"))?;
    transaction.publish("log", &Publish::new(b"noted"))?;
    transaction.commit().map(drop)
}

#[test]
fn a_committed_transaction_has_its_whole_effect_once_though_the_power_fails() {
    let mut stage = stage();
    pass_on(&stage).unwrap();
    for _ in 0..3 {
        stage.crash();
        assert!(take(&stage.consumer("in", "g")).is_empty());
        assert_eq!(take_payloads(&stage.consumer("out", "look")), ["done"]);
        assert_eq!(take_payloads(&stage.consumer("log", "look")), ["noted"]);
        stage.queue().delete_group("out", "look").unwrap();
        stage.queue().delete_group("log", "look").unwrap();
    }
}

#[test]
fn a_transaction_that_is_dropped_has_no_effect() {
    let stage = stage();
    let consumer = stage.consumer("in", "g");
    let messages = take(&consumer);
    let mut transaction = stage.queue().begin();
    transaction.ack(&consumer, &messages[0]).unwrap();
    transaction.publish("out", &Publish::new(b"done")).unwrap();
    drop(transaction);
    assert!(take(&stage.consumer("out", "look")).is_empty());
    consumer.ack(&messages[0]).unwrap();
}

#[test]
fn a_transaction_over_a_message_that_another_has_by_now_has_no_effect() {
    let stage = stage();
    let (one, two) = (stage.consumer("in", "g"), stage.consumer("in", "g"));
    let lost = take(&one).remove(0);
    stage.pass(Duration::from_secs(30));
    let held = take(&two).remove(0);
    let mut late = stage.queue().begin();
    late.ack(&one, &lost).unwrap();
    late.publish("out", &Publish::new(b"late")).unwrap();
    assert!(matches!(late.commit(), Err(QueueError::LeaseLost(_))));
    let mut good = stage.queue().begin();
    good.ack(&two, &held).unwrap();
    good.publish("out", &Publish::new(b"good")).unwrap();
    good.commit().unwrap();
    assert_eq!(take_payloads(&stage.consumer("out", "look")), ["good"]);
}

#[test]
fn delayed_and_committed_messages_count_as_published_once() {
    for level in [Level::Memory, Level::Synced] {
        let mut stage = Stage::new();
        stage.queue().create_topic("t", stream().level(level)).unwrap();
        let later = Publish::new(b"later").delay(Duration::from_secs(1));
        stage.send("t", &later);
        let mut transaction = stage.queue().begin();
        transaction.publish("t", &Publish::new(b"now")).unwrap();
        transaction.publish("t", &later).unwrap();
        transaction.commit().unwrap();
        for _ in 0..3 {
            stage.pass(Duration::from_secs(1));
        }
        let stats = stage.queue().stats("t").unwrap();
        assert_eq!((stats.messages, stats.delayed, stats.published_messages), (3, 0, 3));
        if level == Level::Synced {
            // Messages of transactions still in the control log are not published again.
            stage.kill();
            assert_eq!(stage.queue().stats("t").unwrap().published_messages, 0);
        }
    }
}

#[test]
fn a_transaction_is_bounded() {
    let stage = stage();
    let mut transaction = stage.queue().begin();
    let payload = vec![1; 300_000];
    let mut added = 0;
    let refused = loop {
        match transaction.publish("out", &Publish::new(&payload)) {
            Ok(_) => added += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, QueueError::TransactionTooLarge { parts: 4, .. }), "{refused}");
    assert_eq!(added, 3);
    transaction.commit().unwrap();
    assert_eq!(take(&stage.consumer("out", "look")).len(), 3);
}

#[test]
fn a_transaction_that_fails_gives_back_what_it_had_reserved() {
    let stage = stage();
    stage.publish("in", b"second");
    let (one, two) = (stage.consumer("in", "g"), stage.consumer("in", "g"));
    let held = take(&one);
    stage.pass(Duration::from_secs(30));
    let taken = two.try_fetch(1).unwrap().messages;
    let mut late = stage.queue().begin();
    // The message that was not redelivered could still be acknowledged, the other could not.
    for message in held.iter().rev() {
        late.ack(&one, message).unwrap();
    }
    assert!(matches!(late.commit(), Err(QueueError::LeaseLost(id)) if id == taken[0].id()));
    assert_eq!(take_payloads(&two), ["second"]);
}

#[test]
fn a_transaction_that_fails_leaves_leases_as_they_were() {
    let stage = stage();
    stage.publish("in", b"second");
    let (one, two) = (stage.consumer("in", "g"), stage.consumer("in", "g"));
    let held = take(&one);
    one.nack(&held[1], Some(Duration::from_secs(10)), "later").unwrap();
    stage.publish("in", b"third");
    let third = take(&one).remove(0);
    one.ack(&third).unwrap();
    let mut vain = stage.queue().begin();
    for message in [&held[0], &held[1], &third] {
        vain.ack(&one, message).unwrap();
    }
    assert!(matches!(vain.commit(), Err(QueueError::LeaseLost(id)) if id == third.id()));
    assert!(take(&two).is_empty(), "what another has, or what rests, was handed out");
    one.ack(&held[0]).unwrap();
    stage.pass(Duration::from_secs(10));
    assert_eq!(take_payloads(&two), ["second"]);
}

#[test]
fn a_transaction_over_a_message_that_another_consumer_has_is_refused() {
    let stage = stage();
    let (one, two) = (stage.consumer("in", "g"), stage.consumer("in", "g"));
    let held = take(&one).remove(0);
    let commit = |consumer| {
        let mut transaction = stage.queue().begin();
        transaction.ack(consumer, &held).unwrap();
        transaction.publish("out", &Publish::new(b"done")).unwrap();
        transaction.commit()
    };
    assert!(matches!(commit(&two), Err(QueueError::LeaseLost(id)) if id == held.id()));
    one.extend(&held).unwrap();
    assert!(take(&stage.consumer("out", "look")).is_empty());
    drop(one);
    // Its holder left and it was not redelivered: any consumer of the group may acknowledge it.
    commit(&two).unwrap();
}

#[test]
fn a_transaction_takes_no_message_of_a_group_that_is_gone_or_of_another_queue() {
    let stage = stage();
    let consumer = stage.consumer("in", "g");
    let held = take(&consumer).remove(0);
    let other = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
    let refused = other.begin().ack(&consumer, &held).map(drop);
    assert!(matches!(refused, Err(QueueError::LeaseLost(_))), "{refused:?}");
    let mut transaction = stage.queue().begin();
    transaction.ack(&consumer, &held).unwrap();
    transaction.publish("out", &Publish::new(b"done")).unwrap();
    stage.queue().delete_group("in", "g").unwrap();
    let refused = transaction.commit();
    assert!(matches!(refused, Err(QueueError::UnknownGroup { .. })), "{refused:?}");
    assert!(take(&stage.consumer("out", "look")).is_empty());
}

/// Publishes on two topics under a number.
fn note(queue: &Queue, number: u64) -> Result<Committed, QueueError> {
    let text = number.to_string();
    let mut transaction = queue.begin();
    transaction.numbered("worker", number)?;
    transaction.publish("out", &Publish::new(text.as_bytes()))?;
    transaction.publish("log", &Publish::new(text.as_bytes()))?;
    transaction.commit()
}

#[test]
fn a_numbered_transaction_is_committed_once() {
    let mut stage = stage();
    assert_eq!(note(stage.queue(), 5).unwrap(), Committed::Now);
    for _ in 0..3 {
        assert_eq!(note(stage.queue(), 5).unwrap(), Committed::Before);
        assert_eq!(note(stage.queue(), 4).unwrap(), Committed::Before);
        // Every opening writes a checkpoint and drops the records before it.
        stage.reopen();
    }
    assert_eq!(note(stage.queue(), 9).unwrap(), Committed::Now);
    let mut other = stage.queue().begin();
    other.numbered("another", 1).unwrap();
    other.publish("out", &Publish::new(b"other")).unwrap();
    assert_eq!(other.commit().unwrap(), Committed::Now);
    assert_eq!(take_payloads(&stage.consumer("out", "look")), ["5", "9", "other"]);
}

#[test]
fn a_numbered_transaction_stays_known_after_its_topics_are_deleted() {
    let mut stage = stage();
    let consumer = stage.consumer("in", "g");
    let held = take(&consumer).remove(0);
    let commit = |stage: &Stage| {
        let mut transaction = stage.queue().begin();
        transaction.numbered("worker", 5)?;
        transaction.ack(&consumer, &held)?;
        transaction.publish("out", &Publish::new(b"passed on"))?;
        transaction.commit()
    };
    assert_eq!(commit(&stage).unwrap(), Committed::Now);
    stage.queue().delete_group("in", "g").unwrap();
    assert_eq!(commit(&stage).unwrap(), Committed::Before);
    stage.queue().delete_topic("out").unwrap();
    assert_eq!(commit(&stage).unwrap(), Committed::Before);
    drop((consumer, held));
    stage.reopen();
    let mut again = stage.queue().begin();
    again.numbered("worker", 5).unwrap();
    assert!(again.is_known());
    again.publish("out", &Publish::new(b"passed on")).unwrap();
    assert_eq!(again.commit().unwrap(), Committed::Before);
    let mut next = stage.queue().begin();
    next.numbered("worker", 6).unwrap();
    assert!(!next.is_known());
    let refused = next.publish("out", &Publish::new(b"next")).map(drop);
    assert!(matches!(refused, Err(QueueError::UnknownTopic(_))), "{refused:?}");
}

#[test]
fn a_transaction_that_failed_leaves_its_number_free() {
    let stage = stage();
    let consumer = stage.consumer("in", "g");
    let held = take(&consumer).remove(0);
    consumer.ack(&held).unwrap();
    let mut vain = stage.queue().begin();
    vain.numbered("worker", 5).unwrap();
    vain.ack(&consumer, &held).unwrap();
    assert!(matches!(vain.commit(), Err(QueueError::LeaseLost(_))));
    assert_eq!(note(stage.queue(), 5).unwrap(), Committed::Now);
    for name in ["", &"x".repeat(256)] {
        let refused = stage.queue().begin().numbered(name, 1).map(drop);
        assert!(matches!(refused, Err(QueueError::TransactionProducer { .. })), "{refused:?}");
    }
}

#[test]
fn numbers_of_what_was_only_in_memory_are_forgotten_with_it() {
    let mut stage = stage();
    let fresh = |stage: &Stage| {
        let mut transaction = stage.queue().begin();
        transaction.numbered("worker", 1).unwrap();
        transaction.publish("fleeting", &Publish::new(b"x")).unwrap();
        transaction.commit().unwrap()
    };
    stage.queue().create_topic("fleeting", stream().level(Level::Memory)).unwrap();
    assert_eq!(fresh(&stage), Committed::Now);
    assert_eq!(fresh(&stage), Committed::Before);
    stage.reopen();
    assert_eq!(fresh(&stage), Committed::Now);
}

#[test]
fn a_retried_numbered_transaction_takes_effect_once() {
    let mut confirmed_early = 0;
    for after in 0.. {
        let mut stage = Stage::with_seed(after + 1);
        for topic in ["out", "log"] {
            let level = if topic == "out" { Level::Synced } else { Level::Buffered };
            stage.queue().create_topic(topic, stream().level(level)).unwrap();
        }
        note(stage.queue(), 1).unwrap();
        stage.disk.crash_after(after);
        let first = note(stage.queue(), 2);
        let is_over = !stage.disk.is_down();
        confirmed_early += u64::from(first.is_ok());
        stage.crash();
        let again = note(stage.queue(), 2).unwrap();
        if first.is_ok() {
            assert_eq!(again, Committed::Before, "after {after}: what was confirmed was lost");
        }
        stage.crash();
        stage.queue().step();
        for topic in ["out", "log"] {
            let payloads = take_payloads(&stage.consumer(topic, "look"));
            assert_eq!(payloads, ["1", "2"], "after {after}: {topic}, where it came to {again:?}");
        }
        if is_over {
            assert!(after > 2 && confirmed_early > 0, "nothing failed within {after} operations");
            return;
        }
    }
}
