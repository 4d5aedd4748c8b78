//! Lost, damaged or missing keys are never taken for a first start.

use crate::asking::{Client, Credentials};
use crate::running::{Running, rialto, text};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

fn operator(venue: &Running, admin_key: &str) -> Client {
    Client::new(&venue.url(), Credentials::Admin(admin_key.to_owned()))
}

fn word(path: &Path) -> &str {
    path.to_str().expect("temporary directories have plain names")
}

/// Runs the binary, which must fail, and returns its error.
#[track_caller]
fn refused(arguments: &[&str], exit_code: i32) -> String {
    let Output { status, stdout, stderr } = rialto(arguments);
    let said = format!("{}{}", text(&stdout), text(&stderr));
    assert_eq!(status.code(), Some(exit_code), "{said}");
    said
}

#[track_caller]
fn done(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = rialto(arguments);
    assert!(status.success(), "{}{}", text(&stdout), text(&stderr));
    text(&stdout)
}

fn serve(data: &str) -> [&str; 5] {
    ["serve", "--data", data, "--listen", "127.0.0.1:0"]
}

#[test]
fn a_backup_is_marked_and_starts_with_its_own_admin_key() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    let admin_key = venue.admin_key();
    let admin = operator(&venue, &admin_key);
    admin.call("POST", "/v1/admin/currencies", Some(&json!({"code": "USD", "scale": 2}))).unwrap();
    let backup = json!({"name": "copy"});
    let backup = admin.call("POST", "/v1/admin/backup", Some(&backup)).unwrap();
    venue.terminate();
    let copy = backup["directory"].as_str().unwrap();

    let told = refused(&serve(copy), 3);
    assert!(told.contains("is a backup"), "{told}");
    assert!(told.contains(&format!("rialto admin-key --new {copy}")), "{told}");
    let told = refused(&["admin-key", "--reset", copy], 2);
    assert!(told.contains("--new"), "{told}");
    assert!(done(&["verify", copy]).contains("is a backup"));

    let told = done(&["admin-key", "--new", copy]);
    let new_key = told.split_whitespace().find(|word| word.starts_with("ra_")).unwrap().to_owned();
    refused(&["admin-key", "--new", copy], 2);
    let mut second = Running::start(&serve(copy));
    second.wait_for("listening on");
    let keys = operator(&second, &new_key).get("/v1/admin/keys").unwrap();
    assert_eq!(keys["keys"], json!([]));
    assert!(operator(&second, &admin_key).get("/v1/admin/keys").is_err());
    second.terminate();
    assert!(!done(&["verify", copy]).contains("is a backup"));
}

#[test]
fn a_journal_that_has_lost_its_keys_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    venue.kill();
    let data = dir.path().join("data");
    let verified =
        |data: &str| -> Value { serde_json::from_str(&done(&["verify", data, "--json"])).unwrap() };
    assert_eq!(verified(word(&data))["keys"], true);
    // A power failure can do this to a directory that was never synced.
    fs::remove_dir_all(data.join("auth")).unwrap();
    let told = refused(&serve(word(&data)), 3);
    let advice = format!("rialto admin-key --new {}", data.display());
    assert!(told.contains("has a journal and no keys") && told.contains(&advice), "{told}");
    assert!(!data.join("auth/keys").exists(), "no keys were made");
    assert_eq!(verified(word(&data))["keys"], false);
    assert!(done(&["verify", word(&data)]).contains(&advice));
    done(&["admin-key", "--new", word(&data)]);
    let mut again = Running::start(&serve(word(&data)));
    again.wait_for("listening on");
    again.terminate();
}

#[test]
fn the_error_of_a_damaged_master_key_has_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    venue.terminate();
    let data = dir.path().join("data");
    fs::write(data.join("auth/master.key"), [0xff; 65]).unwrap();
    let told = refused(&serve(word(&data)), 3);
    for part in ["master.key", "64 lower-case hexadecimal digits", "restore", "RIALTO_MASTER_KEY"] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn files_of_a_venue_are_readable_by_the_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    let admin = operator(&venue, &venue.admin_key());
    let backup = json!({"name": "copy"});
    admin.call("POST", "/v1/admin/backup", Some(&backup)).unwrap();
    venue.terminate();
    let made = ["data", "data/auth", "data/journal", "data/snapshots", "backups", "backups/copy"];
    for made in made {
        let mode = fs::metadata(dir.path().join(made)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{made}");
    }
}
