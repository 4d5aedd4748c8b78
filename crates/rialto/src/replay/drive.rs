//! Sends operations to an engine and takes replies and events, on one thread.

use super::operation::{Action, Operation, Placement};
use super::pace::Pace;
use super::stage::INSTRUMENT;
use super::tally::Tally;
use crate::Error;
use hdrhistogram::Histogram;
use rialto_engine::{Engine, EventReader, ManualClock, Producer, Submission, SubmitError};
use rialto_model::{
    AccountId, Amend, ClientOrderId, Command, Handling, NewOrder, OrderRef, OrderSize, Outcome,
    Price, Quantity, Seq, Timestamp,
};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The commands submitted together.
const BATCH: usize = 256;
/// The longest wait for a reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// The largest latency recorded, an hour; longer ones count as this.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// An order of the file that a later operation may name.
struct Known {
    account: AccountId,
    /// The total quantity: as placed, or as the last accepted amendment set it.
    quantity: Quantity,
    /// Amendments of the quantity that have not been answered.
    unanswered: u32,
}

/// An amendment of an order's quantity that has not been answered.
struct Asked {
    /// The command's token.
    token: u64,
    /// The order, by its id in the file.
    id: u64,
    /// The total quantity if the amendment is accepted.
    quantity: Quantity,
}

/// The outcome of a replay.
pub(super) struct Driven {
    pub(super) tally: Tally,
    /// From due or sent to answered, in nanoseconds.
    pub(super) latency_ns: Histogram<u64>,
    pub(super) commands: u64,
    /// Operations that name an order that was never placed, or was cancelled before.
    pub(super) without_order: u64,
    events: EventReader,
}

impl Driven {
    /// Counts the events after the last command, once the engine is shut down, and returns the last
    /// sequence. An order that matches very many others continues by ticks.
    pub(super) fn rest(&mut self) -> Result<Seq, Error> {
        while !self.events.is_over() {
            let batch = self.events.next_timeout(REPLY_TIMEOUT);
            let batch = batch.map_err(|error| Error::EngineFailed(crate::tell_all(&error)))?;
            for record in batch.iter().flat_map(|batch| batch.iter()) {
                self.tally.take(&record).map_err(|error| Error::EngineFailed(error.to_string()))?;
            }
        }
        Ok(Seq(self.events.next_seq().0 - 1))
    }
}

/// The sending side of a replay.
pub(super) struct Driver<'a> {
    engine: &'a Engine,
    producer: Producer,
    events: EventReader,
    accounts: HashMap<u32, AccountId>,
    known: HashMap<u64, Known>,
    batch: Vec<Submission>,
    /// The due time of each unanswered command; without times, its send time.
    sent: VecDeque<Instant>,
    asked: VecDeque<Asked>,
    due: Option<Instant>,
    clock: Arc<ManualClock>,
    last: Seq,
    tally: Tally,
    latency_ns: Histogram<u64>,
    commands: u64,
    without_order: u64,
}

impl<'a> Driver<'a> {
    /// Sends the commands that set up the venue, and begins after them.
    pub(super) fn begin(
        engine: &'a Engine,
        clock: Arc<ManualClock>,
        stage: &[Command],
        accounts: HashMap<u32, AccountId>,
        tally: Tally,
    ) -> Result<Driver<'a>, Error> {
        let mut driver = Driver {
            engine,
            producer: engine.producer(),
            events: engine.events(Seq(1)),
            accounts,
            known: HashMap::new(),
            batch: Vec::with_capacity(BATCH),
            sent: VecDeque::new(),
            asked: VecDeque::new(),
            due: None,
            clock,
            last: Seq::ZERO,
            tally: Tally::default(),
            latency_ns: Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3)
                .expect("the bounds are constants in range"),
            commands: 0,
            without_order: 0,
        };
        for command in stage {
            driver.push(*command)?;
        }
        driver.settle()?;
        if let Some((reason, _)) = driver.tally.rejects.first_key_value() {
            return Err(Error::Failed(format!(
                "the venue cannot be set up for the file: {reason}"
            )));
        }
        (driver.tally, driver.commands) = (tally, 0);
        driver.latency_ns.reset();
        Ok(driver)
    }

    /// Sends one operation, when it is due.
    pub(super) fn operation(
        &mut self,
        operation: &Operation,
        pace: Option<&Pace>,
    ) -> Result<(), Error> {
        if let (Some(pace), Some(at)) = (pace, operation.at) {
            self.wait_until(pace.due(at))?;
            self.due = Some(pace.due(at));
            self.clock.set(at.max(Timestamp(1)));
        }
        match operation.action {
            Action::Place(order) => self.place(&order),
            Action::Cancel { id } => match self.known.remove(&id) {
                Some(Known { account, .. }) => {
                    self.push(Command::Cancel { account, order: OrderRef::Client(name(id)) })
                }
                None => self.ignore(),
            },
            Action::Amend { id, price, quantity } => self.amend(id, price, quantity),
            Action::Reduce { id, by } => {
                // What it is reduced from depends on whether the amendments before are accepted.
                self.answer_amends(id)?;
                let Some(known) = self.known.get(&id) else { return self.ignore() };
                let quantity = Quantity(known.quantity.0.saturating_sub(by.0));
                self.amend(id, None, Some(quantity))
            }
            Action::Left { id, price, remaining } => {
                if !self.known.contains_key(&id) {
                    return self.ignore();
                }
                self.settle()?;
                let Some(now) = self.tally.standing(id) else { return Ok(()) };
                let price = price.filter(|price| *price != now.price);
                let is_less = remaining.0 > 0 && remaining.0 < now.remaining;
                if price.is_none() && !is_less {
                    return Ok(());
                }
                let quantity = Quantity(now.filled.saturating_add(remaining.0));
                self.amend(id, price, Some(quantity))
            }
        }
    }

    fn amend(
        &mut self,
        id: u64,
        price: Option<Price>,
        quantity: Option<Quantity>,
    ) -> Result<(), Error> {
        let Some(known) = self.known.get_mut(&id) else { return self.ignore() };
        let (account, order) = (known.account, OrderRef::Client(name(id)));
        if let Some(quantity) = quantity {
            known.unanswered += 1;
            self.asked.push_back(Asked { token: self.commands, id, quantity });
        }
        self.push(Command::Amend(Amend { account, order, price, quantity }))
    }

    /// Waits until every amendment of an order's quantity has been answered.
    fn answer_amends(&mut self, id: u64) -> Result<(), Error> {
        let waits =
            |known: &HashMap<u64, Known>| known.get(&id).is_some_and(|known| known.unanswered > 0);
        if waits(&self.known) {
            self.hand_over()?;
        }
        while waits(&self.known) {
            self.take_reply(REPLY_TIMEOUT)?;
        }
        Ok(())
    }

    /// Waits until every command is answered, and its events are counted.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        self.hand_over()?;
        while !self.sent.is_empty() {
            self.take_reply(REPLY_TIMEOUT)?;
        }
        while self.events.next_seq() <= self.last {
            self.take_events(REPLY_TIMEOUT)?;
        }
        Ok(())
    }

    /// The outcome, once everything is settled.
    pub(super) fn finish(self) -> Driven {
        let Driver { events, tally, latency_ns, commands, without_order, .. } = self;
        Driven { events, tally, latency_ns, commands, without_order }
    }

    fn place(&mut self, order: &Placement) -> Result<(), Error> {
        let account = self.accounts[&order.account];
        self.known.insert(order.id, Known { account, quantity: order.quantity, unanswered: 0 });
        self.push(Command::Place(NewOrder {
            account,
            instrument: INSTRUMENT,
            side: order.side,
            kind: order.kind,
            time_in_force: order.time_in_force,
            post_only: order.post_only,
            self_trade: None,
            handling: Handling::NONE,
            size: OrderSize::Base(order.quantity),
            price: order.price,
            minimum_quantity: Quantity::ZERO,
            expire_at: Timestamp::ZERO,
            client_order_id: name(order.id),
        }))
    }

    fn ignore(&mut self) -> Result<(), Error> {
        self.without_order += 1;
        Ok(())
    }

    fn push(&mut self, command: Command) -> Result<(), Error> {
        self.batch.push(Submission { token: self.commands, command, level: None });
        self.commands += 1;
        // What is due at a time of its own must not wait for others to fill a batch.
        if self.batch.len() == BATCH || self.due.is_some() { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), Error> {
        let mut from = 0;
        while from < self.batch.len() {
            let sent = match self.producer.submit_batch(&self.batch[from..]) {
                Ok(sent) => sent,
                Err(SubmitError::Busy) => 0,
                Err(error) => return Err(self.ended(&error.to_string())),
            };
            let since = self.due.unwrap_or_else(Instant::now);
            self.sent.extend(std::iter::repeat_n(since, sent));
            from += sent;
            if sent == 0 {
                self.take_reply(REPLY_TIMEOUT)?;
            }
            self.take_what_is_there()?;
        }
        self.batch.clear();
        Ok(())
    }

    fn wait_until(&mut self, due: Instant) -> Result<(), Error> {
        loop {
            self.take_what_is_there()?;
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            if self.sent.is_empty() {
                std::thread::sleep(left.min(Duration::from_millis(100)));
            } else if let Some(reply) = self.producer.reply_timeout(left) {
                self.count(reply)?;
            }
        }
    }

    fn take_what_is_there(&mut self) -> Result<(), Error> {
        while let Some(reply) = self.producer.try_reply() {
            self.count(reply)?;
        }
        self.take_events(Duration::ZERO)
    }

    fn take_reply(&mut self, timeout: Duration) -> Result<(), Error> {
        match self.producer.reply_timeout(timeout) {
            Some(reply) => self.count(reply),
            None => Err(self.ended("no reply came in time")),
        }
    }

    fn count(&mut self, reply: rialto_engine::Reply) -> Result<(), Error> {
        let answer = reply.answer.map_err(|no_answer| self.ended(&no_answer.to_string()))?;
        let outcome = answer.outcome;
        self.last = answer.seq;
        if let Some(since) = self.sent.pop_front() {
            let waited = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.latency_ns.saturating_record(waited);
        }
        if self.asked.front().is_none_or(|asked| asked.token != reply.token) {
            return Ok(());
        }
        if let Some(asked) = self.asked.pop_front()
            && let Some(known) = self.known.get_mut(&asked.id)
        {
            known.unanswered -= 1;
            if !matches!(outcome, Outcome::Rejected { .. }) {
                known.quantity = asked.quantity;
            }
        }
        Ok(())
    }

    fn take_events(&mut self, timeout: Duration) -> Result<(), Error> {
        let batch = if timeout.is_zero() {
            self.events.try_next()
        } else {
            self.events.next_timeout(timeout)
        };
        let batch = batch.map_err(|error| Error::EngineFailed(crate::tell_all(&error)))?;
        let Some(batch) = batch else {
            if timeout.is_zero() {
                return Ok(());
            }
            return Err(self.ended("no events came in time"));
        };
        for record in batch.iter() {
            self.tally.take(&record).map_err(|error| Error::EngineFailed(error.to_string()))?;
        }
        Ok(())
    }

    fn ended(&self, what: &str) -> Error {
        Error::EngineFailed(format!("{what}; the engine is {}", self.engine.health()))
    }
}

/// The client order id: the order's id in the file.
fn name(id: u64) -> ClientOrderId {
    let mut digits = [0; 20];
    let (mut at, mut left) = (digits.len(), id);
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    ClientOrderId::new(&digits[at..]).expect("twenty digits are short and printable")
}
