//! A process with producers, consumers and transactions on a real directory, which is killed, again
//! and again, without warning.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_queue::{
    Consumer, DeliveryOrder, GroupOptions, Level, Publish, Queue, QueueError, QueueOptions,
    TopicOptions,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The variable that makes the program the process to be killed, with the directory.
const HOME: &str = "RIALTO_QUEUE_SIGKILL_HOME";
/// The variable with the number of earlier kills.
const LIFE: &str = "RIALTO_QUEUE_SIGKILL_LIFE";
const KILLS: u64 = 20;
/// Kills stop after this time on a slow machine; fewer than half a dozen are a failure.
const KILLING_MAX: Duration = Duration::from_secs(12);

/// A file outside of the queue, to which everything that was promised adds a line in one write.
fn promises(home: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(home.join("promises")).unwrap()
}

fn promise(mut file: &File, what: &str, number: &str) {
    file.write_all(format!("{what} {number}\n").as_bytes()).unwrap();
}

fn open(home: &Path) -> Queue {
    let queue = Queue::open(QueueOptions::at(home.join("queue"))).unwrap();
    let options = TopicOptions { segment_bytes: 4 << 20, ..TopicOptions::work_queue() };
    // A process that is killed loses nothing that was confirmed at either level.
    queue.create_topic("in", options.clone().level(Level::Buffered)).unwrap();
    queue.create_topic("out", options).unwrap();
    let group =
        GroupOptions { order: DeliveryOrder::PerKey, attempts_max: 0, ..GroupOptions::default() };
    queue.create_group("in", "g", group.clone()).unwrap();
    queue.create_group("out", "end", group).unwrap();
    queue
}

/// Publishes numbers that no life has published before.
fn produce(queue: &Queue, life: u64, next: &AtomicU64, promised: &File) -> Result<(), QueueError> {
    let producer = queue.producer("in")?;
    loop {
        let number = format!("{life}.{}", next.fetch_add(1, Ordering::Relaxed));
        let key = [b"a", b"b", b"c"][number.len() % 3];
        let receipt = producer.send(&Publish::new(number.as_bytes()).key(key))?;
        receipt.wait()?;
        promise(promised, "published", &number);
    }
}

/// Acknowledges every second message, and passes the others on in a transaction.
fn consume(queue: &Queue, promised: &File) -> Result<(), QueueError> {
    let consumer = queue.consumer("in", "g")?;
    let mut count = 0;
    loop {
        for message in consumer.fetch(8, Duration::from_secs(1))?.messages {
            let number = String::from_utf8(message.payload().to_vec()).unwrap();
            count += 1;
            if count % 2 == 0 {
                consumer.ack(&message)?;
                consumer.confirm()?;
                promise(promised, "done", &number);
            } else {
                let mut transaction = queue.begin();
                transaction.ack(&consumer, &message)?;
                transaction.publish("out", &Publish::new(number.as_bytes()))?;
                transaction.commit()?;
                promise(promised, "passed", &number);
            }
        }
    }
}

/// The process to be killed. As a test of its own it has nothing to do.
#[test]
fn the_process_that_is_killed() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let home = Path::new(&home);
    let life: u64 = std::env::var(LIFE).unwrap().parse().unwrap();
    let (queue, next) = (open(home), AtomicU64::new(0));
    let promised = promises(home);
    std::thread::scope(|scope| {
        let producers: Vec<_> =
            (0..3).map(|_| scope.spawn(|| produce(&queue, life, &next, &promised))).collect();
        let consumers: Vec<_> =
            (0..2).map(|_| scope.spawn(|| consume(&queue, &promised))).collect();
        for thread in producers.into_iter().chain(consumers) {
            // Runs until it is killed.
            thread.join().unwrap().unwrap();
        }
    });
}

fn lines(home: &Path) -> usize {
    let text = std::fs::read(home.join("promises")).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

fn live_and_die(home: &Path, life: u64) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_process_that_is_killed", "--test-threads=1"])
        .env(HOME, home)
        .env(LIFE, life.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Some more promises each time, so that it dies in its start as well as in full flight.
    let until = lines(home) + (life as usize * 37) % 211;
    let began = Instant::now();
    while lines(home) < until && began.elapsed() < KILLING_MAX {
        assert!(child.try_wait().unwrap().is_none(), "the process has ended by itself");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Every message that a consumer can still get, with its count.
fn drain(consumer: &Consumer) -> BTreeMap<String, u32> {
    let mut got = BTreeMap::new();
    loop {
        let messages = consumer.fetch(1_000, Duration::from_millis(200)).unwrap().messages;
        if messages.is_empty() {
            return got;
        }
        for message in &messages {
            let number = String::from_utf8(message.payload().to_vec()).unwrap();
            *got.entry(number).or_insert(0) += 1;
        }
        assert_eq!(consumer.ack_all(&messages), []);
    }
}

#[test]
fn guarantees_hold_however_often_the_process_is_killed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let began = Instant::now();
    let mut kills = 0;
    while kills < KILLS && began.elapsed() < KILLING_MAX {
        live_and_die(home, kills);
        kills += 1;
    }
    assert!(kills >= 6, "only {kills} kills in {KILLING_MAX:?}");
    let queue = open(home);
    let left = drain(&queue.consumer("in", "g").unwrap());
    let out = drain(&queue.consumer("out", "end").unwrap());
    let text = std::fs::read_to_string(home.join("promises")).unwrap();
    let said = |what: &str| -> BTreeSet<&str> {
        text.lines().filter_map(|line| line.strip_prefix(what)?.strip_prefix(' ')).collect()
    };
    let (published, done, passed) = (said("published"), said("done"), said("passed"));
    assert!(published.len() > 100, "only {} were published", published.len());
    for number in done.iter().chain(&passed) {
        assert!(!left.contains_key(*number), "{number} was acknowledged and came again");
    }
    for number in &passed {
        assert_eq!(out.get(*number), Some(&1), "{number} was passed on");
    }
    for (number, count) in out.iter().chain(&left) {
        assert_eq!(*count, 1, "{number} is there {count} times");
    }
    let is_known =
        |it: &&&str| left.contains_key(**it) || out.contains_key(**it) || done.contains(**it);
    let unknown = published.len() - published.iter().filter(is_known).count();
    // Each of the two consumers can have been killed between acknowledging a message and recording
    // it.
    assert!(unknown <= kills as usize * 2, "{unknown} are lost in {kills} kills");
    queue.close().unwrap();
}
