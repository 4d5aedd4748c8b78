//! The depot over HTTP: files are stored, read, listed, claimed and completed.

use crate::depot_support::{claim, put, tenant_key, token};
use crate::test_venue::{TestVenue, config};
use rialto_depot::TenantName;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn a_file_is_stored_claimed_read_and_completed() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["read", "write", "work"]);
    let stored = put(&venue, &key, "acme", "directory=in/orders&name=a.csv", b"1,2,3").expect(201);
    assert_eq!(stored["path"], "in/orders/a.csv");
    assert_eq!((&stored["bytes"], &stored["state"]), (&json!("5"), &json!("waiting")));
    let id = stored["id"].as_str().unwrap();

    let read = venue.ask(&key, "GET", &format!("/v1/depot/acme/files/{id}"), Value::Null);
    assert_eq!((read.status, &*read.bytes), (200, &b"1,2,3"[..]));
    assert!(read.head.contains(&format!("etag: \"{}\"", stored["sha256"].as_str().unwrap())));

    let claimed = claim(&venue, &key, "acme", json!({"content": true})).expect(200);
    assert_eq!(claimed["claims"][0]["file"]["id"], id);
    assert_eq!(claimed["claims"][0]["content"], "MSwyLDM=");
    assert_eq!(claimed["claims"][0]["attempt"], 1);
    let body = json!({"claims": [token(&claimed)]});
    let ended = venue.ask(&key, "POST", "/v1/depot/claims/complete", body.clone()).expect(200);
    assert_eq!(ended, json!({"lost": [], "unreadable": []}));
    let path = format!("/v1/depot/acme/files/{id}/info");
    venue.ask(&key, "GET", &path, Value::Null).refuses(404, "unknown_file");
    // A second end finds that the claim has ended.
    let again = venue.ask(&key, "POST", "/v1/depot/claims/complete", body.clone()).expect(200);
    assert_eq!(again["lost"], body["claims"]);
}

#[test]
fn an_operator_administers_and_has_all_rights() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let limits = json!({"files_max": "2", "bytes_max": "100"});
    venue.operate("PUT", "/v1/depot/tenants/acme", limits).expect(201);
    let shelf = json!({"directory": "out", "kind": "shelf"});
    venue.operate("PUT", "/v1/depot/tenants/acme/directories", shelf).expect(200);
    let path = "/v1/depot/acme/files?directory=out&name=report.txt";
    let stored = venue.operate("POST", path, json!({"report": 1})).expect(201);
    assert_eq!(stored["state"], "kept");
    let found = venue.operate("GET", "/v1/depot/acme/shelf?path=out/report.txt", Value::Null);
    assert_eq!(found.expect(200)["id"], stored["id"]);
    let listed = venue.operate("GET", "/v1/depot/acme/files?kind=shelf&prefix=out/", Value::Null);
    assert_eq!(listed.expect(200)["files"][0]["id"], stored["id"]);
    let listed = venue.operate("GET", "/v1/depot/tenants", Value::Null).expect(200);
    assert_eq!((&listed["tenants"][0]["files"], &listed["next"]), (&json!("1"), &Value::Null));
    let path = format!("/v1/depot/acme/files/{}", stored["id"].as_str().unwrap());
    venue.operate("DELETE", &path, Value::Null).expect(200);
    for (op, state) in [("disable", "disabled"), ("drain", "draining"), ("enable", "enabled")] {
        let path = format!("/v1/depot/tenants/acme/{op}");
        assert_eq!(venue.operate("POST", &path, Value::Null).expect(200)["state"], state);
    }
    venue.operate("DELETE", "/v1/depot/tenants/acme", Value::Null).expect(202);
    let gone = || venue.operate("GET", "/v1/depot/tenants/acme", Value::Null).status == 404;
    crate::depot_support::until("the tenant is gone", gone);
}

#[test]
fn volumes_are_mounted_drained_and_unmounted() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let dir = venue.dir.path().join("second");
    let body = json!({"name": "second", "dir": dir});
    let mounted = venue.operate("POST", "/v1/depot/volumes", body).expect(201);
    assert_eq!(mounted["state"], "up");
    let state = |op: &str| {
        let path = format!("/v1/depot/volumes/second/{op}");
        venue.operate("POST", &path, Value::Null).expect(200)["state"].clone()
    };
    assert_eq!((state("drain"), state("undrain")), (json!("draining"), json!("up")));
    let all = venue.operate("GET", "/v1/depot/volumes", Value::Null).expect(200);
    assert_eq!(all["volumes"].as_array().unwrap().len(), 2);
    venue.operate("DELETE", "/v1/depot/volumes/second", Value::Null).expect(200);
    let gone = venue.operate("DELETE", "/v1/depot/volumes/second", Value::Null);
    gone.refuses(404, "unknown_volume");
    let body = json!({"name": "third", "dir": "relative"});
    let refused = venue.operate("POST", "/v1/depot/volumes", body).refuses(400, "invalid_field");
    assert_eq!(refused.field(), "dir");
}

#[test]
fn a_volume_has_a_directory_or_a_valid_bucket_and_no_credentials() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let mount = |body: Value| venue.operate("POST", "/v1/depot/volumes", body);
    let bucket = |endpoint: &str| {
        let at = json!({"bucket": "cold", "endpoint": endpoint, "region": "eu-west-1"});
        json!({"name": "cold", "bucket": at})
    };
    let mut both = bucket("https://s3.example.com");
    both["dir"] = json!("/nowhere");
    assert_eq!(mount(both).refuses(400, "invalid_field").field(), "dir");
    assert_eq!(mount(json!({"name": "cold"})).refuses(400, "invalid_field").field(), "dir");
    let plain = mount(bucket("http://s3.example.com")).refuses(400, "invalid_field");
    assert_eq!(plain.field(), "bucket");
    let mut secret = bucket("https://s3.example.com");
    secret["bucket"]["secret_access_key"] = json!("s");
    assert_eq!(mount(secret).status, 400);
    // The library of this test opens no buckets.
    mount(bucket("https://s3.example.com")).refuses(409, "volume_refused");
    let all = venue.operate("GET", "/v1/depot/volumes", Value::Null).expect(200);
    assert_eq!(all["volumes"].as_array().unwrap().len(), 1);
    assert_eq!(all["volumes"][0]["bucket"], Value::Null);
}

#[test]
fn a_failed_file_becomes_a_dead_letter_and_is_redriven() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["read", "write", "work"]);
    let stored = put(&venue, &key, "acme", "name=a", b"x").expect(201);
    let claimed = claim(&venue, &key, "acme", json!({})).expect(200);
    let fail = json!({"claims": [token(&claimed)], "reason": "try later", "delay_ms": 0});
    venue.ask(&key, "POST", "/v1/depot/claims/fail", fail).expect(200);
    let claimed = claim(&venue, &key, "acme", json!({"wait_ms": 20_000})).expect(200);
    assert_eq!(claimed["claims"][0]["attempt"], 2);
    let back = json!({"claims": [token(&claimed)]});
    venue.ask(&key, "POST", "/v1/depot/claims/return", back).expect(200);
    let claimed = claim(&venue, &key, "acme", json!({"wait_ms": 20_000})).expect(200);
    assert_eq!(claimed["claims"][0]["attempt"], 2, "a return does not count");
    let renew = json!({"claims": [token(&claimed)], "duration_ms": 60_000});
    let renewed = venue.ask(&key, "POST", "/v1/depot/claims/renew", renew).expect(200);
    assert_eq!(renewed["renewed"][0]["claim"], claimed["claims"][0]["claim"]);
    let refuse = json!({"claims": [token(&claimed)], "reason": "not a file"});
    venue.ask(&key, "POST", "/v1/depot/claims/refuse", refuse).expect(200);
    let dead = || {
        let path = "/v1/depot/acme/dead-letters";
        venue.ask(&key, "GET", path, Value::Null).expect(200)["dead_letters"].clone()
    };
    crate::depot_support::until("it is dead", || dead() != json!([]));
    assert_eq!(dead()[0]["file"]["id"], stored["id"]);
    assert_eq!(dead()[0]["detail"], "not a file");
    let path = "/v1/depot/acme/dead-letters/redrive";
    let redriven = venue.ask(&key, "POST", path, Value::Null).expect(200);
    assert_eq!(redriven["redriven"], "1");
    let claimed = claim(&venue, &key, "acme", json!({"wait_ms": 20_000})).expect(200);
    assert_eq!(claimed["claims"][0]["file"]["id"], stored["id"]);
}

#[test]
fn a_claim_waits_for_a_file() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["write", "work"]);
    let other = tenant_key(&venue, "other", &["write", "work"]);
    venue.operate("PUT", "/v1/depot/tenants/acme", json!({})).expect(201);
    // Another tenant's files neither end the wait nor are claimed.
    put(&venue, &other, "other", "name=a", b"x").expect(201);
    for path in ["/v1/depot/acme/claims", "/v1/depot/claims"] {
        let began = Instant::now();
        let none = venue.ask(&key, "POST", path, json!({"wait_ms": 300})).expect(200);
        assert_eq!(none["claims"], json!([]));
        assert!(began.elapsed() >= Duration::from_millis(300), "{path}");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| venue.ask(&key, "POST", path, json!({"wait_ms": 30_000})));
            let stored = put(&venue, &key, "acme", "name=b", b"y").expect(201);
            let claimed = waiting.join().unwrap().expect(200);
            assert_eq!(claimed["claims"][0]["file"]["id"], stored["id"]);
        });
    }
    let long = venue.ask(&key, "POST", "/v1/depot/claims", json!({"wait_ms": 30_001}));
    assert_eq!(long.refuses(400, "invalid_field").field(), "wait_ms");
}

#[test]
fn a_repeat_under_an_idempotency_key_stores_nothing() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["write"]);
    let path = "/v1/depot/acme/files?name=a";
    let store = |content: &[u8]| {
        let mut headers = crate::test_venue::signed(&key, "POST", path, content);
        headers.push(("Idempotency-Key", "one".to_owned()));
        headers.push(("X-Rialto-Meta-Origin", "here".to_owned()));
        venue.client().send("POST", path, &headers, content)
    };
    let first = store(b"content").expect(201);
    assert_eq!(first["metadata"], json!({"origin": "here"}));
    assert_eq!(first["content_type"], "application/json");
    assert_eq!(store(b"content").expect(200)["id"], first["id"]);
    store(b"another").refuses(409, "submit_conflict");
    let tenant = TenantName::new("acme").unwrap();
    assert_eq!(venue.depot.as_ref().unwrap().tenant(&tenant).unwrap().files, 1);
}

#[test]
fn a_venue_without_a_depot_says_so() {
    let venue = TestVenue::empty(config());
    let refused = venue.operate("GET", "/v1/depot/tenants", Value::Null);
    refused.refuses(404, "no_depot");
}
