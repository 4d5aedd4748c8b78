//! Requests to the depot, for tests.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use crate::test_venue::{Key, Reply, TestVenue, header, key_of, signed};
use rialto_depot::TenantName;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A key with these rights to tenants.
pub fn tenant_key(venue: &TestVenue, tenants: &str, rights: &[&str]) -> Key {
    let member = venue.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let grant = json!({"tenants": tenants, "rights": rights});
    let body = json!({"member": member["member"], "depot": [grant]});
    key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201))
}

/// Stores a file.
pub fn put(venue: &TestVenue, key: &Key, tenant: &str, query: &str, content: &[u8]) -> Reply {
    let path = format!("/v1/depot/{tenant}/files?{query}");
    let mut headers = signed(key, "POST", &path, content);
    *header(&mut headers, "content-type") = "text/csv".to_owned();
    venue.client().send("POST", &path, &headers, content)
}

/// Claims files of a tenant.
pub fn claim(venue: &TestVenue, key: &Key, tenant: &str, body: Value) -> Reply {
    venue.ask(key, "POST", &format!("/v1/depot/{tenant}/claims"), body)
}

/// The token of the first claim of an answer.
pub fn token(claimed: &Value) -> String {
    claimed["claims"][0]["claim"].as_str().unwrap_or_else(|| panic!("{claimed}")).to_owned()
}

/// Waits until a condition holds.
#[track_caller]
pub fn until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::yield_now();
    }
}

/// The usage of a tenant: files and bytes, those being stored included.
pub fn usage(venue: &TestVenue, tenant: &str) -> (u64, u64) {
    let tenant = TenantName::new(tenant).unwrap();
    let info = venue.depot.as_ref().unwrap().tenant(&tenant).unwrap();
    (info.files, info.bytes)
}

/// The files on the first volume of a venue.
pub fn volume_files(venue: &TestVenue) -> BTreeSet<PathBuf> {
    let (mut files, mut dirs) = (BTreeSet::new(), vec![venue.dir.path().join("depot/volume")]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => dirs.push(path),
                false => drop(files.insert(path)),
            }
        }
    }
    files
}

/// A body in chunks, whose length is not declared.
pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Content that does not repeat, and does not fit into a message.
pub fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
