//! Downloads: ranges, conditions, limits, and content that is damaged.

use crate::depot_support::{content, put, tenant_key, until, volume_files};
use crate::test_venue::{Key, Reply, TestVenue, config, head_of, signed};
use rialto_gateway::{DepotLimits, GatewayConfig};
use std::io::{Read, Seek, SeekFrom, Write};

const MIB: usize = 1 << 20;

fn get(venue: &TestVenue, key: &Key, path: &str, more: &[(&'static str, &str)]) -> Reply {
    let mut headers = signed(key, "GET", path, b"");
    headers.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
    venue.client().send("GET", path, &headers, b"")
}

/// A venue with one file; the key, its path and its hash.
fn with_file(config: GatewayConfig, content: &[u8]) -> (TestVenue, Key, String, String) {
    let venue = TestVenue::with_depot(config, |options| options);
    let key = tenant_key(&venue, "acme", &["read", "write"]);
    let stored = put(&venue, &key, "acme", "name=a%20%22b%22.csv", content).expect(201);
    let path = format!("/v1/depot/acme/files/{}", stored["id"].as_str().unwrap());
    (venue, key, path, stored["sha256"].as_str().unwrap().to_owned())
}

#[test]
fn a_range_of_a_file_is_answered() {
    let content = content(3 * MIB + 100);
    let (venue, key, path, _) = with_file(config(), &content);
    let length = content.len();
    for (range, first, end) in [
        ("bytes=0-0", 0, 1),
        ("bytes=1048570-1048585", MIB - 6, MIB + 10),
        ("bytes=3145728-", 3 * MIB, length),
        ("bytes=-7", length - 7, length),
        ("bytes=10-99999999", 10, length),
    ] {
        let reply = get(&venue, &key, &path, &[("Range", range)]);
        assert_eq!(reply.status, 206, "{range}");
        assert!(reply.bytes == content[first..end], "{range}");
        let expected = format!("content-range: bytes {first}-{}/{length}\r\n", end - 1);
        assert!(reply.head.contains(&expected), "{range}: {}", reply.head);
    }
    let reply = get(&venue, &key, &path, &[("Range", "bytes=3145828-")]);
    assert!(reply.head.contains(&format!("content-range: bytes */{length}\r\n")));
    reply.refuses(416, "range_not_satisfiable");
    // One of several ranges, or of another unit, is ignored.
    for range in ["bytes=0-1,3-4", "lines=1-2"] {
        let reply = get(&venue, &key, &path, &[("Range", range)]);
        assert!(reply.status == 200 && reply.bytes == content, "{range}");
    }
}

#[test]
fn a_file_that_the_client_has_is_not_sent_again() {
    let (venue, key, path, hash) = with_file(config(), b"content");
    let tag = format!("\"{hash}\"");
    let reply = get(&venue, &key, &path, &[]);
    assert_eq!((reply.status, &*reply.bytes), (200, &b"content"[..]));
    for line in [
        format!("etag: {tag}\r\n"),
        "accept-ranges: bytes\r\n".to_owned(),
        "x-content-type-options: nosniff\r\n".to_owned(),
        "content-disposition: attachment; filename*=utf-8''a%20%22b%22%2ecsv\r\n".to_owned(),
    ] {
        assert!(reply.head.contains(&line), "{line}{}", reply.head);
    }
    let same = get(&venue, &key, &path, &[("If-None-Match", &tag)]);
    assert_eq!((same.status, same.bytes.len()), (304, 0));
    let other = get(&venue, &key, &path, &[("If-None-Match", "\"other\"")]);
    assert_eq!(other.status, 200);
    let range = ("Range", "bytes=0-2");
    let part = get(&venue, &key, &path, &[range, ("If-Range", &tag)]);
    assert_eq!((part.status, &*part.bytes), (206, &b"con"[..]));
    let whole = get(&venue, &key, &path, &[range, ("If-Range", "\"other\"")]);
    assert_eq!(whole.status, 200);
}

#[test]
fn an_empty_file_is_stored_and_read() {
    let (venue, key, path, _) = with_file(config(), b"");
    let reply = get(&venue, &key, &path, &[]);
    assert_eq!((reply.status, reply.bytes.len()), (200, 0));
    get(&venue, &key, &path, &[("Range", "bytes=0-")]).refuses(416, "range_not_satisfiable");
}

#[test]
fn damaged_content_ends_the_connection_and_is_counted() {
    let venue = TestVenue::with_depot(config(), |options| options);
    let key = tenant_key(&venue, "acme", &["read", "write"]);
    let before = volume_files(&venue);
    let content = content(3 * MIB);
    let stored = put(&venue, &key, "acme", "name=a", &content).expect(201);
    let path = format!("/v1/depot/acme/files/{}", stored["id"].as_str().unwrap());
    let files = volume_files(&venue);
    let stored = files.difference(&before).next().unwrap();
    let mut file = std::fs::OpenOptions::new().read(true).write(true).open(stored).unwrap();
    let (at, mut byte) = ((MIB + MIB / 2) as u64, [0]);
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[byte[0] ^ 1]).unwrap();
    drop(file);

    // The part before the damage is intact.
    let reply = get(&venue, &key, &path, &[("Range", "bytes=0-1048575")]);
    assert!(reply.status == 206 && reply.bytes == content[..MIB]);
    // Damage that is found before the head is sent is an error.
    let reply = get(&venue, &key, &path, &[("Range", "bytes=1048576-1048600")]);
    reply.refuses(500, "file_unreadable");
    assert_eq!(venue.metric("rialto_depot_downloads_cut_total"), 0.0);
    // Later, the client learns by the end of the connection.
    let mut client = venue.client();
    let headers = signed(&key, "GET", &path, b"");
    let head = head_of("GET", &path, &headers, "connection: keep-alive");
    client.raw(head.as_bytes()).unwrap();
    let error = client.read().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{error}");
    assert_eq!(venue.metric("rialto_depot_downloads_cut_total"), 1.0);
}

#[test]
fn downloads_are_bounded_and_wait_for_the_client() {
    let depot = DepotLimits { key_downloads_max: 1, ..DepotLimits::default() };
    // More than the system holds for a client that does not read.
    let content = content(24 * MIB);
    let (venue, key, path, _) = with_file(GatewayConfig { depot, ..config() }, &content);
    let mut client = venue.client();
    let headers = signed(&key, "GET", &path, b"");
    let head = head_of("GET", &path, &headers, "connection: keep-alive");
    client.raw(head.as_bytes()).unwrap();
    until("it has begun", || venue.metric("rialto_depot_downloads") == 1.0);
    let refused = get(&venue, &key, &path, &[]).refuses(503, "too_many_downloads");
    assert!(refused.head.contains("retry-after"));
    assert!(client.read().unwrap().bytes == content);
    until("it has ended", || get(&venue, &key, &path, &[]).status == 200);
}
