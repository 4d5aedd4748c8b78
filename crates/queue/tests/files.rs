//! When files of messages that nobody needs any more go, and when they must not yet.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod stage;

use rialto_disk::Disk;
use rialto_queue::{Consumer, Delivered, Kind, Publish, QueueError, TopicOptions};
use stage::{Stage, stream, take};
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
    transaction.commit()
}

/// What is done with a job, so that its file is not needed.
type Doing = fn(&Stage, &Consumer, &Delivered) -> Result<(), QueueError>;

/// Does something with the first job and lets time pass; the process dies, or the power fails, before
/// every change of the disk. Says how often the first message is in which topic afterwards, and how
/// many messages the group missed.
fn with_failures(doing: Doing, mut check: impl FnMut(usize, usize, u64, &str)) {
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
    let refused: Doing = |_, consumer, job| consumer.refuse(job, "no");
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
