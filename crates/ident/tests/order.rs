//! Whatever the clock does and whatever the policy is, the ids of a generator ascend strictly and
//! are no further ahead of the clock than the policy allows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use rialto_ident::{
    Clock, Config, Exhausted, Generator, Id, IdError, Layout, Policy, SimulatedTimer, SteppedBack,
    Worker,
};
use std::sync::Arc;
use std::time::Duration;

const START_MS: u64 = 1_800_000_000_000;

#[derive(Clone, Debug)]
enum Step {
    Move(i64),
    Next(u32),
    Reserve(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (-30_i64..40).prop_map(Step::Move),
        (-3_000_i64..3_000).prop_map(Step::Move),
        (1_u32..20).prop_map(Step::Next),
        (0_u32..60).prop_map(Step::Reserve),
    ];
    prop::collection::vec(step, 1..80)
}

fn policies() -> impl Strategy<Value = Policy> {
    let ms = |range: std::ops::Range<u64>| range.prop_map(Duration::from_millis);
    let exhausted = prop_oneof![
        ms(0..30).prop_map(|at_most| Exhausted::Wait { at_most }),
        ms(0..30).prop_map(|at_most| Exhausted::Borrow { at_most }),
        Just(Exhausted::Refuse),
    ];
    (exhausted, ms(0..20), ms(0..2_000)).prop_map(|(exhausted, wait_max, borrow_max)| Policy {
        exhausted,
        stepped_back: SteppedBack { wait_max, borrow_max },
    })
}

/// How far ahead of the clock an id may be under a policy that has let it go.
fn ahead_max_ms(policy: &Policy) -> u64 {
    let exhausted = match policy.exhausted {
        Exhausted::Borrow { at_most } => at_most,
        Exhausted::Wait { .. } | Exhausted::Refuse => Duration::ZERO,
    };
    exhausted.max(policy.stepped_back.borrow_max).as_millis() as u64
}

/// Eight ids a millisecond, so that they are often used up.
fn narrow() -> Layout {
    Layout::new(40, 0, 5, 3).unwrap()
}

fn generator(policy: Policy) -> (Generator<Arc<SimulatedTimer>>, Arc<SimulatedTimer>) {
    let clock = Arc::new(SimulatedTimer::new(START_MS));
    let config = Config { policy, ..Config::new(narrow(), Worker::explicit(17)) };
    (Generator::new(config, Arc::clone(&clock)).unwrap(), clock)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn ids_ascend_and_stay_near_the_clock(
        policy in policies(),
        steps in steps(),
        is_stuck in prop::bool::weighted(0.3),
    ) {
        let (ids, clock) = generator(policy);
        if is_stuck {
            clock.stick();
        }
        let ahead_max = ahead_max_ms(&policy);
        let mut last: Option<Id> = None;
        let mut given = |id: Id| -> Result<(), TestCaseError> {
            prop_assert!(Some(id) > last, "{id} after {last:?}");
            last = Some(id);
            let parts = narrow().parts(id);
            prop_assert_eq!(parts.worker, 17);
            prop_assert!(parts.unix_ms <= clock.now_ms() + ahead_max, "{parts:?} is too far ahead");
            Ok(())
        };
        for step in steps {
            match step {
                Step::Move(by) => clock.set(clock.now_ms().saturating_add_signed(by)),
                Step::Next(count) => {
                    for _ in 0..count {
                        match ids.next() {
                            Ok(id) => given(id)?,
                            Err(IdError::Exhausted { ahead_ms } | IdError::SteppedBack { ahead_ms }) => {
                                prop_assert!(ahead_ms > 0);
                            }
                            Err(other) => return Err(TestCaseError::fail(other.to_string())),
                        }
                    }
                }
                Step::Reserve(count) => {
                    if let Ok(reserved) = ids.reserve(count) {
                        prop_assert_eq!(reserved.len(), count as usize);
                        for id in reserved {
                            given(id)?;
                        }
                    }
                }
            }
        }
        // However it went, a clock that moves on past everything makes ids possible again.
        clock.set(START_MS + 86_400_000);
        given(ids.next().map_err(|error| TestCaseError::fail(error.to_string()))?)?;
    }
}

#[test]
fn a_used_up_millisecond_is_waited_for() {
    let (ids, clock) = generator(Policy::default());
    for _ in 0..9 {
        ids.next().unwrap();
    }
    assert_eq!(clock.waited_ms(), 1);
    let times: Vec<u64> =
        ids.reserve(20).unwrap().map(|id| narrow().parts(id).unix_ms - START_MS).collect();
    assert_eq!((times[0], times[19]), (1, 3), "a reservation spans milliseconds");
    assert_eq!(clock.now_ms(), START_MS + 3, "and is there when the last of them is");
}

#[test]
fn a_used_up_millisecond_is_borrowed_from_up_to_the_bound() {
    let exhausted = Exhausted::Borrow { at_most: Duration::from_millis(2) };
    let (ids, clock) = generator(Policy { exhausted, ..Policy::default() });
    for _ in 0..24 {
        ids.next().unwrap();
    }
    assert_eq!(ids.next(), Err(IdError::Exhausted { ahead_ms: 3 }));
    assert_eq!(clock.waited_ms(), 0);
    clock.set(START_MS + 1);
    assert_eq!(narrow().parts(ids.next().unwrap()).unix_ms, START_MS + 3);
}

#[test]
fn a_used_up_millisecond_is_an_error_where_that_is_wanted() {
    let (ids, clock) = generator(Policy { exhausted: Exhausted::Refuse, ..Policy::default() });
    assert_eq!(ids.reserve(9).unwrap_err(), IdError::Exhausted { ahead_ms: 1 });
    assert_eq!(ids.reserve(8).unwrap().len(), 8, "the refused reservation took nothing");
    for _ in 0..100 {
        assert_eq!(ids.next(), Err(IdError::Exhausted { ahead_ms: 1 }));
    }
    clock.set(START_MS + 2);
    let id = ids.next().unwrap();
    assert_eq!((narrow().parts(id).unix_ms, narrow().parts(id).sequence), (START_MS + 2, 0));
}

#[test]
fn a_small_step_back_is_waited_for() {
    let (ids, clock) = generator(Policy::default());
    let before = ids.next().unwrap();
    clock.set(START_MS - 10);
    assert!(ids.next().unwrap() > before);
    assert_eq!(clock.waited_ms(), 10);
}

#[test]
fn a_larger_step_back_is_borrowed_without_waiting() {
    let (ids, clock) = generator(Policy::default());
    let before = ids.next().unwrap();
    clock.set(START_MS - 11);
    let after = ids.next().unwrap();
    assert!(after > before);
    assert_eq!((clock.waited_ms(), narrow().parts(after).unix_ms), (0, START_MS));
}

#[test]
fn a_step_back_beyond_both_is_an_error_until_the_clock_has_caught_up() {
    let (ids, clock) = generator(Policy::default());
    let before = ids.next().unwrap();
    clock.set(START_MS - 1_001);
    assert_eq!(ids.next(), Err(IdError::SteppedBack { ahead_ms: 1_001 }));
    clock.set(START_MS);
    assert!(ids.next().unwrap() > before);
}

#[test]
fn a_clock_that_stands_still_while_it_is_waited_for_is_an_error_not_a_hang() {
    let (ids, clock) = generator(Policy::default());
    clock.stick();
    for _ in 0..8 {
        ids.next().unwrap();
    }
    assert_eq!(ids.next(), Err(IdError::Exhausted { ahead_ms: 1 }));
}

#[test]
fn a_clock_outside_the_layout_is_an_error() {
    let (ids, clock) = generator(Policy::default());
    let (epoch_ms, last_ms) = (narrow().epoch().unix_ms(), narrow().last_ms());
    clock.set(epoch_ms - 1);
    assert_eq!(ids.next(), Err(IdError::BeforeEpoch { now_ms: epoch_ms - 1, epoch_ms }));
    clock.set(last_ms + 1);
    assert_eq!(ids.next(), Err(IdError::AfterLastTime { last_ms }));
    clock.set(last_ms);
    assert_eq!(ids.reserve(8).unwrap().len(), 8);
    assert_eq!(ids.next(), Err(IdError::AfterLastTime { last_ms }));
}

#[test]
fn a_new_generator_can_continue_after_the_last_id_of_an_earlier_one() {
    for worker in [3, 17, 31] {
        let (ids, clock) = generator(Policy::default());
        let last = ids.reserve(5).unwrap().last().unwrap();
        clock.set(START_MS - 5);
        let config =
            Config { after: Some(last), ..Config::new(narrow(), Worker::explicit(worker)) };
        let anew = Generator::new(config, Arc::clone(&clock)).unwrap();
        assert!(anew.next().unwrap() > last, "worker {worker}");
    }
}
