//! The whole interface of a queue against a naive reference: after publishing, fetching, settling,
//! delaying, dead-lettering, transactions, purging, deleting, closing, kills and crashes, every
//! answer and every count equals that of the reference.
//!
//! Not compared: the order of dead letters of one moment, and the numbers of leases. Losses of
//! unsynced tails are tested in `history`, bytes and ages in `bounds.rs`.
//!
//! `RIALTO_MODEL_CASES` sets the number of histories; a failure names its seed and is shortened.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod operation;
mod pair;
mod reference;
#[path = "../stage/mod.rs"]
mod stage;

use operation::{history, topics};
use pair::Pair;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The default number of histories.
const CASES: u32 = 200;

/// How many operations a history has at most.
const OPERATIONS_MAX: usize = 120;

fn cases() -> u32 {
    let asked = std::env::var("RIALTO_MODEL_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(CASES)
}

fn run(seed: u64, cases: u32) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    // Failures while the history is shortened are not printed.
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = runner.run(&(topics(), history(OPERATIONS_MAX)), |(topics, operations)| {
        let mut pair = Pair::new(seed, topics);
        for operation in &operations {
            pair.run(operation);
        }
        Ok(())
    });
    std::panic::set_hook(told);
    if let Err(error) = result {
        panic!("seed {seed}: {error}");
    }
}

#[test]
fn a_queue_answers_as_the_reference_does() {
    let seed = std::env::var("RIALTO_MODEL_SEED").ok().and_then(|seed| seed.parse().ok());
    run(seed.unwrap_or(1), cases());
}
