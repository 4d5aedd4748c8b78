//! No two groups of an encrypted queue are ever sealed with the same key and the same nonce: not
//! after a crash at any point, not when it is opened again, not by two copies of a directory.

use rialto_disk::{Disk, SimDisk};
use rialto_queue::{
    Cipher, Compression, GroupOptions, KeyRing, Level, ManualClock, Publish, Queue, QueueError,
    QueueOptions, Timestamp, TopicOptions,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const KEYS: &str = "1: 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const SEGMENT_BYTES: u64 = (1 << 20) + 8192;
const BLOCK: usize = 4096;
/// The offset of the field that marks a recycled file.
const GROUND_AT: usize = 94;

/// A machine with a queue in a directory. Copies have a disk of their own.
struct Machine {
    disk: Arc<SimDisk>,
    salts: Arc<AtomicU64>,
    /// How often it was started, so that no two lives publish the same.
    lives: u64,
}

impl Machine {
    fn new(seed: u64, salts: &Arc<AtomicU64>) -> Self {
        Self { disk: Arc::new(SimDisk::new(seed)), salts: salts.clone(), lives: 0 }
    }

    fn open(&self) -> Result<Queue, QueueError> {
        let salts = self.salts.clone();
        Queue::open_stepped(QueueOptions {
            disk: self.disk.clone(),
            clock: Arc::new(ManualClock::new(Timestamp(1_700_000_000_000_000_000))),
            keys: KeyRing::parse(KEYS, "the test").unwrap(),
            control_segment_bytes: SEGMENT_BYTES,
            salt: Arc::new(move || {
                let count = u128::from(salts.fetch_add(1, Ordering::Relaxed));
                count.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_le_bytes()
            }),
            ..QueueOptions::at("/queue")
        })
    }

    /// Opens the queue, has it do something of everything, and closes it. Fails wherever the
    /// machine goes down.
    fn live(&mut self, who: &str) -> Result<(), QueueError> {
        self.lives += 1;
        let queue = self.open()?;
        let options = |level, compression| TopicOptions {
            segment_bytes: SEGMENT_BYTES,
            compression,
            ..TopicOptions::stream().level(level).encryption(Cipher::Aes256Gcm)
        };
        queue.create_topic("synced", options(Level::Synced, Compression::None))?;
        queue.create_topic("buffered", options(Level::Buffered, Compression::Lz4))?;
        queue.create_group("synced", "g", GroupOptions::default())?;
        let consumer = queue.consumer("synced", "g")?;
        for nth in 0..2 {
            let text = format!("{nth} of life {} of {who}", self.lives).repeat(20);
            for topic in ["synced", "buffered"] {
                let later = Publish::new(text.as_bytes()).delay(Duration::from_secs(60));
                let _ = queue.producer(topic)?.publish(&Publish::new(text.as_bytes()))?;
                let _ = queue.producer(topic)?.publish(&later)?;
            }
            let fetched = consumer.try_fetch(1)?.messages;
            let mut transaction = queue.begin();
            transaction.publish("buffered", &Publish::new(text.as_bytes()))?;
            for message in &fetched {
                transaction.ack(&consumer, message)?;
            }
            transaction.commit()?;
        }
        drop(consumer);
        queue.close()
    }

    /// Opens the queue, and publishes so much that files are dropped and used again. Looks at what is
    /// on the disk after every message, because what was dropped is written over.
    fn recycle(&mut self, who: &str, groups: &mut Groups) -> Result<(), QueueError> {
        self.lives += 1;
        let queue = self.open()?;
        let options = TopicOptions {
            segment_bytes: SEGMENT_BYTES,
            ..TopicOptions::stream().messages_max(2).level(Level::Synced)
        };
        queue.create_topic("full", options.encryption(Cipher::Aes128Gcm))?;
        let producer = queue.producer("full")?;
        for nth in 0..7 {
            let text = format!("{nth} of life {} of {who} ", self.lives).repeat(15_000);
            let _ = producer.publish(&Publish::new(text.as_bytes()))?;
            groups.collect(&self.disk);
        }
        drop(producer);
        queue.close()
    }

    /// The number of recycled files.
    fn used(&self) -> usize {
        let bytes = |path| self.disk.bytes_of(path).unwrap_or_default();
        let files = self.disk.paths();
        let logs = files.iter().filter(|path| path.extension().is_some_and(|it| it == "log"));
        logs.filter(|path| bytes(path).get(GROUND_AT) == Some(&2)).count()
    }

    /// Copies the directory, as a backup might or a cloned machine. The two continue separately.
    fn copy(&self, seed: u64) -> Self {
        let copy = Self { lives: self.lives, ..Self::new(seed, &self.salts) };
        for file in self.disk.paths() {
            copy.disk.create_dir_all(file.parent().unwrap()).unwrap();
            copy.disk.put_bytes(&file, self.disk.bytes_of(&file).unwrap());
        }
        copy
    }
}

/// The key and nonce of a sealed group: salt, epoch, key and number.
type Sealed = ([u8; 16], u64, u64, u64);

/// Every group that was ever sealed, with its header, which has a checksum of what was encrypted.
#[derive(Default)]
struct Groups {
    seen: HashMap<Sealed, Vec<u8>>,
    repeated: Vec<Sealed>,
}

impl Groups {
    /// Records all groups on a disk, whether they belong to a log or were cut from one.
    fn collect(&mut self, disk: &SimDisk) {
        for file in disk.paths() {
            let bytes = disk.bytes_of(&file).unwrap_or_default();
            for block in bytes.chunks_exact(BLOCK).filter(|block| block.starts_with(b"RGRP")) {
                let word = |at: usize| u64::from_le_bytes(block[at..at + 8].try_into().unwrap());
                let (epoch, number, key) = (word(32), word(40), word(88));
                assert!(key != 0, "{} has a group that is not encrypted", file.display());
                let sealed = (block[16..32].try_into().unwrap(), epoch, key, number);
                let header = block[..136].to_vec();
                if *self.seen.entry(sealed).or_insert_with(|| header.clone()) != header {
                    self.repeated.push(sealed);
                }
            }
        }
    }

    fn check(&self, point: u64) {
        assert_eq!(self.repeated, [], "sealed twice, with a crash at change {point}");
    }

    fn salts(&self) -> usize {
        self.seen.keys().map(|sealed| sealed.0).collect::<BTreeSet<_>>().len()
    }
}

/// Crashes a first life at a change, then lets the machine and a copy of it live on.
fn crash_at(point: u64, groups: &mut Groups) -> bool {
    let mut machine = Machine::new(point, &Arc::new(AtomicU64::new(1 + (point << 20))));
    machine.live("the machine").unwrap();
    machine.disk.crash_after(point);
    let has_crashed = machine.live("the machine").is_err();
    assert_eq!(has_crashed, machine.disk.is_down());
    groups.collect(&machine.disk);
    machine.disk.restart();
    let mut copy = machine.copy(point + 1);
    for _ in 0..2 {
        machine.live("the machine").unwrap();
        copy.live("the copy").unwrap();
        groups.collect(&machine.disk);
        groups.collect(&copy.disk);
    }
    has_crashed
}

#[test]
fn no_nonce_is_used_twice_whatever_happens_when() {
    let mut groups = Groups::default();
    let mut point = 0;
    while crash_at(point, &mut groups) {
        groups.check(point);
        point += 1;
    }
    assert!(point > 100, "only {point} crashes");
    assert!(groups.seen.len() > 1_000, "only {} groups", groups.seen.len());
    assert!(groups.salts() > 4 * point as usize, "only {} salts", groups.salts());
}

/// As [`crash_at`], of lives in which files are used again. Returns whether the machine crashed, and
/// how many files had been used before at the end.
fn crash_recycling_at(point: u64, groups: &mut Groups) -> (bool, usize) {
    let mut machine = Machine::new(point, &Arc::new(AtomicU64::new(1 + (point << 20))));
    machine.recycle("the machine", groups).unwrap();
    machine.disk.crash_after(point);
    let has_crashed = machine.recycle("the machine", groups).is_err();
    assert_eq!(has_crashed, machine.disk.is_down());
    groups.collect(&machine.disk);
    machine.disk.restart();
    let mut copy = machine.copy(point + 1);
    machine.recycle("the machine", groups).unwrap();
    copy.recycle("the copy", groups).unwrap();
    (has_crashed, machine.used() + copy.used())
}

#[test]
fn no_nonce_is_used_twice_in_files_that_are_used_again() {
    let mut groups = Groups::default();
    let (mut point, mut crashes) = (0, 0);
    loop {
        let (has_crashed, used) = crash_recycling_at(point, &mut groups);
        groups.check(point);
        assert!(used >= 2, "no file was used again, with a crash at change {point}");
        if !has_crashed {
            break;
        }
        crashes += 1;
        // Coprime to what the queue does for each file, so that each change comes in time.
        point += 7;
    }
    assert!(crashes > 10, "only {crashes} crashes");
}

#[test]
fn copies_that_draw_the_same_salts_would_be_found_out() {
    let mut machine = Machine::new(1, &Arc::new(AtomicU64::new(1)));
    machine.live("the machine").unwrap();
    let mut copy = machine.copy(2);
    copy.salts = Arc::new(AtomicU64::new(machine.salts.load(Ordering::Relaxed)));
    machine.live("the machine").unwrap();
    copy.live("the copy").unwrap();
    let mut groups = Groups::default();
    groups.collect(&machine.disk);
    groups.collect(&copy.disk);
    assert!(!groups.repeated.is_empty());
}
