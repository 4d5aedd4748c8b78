//! Watched folders over HTTP, and the adoption of bytes without a record.

use crate::depot_support::{tenant_key, until, volume_files};
use crate::test_venue::{Reply, TestVenue, config};
use rialto_depot::DepotOptions;
use rialto_gateway::{DepotLimits, GatewayConfig};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;
use tempfile::TempDir;

/// A venue that watches folders below `root` of a directory.
struct Stage {
    venue: TestVenue,
    dir: TempDir,
}

fn quick(options: DepotOptions) -> DepotOptions {
    let mut options = options;
    options.watcher.settle = Duration::from_millis(10);
    options.watcher.period = Duration::from_millis(200);
    options
}

impl Stage {
    fn new() -> Stage {
        let dir = tempfile::tempdir().unwrap();
        for path in ["root/in", "root/done", "elsewhere"] {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        let watch_roots = vec![dir.path().join("root")];
        let depot = DepotLimits { watch_roots, ..DepotLimits::default() };
        let venue = TestVenue::with_depot(GatewayConfig { depot, ..config() }, quick);
        Stage { venue, dir }
    }

    fn path(&self, path: &str) -> String {
        self.dir.path().join(path).to_str().unwrap().to_owned()
    }

    fn add(&self, name: &str, folder: &str, more: Value) -> Reply {
        let mut body = json!({"name": name, "folder": self.path(folder), "tenant": "acme"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.venue.operate("POST", "/v1/depot/watches", body)
    }

    fn watches(&self) -> Vec<Value> {
        let listed = self.venue.operate("GET", "/v1/depot/watches", Value::Null).expect(200);
        listed["watches"].as_array().unwrap().clone()
    }

    fn names_of_files(&self) -> Vec<String> {
        let path = "/v1/depot/acme/files";
        let listed = self.venue.operate("GET", path, Value::Null);
        if listed.status == 404 {
            return Vec::new();
        }
        let listed = listed.expect(200);
        let files = listed["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    }

    fn ask(&self, op: &str) -> Value {
        self.venue.operate("POST", &format!("/v1/depot/watches/w/{op}"), Value::Null).expect(200)
    }
}

#[test]
fn a_folder_is_watched_while_the_venue_runs() {
    let stage = Stage::new();
    fs::write(stage.path("root/in/a.csv"), "1").unwrap();
    fs::write(stage.path("root/in/a.txt"), "1").unwrap();
    let more = json!({
        "directory": "orders", "include": ["*.csv"], "after": "move",
        "move_to": stage.path("root/done"),
    });
    let added = stage.add("w", "root/in", more).expect(201);
    assert_eq!((&added["state"], &added["exclude"]), (&json!("watching"), &json!([".*"])));
    until("it is imported", || stage.names_of_files() == ["orders/a.csv"]);
    until("the source is moved", || fs::exists(stage.path("root/done/a.csv")).unwrap());
    assert!(fs::exists(stage.path("root/in/a.txt")).unwrap());
    until("it is counted", || stage.watches()[0]["imported"] == "1");

    assert_eq!(stage.ask("disable")["state"], "disabled");
    fs::write(stage.path("root/in/b.csv"), "2").unwrap();
    let path = "/v1/depot/watches/w/scan";
    stage.venue.operate("POST", path, Value::Null).refuses(400, "invalid_field");
    assert_eq!(stage.names_of_files(), ["orders/a.csv"]);
    assert_eq!(stage.ask("enable")["state"], "watching");
    until("a scan imports it", || {
        stage.ask("scan");
        stage.names_of_files().len() == 2
    });
    stage.add("w", "root/in", json!({})).refuses(409, "watch_exists");
    stage.venue.operate("DELETE", "/v1/depot/watches/w", Value::Null).expect(200);
    assert_eq!(stage.watches(), [Value::Null; 0]);
    stage.venue.operate("DELETE", "/v1/depot/watches/w", Value::Null).refuses(404, "unknown_watch");
}

#[test]
fn only_folders_below_the_roots_are_watched() {
    let stage = Stage::new();
    symlink(stage.path("elsewhere"), stage.path("root/link")).unwrap();
    for folder in ["elsewhere", "root/link", "root/../elsewhere", "nowhere"] {
        let reply = stage.add("w", folder, json!({}));
        reply.refuses(403, "watches_not_allowed");
    }
    let moved = json!({"after": "move", "move_to": stage.path("elsewhere")});
    stage.add("w", "root/in", moved).refuses(403, "watches_not_allowed");
    stage.add("w", "root/none", json!({})).refuses(400, "invalid_field");
    let without = json!({"after": "move"});
    assert_eq!(stage.add("w", "root/in", without).field(), "move_to");
    let both = json!({"create_tenants": true});
    assert_eq!(stage.add("w", "root/in", both).field(), "create_tenants");
    assert_eq!(stage.watches(), [Value::Null; 0]);
    // A link within the roots is resolved once, so that it leads nowhere else later.
    symlink(stage.path("root/in"), stage.path("root/way")).unwrap();
    let added = stage.add("w", "root/way", json!({})).expect(201);
    let real = fs::canonicalize(stage.path("root/in")).unwrap();
    assert_eq!(added["folder"], real.to_str().unwrap());
}

#[test]
fn a_venue_without_roots_watches_nothing() {
    let venue = TestVenue::with_depot(config(), quick);
    let body = json!({"name": "w", "folder": "/tmp", "tenant": "acme"});
    venue.operate("POST", "/v1/depot/watches", body).refuses(403, "watches_not_allowed");
}

#[test]
fn watches_and_upkeep_are_for_operators() {
    let stage = Stage::new();
    stage.add("w", "root/in", json!({})).expect(201);
    let key = tenant_key(&stage.venue, "*", &["read", "write", "work"]);
    for (method, path) in [
        ("GET", "/v1/depot/watches"),
        ("POST", "/v1/depot/watches/w/enable"),
        ("POST", "/v1/depot/watches/w/disable"),
        ("POST", "/v1/depot/watches/w/scan"),
        ("DELETE", "/v1/depot/watches/w"),
        ("GET", "/v1/depot/scrub"),
    ] {
        stage.venue.ask(&key, method, path, Value::Null).refuses(403, "forbidden");
    }
    let body = json!({"name": "x", "folder": stage.path("root"), "tenant": "acme"});
    stage.venue.ask(&key, "POST", "/v1/depot/watches", body).refuses(403, "forbidden");
    stage.venue.ask(&key, "POST", "/v1/depot/adopt", json!({})).refuses(403, "forbidden");
    assert_eq!(stage.watches().len(), 1);
}

#[test]
fn damage_is_shown_and_quarantined_bytes_are_adopted() {
    let venue = TestVenue::with_depot(config(), |mut options| {
        options.inline_bytes_max = 0;
        options
    });
    let stored = venue.operate("POST", "/v1/depot/acme/files?name=a", json!({"a": 1})).expect(201);
    let found = venue.operate("GET", "/v1/depot/scrub", Value::Null).expect(200);
    assert_eq!((&found["damage"], &found["orphans"]), (&json!([]), &json!("0")));
    // Bytes of a file that the history does not know: as they are after its loss.
    let files = volume_files(&venue);
    let bytes =
        files.iter().find(|it| it.to_str().unwrap().contains(stored["id"].as_str().unwrap()));
    let bytes = bytes.unwrap_or_else(|| panic!("{files:?}"));
    let other = stored["id"].as_str().unwrap().replace('0', "1");
    let quarantine = venue.dir.path().join("depot/volume/quarantine");
    fs::create_dir_all(&quarantine).unwrap();
    fs::copy(bytes, quarantine.join(&other)).unwrap();
    let answer = venue.operate("POST", "/v1/depot/adopt", json!({"dry_run": true})).expect(200);
    assert_eq!(answer["files"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["files"][0]["volume"], "main");
}
