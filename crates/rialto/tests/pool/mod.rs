//! A file pool in a directory or of a venue, and the commands on it.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use crate::running::{PATIENCE, Running, command, configure, text};
use serde_json::Value;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) struct Pool {
    dir: tempfile::TempDir,
    venue: Option<Venue>,
}

/// A venue with the pool, and how to reach it.
pub(crate) struct Venue {
    pub(crate) running: Running,
    /// Its admin key.
    pub(crate) admin_key: String,
    /// A file with an API key; the admin key is used without one.
    key_file: Option<String>,
}

/// Runs a test on a pool in a directory, and on that of a venue with its admin key.
pub(crate) fn on_both(test: impl Fn(&Pool)) {
    test(&Pool::new());
    test(&Pool::there(""));
}

impl Pool {
    /// A pool in a directory.
    pub(crate) fn new() -> Pool {
        Pool { dir: tempfile::tempdir().unwrap(), venue: None }
    }

    /// The pool of a venue, with these settings of `[depot]`.
    pub(crate) fn there(settings: &str) -> Pool {
        Pool::there_in(tempfile::tempdir().unwrap(), settings, "")
    }

    pub(crate) fn there_in(dir: tempfile::TempDir, settings: &str, more: &str) -> Pool {
        configure(dir.path(), &format!("[depot]\nenabled = true\n{settings}{more}"));
        let running = Running::serve(dir.path(), "synced");
        let admin_key = running.admin_key();
        Pool { dir, venue: Some(Venue { running, admin_key, key_file: None }) }
    }

    /// The commands sign with an API key that has this grant.
    pub(crate) fn with_key(mut self, grant: &str) -> Pool {
        let file = self.word("key.toml");
        let venue = self.venue.as_mut().unwrap();
        let admin = |arguments: &[&str]| {
            let mut command = command(&["admin"]);
            command.args(arguments).arg("--url").arg(venue.running.url());
            let output = command.env("RIALTO_ADMIN_KEY", &venue.admin_key).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
            text(&output.stdout)
        };
        let read = |text: String| serde_json::from_str::<Value>(&text).unwrap();
        let member = read(admin(&["member", "worker", "--json"]))["member"].to_string();
        let member = member.trim_matches('"');
        let create =
            ["key", "create", member, "--scopes", "read", "--depot-grant", grant, "--json"];
        let made = read(admin(&create));
        let [key, secret] = ["id", "secret"].map(|field| made[field].as_str().unwrap());
        fs::write(&file, format!("key = {key:?}\nsecret = {secret:?}\n")).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        venue.key_file = Some(file);
        self
    }

    pub(crate) fn venue(&mut self) -> &mut Venue {
        self.venue.as_mut().unwrap()
    }

    /// Starts the venue again, with these further sections of its configuration.
    pub(crate) fn restart(&mut self, more: &str) {
        self.venue().running.terminate();
        configure(self.dir.path(), &format!("[depot]\nenabled = true\n{more}"));
        let running = Running::serve(self.dir.path(), "synced");
        self.venue().running = running;
    }

    /// The directory of the pool.
    pub(crate) fn pool_dir(&self) -> PathBuf {
        self.path(if self.venue.is_some() { "data/depot" } else { "pool" })
    }

    /// A path beside the pool.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The same, as text.
    pub(crate) fn word(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file beside the pool.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.word(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&["depot"]);
        command.env_remove("RIALTO_DEPOT");
        match &self.venue {
            None => command.arg("--dir").arg(self.path("pool")),
            Some(venue) => match &venue.key_file {
                None => {
                    command.env("RIALTO_ADMIN_KEY", &venue.admin_key);
                    command.arg("--url").arg(venue.running.url())
                }
                Some(file) => {
                    command.arg("--key-file").arg(file).arg("--url").arg(venue.running.url())
                }
            },
        };
        command.args(arguments);
        command
    }

    pub(crate) fn run(&self, input: &[u8], arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A refused command may not read its input.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// The output of a command that must succeed.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(b"", arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The exit code of a command that must fail, and what it said.
    pub(crate) fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(b"", arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", text(&output.stdout));
        (output.status.code().unwrap(), text(&output.stderr))
    }

    /// The JSON objects that a command prints.
    pub(crate) fn objects(&self, arguments: &[&str]) -> Vec<Value> {
        let printed = self.done(&[arguments, &["--json"]].concat());
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn object(&self, arguments: &[&str]) -> Value {
        let mut objects = self.objects(arguments);
        assert_eq!(objects.len(), 1, "{arguments:?}: {objects:?}");
        objects.remove(0)
    }

    /// The only dead letter of the tenant acme, which shows some time after the answer to its refusal.
    pub(crate) fn dead_letter(&self) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut letters = self.objects(&["dead-letters", "--tenant", "acme"]);
            if let Some(letter) = letters.pop() {
                assert!(letters.is_empty(), "{letters:?}");
                return letter;
            }
            assert!(Instant::now() < end, "no dead letter");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stores a file of the tenant acme, and returns its id.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>, more: &[&str]) -> String {
        let file = self.write(name, content);
        let put = self.done(&[&["put", &file, "--tenant", "acme"], more].concat());
        put.trim().to_owned()
    }

    /// The paths of the tenant's files.
    pub(crate) fn paths(&self, more: &[&str]) -> Vec<String> {
        let files = self.objects(&[&["ls", "--tenant", "acme"], more].concat());
        files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    }

    /// Every file in the directory of the pool.
    pub(crate) fn all_files(&self) -> Vec<PathBuf> {
        stored(&self.path("pool"))
    }

    /// The number of stored files of the first volume.
    pub(crate) fn stored_files(&self) -> usize {
        stored(&self.pool_dir().join("volume/files")).len()
    }

    /// Waits until the first volume has this many stored files: those of ended files are removed soon.
    #[track_caller]
    pub(crate) fn has_stored_files(&self, files: usize) {
        let end = Instant::now() + PATIENCE;
        while self.stored_files() != files {
            assert!(Instant::now() < end, "{} files, not {files}", self.stored_files());
            thread::yield_now();
        }
    }

    /// Flips a bit of the only stored file.
    pub(crate) fn flip_bit(&self, at: usize) -> PathBuf {
        let mut files = stored(&self.pool_dir().join("volume/files"));
        assert_eq!(files.len(), 1, "{files:?}");
        let path = files.remove(0);
        let mut bytes = fs::read(&path).unwrap();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Begins a worker that runs a script.
    pub(crate) fn worker(&self, script: &str, more: &[&str]) -> Running {
        Running::spawn(self.command(&[&["claim", "--exec", script], more].concat()))
    }

    /// Runs a worker to its end: its exit code, and what it said.
    pub(crate) fn work(&self, script: &str, more: &[&str]) -> (i32, String) {
        let output = self.run(b"", &[&["claim", "--exec", script], more].concat());
        (output.status.code().unwrap(), text(&output.stderr))
    }

    /// Makes a pipe with a name, which a command can wait at.
    pub(crate) fn fifo(&self, name: &str) -> String {
        let made = Command::new("mkfifo").arg(self.path(name)).status().unwrap();
        assert!(made.success());
        self.word(name)
    }

    /// A command that says `started`, and ends when the pipe is [released](Pool::release).
    pub(crate) fn waiting(&self, fifo: &str) -> String {
        let script = format!("echo started >&2; read line <{fifo}");
        let path = self.write("waiting.sh", script);
        format!("timeout 120 sh {path}")
    }

    /// Lets the command go on that waits at a pipe.
    pub(crate) fn release(&self, name: &str) {
        OpenOptions::new().write(true).open(self.path(name)).unwrap().write_all(b"go\n").unwrap();
    }

    /// Waits until a command succeeds.
    pub(crate) fn until_done(&self, arguments: &[&str]) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let output = self.run(b"", arguments);
            if output.status.success() {
                return text(&output.stdout);
            }
            assert!(Instant::now() < end, "{arguments:?}: {}", text(&output.stderr));
        }
    }
}

fn stored(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { stored(&path) } else { vec![path] }).collect()
}
