//! Runs the simulation with random seeds for a given time.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Builds the simulation in release mode and runs it with random seeds for `minutes`.
pub(crate) fn run(root: &Path, minutes: u32) -> ExitCode {
    let status = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["test", "--release", "--package", "rialto-engine", "--test", "behaviour"])
        .args(["--", "simulation::soak", "--nocapture", "--include-ignored", "--test-threads", "1"])
        .env("RIALTO_SOAK_MINUTES", minutes.to_string())
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
