//! Notes the commit for `rialto --version`, when the source is a checkout.

use std::path::Path;
use std::process::Command;

fn main() {
    // The log of HEAD grows with every commit; HEAD itself only changes with the branch.
    let log = Path::new("../../.git/logs/HEAD");
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    let version = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_string(),
    };
    println!("cargo::rustc-env=RIALTO_VERSION={version}");
}

/// The short name of the commit that is checked out; `None` where there is no git or no checkout.
fn commit() -> Option<String> {
    let arguments = ["rev-parse", "--short=12", "HEAD"];
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let commit = text.trim();
    (output.status.success() && !commit.is_empty()).then(|| commit.to_string())
}
