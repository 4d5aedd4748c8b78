//! Every submission is answered once, and waiting callers are woken.

use crate::stage::{Bench, finish, limit, setting, settle};
use rialto_engine::{Execution, Level, NoAnswer, Sabotage, Step, Submission};
use rialto_model::{
    AccountId, Amend, AmendTrigger, Command, ConditionalOrder, EngineId, InstrumentId,
    InstrumentState, MassCancel, NewOrder, OrderId, OrderRef, Outcome, Price, Side, Trigger,
    TriggerKind,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
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

#[test]
fn commands_of_every_length_are_taken_in_order() {
    let mut bench = Bench::new(4, Level::Memory);
    bench.config.producer_capacity = 7;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    for part in setting().chunks(7) {
        settle(&mut producer, &mut stepped, part);
    }
    let account = AccountId(1);
    let Command::Place(terms) = limit(1, Side::Buy, 1_000, 5) else { unreachable!() };
    let waiting = ConditionalOrder {
        terms,
        trigger: Trigger { kind: TriggerKind::Stop, price: Price(1_100) },
        immediate: false,
    };
    // Each is refused unless all before it were applied.
    let name = |text: &str| OrderRef::Client(text.parse().unwrap());
    let named = |text: &str| NewOrder { client_order_id: text.parse().unwrap(), ..terms };
    let amend = |order, price| Amend { account, order, price: Some(Price(price)), quantity: None };
    let sequence = [
        limit(2, Side::Sell, 1_050, 1),
        limit(3, Side::Buy, 1_050, 1),
        Command::PlaceConditional(ConditionalOrder { terms: named("stop"), ..waiting }),
        Command::Place(named("order")),
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
    ];
    let submissions: Vec<Submission> = (0..)
        .zip(sequence)
        .map(|(token, command)| Submission { token, command, level: None })
        .collect();
    let mut answered = Vec::new();
    let mut left = submissions.as_slice();
    for _ in 0..submissions.len() {
        let taken = if left.is_empty() { 0 } else { producer.submit_batch(left).unwrap() };
        assert!(taken <= 7, "the capacity is 7");
        left = &left[taken..];
        stepped.run_until_idle();
        answered.extend(std::iter::from_fn(|| producer.try_reply()));
    }
    assert_eq!(answered.len(), submissions.len());
    for (token, reply) in (0..).zip(&answered) {
        assert_eq!(reply.token, token);
        let outcome = reply.answer.unwrap().outcome;
        assert!(!matches!(outcome, Outcome::Rejected { .. }), "command {token}: {outcome:?}");
    }
    finish(&engine, &mut stepped);
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
