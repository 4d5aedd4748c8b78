//! Every submission is answered once, and waiting callers are woken.

use crate::stage::{Bench, finish, limit, setting, settle};
use rialto_engine::{Execution, Level, NoAnswer, Sabotage, Step};
use rialto_model::{
    AccountId, Command, EngineId, InstrumentId, InstrumentState, OrderId, OrderRef, Outcome, Side,
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
        for (token, command) in
            [Command::Tick, Command::Tick, cancel, Command::Tick].iter().enumerate()
        {
            producer.submit(token as u64, command, None).unwrap();
        }
        let panicked = catch_unwind(AssertUnwindSafe(|| stepped.step(Step::Sequencer)));
        assert!(panicked.is_err());
        drop(stepped);
        let answered: Vec<u64> =
            std::iter::from_fn(|| producer.try_reply()).map(|reply| reply.token).collect();
        assert_eq!(answered, [0, 1, 2, 3], "{level}");
    }
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
