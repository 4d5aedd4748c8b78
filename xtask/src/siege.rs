//! Attacks the real binary for a given time.

use std::path::Path;
use std::process::{Command, ExitCode};

/// The number of attacks that share the time.
const ATTACKS: u32 = 14;
/// A shorter run would be no longer than that of `make test`.
const SECONDS_MIN: u32 = 10;

/// Builds the binary in release mode and runs each attack for its share of `minutes`.
pub(crate) fn run(root: &Path, minutes: u32) -> ExitCode {
    let seconds = minutes.saturating_mul(60) / ATTACKS;
    let status = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["test", "--release", "--package", "rialto", "--test", "siege"])
        .args(["--", "--nocapture", "--include-ignored", "--test-threads", "1"])
        .env("RIALTO_SIEGE_SECONDS", seconds.max(SECONDS_MIN).to_string())
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot run cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
