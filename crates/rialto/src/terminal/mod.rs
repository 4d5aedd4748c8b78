//! Standard output and its terminal.

mod raw;

pub(crate) use raw::{Key, RawTerminal};

use std::fmt::Arguments;
use std::io::{self, IsTerminal, Write};

/// Writes a line to the standard output. Whoever closed it does not want to read on, which is no
/// reason to fail: `rialto book … | head -1` is a fair use.
pub(crate) fn say(line: Arguments<'_>) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Writes a line that is not a result to standard error.
pub(crate) fn note(line: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Whether the standard error is a terminal, and so in all likelihood the one that is drawn upon.
pub(crate) fn is_stderr_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether a person is looking at the standard output and can type.
pub(crate) fn is_interactive() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}
