//! After a disk failure the control log is restarted when there is room again. Until then no
//! message is delivered that could not be acknowledged, and nothing is confirmed.

use crate::stage::{Stage, stream, take_payloads};
use rialto_disk::Faults;
use rialto_queue::{Consumer, Delivered, GroupOptions, Level, Publish, QueueError};
use std::path::Path;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Longer than the lease of a message that was handed out and not heard of.
const LEASE: Duration = Duration::from_secs(31);

fn failing(stage: &Stage, fails: bool) {
    stage.disk.set_faults(Faults { read_only: fails, ..Faults::default() });
}

fn is_failed<T>(result: Result<T, QueueError>) -> bool {
    matches!(result.map(drop), Err(QueueError::ControlFailed(_)))
}

/// A topic with three messages, of which a consumer has the first.
fn with_one_in_hand() -> (Stage, Consumer, Delivered) {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    stage.queue().create_topic("out", stream()).unwrap();
    ["a", "b", "c"].iter().for_each(|payload| stage.publish("t", payload.as_bytes()));
    let consumer = stage.consumer("t", "g");
    stage.pass(SECOND);
    let first = consumer.try_fetch(1).unwrap().messages.remove(0);
    (stage, consumer, first)
}

/// Everything of a topic, as a new group sees it.
fn all(stage: &Stage, topic: &str) -> Vec<String> {
    take_payloads(&stage.consumer(topic, "look"))
}

#[test]
fn nothing_is_delivered_or_acknowledged_while_the_control_log_cannot_be_written() {
    let (stage, consumer, first) = with_one_in_hand();
    failing(&stage, true);
    consumer.ack(&first).unwrap();
    assert!(is_failed(consumer.confirm()));
    assert!(is_failed(consumer.try_fetch(1)));
    assert!(is_failed(consumer.ack(&first)));
    assert!(is_failed(consumer.nack(&first, None, "")));
    assert_eq!(consumer.ack_all([&first]), [first.id()]);
    assert_eq!(consumer.ack_through(&first), 0);
    assert!(is_failed(stage.queue().create_topic("u", stream())));
    let why = stage.queue().failure().unwrap();
    assert!(why.contains("/queue/control"), "{why}");
    assert!(stage.queue().stats("t").unwrap().failed.is_some());
}

#[test]
fn the_control_log_is_recreated_when_the_disk_works_again() {
    let (mut stage, consumer, first) = with_one_in_hand();
    failing(&stage, true);
    consumer.ack(&first).unwrap();
    assert!(is_failed(consumer.confirm()));
    stage.pass(5 * SECOND);
    assert!(stage.queue().failure().is_some());
    failing(&stage, false);
    stage.pass(SECOND);
    assert_eq!(stage.queue().failure(), None);
    assert_eq!(stage.queue().stats("t").unwrap().failed, None);
    let second = consumer.try_fetch(1).unwrap().messages.remove(0);
    assert_eq!(second.payload(), b"b");
    consumer.ack(&second).unwrap();
    consumer.confirm().unwrap();
    stage.queue().create_topic("u", stream()).unwrap();
    drop(consumer);
    stage.crash();
    stage.pass(LEASE);
    assert_eq!(take_payloads(&stage.consumer("t", "g")), ["c"]);
    assert_eq!(stage.queue().topics().len(), 3);
}

#[test]
fn refused_requests_during_a_failure_have_no_effect() {
    let (mut stage, consumer, first) = with_one_in_hand();
    drop((consumer, first));
    // The record reaches the disk in part, or whole, and is not known to be there.
    stage.disk.fail_write(1);
    assert!(is_failed(stage.queue().create_topic("u", stream().priorities(2))));
    stage.pass(SECOND);
    assert_eq!(stage.queue().failure(), None);
    stage.queue().create_topic("u", stream()).unwrap();
    stage.publish("u", b"kept");
    stage.crash();
    assert_eq!(stage.queue().options("u").unwrap().priorities, 1);
    assert_eq!(all(&stage, "u"), ["kept"]);
}

#[test]
fn a_transaction_with_a_lost_answer_takes_effect_atomically_and_once() {
    for fault in 0..3 {
        let (mut stage, consumer, first) = with_one_in_hand();
        match fault {
            0 => stage.disk.fail_write(1),
            1 => stage.disk.fail_sync(1),
            _ => failing(&stage, true),
        }
        let mut transaction = stage.queue().begin();
        transaction.numbered("p", 1).unwrap().ack(&consumer, &first).unwrap();
        transaction.publish("out", &Publish::new(b"made of a")).unwrap();
        assert!(is_failed(transaction.commit()), "fault {fault}");
        failing(&stage, false);
        stage.pass(SECOND);
        stage.pass(SECOND);
        assert_eq!(all(&stage, "out"), ["made of a"], "fault {fault}");
        drop(consumer);
        for crash in 0..2 {
            stage.crash();
            stage.pass(LEASE);
            let mut again = stage.queue().begin();
            assert!(again.numbered("p", 1).unwrap().is_known());
            assert_eq!(take_payloads(&stage.consumer("t", "g")), ["b", "c"], "crash {crash}");
            stage.queue().create_group("out", "after", GroupOptions::default()).unwrap();
            let after = stage.queue().consumer("out", "after").unwrap();
            assert_eq!(take_payloads(&after), ["made of a"], "fault {fault}, crash {crash}");
        }
    }
}

#[test]
fn a_topic_is_well_when_only_the_control_log_failed() {
    let (stage, consumer, _) = with_one_in_hand();
    let _ = stage
        .queue()
        .producer("t")
        .unwrap()
        .send(&Publish::new(b"later").delay(2 * SECOND))
        .unwrap();
    stage.pass(SECOND);
    stage.disk.fail_write(1);
    assert!(is_failed(stage.queue().create_topic("u", stream())));
    stage.pass(SECOND / 2);
    stage.pass(2 * SECOND);
    stage.pass(SECOND);
    stage.publish("t", b"d");
    assert_eq!(take_payloads(&consumer), ["b", "c", "later", "d"]);
}

fn control_bytes(stage: &Stage) -> usize {
    let is_control = |path: &std::path::PathBuf| path.starts_with(Path::new("/queue/control"));
    let paths = stage.disk.paths().into_iter().filter(is_control);
    paths.map(|path| stage.disk.bytes_of(&path).unwrap().len()).sum()
}

#[test]
fn a_topic_that_failed_does_not_keep_the_control_log_from_being_cut() {
    let mut stage = Stage::new();
    for (name, level) in [("sick", Level::Buffered), ("well", Level::Synced)] {
        stage.queue().create_topic(name, stream().level(level)).unwrap();
    }
    let mut transaction = stage.queue().begin();
    transaction.publish("sick", &Publish::new(b"first")).unwrap();
    transaction.publish("sick", &Publish::new(b"second")).unwrap();
    // The record is synced, and then the topic is to be written.
    stage.disk.fail_write(2);
    transaction.commit().unwrap();
    stage.pass(SECOND / 10);
    assert!(stage.queue().stats("sick").unwrap().failed.is_some());
    let payload = vec![7; 900_000];
    for _ in 0..40 {
        let mut transaction = stage.queue().begin();
        transaction.publish("well", &Publish::new(&payload)).unwrap();
        transaction.commit().unwrap();
        stage.pass(SECOND / 10);
    }
    let bytes = control_bytes(&stage);
    assert!(bytes < 24 << 20, "the control log holds {bytes} bytes");
    for _ in 0..2 {
        stage.crash();
        stage.pass(SECOND);
        assert_eq!(all(&stage, "sick"), ["first", "second"]);
        stage.queue().delete_group("sick", "look").unwrap();
    }
}
