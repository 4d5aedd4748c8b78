//! When files of unneeded messages are deleted, and when they must not be yet.

use crate::stage::{Stage, stream, take};
use rialto_disk::Disk;
use rialto_queue::{
    Consumer, Delivered, Kind, Level, Publish, QueueError, Read, Start, TopicOptions,
};
use std::path::Path;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// So large that each message takes a file of its own.
const LARGE: usize = 700_000;

fn files(stage: &Stage) -> Vec<String> {
    let mut files = stage.disk.list(Path::new("/queue/topics/000001/lane-0")).unwrap();
    files.retain(|name| name.ends_with(".log"));
    files
}

fn large(first: u8) -> Vec<u8> {
    vec![first; LARGE]
}

/// A work queue of three messages in a file each, beside topics for what becomes of them.
fn with_three() -> Stage {
    let stage = Stage::new();
    let jobs = TopicOptions { kind: Kind::WorkQueue, ..stream() };
    stage.queue().create_topic("jobs", jobs).unwrap();
    stage.queue().create_topic("jobs.dead", stream()).unwrap();
    stage.queue().create_topic("done", stream()).unwrap();
    for first in [1, 2, 3] {
        stage.publish("jobs", &large(first));
    }
    stage
}

fn passes_on(stage: &Stage, consumer: &Consumer, job: &Delivered) -> Result<(), QueueError> {
    let mut transaction = stage.queue().begin();
    transaction.publish("done", &Publish::new(job.payload()))?;
    transaction.ack(consumer, job)?;
    transaction.commit().map(drop)
}

/// Settles a job, so that its file is not needed.
type SettleJob = fn(&Stage, &Consumer, &Delivered) -> Result<(), QueueError>;

/// Does something with the first job and lets time pass; the process dies, or the power fails,
/// before every change of the disk. Returns how often the first message is in each topic
/// afterwards, and how many messages the group missed.
fn with_failures(doing: SettleJob, mut check: impl FnMut(usize, usize, u64, &str)) {
    for (is_killed, name) in [(false, "power"), (true, "process")] {
        for after in 0.. {
            let mut stage = with_three();
            let consumer = stage.consumer("jobs", "g");
            let job = take(&consumer).remove(0);
            stage.clock.advance(2 * SECOND);
            stage.disk.crash_after(after);
            let result = doing(&stage, &consumer, &job);
            for _ in 0..3 {
                stage.pass(2 * SECOND);
            }
            let was_down = stage.disk.is_down();
            assert!(result.is_ok() || was_down, "{result:?}");
            drop((consumer, job));
            if is_killed {
                stage.kill()
            } else {
                stage.crash()
            }
            // What a transaction brings is written now.
            stage.queue().step();
            let count = |topic| {
                let fetched = stage.consumer(topic, "g").try_fetch(10).unwrap();
                let is_first = |it: &&Delivered| it.payload() == large(1);
                (fetched.messages.iter().filter(is_first).count(), fetched.missed)
            };
            let (left, missed) = count("jobs");
            let moved = count("jobs.dead").0 + count("done").0;
            check(left, moved, missed, &format!("the {name} failed after {after} changes"));
            if !was_down {
                assert!(after > 3, "nothing was written");
                break;
            }
        }
    }
}

#[test]
fn a_message_that_moves_to_another_topic_is_always_in_one() {
    let refused: SettleJob = |_, consumer, job| consumer.refuse(job, "no");
    for doing in [refused, passes_on] {
        with_failures(doing, |left, moved, missed, when| {
            assert_eq!(left + moved, 1, "{left} in its topic and {moved} elsewhere: {when}");
            assert_eq!(missed, 0, "{when}");
        });
    }
}

#[test]
fn a_group_misses_nothing_that_it_was_done_with() {
    with_failures(
        |_, consumer, job| consumer.ack(job),
        |left, moved, missed, when| {
            assert!(left <= 1 && moved == 0, "{when}");
            assert_eq!(missed, 0, "{when}");
        },
    );
}

#[test]
fn files_go_when_the_groups_of_a_work_queue_are_done_with_them() {
    let mut stage = with_three();
    let consumer = stage.consumer("jobs", "g");
    let jobs = take(&consumer);
    assert_eq!(files(&stage).len(), 3);
    for (nth, job) in jobs[..2].iter().enumerate() {
        consumer.ack(job).unwrap();
        stage.pass(2 * SECOND);
        stage.pass(2 * SECOND);
        assert_eq!(files(&stage).len(), 2 - nth, "{nth}");
    }
    drop((consumer, jobs));
    stage.reopen();
    let consumer = stage.consumer("jobs", "g");
    stage.publish("jobs", &large(4));
    assert_eq!(files(&stage).len(), 2);
    take(&consumer).iter().for_each(|job| consumer.ack(job).unwrap());
    stage.publish("jobs", &large(5));
    stage.pass(2 * SECOND);
    stage.pass(2 * SECOND);
    assert_eq!(files(&stage).len(), 1);
}

/// Publishes so much that everything goes which there was before, and its files with it.
fn publish_and_let_go(stage: &Stage) {
    for _ in 0..40 {
        stage.publish("jobs", &large(9));
    }
    stage.pass(2 * SECOND);
    // Ten messages take at most ten files here, and one is in the making.
    let files = files(stage);
    assert!(files.len() <= 11, "{files:?}");
}

#[test]
fn an_idle_reader_keeps_no_files() {
    for level in [Level::Buffered, Level::Synced] {
        let mut stage = Stage::new();
        // Nothing stays in memory, so that everything is read from files.
        let options = TopicOptions { recent_bytes_max: 0, ..stream() };
        stage.queue().create_topic("jobs", options.messages_max(10).level(level)).unwrap();
        for first in 1..=5 {
            stage.publish("jobs", &large(first));
        }
        stage.reopen();
        let consumer = stage.consumer("jobs", "g");
        let held = consumer.try_fetch(2).unwrap().messages;
        consumer.nack(&held[0], None, "").unwrap();
        assert_eq!(consumer.try_fetch(1).unwrap().messages[0].id(), held[0].id());
        let mut reader = stage.queue().reader("jobs", Start::Oldest).unwrap();
        assert!(matches!(reader.try_next().unwrap(), Some(Read::Message(_))));
        publish_and_let_go(&stage);
        // They get the messages that are left and the number missed, which includes the two that
        // were outstanding.
        assert_eq!(held[1].payload(), large(2));
        let fetched = consumer.try_fetch(100).unwrap();
        assert_eq!((fetched.missed, fetched.messages.len()), (35, 10), "{level}");
        let missed = reader.try_next().unwrap();
        assert!(matches!(missed, Some(Read::Missed { messages: 34, .. })), "{missed:?}");
    }
}

#[test]
fn a_retry_that_was_read_from_a_file_does_not_keep_those_behind_it() {
    let stage = Stage::new();
    let jobs = TopicOptions { kind: Kind::WorkQueue, recent_bytes_max: 0, ..stream() };
    stage.queue().create_topic("jobs", jobs).unwrap();
    let consumer = stage.consumer("jobs", "g");
    stage.publish("jobs", &large(1));
    stage.publish("jobs", &large(2));
    consumer.nack(&take(&consumer)[0], None, "").unwrap();
    for first in 3..20 {
        stage.publish("jobs", &large(first));
        take(&consumer).iter().for_each(|job| consumer.ack(job).unwrap());
        stage.pass(40 * SECOND);
    }
    take(&consumer).iter().for_each(|job| consumer.ack(job).unwrap());
    stage.pass(2 * SECOND);
    stage.pass(2 * SECOND);
    let files = files(&stage);
    assert!(files.len() <= 2, "{files:?}");
}
