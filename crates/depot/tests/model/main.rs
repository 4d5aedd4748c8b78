//! The interface of a pool against a naive reference: after every operation on tenants, directories,
//! files and claims, every answer, listing, count and content equals that of the reference; also
//! after time has passed, and after the pool was closed and opened again.
//!
//! Not compared: the order of files that were handed out before or delayed, the order of dead
//! letters, and the attempts of files in listings after a start. Losses are tested in `crash_points`.
//!
//! `RIALTO_MODEL_CASES` sets the number of histories; a failure names its seed and is shortened.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod compare;
mod operation;
mod pair;
mod reference;
#[path = "../simulated/mod.rs"]
mod simulated;

use operation::history;
use pair::Pair;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The default number of histories.
const CASES: u32 = 200;

/// How many operations a history has at most.
const OPERATIONS_MAX: usize = 80;

fn asked<T: std::str::FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok().and_then(|value| value.parse().ok())
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
    let result = runner.run(&history(OPERATIONS_MAX), |operations| {
        let mut pair = Pair::new(seed);
        for operation in &operations {
            pair.run(operation);
        }
        pair.end();
        Ok(())
    });
    std::panic::set_hook(told);
    if let Err(error) = result {
        panic!("seed {seed}: {error}");
    }
}

#[test]
fn a_pool_answers_as_the_reference_does() {
    run(asked("RIALTO_MODEL_SEED").unwrap_or(1), asked("RIALTO_MODEL_CASES").unwrap_or(CASES));
}
