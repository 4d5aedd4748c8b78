//! As many topics of a queue, and groups of a topic, as there may be: one more is refused, and room comes
//! back.

use crate::stage::{Stage, stream, take_payloads};
use rialto_queue::{GROUPS_MAX, GroupOptions, QueueError, TOPICS_MAX};
use std::time::{Duration, Instant};

/// Many times what it takes.
const OPENING_MAX: Duration = Duration::from_secs(30);

fn is_one_too_many(refused: Result<(), QueueError>, what: &str, max: usize) -> bool {
    matches!(refused, Err(QueueError::TooMany { what: it, limit }) if it == what && limit == max)
}

#[test]
fn as_many_topics_as_there_may_be_are_created_and_opened_again() {
    let mut stage = Stage::new();
    let create = |stage: &Stage, nth: usize| {
        stage.queue().create_topic(&format!("t{nth}"), stream().priorities(2))
    };
    let began = Instant::now();
    (0..TOPICS_MAX).for_each(|nth| create(&stage, nth).unwrap());
    println!("created in {:?}", began.elapsed());
    assert!(is_one_too_many(create(&stage, TOPICS_MAX), "topics", TOPICS_MAX));
    create(&stage, 0).unwrap();
    stage.publish("t1", b"kept");
    stage.queue().delete_topic("t0").unwrap();
    create(&stage, TOPICS_MAX).unwrap();
    assert!(is_one_too_many(create(&stage, 0), "topics", TOPICS_MAX));

    let began = Instant::now();
    stage.crash();
    let took = began.elapsed();
    println!("opened in {took:?}");
    assert!(took < OPENING_MAX, "{took:?}");
    assert_eq!(stage.queue().topics().len(), TOPICS_MAX);
    assert!(is_one_too_many(create(&stage, 0), "topics", TOPICS_MAX));
    stage.publish(&format!("t{TOPICS_MAX}"), b"new");
    assert_eq!(take_payloads(&stage.consumer("t1", "g")), ["kept"]);
    assert_eq!(take_payloads(&stage.consumer(&format!("t{TOPICS_MAX}"), "g")), ["new"]);
}

#[test]
fn as_many_groups_as_there_may_be_are_created_and_opened_again() {
    let mut stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    stage.publish("t", b"for all");
    let create = |stage: &Stage, nth: usize| {
        stage.queue().create_group("t", &format!("g{nth}"), GroupOptions::default())
    };
    let began = Instant::now();
    (0..GROUPS_MAX).for_each(|nth| create(&stage, nth).unwrap());
    println!("created in {:?}", began.elapsed());
    assert!(is_one_too_many(create(&stage, GROUPS_MAX), "groups", GROUPS_MAX));
    create(&stage, 0).unwrap();
    stage.queue().delete_group("t", "g0").unwrap();
    create(&stage, GROUPS_MAX).unwrap();

    let began = Instant::now();
    stage.crash();
    let took = began.elapsed();
    println!("opened in {took:?}");
    assert!(took < OPENING_MAX, "{took:?}");
    assert!(is_one_too_many(create(&stage, 0), "groups", GROUPS_MAX));
    let last = stage.queue().consumer("t", &format!("g{GROUPS_MAX}")).unwrap();
    assert_eq!(take_payloads(&last), ["for all"]);
}
