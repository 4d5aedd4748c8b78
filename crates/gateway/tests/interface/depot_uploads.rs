//! Uploads arrive piece by piece. One that is refused or does not arrive whole leaves nothing behind.

use crate::depot_support::{chunk, claim, content, put, tenant_key, until, usage, volume_files};
use crate::test_venue::{Client, Key, TestVenue, config, head_of, signed, signed_1};
use rialto_gateway::{DepotLimits, GatewayConfig};
use serde_json::{Value, json};
use std::time::Duration;

const PATH: &str = "/v1/depot/acme/files?name=a";

/// A venue with the tenant `acme` and a key for it.
fn venue(config: GatewayConfig) -> (TestVenue, Key) {
    let venue = TestVenue::with_depot(config, |options| options);
    venue.operate("PUT", "/v1/depot/tenants/acme", json!({})).expect(201);
    let key = tenant_key(&venue, "acme", &["read", "write", "work"]);
    (venue, key)
}

fn limits(depot: DepotLimits) -> GatewayConfig {
    GatewayConfig { depot, ..config() }
}

/// Sends the head of an upload of this content, in chunks.
fn begin_chunks(venue: &TestVenue, key: &Key, content: &[u8]) -> Client {
    let mut client = venue.client();
    let headers = signed(key, "POST", PATH, content);
    let head = head_of("POST", PATH, &headers, "transfer-encoding: chunked");
    client.raw(head.as_bytes()).unwrap();
    client
}

/// Begins an upload, and waits until its first part has arrived.
fn begin_and_wait(venue: &TestVenue, key: &Key, content: &[u8], first: usize) -> Client {
    let mut client = begin_chunks(venue, key, content);
    client.raw(&chunk(&content[..first])).unwrap();
    until("the upload has begun", || usage(venue, "acme").1 >= first as u64);
    client
}

#[track_caller]
fn nothing_is_left(venue: &TestVenue, before: &std::collections::BTreeSet<std::path::PathBuf>) {
    until("the quota is given back", || usage(venue, "acme") == (0, 0));
    until("no bytes are left", || volume_files(venue) == *before);
    let listed = venue.operate("GET", "/v1/depot/acme/files", Value::Null).expect(200);
    assert_eq!(listed["files"], json!([]));
}

#[test]
fn a_long_file_is_passed_on_without_being_held() {
    // Less memory for bodies than the file has.
    let (venue, key) = venue(GatewayConfig {
        bodies_bytes_max: 1 << 20,
        bodies_reserve_bytes: 64 << 10,
        key_bodies_bytes_max: 256 << 10,
        ..config()
    });
    let content = content(5 << 20);
    let stored = put(&venue, &key, "acme", "name=long", &content).expect(201);
    assert_eq!(stored["bytes"], content.len().to_string());
    let path = format!("/v1/depot/acme/files/{}", stored["id"].as_str().unwrap());
    let read = venue.ask(&key, "GET", &path, Value::Null);
    assert!(read.bytes == content, "{} bytes", read.bytes.len());
    // In chunks, without a length.
    let mut client = begin_chunks(&venue, &key, &content);
    for part in content.chunks(100_000) {
        client.raw(&chunk(part)).unwrap();
    }
    client.raw(b"0\r\n\r\n").unwrap();
    assert_eq!(client.read().unwrap().expect(201)["sha256"], stored["sha256"]);
}

#[test]
fn a_connection_that_is_cut_leaves_nothing_behind() {
    let (venue, key) = venue(config());
    let before = volume_files(&venue);
    let content = content(3 << 20);
    for first in [100, 100_000, 2 << 20] {
        drop(begin_and_wait(&venue, &key, &content, first));
        nothing_is_left(&venue, &before);
    }
    // With a declared length.
    let mut client = venue.client();
    let headers = signed(&key, "POST", PATH, &content);
    let length = format!("content-length: {}", content.len());
    client.raw(head_of("POST", PATH, &headers, &length).as_bytes()).unwrap();
    client.raw(&content[..1 << 20]).unwrap();
    until("the upload has begun", || usage(&venue, "acme").0 == 1);
    drop(client);
    nothing_is_left(&venue, &before);
}

#[test]
fn a_content_that_is_not_the_signed_one_is_refused() {
    let (venue, key) = venue(config());
    let before = volume_files(&venue);
    for bytes in [10, 100_000] {
        let (sent, signed_one) = (vec![1; bytes], vec![2; bytes]);
        let headers = signed(&key, "POST", PATH, &signed_one);
        let refused = venue.client().send("POST", PATH, &headers, &sent);
        let refused = refused.refuses(400, "content_mismatch");
        assert_eq!(refused.field(), "body");
        nothing_is_left(&venue, &before);
    }
}

#[test]
fn a_quota_that_is_passed_in_mid_stream_ends_the_upload() {
    let (venue, key) = venue(config());
    let before = volume_files(&venue);
    let quota = json!({"bytes_max": "200000"});
    venue.operate("PUT", "/v1/depot/tenants/acme", quota).expect(200);
    let content = content(300_000);
    let mut client = begin_and_wait(&venue, &key, &content, 100_000);
    client.raw(&chunk(&content[100_000..])).unwrap();
    client.read().unwrap().refuses(503, "quota_reached");
    nothing_is_left(&venue, &before);
    // A declared length is refused before the content arrives.
    let mut client = venue.client();
    let headers = signed(&key, "POST", PATH, &content);
    let head = head_of("POST", PATH, &headers, "content-length: 300000");
    client.raw(head.as_bytes()).unwrap();
    client.read().unwrap().refuses(503, "quota_reached");
}

#[test]
fn a_tenant_that_is_disabled_in_mid_stream_ends_the_upload() {
    let (venue, key) = venue(config());
    let before = volume_files(&venue);
    let content = content(300_000);
    let mut client = begin_and_wait(&venue, &key, &content, 100_000);
    venue.operate("POST", "/v1/depot/tenants/acme/disable", Value::Null).expect(200);
    client.raw(&chunk(&content[100_000..])).unwrap();
    client.read().unwrap().refuses(409, "tenant_not_enabled");
    nothing_is_left(&venue, &before);
}

#[test]
fn a_key_that_is_revoked_in_mid_stream_ends_the_upload() {
    let (venue, key) = venue(config());
    let before = volume_files(&venue);
    let mut client = begin_and_wait(&venue, &key, &content(300_000), 100_000);
    venue.operate("DELETE", &format!("/v1/admin/keys/{}", key.id), Value::Null).expect(200);
    client.read().unwrap().refuses(401, "key_not_valid");
    nothing_is_left(&venue, &before);
}

#[test]
fn a_slow_upload_is_ended() {
    let depot = DepotLimits { upload_rate_min: 1 << 20, ..DepotLimits::default() };
    let body_timeout = Duration::from_millis(200);
    let (venue, key) = venue(GatewayConfig { body_timeout, ..limits(depot) });
    let before = volume_files(&venue);
    let content = content(300_000);
    let mut client = begin_chunks(&venue, &key, &content);
    client.raw(&chunk(&content[..100_000])).unwrap();
    client.read().unwrap().refuses(408, "upload_too_slow");
    nothing_is_left(&venue, &before);
}

#[test]
fn uploads_are_bounded_for_each_key_and_in_all() {
    let (uploads_max, key_uploads_max) = (2, 1);
    let depot = DepotLimits { uploads_max, key_uploads_max, ..DepotLimits::default() };
    let (venue, key) = venue(limits(depot));
    let other = tenant_key(&venue, "acme", &["write"]);
    let third = tenant_key(&venue, "acme", &["write"]);
    let content = content(300_000);
    let first = begin_and_wait(&venue, &key, &content, 100_000);
    let refused = put(&venue, &key, "acme", "", b"x").refuses(503, "too_many_uploads");
    assert!(refused.head.contains("retry-after"));
    let second = begin_chunks(&venue, &other, &content);
    until("both have begun", || usage(&venue, "acme").0 == 2);
    put(&venue, &third, "acme", "", b"x").refuses(503, "too_many_uploads");
    drop((first, second));
    until("there is room again", || put(&venue, &key, "acme", "", b"x").status == 201);
}

#[test]
fn a_file_is_bounded_with_and_without_a_length() {
    let change = |options| rialto_depot::DepotOptions { file_bytes_max: 100_000, ..options };
    let venue = TestVenue::with_depot(config(), change);
    let key = tenant_key(&venue, "acme", &["write"]);
    put(&venue, &key, "acme", "", &content(100_000)).expect(201);
    let longer = content(100_001);
    put(&venue, &key, "acme", "", &longer).refuses(413, "file_too_large");
    let mut client = begin_chunks(&venue, &key, &longer);
    client.raw(&chunk(&longer)).unwrap();
    client.read().unwrap().refuses(413, "file_too_large");
    until("one file is left", || usage(&venue, "acme") == (1, 100_000));
}

#[test]
fn an_upload_proves_its_sender_in_the_head() {
    let (venue, key) = venue(config());
    let content = content(100_000);
    let headers = signed_1(&key, "POST", PATH, &content);
    venue.client().send("POST", PATH, &headers, &content).refuses(401, "credentials_invalid");
    venue.client().send("POST", PATH, &[], &content).refuses(401, "credentials_missing");
    assert_eq!(usage(&venue, "acme"), (0, 0));
}

#[test]
fn while_the_disk_has_little_room_files_are_refused_and_claims_go_on() {
    let (venue, key) = venue(config());
    put(&venue, &key, "acme", "", b"x").expect(201);
    venue.depot.as_ref().unwrap().set_refusing(true);
    put(&venue, &key, "acme", "", b"y").refuses(503, "storage_low");
    let claimed = claim(&venue, &key, "acme", json!({})).expect(200);
    let body = json!({"claims": [crate::depot_support::token(&claimed)]});
    let ended = venue.ask(&key, "POST", "/v1/depot/claims/complete", body).expect(200);
    assert_eq!(ended["lost"], json!([]));
    venue.depot.as_ref().unwrap().set_refusing(false);
    put(&venue, &key, "acme", "", b"y").expect(201);
}

#[test]
fn names_and_metadata_that_are_not_valid_are_refused() {
    let (venue, key) = venue(config());
    let long = format!("name={}", "x".repeat(4_096));
    for (query, field) in [
        ("name=..", "name"),
        ("name=a%2Fb", "name"),
        ("name=a%00b", "name"),
        (&*long, "name"),
        ("directory=a/../b", "directory"),
        ("directory=/a", "directory"),
        ("priority=4", "priority"),
        ("expires_at=1", "expires_at"),
    ] {
        let refused = put(&venue, &key, "acme", query, b"x").refuses(400, "invalid_field");
        assert_eq!(refused.field(), field, "{query}");
    }
    put(&venue, &key, "acme", "owner=me", b"x").refuses(400, "unknown_parameter");
    let mut headers = signed(&key, "POST", PATH, b"x");
    headers.push(("X-Rialto-Meta-Too", "y".repeat(9_000)));
    let refused = venue.client().send("POST", PATH, &headers, b"x");
    assert_eq!(refused.refuses(400, "invalid_field").field(), "metadata");
    for (header, value) in [("Idempotency-Key", "k".repeat(129)), ("Content-Type", "t".repeat(256))]
    {
        let mut headers = signed(&key, "POST", PATH, b"x");
        headers.retain(|(name, _)| *name != header);
        headers.push((header, value));
        let refused = venue.client().send("POST", PATH, &headers, b"x");
        assert_eq!(refused.refuses(400, "invalid_field").field(), header);
    }
    assert_eq!(usage(&venue, "acme"), (0, 0));
}
