//! One history: random operations on a queue from a seed, and the guarantees that do not hold.

use crate::stage::{self, Stage, stream};
use rialto_queue::{
    Consumer, Delivered, DeliveryOrder, GroupOptions, Level, Publish, Queue, QueueError, Sabotage,
    Timestamp,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The number of steps of a history.
const STEPS: usize = 80;
const KEYS: [&str; 3] = ["red", "green", "blue"];

/// How long a lease lasts.
const ACK_WAIT: Duration = Duration::from_secs(30);

/// A guarantee that does not hold.
pub(crate) type Broken = String;

/// Why a step was not done: a promise was broken, or the queue refused, which a disk that failed or is
/// gone must explain.
enum Stop {
    Broken(Broken),
    Refused(QueueError),
}

impl From<Broken> for Stop {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<QueueError> for Stop {
    fn from(error: QueueError) -> Self {
        Self::Refused(error)
    }
}

type Step = Result<(), Stop>;

/// What happened, so that a simulation in which nothing does is noticed.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) crashes: u64,
    pub(crate) faults: u64,
    pub(crate) revivals: u64,
    pub(crate) passed_on: u64,
    pub(crate) duplicates: u64,
}

impl Coverage {
    pub(crate) fn add(&mut self, other: &Self) {
        self.crashes += other.crashes;
        self.faults += other.faults;
        self.revivals += other.revivals;
        self.passed_on += other.passed_on;
        self.duplicates += other.duplicates;
    }
}

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

/// What the test knows of a message.
#[derive(Clone, Debug, Default)]
struct Known {
    /// When it may be handed out first.
    due: Timestamp,
    is_confirmed: bool,
    /// It must not be delivered again.
    is_done: bool,
    /// It may be acknowledged: the answer never came.
    may_be_done: bool,
    delivered: u32,
}

/// The guarantees, by the number that each message carries.
#[derive(Default)]
struct Promises {
    input: BTreeMap<u64, Known>,
    /// For each message of `in` that a transaction was to pass on: whether it is known that it did.
    passed_on: BTreeMap<u64, bool>,
    next: u64,
}

struct History<'c> {
    random: Random,
    stage: Stage,
    promises: Promises,
    consumer: Option<Consumer>,
    /// The consumer's leases and their deadlines.
    held: Vec<(Delivered, Timestamp)>,
    /// Messages that a numbered producer sent without an answer: it sends them again.
    unheard: Vec<u64>,
    next_number: u64,
    heard: BTreeSet<u64>,
    /// Whether a failed disk may explain a refusal.
    may_fail: bool,
    coverage: &'c mut Coverage,
}

fn options() -> GroupOptions {
    GroupOptions { order: DeliveryOrder::PerKey, attempts_max: 0, ..GroupOptions::default() }
}

fn number(payload: &[u8]) -> u64 {
    std::str::from_utf8(payload).unwrap().parse().unwrap()
}

impl<'c> History<'c> {
    fn new(
        seed: u64,
        level: Level,
        sabotage: Option<Sabotage>,
        coverage: &'c mut Coverage,
    ) -> Self {
        let stage = Stage::sabotaged(seed, sabotage);
        let options = stream().level(level).priorities(2);
        stage.queue().create_topic("in", options).unwrap();
        stage.queue().create_topic("out", stream().level(level)).unwrap();
        stage.queue().create_topic("numbered", stream().level(level)).unwrap();
        stage.queue().create_group("in", "g", self::options()).unwrap();
        Self {
            random: Random(seed),
            stage,
            promises: Promises::default(),
            consumer: None,
            held: Vec::new(),
            unheard: Vec::new(),
            next_number: 1,
            heard: BTreeSet::new(),
            may_fail: false,
            coverage,
        }
    }

    fn queue(&self) -> &Queue {
        self.stage.queue()
    }

    fn run(&mut self) -> Result<(), Broken> {
        for _ in 0..STEPS {
            let fault = self.random.below(40);
            match fault {
                0..=2 => self.stage.disk.crash_after(self.random.below(25)),
                3 | 4 => self.break_disk(),
                _ => {}
            }
            let done = match self.random.below(10) {
                // What fails then is the control log, unless the power does first.
                _ if fault == 4 => self.pass_on(),
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
            match done {
                Err(Stop::Broken(broken)) => return Err(broken),
                Err(Stop::Refused(error)) if !self.stage.disk.is_down() => self.refused(&error)?,
                _ if self.stage.disk.is_down() => self.crash(),
                _ => {}
            }
        }
        self.crash();
        self.settle()
    }

    /// One write or sync fails before long.
    fn break_disk(&mut self) {
        self.coverage.faults += 1;
        self.may_fail = true;
        if self.random.below(2) == 0 {
            self.stage.disk.fail_write(1 + self.random.below(3));
        } else {
            self.stage.disk.fail_sync(1 + self.random.below(3));
        }
    }

    /// Something was refused though the machine runs: a topic stays so until the queue is opened
    /// again, the control log is begun again.
    fn refused(&mut self, error: &QueueError) -> Result<(), Broken> {
        match error {
            QueueError::ControlFailed(_) if self.may_fail => {
                if self.random.below(3) == 0 {
                    // The power fails before the log is begun again.
                    self.queue().step();
                    self.stage.disk.crash();
                    self.crash();
                    return Ok(());
                }
                for _ in 0..2 {
                    self.stage.pass(Duration::from_secs(1));
                }
                if self.stage.disk.is_down() || self.queue().failure().is_some() {
                    self.crash();
                } else {
                    self.coverage.revivals += 1;
                }
                Ok(())
            }
            QueueError::Failed { .. } if self.may_fail => {
                self.crash();
                Ok(())
            }
            error => Err(format!("refused without cause: {error}")),
        }
    }

    fn crash(&mut self) {
        self.coverage.crashes += 1;
        self.held.clear();
        self.consumer = None;
        // After a sync that failed only a loss of power shows what the disk really holds. Otherwise
        // nobody outside can tell which of the two it was.
        let is_crash = std::mem::take(&mut self.may_fail) || self.random.below(2) == 0;
        self.stage.disk.fail_write(u64::MAX);
        self.stage.disk.fail_sync(u64::MAX);
        if is_crash { self.stage.crash() } else { self.stage.kill() }
    }

    fn publish(&mut self) -> Step {
        let id = self.promises.next;
        self.promises.next += 1;
        let (text, key) = (id.to_string(), KEYS[self.random.below(3) as usize]);
        let mut message = Publish::new(text.as_bytes()).key(key.as_bytes());
        let mut due = Timestamp::default();
        if self.random.below(4) == 0 {
            let delay = Duration::from_millis(self.random.below(4000));
            due = self.stage.now().after(delay);
            message = message.delay(delay);
        }
        self.promises.input.insert(id, Known { due, ..Known::default() });
        let receipt = self.queue().producer("in")?.send(&message)?;
        // What is confirmed at the level of its topic may be lost with the power if that is less.
        let level = self.queue().options("in")?.level;
        let asked = if self.random.below(2) == 0 { level } else { Level::Synced };
        receipt.wait_at(asked)?;
        self.promises.input.get_mut(&id).unwrap().is_confirmed = asked == Level::Synced;
        Ok(())
    }

    fn publish_numbered(&mut self) -> Step {
        self.unheard.push(self.next_number);
        self.next_number += 1;
        let producer = self.queue().producer("numbered")?;
        // What was heard of may be sent again, too.
        if let Some(last) = self.heard.last().copied().filter(|_| self.random.below(3) == 0) {
            let text = last.to_string();
            let again = producer.send_numbered(&Publish::new(text.as_bytes()), (77, last))?;
            self.coverage.duplicates += u64::from(again.id().is_none());
        }
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

    fn fetch(&mut self) -> Step {
        let count = 1 + self.random.below(4) as usize;
        let fetched = self.consumer()?.try_fetch(count)?;
        let now = self.stage.now();
        for message in fetched.messages {
            self.see(&message)?;
            for (held, until) in self.held.iter().filter(|(_, until)| *until > now) {
                let id = message.id();
                if held.key() == message.key() {
                    let held = held.id();
                    return Err(Stop::Broken(format!("{id} is out with {held} until {until:?}")));
                }
            }
            self.held.retain(|(held, _)| held.key() != message.key());
            self.held.push((message, now.after(ACK_WAIT)));
        }
        Ok(())
    }

    fn see(&mut self, message: &Delivered) -> Result<(), Broken> {
        let (id, now) = (number(message.payload()), self.stage.now());
        let Some(known) = self.promises.input.get_mut(&id) else {
            return Err(format!("message {id} was never published"));
        };
        if known.is_done {
            return Err(format!("message {id} was handed out after its ack"));
        }
        if now < known.due {
            return Err(format!("message {id} was handed out before it was due"));
        }
        known.delivered += 1;
        Ok(())
    }

    fn take_held(&mut self) -> Option<Delivered> {
        if self.held.is_empty() {
            return None;
        }
        let nth = self.random.below(self.held.len() as u64) as usize;
        Some(self.held.remove(nth).0)
    }

    fn ack(&mut self) -> Step {
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

    fn give_back(&mut self) -> Step {
        let Some(message) = self.take_held() else { return Ok(()) };
        let delay = Duration::from_millis(self.random.below(2000));
        match self.consumer()?.nack(&message, Some(delay), "not now") {
            Err(QueueError::LeaseLost(_)) => Ok(()),
            result => Ok(result?),
        }
    }

    /// Acknowledges a message and publishes another for it, together.
    fn pass_on(&mut self) -> Step {
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

    /// Fetches everything that is left and checks the guarantees.
    fn settle(&mut self) -> Result<(), Broken> {
        let failed = |error: QueueError| format!("at the end: {error}");
        self.stage.pass(Duration::from_secs(10));
        for round in 0.. {
            if round == 10_000 {
                return Err("there is no end of messages".to_owned());
            }
            self.stage.pass(ACK_WAIT + Duration::from_secs(1));
            let fetched = self.consumer().and_then(|it| it.try_fetch(100)).map_err(failed)?;
            if fetched.messages.is_empty() {
                break;
            }
            for message in &fetched.messages {
                self.see(message)?;
                let id = number(message.payload());
                self.promises.input.get_mut(&id).unwrap().is_done = true;
            }
            let lost = self.consumer().map_err(failed)?.ack_all(&fetched.messages);
            if !lost.is_empty() {
                return Err(format!("{lost:?} were taken away"));
            }
        }
        for (id, known) in &self.promises.input {
            // No message is leased any more, so that every unacknowledged one was delivered just
            // now.
            if known.is_confirmed && !known.is_done && !known.may_be_done {
                return Err(format!("message {id} was confirmed and did not come: {known:?}"));
            }
        }
        self.check_passed_on()?;
        self.check_numbered()
    }

    /// A transaction that was committed has its message out there, and no message is there twice.
    fn check_passed_on(&mut self) -> Result<(), Broken> {
        let out = self.all("out");
        let unique: BTreeSet<_> = out.iter().copied().collect();
        if unique.len() != out.len() {
            return Err(format!("passed on twice: {out:?}"));
        }
        for (id, is_sure) in &self.promises.passed_on {
            if *is_sure && !unique.contains(id) {
                return Err(format!("{id} was not passed on"));
            }
        }
        match unique.iter().find(|id| !self.promises.passed_on.contains_key(id)) {
            Some(id) => Err(format!("{id} from nowhere")),
            None => Ok(()),
        }
    }

    fn check_numbered(&mut self) -> Result<(), Broken> {
        let all = self.all("numbered");
        if !all.is_sorted_by(|a, b| a < b) {
            return Err(format!("out of order or twice: {all:?}"));
        }
        match self.heard.iter().find(|number| !all.contains(number)) {
            Some(number) => Err(format!("number {number} was confirmed: {all:?}")),
            None => Ok(()),
        }
    }

    fn all(&self, topic: &str) -> Vec<u64> {
        let look = self.stage.consumer(topic, "look");
        stage::take(&look).iter().map(|it| number(it.payload())).collect()
    }
}

/// Runs the history of a seed.
pub(crate) fn live(
    seed: u64,
    level: Level,
    sabotage: Option<Sabotage>,
    coverage: &mut Coverage,
) -> Result<(), Broken> {
    let mut history = History::new(seed, level, sabotage, coverage);
    let lived = history.run();
    history.coverage.passed_on += history.promises.passed_on.len() as u64;
    lived.map_err(|broken| format!("{level}, seed {seed}: {broken}"))
}
