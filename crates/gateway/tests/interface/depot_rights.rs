//! No key reaches the files of a tenant that its grants do not name, by whatever name it asks.

use crate::depot_support::{claim, put, tenant_key, token, usage};
use crate::test_venue::{TestVenue, config};
use rialto_gateway::{DepotLimits, GatewayConfig};
use serde_json::{Value, json};

const ALL: &[&str] = &["read", "write", "work"];

#[test]
fn a_key_of_one_tenant_reaches_nothing_of_another() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let (acme, other) = (tenant_key(&venue, "acme", ALL), tenant_key(&venue, "other", ALL));
    let work = put(&venue, &acme, "acme", "name=a", b"secret").expect(201);
    let shelf = json!({"directory": "out", "kind": "shelf"});
    venue.operate("PUT", "/v1/depot/tenants/acme/directories", shelf).expect(200);
    put(&venue, &acme, "acme", "directory=out&name=b", b"kept").expect(201);
    put(&venue, &other, "other", "name=c", b"own").expect(201);
    let id = work["id"].as_str().unwrap();
    let claimed = claim(&venue, &acme, "acme", json!({})).expect(200);
    let token = token(&claimed);

    for path in [
        format!("/v1/depot/acme/files/{id}"),
        format!("/v1/depot/acme/files/{id}/info"),
        "/v1/depot/acme/files".to_owned(),
        "/v1/depot/acme/shelf?path=out/b".to_owned(),
        "/v1/depot/acme/dead-letters".to_owned(),
        "/v1/depot/tenants/acme".to_owned(),
        "/v1/depot/unknown/files".to_owned(),
    ] {
        venue.ask(&other, "GET", &path, Value::Null).refuses(403, "forbidden");
    }
    // The id of a file says nothing about a tenant that does not have it.
    for path in [format!("/v1/depot/other/files/{id}"), format!("/v1/depot/other/files/{id}/info")]
    {
        venue.ask(&other, "GET", &path, Value::Null).refuses(404, "unknown_file");
        venue
            .ask(&other, "DELETE", &format!("/v1/depot/other/files/{id}"), Value::Null)
            .refuses(404, "unknown_file");
    }
    for path in ["out/b", "../acme/out/b", "acme/out/b"] {
        let path = format!("/v1/depot/other/shelf?path={path}");
        venue.ask(&other, "GET", &path, Value::Null).refuses(404, "unknown_file");
    }
    for path in ["/v1/depot/other/../acme/files", "/v1/depot/other%2F..%2Facme/files"] {
        let reply = venue.ask(&other, "GET", path, Value::Null);
        assert!(matches!(reply.status, 400 | 404), "{path}: {}", reply.body);
    }
    venue
        .ask(&other, "DELETE", &format!("/v1/depot/acme/files/{id}"), Value::Null)
        .refuses(403, "forbidden");
    put(&venue, &other, "acme", "name=d", b"theirs").refuses(403, "forbidden");
    claim(&venue, &other, "acme", json!({})).refuses(403, "forbidden");
    venue
        .ask(&other, "POST", "/v1/depot/acme/dead-letters/redrive", Value::Null)
        .refuses(403, "forbidden");
    let moved = format!("other{}", token.strip_prefix("acme").unwrap());
    for op in ["renew", "complete", "fail", "refuse", "return"] {
        let path = format!("/v1/depot/claims/{op}");
        let body = json!({"claims": [token]});
        venue.ask(&other, "POST", &path, body).refuses(403, "forbidden");
        // A token with another tenant's name in it is no claim of that tenant.
        let lost = venue.ask(&other, "POST", &path, json!({"claims": [moved]})).expect(200);
        assert_eq!(lost["lost"], json!([moved]), "{op}");
    }
    // A claim of any tenant finds those of the grant.
    let found = venue.ask(&other, "POST", "/v1/depot/claims", json!({"limit": 10})).expect(200);
    assert_eq!(found["claims"].as_array().unwrap().len(), 1);
    assert_eq!(found["claims"][0]["file"]["tenant"], "other");
    let seen = venue.ask(&other, "GET", "/v1/depot/tenants", Value::Null).expect(200);
    assert_eq!(seen["tenants"].as_array().unwrap().len(), 1);
    assert_eq!(usage(&venue, "acme"), (2, 10));
    let done = json!({"claims": [token]});
    let done = venue.ask(&acme, "POST", "/v1/depot/claims/complete", done).expect(200);
    assert_eq!(done["lost"], json!([]));
}

#[test]
fn each_right_permits_its_requests_and_no_others() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = |rights: &[&str]| tenant_key(&venue, "acme", rights);
    let (reader, writer, worker) = (key(&["read"]), key(&["write"]), key(&["work"]));
    let stored = put(&venue, &writer, "acme", "name=a", b"x").expect(201);
    let file = format!("/v1/depot/acme/files/{}", stored["id"].as_str().unwrap());
    for (key, statuses) in [(&reader, [200, 200, 403]), (&writer, [403, 403, 403])] {
        let got = [
            venue.ask(key, "GET", &file, Value::Null).status,
            venue.ask(key, "GET", "/v1/depot/acme/files", Value::Null).status,
            claim(&venue, key, "acme", json!({})).status,
        ];
        assert_eq!(got, statuses);
        venue.ask(key, "POST", "/v1/depot/claims", json!({})).refuses(403, "forbidden");
    }
    // A worker reads the files that it works on, and lists none.
    assert_eq!(venue.ask(&worker, "GET", &file, Value::Null).status, 200);
    venue.ask(&worker, "GET", "/v1/depot/acme/files", Value::Null).refuses(403, "forbidden");
    for key in [&reader, &worker] {
        put(&venue, key, "acme", "name=b", b"y").refuses(403, "forbidden");
        venue.ask(key, "DELETE", &file, Value::Null).refuses(403, "forbidden");
    }
    let all = tenant_key(&venue, "*", ALL);
    for (method, path) in [
        ("PUT", "/v1/depot/tenants/acme"),
        ("PUT", "/v1/depot/tenants/acme/directories"),
        ("POST", "/v1/depot/volumes"),
    ] {
        let body = match path {
            "/v1/depot/volumes" => json!({"name": "v", "dir": "/nowhere"}),
            "/v1/depot/tenants/acme" => json!({}),
            _ => json!({"directory": "a"}),
        };
        venue.ask(&all, method, path, body).refuses(403, "forbidden");
    }
    for (method, path) in [
        ("DELETE", "/v1/depot/tenants/acme"),
        ("POST", "/v1/depot/tenants/acme/enable"),
        ("POST", "/v1/depot/tenants/acme/disable"),
        ("POST", "/v1/depot/tenants/acme/drain"),
        ("GET", "/v1/depot/volumes"),
        ("POST", "/v1/depot/volumes/main/drain"),
        ("POST", "/v1/depot/volumes/main/undrain"),
        ("DELETE", "/v1/depot/volumes/main"),
    ] {
        venue.ask(&all, method, path, Value::Null).refuses(403, "forbidden");
    }
}

#[test]
fn a_key_creates_no_more_tenants_than_its_grant_allows() {
    let depot = DepotLimits { grant_tenants_max: 2, ..DepotLimits::default() };
    let venue = TestVenue::with_depot(GatewayConfig { depot, ..config() }, |options| options);
    let key = tenant_key(&venue, "acme-*", ALL);
    let other = tenant_key(&venue, "other-*", ALL);
    put(&venue, &key, "acme-1", "", b"x").expect(201);
    venue.operate("PUT", "/v1/depot/tenants/acme-2", json!({})).expect(201);
    put(&venue, &key, "acme-3", "", b"x").refuses(503, "grant_tenants");
    put(&venue, &key, "acme-2", "", b"x").expect(201);
    put(&venue, &other, "other-1", "", b"x").expect(201);
    venue.operate("PUT", "/v1/depot/tenants/acme-3", json!({})).expect(201);
    put(&venue, &key, "acme-3", "", b"x").expect(201);
}

#[test]
fn simultaneous_uploads_create_no_more_tenants_than_the_grant_allows() {
    let depot = DepotLimits { grant_tenants_max: 1, ..DepotLimits::default() };
    let venue = TestVenue::with_depot(GatewayConfig { depot, ..config() }, |options| options);
    for round in 0..10 {
        let key = tenant_key(&venue, &format!("round{round}-*"), ALL);
        let created: usize = std::thread::scope(|scope| {
            let uploads: Vec<_> = (0..4)
                .map(|nth| format!("round{round}-{nth}"))
                .map(|tenant| {
                    let (venue, key) = (&venue, &key);
                    scope.spawn(move || put(venue, key, &tenant, "", b"x").status)
                })
                .collect();
            let statuses = uploads.into_iter().map(|upload| upload.join().unwrap());
            statuses.filter(|status| *status == 201).count()
        });
        assert_eq!(created, 1);
    }
}

#[test]
fn names_that_are_words_of_paths_are_no_tenants() {
    let venue = TestVenue::with_depot(config(), |options| options);
    for name in ["claims", "tenants", "volumes", "A", "a.b", "%2e%2e"] {
        let path = format!("/v1/depot/tenants/{name}");
        let refused = venue.operate("PUT", &path, json!({})).refuses(400, "invalid_field");
        assert_eq!(refused.field(), "tenant", "{name}");
    }
}
