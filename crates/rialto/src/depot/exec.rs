//! Running a command on a file.

use super::any_pool::{AnyPool, Claimed, ReadError};
use super::results;
use super::shown::text;
use super::workers::Keeper;
use crate::Error;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The interval at which a command is looked after that runs on after its standard error ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long the rest of the standard error is waited for when the command has ended.
const REST: Duration = Duration::from_secs(1);
/// The longest reason, in bytes.
const REASON_BYTES_MAX: usize = 500;

/// What became of a file.
pub(super) enum Outcome {
    /// It is completed.
    Completed,
    /// It is still claimed, and has failed for this reason.
    Failed(String),
}

/// A command of the shell.
pub(super) struct Exec {
    script: String,
}

/// The end of a command.
enum Ended {
    Exited(ExitStatus, String),
    /// The claim was lost, and the command killed.
    Lost(Error),
}

impl Exec {
    pub(super) fn new(command: &str) -> Exec {
        Exec { script: format!("{command} \"$@\"") }
    }

    /// Runs the command on a claimed file, and completes it with its results. An error is not the
    /// fault of the file.
    pub(super) fn run(
        &self,
        pool: &dyn AnyPool,
        claimed: &Claimed,
        keeper: &mut Keeper<'_>,
    ) -> Result<Outcome, Error> {
        if let Some(problem) = &claimed.problem {
            return Ok(Outcome::Failed(problem.clone()));
        }
        let dir = tempfile::Builder::new().prefix("rialto-").tempdir();
        let dir = dir.map_err(Error::file("make", std::env::temp_dir()))?;
        let (copy_dir, results_dir) = (dir.path().join("file"), dir.path().join("results"));
        for new in [&copy_dir, &results_dir] {
            fs::create_dir(new).map_err(Error::file("make", new))?;
        }
        let path = copy_dir.join(claimed.name.as_str());
        match copy(claimed, &path, keeper) {
            Ok(()) => {}
            Err(ReadError::Content(error)) => return Ok(Outcome::Failed(error.to_string())),
            Err(ReadError::Sink(error)) => return Err(error),
        }
        let (status, said) = match self.run_on(claimed, &path, &results_dir, keeper)? {
            Ended::Exited(status, said) => (status, said),
            Ended::Lost(error) => return Ok(Outcome::Failed(error.to_string())),
        };
        if !status.success() {
            return Ok(Outcome::Failed(if said.is_empty() { told(status) } else { said }));
        }
        let completed = match results::collect(&results_dir) {
            Err(reason) => return Ok(Outcome::Failed(reason)),
            Ok(results) if results.is_empty() => {
                pool.complete(&[&claimed.token])?.pop().unwrap_or(Ok(()))
            }
            Ok(results) => {
                pool.complete_with(&claimed.token, &results, &mut || keeper.keep(claimed))
            }
        };
        Ok(completed
            .map_or_else(|error| Outcome::Failed(error.to_string()), |()| Outcome::Completed))
    }

    fn run_on(
        &self,
        claimed: &Claimed,
        path: &Path,
        results: &Path,
        keeper: &mut Keeper<'_>,
    ) -> Result<Ended, Error> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.script).arg("sh").arg(path);
        for (variable, field) in VARIABLES {
            let value = &claimed.file[field];
            command.env(variable, if value.is_null() { String::new() } else { plain(value) });
        }
        command.env("RIALTO_RESULTS", results);
        // A signal of the terminal asks this process to stop, which lets the commands end.
        command.process_group(0);
        let spawned = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(Error::file("run", "sh"))?;
        let (tell, heard) = channel();
        if let Some(stderr) = child.stderr.take() {
            thread::spawn(move || relay(stderr, &tell));
        }
        let ended = wait(&mut child, &heard, claimed, keeper);
        if !matches!(ended, Ok(Ended::Exited(..))) {
            kill(&mut child);
        }
        ended
    }
}

/// The variables of the command, and the fields of the file that they hold.
const VARIABLES: [(&str, &str); 10] = [
    ("RIALTO_FILE_ID", "id"),
    ("RIALTO_FILE_TENANT", "tenant"),
    ("RIALTO_FILE_PATH", "path"),
    ("RIALTO_FILE_DIRECTORY", "directory"),
    ("RIALTO_FILE_NAME", "name"),
    ("RIALTO_FILE_BYTES", "bytes"),
    ("RIALTO_FILE_CONTENT_TYPE", "content_type"),
    ("RIALTO_FILE_SHA256", "sha256"),
    ("RIALTO_FILE_ATTEMPTS", "attempts"),
    ("RIALTO_FILE_METADATA", "metadata"),
];

/// A value without quotation marks.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| text(value), str::to_owned)
}

fn copy(claimed: &Claimed, path: &Path, keeper: &mut Keeper<'_>) -> Result<(), ReadError> {
    let failed = |error| Error::file("write", path)(error);
    let mut copy = File::create_new(path).map_err(|error| ReadError::Sink(failed(error)))?;
    keeper.read(claimed, |bytes| copy.write_all(bytes).map_err(failed))
}

/// Waits for the end of a command, and renews the claim meanwhile.
fn wait(
    child: &mut Child,
    heard: &Receiver<String>,
    claimed: &Claimed,
    keeper: &mut Keeper<'_>,
) -> Result<Ended, Error> {
    let mut said = None;
    loop {
        if let Some(status) = child.try_wait().map_err(Error::file("wait for", "sh"))? {
            // Something that the command started may hold its standard error open.
            let said = said.unwrap_or_else(|| heard.recv_timeout(REST).unwrap_or_default());
            return Ok(Ended::Exited(status, said));
        }
        if let Err(error) = keeper.keep(claimed) {
            return Ok(Ended::Lost(error));
        }
        let left = keeper.time_left();
        match &said {
            None => match heard.recv_timeout(left.min(REST)) {
                Ok(last) => said = Some(last),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => said = Some(String::new()),
            },
            Some(_) => thread::sleep(left.min(LOOK_EVERY)),
        }
    }
}

/// Kills a command with everything that it started.
fn kill(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

/// Passes the standard error of a command on, and tells its last line when it ends.
fn relay(mut from: ChildStderr, tell: &Sender<String>) {
    let mut buffer = [0; 8 << 10];
    let mut last = LastLine::default();
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                let _ = io::stderr().write_all(&buffer[..read]);
                last.add(&buffer[..read]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // The command may have ended before.
    let _ = tell.send(last.text());
}

/// The last line of a text that is not blank, its begin at most.
#[derive(Default)]
struct LastLine {
    complete: Vec<u8>,
    current: Vec<u8>,
}

impl LastLine {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte != b'\n' {
                if self.current.len() < REASON_BYTES_MAX {
                    self.current.push(*byte);
                }
                continue;
            }
            let line = std::mem::take(&mut self.current);
            if !line.trim_ascii().is_empty() {
                self.complete = line;
            }
        }
    }

    fn text(&self) -> String {
        let is_blank = self.current.trim_ascii().is_empty();
        let line = if is_blank { &self.complete } else { &self.current };
        String::from_utf8_lossy(line.trim_ascii()).into_owned()
    }
}

/// How a command ended that said nothing.
fn told(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("the command exited with status {code}"),
        (None, Some(signal)) => format!("the command was ended by signal {signal}"),
        (None, None) => "the command failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(pieces: &[&str]) -> String {
        let mut last = LastLine::default();
        pieces.iter().for_each(|piece| last.add(piece.as_bytes()));
        last.text()
    }

    #[test]
    fn the_reason_is_the_last_line_that_is_not_blank() {
        assert_eq!(last(&[]), "");
        assert_eq!(last(&["one\ntw", "o\n"]), "two");
        assert_eq!(last(&["one\n", " \n\n"]), "one");
        assert_eq!(last(&["one\ntwo"]), "two");
        assert_eq!(last(&[&"x".repeat(10_000)]).len(), REASON_BYTES_MAX);
    }
}
