//! Standard output for commands that print results.

use serde_json::Value;
use std::io::{self, BufWriter, StdoutLock, Write};

/// Prints text. A closed pipe is not an error.
pub(super) fn print(text: &str) {
    drop(io::stdout().lock().write_all(text.as_bytes()));
}

/// Prints an object on one line.
pub(super) fn print_json(value: &Value) {
    print(&format!("{value}\n"));
}

/// Prints names and values in two columns.
pub(super) fn print_pairs(pairs: &[(&str, String)]) {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = pairs.iter().map(|(name, value)| format!("{name:width$}  {value}\n"));
    print(&lines.collect::<String>());
}

/// Standard output for many lines.
pub(super) fn many() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}
