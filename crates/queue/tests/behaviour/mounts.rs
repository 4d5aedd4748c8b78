//! External logs, read as topics.

use crate::stage::{Stage, stream, take, take_payloads};
use rialto_disk::{Access, Disk, SimDisk};
use rialto_log::{Commit, Group, Options, Sealing, Segments, Writer};
use rialto_queue::packed::{Packed, pack_fetched};
use rialto_queue::{
    DEAD_SUFFIX, DeliveryOrder, Fetched, GroupOptions, Level, Mount, MountedLog, Publish,
    QueueError, Read, Start, Timestamp, TopicOptions, dead_header,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// An owner that keeps facts in a log and derives another from it, as the writer of an event log
/// does.
struct Owner {
    disk: Arc<SimDisk>,
    salts: u8,
    truth: Writer,
    made: Writer,
}

const TRUTH: &str = "/owner/truth";
const MADE: &str = "/owner/made";
const TOPIC: &str = "facts";

fn group(first: u64, records: &[Vec<u8>]) -> Group {
    let mut group = Group::new(1 << 20);
    group.begin(first);
    for record in records {
        group.append(record).unwrap();
    }
    group
}

/// A record that says when it was made, and something.
fn record(seq: u64, word: &str) -> Vec<u8> {
    [&(seq * 1_000).to_le_bytes()[..], format!("{word}-{seq}").as_bytes()].concat()
}

fn time_of(record: &[u8]) -> Timestamp {
    Timestamp(record.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
}

fn word(record: &[u8]) -> String {
    String::from_utf8(record[8..].to_vec()).unwrap()
}

fn words(messages: &[rialto_queue::Delivered]) -> Vec<String> {
    messages.iter().map(|message| word(message.payload())).collect()
}

fn expected(word: &str, seqs: impl IntoIterator<Item = u64>) -> Vec<String> {
    seqs.into_iter().map(|seq| format!("{word}-{seq}")).collect()
}

impl Owner {
    fn open(disk: &Arc<SimDisk>, salts: u8) -> Self {
        let log = |dir: &str, salt| {
            disk.create_dir_all(Path::new(dir)).unwrap();
            let options = Options { segment_bytes: (1 << 20) + 4096, ..Options::new([salt; 16]) };
            rialto_log::open(disk.clone(), Path::new(dir), options).unwrap().0
        };
        let (truth, made) = (log(TRUTH, salts), log(MADE, salts + 1));
        let mut owner = Self { disk: disk.clone(), salts: salts + 2, truth, made };
        owner.complete();
        owner
    }

    /// Derives the missing records.
    fn complete(&mut self) {
        let mut reader =
            rialto_log::Reader::open(&self.truth.segments(), self.made.next_seq()).unwrap();
        while let Some(view) = reader.next_group().unwrap() {
            let records: Vec<_> = view.records().map(|(_, bytes)| bytes.to_vec()).collect();
            let mut group = group(view.first_seq(), &records);
            self.made.write(&mut group, Commit::Written).unwrap();
        }
    }

    fn again(self) -> Self {
        let Self { disk, salts, truth, made } = self;
        truth.close().unwrap();
        made.close().unwrap();
        Self::open(&disk, salts)
    }

    /// Dies with what `kill` does.
    fn killed(self, kill: impl FnOnce()) -> Self {
        let Self { disk, salts, truth, made } = self;
        drop((truth, made));
        kill();
        Self::open(&disk, salts)
    }

    fn write(&mut self, word: &str, records: u64, commit: Commit) {
        let first = self.truth.next_seq();
        let records: Vec<_> = (first..first + records).map(|seq| record(seq, word)).collect();
        self.truth.write(&mut group(first, &records), commit).unwrap();
        self.made.write(&mut group(first, &records), Commit::Written).unwrap();
    }

    fn last(&self) -> u64 {
        self.made.next_seq() - 1
    }

    fn made(&self) -> Segments {
        self.made.segments()
    }

    fn log(&self) -> MountedLog {
        MountedLog {
            segments: self.made(),
            made_of: Some(self.truth.segments()),
            copied_from: Vec::new(),
            level: Level::Synced,
            sealing: Sealing::NONE,
            visible: self.last(),
            content_type: "application/x-fact",
            time_of,
        }
    }

    fn mount(&self, stage: &Stage) -> Mount {
        stage.queue().mount(TOPIC, self.log()).unwrap()
    }
}

fn delete_made(disk: &SimDisk) {
    for file in disk.list(Path::new(MADE)).unwrap() {
        disk.remove(&Path::new(MADE).join(file)).unwrap();
    }
}

/// The files of a directory, and what is in them.
fn copy_of(disk: &SimDisk, dir: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let read = |name: String| {
        let path = Path::new(dir).join(name);
        let file = disk.open(&path, Access::Read).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_full_at(0, &mut bytes).unwrap();
        (path, bytes)
    };
    disk.list(Path::new(dir)).unwrap().into_iter().map(read).collect()
}

fn put_back(disk: &SimDisk, files: &[(PathBuf, Vec<u8>)]) {
    for dir in [TRUTH, MADE] {
        for file in disk.list(Path::new(dir)).unwrap() {
            disk.remove(&Path::new(dir).join(file)).unwrap();
        }
    }
    for (path, bytes) in files {
        disk.create(path, Access::Buffered).unwrap().write_all_at(0, bytes).unwrap();
    }
}

fn stage() -> (Stage, Owner) {
    with_seed(7)
}

fn with_seed(seed: u64) -> (Stage, Owner) {
    let stage = Stage::with_seed(seed);
    let owner = Owner::open(&stage.disk, 1);
    (stage, owner)
}

fn ack(consumer: &rialto_queue::Consumer, messages: &[rialto_queue::Delivered]) {
    assert_eq!(consumer.ack_all(messages), []);
    consumer.confirm().unwrap();
}

#[test]
fn records_of_an_external_log_are_read_by_readers_and_groups_up_to_its_mark() {
    let (stage, mut owner) = stage();
    owner.write("a", 3, Commit::Synced);
    let mount = owner.mount(&stage);
    let consumer = stage.consumer(TOPIC, "g");
    let mut reader = stage.queue().reader(TOPIC, Start::Oldest).unwrap();
    let messages = take(&consumer);
    assert_eq!(words(&messages), expected("a", 1..=3));
    assert_eq!(messages[1].published_at(), Timestamp(2_000));
    assert_eq!(messages[1].content_type(), "application/x-fact");
    assert_eq!((messages[1].key(), messages[1].headers().count()), (&[][..], 0));
    let bytes: Vec<u8> = pack_fetched(&Fetched { messages, missed: 0 }, 7)
        .iter()
        .flat_map(|piece| piece.as_ref().to_vec())
        .collect();
    let packed = Packed::read(&bytes).unwrap();
    let packed: Vec<_> = packed
        .messages()
        .map(|it| {
            (it.id().seq, it.published_at(), word(it.payload()), it.content_type().to_owned())
        })
        .collect();
    let told = |seq| (seq, Timestamp(seq * 1_000), format!("a-{seq}"), "application/x-fact".into());
    assert_eq!(packed, [told(1), told(2), told(3)]);
    owner.write("a", 2, Commit::Synced);
    assert_eq!(words(&take(&consumer)), [""; 0], "nothing beyond the announced end");
    mount.advance(owner.last());
    assert_eq!(words(&take(&consumer)), expected("a", 4..=5));
    let mut read = Vec::new();
    while let Some(Read::Message(message)) = reader.try_next().unwrap() {
        read.push(word(message.payload()));
    }
    assert_eq!(read, expected("a", 1..=5));
    let stats = stage.queue().stats(TOPIC).unwrap();
    assert_eq!((stats.messages, stats.mounted, stats.published_messages), (5, Some(true), 2));
    assert_eq!(stats.groups[0].lag, 5);
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_waiting_caller_is_woken() {
    let (stage, mut owner) = stage();
    let mount = owner.mount(&stage);
    let consumer = stage.consumer(TOPIC, "g");
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut context = Context::from_waker(&waker);
    let mut waiting = pin!(consumer.next(10));
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    owner.write("a", 2, Commit::Synced);
    assert_eq!(count.0.load(Ordering::Relaxed), 0, "nobody was told yet");
    mount.advance(owner.last());
    assert!(count.0.load(Ordering::Relaxed) > 0);
    let Poll::Ready(fetched) = waiting.poll(&mut context) else { panic!("there are two") };
    assert_eq!(words(&fetched.unwrap().messages), expected("a", 1..=2));
}

#[test]
fn groups_keep_their_positions_after_a_rebuild_of_the_log() {
    let (mut stage, mut owner) = stage();
    owner.write("a", 10, Commit::Synced);
    let _mount = owner.mount(&stage);
    let consumer = stage.consumer(TOPIC, "g");
    let messages = take(&consumer);
    ack(&consumer, &messages[..4]);
    ack(&consumer, &messages[6..7]);
    drop((consumer, messages));
    stage.reopen();
    // The one that is made is thrown away, and another comes in its place.
    let Owner { disk, salts, truth, made } = owner;
    truth.close().unwrap();
    made.close().unwrap();
    delete_made(&disk);
    let owner = Owner::open(&disk, salts);
    let mount = owner.mount(&stage);
    assert_eq!(mount.rewound(), []);
    let consumer = stage.queue().consumer(TOPIC, "g").unwrap();
    assert_eq!(words(&take(&consumer)), expected("a", [5, 6, 8, 9, 10]));
}

#[test]
fn progress_on_lost_records_is_forgotten_when_their_numbers_are_reused() {
    let lost: Vec<_> = (1..=8).map(lose_the_tail).collect();
    assert!(lost.iter().any(|lost| (1..5).contains(lost)), "{lost:?}");
}

/// Returns how many records were lost.
fn lose_the_tail(seed: u64) -> u64 {
    let (mut stage, mut owner) = with_seed(seed);
    owner.write("a", 5, Commit::Synced);
    for _ in 0..5 {
        owner.write("lost", 1, Commit::Written);
    }
    let _mount = owner.mount(&stage);
    let consumer = stage.consumer(TOPIC, "g");
    ack(&consumer, &take(&consumer));
    drop(consumer);
    // Without the queue, the owner continues and gives the numbers again.
    let disk = owner.disk.clone();
    let mut owner = owner.killed(|| {
        stage.crash();
        delete_made(&disk);
    });
    let kept = owner.last();
    owner.write("new", 20, Commit::Synced);
    let mut owner = owner.again();
    owner.write("new", 1, Commit::Synced);
    let mount = owner.mount(&stage);
    let rewound: Vec<_> =
        mount.rewound().iter().map(|it| (it.group.to_string(), it.next)).collect();
    let expected_back = (kept < 10).then(|| ("g".to_owned(), kept + 1));
    assert_eq!(rewound, Vec::from_iter(expected_back), "seed {seed}");
    // The process dies before anything else is written.
    let owner = owner.killed(|| stage.kill());
    let mount = owner.mount(&stage);
    assert_eq!(mount.rewound(), [], "once is enough, seed {seed}");
    let consumer = stage.queue().consumer(TOPIC, "g").unwrap();
    let words = words(&take(&consumer));
    assert_eq!(words, expected("new", kept + 1..=owner.last()), "seed {seed}");
    10 - kept
}

#[test]
fn a_log_that_was_put_back_from_a_copy_takes_its_groups_back() {
    let (mut stage, mut owner) = stage();
    owner.write("a", 5, Commit::Synced);
    let Owner { disk, salts, truth, made } = owner;
    truth.close().unwrap();
    made.close().unwrap();
    let copy = [copy_of(&disk, TRUTH), copy_of(&disk, MADE)].concat();
    let mut owner = Owner::open(&disk, salts);
    owner.write("gone", 5, Commit::Synced);
    let _mount = owner.mount(&stage);
    let consumer = stage.consumer(TOPIC, "g");
    ack(&consumer, &take(&consumer));
    drop(consumer);
    stage.reopen();
    // It counts the same epochs again, and comes further than it had.
    let salts = owner.salts;
    drop(owner);
    put_back(&disk, &copy);
    let mut owner = Owner::open(&disk, salts);
    owner.write("new", 10, Commit::Synced);
    let mount = owner.mount(&stage);
    assert_eq!(mount.rewound().len(), 1);
    let consumer = stage.queue().consumer(TOPIC, "g").unwrap();
    assert_eq!(words(&take(&consumer)), expected("new", 6..=15));
}

#[test]
fn a_queue_that_mounts_nothing_keeps_the_groups() {
    let (mut stage, mut owner) = stage();
    owner.write("a", 6, Commit::Synced);
    let _mount = owner.mount(&stage);
    let consumer = stage.consumer(TOPIC, "g");
    let messages = take(&consumer);
    ack(&consumer, &messages[..2]);
    consumer.nack(&messages[3], Some(Duration::from_secs(1)), "").unwrap();
    consumer.confirm().unwrap();
    drop((consumer, messages));
    for _ in 0..3 {
        stage.reopen();
        stage.kill();
        stage.pass(Duration::from_secs(2));
        let stats = stage.queue().stats(TOPIC).unwrap();
        assert_eq!((stats.mounted, stats.groups[0].floors[0]), (Some(false), 3));
        let refused = stage.queue().consumer(TOPIC, "g").map(drop).unwrap_err();
        assert!(matches!(refused, QueueError::NotMounted(_)), "{refused}");
        let refused = stage.queue().create_group(TOPIC, "h", GroupOptions::default()).unwrap_err();
        assert!(matches!(refused, QueueError::NotMounted(_)), "{refused}");
        assert!(stage.queue().reader(TOPIC, Start::Oldest).unwrap().try_next().is_err());
    }
    let _mount = owner.mount(&stage);
    let consumer = stage.queue().consumer(TOPIC, "g").unwrap();
    let messages = take(&consumer);
    assert_eq!(words(&messages), expected("a", 3..=6));
    assert_eq!(messages[1].attempt(), 2);
}

#[test]
fn a_group_that_rests_does_not_keep_the_writer_from_dropping_files() {
    for has_looked in [true, false] {
        let (stage, mut owner) = stage();
        let large = "x".repeat(700_000);
        for _ in 0..5 {
            owner.write(&large, 1, Commit::Synced);
        }
        let _mount = owner.mount(&stage);
        let consumer = stage.consumer(TOPIC, "g");
        ack(&consumer, &consumer.try_fetch(1).unwrap().messages);
        let retained = owner.made.retain_from(4).unwrap();
        assert_eq!((retained.first_seq, retained.pinned), (4, None));
        // Whether the queue has noticed before it reads or meets it then makes no difference.
        if has_looked {
            stage.pass(Duration::from_secs(2));
        }
        let fetched = consumer.try_fetch(10).unwrap();
        assert_eq!((fetched.missed, words(&fetched.messages)), (2, expected(&large, 4..=5)));
    }
}

#[test]
fn only_the_writer_changes_it() {
    let (mut stage, mut owner) = stage();
    owner.write("a", 2, Commit::Synced);
    let mount = owner.mount(&stage);
    stage.queue().create_topic("own", stream()).unwrap();
    stage.publish("own", b"one");
    let read_only = |result: Result<(), QueueError>| {
        let error = result.unwrap_err();
        assert!(matches!(error, QueueError::ReadOnly(_)), "{error}");
    };
    let queue = stage.queue();
    read_only(queue.producer(TOPIC).map(drop));
    read_only(queue.delete_topic(TOPIC));
    read_only(queue.purge(TOPIC).map(drop));
    read_only(queue.begin().publish(TOPIC, &Publish::new(b"x")).map(drop));
    let dead_letter = rialto_queue::DeadLetter::Topic(rialto_queue::Name::new(TOPIC).unwrap());
    read_only(queue.create_group("own", "g", GroupOptions { dead_letter, ..Default::default() }));
    let exists = queue.create_topic(TOPIC, TopicOptions::stream()).unwrap_err();
    assert!(matches!(exists, QueueError::TopicExists(_)), "{exists}");
    assert!(matches!(queue.mount(TOPIC, owner.log()).map(drop), Err(QueueError::TopicExists(_))));
    assert!(matches!(queue.mount("own", owner.log()).map(drop), Err(QueueError::TopicExists(_))));
    drop(mount);
    // A topic that is not mounted may be deleted, with its groups.
    stage.reopen();
    stage.queue().delete_topic(TOPIC).unwrap();
    stage.reopen();
    assert_eq!(stage.queue().topics().len(), 1);
    owner.mount(&stage);
}

#[test]
fn messages_are_given_up_to_a_topic_of_the_queue_and_moved_in_transactions() {
    let (mut stage, mut owner) = stage();
    owner.write("a", 3, Commit::Synced);
    let _mount = owner.mount(&stage);
    stage.queue().create_topic("own", stream()).unwrap();
    let consumer = stage.consumer_with(
        TOPIC,
        "g",
        GroupOptions { order: DeliveryOrder::PerKey, ..GroupOptions::default() },
    );
    let messages = take(&consumer);
    consumer.refuse(&messages[1], "no good").unwrap();
    let mut transaction = stage.queue().begin();
    transaction.publish("own", &Publish::new(b"made of a-1")).unwrap();
    transaction.ack(&consumer, &messages[0]).unwrap();
    transaction.commit().unwrap();
    stage.queue().step();
    drop((consumer, messages));
    stage.reopen();
    let owner = owner.again();
    let _mount = owner.mount(&stage);
    let consumer = stage.queue().consumer(TOPIC, "g").unwrap();
    assert_eq!(words(&take(&consumer)), expected("a", [3]));
    let dead = stage.consumer(&format!("{TOPIC}{DEAD_SUFFIX}"), "g");
    let dead = take(&dead);
    assert_eq!(words(&dead), expected("a", [2]));
    assert_eq!(dead[0].header(dead_header::ID), Some(&b"0:2"[..]));
    let redriven = stage
        .queue()
        .redrive(&format!("{TOPIC}{DEAD_SUFFIX}"), 9, |_, _| ControlFlow::Continue(true))
        .unwrap();
    assert_eq!((redriven.sent, redriven.kept), (0, 1));
    assert_eq!(take_payloads(&stage.consumer("own", "g")), ["made of a-1"]);
}

#[test]
fn times_are_found() {
    let (stage, mut owner) = stage();
    for _ in 0..7 {
        owner.write("a", 13, Commit::Synced);
    }
    let _mount = owner.mount(&stage);
    for (time, first) in [(0, 1), (1_000, 1), (1_001, 2), (45_500, 46), (91_000, 91), (91_001, 92)]
    {
        let reader = stage.queue().reader(TOPIC, Start::At(Timestamp(time))).unwrap();
        assert_eq!(reader.positions(), [first], "{time}");
    }
}

#[test]
fn groups_continue_with_a_copy_of_the_log_up_to_its_end() {
    for (acked, expected_next) in [(4, 5), (10, 7)] {
        let (mut stage, mut owner) = stage();
        owner.write("fact", 10, Commit::Synced);
        let mount = owner.mount(&stage);
        let consumer = stage.consumer(TOPIC, "g");
        ack(&consumer, &consumer.try_fetch(acked).unwrap().messages);
        let known = owner.truth.segments().epochs();
        drop((consumer, mount));
        stage.reopen();

        // A copy of the first six records is a log of its own, with a salt of its own.
        delete_made(&stage.disk);
        drop(owner);
        for file in stage.disk.list(Path::new(TRUTH)).unwrap() {
            stage.disk.remove(&Path::new(TRUTH).join(file)).unwrap();
        }
        let mut copy = Owner::open(&stage.disk, 100);
        copy.write("fact", 6, Commit::Synced);
        let copied_from = known.into_iter().map(|epoch| (epoch, 6)).collect();
        let mount = stage.queue().mount(TOPIC, MountedLog { copied_from, ..copy.log() }).unwrap();
        assert_eq!(mount.rewound().len(), usize::from(acked > 6), "{acked} were acknowledged");
        copy.write("other", 2, Commit::Synced);
        mount.advance(copy.last());
        let consumer = stage.queue().consumer(TOPIC, "g").unwrap();
        let mut next = expected("fact", expected_next..=6);
        next.extend(expected("other", 7..=8));
        assert_eq!(words(&consumer.try_fetch(100).unwrap().messages), next);
    }
}
