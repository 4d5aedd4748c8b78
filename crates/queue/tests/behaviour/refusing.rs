//! What continues and what is refused while `set_refusing` is in force.

use crate::stage::{Stage, stream, take, take_payloads};
use rialto_queue::{GroupOptions, Level, Publish, QueueError};

fn is_refused<T>(result: Result<T, QueueError>) -> bool {
    matches!(result.map(drop), Err(QueueError::StorageLow))
}

#[test]
fn new_messages_topics_and_groups_are_refused_while_the_disk_has_little_room() {
    let stage = Stage::new();
    let queue = stage.queue();
    queue.create_topic("t", stream()).unwrap();
    queue.create_topic("memory", stream().level(Level::Memory)).unwrap();
    stage.publish("t", b"before");
    queue.set_refusing(true);
    let producer = queue.producer("t").unwrap();
    assert!(is_refused(producer.send(&Publish::new(b"new"))));
    assert!(is_refused(queue.begin().publish("t", &Publish::new(b"new"))));
    assert!(is_refused(queue.create_topic("u", stream())));
    assert!(is_refused(queue.create_group("t", "g", GroupOptions::default())));
    stage.publish("memory", b"takes no disk");
    assert_eq!(queue.stats("t").unwrap().refused, 1);
    queue.set_refusing(false);
    stage.publish("t", b"after");
    assert_eq!(take_payloads(&stage.consumer("t", "g")), ["before", "after"]);
}

#[test]
fn accepted_messages_are_delivered_acknowledged_purged_and_deleted_meanwhile() {
    let stage = Stage::new();
    let queue = stage.queue();
    queue.create_topic("t", stream()).unwrap();
    stage.publish("t", b"a");
    stage.publish("t", b"b");
    let consumer = stage.consumer("t", "g");
    queue.set_refusing(true);
    let fetched = take(&consumer);
    consumer.ack(&fetched[0]).unwrap();
    consumer.confirm().unwrap();
    let mut transaction = queue.begin();
    transaction.ack(&consumer, &fetched[1]).unwrap();
    transaction.commit().unwrap();
    assert_eq!(queue.purge("t").unwrap(), 2);
    queue.delete_group("t", "g").unwrap();
    queue.delete_topic("t").unwrap();
}

#[test]
fn dead_letters_stay_with_their_group_meanwhile() {
    let mut stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    stage.publish("t", b"a");
    let once = GroupOptions { attempts_max: 1, ..GroupOptions::default() };
    let consumer = stage.consumer_with("t", "g", once);
    stage.queue().set_refusing(true);
    consumer.nack(&take(&consumer)[0], None, "no").unwrap();
    consumer.confirm().unwrap();
    stage.queue().step();
    assert!(stage.queue().stats("t.dead").is_err(), "nor is a topic made for them");
    // A restart takes nothing from it: it is handed out once more, and dies.
    stage.crash();
    stage.queue().step();
    let consumer = stage.queue().consumer("t", "g").unwrap();
    assert!(take(&consumer).is_empty(), "it had its only try");
    stage.queue().step();
    assert_eq!(stage.queue().stats("t.dead").unwrap().messages, 1);
}
