//! Concurrency: publishers, consumers, transactions, dead letters, delays, checkpoints, deletions
//! and the end of the process, all at once. Afterwards each message is in or out, once, and
//! transactions are whole.

use rialto_disk::{Disk, SimDisk};
use rialto_queue::{
    Consumer, GroupOptions, Level, Publish, Queue, QueueError, QueueOptions, Read, Start,
    TopicOptions,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How long one test may take before it is said to hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long threads work on one queue.
const SHIFT: Duration = Duration::from_millis(700);

/// The present activity of each thread, for the report of a hang.
#[derive(Clone, Default)]
struct Activities(Arc<Mutex<BTreeMap<String, &'static str>>>);

impl Activities {
    fn note(&self, what: &'static str) {
        let name = thread::current().name().unwrap_or_default().to_owned();
        self.0.lock().unwrap().insert(name, what);
    }
}

/// Runs a test, and fails it with the activities if it hangs.
fn watched(test: impl FnOnce(&Activities) + Send + 'static) {
    let (doing, (done, finished)) = (Activities::default(), mpsc::channel());
    let seen = doing.clone();
    let run = thread::Builder::new().name("test".into()).spawn(move || {
        test(&seen);
        let _ = done.send(());
    });
    let run = run.unwrap();
    match finished.recv_timeout(PATIENCE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs: {:?}", doing.0.lock().unwrap()),
        _ => run.join().unwrap(),
    }
}

fn small(level: Level) -> TopicOptions {
    TopicOptions { segment_bytes: (1 << 20) + 8192, ..TopicOptions::stream() }.level(level)
}

/// All that a topic holds.
fn all(queue: &Queue, topic: &str) -> Vec<String> {
    let mut reader = queue.reader(topic, Start::Oldest).unwrap();
    let mut found = Vec::new();
    while let Some(read) = reader.try_next().unwrap() {
        let Read::Message(message) = read else { panic!("{read:?}") };
        let text = String::from_utf8_lossy(message.payload());
        found.push(text.split_whitespace().next().unwrap().to_owned());
    }
    found
}

/// The messages that a group has not acknowledged.
fn left(queue: &Queue, topic: &str, group: &str) -> Vec<String> {
    let consumer = queue.consumer(topic, group).unwrap();
    let mut found = Vec::new();
    loop {
        let messages = consumer.try_fetch(100).unwrap().messages;
        if messages.is_empty() {
            return found;
        }
        for message in messages {
            let text = String::from_utf8_lossy(message.payload());
            found.push(text.split_whitespace().next().unwrap().to_owned());
            consumer.ack(&message).unwrap();
        }
    }
}

fn unique(numbers: &[String], what: &str) -> BTreeSet<String> {
    let unique: BTreeSet<_> = numbers.iter().cloned().collect();
    assert_eq!(unique.len(), numbers.len(), "{what} twice: {numbers:?}");
    unique
}

/// The threads of one life of a queue, and what was confirmed to them.
struct Workers {
    queue: Queue,
    doing: Activities,
    is_over: AtomicBool,
    next: AtomicU64,
    /// Numbers whose publication was confirmed, and numbers that may have been published.
    published: Mutex<BTreeSet<String>>,
    tried: Mutex<BTreeSet<String>>,
    /// Numbers that a transaction has passed on for sure.
    passed_on: Mutex<BTreeSet<String>>,
}

impl Workers {
    fn new(queue: Queue, doing: &Activities, first: u64) -> Self {
        Self {
            queue,
            doing: doing.clone(),
            is_over: AtomicBool::new(false),
            next: AtomicU64::new(first),
            published: Mutex::default(),
            tried: Mutex::default(),
            passed_on: Mutex::default(),
        }
    }

    /// Works until the time is over or the queue is closed.
    fn work(&self, mut one: impl FnMut() -> Result<(), QueueError>) {
        while !self.is_over.load(Ordering::Relaxed) {
            if one().is_err() {
                break;
            }
        }
        self.doing.note("done");
    }

    fn publish(&self, bytes: usize) -> Result<(), QueueError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let payload = format!("{number} {}", "x".repeat(bytes));
        self.tried.lock().unwrap().insert(number.clone());
        let mut message = Publish::new(payload.as_bytes());
        if number.ends_with('3') {
            message = message.delay(Duration::from_millis(3));
        }
        self.doing.note("publish");
        let _ = self.queue.producer("in")?.publish(&message)?;
        self.published.lock().unwrap().insert(number);
        Ok(())
    }

    /// Passes messages on by transactions, and gives up the ones that end with 7.
    fn pass_on(&self, consumer: &Consumer) -> Result<(), QueueError> {
        self.doing.note("fetch");
        let messages = consumer.fetch(4, Duration::from_millis(5))?.messages;
        for message in &messages {
            let text = String::from_utf8_lossy(message.payload()).into_owned();
            let number = text.split_whitespace().next().unwrap().to_owned();
            if number.ends_with('7') {
                self.doing.note("refuse");
                consumer.refuse(message, "it ends with 7")?;
                continue;
            }
            self.doing.note("commit");
            let mut transaction = self.queue.begin();
            transaction.ack(consumer, message)?;
            transaction.publish("out", &Publish::new(text.as_bytes()))?;
            transaction.publish("also", &Publish::new(number.as_bytes()))?;
            transaction.commit()?;
            self.passed_on.lock().unwrap().insert(number);
        }
        Ok(())
    }

    fn look(&self) -> Result<(), QueueError> {
        self.doing.note("look");
        for topic in self.queue.topics() {
            match self.queue.stats(topic.as_str()) {
                Ok(_) | Err(QueueError::UnknownTopic(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn start<'s>(
        &'s self,
        scope: &'s thread::Scope<'s, '_>,
        name: String,
        work: impl FnMut() -> Result<(), QueueError> + Send + 's,
    ) {
        thread::Builder::new().name(name).spawn_scoped(scope, move || self.work(work)).unwrap();
    }

    /// Starts all threads, calls `end` after a while, and waits for them.
    fn run(&self, bytes: usize, end: impl FnOnce()) {
        thread::scope(|scope| {
            for nth in 0..2 {
                self.start(scope, format!("publisher {nth}"), move || self.publish(bytes));
            }
            for nth in 0..6 {
                let consumer = self.queue.consumer("in", "g").unwrap();
                self.start(scope, format!("consumer {nth}"), move || self.pass_on(&consumer));
            }
            self.start(scope, "onlooker".into(), || self.look());
            end();
            self.is_over.store(true, Ordering::Relaxed);
        });
    }
}

fn create(queue: &Queue, level: Level) {
    for topic in ["in", "out", "also"] {
        queue.create_topic(topic, small(level)).unwrap();
    }
    let options = GroupOptions { attempts_max: 0, ..GroupOptions::default() };
    queue.create_group("in", "g", options).unwrap();
}

/// The dead letters, if there are any.
fn letters(queue: &Queue) -> Vec<String> {
    let is_there = queue.topics().iter().any(|topic| topic.as_str() == "in.dead");
    if is_there { all(queue, "in.dead") } else { Vec::new() }
}

/// Every message is in, or out, or dead, and nowhere twice; what was promised is there.
fn balance(queue: &Queue, crew: &Workers) {
    let deadline = Instant::now() + PATIENCE / 4;
    let mut inside = left(queue, "in", "g");
    let is_there = |inside: &[String]| {
        let also = [all(queue, "out"), letters(queue)].concat();
        let there: BTreeSet<_> = inside.iter().chain(&also).collect();
        crew.published.lock().unwrap().iter().all(|number| there.contains(number))
    };
    // Delayed messages take a while to be moved.
    while (queue.stats("in").unwrap().delayed > 0 || !is_there(&inside))
        && Instant::now() < deadline
    {
        thread::park_timeout(Duration::from_millis(5));
        inside.extend(left(queue, "in", "g"));
    }
    let inside = unique(&inside, "in");
    let (out, also) = (all(queue, "out"), all(queue, "also"));
    let out = unique(&out, "out");
    assert_eq!(out, unique(&also, "also"), "half of a transaction");
    let dead = unique(&letters(queue), "dead");
    for (one, other) in [(&inside, &out), (&inside, &dead), (&out, &dead)] {
        let both: Vec<_> = one.intersection(other).collect();
        assert!(both.is_empty(), "in two places: {both:?}");
    }
    let there: BTreeSet<_> = inside.into_iter().chain(out.iter().cloned()).chain(dead).collect();
    let lost: Vec<_> = crew.published.lock().unwrap().difference(&there).cloned().collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let invented: Vec<_> = there.difference(&crew.tried.lock().unwrap()).cloned().collect();
    assert!(invented.is_empty(), "from nowhere: {invented:?}");
    let undone: Vec<_> = crew.passed_on.lock().unwrap().difference(&out).cloned().collect();
    assert!(undone.is_empty(), "committed and not there: {undone:?}");
}

#[test]
fn a_close_in_the_midst_of_everything_leaves_the_books_balanced() {
    watched(|doing| {
        let dir = tempfile::tempdir().unwrap();
        let options = || QueueOptions::at(dir.path());
        let queue = Queue::open(options()).unwrap();
        create(&queue, Level::Buffered);
        let crew = Workers::new(queue, doing, 0);
        crew.run(200, || {
            thread::park_timeout(SHIFT);
            doing.note("close");
            crew.queue.close().unwrap();
        });
        let queue = Queue::open(options()).unwrap();
        assert_eq!(queue.report().rewound, []);
        balance(&queue, &crew);
    });
}

#[test]
fn in_memory_the_books_balance_too() {
    watched(|doing| {
        let queue = Queue::open(QueueOptions::in_memory()).unwrap();
        create(&queue, Level::Memory);
        let crew = Workers::new(queue.clone(), doing, 0);
        crew.run(20, || thread::park_timeout(SHIFT));
        balance(&queue, &crew);
    });
}

#[test]
fn a_kill_at_a_checkpoint_leaves_the_books_balanced() {
    watched(|doing| {
        let mut checkpoints = 0;
        for seed in 0..6 {
            let disk = Arc::new(SimDisk::new(seed));
            let options = || QueueOptions {
                disk: disk.clone(),
                control_segment_bytes: (1 << 20) + 8192,
                ..QueueOptions::at("/queue")
            };
            let queue = Queue::open(options()).unwrap();
            create(&queue, Level::Buffered);
            let crew = Workers::new(queue, doing, seed * 1_000_000);
            let files = || {
                let mut files = disk.list(Path::new("/queue/control")).unwrap();
                files.retain(|name| name.ends_with(".log"));
                files.into_iter().min()
            };
            crew.run(30_000, || {
                let (began, first) = (Instant::now(), files());
                // A checkpoint deletes what is before it.
                while files() == first && began.elapsed() < 4 * SHIFT {
                    thread::yield_now();
                }
                checkpoints += u32::from(files() != first);
                disk.kill();
            });
            doing.note("drop the queue that was killed");
            let Workers { queue, .. } = &crew;
            let _ = queue.close();
            let queue = Queue::open(options()).unwrap();
            balance(&queue, &crew);
        }
        assert!(checkpoints > 0, "no checkpoint was written");
    });
}

#[test]
fn users_of_a_deleted_topic_get_an_error() {
    watched(|doing| {
        let dir = tempfile::tempdir().unwrap();
        let queue = Queue::open(QueueOptions::at(dir.path())).unwrap();
        create(&queue, Level::Buffered);
        let began = Instant::now();
        let mut lives = 0;
        while began.elapsed() < SHIFT {
            lives += 1;
            let crew = Workers::new(queue.clone(), doing, lives * 1_000_000);
            crew.run(3_000, || {
                thread::park_timeout(SHIFT / 20);
                doing.note("delete");
                if lives % 2 == 0 {
                    queue.delete_group("in", "g").unwrap();
                }
                queue.delete_topic("in").unwrap();
                queue.delete_topic("out").unwrap();
            });
            create(&queue, Level::Buffered);
        }
        queue.close().unwrap();
        // Deleted topics have no files.
        let queue = Queue::open(QueueOptions::at(dir.path())).unwrap();
        let topics = queue.topics().len();
        let has_files = |dir: &Path| {
            let lanes = std::fs::read_dir(dir).unwrap().map(|lane| lane.unwrap().path());
            lanes.into_iter().any(|lane| std::fs::read_dir(lane).unwrap().next().is_some())
        };
        let dirs = std::fs::read_dir(dir.path().join("topics")).unwrap();
        let full: Vec<_> =
            dirs.map(|dir| dir.unwrap().path()).filter(|dir| has_files(dir)).collect();
        assert!(full.len() <= topics, "{topics} topics, and files in {full:?}");
    });
}

#[test]
fn a_thread_writes_its_own_message_while_every_thread_of_the_queue_waits_for_the_disk() {
    watched(|doing| {
        let disk = SimDisk::new(1);
        let options = QueueOptions { disk: Arc::new(disk.clone()), ..QueueOptions::at("/queue") };
        let queue = Queue::open(options).unwrap();
        let topics = ["one", "two", "three", "free"];
        for topic in topics {
            queue.create_topic(topic, small(Level::Synced)).unwrap();
        }
        let dirs = disk.list_dirs(Path::new("/queue/topics")).unwrap_or_default();
        assert!(dirs.is_empty(), "no topic has a directory before its first message: {dirs:?}");
        let (hangs, has_begun) = mpsc::channel();
        let mut waiting = Vec::new();
        for (nth, topic) in topics[..3].iter().enumerate() {
            let (release, released) = mpsc::channel::<()>();
            let hangs = hangs.clone();
            let dir = format!("/queue/topics/{:06}", nth + 1);
            disk.hang(Path::new(&dir), 1, move || {
                hangs.send(()).unwrap();
                let _ = released.recv();
            });
            doing.note("waits for a thread of the queue to hang");
            let receipt = queue.producer(topic).unwrap().send(&Publish::new(b"slow")).unwrap();
            has_begun.recv().unwrap();
            waiting.push((release, receipt));
        }
        doing.note("publishes");
        let free = queue.producer("free").unwrap();
        let _ = free.publish(&Publish::new(b"fast")).unwrap();
        // What is not written is left to a thread of the queue, once there is one.
        let left = free.send_to_write(&Publish::new(b"left")).unwrap().receipt().clone();
        for (release, receipt) in waiting {
            drop(release);
            doing.note("waits for a slow message");
            receipt.wait().unwrap();
        }
        doing.note("waits for the message that was left");
        left.wait().unwrap();
        assert_eq!(all(&queue, "free"), ["fast", "left"]);
    });
}

#[test]
fn messages_of_threads_that_write_themselves_are_in_order_and_complete_when_the_queue_closes() {
    watched(|doing| {
        let disk = SimDisk::new(2);
        let open = || {
            let disk = Arc::new(disk.clone());
            Queue::open(QueueOptions { disk, ..QueueOptions::at("/queue") }).unwrap()
        };
        let queue = open();
        queue.create_topic("t", small(Level::Buffered)).unwrap();
        let confirmed: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|nth| {
                    let producer = queue.producer("t").unwrap();
                    scope.spawn(move || {
                        (0..)
                            .map(|number| format!("{nth}.{number:05}"))
                            .take_while(|text| {
                                producer.publish(&Publish::new(text.as_bytes())).is_ok()
                            })
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            thread::sleep(SHIFT);
            doing.note("closes the queue");
            queue.close().unwrap();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        drop(queue);
        let found = all(&open(), "t");
        for (nth, confirmed) in confirmed.iter().enumerate() {
            let of_thread: Vec<_> =
                found.iter().filter(|text| text.starts_with(&format!("{nth}."))).cloned().collect();
            assert!(of_thread.starts_with(confirmed), "{} of {}", of_thread.len(), confirmed.len());
            assert!(of_thread.is_sorted());
        }
    });
}
