//! Checks and tasks of this repository: `cargo xtask tidy`, `headline`, `soak`, `siege`,
//! `break-core`, `compare`.

#![allow(clippy::print_stdout, reason = "a command line tool prints its results")]

use compare::Comparison;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod break_core;
mod compare;
mod examples;
mod headline;
mod log_events;
mod paragraphs;
mod siege;
mod soak;
mod source;
mod tidy;
mod unsafe_code;
mod words;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["headline"] => headline::run(&root()),
        ["soak", "--minutes", minutes] => match minutes.parse() {
            Ok(minutes) => soak::run(&root(), minutes),
            Err(_) => usage(),
        },
        ["siege", "--minutes", minutes] => match minutes.parse() {
            Ok(minutes) => siege::run(&root(), minutes),
            Err(_) => usage(),
        },
        ["break-core", files @ ..] => break_core::run(&root(), files),
        ["compare", arguments @ ..] => match Comparison::parse(arguments) {
            Some(comparison) => comparison.run(),
            None => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: cargo xtask tidy              check what the compiler does not\n       \
         cargo xtask headline          write the headline table of the benchmarks\n       \
         cargo xtask soak --minutes N    run the simulation with fresh seeds for N minutes\n       \
         cargo xtask siege --minutes N   attack the real binary for N minutes\n       \
         cargo xtask break-core [FILE]...  break the core on purpose, or these files of it; the model test\n                                       \
         must notice\n       \
         cargo xtask compare --pairs N [--renamed OLD=NEW] BEFORE AFTER SUITE ...\n                                       \
         run suites of two binaries in turns and compare their rows"
    );
    ExitCode::from(2)
}

/// The root of the repository: the parent directory of this package.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}
