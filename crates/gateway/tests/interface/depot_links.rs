//! A link permits one request to everyone who has it, for a time, and dies with its key.

use crate::depot_support::{put, tenant_key, until, usage};
use crate::test_venue::{Key, Reply, TestVenue, config};
use serde_json::{Value, json};

fn link(venue: &TestVenue, key: &Key, tenant: &str, body: Value) -> Reply {
    venue.ask(key, "POST", &format!("/v1/depot/{tenant}/links"), body)
}

fn url(reply: Reply) -> String {
    reply.expect(201)["url"].as_str().unwrap().to_owned()
}

fn store(venue: &TestVenue, path: &str, content: &[u8]) -> Reply {
    let headers = [("Content-Type", "text/plain".to_owned())];
    venue.client().send("POST", path, &headers, content)
}

#[test]
fn a_link_permits_its_request_without_a_key_and_no_other() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["read", "write"]);
    let one = put(&venue, &key, "acme", "name=a", b"one").expect(201);
    let two = put(&venue, &key, "acme", "name=b", b"two").expect(201);
    let (one, two) = (one["id"].as_str().unwrap(), two["id"].as_str().unwrap());
    let path = url(link(&venue, &key, "acme", json!({"verb": "get", "id": one})));
    let read = venue.get(&path);
    assert_eq!((read.status, &*read.bytes), (200, &b"one"[..]));

    venue.get(&path.replace(one, two)).refuses(401, "link_invalid");
    venue.get(&path.replace("/acme/", "/other/")).refuses(401, "link_invalid");
    let (_, code) = path.split_once("link=").unwrap();
    venue
        .get(&format!("/v1/depot/acme/files/{one}/info?link={code}"))
        .refuses(401, "credentials_missing");
    venue.get(&format!("/v1/depot/acme/files?link={code}")).refuses(401, "credentials_missing");
    let refused = venue.client().send("DELETE", &path, &[], b"");
    refused.refuses(401, "credentials_missing");
    store(&venue, &format!("/v1/depot/acme/files?name=c&link={code}"), b"x")
        .refuses(401, "link_invalid");
    venue.get(&format!("{path}&x=1")).refuses(401, "link_invalid");
    // Any part of it that is changed makes it another one.
    let begin = path.len() - code.len();
    for at in begin..path.len() {
        let mut changed = path.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(changed).unwrap();
        venue.get(&changed).refuses(401, "link_invalid");
    }
}

#[test]
fn a_link_to_store_names_directory_and_name() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["write"]);
    let body = json!({"verb": "put", "directory": "in/a b", "name": "c&d.csv"});
    let path = url(link(&venue, &key, "acme", body));
    let stored = store(&venue, &path, b"content").expect(201);
    assert_eq!(
        (&stored["path"], &stored["content_type"]),
        (&json!("in/a b/c&d.csv"), &json!("text/plain"))
    );
    for changed in [
        path.replace("in%2Fa", "out%2Fa"),
        path.replace(".csv", ".exe"),
        path.replace("directory=", "name=x&directory="),
        path.replace("/acme/", "/other/"),
        format!("{path}&priority=3"),
        format!("{path}&priority=high"),
        format!("{path}&x=1"),
    ] {
        let refused = store(&venue, &changed, b"x").refuses(401, "link_invalid");
        assert_eq!(refused.field(), "link", "{changed}");
    }
    assert_eq!(usage(&venue, "acme").0, 1);
}

#[test]
fn a_link_gives_no_more_than_its_key_has() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let reader = tenant_key(&venue, "acme", &["read"]);
    let writer = tenant_key(&venue, "acme", &["write"]);
    let other = tenant_key(&venue, "other", &["read", "write", "work"]);
    let stored = put(&venue, &writer, "acme", "name=a", b"x").expect(201);
    let get = json!({"verb": "get", "id": stored["id"]});
    let store = json!({"verb": "put", "name": "b"});
    link(&venue, &reader, "acme", get.clone()).expect(201);
    link(&venue, &reader, "acme", store.clone()).refuses(403, "forbidden");
    link(&venue, &writer, "acme", get.clone()).refuses(403, "forbidden");
    link(&venue, &writer, "acme", store.clone()).expect(201);
    link(&venue, &other, "acme", get.clone()).refuses(403, "forbidden");
    link(&venue, &other, "acme", store).refuses(403, "forbidden");
    link(&venue, &other, "other", get).refuses(404, "unknown_tenant");
}

#[test]
fn a_link_lives_for_its_time_at_most_a_week() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["read", "write"]);
    let stored = put(&venue, &key, "acme", "name=a", b"x").expect(201);
    let with_life = |life: u64| {
        link(
            &venue,
            &key,
            "acme",
            json!({"verb": "get", "id": stored["id"], "expires_in_ms": life}),
        )
    };
    let path = url(with_life(1));
    until("it has expired", || venue.get(&path).status != 200);
    venue.get(&path).refuses(401, "link_expired");
    for life in [0, 7 * 86_400_000 + 1] {
        assert_eq!(with_life(life).refuses(400, "invalid_field").field(), "expires_in_ms");
    }
    with_life(7 * 86_400_000).expect(201);
}

#[test]
fn a_link_dies_with_its_key() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["read", "write"]);
    let stored = put(&venue, &key, "acme", "name=a", b"x").expect(201);
    let path = url(link(&venue, &key, "acme", json!({"verb": "get", "id": stored["id"]})));
    assert_eq!(venue.get(&path).status, 200);
    venue.operate("DELETE", &format!("/v1/admin/keys/{}", key.id), Value::Null).expect(200);
    venue.get(&path).refuses(401, "link_invalid");

    let key = tenant_key(&venue, "acme", &["read"]);
    let path = url(link(&venue, &key, "acme", json!({"verb": "get", "id": stored["id"]})));
    let rotate = format!("/v1/admin/keys/{}/rotate", key.id);
    venue.operate("POST", &rotate, json!({"overlap_s": 0})).expect(200);
    venue.get(&path).refuses(401, "link_invalid");

    // Operators make links too.
    let body = json!({"verb": "get", "id": stored["id"]});
    let path = url(venue.operate("POST", "/v1/depot/acme/links", body));
    assert_eq!(venue.get(&path).status, 200);
}
