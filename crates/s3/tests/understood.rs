//! What nothing reads is refused, and changes nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod raw;

use raw::{ID, SECRET, World, tenant};
use rialto_api::DepotRight::{Read, Write};

/// A world with an object.
fn world() -> World {
    let world = World::new();
    assert_eq!(world.send(&raw::put("a", b"0123456789")).status, 200);
    world
}

/// The object is what it was, and is the only one.
fn unchanged(world: &World, why: &str) {
    assert_eq!(world.send(&raw::get("a")).body, "0123456789", "{why}");
    assert_eq!(world.files(), 1, "{why}");
}

#[test]
fn parameters_that_an_operation_does_not_read_are_refused() {
    let world = world();
    for (method, target) in [
        ("PUT", "/acme/a?renameObject="),
        ("PUT", "/acme/a?encryption="),
        ("PUT", "/acme/a?foo=bar"),
        ("PUT", "/acme/a?append="),
        ("PUT", "/acme/b?partNumber=1"),
        ("PUT", "/acme/b?uploadId=x"),
        ("DELETE", "/acme/a?annotation="),
        ("DELETE", "/acme/a?partNumber=1"),
        ("GET", "/acme/a?partNumber=1"),
        ("HEAD", "/acme/a?versionId=1"),
        ("PUT", "/acme-2?abac="),
        ("GET", "/acme?list-type=2&metadata=1"),
        ("PUT", "/acme/a?x-amz-meta-note=x"),
        ("PUT", "/acme/a?x-amz-tagging=x"),
    ] {
        let answer = world.send(&raw::signed(method, target, b""));
        assert_eq!(answer.status, 501, "{method} {target} {}", answer.body);
        unchanged(&world, target);
    }
    assert!(!world.depot.has_tenant(&tenant("acme-2")));
    let expected = "0123456789";
    let get = raw::signed("GET", "/acme/a?x-id=GetObject&response-content-type=a%2Fb", b"");
    assert_eq!(world.send(&get).body, expected);
    assert_eq!(world.send(&raw::get("a").link(60)).body, expected);
}

#[test]
fn headers_that_would_change_what_is_done_are_refused() {
    let world = world();
    for (name, value) in [
        ("if-modified-since", "Wed, 25 Nov 2026 00:00:00 GMT"),
        ("if-unmodified-since", "Wed, 25 Nov 2026 00:00:00 GMT"),
        ("x-amz-checksum-md5", "AAAA"),
        ("x-amz-checksum-sha512", "AAAA"),
        ("x-amz-checksum-xxhash64", "AAAA"),
        ("x-amz-expected-bucket-owner", "999999999999"),
        ("x-amz-grant-read", "id=x"),
        ("x-amz-object-lock-retain-until-date", "2027-01-01T00:00:00Z"),
        ("x-amz-server-side-encryption-aws-kms-key-id", "x"),
        ("x-amz-tagging", "a=b"),
        ("x-amz-trailer", "x-amz-checksum-md4"),
    ] {
        let answer = world.send(&raw::put("a", b"other").header(name, value));
        assert_eq!(answer.refusal(), (501, "NotImplemented"), "{name} {}", answer.body);
        unchanged(&world, name);
    }
    let copy = raw::put("a", b"").header("x-amz-copy-source", "/acme/a");
    let copy = copy.header("if-none-match", "*").header("x-amz-metadata-directive", "REPLACE");
    assert_eq!(world.send(&copy).refusal(), (501, "NotImplemented"));
    unchanged(&world, "a conditional copy");
}

#[test]
fn ranges_are_within_the_object() {
    let world = world();
    let get = |range: &str| {
        let answer = world.send(&raw::get("a").header("range", range));
        (answer.status, answer.body)
    };
    assert_eq!(get("bytes=-3"), (206, "789".to_owned()));
    assert_eq!(get("bytes=8-20"), (206, "89".to_owned()));
    assert_eq!(get("bytes=10-").0, 416);
    let head = world.send(&raw::signed("HEAD", "/acme/a", b"").header("range", "bytes=2-5"));
    assert_eq!((head.status, head.header("content-length")), (200, Some("10")));
    assert_eq!(world.send(&raw::put("empty", b"")).status, 200);
    let empty = world.send(&raw::get("empty").header("range", "bytes=-1"));
    assert_eq!(empty.refusal(), (416, "InvalidRange"));

    let begun = world.send(&raw::signed("POST", "/acme/b?uploads=", b"")).body;
    let id = begun.split("<UploadId>").nth(1).unwrap().split('<').next().unwrap();
    let copied = |range: &str| {
        let part = raw::signed("PUT", &format!("/acme/b?partNumber=1&uploadId={id}"), b"");
        let part = part.header("x-amz-copy-source", "/acme/a");
        world.send(&part.header("x-amz-copy-source-range", range)).status
    };
    for range in ["bytes=5-20", "bytes=5-", "bytes=-2", "bytes=7-6"] {
        assert_eq!(copied(range), 416, "{range}");
    }
    assert_eq!(copied("bytes=5-9"), 200);
}

#[test]
fn a_range_of_a_replaced_object_gets_the_whole_new_one() {
    let world = world();
    let etag = world.send(&raw::get("a")).header("etag").unwrap().to_owned();
    let resume = |etag: &str| {
        let get = raw::get("a").header("range", "bytes=5-").header("if-range", etag);
        let answer = world.send(&get);
        (answer.status, answer.body)
    };
    assert_eq!(resume(&etag), (206, "56789".to_owned()));
    assert_eq!(resume("\"zz\"").0, 200);
    assert_eq!(resume("Wed, 25 Nov 2026 00:00:00 GMT").0, 200);
    assert_eq!(world.send(&raw::put("a", b"abcdefghij")).status, 200);
    assert_eq!(resume(&etag), (200, "abcdefghij".to_owned()));
}

#[test]
fn a_condition_may_name_several_entity_tags() {
    let world = world();
    let etag = world.send(&raw::get("a")).header("etag").unwrap().to_owned();
    let status = |name: &str, value: &str| world.send(&raw::get("a").header(name, value)).status;
    assert_eq!(status("if-match", &format!("\"x\", {etag}")), 200);
    assert_eq!(status("if-match", "\"x\", \"y\""), 412);
    assert_eq!(status("if-none-match", &format!("\"x\", W/{etag}")), 304);
    assert_eq!(status("if-none-match", "\"x\""), 200);
    assert_eq!(status("if-match", "*"), 200);
    assert_eq!(status("if-none-match", "*"), 304);
}

#[test]
fn a_list_that_is_too_long_is_refused_as_such() {
    let world = world();
    let list = vec![b' '; (4 << 20) + 1];
    let answer = world.send(&raw::signed("POST", "/acme?delete=", &list));
    assert_eq!(answer.refusal(), (400, "MaxMessageLengthExceeded"));
}

#[test]
fn names_that_others_could_not_use_are_refused() {
    let world = World::new();
    for key in ["%EF%BF%BE", "a%EF%BF%BFb"] {
        assert_eq!(world.send(&raw::put(key, b"abc")).refusal(), (400, "InvalidArgument"));
    }
    world.keys.add(ID, &[SECRET], "*", &[Read, Write]);
    for bucket in ["claims", "tenants", "volumes", "watches"] {
        let make = world.send(&raw::signed("PUT", &format!("/{bucket}"), b""));
        assert_eq!(make.status, 400, "{bucket} {}", make.body);
        assert!(!world.depot.has_tenant(&tenant(bucket)));
    }
}
