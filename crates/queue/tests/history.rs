//! Whole histories with failures of power and process at every kind of point, from a seed, checked
//! against what was promised.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod stage;

use rialto_queue::{
    Consumer, Delivered, GroupOptions, Level, Order, Publish, Queue, QueueError, TopicOptions,
};
use stage::{Stage, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How much of a history is run for each seed.
const STEPS: usize = 120;
const SEEDS: u64 = 16;
const KEYS: [&str; 3] = ["red", "green", "blue"];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// What is known of a message from outside.
#[derive(Clone, Debug, Default)]
struct Known {
    is_confirmed: bool,
    /// Nobody may be given it again.
    is_done: bool,
    /// It may be done with: the answer never came.
    may_be_done: bool,
    delivered: u32,
}

/// What was promised, by the number that each message carries.
#[derive(Default)]
struct Promises {
    input: BTreeMap<u64, Known>,
    /// For each message of `in` that a transaction was to pass on: whether it is known that it did.
    passed_on: BTreeMap<u64, bool>,
    next: u64,
}

struct History {
    seed: u64,
    random: Random,
    stage: Stage,
    promises: Promises,
    consumer: Option<Consumer>,
    held: Vec<Delivered>,
    /// What a numbered producer has sent and not heard of: it sends it again.
    unheard: Vec<u64>,
    next_number: u64,
    heard: BTreeSet<u64>,
    crashes: u64,
}

fn options() -> GroupOptions {
    GroupOptions { order: Order::PerKey, attempts_max: 0, ..GroupOptions::default() }
}

fn number(payload: &[u8]) -> u64 {
    std::str::from_utf8(payload).unwrap().parse().unwrap()
}

impl History {
    fn new(seed: u64, level: Level) -> Self {
        let stage = Stage::with_seed(seed);
        let options = stream().level(level).priorities(2);
        stage.queue().create_topic("in", options).unwrap();
        stage.queue().create_topic("out", stream().level(level)).unwrap();
        stage.queue().create_topic("numbered", stream().level(level)).unwrap();
        stage.queue().create_group("in", "g", self::options()).unwrap();
        Self {
            seed,
            random: Random(seed),
            stage,
            promises: Promises::default(),
            consumer: None,
            held: Vec::new(),
            unheard: Vec::new(),
            next_number: 1,
            heard: BTreeSet::new(),
            crashes: 0,
        }
    }

    fn queue(&self) -> &Queue {
        self.stage.queue()
    }

    fn run(&mut self) {
        for _ in 0..STEPS {
            if self.random.below(12) == 0 {
                self.stage.disk.crash_after(self.random.below(25));
            }
            let done = match self.random.below(10) {
                0..=2 => self.publish(),
                3 => self.publish_numbered(),
                4 | 5 => self.fetch(),
                6 => self.ack(),
                7 => self.pass_on(),
                8 => self.give_back(),
                _ => {
                    self.stage.pass(Duration::from_millis(self.random.below(3000)));
                    Ok(())
                }
            };
            if done.is_err() || self.stage.disk.is_down() {
                assert!(self.stage.disk.is_down(), "seed {}: {done:?}", self.seed);
                self.crash();
            }
        }
        self.crash();
        self.settle();
    }

    fn crash(&mut self) {
        self.crashes += 1;
        self.held.clear();
        self.consumer = None;
        // Which of the two it was, nobody outside can tell.
        if self.random.below(2) == 0 { self.stage.crash() } else { self.stage.kill() }
    }

    fn publish(&mut self) -> Result<(), QueueError> {
        let id = self.promises.next;
        self.promises.next += 1;
        let (text, key) = (id.to_string(), KEYS[self.random.below(3) as usize]);
        let mut message = Publish::new(text.as_bytes()).key(key.as_bytes());
        if self.random.below(4) == 0 {
            message = message.delay(Duration::from_millis(self.random.below(4000)));
        }
        self.promises.input.insert(id, Known::default());
        let receipt = self.queue().producer("in")?.send(&message)?;
        receipt.wait_at(Level::Synced)?;
        self.promises.input.get_mut(&id).unwrap().is_confirmed = true;
        Ok(())
    }

    fn publish_numbered(&mut self) -> Result<(), QueueError> {
        self.unheard.push(self.next_number);
        self.next_number += 1;
        let producer = self.queue().producer("numbered")?;
        for number in self.unheard.clone() {
            let text = number.to_string();
            let message = Publish::new(text.as_bytes());
            producer.send_numbered(&message, (77, number))?.wait_at(Level::Synced)?;
        }
        // A duplicate is known to be safe only behind a later message that is.
        let text = self.next_number.to_string();
        let fence = Publish::new(text.as_bytes());
        self.unheard.push(self.next_number);
        self.next_number += 1;
        producer.send_numbered(&fence, (77, self.next_number - 1))?.wait_at(Level::Synced)?;
        self.heard.extend(self.unheard.drain(..));
        Ok(())
    }

    fn consumer(&mut self) -> Result<&Consumer, QueueError> {
        if self.consumer.is_none() {
            self.consumer = Some(self.queue().consumer("in", "g")?);
        }
        Ok(self.consumer.as_ref().unwrap())
    }

    fn fetch(&mut self) -> Result<(), QueueError> {
        let count = 1 + self.random.below(4) as usize;
        let fetched = self.consumer()?.try_fetch(count)?;
        for message in fetched.messages {
            self.see(&message);
            self.held.retain(|it| it.id() != message.id());
            let key = message.key().to_vec();
            let same_key = self.held.iter().filter(|it| it.key() == key).count();
            // What ran out of time may have been handed out again meanwhile.
            if same_key > 0 {
                self.held.retain(|it| it.key() != key);
            }
            self.held.push(message);
        }
        Ok(())
    }

    fn see(&mut self, message: &Delivered) {
        let id = number(message.payload());
        let seed = self.seed;
        let known = self.promises.input.get_mut(&id).unwrap_or_else(|| {
            panic!("seed {seed}: message {id} was never published");
        });
        assert!(!known.is_done, "seed {seed}: message {id} was handed out after its ack");
        known.delivered += 1;
    }

    fn take_held(&mut self) -> Option<Delivered> {
        if self.held.is_empty() {
            return None;
        }
        let nth = self.random.below(self.held.len() as u64) as usize;
        Some(self.held.remove(nth))
    }

    fn ack(&mut self) -> Result<(), QueueError> {
        let Some(message) = self.take_held() else { return Ok(()) };
        let id = number(message.payload());
        let consumer = self.consumer()?;
        match consumer.ack(&message) {
            Err(QueueError::LeaseLost(_)) => return Ok(()),
            result => result?,
        }
        self.promises.input.get_mut(&id).unwrap().may_be_done = true;
        let is_sure = self.random.below(2) == 0;
        if is_sure && self.stage.queue().options("in")?.level == Level::Synced {
            self.consumer()?.confirm()?;
            self.promises.input.get_mut(&id).unwrap().is_done = true;
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<(), QueueError> {
        let Some(message) = self.take_held() else { return Ok(()) };
        let delay = Duration::from_millis(self.random.below(2000));
        match self.consumer()?.nack(&message, Some(delay), "not now") {
            Err(QueueError::LeaseLost(_)) => Ok(()),
            result => result,
        }
    }

    /// Acknowledges a message and publishes another for it, together.
    fn pass_on(&mut self) -> Result<(), QueueError> {
        let Some(message) = self.take_held() else { return Ok(()) };
        let id = number(message.payload());
        let text = id.to_string();
        self.consumer()?;
        let mut transaction = self.queue().begin();
        transaction.ack(self.consumer.as_ref().unwrap(), &message)?;
        transaction.publish("out", &Publish::new(text.as_bytes()))?;
        self.promises.passed_on.entry(id).or_insert(false);
        self.promises.input.get_mut(&id).unwrap().may_be_done = true;
        match transaction.commit() {
            Err(QueueError::LeaseLost(_)) => return Ok(()),
            result => drop(result?),
        }
        // What was committed is safe whatever the level of the topics.
        self.promises.passed_on.insert(id, true);
        self.promises.input.get_mut(&id).unwrap().is_done = true;
        Ok(())
    }

    /// Everything that is still to be had is had, and the promises are held against it.
    fn settle(&mut self) {
        let seed = self.seed;
        self.stage.pass(Duration::from_secs(10));
        for round in 0.. {
            assert!(round < 10_000, "seed {seed}: there is no end of messages");
            self.stage.pass(Duration::from_secs(31));
            let fetched = self.consumer().unwrap().try_fetch(100).unwrap();
            if fetched.messages.is_empty() {
                break;
            }
            for message in &fetched.messages {
                self.see(message);
                let id = number(message.payload());
                self.promises.input.get_mut(&id).unwrap().is_done = true;
            }
            assert_eq!(self.consumer().unwrap().ack_all(&fetched.messages), [], "seed {seed}");
        }
        for (id, known) in &self.promises.input {
            let is_lost = known.is_confirmed && known.delivered == 0 && !known.may_be_done;
            assert!(!is_lost, "seed {seed}: message {id} was confirmed and never came: {known:?}");
        }
        self.check_passed_on();
        self.check_numbered();
    }

    /// A transaction that was committed has its message out there, and no message is there twice.
    fn check_passed_on(&mut self) {
        let seed = self.seed;
        let out = self.all("out");
        let unique: BTreeSet<_> = out.iter().copied().collect();
        assert_eq!(unique.len(), out.len(), "seed {seed}: passed on twice: {out:?}");
        for (id, is_sure) in &self.promises.passed_on {
            assert!(!is_sure || unique.contains(id), "seed {seed}: {id} was not passed on");
        }
        for id in unique {
            assert!(self.promises.passed_on.contains_key(&id), "seed {seed}: {id} from nowhere");
        }
    }

    fn check_numbered(&mut self) {
        let seed = self.seed;
        let all = self.all("numbered");
        assert!(all.is_sorted_by(|a, b| a < b), "seed {seed}: out of order or twice: {all:?}");
        for number in &self.heard {
            assert!(all.contains(number), "seed {seed}: number {number} was confirmed: {all:?}");
        }
    }

    fn all(&self, topic: &str) -> Vec<u64> {
        let look = self.stage.consumer(topic, "look");
        stage::take(&look).iter().map(|it| number(it.payload())).collect()
    }
}

fn run(level: Level) {
    let (mut crashes, mut passed_on) = (0, 0);
    for seed in 0..SEEDS {
        let mut history = History::new(seed, level);
        history.run();
        crashes += history.crashes;
        passed_on += history.promises.passed_on.len();
    }
    assert!(crashes > 4 * SEEDS, "only {crashes} crashes");
    assert!(passed_on > SEEDS as usize, "only {passed_on} transactions");
}

#[test]
fn synced_topics_keep_their_promises_through_crashes() {
    run(Level::Synced);
}

#[test]
fn buffered_topics_keep_what_was_confirmed_beyond_their_level() {
    run(Level::Buffered);
}

#[test]
fn options_are_what_they_were() {
    let mut stage = Stage::new();
    let options = TopicOptions { max_age: Some(Duration::from_secs(7)), ..stream() };
    stage.queue().create_topic("t", options.clone()).unwrap();
    stage.crash();
    assert_eq!(stage.queue().options("t").unwrap(), options);
}
