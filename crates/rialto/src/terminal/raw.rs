//! A terminal that is drawn upon and hands over each key as it is pressed.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{self, Write};
use std::time::Duration;

/// Another screen, no cursor, no wrapping of long lines.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?7h\x1b[?25h\x1b[?1049l";
const SIZE_DEFAULT: (usize, usize) = (80, 24);

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A letter or digit.
    Char(char),
    /// Tab, or right.
    Next,
    /// Back tab, or left.
    Previous,
    /// Control-C, which a raw terminal does not turn into a signal.
    Interrupt,
}

/// The terminal while it is drawn upon. Dropping it gives it back as it was.
pub(crate) struct RawTerminal {
    before: Termios,
}

impl RawTerminal {
    /// Takes the terminal over.
    pub(crate) fn enter() -> io::Result<RawTerminal> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        let terminal = RawTerminal { before };
        terminal.write(ENTER)?;
        Ok(terminal)
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        match tcgetwinsize(stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (usize::from(size.ws_col), usize::from(size.ws_row))
            }
            _ => SIZE_DEFAULT,
        }
    }

    /// Shows these lines from the top, and nothing below them.
    pub(crate) fn draw(&self, lines: &[String]) -> io::Result<()> {
        let mut frame = String::from("\x1b[H");
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                frame.push_str("\r\n");
            }
            frame.push_str(line);
            frame.push_str("\x1b[0m\x1b[K");
        }
        frame.push_str("\x1b[J");
        self.write(frame.as_bytes())
    }

    /// The keys that were pressed, waiting up to `timeout` for the first.
    pub(crate) fn keys(&self, timeout: Duration) -> io::Result<Vec<Key>> {
        let timeout = Timespec::try_from(timeout).ok();
        let mut ready = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
        match poll(&mut ready, timeout.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 64];
        let count = rustix::io::read(stdin(), &mut bytes)?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal went away"));
        }
        Ok(decode(&bytes[..count]))
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // A failure here cannot be reported.
        let _ = self.write(LEAVE);
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

/// The byte sequences of keys; unknown ones are ignored.
fn decode(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while let Some((&first, rest)) = bytes.split_first() {
        let (key, used) = match (first, rest) {
            (0x1b, [b'[', b'C', ..]) => (Some(Key::Next), 3),
            (0x1b, [b'[', b'D' | b'Z', ..]) => (Some(Key::Previous), 3),
            (0x1b, [b'[', _, ..]) => (None, 3),
            (3, _) => (Some(Key::Interrupt), 1),
            (b'\t', _) => (Some(Key::Next), 1),
            (b' '..=b'~', _) => (Some(Key::Char(char::from(first))), 1),
            _ => (None, 1),
        };
        keys.extend(key);
        bytes = &bytes[used..];
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinguished() {
        let keys = decode(b"1q\t\x1b[C\x1b[D\x1b[Z\x03\x1b[A\x1b");
        let expected = [
            Key::Char('1'),
            Key::Char('q'),
            Key::Next,
            Key::Next,
            Key::Previous,
            Key::Previous,
            Key::Interrupt,
        ];
        assert_eq!(keys, expected);
    }
}
