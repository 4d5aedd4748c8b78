//! The real binary in a pseudo-terminal: keys go in, and the screen can be read.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use super::running::{PATIENCE, command};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

const COLUMNS: usize = 110;

/// A program in a terminal. Dropping it kills the program.
pub(crate) struct Terminal {
    child: Child,
    /// The terminal's side.
    keyboard: File,
    /// The program's side, kept open to see how the terminal is left.
    line: File,
    typed_before: Termios,
    told: Receiver<Vec<u8>>,
    /// All output so far.
    transcript: Vec<u8>,
    screen: Screen,
}

/// The screen.
struct Screen {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// The beginning of an incomplete command.
    half: Vec<u8>,
    /// Whether the alternate screen is shown.
    is_drawn_upon: bool,
}

impl Terminal {
    /// Runs it with this many lines.
    pub(crate) fn run(rows: u16, arguments: &[&str]) -> Terminal {
        Terminal::run_command(rows, command(arguments))
    }

    /// The same for a prepared command.
    pub(crate) fn run_command(rows: u16, mut program: Command) -> Terminal {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
        grantpt(&ours).expect("it is ours");
        unlockpt(&ours).expect("it can be unlocked");
        let name = ptsname(&ours, Vec::new()).expect("it has a name");
        let name = name.to_str().expect("a plain name");
        let line = OpenOptions::new().read(true).write(true).open(name).expect("it can be opened");
        let size = Winsize { ws_row: rows, ws_col: COLUMNS as u16, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&line, size).expect("it has a size");
        let typed_before = tcgetattr(&line).expect("it is a terminal");
        let end = || line.try_clone().expect("another handle");
        program.stdin(end()).stdout(end()).stderr(end());
        let child = program.spawn().expect("the binary can be run");
        let keyboard = File::from(ours);
        let mut shown = keyboard.try_clone().expect("another handle");
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = shown.read(&mut bytes) {
                if tell.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let (transcript, screen) = (Vec::new(), Screen::empty(rows.into()));
        Terminal { child, keyboard, line, typed_before, told, transcript, screen }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("it is there");
    }

    /// Waits until a line of the screen has all of these parts.
    pub(crate) fn wait_for(&mut self, parts: &[&str]) {
        self.wait_until(&format!("{parts:?}"), |screen| screen.has(parts));
    }

    /// Waits until no line of the screen has all of these parts.
    pub(crate) fn wait_for_none(&mut self, parts: &[&str]) {
        self.wait_until(&format!("a screen without {parts:?}"), |screen| !screen.has(parts));
    }

    /// Waits until the program has restored the terminal and ended; returns its status, and whether
    /// the terminal is as before.
    pub(crate) fn wait_for_end(&mut self) -> (ExitStatus, bool) {
        self.wait_until("the screen from before", |screen| !screen.is_drawn_upon);
        let status = self.child.wait().expect("it can be waited for");
        let typed = tcgetattr(&self.line).expect("it is a terminal");
        let before = &self.typed_before;
        let is_back = typed.local_modes == before.local_modes
            && typed.input_modes == before.input_modes
            && typed.output_modes == before.output_modes;
        (status, is_back)
    }

    /// The word on the screen with this beginning.
    pub(crate) fn word(&self, begin: &str) -> String {
        let text = self.screen.text();
        let word = text.split_whitespace().find(|word| word.starts_with(begin));
        word.unwrap_or_else(|| panic!("no {begin:?} in\n{text}")).to_string()
    }

    /// All output while the alternate screen was shown, and all since.
    pub(crate) fn written(&self) -> (String, String) {
        let all = String::from_utf8_lossy(&self.transcript).into_owned();
        let (drawn, after) = all.split_once("\x1b[?1049l").unwrap_or((&all, ""));
        (drawn.to_string(), after.to_string())
    }

    fn wait_until(&mut self, what: &str, is_so: impl Fn(&Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so(&self.screen) {
            match self.told.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => {
                    self.transcript.extend_from_slice(&bytes);
                    self.screen.take(&bytes);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("never seen: {what:?}, but\n{}", self.screen.text());
                }
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Screen {
    fn empty(rows: usize) -> Screen {
        let cells = vec![vec![' '; COLUMNS]; rows];
        Screen { cells, row: 0, column: 0, half: Vec::new(), is_drawn_upon: false }
    }

    fn has(&self, parts: &[&str]) -> bool {
        self.text().lines().any(|line| parts.iter().all(|part| line.contains(part)))
    }

    fn text(&self) -> String {
        let lines = self.cells.iter().map(|line| line.iter().collect::<String>());
        lines.map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    fn take(&mut self, bytes: &[u8]) {
        self.half.extend_from_slice(bytes);
        let half = std::mem::take(&mut self.half);
        // A character may arrive in two parts, and so may a command.
        let whole = match std::str::from_utf8(&half) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&half[..error.valid_up_to()]).expect("it is valid"),
        };
        let mut rest = whole;
        while let Some(letter) = rest.chars().next() {
            let used = match letter {
                '\x1b' => {
                    let Some(end) = rest.find(|end: char| end.is_ascii_alphabetic()) else { break };
                    self.obey(&rest[1..=end]);
                    end + 1
                }
                '\r' => {
                    self.column = 0;
                    1
                }
                '\n' => {
                    self.row = (self.row + 1).min(self.cells.len() - 1);
                    1
                }
                letter => {
                    if let Some(cell) = self.cells[self.row].get_mut(self.column) {
                        *cell = letter;
                    }
                    self.column += 1;
                    letter.len_utf8()
                }
            };
            rest = &rest[used..];
        }
        let used = whole.len() - rest.len();
        self.half = half[used..].to_vec();
    }

    /// Performs a command; colours are ignored.
    fn obey(&mut self, command: &str) {
        match command {
            "[H" => (self.row, self.column) = (0, 0),
            "[K" => self.clear(self.row, self.column, self.row + 1),
            "[J" => self.clear(self.row, self.column, self.cells.len()),
            "[2J" => self.clear(0, 0, self.cells.len()),
            "[?1049h" => self.is_drawn_upon = true,
            "[?1049l" => self.is_drawn_upon = false,
            _ => {}
        }
    }

    fn clear(&mut self, row: usize, column: usize, end: usize) {
        for at in row..end {
            let from = if at == row { column.min(COLUMNS) } else { 0 };
            self.cells[at][from..].fill(' ');
        }
    }
}
