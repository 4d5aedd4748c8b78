//! The commands, flags and settings of the unit and the container file exist.

use crate::running::{rialto, text};
use std::path::{Path, PathBuf};

fn at_root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(at_root(path)).unwrap()
}

/// Checks that the command has each of these flags, by its help.
fn check(command: &[&str]) {
    let help = rialto(&[command[0], "--help"]);
    assert!(help.status.success(), "there is no command {}", command[0]);
    let help = text(&help.stdout);
    for flag in command.iter().filter(|word| word.starts_with("--")) {
        let mut words = help.split_whitespace();
        assert!(words.any(|word| word == *flag), "{} takes no {flag}", command[0]);
    }
}

/// The words of an instruction in list form.
fn listed<'a>(file: &'a str, instruction: &str) -> Vec<&'a str> {
    let line = file.lines().find(|line| line.starts_with(instruction)).unwrap();
    let list = line.split_once('[').unwrap().1;
    list.split('"').skip(1).step_by(2).collect()
}

#[test]
fn the_unit_runs_what_the_binary_takes() {
    let unit = read("packaging/rialto.service");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[0], "/usr/local/bin/rialto");
    check(&words[1..]);
}

#[test]
fn the_container_runs_what_the_binary_takes() {
    let file = read("Dockerfile");
    assert_eq!(listed(&file, "ENTRYPOINT"), ["/usr/local/bin/rialto"]);
    check(&listed(&file, "CMD"));
    let health = listed(&file, "HEALTHCHECK");
    assert_eq!(health[0], "/usr/local/bin/rialto");
    check(&health[1..]);
    let settings = at_root("packaging/container.toml");
    let checked = rialto(&["config", "--check", settings.to_str().unwrap()]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
}

#[test]
fn the_health_check_of_the_container_tells_a_venue_from_none() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = crate::running::Running::serve(dir.path(), "buffered");
    let url = venue.url();
    assert!(rialto(&["instruments", "--url", &url]).status.success());
    venue.terminate();
    assert!(!rialto(&["instruments", "--url", &url]).status.success());
}
