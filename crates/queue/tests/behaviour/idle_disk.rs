//! The disk space of topics besides their messages, and after they are deleted.

use crate::stage::{Stage, stream, take_payloads};
use rialto_disk::Disk;
use rialto_queue::{Level, Publish, QueueError, TopicOptions};
use std::path::Path;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const IDLE_BYTES_MAX: usize = 64 << 10;

fn topic_bytes(stage: &Stage, topic: &str) -> usize {
    let dir = Path::new("/queue/topics").join(topic);
    let paths = stage.disk.paths().into_iter().filter(|path| path.starts_with(&dir));
    paths.map(|path| stage.disk.bytes_of(&path).unwrap().len()).sum()
}

fn idle(stage: &Stage) {
    (0..15).for_each(|_| stage.pass(SECOND));
}

#[test]
fn an_idle_topic_takes_little_beside_its_messages() {
    for level in [Level::Buffered, Level::Synced] {
        let mut stage = Stage::new();
        stage.queue().create_topic("t", stream().level(level)).unwrap();
        let payload = vec![7; 100_000];
        let delayed = Publish::new(b"later").delay(3600 * SECOND);
        // What is written at once takes whole blocks, and one more when the log falls idle behind it.
        let (mut messages, stored) = (0, payload.len().next_multiple_of(4096) + 3 * 4096);
        for round in 0..3 {
            stage.publish("t", &payload);
            stage.send("t", &delayed);
            messages += stored;
            idle(&stage);
            let bytes = topic_bytes(&stage, "000001");
            assert!(bytes < messages + IDLE_BYTES_MAX, "{level}, round {round}: {bytes}");
        }
        stage.kill();
        assert!(topic_bytes(&stage, "000001") < messages + IDLE_BYTES_MAX, "{level}: killed");
        stage.publish("t", b"last");
        stage.crash();
        // It was written just before the power failed, so that it had a whole file.
        assert!(topic_bytes(&stage, "000001") < messages + 2 * IDLE_BYTES_MAX, "{level}: crashed");
        assert_eq!(take_payloads(&stage.consumer("t", "g")).len(), 4, "{level}");
    }
}

#[test]
fn a_topic_reserves_little_more_than_was_written() {
    const MIB: usize = 1 << 20;
    let options = || TopicOptions { segment_bytes: 64 << 20, ..TopicOptions::stream() };
    for level in [Level::Buffered, Level::Synced] {
        let stage = Stage::new();
        stage.queue().create_topic("t", options().priorities(16).level(level)).unwrap();
        for priority in 0..16 {
            stage.send("t", &Publish::new(b"short").priority(priority));
        }
        let bytes = topic_bytes(&stage, "000001");
        assert!(bytes <= 16 * (MIB + IDLE_BYTES_MAX), "{level}: a MiB for each: {bytes}");

        stage.queue().create_topic("u", options().level(level)).unwrap();
        let payload = vec![7; 512 << 10];
        let mut written = 0;
        for _ in 0..40 {
            stage.publish("u", &payload);
            written += payload.len();
            let bytes = topic_bytes(&stage, "000002");
            assert!(bytes <= 4 * (written + MIB), "{level}: {bytes} for {written}");
        }
        assert_eq!(stage.queue().stats("u").unwrap().messages, 40, "{level}");
    }
}

#[test]
fn a_queue_that_was_closed_leaves_its_logs_at_rest() {
    for level in [Level::Buffered, Level::Synced] {
        let stage = Stage::new();
        stage.queue().create_topic("t", stream().level(level)).unwrap();
        stage.publish("t", b"a");
        stage.queue().close().unwrap();
        let bytes = topic_bytes(&stage, "000001");
        assert!(bytes < IDLE_BYTES_MAX, "{level}: {bytes}");
    }
}

#[test]
fn a_topic_that_rests_is_written_again_and_loses_nothing_whatever_fails() {
    for level in [Level::Buffered, Level::Synced] {
        for operations in 0..60 {
            let mut stage = Stage::with_seed(operations);
            stage.queue().create_topic("t", stream().level(level)).unwrap();
            stage.publish("t", b"a");
            stage.disk.crash_after(operations);
            idle(&stage);
            let is_sent = |payload| {
                let producer = stage.queue().producer("t").unwrap();
                let sent = producer.send(&Publish::new(payload));
                sent.and_then(|receipt| receipt.wait_at(Level::Synced)).is_ok()
            };
            let is_sent = is_sent(b"b");
            stage.crash();
            let found = take_payloads(&stage.consumer("t", "g"));
            let expected = if is_sent { vec!["a", "b"] } else { vec!["a"] };
            assert!(
                found.starts_with(&expected.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
                    || (level == Level::Buffered && operations < 10 && found.is_empty()),
                "{level}, crash after {operations}: {found:?}, {is_sent}"
            );
        }
    }
}

#[test]
fn a_topic_with_a_failed_deletion_is_removed_completely() {
    let mut stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    stage.queue().create_topic("other", stream()).unwrap();
    stage.publish("t", b"a");
    stage.publish("other", b"kept");
    stage.disk.fail_write(1);
    let sent = stage.queue().producer("t").unwrap().publish(&Publish::new(b"b")).map(drop);
    assert!(matches!(sent, Err(QueueError::Failed { .. })));
    let _ = stage.queue().delete_topic("t");
    assert_eq!(topic_bytes(&stage, "000001"), 0);
    // Only the directory still shows files that could not be removed then.
    stage.disk.create_dir_all(Path::new("/queue/topics/000001/lane-0")).unwrap();
    stage.disk.put_bytes(Path::new("/queue/topics/000001/lane-0/HEAD"), vec![1; 8192]);
    stage.reopen();
    assert_eq!(topic_bytes(&stage, "000001"), 0);
    assert_eq!(take_payloads(&stage.consumer("other", "g")), ["kept"]);
}

#[test]
fn an_idle_topic_becomes_idle_again_after_retention() {
    let mut stage = Stage::new();
    stage.queue().create_topic("t", stream().max_age(60 * SECOND)).unwrap();
    stage.publish("t", &vec![7; 100_000]);
    stage.reopen();
    idle(&stage);
    stage.pass(60 * SECOND);
    idle(&stage);
    assert_eq!(stage.queue().stats("t").unwrap().messages, 0);
    let bytes = topic_bytes(&stage, "000001");
    assert!(bytes < IDLE_BYTES_MAX, "{bytes} bytes are left");
}
