//! The outbox and the inbox when the power goes: nothing is lost, and nothing has its effect twice.

use crate::support::{clock, id, manual, now, on_disk, try_on_disk};
use rialto_disk::SimDisk;
use rialto_flow::outbox::{
    ForwardError, Forwarder, Inbox, InboxStore, Options, Outbox, OutboxStore,
};
use rialto_flow::store::{
    Accepted, Begun, DeliveryResult, Level, LogOptions, LogStore, NewRun, OutboxMessage, Store,
    Write,
};
use rialto_flow::{Flow, FlowContext, FlowError, Flows, ManualClock, RetryPolicy, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const RUNS: [&str; 3] = ["a", "b", "c"];
const STEPS: [&str; 2] = ["debit", "credit"];
const SENDER: &str = "flows";

/// Two steps, each of which sends a message.
struct Transfer;

impl Flow for Transfer {
    const NAME: &'static str = "transfer";
    type Input = ();
    type Output = ();

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, (): &'a ()) -> Result<(), FlowError> {
        for step in STEPS {
            let tell = OutboxMessage::new("ledger", step).with_ordering_key(cx.id().as_str());
            cx.step(step, async || Ok(())).send(|()| vec![tell]).await?;
        }
        Ok(())
    }
}

/// Delivers messages to a store on another disk; every third answer is lost.
struct ToLedger {
    inbox: Inbox,
    answers: AtomicU64,
}

impl Forwarder for ToLedger {
    async fn forward(&self, message: &OutboxMessage) -> Result<(), ForwardError> {
        let effect = OutboxMessage::new("booked", message.key.clone());
        self.inbox.accept(SENDER, &message.key, vec![effect])?;
        let answers = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
        if answers.is_multiple_of(3) { Err(ForwardError::failed("no answer")) } else { Ok(()) }
    }
}

/// Two machines, and how often they were started.
struct Machines {
    sender: SimDisk,
    receiver: SimDisk,
    clock: ManualClock,
    lives: u8,
}

impl Machines {
    fn new(seed: u64) -> Self {
        let (sender, receiver) = (SimDisk::new(seed), SimDisk::new(!seed));
        Self { sender, receiver, clock: clock(), lives: 0 }
    }

    /// Starts both machines and lets them work until all is done, or one of them fails.
    fn live(&mut self) -> Result<(), String> {
        self.lives += 1;
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let ledger = try_on_disk(&self.receiver, Level::Synced, self.lives);
        let ledger = ledger.map_err(|error| said(&error))?;
        let store = try_on_disk(&self.sender, Level::Synced, self.lives);
        let store = store.map_err(|error| said(&error))?;
        let builder = Flows::builder(store.clone()).register(Transfer);
        let flows = builder.options(manual(&self.clock)).open().map_err(|error| said(&error))?;
        for run in RUNS {
            flows.start::<Transfer>(id(run), ()).map_err(|error| said(&error))?;
        }
        let clock = Arc::new(self.clock.clone());
        let inbox = Inbox::new(ledger).clock(clock.clone());
        let forwarder = ToLedger { inbox, answers: AtomicU64::new(0) };
        let retry = RetryPolicy::forever();
        let options = Options { workers: 0, clock, retry, seed: 1, ..Options::default() };
        let outbox = Outbox::open(store.clone(), forwarder, options).unwrap();
        // An hour of retries; one that fails all that long is given up by the test, not the outbox.
        for _ in 0..60 {
            flows.run_until_idle().map_err(|error| said(&error))?;
            outbox.run_until_idle().map_err(|error| said(&error))?;
            if flows.live() == 0 && outbox.backlog().is_ok_and(|backlog| backlog.waiting == 0) {
                return Ok(());
            }
            self.clock.advance(Duration::from_secs(60));
        }
        Err("not done after an hour".to_owned())
    }

    fn restart(&self) {
        self.sender.restart();
        self.receiver.restart();
    }

    /// The bookings, by the keys of the messages.
    fn booked(&mut self) -> Vec<String> {
        self.lives += 1;
        let ledger = on_disk(&self.receiver, Level::Synced, self.lives);
        let claimed = ledger.claim_messages(now(&self.clock), Duration::from_secs(1), 1000);
        let mut keys: Vec<_> = claimed
            .unwrap()
            .into_iter()
            .map(|claim| String::from_utf8(claim.message.payload).unwrap())
            .collect();
        keys.sort();
        keys
    }

    /// That every effect has its cause: a step that is stored.
    fn check_causes(&mut self, when: &str) {
        let booked = self.booked();
        self.lives += 1;
        let store = on_disk(&self.sender, Level::Synced, self.lives);
        for key in booked {
            let (run, step) = key.split_once('/').unwrap();
            let stored = store.find(&id(run)).unwrap();
            let history = stored.unwrap_or_else(|| panic!("{when}: {key} and no run")).history;
            let step = step.split_once('/').unwrap().0;
            let has = history.windows(step.len()).any(|bytes| bytes == step.as_bytes());
            assert!(has, "{when}: {key} was booked and the step is not stored");
        }
    }

    /// That everything has happened, and once.
    fn check_end(&mut self, when: &str) {
        let of_run = |run| {
            move |(nth, step)| {
                // The number of the step within the run, and of the message within the step.
                format!("{run}/{step}/{}#0", nth + 1)
            }
        };
        let mut expected: Vec<_> =
            RUNS.iter().flat_map(|run| STEPS.iter().enumerate().map(of_run(run))).collect();
        expected.sort();
        assert_eq!(self.booked(), expected, "{when}");
    }
}

#[test]
fn a_crash_after_any_write_loses_and_doubles_nothing() {
    let operations = {
        let mut machines = Machines::new(1);
        machines.live().unwrap();
        machines.check_end("without a crash");
        (machines.sender.operations(), machines.receiver.operations())
    };
    for (of_sender, total) in [(true, operations.0), (false, operations.1)] {
        for nth in 0..total {
            let when = format!("sender {of_sender}, crash after operation {nth} of {total}");
            let mut machines = Machines::new(nth + 1);
            let disk = if of_sender { &machines.sender } else { &machines.receiver };
            disk.crash_after(nth);
            let _ = machines.live();
            // Both lose power.
            machines.restart();
            machines.check_causes(&when);
            machines.live().unwrap_or_else(|error| panic!("{when}: {error}"));
            machines.check_end(&when);
        }
    }
}

#[test]
fn crash_upon_crash_loses_and_doubles_nothing() {
    for seed in 0..20_u64 {
        let mut machines = Machines::new(seed);
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        for crash in 0..5 {
            machines.sender.crash_after(draw(60));
            machines.receiver.crash_after(draw(60));
            let _ = machines.live();
            machines.restart();
            machines.check_causes(&format!("seed {seed}, crash {crash}"));
        }
        machines.live().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        machines.check_end(&format!("seed {seed}"));
    }
}

/// Begins a run and appends a step with a message, without confirming anything.
fn append_unconfirmed(store: &LogStore, clock: &ManualClock) {
    let fence = store.join(now(clock), Duration::from_secs(60)).unwrap();
    let (id, at) = (id("a"), now(clock));
    let new = NewRun { id, flow: "transfer", version: 1, parent: None, at, input: &[] };
    let Begun::New { run, .. } = store.begin(fence, new).unwrap() else { panic!("it is new") };
    let messages = vec![OutboxMessage::new("ledger", "debit").with_key("a")];
    let write = Write { run, ended: None, entries: Vec::new(), messages, marks: Vec::new() };
    store.append(fence, &[write]).unwrap();
}

#[test]
fn a_message_is_delivered_only_when_its_step_is_durable() {
    for seed in 0..20 {
        let (disk, clock) = (SimDisk::new(seed), clock());
        let store = on_disk(&disk, Level::Synced, 1);
        append_unconfirmed(&store, &clock);
        let claimed = store.claim_messages(now(&clock), Duration::from_secs(1), 10).unwrap();
        assert_eq!(claimed.len(), 1);
        disk.crash();
        drop(store);
        let store = on_disk(&disk, Level::Synced, 2);
        assert_eq!(store.backlog().unwrap().waiting, 1, "seed {seed}");
        assert!(store.find(&id("a")).unwrap().is_some(), "seed {seed}");
    }
}

#[test]
fn accepted_messages_are_known_after_a_crash() {
    for seed in 0..20 {
        let disk = SimDisk::new(seed);
        let store = on_disk(&disk, Level::Synced, 1);
        let inbox = Inbox::new(store);
        assert_eq!(inbox.accept(SENDER, "a", vec![OutboxMessage::new("x", "")]), Ok(Accepted::New));
        disk.crash();
        let store = on_disk(&disk, Level::Synced, 2);
        assert_eq!(store.is_marked(SENDER, "a"), Ok(true), "seed {seed}");
        let inbox = Inbox::new(store.clone());
        assert_eq!(inbox.accept(SENDER, "a", vec![]), Ok(Accepted::Duplicate));
        assert_eq!(store.backlog().unwrap().waiting, 1);
    }
}

/// A store that is rewritten after each 2 MiB.
fn often_written_anew(disk: &SimDisk, life: u8) -> Arc<LogStore> {
    let options = LogOptions {
        segment_bytes: 2 << 20,
        checkpoint_bytes: 2 << 20,
        salt: [life; 16],
        ..LogOptions::new(Level::Synced)
    };
    let disk = Arc::new(disk.clone());
    Arc::new(LogStore::open_on(disk, Path::new("/messages"), options).unwrap())
}

#[test]
fn the_state_of_messages_survives_a_restart_and_a_checkpoint() {
    let (disk, clock) = (SimDisk::new(1), clock());
    let lease = Duration::from_secs(1);
    let keys = ["gone", "later", "dead", "requeued", "discarded"];
    let ordered = |n: u64| {
        OutboxMessage::new("ledger", "").with_key(format!("ordered-{n}")).with_ordering_key("x")
    };
    {
        let store = often_written_anew(&disk, 1);
        let messages = keys.iter().map(|key| OutboxMessage::new("ledger", *key).with_key(*key));
        store.post(messages.chain((0..3).map(ordered)).collect()).unwrap();
        let claimed = store.claim_messages(now(&clock), lease, 10).unwrap();
        let dead = || DeliveryResult::Dead { reason: "x".repeat(100_000) };
        let later = DeliveryResult::Retry { at: now(&clock).after(Duration::from_secs(5)) };
        let deliveries =
            [DeliveryResult::Forwarded, later, dead(), dead(), dead(), DeliveryResult::Forwarded];
        for (claim, delivery) in claimed.iter().zip(deliveries) {
            assert_eq!(store.settle(claim, delivery), Ok(true));
        }
        assert_eq!(store.requeue(claimed[3].number), Ok(true));
        assert_eq!(store.discard(claimed[4].number), Ok(true));
        let inbox = Inbox::new(store.clone()).clock(Arc::new(clock.clone()));
        inbox.accept(SENDER, "known", Vec::new()).unwrap();
        // Enough to make the log worth writing again, several times over.
        for n in 0..40 {
            inbox
                .accept(
                    "filler",
                    &n.to_string(),
                    vec![OutboxMessage::new("filler", vec![0; 500_000])],
                )
                .unwrap();
            let due = store.claim_messages(Timestamp(1), lease, 10).unwrap();
            let filler = due.iter().find(|claim| claim.message.to == "filler").unwrap();
            assert_eq!(store.settle(filler, DeliveryResult::Forwarded), Ok(true));
            store.maintain_messages(now(&clock)).unwrap();
        }
    }
    disk.crash();
    let store = often_written_anew(&disk, 2);
    assert_eq!(store.is_marked(SENDER, "known"), Ok(true));
    let dead = store.dead_letters(None, 10).unwrap();
    assert_eq!(dead.iter().map(|it| it.message.key.as_str()).collect::<Vec<_>>(), ["dead"]);
    let claim = |at| {
        let claimed = store.claim_messages(at, lease, 10).unwrap();
        claimed.into_iter().map(|it| (it.message.key, it.attempts)).collect::<Vec<_>>()
    };
    let expected = [("requeued".to_owned(), 0), ("ordered-1".to_owned(), 0)];
    assert_eq!(claim(now(&clock)), expected);
    assert_eq!(claim(now(&clock).after(Duration::from_secs(5)))[0], ("later".to_owned(), 1));
}
