//! `rialto calendar`, through the binary; and the page about it.

use crate::running::page::blocks;
use crate::running::{command, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Exit code, standard output and standard error of `rialto calendar` in `dir`.
fn calendar(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = command(&["calendar"]).args(arguments).current_dir(dir).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_page_has_the_files_and_the_output_of_the_commands() {
    let dir = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(docs().join("calendar.md")).unwrap();
    let mut committed = 0;
    for file in blocks(&page, "toml") {
        let name = file.strip_prefix("# ").unwrap().split(':').next().unwrap();
        if let Ok(text) = fs::read_to_string(docs().join("calendars").join(name)) {
            assert_eq!(file, text, "{name}");
            committed += 1;
        }
        fs::write(dir.path().join(name), file).unwrap();
    }
    assert_eq!(committed, fs::read_dir(docs().join("calendars")).unwrap().count());

    let mut commands = 0;
    for block in blocks(&page, "console") {
        for shown in block.split("$ rialto calendar ").skip(1) {
            let (arguments, expected) = shown.split_once('\n').unwrap();
            let arguments: Vec<&str> = arguments.split(' ').collect();
            let (_, out, error) = calendar(dir.path(), &arguments);
            assert_eq!(format!("{out}{error}"), expected, "{arguments:?}");
            commands += 1;
        }
    }
    assert_eq!(commands, 4);
}

#[test]
fn a_valid_file_has_the_exit_code_0() {
    let dir = docs().join("calendars");
    let (code, out, error) = calendar(&dir, &["check", "equities.toml", "--today", "2026-11-25"]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(out.starts_with("equities.toml: valid\n"), "{out}");
    // Today, whenever that is.
    let (code, out, _) = calendar(&dir, &["show", "equities.toml"]);
    assert_eq!(code, 0);
    assert!(!out.is_empty());
}

#[test]
fn faults_have_the_exit_code_2_and_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let good = fs::read_to_string(docs().join("calendars/commodities.toml")).unwrap();
    for (old, new, expected) in [
        ("Asia/Shanghai", "Asia/Shangai", "bad.toml:3:8: there is no time zone \"Asia/Shangai\""),
        ("\"friday\"", "\"freitag\"", "bad.toml:4:59: there is no weekday \"freitag\""),
        ("end = \"02:30\"", "ends = \"02:30\"", "bad.toml:8:1: a session has no key ends"),
        ("2026-10-02,", "2026-10-01,", "bad.toml:35:22: 2026-10-01 is given twice"),
        ("at = \"10:30\"", "at = \"10:00\"", "bad.toml:23:18: session 3 begins at 10:00"),
        ("end = \"08:59\"", "end = \"09:01\"", "bad.toml:17:51: the call may last until 09:01"),
    ] {
        assert!(good.contains(old), "{old}");
        fs::write(dir.path().join("bad.toml"), good.replacen(old, new, 1)).unwrap();
        for verb in ["check", "show"] {
            let (code, out, error) = calendar(dir.path(), &[verb, "bad.toml"]);
            assert_eq!((code, out.as_str()), (2, ""));
            assert!(error.starts_with(&format!("rialto: {expected}")), "{error}");
        }
    }
}

#[test]
fn special_days_that_are_all_past_are_refused() {
    let dir = docs().join("calendars");
    let (code, out, error) = calendar(&dir, &["check", "equities.toml", "--today", "2027-12-29"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(error.starts_with("rialto: equities.toml:31:46:"), "{error}");
    assert!(error.contains("the last holiday or half day is 2027-12-28, before today"), "{error}");
}

#[test]
fn a_long_file_is_not_read_to_its_end() {
    let (code, _, error) = calendar(Path::new("/"), &["check", "/dev/zero"]);
    assert_eq!(code, 2);
    assert!(error.contains("the file has more than 262144 bytes"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("long.toml"), "#".repeat(1 << 20)).unwrap();
    let (code, _, error) = calendar(dir.path(), &["check", "long.toml"]);
    assert_eq!(code, 2);
    assert!(error.starts_with("rialto: long.toml:1:1: the file has more than"), "{error}");
}

#[test]
fn a_missing_file_and_wrong_arguments_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (code, _, error) = calendar(dir.path(), &["check", "none.toml"]);
    assert_eq!(code, 1);
    assert!(error.starts_with("rialto: cannot read none.toml"), "{error}");
    for arguments in [["--days", "0"], ["--days", "367"], ["--from", "2026-02-29"]] {
        let all = [&["show", "none.toml"][..], &arguments].concat();
        assert_eq!(calendar(dir.path(), &all).0, 2, "{arguments:?}");
    }
}

#[test]
fn days_are_printed_as_json() {
    let arguments = ["show", "equities.toml", "--from", "2026-12-23", "--days", "4", "--json"];
    let (code, out, _) = calendar(&docs().join("calendars"), &arguments);
    assert_eq!(code, 0);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(shown["time_zone"], "Europe/London");
    let days = shown["days"].as_array().unwrap();
    let kinds: Vec<_> = days.iter().map(|day| day["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ordinary", "half_day", "holiday"]);
    assert_eq!(days[2]["name"], "Christmas");
    assert_eq!(days[2]["transitions"].as_array().unwrap().len(), 0);
    let call = &days[1]["transitions"][3];
    assert_eq!(call["phase"], "closing_call");
    assert_eq!(call["local"], "2026-12-24T12:30:00");
    assert_eq!(call["at"], "1798115400000000000");
    assert_eq!(call["call"]["no_cancel_from"], "1798115640000000000");
    assert_eq!(call["call"]["earliest_end"], "1798115700000000000");
    assert_eq!(call["call"]["latest_end"], "1798115730000000000");
}
