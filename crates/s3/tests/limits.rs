//! Limits that one caller can reach, and what happens then.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod raw;

use raw::{Answer, World, tenant, until};
use rialto_bus::behaviour::{Clock, SystemClock};
use rialto_depot::Timestamp;
use rialto_depot_desk::DepotLimits;
use rialto_s3::S3Options;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn world(options: S3Options) -> World {
    World::with(options, DepotLimits::default())
}

#[test]
fn one_connection_more_than_there_may_be_is_closed_at_once() {
    for options in [
        S3Options { connections_max: 2, ..S3Options::default() },
        S3Options { address_connections_max: 2, ..S3Options::default() },
    ] {
        let world = world(options);
        let (first, _second) = (world.connect(), world.connect());
        until("the state is reached", || world.traffic.connections() >= 2);
        assert_eq!(world.connect().read(&mut [0]).unwrap_or(0), 0);
        assert_eq!(world.traffic.connections_refused(), 1);
        drop(first);
        until("the state is reached", || world.traffic.connections() <= 1);
        assert_eq!(world.send(&raw::put("a", b"abc")).status, 200);
    }
}

#[test]
fn a_connection_that_sends_no_head_is_closed() {
    let head_timeout = Duration::from_millis(200);
    let world = world(S3Options { head_timeout, ..S3Options::default() });
    for begin in [&b""[..], b"GET / HTTP/1.1\r\nhost: x\r\n"] {
        let mut stream = world.connect();
        stream.write_all(begin).unwrap();
        let began = Instant::now();
        let _ = stream.read_to_end(&mut Vec::new());
        assert!(began.elapsed() >= head_timeout / 2 && began.elapsed() < Duration::from_secs(30));
    }
    // The head is too long.
    let mut stream = world.connect();
    let _ = stream.write_all(format!("GET /{} HTTP/1.1\r\n", "x".repeat(80_000)).as_bytes());
    assert!(matches!(Answer::read(&mut stream).status, 0 | 414 | 431));
}

#[test]
fn a_body_that_comes_too_slowly_is_refused() {
    let world = world(S3Options {
        body_timeout: Duration::from_millis(200),
        upload_rate_min: 1_000,
        ..S3Options::default()
    });
    let body = vec![7; 100_000];
    let delete = b"<Delete><Object><Key>a</Key></Object></Delete>";
    for request in [raw::put("a", &body), raw::signed("POST", "/acme?delete=", delete)] {
        let mut stream = world.connect();
        stream.write_all(&request.head()).unwrap();
        stream.write_all(&request.wire()[..10]).unwrap();
        assert_eq!(Answer::read(&mut stream).refusal(), (400, "RequestTimeout"));
        assert_eq!(world.files(), 0);
    }
}

#[test]
fn a_client_that_takes_no_answer_is_left() {
    let world =
        world(S3Options { answer_timeout: Duration::from_millis(200), ..S3Options::default() });
    assert_eq!(world.send(&raw::put("a", &vec![7; 32 << 20])).status, 200);
    let mut stream = world.connect();
    stream.write_all(&raw::get("a").head()).unwrap();
    until("the state is reached", || world.traffic.connections() > 0 && world.bus.downloads() > 0);
    // It reads nothing, and its place is free again.
    until("the state is reached", || {
        world.traffic.connections() == 0 && world.bus.downloads() == 0
    });
}

#[test]
fn a_key_has_so_many_requests_and_uploads_at_a_time() {
    let limits = DepotLimits { key_uploads_max: 1, ..DepotLimits::default() };
    let world = World::with(S3Options { key_requests_max: 2, ..S3Options::default() }, limits);
    let body = vec![7; 1 << 20];
    let hold = raw::put("a", &body);
    let mut first = world.connect();
    first.write_all(&hold.head()).unwrap();
    until("the state is reached", || world.bus.uploads() > 0);
    assert_eq!(world.send(&raw::put("b", b"abc")).refusal(), (503, "SlowDown"));
    let slow = raw::signed("POST", "/acme?delete=", b"<Delete></Delete>");
    let mut second = world.connect();
    second.write_all(&slow.head()).unwrap();
    until("the state is reached", || world.traffic.requests() >= 2);
    let third = world.send(&raw::get("none"));
    assert_eq!(third.refusal(), (503, "SlowDown"));
    drop(second);
    first.write_all(&body).unwrap();
    assert_eq!(Answer::read(&mut first).status, 200);
    assert_eq!(world.send(&raw::get("none")).refusal(), (404, "NoSuchKey"));
}

fn begin(world: &World, key: &str) -> Answer {
    world.send(&raw::signed("POST", &format!("/acme/{key}?uploads="), b""))
}

fn id_of(answer: &Answer) -> String {
    let id = answer.body.split("<UploadId>").nth(1).unwrap_or_else(|| panic!("{answer:?}"));
    id.split('<').next().unwrap().to_owned()
}

/// The clocks of the machine plus an offset in nanoseconds, which a test increases.
#[derive(Clone, Default)]
struct Ahead(Arc<AtomicU64>);

impl Ahead {
    fn pass(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap(), Ordering::Relaxed);
    }
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now().saturating_add(self.0.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Instant {
        SystemClock.monotonic() + Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

#[test]
fn open_uploads_are_bounded_until_one_ends_or_expires() {
    let options = S3Options { key_open_uploads_max: 2, ..S3Options::default() };
    let (clock, life) = (Ahead::default(), options.upload_life);
    let world = World::with_depot(options, DepotLimits::default(), |depot| {
        depot.clock = Arc::new(clock.clone());
    });
    let (first, second) = (id_of(&begin(&world, "a")), id_of(&begin(&world, "a")));
    assert_eq!(begin(&world, "a").refusal(), (503, "SlowDown"));
    let part =
        |id: &str| raw::signed("PUT", &format!("/acme/a?partNumber=1&uploadId={id}"), b"abc");
    assert_eq!(world.send(&part(&second)).status, 200);
    let abort = raw::signed("DELETE", &format!("/acme/a?uploadId={first}"), b"");
    assert_eq!(world.send(&abort).status, 204);
    assert_eq!(begin(&world, "a").status, 200);
    assert_eq!(begin(&world, "a").refusal(), (503, "SlowDown"));
    assert_eq!(world.send(&part(&first)).refusal(), (404, "NoSuchUpload"));
    // The depot deletes what has expired, parts too.
    clock.pass(life);
    until("the state is reached", || world.files() == 0);
    assert_eq!(world.send(&part(&second)).refusal(), (404, "NoSuchUpload"));
    assert_eq!(begin(&world, "a").status, 200);
}

#[test]
fn parts_out_of_order_and_short_ones_are_refused_and_the_upload_goes_on() {
    let world = World::new();
    let id = id_of(&begin(&world, "a"));
    let mut tags = Vec::new();
    for (number, bytes) in [(1, 5 << 20), (2, 10), (3, 20)] {
        let target = format!("/acme/a?partNumber={number}&uploadId={id}");
        let put = world.send(&raw::signed("PUT", &target, &vec![number; bytes]));
        tags.push(put.header("etag").unwrap().trim_matches('"').to_owned());
    }
    let complete = |numbers: &[usize]| {
        let part = |number: &usize| {
            let tag = &tags[*number - 1];
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
        };
        let parts: String = numbers.iter().map(part).collect();
        let body = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let target = format!("/acme/a?uploadId={id}");
        let answer = world.send(&raw::signed("POST", &target, body.as_bytes()));
        (answer.status, answer.refusal().1.to_owned())
    };
    assert_eq!(complete(&[3, 1]), (400, "InvalidPartOrder".to_owned()));
    assert_eq!(complete(&[1, 2, 3]), (400, "EntityTooSmall".to_owned()));
    assert_eq!(complete(&[]), (400, "MalformedXML".to_owned()));
    let zero = raw::signed("PUT", &format!("/acme/a?partNumber=0&uploadId={id}"), b"abc");
    assert_eq!(world.send(&zero).refusal(), (400, "InvalidArgument"));
    assert_eq!(world.send(&raw::get("a")).refusal(), (404, "NoSuchKey"));
    assert_eq!(complete(&[1, 2]).0, 200);
    // Of the upload, the object alone is left.
    until("its parts are deleted", || world.files() == 1);
    let made = world.depot.file_at(&tenant("acme"), "a").unwrap().record.bytes;
    assert_eq!(made, (5 << 20) + 10);
}

#[test]
fn a_stop_answers_what_was_received() {
    let world = World::new();
    let body = vec![7; 1 << 20];
    let request = raw::put("a", &body);
    let mut stream = world.connect();
    stream.write_all(&request.head()).unwrap();
    until("the state is reached", || world.bus.uploads() > 0);
    let World { server, depot, .. } = world;
    let address = server.local_addr();
    let stopping = std::thread::spawn(move || server.shutdown(Duration::from_secs(60)));
    until("the state is reached", || std::net::TcpStream::connect(address).is_err());
    stream.write_all(&body).unwrap();
    assert_eq!(Answer::read(&mut stream).status, 200);
    assert!(stopping.join().unwrap());
    assert_eq!(depot.used("acme").unwrap().0, 1);
}
