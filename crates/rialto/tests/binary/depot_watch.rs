//! `rialto depot watch`, `scrub` and `rebuild` in the real binary, in a directory and with a venue.

use crate::pool::Pool;
use serde_json::{Value, json};
use std::fs;
use std::time::Instant;

/// A pool in a directory, and that of a venue which may watch folders below `drop`.
fn both(test: impl Fn(&Pool)) {
    test(&Pool::new());
    let dir = tempfile::tempdir().unwrap();
    let roots = format!("watch_roots = [{:?}]\n", dir.path().join("drop"));
    test(&Pool::there_in(dir, &roots, ""));
}

#[test]
fn a_folder_is_watched_scanned_disabled_and_removed() {
    both(|pool| {
        let (folder, done) = (pool.word("drop/in"), pool.word("drop/done"));
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(&done).unwrap();
        pool.write("drop/in/a.csv", "1");
        pool.write("drop/in/a.txt", "1");
        let more = ["--tenant", "acme", "--directory", "orders", "--include", "*.csv"];
        let add = [&["watch", "add", "w", &folder, "--move-to", &done], &more[..]].concat();
        pool.done(&add);
        let (code, told) = pool.refused(&add);
        assert_eq!((code, told.contains("there is a watch \"w\" already")), (2, true), "{told}");
        let end = Instant::now() + crate::running::PATIENCE;
        while !pool.path("drop/done/a.csv").exists() {
            pool.object(&["watch", "scan", "w"]);
            assert!(Instant::now() < end);
        }
        assert_eq!(pool.paths(&[]), ["orders/a.csv"]);
        assert!(pool.path("drop/in/a.txt").exists());
        let watch = pool.object(&["watch", "ls"]);
        assert_eq!((&watch["name"], &watch["include"]), (&json!("w"), &json!(["*.csv"])));
        assert_eq!(watch["after"], "move");
        assert!(pool.done(&["watch", "ls"]).contains("watching"));

        pool.done(&["watch", "disable", "w"]);
        pool.write("drop/in/b.csv", "2");
        let (code, told) = pool.refused(&["watch", "scan", "w"]);
        assert_eq!((code, told.contains("is disabled")), (2, true), "{told}");
        assert_eq!(pool.object(&["watch", "ls"])["state"], "disabled");
        pool.done(&["watch", "enable", "w"]);
        while pool.paths(&[]).len() != 2 {
            pool.done(&["watch", "scan", "w"]);
            assert!(Instant::now() < end);
        }
        pool.done(&["watch", "rm", "w"]);
        assert_eq!(pool.objects(&["watch", "ls"]).len(), 0);
        assert_eq!(pool.refused(&["watch", "rm", "w"]).0, 2);
    });
}

#[test]
fn one_scan_of_a_directory_imports_what_has_settled_meanwhile() {
    let pool = Pool::new();
    let folder = pool.word("in");
    fs::create_dir(&folder).unwrap();
    pool.done(&["watch", "add", "w", &folder, "--create-tenants"]);
    fs::create_dir(pool.path("in/acme")).unwrap();
    pool.write("in/acme/a", "1");
    let scan = pool.object(&["watch", "scan", "w"]);
    assert_eq!((&scan["imported"], &scan["pending"]), (&json!("1"), &json!("0")));
    assert_eq!(pool.paths(&[]), ["a"]);
    assert!(!pool.path("in/acme/a").exists());
}

#[test]
fn a_venue_watches_only_below_the_roots_of_its_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let roots = format!("watch_roots = [{:?}]\n", dir.path().join("drop"));
    let pool = Pool::there_in(dir, &roots, "");
    fs::create_dir_all(pool.path("drop")).unwrap();
    fs::create_dir_all(pool.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(pool.path("elsewhere"), pool.path("drop/link")).unwrap();
    for folder in ["elsewhere", "drop/link"] {
        let add = ["watch", "add", "w", &pool.word(folder), "--tenant", "acme"];
        let (code, told) = pool.refused(&add);
        assert_eq!((code, told.contains("watches_not_allowed")), (6, true), "{told}");
    }
    let none = Pool::there("");
    let add = ["watch", "add", "w", "/tmp", "--tenant", "acme"];
    assert_eq!(none.refused(&add).0, 6);
    assert_eq!(pool.objects(&["watch", "ls"]).len(), 0);
}

fn large() -> Vec<u8> {
    (0..2_500_000_u32).map(|nth| (nth % 251) as u8).collect()
}

#[test]
fn a_scrub_lists_damaged_files() {
    let pool = Pool::new();
    pool.put("big", large(), &[]);
    let sound = pool.object(&["scrub"]);
    assert_eq!((&sound["files"], &sound["damage"]), (&json!("1"), &json!([])));
    pool.flip_bit((1 << 20) + 5);
    let (code, told) = pool.refused(&["scrub"]);
    assert_eq!((code, told.contains("1 files are damaged")), (1, true), "{told}");
    let output = pool.run(b"", &["scrub", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&found["damage"][0]["path"], &found["damage"][0]["volume"]),
        (&json!("big"), &json!("main"))
    );
    // Of a venue it shows what the scrub has found so far.
    let venue = Pool::there("");
    venue.put("big", large(), &[]);
    assert_eq!(venue.object(&["scrub"])["damage"], json!([]));
}

#[test]
fn files_whose_history_is_lost_are_adopted_with_their_ids() {
    let pool = Pool::new();
    let id = pool.put("big", large(), &["--directory", "in"]);
    let identity = pool.object(&["volume", "ls"])["identity"].as_str().unwrap().to_owned();
    let volume = pool.word("saved");
    fs::rename(pool.path("pool/volume"), &volume).unwrap();
    fs::remove_dir_all(pool.path("pool")).unwrap();
    pool.done(&["tenant", "create", "acme"]);
    pool.done(&["volume", "mount", "saved", &volume, "--identity", &identity]);

    let (code, told) = pool.refused(&["rebuild"]);
    assert_eq!((code, told.contains("rebuild --adopt")), (2, true), "{told}");
    let dry = pool.object(&["rebuild", "--adopt", "--dry-run"]);
    assert_eq!((&dry["adopted"], &dry["files"][0]["path"]), (&json!("1"), &json!("in/big")));
    assert_eq!(pool.paths(&[]).len(), 0);
    let told = pool.done(&["rebuild", "--adopt"]);
    assert!(told.contains("1 files with 2500000 bytes adopted, 0 not"), "{told}");
    assert!(pool.run(b"", &["get", &id, "--tenant", "acme"]).stdout == large());
    assert_eq!(pool.object(&["rebuild", "--adopt"])["adopted"], "0");
    let venue = Pool::there("");
    assert_eq!(venue.object(&["rebuild", "--adopt", "--dry-run"])["files"], json!([]));
}
