//! `verify`, `at`, `journal` and `doctor`, through the real binary.

use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use tempfile::TempDir;

const ORDERS: &str = "\
time,action,id,account,side,price,quantity
1777689383000000000,place,1,1,sell,100.5,1.5
1777689383000000000,place,2,1,sell,101,2
1777689384000000000,place,3,2,buy,100.5,1
1777689385000000000,place,4,2,buy,99,4
1777689386000000000,cancel,2,,,,
";
/// The commands of the set-up: two currencies, the instrument, and member, account and two deposits
/// for each account.
const STAGE: u64 = 11;
const FIRST_ORDER: u64 = (1 << 48) + 1;

fn rialto(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rialto")).args(arguments).output().unwrap()
}

fn answer(arguments: &[&str]) -> Value {
    let output = rialto(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> (i32, String) {
    let output = rialto(arguments);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// A data directory after [`ORDERS`].
struct Venue {
    _dir: TempDir,
    data: PathBuf,
}

impl Venue {
    fn new() -> Venue {
        let dir = tempfile::tempdir().unwrap();
        let (file, data) = (dir.path().join("o.csv"), dir.path().join("venue"));
        std::fs::write(&file, ORDERS).unwrap();
        let output = rialto(&["replay", file.to_str().unwrap(), "--data", data.to_str().unwrap()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Venue { _dir: dir, data }
    }

    fn path(&self) -> &str {
        self.data.to_str().unwrap()
    }

    fn at(&self, more: &[&str]) -> Value {
        answer(&[&["at", "--data", self.path(), "--json"], more].concat())
    }

    /// Every file with its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut dirs = vec![self.data.clone()];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    dirs.push(path);
                } else {
                    let bytes = std::fs::read(&path).unwrap();
                    files.insert(path, bytes);
                }
            }
        }
        files
    }

    /// The first file below `sub` with records.
    fn file(&self, sub: &str, suffix: &str) -> PathBuf {
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.data.join(sub))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_str().unwrap().ends_with(suffix))
            .collect();
        files.sort();
        files.pop().expect("a file of that kind")
    }

    fn flip(&self, file: &Path, offset: usize) {
        let mut bytes = std::fs::read(file).unwrap();
        bytes[offset] ^= 0x10;
        std::fs::write(file, bytes).unwrap();
    }
}

#[test]
fn a_sound_directory_verifies_in_numbers() {
    let venue = Venue::new();
    let report = answer(&["verify", venue.path(), "--json"]);
    assert_eq!(report["ok"], true);
    assert_eq!(report["commands"], STAGE + 5);
    assert_eq!(report["last_seq"], (STAGE + 5).to_string());
    assert_eq!(report["events_last_seq"], report["last_seq"]);
    assert_eq!(report["snapshots"].as_array().unwrap().len(), 2);
    assert_eq!(report["snapshots"][1]["state_hash"], report["state_hash"]);
}

#[test]
fn looking_changes_no_byte() {
    let venue = Venue::new();
    let before = venue.files();
    answer(&["verify", venue.path(), "--json"]);
    venue.at(&["book", "BASE-QUOTE"]);
    venue.at(&["--seq", "13", "account", "2"]);
    venue.at(&["order", &FIRST_ORDER.to_string()]);
    assert!(rialto(&["journal", venue.path()]).status.success());
    assert!(before == venue.files());
}

#[test]
fn the_venue_is_shown_as_it_was() {
    let venue = Venue::new();
    let seq = (STAGE + 2).to_string();
    let early = venue.at(&["--seq", &seq, "book", "BASE-QUOTE"]);
    assert_eq!(early["seq"], seq);
    assert_eq!(
        early["asks"][0],
        serde_json::json!({"price": "100.5", "quantity": "1.5", "orders": 1})
    );
    assert_eq!(early["asks"].as_array().unwrap().len(), 2);
    let shallow = venue.at(&["--seq", &seq, "book", "BASE-QUOTE", "--depth", "1"]);
    assert_eq!(shallow["asks"].as_array().unwrap().len(), 1);

    let end = venue.at(&["book", "BASE-QUOTE"]);
    assert_eq!(
        end["asks"],
        serde_json::json!([{"price": "100.5", "quantity": "0.5", "orders": 1}])
    );
    assert_eq!(end["bids"], serde_json::json!([{"price": "99.0", "quantity": "4.0", "orders": 1}]));

    let account = venue.at(&["account", "2"]);
    assert_eq!(account["open_orders"], 1);
    assert_eq!(account["balances"][1]["reserved"], "396.00");
    assert_eq!(account["orders"][0]["client_order_id"], "4");
}

#[test]
fn a_time_includes_all_commands_up_to_it() {
    let venue = Venue::new();
    // A replay at full speed stamps all commands with the first recorded time.
    let at = venue.at(&["--time", "2026-05-02T02:36:23Z", "book", "BASE-QUOTE"]);
    assert_eq!(at["seq"], (STAGE + 5).to_string());
    assert_eq!(at["time"], "2026-05-02T02:36:23.000000000Z");
    let nanos = venue.at(&["--time", "1777689383000000000", "book", "BASE-QUOTE"]);
    assert_eq!(nanos, at);
    let before = ["at", "--data", venue.path(), "--time", "2026-05-02T02:36:22Z", "account", "1"];
    let (code, told) = refused(&before);
    assert_eq!(code, 2);
    assert!(told.contains("no account 1 at sequence 0"), "{told}");
}

#[test]
fn orders_are_found_open_filled_and_cancelled() {
    let venue = Venue::new();
    let order = |nth: u64| venue.at(&["order", &(FIRST_ORDER + nth).to_string()]);
    assert_eq!(order(0)["status"], "partially_filled");
    assert_eq!(order(0)["remaining"], "0.5");
    assert_eq!(order(1)["status"], "cancelled");
    assert_eq!(order(1)["ended_seq"], (STAGE + 5).to_string());
    assert_eq!(order(2)["status"], "filled");
    assert_eq!(order(2)["filled"], "1.0");
    assert_eq!(order(3)["status"], "open");
}

#[test]
fn missing_objects_are_reported_clearly() {
    let venue = Venue::new();
    let at = |more: &[&str]| refused(&[&["at", "--data", venue.path()], more].concat());
    for (more, reason) in [
        (&["book", "ETH-USD"][..], "listed were BASE-QUOTE"),
        (&["account", "77"], "no account 77"),
        (&["order", "5"], "no order 5"),
        (&["--seq", "99", "book", "BASE-QUOTE"], "ends at sequence 16"),
        (&["--time", "noon", "book", "BASE-QUOTE"], "neither a time"),
        (&["--seq", "1", "--time", "1", "book", "BASE-QUOTE"], "cannot be used with"),
    ] {
        let (code, told) = at(more);
        assert_eq!(code, 2, "{more:?}");
        assert!(told.contains(reason), "{more:?}: {told}");
    }
    let empty = tempfile::tempdir().unwrap();
    for command in ["verify", "journal"] {
        let (code, told) = refused(&[command, empty.path().to_str().unwrap()]);
        assert_eq!(code, 2);
        assert!(told.contains("holds no venue"), "{told}");
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn the_journal_is_listed_with_what_followed() {
    let venue = Venue::new();
    let (from, to) = ((STAGE + 3).to_string(), (STAGE + 5).to_string());
    let arguments = ["journal", venue.path(), "--from", &from, "--to", &to, "--json"];
    let output = rialto(&arguments);
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["command"]["command"], "place");
    let events: Vec<&Value> =
        lines[0]["events"].as_array().unwrap().iter().map(|event| &event["event"]).collect();
    assert_eq!(events, ["accepted", "trade"]);
    assert_eq!(lines[2]["seq"], to);
    assert_eq!(lines[2]["events"][0]["reason"], "cancelled");

    let (code, told) = refused(&["journal", venue.path(), "--to", "17"]);
    assert_eq!(code, 2);
    assert!(told.contains("holds sequences 1 to 16"), "{told}");
}

#[test]
fn damage_is_named_with_file_offset_and_what_to_do() {
    // The first group follows the header block, and its body follows its own header.
    for (sub, suffix, offset, advice) in [
        ("journal", ".log", 4_096 + 200, "from a backup"),
        ("events", ".log", 4_096 + 200, "makes it again from the journal"),
        ("snapshots", "16.snapshot", 400, "remove the file"),
        ("snapshots", "00.snapshot", 20, "from a backup"),
    ] {
        let venue = Venue::new();
        let file = match suffix {
            ".log" => {
                let mut logs: Vec<PathBuf> = venue
                    .files()
                    .into_keys()
                    .filter(|path| path.starts_with(venue.data.join(sub)))
                    .filter(|path| path.to_str().unwrap().ends_with(".log"))
                    .collect();
                logs.sort();
                logs.remove(0)
            }
            _ => venue.file(sub, suffix),
        };
        venue.flip(&file, offset);
        let output = rialto(&["verify", venue.path(), "--json"]);
        assert_eq!(output.status.code(), Some(1), "{sub}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["ok"], false, "{sub}");
        assert_eq!(report["file"], file.to_str().unwrap(), "{report}");
        assert!(report["offset"].is_u64(), "{report}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("at offset") && told.contains(advice), "{told}");
    }
}

#[test]
fn a_directory_in_use_is_not_changed() {
    let venue = Venue::new();
    let config = EngineConfig {
        data_dir: venue.data.clone(),
        segment_bytes: 4 << 20,
        // The replayed times are years old.
        accept_clock: true,
        ..EngineConfig::default()
    };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    for arguments in [
        &["verify", venue.path()][..],
        &["at", "--data", venue.path(), "book", "BASE-QUOTE"],
        &["journal", venue.path()],
    ] {
        let (code, told) = refused(arguments);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains("is in use by process"), "{told}");
    }
    drop(engine);
}

#[test]
fn the_doctor_measures_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let report = answer(&["doctor", dir.path().to_str().unwrap(), "--json"]);
    let syncs = report["syncs"].as_array().unwrap();
    let sizes: Vec<u64> = syncs.iter().map(|at| at["bytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [4 << 10, 64 << 10, 1 << 20]);
    assert!(syncs.iter().all(|at| at["p50_ns"].as_u64() > Some(0)));
    assert!(report["advice"].as_array().is_some_and(|advice| !advice.is_empty()));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);

    let (code, told) = refused(&["doctor", "/proc", "--json"]);
    assert_eq!(code, 1);
    assert!(told.contains("/proc"), "{told}");
}
