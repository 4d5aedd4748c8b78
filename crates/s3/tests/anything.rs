//! Bodies of any bytes: the framing of chunks by its fuzz target, and whole requests over a socket.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

extern crate self as libfuzzer_sys;

#[path = "../../../fuzz/bounded.rs"]
mod bounded;
mod raw;
#[path = "../../../fuzz/fuzz_targets/s3_chunks.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod s3_chunks;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use raw::{Signed, World};

/// Requests over a socket, for each kind of body.
const REQUESTS: u32 = 400;

#[test]
fn the_framing_of_chunks_is_refused_or_followed() {
    let signed = b"\x09b;chunk-signature=00ff\r\nhello world\r\n0;chunk-signature=ab\r\n\r\n";
    let unsigned = b"\x0c5\r\n12345\r\n4\r\n6789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n";
    let empty = b"\x000\r\n\r\n";
    bounded::check(s3_chunks::target, &[signed.to_vec(), unsigned.to_vec(), empty.to_vec()]);
}

/// A text with some of its bytes replaced, removed or repeated.
fn altered(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), 0..4_u8, any::<u8>());
    prop::collection::vec(edit, 0..5).prop_map(move |edits| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, kind, byte) in edits {
            let at = at.index(bytes.len().max(1));
            match kind {
                0 => bytes.get_mut(at).into_iter().for_each(|it| *it = byte),
                1 => bytes.truncate(at),
                2 => drop(bytes.drain(at..(at + usize::from(byte) % 30).min(bytes.len()))),
                _ => {
                    let again = bytes[at..].to_vec();
                    bytes.extend(again);
                }
            }
        }
        bytes
    })
}

/// Sends requests with altered bodies. All are answered, none by a failure of the server, and a good
/// request is served afterwards.
fn check(text: &'static str, request: impl Fn(&World, &[u8]) -> Signed) {
    let world = World::new();
    let config = Config { cases: REQUESTS, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&altered(text), |body| {
            let answer = world.send(&request(&world, &body));
            prop_assert!(
                matches!(answer.status, 200 | 204 | 400..=499 | 501),
                "{} {} for {:?}",
                answer.status,
                answer.body,
                String::from_utf8_lossy(&body)
            );
            Ok(())
        })
        .unwrap();
    assert_eq!(world.send(&raw::put("good", b"abc")).status, 200);
    assert_eq!(world.send(&raw::get("good")).body, "abc");
}

#[test]
fn any_list_of_objects_to_delete_is_answered() {
    let list = "<Delete><Quiet>true</Quiet><Object><Key>a/b&amp;c</Key></Object>\
                <Object><Key>d</Key><ETag>\"0\"</ETag></Object></Delete>";
    check(list, |_, body| raw::signed("POST", "/acme?delete=", body));
}

#[test]
fn any_list_of_parts_is_answered() {
    let parts = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>\
                 <ETag>\"900150983cd24fb0d6963f7d28e17f72\"</ETag></Part>\
                 <Part><PartNumber>2</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>";
    check(parts, |world, body| {
        let begun = world.send(&raw::signed("POST", "/acme/whole?uploads=", b"")).body;
        let id = begun.split("<UploadId>").nth(1).and_then(|it| it.split('<').next()).unwrap();
        let part = format!("/acme/whole?partNumber=1&uploadId={id}");
        assert_eq!(world.send(&raw::signed("PUT", &part, b"abc")).status, 200);
        // An upload that stays would use up what a tenant may begin.
        let abort = raw::signed("DELETE", &format!("/acme/whole?uploadId={id}"), b"");
        let complete = raw::signed("POST", &format!("/acme/whole?uploadId={id}"), body);
        let answer = world.send(&complete);
        let _ = world.send(&abort);
        assert!(answer.status < 500, "{} {}", answer.status, answer.body);
        complete
    });
}

#[test]
fn any_body_in_chunks_is_answered_and_stored_whole_or_not_at_all() {
    let body = "5\r\n12345\r\n4\r\n6789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n";
    check(body, |world, wire| {
        let stored = world.send(&raw::get("a"));
        // The checksum follows the content, so that nothing but this content is stored.
        assert!(stored.status == 404 || stored.body == "123456789", "{stored:?}");
        raw::put("a", b"").in_unsigned_chunks(wire, 9, "x-amz-checksum-crc32")
    });
}
