//! Topics over HTTP in the packed form: published, fetched, read, acknowledged and refused.

use crate::test_venue::{Reply, TestVenue, config};
use rialto_gateway::GatewayConfig;
use rialto_queue::Publish;
use rialto_queue::packed::{Packed, PackedLeases, PackedWriter};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const MESSAGES: &str = "application/vnd.rialto.messages";
const LEASES: &str = "application/vnd.rialto.leases";
const GROUP: &str = "/v1/queues/jobs/groups/all";

fn with_topic(config: GatewayConfig) -> TestVenue {
    let venue = TestVenue::empty(config);
    let topic = json!({"name": "jobs", "level": "memory", "priorities": 2});
    venue.operate("POST", "/v1/queues", topic).expect(201);
    venue.operate("POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    venue
}

/// A request with the admin key and a body of this type, which accepts packed answers.
fn ask(venue: &TestVenue, method: &str, path: &str, kind: &str, body: &[u8]) -> Reply {
    let headers = [
        ("Authorization", format!("Bearer {}", venue.admin.reveal())),
        ("Content-Type", kind.to_owned()),
        ("Accept", format!("text/plain;q=0.1, {MESSAGES}")),
    ];
    venue.client().send(method, path, &headers, body)
}

fn publish(venue: &TestVenue, query: &str, body: &[u8]) -> Reply {
    ask(venue, "POST", &format!("/v1/queues/jobs/messages{query}"), MESSAGES, body)
}

fn packed(messages: &[Publish<'_>]) -> Vec<u8> {
    let mut writer = PackedWriter::new();
    messages.iter().for_each(|message| writer.push(message));
    writer.bytes().to_vec()
}

fn fetch(venue: &TestVenue, consumer: &str, max: usize) -> Packed<Vec<u8>> {
    let body = json!({"consumer": consumer, "max": max}).to_string();
    let path = format!("{GROUP}/fetch");
    let reply = ask(venue, "POST", &path, "application/json", body.as_bytes());
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(reply.head.contains(&format!("content-type: {MESSAGES}\r\n")), "{}", reply.head);
    Packed::read(reply.bytes).unwrap()
}

fn leases(packed: &Packed<Vec<u8>>) -> Vec<u8> {
    let (mut leases, mut bytes) = (PackedLeases::new(packed.epoch()), Vec::new());
    packed.messages().for_each(|message| leases.push(message.id(), message.lease()));
    leases.write(&mut bytes);
    bytes
}

fn settle(venue: &TestVenue, what: &str, body: &[u8]) -> Reply {
    ask(venue, "POST", &format!("{GROUP}/{what}"), LEASES, body)
}

#[test]
fn packed_messages_are_published_fetched_and_acknowledged() {
    let venue = with_topic(config());
    let long = vec![0xab; 300_000];
    let messages = [
        Publish::new(b"one").key(b"k\xff").header("trace", b"\xfe").content_type("text/plain"),
        Publish::new(b"first").priority(1),
        Publish::new(&long).schema_version(4),
    ];
    let answer = publish(&venue, "", &packed(&messages)).expect(201);
    let ranges = json!([
        {"first": "0:1", "last": "0:1"},
        {"first": "1:1", "last": "1:1"},
        {"first": "0:2", "last": "0:2"},
    ]);
    assert_eq!(answer, json!({"ranges": ranges, "duplicates": 0}));

    let fetched = fetch(&venue, "one", 10);
    let got: Vec<_> = fetched.messages().collect();
    assert_eq!(got.len(), 3);
    assert_eq!((got[0].payload(), got[0].priority()), (&b"first"[..], 1), "priorities go first");
    assert_eq!((got[1].payload(), got[1].key()), (&b"one"[..], &b"k\xff"[..]));
    assert_eq!(got[1].headers().collect::<Vec<_>>(), [("trace", &b"\xfe"[..])]);
    assert_eq!((got[1].content_type(), got[1].attempt()), ("text/plain", 1));
    assert_eq!((got[2].payload(), got[2].schema_version()), (&long[..], 4));
    assert!(fetch(&venue, "two", 10).is_empty(), "another has them");

    assert_eq!(
        settle(&venue, "extend?consumer=one&ack_wait_ms=60000", &leases(&fetched)).expect(200)["lost"],
        json!([])
    );
    assert_eq!(
        settle(&venue, "ack?consumer=one", &leases(&fetched)).expect(200)["lost"],
        json!([])
    );
    let lost = settle(&venue, "ack?consumer=one", &leases(&fetched)).expect(200);
    assert_eq!(lost, json!({"lost": ["1:1", "0:1", "0:2"]}));
    let topic = venue.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
    assert_eq!(topic["groups"][0]["acked"], "3");
}

#[test]
fn json_and_packed_speak_of_the_same_messages() {
    let venue = with_topic(config());
    let answer = venue.operate(
        "POST",
        "/v1/queues/jobs/messages",
        json!([{"payload": "a"}, {"payload": "b"}]),
    );
    answer.expect(201);
    let fetched = fetch(&venue, "one", 1);
    assert_eq!(fetched.messages().next().unwrap().payload(), b"a");
    let given = settle(&venue, "nack?consumer=one&delay_ms=0&detail=busy", &leases(&fetched));
    assert_eq!(given.expect(200)["lost"], json!([]));
    let body = json!({"consumer": "two"});
    let answer = venue.operate("POST", &format!("{GROUP}/fetch"), body).expect(200);
    let messages = answer["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{answer}");
    assert_eq!((&messages[0]["payload"], &messages[0]["attempt"]), (&json!("a"), &json!(2)));
    let refused = settle(&venue, "nack?consumer=two&refuse=true", &leases(&fetched)).expect(200);
    assert_eq!(refused, json!({"lost": ["0:1"]}), "this lease was given back");
}

#[test]
fn a_topic_is_read_packed_page_by_page() {
    let venue = with_topic(config());
    let payload = vec![5; 1_024];
    publish(&venue, "", &packed(&vec![Publish::new(&payload); 900])).expect(201);
    let (mut next, mut read) = ("oldest".to_owned(), 0);
    while read < 900 {
        let path = format!("/v1/queues/jobs/messages?from={next}&max=400");
        let reply = ask(&venue, "GET", &path, "text/plain", b"");
        assert_eq!(reply.status, 200, "{}", reply.body);
        next = reply
            .head
            .split("x-rialto-next: ")
            .nth(1)
            .unwrap()
            .split("\r\n")
            .next()
            .unwrap()
            .into();
        let page = Packed::read(reply.bytes).unwrap();
        for message in page.messages() {
            read += 1;
            assert_eq!((message.id().seq, message.lease()), (read, 0));
            assert_eq!(message.payload(), payload);
        }
    }
    assert_eq!(next, "901,1");
}

#[test]
fn a_client_that_requests_much_and_does_not_read_is_disconnected() {
    const ASKED: usize = 40;
    let hasty = Duration::from_millis(500);
    let venue = with_topic(GatewayConfig { answer_timeout: hasty, ..config() });
    let payload = vec![7; 1_000_000];
    for _ in 0..2 {
        publish(&venue, "", &packed(&[Publish::new(&payload)])).expect(201);
    }
    let connections = || {
        let page = venue.get("/metrics").body.as_str().unwrap().to_owned();
        let line = page.lines().find(|line| line.starts_with("rialto_connections ")).unwrap();
        line.split(' ').nth(1).unwrap().parse::<u32>().unwrap()
    };
    let ask = format!(
        "GET /v1/queues/jobs/messages HTTP/1.1\r\nhost: rialto\r\nauthorization: Bearer {}\r\n\
         accept: {MESSAGES}\r\n\r\n",
        venue.admin.reveal()
    );
    let mut client = venue.client();
    // All answers together are longer than the buffers of two sockets.
    client.raw(ask.repeat(ASKED).as_bytes()).unwrap();
    let began = Instant::now();
    while connections() > 1 {
        assert!(began.elapsed() < Duration::from_secs(20), "the connection is still open");
    }
    let whole =
        std::iter::from_fn(|| client.read().ok()).inspect(|reply| assert_eq!(reply.status, 200));
    assert!(whole.count() < ASKED, "what was not taken is not sent any more");
    // A client that reads, however many requests wait, gets everything. On a busy machine it may
    // read too slowly, but not in every attempt.
    let gets_all = (0..20).any(|_| {
        let mut client = venue.client();
        if client.raw(ask.repeat(ASKED).as_bytes()).is_err() {
            return false;
        }
        (0..ASKED).all(|_| {
            let Ok(reply) = client.read() else { return false };
            let page = Packed::read(reply.bytes).unwrap();
            let bytes = page.messages().map(|message| message.payload().len()).sum::<usize>();
            assert_eq!(bytes, 2_000_000);
            true
        })
    });
    assert!(gets_all, "a client that reads is disconnected");
}

#[test]
fn numbered_messages_that_are_sent_again_are_published_once() {
    let venue = with_topic(config());
    let body = packed(&[Publish::new(b"a"), Publish::new(b"b")]);
    publish(&venue, "?producer=7&first=1", &body).expect(201);
    let again = publish(&venue, "?producer=7&first=2", &body).expect(201);
    assert_eq!(again, json!({"ranges": [{"first": "0:3", "last": "0:3"}], "duplicates": 1}));
}

#[test]
fn a_malformed_batch_is_refused_as_a_whole() {
    let venue = with_topic(GatewayConfig { queue_body_bytes_max: 64 << 10, ..config() });
    let whole = packed(&[Publish::new(b"a"), Publish::new(b"b").key(b"k")]);
    for at in 0..whole.len() {
        publish(&venue, "", &whole[..at]).refuses(400, "malformed_body");
    }
    for (at, field) in
        [(0, "body"), (4, "body"), (6, "body"), (8, "body"), (16 + 32, "body"), (31 + 32, "body")]
    {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        let refused = publish(&venue, "", &bytes).refuses(400, "malformed_body");
        assert_eq!(refused.field(), field, "byte {at}");
    }
    let mut trailing = whole.clone();
    trailing.push(0);
    publish(&venue, "", &trailing).refuses(400, "malformed_body");
    // The second message has a time of publication.
    let mut published = whole.clone();
    published[64 + 72 + 4] = 1;
    assert_eq!(publish(&venue, "", &published).refuses(400, "malformed_body").field(), "[1]");
    publish(&venue, "", &packed(&[])).refuses(400, "invalid_field");
    publish(&venue, "", &packed(&vec![Publish::new(b""); 1_001])).refuses(413, "body_too_large");
    let refused =
        publish(&venue, "", &packed(&[Publish::new(b"a"), Publish::new(b"b").priority(2)]));
    assert_eq!(refused.refuses(400, "invalid_message").field(), "[1]");
    let topic = venue.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
    assert_eq!(topic["published_messages"], "1", "the one before that was refused");

    let fetched = fetch(&venue, "c", 10);
    let bytes = leases(&fetched);
    settle(&venue, "ack", &bytes).refuses(400, "missing_field");
    settle(&venue, "ack?consumer=c&colour=red", &bytes).refuses(400, "unknown_parameter");
    settle(&venue, "ack?consumer=c", &bytes[..63]).refuses(400, "malformed_body");
    settle(&venue, "ack?consumer=c", &bytes[..32]).refuses(400, "malformed_body");
    let mut many = bytes.clone();
    many[32 + 19] = 0xff;
    settle(&venue, "ack?consumer=c", &many).refuses(400, "invalid_field");
    // Leases of another process are unknown.
    let mut other = bytes.clone();
    other[12] ^= 1;
    assert_eq!(settle(&venue, "ack?consumer=c", &other).expect(200), json!({"lost": ["0:1"]}));
    assert_eq!(settle(&venue, "ack?consumer=c", &bytes).expect(200), json!({"lost": []}));
}

#[test]
fn prefetched_messages_are_not_returned_after_their_deletion() {
    let venue = with_topic(config());
    let fill = |payload: &[u8]| {
        publish(&venue, "", &packed(&vec![Publish::new(payload); 100])).expect(201);
    };
    let read = |from: &str| {
        let path = format!("/v1/queues/jobs/messages?from={from}&max=10");
        let page = Packed::read(ask(&venue, "GET", &path, "text/plain", b"").bytes).unwrap();
        let payloads: Vec<_> = page.messages().map(|message| message.payload().to_vec()).collect();
        (page.missed(), payloads)
    };
    fill(b"old");
    // The second page continues the first, so that the third is read ahead.
    for from in ["1,1", "11,1"] {
        assert_eq!(read(from), (0, vec![b"old".to_vec(); 10]));
    }
    venue.operate("DELETE", "/v1/queues/jobs/messages", Value::Null).expect(200);
    fill(b"new");
    assert_eq!(read("21,1"), (80, vec![b"new".to_vec(); 10]));
    assert_eq!(read("111,1"), (0, vec![b"new".to_vec(); 10]));
    // A new topic with the same name.
    venue.operate("DELETE", "/v1/queues/jobs", Value::Null).expect(200);
    venue.operate("POST", "/v1/queues", json!({"name": "jobs", "priorities": 2})).expect(201);
    for _ in 0..2 {
        fill(b"other");
    }
    assert_eq!(read("121,1"), (0, vec![b"other".to_vec(); 10]));
}
