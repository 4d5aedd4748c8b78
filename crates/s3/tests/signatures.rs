//! Who may send a request: signatures, their time, what they cover, and rights.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod raw;

use raw::{ID, SECRET, World, tenant};
use rialto_api::DepotRight::{Read, Work, Write};
use std::sync::atomic::Ordering;

#[test]
fn a_signed_request_is_answered_and_one_that_is_changed_is_not() {
    let world = World::new();
    assert_eq!(world.send(&raw::put("a", b"abc")).status, 200);
    let got = world.send(&raw::get("a"));
    assert_eq!((got.status, got.body.as_str()), (200, "abc"));
    assert!(got.header("etag").unwrap().contains("-sha256"));
    assert!(got.header("x-amz-request-id").is_some());

    let wrong = raw::get("a").by(ID, "other");
    assert_eq!(world.send(&wrong).refusal(), (403, "SignatureDoesNotMatch"));
    let unknown = raw::get("a").by("rk_2", SECRET);
    assert_eq!(world.send(&unknown).refusal(), (403, "InvalidAccessKeyId"));
    let more = raw::put("a", b"abc").free_header("x-amz-meta-a", "b");
    assert_eq!(world.send(&more).refusal(), (403, "AccessDenied"));
    let copy = raw::put("a", b"").link(60).free_header("x-amz-copy-source", "/acme/a");
    assert_eq!(world.send(&copy).refusal(), (403, "AccessDenied"));
}

#[test]
fn a_request_is_good_for_a_quarter_of_an_hour_and_a_link_until_it_expires() {
    let world = World::new();
    assert_eq!(world.send(&raw::put("a", b"abc")).status, 200);
    for seconds in [-1_000, 1_000] {
        let skewed = raw::get("a").after(seconds);
        assert_eq!(world.send(&skewed).refusal(), (403, "RequestTimeTooSkewed"), "{seconds}");
    }
    assert_eq!(world.send(&raw::get("a").after(-800)).status, 200);
    assert_eq!(world.send(&raw::get("a").after(-100).link(120)).body, "abc");
    let expired = raw::get("a").after(-100).link(60);
    assert_eq!(world.send(&expired).refusal(), (403, "AccessDenied"));
    let ahead = raw::get("a").after(1_000).link(60);
    assert_eq!(world.send(&ahead).refusal(), (403, "RequestTimeTooSkewed"));
    let long = raw::get("a").link(604_801);
    assert_eq!(world.send(&long).refusal(), (400, "AuthorizationQueryParametersError"));
    assert_eq!(world.send(&raw::put("b", b"by link").link(60)).status, 200);
    assert_eq!(world.send(&raw::get("b")).body, "by link");
}

#[test]
fn the_secret_before_works_as_long_as_the_key_store_says() {
    let world = World::new();
    world.keys.add(ID, &["new", SECRET], "acme", &[Read, Write]);
    for secret in ["new", SECRET] {
        assert_eq!(world.send(&raw::put("a", b"abc").by(ID, secret)).status, 200, "{secret}");
        let chunks = raw::put("a", b"abcdefgh").by(ID, secret).in_signed_chunks(3);
        assert_eq!(world.send(&chunks).status, 200, "{secret}");
        assert_eq!(world.send(&raw::get("a").by(ID, secret).link(60)).body, "abcdefgh");
    }
    world.keys.add(ID, &["new"], "acme", &[Read, Write]);
    assert_eq!(world.send(&raw::get("a")).refusal(), (403, "SignatureDoesNotMatch"));
}

#[test]
fn rights_are_those_of_the_key_and_unknown_buckets_are_told_to_those_who_have_some() {
    let world = World::new();
    let foreign = |method: &str, target: &str, body: &[u8]| {
        let answer = world.send(&raw::signed(method, target, body));
        let (status, code) = answer.refusal();
        (status, code.to_owned())
    };
    let denied = (403, "AccessDenied".to_owned());
    assert_eq!(foreign("PUT", "/theirs/a", b"abc"), denied);
    assert_eq!(foreign("GET", "/theirs/a", b""), denied);
    assert_eq!(foreign("DELETE", "/theirs/a", b""), denied);
    assert_eq!(foreign("GET", "/theirs?list-type=2", b""), denied);
    assert_eq!(foreign("POST", "/theirs/a?uploads=", b""), denied);
    assert_eq!(foreign("GET", "/theirs?uploads=", b""), denied);
    assert_eq!(foreign("PUT", "/theirs", b""), denied);
    // Nobody learns whether there is a bucket that is not theirs.
    assert_eq!(foreign("PUT", "/none/a", b"abc"), denied);
    assert_eq!(foreign("DELETE", "/acme", b""), denied);
    assert_eq!(foreign("GET", "/ACME/a", b""), (400, "InvalidBucketName".to_owned()));
    for sentence in [
        (&raw::signed("GET", "/ACME/a", b""), "is not the name of a tenant: use 1 to 63"),
        (&raw::signed("PUT", "/theirs/a", b"abc"), "no right `write` to the tenant theirs"),
        (&raw::signed("DELETE", "/theirs/a", b""), "no right `write` to the tenant theirs"),
    ] {
        let answer = world.send(sentence.0);
        assert!(answer.body.contains(sentence.1), "{}", answer.body);
    }
    let listed = world.send(&raw::signed("GET", "/", b""));
    assert!(listed.body.contains("<Name>acme</Name>") && !listed.body.contains("theirs"));
    let copy = raw::put("a", b"").header("x-amz-copy-source", "/theirs/a");
    assert_eq!(world.send(&copy).refusal(), (403, "AccessDenied"));

    world.keys.add("rk_w", &[SECRET], "acme", &[Write]);
    world.keys.add("rk_r", &[SECRET], "acme", &[Read]);
    world.keys.add("rk_k", &[SECRET], "acme", &[Work]);
    assert_eq!(world.send(&raw::put("w", b"abc").by("rk_w", SECRET)).status, 200);
    assert_eq!(world.send(&raw::get("w").by("rk_w", SECRET)).refusal(), (403, "AccessDenied"));
    assert_eq!(world.send(&raw::get("w").by("rk_r", SECRET)).body, "abc");
    for id in ["rk_r", "rk_k"] {
        let put = raw::put("x", b"abc").by(id, SECRET);
        assert_eq!(world.send(&put).refusal(), (403, "AccessDenied"));
        let delete = raw::signed("DELETE", "/acme/w", b"").by(id, SECRET);
        assert_eq!(world.send(&delete).refusal(), (403, "AccessDenied"));
    }
    let delete = raw::signed("DELETE", "/acme/w", b"").by("rk_w", SECRET);
    assert_eq!(world.send(&delete).status, 204);
    assert_eq!(world.files(), 0);
}

#[test]
fn a_key_makes_a_bucket_within_its_grant() {
    let world = World::new();
    world.keys.add("rk_m", &[SECRET], "new-*", &[Read, Write]);
    let make = |name: &str| {
        let make = raw::signed("PUT", &format!("/{name}"), b"").by("rk_m", SECRET);
        let answer = world.send(&make);
        (answer.status, answer.refusal().1.to_owned())
    };
    assert_eq!(make("new-1").0, 200);
    assert_eq!(make("new-1"), (409, "BucketAlreadyOwnedByYou".to_owned()));
    assert_eq!(make("other"), (403, "AccessDenied".to_owned()));
    let put = raw::signed("PUT", "/new-1/a", b"abc").by("rk_m", SECRET);
    assert_eq!(world.send(&put).status, 200);
    let put = raw::signed("PUT", "/new-2/a", b"abc").by("rk_m", SECRET);
    assert_eq!(world.send(&put).refusal(), (404, "NoSuchBucket"));
    assert!(!world.depot.has_tenant(&tenant("new-2")));
    // A tenant that an operator made may be for work, whatever is in it.
    world.depot.create_tenant(&tenant("new-3"), Default::default()).unwrap();
    let put = raw::signed("PUT", "/new-3/a", b"abc").by("rk_m", SECRET);
    assert_eq!(world.send(&put).refusal(), (400, "InvalidRequest"));
    assert_eq!(make("new-3"), (409, "BucketAlreadyOwnedByYou".to_owned()));
    assert_eq!(world.send(&put).refusal(), (400, "InvalidRequest"));
}

#[test]
fn requests_are_counted_for_their_key_and_refused_ones_for_their_address() {
    let world = World::new();
    world.keys.key_requests.store(2, Ordering::Relaxed);
    assert_eq!(world.send(&raw::put("a", b"abc")).status, 200);
    assert_eq!(world.send(&raw::get("a")).status, 200);
    assert_eq!(world.send(&raw::get("a")).refusal(), (503, "SlowDown"));

    world.keys.address_requests.store(1, Ordering::Relaxed);
    let wrong = raw::get("a").by(ID, "other");
    assert_eq!(world.send(&wrong).refusal(), (403, "SignatureDoesNotMatch"));
    assert_eq!(world.send(&wrong).refusal(), (503, "SlowDown"));
    let unknown = raw::get("a").by("rk_2", SECRET);
    assert_eq!(world.send(&unknown).refusal(), (503, "SlowDown"));
}
