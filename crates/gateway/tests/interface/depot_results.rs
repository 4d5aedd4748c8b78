//! A file ends together with its results, or nothing happens.

use crate::depot_support::{
    chunk, claim, content, put, tenant_key, token, until, usage, volume_files,
};
use crate::test_venue::{Key, Reply, TestVenue, config, head_of, header, signed};
use rialto_gateway::{DepotLimits, GatewayConfig};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A venue with a claimed file of the tenant `acme`, and the token of the claim.
struct Stage {
    venue: TestVenue,
    key: Key,
    claim: String,
    /// The files of the volume, and the quota that is taken, before the results.
    before: (BTreeSet<PathBuf>, (u64, u64)),
}

impl Stage {
    fn new(config: GatewayConfig) -> Stage {
        let venue = TestVenue::with_depot(config, |options| options);
        let key = tenant_key(&venue, "acme", &["read", "write", "work"]);
        put(&venue, &key, "acme", "name=in", b"input").expect(201);
        let shelf = json!({"directory": "out", "kind": "shelf"});
        venue.operate("PUT", "/v1/depot/tenants/acme/directories", shelf).expect(200);
        let claim = token(&claim(&venue, &key, "acme", json!({})).expect(200));
        let before = (volume_files(&venue), usage(&venue, "acme"));
        Stage { venue, key, claim, before }
    }

    fn path(&self) -> String {
        format!("/v1/depot/claims/complete-with?claim={}", self.claim)
    }

    fn complete(&self, body: &[u8]) -> Reply {
        let headers = signed(&self.key, "POST", &self.path(), body);
        self.venue.client().send("POST", &self.path(), &headers, body)
    }

    /// Ends the claim in another way.
    fn give_back(&self) {
        let body = json!({"claims": [self.claim]});
        self.venue.ask(&self.key, "POST", "/v1/depot/claims/return", body).expect(200);
    }

    fn kept(&self) -> Vec<Value> {
        let path = "/v1/depot/acme/files?kind=shelf";
        let listed = self.venue.ask(&self.key, "GET", path, Value::Null).expect(200);
        listed["files"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn nothing_is_left(&self) {
        until("the quota is given back", || usage(&self.venue, "acme") == self.before.1);
        until("no bytes are left", || volume_files(&self.venue) == self.before.0);
        assert_eq!(self.kept(), [Value::Null; 0]);
    }
}

/// A result as it stands in a body.
fn result(name: &str, more: Value, content: &[u8]) -> Vec<u8> {
    let mut line = json!({"directory": "out", "name": name, "bytes": content.len().to_string()});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    [line.to_string().as_bytes(), b"\n", content].concat()
}

#[test]
fn results_exist_when_the_file_has_ended() {
    let stage = Stage::new(config());
    let large = content(3 << 20);
    let body = [
        result("a.csv", json!({"content_type": "text/csv", "metadata": {"of": "in"}}), b"1,2\n3,4"),
        result("empty", json!({}), b""),
        result("large", json!({}), &large),
    ]
    .concat();
    assert_eq!(stage.complete(&body).expect(200), json!({}));
    let kept = stage.kept();
    let paths: Vec<_> = kept.iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["out/a.csv", "out/empty", "out/large"]);
    assert_eq!(
        (&kept[0]["content_type"], &kept[0]["metadata"]["of"]),
        (&json!("text/csv"), &json!("in"))
    );
    for (file, content) in kept.iter().zip([&b"1,2\n3,4"[..], b"", &large]) {
        let path = format!("/v1/depot/acme/files/{}", file["id"].as_str().unwrap());
        assert!(stage.venue.ask(&stage.key, "GET", &path, Value::Null).bytes == content, "{path}");
    }
    let waiting = stage.venue.ask(&stage.key, "GET", "/v1/depot/acme/files", Value::Null);
    assert_eq!(waiting.expect(200)["files"], json!([]));
    // A repeat finds that the claim has ended, and stores nothing.
    stage.complete(&result("b", json!({}), b"x")).refuses(409, "claim_lost");
    assert_eq!(stage.kept().len(), 3);
}

#[test]
fn results_that_arrive_at_once_are_answered() {
    let stage = Stage::new(config());
    let mut token_of_claim = stage.claim.clone();
    // More pieces than wait between the client and the depot, before it has taken one.
    let names: Vec<String> = (0..8).map(|nth| nth.to_string()).collect();
    let body: Vec<u8> = names.iter().flat_map(|name| result(name, json!({}), b"x")).collect();
    for _ in 0..16 {
        let path = format!("/v1/depot/claims/complete-with?claim={token_of_claim}");
        let headers = signed(&stage.key, "POST", &path, &body);
        stage.venue.client().send("POST", &path, &headers, &body).expect(200);
        put(&stage.venue, &stage.key, "acme", "name=in", b"input").expect(201);
        token_of_claim = token(&claim(&stage.venue, &stage.key, "acme", json!({})).expect(200));
    }
    assert_eq!(stage.kept().len(), names.len());
}

#[test]
fn a_file_without_results_ends_too() {
    let stage = Stage::new(config());
    stage.complete(b"").expect(200);
    until("the quota is given back", || usage(&stage.venue, "acme") == (0, 0));
}

#[test]
fn results_of_a_claim_that_ended_meanwhile_leave_nothing() {
    let stage = Stage::new(config());
    let body = [result("a", json!({}), &content(2 << 20)), result("b", json!({}), b"x")].concat();
    let headers = signed(&stage.key, "POST", &stage.path(), &body);
    let mut client = stage.venue.client();
    let head = head_of("POST", &stage.path(), &headers, "transfer-encoding: chunked");
    client.raw(head.as_bytes()).unwrap();
    client.raw(&chunk(&body[..1 << 20])).unwrap();
    until("the first result has begun", || usage(&stage.venue, "acme") != stage.before.1);
    stage.give_back();
    client.raw(&chunk(&body[1 << 20..])).unwrap();
    client.raw(b"0\r\n\r\n").unwrap();
    client.read().unwrap().refuses(409, "claim_lost");
    stage.nothing_is_left();
    // The file is handed out again.
    let again = claim(&stage.venue, &stage.key, "acme", json!({})).expect(200);
    assert_eq!(again["claims"].as_array().unwrap().len(), 1);
}

#[test]
fn a_body_that_is_not_whole_leaves_the_file_claimed() {
    let stage = Stage::new(config());
    let whole = [result("a", json!({}), &content(1 << 20)), result("b", json!({}), b"x")].concat();
    let malformed: [(&str, Vec<u8>, &str); 9] = [
        ("a content that ends early", whole[..whole.len() - 1].to_vec(), "malformed_body"),
        ("a line that ends early", [&whole[..], b"{\"by"].concat(), "malformed_body"),
        ("no JSON", [&whole[..], b"{\n"].concat(), "malformed_body"),
        ("a long line", [&whole[..], &[b' '; 70_000]].concat(), "malformed_body"),
        ("an unknown field", b"{\"bytes\":\"0\",\"if_absent\":true}\n".to_vec(), "malformed_body"),
        ("no length", b"{\"name\":\"a\"}\n".to_vec(), "malformed_body"),
        (
            "a path as its name",
            [&whole[..], &result("../x", json!({}), b"")].concat(),
            "invalid_field",
        ),
        ("another hash", result("c", json!({"sha256": "0".repeat(64)}), b"x"), "content_mismatch"),
        (
            "65 results",
            (0..65).flat_map(|n| result(&n.to_string(), json!({}), b"x")).collect(),
            "invalid_field",
        ),
    ];
    for (what, body, code) in malformed {
        let reply = stage.complete(&body);
        assert_eq!((reply.status, reply.code()), (400, code), "{what}");
        stage.nothing_is_left();
    }
    // A body that is not the signed one.
    let mut headers = signed(&stage.key, "POST", &stage.path(), &whole);
    header(&mut headers, "content-type");
    let mut other = whole.clone();
    *other.last_mut().unwrap() = b'y';
    let reply = stage.venue.client().send("POST", &stage.path(), &headers, &other);
    reply.refuses(400, "content_mismatch");
    stage.nothing_is_left();
    // A connection that is cut.
    let mut client = stage.venue.client();
    let headers = signed(&stage.key, "POST", &stage.path(), &whole);
    let head = head_of("POST", &stage.path(), &headers, "transfer-encoding: chunked");
    client.raw(head.as_bytes()).unwrap();
    client.raw(&chunk(&whole[..1 << 19])).unwrap();
    until("the first result has begun", || usage(&stage.venue, "acme") != stage.before.1);
    drop(client);
    stage.nothing_is_left();
    // After all this the claim is still good.
    stage.complete(&whole).expect(200);
    assert_eq!(stage.kept().len(), 2);
}

#[test]
fn a_quota_that_is_reached_leaves_nothing() {
    let stage = Stage::new(config());
    let limits = json!({"files_max": "0", "bytes_max": "1000000"});
    stage.venue.operate("PUT", "/v1/depot/tenants/acme", limits).expect(200);
    let body =
        [result("a", json!({}), &content(900_000)), result("b", json!({}), &content(200_000))];
    stage.complete(&body.concat()).refuses(503, "quota_reached");
    stage.nothing_is_left();
}

#[test]
fn results_need_the_rights_to_work_and_to_write() {
    let stage = Stage::new(config());
    for rights in [&["read", "work"][..], &["read", "write"]] {
        let key = tenant_key(&stage.venue, "acme", rights);
        let headers = signed(&key, "POST", &stage.path(), b"");
        let reply = stage.venue.client().send("POST", &stage.path(), &headers, b"");
        reply.refuses(403, "forbidden");
    }
    let other = tenant_key(&stage.venue, "other", &["read", "write", "work"]);
    let headers = signed(&other, "POST", &stage.path(), b"");
    stage.venue.client().send("POST", &stage.path(), &headers, b"").refuses(403, "forbidden");
    stage.nothing_is_left();
}

#[test]
fn results_count_as_an_upload() {
    let limits = DepotLimits { key_uploads_max: 1, ..DepotLimits::default() };
    let stage = Stage::new(GatewayConfig { depot: limits, ..config() });
    let body = result("a", json!({}), &content(1 << 20));
    let mut client = stage.venue.client();
    let headers = signed(&stage.key, "POST", &stage.path(), &body);
    let head = head_of("POST", &stage.path(), &headers, "transfer-encoding: chunked");
    client.raw(head.as_bytes()).unwrap();
    client.raw(&chunk(&body[..1 << 19])).unwrap();
    until("the result has begun", || usage(&stage.venue, "acme") != stage.before.1);
    let second = put(&stage.venue, &stage.key, "acme", "name=b", b"x");
    second.refuses(503, "too_many_uploads");
    drop(client);
    stage.nothing_is_left();
}
