//! Records the build of the measured program, for the machine block of the report.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    // The log of HEAD grows with every commit; HEAD itself only changes with the branch.
    let log = first_line("git", &["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
    let profile = env::var("PROFILE").unwrap_or_else(|_| "unknown".to_string());
    let level = env::var("OPT_LEVEL").unwrap_or_else(|_| "unknown".to_string());
    note("COMMIT", first_line("git", &["rev-parse", "--short=12", "HEAD"]));
    note("RUSTC", first_line(&rustc, &["--version"]));
    note("PROFILE", Some(format!("{profile}, opt-level {level}")));
}

fn note(name: &str, value: Option<String>) {
    println!("cargo::rustc-env=RIALTO_BENCH_{name}={}", value.as_deref().unwrap_or("unknown"));
}

/// The first line of a program's output, if it runs and succeeds.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_string())
}
