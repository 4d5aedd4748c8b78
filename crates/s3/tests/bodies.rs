//! Bodies: lengths, checksums, chunks, quotas, and what is left of one that is refused: nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod raw;

use raw::{Answer, Signed, World, tenant, until};
use rialto_depot::{Directory, DirectoryKind, Quota};
use rialto_s3::CHUNK_BYTES_MAX;
use std::io::Write;

#[test]
fn wrong_checksums_store_nothing() {
    let world = World::new();
    let refused = |request: Signed, expected: (u16, &str)| {
        assert_eq!(world.send(&request).refusal(), expected);
        assert_eq!(world.files(), 0);
    };
    let bad = (400, "BadDigest");
    for (name, value) in [
        ("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg=="),
        ("x-amz-checksum-crc32", "AAAAAA=="),
        ("x-amz-checksum-crc32c", "AAAAAA=="),
        ("x-amz-checksum-crc64nvme", "AAAAAAAAAAA="),
        ("x-amz-checksum-sha1", "2jmj7l5rSw0yVb/vlWAYkK/YBwk="),
        ("x-amz-checksum-sha256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
    ] {
        refused(raw::put("a", b"abc").header(name, value), bad);
    }
    refused(raw::put("a", b"abc").header("content-md5", "no"), (400, "InvalidDigest"));
    let zeros = "0".repeat(64);
    refused(raw::put("a", b"abc").payload(&zeros), (400, "XAmzContentSHA256Mismatch"));
    let algorithm = raw::put("a", b"abc").header("x-amz-sdk-checksum-algorithm", "CRC32");
    refused(algorithm, (400, "InvalidRequest"));
}

#[test]
fn right_checksums_are_kept_and_answered() {
    let world = World::new();
    // Those of "123456789", as the catalogues of checksums have them.
    for (name, value) in [
        ("x-amz-checksum-crc32", "y/Q5Jg=="),
        ("x-amz-checksum-crc32c", "4waSgw=="),
        ("x-amz-checksum-crc64nvme", "rosUhgp5mIg="),
        ("content-md5", "JfnnlDI7RTiF9RgfG2JNCw=="),
    ] {
        let put = world.send(&raw::put("a", b"123456789").header(name, value));
        assert_eq!(put.status, 200, "{name} {}", put.body);
        let head = raw::signed("HEAD", "/acme/a", b"").header("x-amz-checksum-mode", "ENABLED");
        let kept = world.send(&head);
        let expected = name.starts_with("x-amz").then(|| value.to_ascii_lowercase());
        assert_eq!(kept.header(name).map(str::to_owned), expected, "{name}");
    }
}

#[test]
fn chunks_with_trailers_are_decoded_and_compared() {
    let world = World::new();
    let send = |wire: &[u8], decoded: usize| {
        let put = raw::put("a", b"").in_unsigned_chunks(wire, decoded, "x-amz-checksum-crc32");
        let answer = world.send(&put);
        (answer.status, answer.refusal().1.to_owned())
    };
    let whole = b"5\r\n12345\r\n4\r\n6789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n";
    let refused = |status: u16, code: &str| (status, code.to_owned());
    for (wire, decoded, expected) in [
        (&b"9\r\n123456780\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n"[..], 9, "BadDigest"),
        (b"9\r\n123456789\r\n0\r\n\r\n", 9, "MalformedTrailerError"),
        (b"9\r\n123456789\r\n", 9, "IncompleteBody"),
        (b"9\r\n12345", 9, "IncompleteBody"),
        (b"9\r\n123456789X", 9, "InvalidRequest"),
        (b"zz\r\n123456789\r\n0\r\n\r\n", 9, "InvalidRequest"),
        (whole, 8, "IncompleteBody"),
        (whole, 10, "IncompleteBody"),
    ] {
        assert_eq!(
            send(wire, decoded),
            refused(400, expected),
            "{:?}",
            String::from_utf8_lossy(wire)
        );
        assert_eq!(world.files(), 0);
    }
    assert_eq!(send(whole, 9).0, 200);
    assert_eq!(world.send(&raw::get("a")).body, "123456789");
}

#[test]
fn signed_chunks_are_verified_each_and_bounded() {
    let world = World::new();
    let body: Vec<u8> = (0..200_000_u32).map(|nth| nth as u8 | 1).collect();
    let put = raw::put("a", &body).in_signed_chunks(65_536);
    assert_eq!(world.send(&put).status, 200);
    assert_eq!(world.depot.file_at(&tenant("acme"), "a").unwrap().record.bytes, 200_000);

    let mut wire = put.wire();
    let at = wire.len() / 2;
    wire[at] ^= 1;
    let mut stream = world.connect();
    let mut bytes = raw::put("b", &body).in_signed_chunks(65_536).head();
    bytes.extend_from_slice(&wire);
    stream.write_all(&bytes).unwrap();
    assert_eq!(Answer::read(&mut stream).refusal(), (403, "SignatureDoesNotMatch"));

    let long = vec![0; usize::try_from(CHUNK_BYTES_MAX).unwrap() + 1];
    let put = raw::put("b", &long).in_signed_chunks(long.len());
    assert_eq!(world.send(&put).refusal(), (400, "EntityTooLarge"));
    assert_eq!(world.files(), 1);
}

#[test]
fn a_long_unsigned_chunk_is_not_held_in_memory() {
    let world = World::new();
    let mut wire = b"1400000\r\n".to_vec();
    wire.resize(wire.len() + (20 << 20), b'x');
    wire.extend_from_slice(b"\r\n0\r\n\r\n");
    let crc32 = b"x-amz-checksum-crc32:wzn+bw==\r\n\r\n";
    wire.truncate(wire.len() - 2);
    wire.extend_from_slice(crc32);
    let put = raw::put("a", b"").in_unsigned_chunks(&wire, 20 << 20, "x-amz-checksum-crc32");
    assert_eq!(world.send(&put).status, 200);
    assert_eq!(world.depot.file_at(&tenant("acme"), "a").unwrap().record.bytes, 20 << 20);
}

#[test]
fn a_body_that_ends_early_stores_nothing() {
    let world = World::new();
    for request in [raw::put("a", b"abc").length(10), raw::put("a", b"abc").link(60).length(10)] {
        let mut stream = world.connect();
        stream.write_all(&request.head()).unwrap();
        stream.write_all(b"abc").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let refused = Answer::read(&mut stream);
        assert_eq!(refused.refusal(), (400, "IncompleteBody"));
        assert_eq!(world.files(), 0);
    }
}

#[test]
fn names_that_are_no_paths_are_refused() {
    let world = World::new();
    let long = "x".repeat(1_025);
    let (name, path) = ("x".repeat(256), "y/".repeat(20));
    for (key, code) in [
        ("../a", "InvalidArgument"),
        ("a/../b", "InvalidArgument"),
        ("a%00b", "InvalidArgument"),
        ("a%5Cb", "InvalidArgument"),
        ("a//b", "InvalidArgument"),
        (&name, "InvalidArgument"),
        (&format!("{path}z"), "InvalidArgument"),
        (&long, "KeyTooLongError"),
        (&"x".repeat(4_096), "KeyTooLongError"),
        (".multipart/parts/0/00001", "InvalidArgument"),
    ] {
        let put = world.send(&raw::put(key, b"abc"));
        assert_eq!(put.refusal(), (400, code), "{key} {}", put.body);
    }
    assert_eq!(world.files(), 0);
    assert_eq!(world.send(&raw::get("a%00b")).refusal(), (404, "NoSuchKey"));
}

#[test]
fn a_file_for_workers_is_not_stored_over_s3() {
    let world = World::new();
    let (work, inbox) = (Some(DirectoryKind::Work), Directory::new("in").unwrap());
    world.depot.set_directory(&tenant("acme"), &inbox, work, Quota::default()).unwrap();
    assert_eq!(world.send(&raw::put("in/a", b"abc")).refusal(), (400, "InvalidRequest"));
    let begin = raw::signed("POST", "/acme/in/a?uploads=", b"");
    assert_eq!(world.send(&begin).refusal(), (400, "InvalidRequest"));
    assert_eq!(world.files(), 0);
}

/// Sends half of a body, does something, and sends the rest. Returns the answer.
fn interrupted(world: &World, between: impl FnOnce()) -> Answer {
    let body = vec![7; 8 << 20];
    let request = raw::put("a", &body);
    let mut stream = world.connect();
    stream.write_all(&request.head()).unwrap();
    stream.write_all(&body[..4 << 20]).unwrap();
    until("the state is reached", || world.bus.uploads() > 0);
    between();
    let _ = stream.write_all(&body[4 << 20..]);
    Answer::read(&mut stream)
}

#[test]
fn what_happens_in_the_middle_of_an_upload_is_told_and_leaves_nothing() {
    let world = World::new();
    let acme = tenant("acme");
    let quota = Quota { bytes_max: 5 << 20, ..Quota::default() };
    world.depot.set_quota(&acme, quota).unwrap();
    let full = world.send(&raw::put("a", &vec![7; 8 << 20]));
    assert_eq!(full.refusal(), (403, "QuotaExceeded"));
    assert_eq!(world.files(), 0);
    world.depot.set_quota(&acme, Quota::default()).unwrap();

    let refused = interrupted(&world, || world.depot.disable_tenant(&acme).unwrap());
    assert_eq!(refused.refusal(), (409, "InvalidBucketState"), "{}", refused.body);
    assert_eq!(world.files(), 0);
    world.depot.enable_tenant(&acme).unwrap();

    let refused = interrupted(&world, || world.keys.keys.lock().unwrap().clear());
    assert_eq!(refused.refusal(), (403, "InvalidAccessKeyId"));
    assert_eq!(world.files(), 0);
}
