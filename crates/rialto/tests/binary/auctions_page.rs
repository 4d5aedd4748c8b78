//! The commands of the page about auctions, and what they print.

use crate::running::page::blocks;
use crate::running::{PATIENCE, Running, configure, text};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The length of the call that interrupts trading, on the page and here.
const CALL: (&str, &str) =
    ("--call-ms 30000 --random-end-ms 5000", "--call-ms 5000 --random-end-ms 500");

/// A shell in which `rialto` is the binary, connected to a venue.
struct Shell<'a> {
    dir: &'a Path,
    key: String,
}

impl<'a> Shell<'a> {
    fn new(dir: &'a Path, url: &str, key: String) -> Shell<'a> {
        let script = dir.join("rialto");
        let binary = env!("CARGO_BIN_EXE_rialto");
        fs::write(&script, format!("#!/bin/sh\nexec '{binary}' \"$@\" --url '{url}'\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
        Shell { dir, key }
    }

    /// What a line prints, times aside.
    fn run(&self, line: &str) -> String {
        let path = format!("{}:{}", self.dir.display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.dir)
            .env("PATH", path)
            .env("RIALTO_ADMIN_KEY", &self.key)
            .output()
            .unwrap();
        without_times(&(text(&output.stdout) + &text(&output.stderr)))
    }
}

/// A text in which the number after each `time` is gone.
fn without_times(shown: &str) -> String {
    let mut parts = shown.split(", time ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + ", time" + part.trim_start_matches(|letter: char| letter.is_ascii_digit())
    })
}

#[test]
fn a_day_goes_as_the_page_shows_it() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/auctions.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(CALL.0), "the length of the call on the page has changed");
    let page = page.replace(CALL.0, CALL.1);

    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "");
    let mut running = Running::serve(dir.path(), "synced");
    let key = running.admin_key();
    let shell = Shell::new(dir.path(), &running.url(), key);
    let [preparation] = blocks(&page, "").try_into().unwrap();
    for line in preparation.lines().filter(|line| !line.starts_with("export ")) {
        let said = shell.run(line);
        assert!(!said.contains("rialto: "), "{line}: {said}");
    }

    let mut commands = 0;
    for block in blocks(&page, "console") {
        for shown in block.split("$ ").skip(1) {
            let (line, expected) = shown.split_once('\n').unwrap();
            let expected = without_times(expected.trim_end());
            let end = Instant::now() + PATIENCE;
            // An indicative price may be 250 ms old, and calls end by themselves.
            let mut said = shell.run(line);
            while line.starts_with("rialto auction") && said.trim_end() != expected {
                assert!(Instant::now() < end, "{line}:\n{said}instead of\n{expected}");
                std::thread::sleep(Duration::from_millis(100));
                said = shell.run(line);
            }
            assert_eq!(said.trim_end(), expected, "{line}");
            commands += 1;
        }
    }
    assert!(commands > 20, "{commands} commands");
    running.terminate();
}
