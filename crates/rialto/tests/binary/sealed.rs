//! A venue with encrypted files, in the real binary.

use crate::running::{Running, command, rialto, text};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A text that must not be found in any file.
const CLIENT_ID: &str = "a-client-order-id-to-be-found";

struct Venue {
    dir: tempfile::TempDir,
}

impl Venue {
    fn new(compression: &str, encryption: &str) -> Venue {
        let venue = Venue { dir: tempfile::tempdir().unwrap() };
        venue.configure(compression, encryption);
        venue
    }

    fn configure(&self, compression: &str, encryption: &str) {
        let file = format!(
            "[venue]\ndata_dir = {:?}\n[engine]\nsegment_bytes = 4_194_304\n\
             io_stalled_after_ms = 30_000\n\
             [journal]\ncompression = {compression:?}\nencryption = {encryption:?}\n\
             [gateway]\nlisten = \"127.0.0.1:0\"\n[recorder]\nper_second = 1_000\n",
            self.data()
        );
        fs::write(self.path("rialto.toml"), file).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_string()
    }

    fn data(&self) -> String {
        self.path("data")
    }

    /// A key file; each key is one digit 64 times.
    fn keys(&self, name: &str, ids: &[(u64, char)], current: u64) -> String {
        let mut text = format!("# the keys of this venue\ncurrent: {current}\n");
        for (id, digit) in ids {
            text += &format!("{id}: {}\n", digit.to_string().repeat(64));
        }
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn serve(&self, keys: &str) -> Running {
        let config = self.path("rialto.toml");
        let mut running = Running::start(&["serve", "--config", &config, "--log-keys", keys]);
        running.wait_for("listening on");
        running
    }

    /// A refused start, with the exit code and the error.
    fn refused(&self, more: &[&str]) -> (i32, String) {
        let config = self.path("rialto.toml");
        let output = rialto(&[&["serve", "--config", &config], more].concat());
        (output.status.code().unwrap(), text(&output.stderr))
    }

    /// The files of the data directory that contain the text.
    fn mentions(&self, sought: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut dirs = vec![PathBuf::from(self.data())];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    dirs.push(path);
                    continue;
                }
                let bytes = fs::read(&path).unwrap();
                if bytes.windows(sought.len()).any(|part| part == sought.as_bytes()) {
                    found.push(path);
                }
            }
        }
        found
    }
}

fn json(arguments: &[&str]) -> Value {
    let output = rialto(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints JSON")
}

fn admin(venue: &Running, key: &str, arguments: &[&str]) -> Value {
    let url = venue.url();
    json(&[&["admin"], arguments, &["--json", "--url", &url, "--admin-key", key]].concat())
}

/// A market with a funded member; returns its key file.
fn create_market(venue: &Running, key: &str, dir: &Path) -> String {
    admin(venue, key, &["currency", "BTC", "--scale", "8"]);
    admin(venue, key, &["currency", "USD", "--scale", "8"]);
    let scales =
        ["--price-scale", "2", "--quantity-scale", "6", "--tick", "0.5", "--lot", "0.0001"];
    let market = ["instrument", "BTC-USD", "--base", "BTC", "--quote", "USD"];
    admin(venue, key, &[&market[..], &scales].concat());
    admin(venue, key, &["member", "first", "--number", "5"]);
    admin(venue, key, &["account", "5", "main"]);
    admin(venue, key, &["deposit", "1", "100000", "USD", "--reference", "wire-1"]);
    let made = admin(venue, key, &["key", "create", "5", "--scopes", "read,trade"]);
    let file = dir.join("member.toml");
    let content = format!("key = {}\nsecret = {}\naccount = 1\n", made["id"], made["secret"]);
    fs::write(&file, content).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    file.to_str().unwrap().to_string()
}

fn order(venue: &Running, key_file: &str, client_id: &str) {
    let url = venue.url();
    let order = ["order", "buy", "0.01", "BTC-USD", "--price", "30000", "--client-id", client_id];
    json(&[&order[..], &["--json", "--url", &url, "--key-file", key_file]].concat());
}

#[test]
fn no_client_data_is_readable_in_the_data_directory_and_keys_rotate_by_restart() {
    let venue = Venue::new("zstd", "aes-256-gcm");
    let first = venue.keys("first", &[(11, 'a')], 11);
    let mut running = venue.serve(&first);
    running.heard("recorded in memory only");
    let admin_key = running.admin_key();
    let key_file = create_market(&running, &admin_key, venue.dir.path());
    order(&running, &key_file, CLIENT_ID);
    running.kill();
    assert_eq!(venue.mentions(CLIENT_ID), Vec::<PathBuf>::new());

    // The next key is current after a restart; the shutdown makes a snapshot under it.
    let both = venue.keys("both", &[(11, 'a'), (12, 'b')], 12);
    let mut running = venue.serve(&both);
    order(&running, &key_file, "another");
    running.terminate();
    assert_eq!(venue.mentions(CLIENT_ID), Vec::<PathBuf>::new());
    assert_eq!(venue.mentions("another"), Vec::<PathBuf>::new());

    let data = venue.data();
    let verified = json(&["verify", &data, "--json", "--log-keys", &both]);
    assert_eq!(verified["ok"], true);
    let account = json(&["at", "--data", &data, "account", "1", "--json", "--log-keys", &both]);
    assert!(account.to_string().contains(CLIENT_ID), "{account}");
    let lines = rialto(&["journal", &data, "--log-keys", &both]);
    assert!(text(&lines.stdout).contains(CLIENT_ID), "{}", text(&lines.stderr));
    let from_environment = command(&["verify", &data, "--json"])
        .env("RIALTO_LOG_KEYS", format!("11:{},12:{},current:12", "a".repeat(64), "b".repeat(64)))
        .output()
        .unwrap();
    assert!(from_environment.status.success(), "{}", text(&from_environment.stderr));

    // Neither key alone suffices.
    let second = venue.keys("second", &[(12, 'b')], 12);
    for (keys, missing) in [(&first, "key 12"), (&second, "key 11")] {
        let output = rialto(&["verify", &data, "--log-keys", keys]);
        assert_eq!(output.status.code(), Some(1));
        let told = text(&output.stderr);
        assert!(told.contains(missing) && told.contains("What to do: give the keys"), "{told}");
    }
}

#[test]
fn a_start_without_the_key_names_it_and_changes_nothing() {
    let venue = Venue::new("none", "chacha20-poly1305");
    let keys = venue.keys("keys", &[(7, 'c')], 7);
    let mut running = venue.serve(&keys);
    let admin_key = running.admin_key();
    admin(&running, &admin_key, &["currency", "BTC", "--scale", "8"]);
    running.terminate();

    let (code, told) = venue.refused(&[]);
    assert!(
        code == 2 && told.contains("journal.encryption") && told.contains("--log-keys"),
        "{told}"
    );
    let others = venue.keys("others", &[(8, 'c')], 8);
    let (code, told) = venue.refused(&["--log-keys", &others]);
    assert!(code == 3 && told.contains("key 7") && told.contains("journal"), "{told}");
    let wrong = venue.keys("wrong", &[(7, 'd')], 7);
    let (code, told) = venue.refused(&["--log-keys", &wrong]);
    assert!(code == 3 && told.contains("does not decrypt"), "{told}");
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, told) = venue.refused(&["--log-keys", &keys]);
    assert!(code == 2 && told.contains("chmod 600"), "{told}");
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();

    // Encryption may be disabled; encrypted data still needs its key.
    venue.configure("lz4", "none");
    let (code, told) = venue.refused(&[]);
    assert!(code == 3 && told.contains("key 7"), "{told}");
    venue.serve(&keys).terminate();
}

#[test]
fn the_configuration_may_name_the_file_and_unknown_settings_are_errors() {
    let venue = Venue::new("none", "none");
    let keys = venue.keys("keys", &[(1, 'e')], 1);
    let config = venue.path("rialto.toml");
    let journal = format!(
        "[venue]\ndata_dir = {:?}\n[gateway]\nlisten = \"127.0.0.1:0\"\n[journal]\n\
         compression = \"gzip:1\"\nencryption = \"aes-128-gcm\"\nkeys_file = {keys:?}\n",
        venue.data()
    );
    fs::write(&config, &journal).unwrap();
    let mut running = Running::start(&["serve", "--config", &config]);
    running.wait_for("listening on");
    running.terminate();
    for (was, is, says) in [
        ("gzip:1", "brotli", "6:15: compression: `brotli` is no compression: use none, lz4"),
        ("aes-128-gcm", "aes", "7:14: encryption: `aes` is no cipher: use aes-128-gcm"),
    ] {
        fs::write(&config, journal.replace(was, is)).unwrap();
        let output = rialto(&["config", "--check", &config]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
}
