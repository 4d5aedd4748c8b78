//! Transactions: all or nothing, whatever happens.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod stage;

use rialto_queue::{Level, Publish, QueueError};
use stage::{Stage, stream, take, take_payloads};
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
    transaction.commit()
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
    // The one that nobody has yet could still be acknowledged, the other could not.
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
