//! Attacks the real binary for as long as it is told to.

use std::path::Path;
use std::process::{Command, ExitCode};

/// How many attacks share the time.
const ATTACKS: u32 = 14;
/// Less would be no longer than what `make test` does.
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
