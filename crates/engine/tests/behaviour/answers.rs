//! Every submission is answered once, and waiting callers are woken.

use crate::stage::{Bench, LONG, config, finish, journaled, limit, send, setting, settle, start};
use rialto_disk::{Disk, SimDisk};
use rialto_engine::{
    EngineConfig, Execution, Level, NoAnswer, Progress, Reply, Sabotage, Step, Submission,
    SubmitError,
};
use rialto_model::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More operations than any test has.
const NEVER: u64 = 1 << 60;

#[test]
fn a_rules_version_refused_for_lack_of_a_snapshot_wakes_its_caller() {
    for level in Level::ALL {
        let bench = Bench::new(1, level);
        let (engine, mut stepped, _) = bench.start();
        let mut producer = engine.producer();
        settle(&mut producer, &mut stepped, &setting());
        let woken = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&woken);
        let count = move || {
            counter.fetch_add(1, Ordering::Relaxed);
        };
        producer.set_waker(Arc::new(count));

        let version = *rialto_core::RULES_VERSIONS.end();
        producer.submit(1, &Command::SetRulesVersion { version }, None).unwrap();
        stepped.step(Step::Sequencer);
        while engine.stats().snapshots_failed == 0 {
            stepped.step(Step::Journal);
            bench.disk.fail_sync(0);
            stepped.step(Step::Follower);
            bench.disk.fail_sync(NEVER);
        }
        assert_eq!(producer.try_reply(), None, "{level}: not answered yet");
        let before = woken.load(Ordering::Relaxed);
        stepped.step(Step::Sequencer);
        assert!(woken.load(Ordering::Relaxed) > before, "{level}: the caller sleeps on");
        let reply = producer.try_reply().expect("the answer that it was woken for");
        assert_eq!((reply.token, reply.outcome()), (1, Err(NoAnswer::NoSnapshot)));
        finish(&engine, &mut stepped);
    }
}

#[test]
fn a_panic_of_the_sequencer_answers_every_submission_once() {
    for level in Level::ALL {
        let mut bench = Bench::new(2, level);
        bench.config.sabotage = Some(Sabotage::PanicAtCancel);
        let (engine, mut stepped, _) = bench.start();
        let mut producer = engine.producer();
        let order = OrderRef::Id(OrderId::from_parts(EngineId(1), 1));
        let cancel = Command::Cancel { account: AccountId(1), order };
        let order = limit(1, Side::Buy, 1_000, 5);
        for (token, command) in
            [Command::Tick, order, Command::Tick, cancel, Command::Tick, order].iter().enumerate()
        {
            producer.submit(token as u64, command, None).unwrap();
        }
        let panicked = catch_unwind(AssertUnwindSafe(|| stepped.step(Step::Sequencer)));
        assert!(panicked.is_err());
        drop(stepped);
        let answered: Vec<u64> =
            std::iter::from_fn(|| producer.try_reply()).map(|reply| reply.token).collect();
        assert_eq!(answered, [0, 1, 2, 3, 4, 5], "{level}");
    }
}

/// Commands of both rings in turn, which a venue with the setting accepts.
fn of_both_rings() -> [Command; 13] {
    let account = AccountId(1);
    let Command::Place(terms) = limit(1, Side::Buy, 1_000, 5) else { unreachable!() };
    let waiting = ConditionalOrder {
        terms,
        trigger: Trigger { kind: TriggerKind::Stop, price: Price(1_100) },
        immediate: false,
    };
    let name = |text: &str| OrderRef::Client(text.parse().unwrap());
    let named = |text: &str| NewOrder { client_order_id: text.parse().unwrap(), ..terms };
    let amend = |order, price| Amend { account, order, price: Some(Price(price)), quantity: None };
    let stop_loss = Leg {
        condition: Some(Condition::Trigger(Trigger { kind: TriggerKind::Stop, price: Price(800) })),
        kind: OrderKind::Market,
        time_in_force: TimeInForce::Gtc,
        price: Price::ZERO,
        expire_at: Timestamp::ZERO,
    };
    [
        // A trade, which stops need.
        limit(2, Side::Sell, 1_050, 1),
        limit(3, Side::Buy, 1_050, 1),
        Command::PlaceConditional(ConditionalOrder { terms: named("stop"), ..waiting }),
        Command::Place(named("order")),
        Command::PlaceList(OrderList {
            terms: named("list"),
            condition: None,
            kind: LinkKind::Oto,
            take_profit: None,
            stop_loss: Some(stop_loss),
        }),
        Command::AmendTrigger(AmendTrigger {
            amend: Amend { price: None, ..amend(name("stop"), 0) },
            trigger_price: Price(1_200),
        }),
        Command::Amend(amend(name("order"), 900)),
        Command::MassCancel(MassCancel { account, instrument: None, side: None }),
        Command::Place(named("next")),
        Command::Cancel { account, order: name("next") },
        Command::Place(named("last")),
        Command::Disconnect { account },
        Command::Cancel { account, order: name("last") },
    ]
}

fn numbered(commands: impl IntoIterator<Item = Command>) -> Vec<Submission> {
    let numbered = (0..).zip(commands);
    numbered.map(|(token, command)| Submission { token, command, level: None }).collect()
}

/// Compares the answers to these commands, and what the journal has of them, with what was sent.
fn assert_taken_in_order(
    disk: &Arc<dyn Disk>,
    data_dir: &Path,
    sent: &[Submission],
    answered: &[Reply],
) {
    let tokens: Vec<u64> = answered.iter().map(|reply| reply.token).collect();
    assert_eq!(tokens, (0..sent.len() as u64).collect::<Vec<_>>());
    let before = setting();
    for (seq, reply) in (before.len() as u64 + 1..).zip(answered) {
        assert_eq!(reply.answer.unwrap().seq, Seq(seq), "command {}", reply.token);
    }
    let journaled = journaled(disk, data_dir);
    let sent = before.into_iter().chain(sent.iter().map(|it| it.command));
    for (at, (journaled, sent)) in journaled.iter().zip(sent.clone()).enumerate() {
        assert_eq!(*journaled, sent, "command {at} of the journal");
    }
    assert_eq!(journaled.len(), sent.count());
}

#[test]
fn commands_of_both_rings_are_taken_in_order() {
    let mut bench = Bench::new(4, Level::Memory);
    bench.config.producer_capacity = 7;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    for part in setting().chunks(7) {
        settle(&mut producer, &mut stepped, part);
    }
    let submissions = numbered(of_both_rings());
    let mut answered = Vec::new();
    let mut left = submissions.as_slice();
    while !left.is_empty() {
        let taken = producer.submit_batch(left).unwrap();
        // A producer learns of the replies that were taken only when its capacity is used up.
        assert!((1..=7).contains(&taken) && producer.outstanding() <= 7, "the capacity is 7");
        left = &left[taken..];
        stepped.run_until_idle();
        answered.extend(std::iter::from_fn(|| producer.try_reply()));
    }
    for reply in &answered {
        let outcome = reply.outcome().unwrap();
        assert!(!outcome.is_rejected(), "command {}: {outcome:?}", reply.token);
    }
    finish(&engine, &mut stepped);
    assert_taken_in_order(&bench.shared_disk(), &bench.config.data_dir, &submissions, &answered);
}

/// The most commands of one producer in a turn of the sequencer.
const FAIR_SHARE: usize = 128;

#[test]
fn commands_of_both_rings_stay_in_order_when_a_turn_ends_between_them() {
    let mut bench = Bench::new(5, Level::Memory);
    // More than two turns, and no multiple of one, so that a turn ends everywhere in the rings.
    bench.config.producer_capacity = 300;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let submissions = numbered((0..200).flat_map(|_| of_both_rings()));
    let mut answered = Vec::new();
    let mut left = submissions.as_slice();
    while !left.is_empty() {
        let taken = producer.submit_batch(left).unwrap();
        left = &left[taken..];
        for _ in 0..2 {
            let outstanding = producer.outstanding();
            stepped.step(Step::Sequencer);
            answered.extend(std::iter::from_fn(|| producer.try_reply()));
            let done = outstanding - producer.outstanding();
            assert_eq!(done, outstanding.min(FAIR_SHARE), "{} answered", answered.len());
        }
        stepped.step(Step::Journal);
        stepped.step(Step::Events);
    }
    finish(&engine, &mut stepped);
    answered.extend(std::iter::from_fn(|| producer.try_reply()));
    assert_taken_in_order(&bench.shared_disk(), &bench.config.data_dir, &submissions, &answered);
}

#[test]
fn commands_of_both_rings_stay_in_order_when_no_batch_is_free_between_them() {
    let mut bench = Bench::new(6, Level::Memory);
    bench.config.producer_capacity = 100_000;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let submissions = numbered((0..2_000).flat_map(|_| of_both_rings()));
    assert_eq!(producer.submit_batch(&submissions), Ok(submissions.len()));
    let (mut answered, mut stops) = (Vec::new(), 0);
    while answered.len() < submissions.len() {
        // Without the journal, the batches come to an end.
        while stepped.step(Step::Sequencer) == Progress::Worked {}
        answered.extend(std::iter::from_fn(|| producer.try_reply()));
        stops += usize::from(answered.len() < submissions.len());
        stepped.step(Step::Journal);
        stepped.step(Step::Events);
    }
    assert!(stops > 1, "it stopped {stops} times");
    finish(&engine, &mut stepped);
    assert_taken_in_order(&bench.shared_disk(), &bench.config.data_dir, &submissions, &answered);
}

#[test]
fn a_producer_of_a_running_engine_has_its_commands_taken_in_order() {
    const COMMANDS: usize = 100_000;
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(8));
    let config =
        EngineConfig { producer_capacity: 8, ..config(Path::new("/venue"), Level::Memory) };
    let (engine, _) = start(&config, &disk);
    let mut producer = engine.producer();
    let before = setting();
    send(&mut producer, &before);
    let command = |number: usize| match number % 3 {
        0 => {
            let side = if number.is_multiple_of(2) { Side::Buy } else { Side::Sell };
            limit(1 + (number % 4) as u32, side, 1_000, 1 + (number % 7) as i64)
        }
        1 => Command::Tick,
        _ => {
            let member = MemberId(1_000 + number as u32);
            Command::CreateMember { member, name: format!("m{number}").parse().unwrap() }
        }
    };
    let submissions = numbered((0..COMMANDS).map(command));
    let (mut left, mut answered) = (submissions.as_slice(), Vec::with_capacity(COMMANDS));
    for round in 0_usize.. {
        // One by one and in batches, and sometimes more than there is room for.
        let next = &left[..left.len().min(1 + round % 11)];
        let taken = match (round % 2, next.first()) {
            (_, None) => break,
            (0, _) => producer.submit_batch(next),
            (_, Some(first)) => {
                producer.submit(first.token, &first.command, first.level).map(|()| 1)
            }
        };
        match taken {
            Ok(taken) => left = &left[taken..],
            Err(SubmitError::Busy) => answered.extend(producer.reply_timeout(LONG)),
            Err(error) => panic!("{error}"),
        }
        answered.extend(std::iter::from_fn(|| producer.try_reply()));
    }
    while answered.len() < COMMANDS {
        answered.push(producer.reply_timeout(LONG).expect("a reply within the time"));
    }
    assert_eq!(producer.try_reply(), None);
    assert!(engine.shutdown(LONG).finished);
    for (sent, reply) in submissions.iter().zip(&answered) {
        let outcome = reply.outcome().unwrap();
        let fits = match sent.command.kind() {
            CommandKind::Place => matches!(outcome, Outcome::Order { .. }),
            CommandKind::Tick => outcome == Outcome::Done,
            _ => {
                matches!(outcome, Outcome::Created { number } if number == 1_000 + sent.token as u32)
            }
        };
        assert!(fits, "{sent:?} is answered {outcome:?}");
    }
    assert_taken_in_order(&disk, &config.data_dir, &submissions, &answered);
}

#[test]
fn the_end_of_a_call_answers_without_the_trades_of_its_auction() {
    let bench = Bench::new(3, Level::Memory);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let state = |state| Command::SetInstrumentState { instrument: InstrumentId(1), state };
    let auction = [
        state(InstrumentState::Call),
        limit(1, Side::Buy, 1_000, 5),
        limit(2, Side::Sell, 1_000, 5),
        state(InstrumentState::Open),
    ];
    let replies = settle(&mut producer, &mut stepped, &auction);
    let answer = replies.last().unwrap().answer.unwrap();
    assert_eq!((answer.outcome, answer.execution), (Outcome::Done, Execution::default()));
    finish(&engine, &mut stepped);
}
