//! The real binary as a child process, with its output.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod chance;
pub(crate) mod page;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A venue in its own process. Dropping it kills the process.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    /// The output lines read so far.
    pub(crate) said: Vec<String>,
}

/// Runs the binary to its end.
pub(crate) fn rialto(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary can be run")
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    command_through(&[], arguments)
}

/// The binary, started by another program that gets its path and its arguments.
fn command_through(program: &[&str], arguments: &[&str]) -> Command {
    let binary = env!("CARGO_BIN_EXE_rialto");
    let mut words = program.iter().copied().chain([binary]);
    let mut command = Command::new(words.next().unwrap_or(binary));
    command.args(words);
    // The environment of the test run must not affect the tests.
    let ours =
        ["RIALTO_SECRET", "RIALTO_ADMIN_KEY", "RIALTO_MASTER_KEY", "RIALTO_LOG_KEYS", "RIALTO_LOG"];
    for name in ours {
        command.env_remove(name);
    }
    command.args(arguments);
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes the configuration of a venue with small files, which start quickly, in `dir`; `more` are
/// sections of the caller's.
pub(crate) fn configure(dir: &Path, more: &str) {
    let file = format!(
        "[venue]\ndata_dir = {:?}\n[engine]\nsegment_bytes = 4_194_304\n\
         io_stalled_after_ms = 30_000\n\
         snapshot_every = 20_000\n[gateway]\nlisten = \"127.0.0.1:0\"\nbackup_dir = {:?}\n\
         key_rate = 1_000_000\nkey_burst = 1_000_000\n\
         address_rate = 1_000_000\naddress_burst = 1_000_000\n{more}",
        dir.join("data"),
        dir.join("backups"),
    );
    std::fs::write(dir.join("rialto.toml"), file).expect("a temporary directory can be written");
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Running {
        Running::spawn(command(arguments))
    }

    /// Starts the binary through another program, such as one that sets limits.
    pub(crate) fn start_through(program: &[&str], arguments: &[&str]) -> Running {
        Running::spawn(command_through(program, arguments))
    }

    /// Runs a command that becomes the binary.
    pub(crate) fn spawn(mut command: Command) -> Running {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be run");
        let (say, lines) = channel();
        let out = child.stdout.take().expect("it is piped");
        let err = child.stderr.take().expect("it is piped");
        let say_err = say.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let _ = say.send(line);
            }
        });
        std::thread::spawn(move || {
            for line in BufReader::new(err).lines().map_while(Result::ok) {
                let _ = say_err.send(line);
            }
        });
        Running { child, lines, said: Vec::new() }
    }

    /// A venue with small files, which start quickly, in `dir`, or with an earlier [`configure`]d
    /// file there.
    pub(crate) fn serve(dir: &Path, level: &str) -> Running {
        let config = dir.join("rialto.toml");
        if !config.exists() {
            configure(dir, "");
        }
        let config = config.to_str().expect("temporary directories have plain names");
        let mut running = Running::start(&["serve", "--config", config, "--level", level]);
        running.wait_for("listening on");
        running
    }

    /// Waits for a line that contains this.
    pub(crate) fn wait_for(&mut self, what: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.contains(what) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => {
                    panic!("it never said {what:?}, but:\n{}", self.said.join("\n"));
                }
            }
        }
    }

    /// A line that contains this, read already or waited for.
    pub(crate) fn heard(&mut self, what: &str) -> String {
        match self.said.iter().find(|line| line.contains(what)) {
            Some(line) => line.clone(),
            None => self.wait_for(what),
        }
    }

    /// A line of the output so far that contains this.
    pub(crate) fn line(&self, what: &str) -> &str {
        self.said
            .iter()
            .find(|line| line.contains(what))
            .unwrap_or_else(|| panic!("it has not said {what:?}, but:\n{}", self.said.join("\n")))
    }

    /// The address, as in `http://127.0.0.1:1234`.
    pub(crate) fn url(&self) -> String {
        let line = self.line("listening on ");
        let url = line.split("listening on ").nth(1).expect("the line contains it");
        url.split(',').next().expect("there is a first part").to_string()
    }

    /// The admin key, which a first start prints.
    pub(crate) fn admin_key(&self) -> String {
        let line = self.line("admin key: ");
        line.split_whitespace().nth(2).expect("the key is the third word").to_string()
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let told = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(told.expect("kill can be run").success());
    }

    /// Waits for its end; all output is then in `said`.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end"),
            }
        }
        self.child.wait().expect("it can be waited for")
    }

    /// Ends it in order.
    pub(crate) fn terminate(&mut self) {
        self.signal("TERM");
        let status = self.wait();
        assert!(status.success(), "{status}:\n{}", self.said.join("\n"));
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
