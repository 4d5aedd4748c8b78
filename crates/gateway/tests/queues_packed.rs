//! Topics over HTTP in the form in which they lie on disk: published, fetched, read, acknowledged
//! and refused.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod house;

use house::{House, Reply, config};
use rialto_gateway::GatewayConfig;
use rialto_queue::Publish;
use rialto_queue::packed::{Packed, PackedLeases, PackedWriter};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const MESSAGES: &str = "application/vnd.rialto.messages";
const LEASES: &str = "application/vnd.rialto.leases";
const GROUP: &str = "/v1/queues/jobs/groups/all";

fn furnished(config: GatewayConfig) -> House {
    let house = House::empty(config);
    let topic = json!({"name": "jobs", "level": "memory", "priorities": 2});
    house.operate("POST", "/v1/queues", topic).expect(201);
    house.operate("POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    house
}

/// A request with the admin key whose body is of this type, and whose answer is to be packed.
fn ask(house: &House, method: &str, path: &str, kind: &str, body: &[u8]) -> Reply {
    let headers = [
        ("Authorization", format!("Bearer {}", house.admin.reveal())),
        ("Content-Type", kind.to_owned()),
        ("Accept", format!("text/plain;q=0.1, {MESSAGES}")),
    ];
    house.client().send(method, path, &headers, body)
}

fn publish(house: &House, query: &str, body: &[u8]) -> Reply {
    ask(house, "POST", &format!("/v1/queues/jobs/messages{query}"), MESSAGES, body)
}

fn packed(messages: &[Publish<'_>]) -> Vec<u8> {
    let mut writer = PackedWriter::new();
    messages.iter().for_each(|message| writer.push(message));
    writer.bytes().to_vec()
}

fn fetch(house: &House, consumer: &str, max: usize) -> Packed<Vec<u8>> {
    let body = json!({"consumer": consumer, "max": max}).to_string();
    let path = format!("{GROUP}/fetch");
    let reply = ask(house, "POST", &path, "application/json", body.as_bytes());
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

fn settle(house: &House, what: &str, body: &[u8]) -> Reply {
    ask(house, "POST", &format!("{GROUP}/{what}"), LEASES, body)
}

#[test]
fn what_is_published_packed_is_fetched_packed_and_acknowledged_packed() {
    let house = furnished(config());
    let long = vec![0xab; 300_000];
    let messages = [
        Publish::new(b"one").key(b"k\xff").header("trace", b"\xfe").content_type("text/plain"),
        Publish::new(b"first").priority(1),
        Publish::new(&long).schema_version(4),
    ];
    let told = publish(&house, "", &packed(&messages)).expect(201);
    let ranges = json!([
        {"first": "0:1", "last": "0:1"},
        {"first": "1:1", "last": "1:1"},
        {"first": "0:2", "last": "0:2"},
    ]);
    assert_eq!(told, json!({"ranges": ranges, "duplicates": 0}));

    let fetched = fetch(&house, "one", 10);
    let got: Vec<_> = fetched.messages().collect();
    assert_eq!(got.len(), 3);
    assert_eq!((got[0].payload(), got[0].priority()), (&b"first"[..], 1), "priorities go first");
    assert_eq!((got[1].payload(), got[1].key()), (&b"one"[..], &b"k\xff"[..]));
    assert_eq!(got[1].headers().collect::<Vec<_>>(), [("trace", &b"\xfe"[..])]);
    assert_eq!((got[1].content_type(), got[1].attempt()), ("text/plain", 1));
    assert_eq!((got[2].payload(), got[2].schema_version()), (&long[..], 4));
    assert!(fetch(&house, "two", 10).is_empty(), "another has them");

    assert_eq!(
        settle(&house, "extend?consumer=one", &leases(&fetched)).expect(200)["lost"],
        json!([])
    );
    assert_eq!(
        settle(&house, "ack?consumer=one", &leases(&fetched)).expect(200)["lost"],
        json!([])
    );
    let lost = settle(&house, "ack?consumer=one", &leases(&fetched)).expect(200);
    assert_eq!(lost, json!({"lost": ["1:1", "0:1", "0:2"]}));
    let topic = house.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
    assert_eq!(topic["groups"][0]["acked"], "3");
}

#[test]
fn json_and_packed_speak_of_the_same_messages() {
    let house = furnished(config());
    let told = house.operate(
        "POST",
        "/v1/queues/jobs/messages",
        json!([{"payload": "a"}, {"payload": "b"}]),
    );
    told.expect(201);
    let fetched = fetch(&house, "one", 1);
    assert_eq!(fetched.messages().next().unwrap().payload(), b"a");
    let given = settle(&house, "nack?consumer=one&delay_ms=0&detail=busy", &leases(&fetched));
    assert_eq!(given.expect(200)["lost"], json!([]));
    let body = json!({"consumer": "two"});
    let told = house.operate("POST", &format!("{GROUP}/fetch"), body).expect(200);
    let messages = told["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{told}");
    assert_eq!((&messages[0]["payload"], &messages[0]["attempt"]), (&json!("a"), &json!(2)));
    let refused = settle(&house, "nack?consumer=two&refuse=true", &leases(&fetched)).expect(200);
    assert_eq!(refused, json!({"lost": ["0:1"]}), "this lease was given back");
}

#[test]
fn a_topic_is_read_packed_page_by_page() {
    let house = furnished(config());
    let payload = vec![5; 1_024];
    publish(&house, "", &packed(&vec![Publish::new(&payload); 900])).expect(201);
    let (mut next, mut read) = ("oldest".to_owned(), 0);
    while read < 900 {
        let path = format!("/v1/queues/jobs/messages?from={next}&max=400");
        let reply = ask(&house, "GET", &path, "text/plain", b"");
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
fn a_client_that_asks_for_much_and_does_not_read_is_cut_off() {
    const ASKED: usize = 40;
    let hasty = Duration::from_millis(500);
    let house = furnished(GatewayConfig { answer_timeout: hasty, ..config() });
    let payload = vec![7; 1_000_000];
    for _ in 0..2 {
        publish(&house, "", &packed(&[Publish::new(&payload)])).expect(201);
    }
    let connections = || {
        let page = house.get("/metrics").body.as_str().unwrap().to_owned();
        let line = page.lines().find(|line| line.starts_with("rialto_connections ")).unwrap();
        line.split(' ').nth(1).unwrap().parse::<u32>().unwrap()
    };
    let ask = format!(
        "GET /v1/queues/jobs/messages HTTP/1.1\r\nhost: rialto\r\nauthorization: Bearer {}\r\n\
         accept: {MESSAGES}\r\n\r\n",
        house.admin.reveal()
    );
    let mut client = house.client();
    // All answers together are more than the buffers of two sockets hold.
    client.raw(ask.repeat(ASKED).as_bytes()).unwrap();
    let began = Instant::now();
    while connections() > 1 {
        assert!(began.elapsed() < Duration::from_secs(20), "the connection is still open");
    }
    let whole =
        std::iter::from_fn(|| client.read().ok()).inspect(|reply| assert_eq!(reply.status, 200));
    assert!(whole.count() < ASKED, "what was not taken is not sent any more");
    // Who reads, however many wait, gets everything.
    let mut client = house.client();
    client.raw(ask.repeat(ASKED).as_bytes()).unwrap();
    for _ in 0..ASKED {
        let page = Packed::read(client.read().unwrap().bytes).unwrap();
        assert_eq!(
            page.messages().map(|message| message.payload().len()).sum::<usize>(),
            2_000_000
        );
    }
}

#[test]
fn numbered_messages_that_are_sent_again_are_published_once() {
    let house = furnished(config());
    let body = packed(&[Publish::new(b"a"), Publish::new(b"b")]);
    publish(&house, "?producer=7&first=1", &body).expect(201);
    let again = publish(&house, "?producer=7&first=2", &body).expect(201);
    assert_eq!(again, json!({"ranges": [{"first": "0:3", "last": "0:3"}], "duplicates": 1}));
}

#[test]
fn what_is_malformed_is_refused_as_a_whole() {
    let house = furnished(GatewayConfig { queue_body_bytes_max: 64 << 10, ..config() });
    let whole = packed(&[Publish::new(b"a"), Publish::new(b"b").key(b"k")]);
    for at in 0..whole.len() {
        publish(&house, "", &whole[..at]).refuses(400, "malformed_body");
    }
    for (at, field) in
        [(0, "body"), (4, "body"), (6, "body"), (8, "body"), (16 + 32, "body"), (31 + 32, "body")]
    {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        let refused = publish(&house, "", &bytes).refuses(400, "malformed_body");
        assert_eq!(refused.field(), field, "byte {at}");
    }
    let mut trailing = whole.clone();
    trailing.push(0);
    publish(&house, "", &trailing).refuses(400, "malformed_body");
    // The second message says when it was published.
    let mut published = whole.clone();
    published[64 + 72 + 4] = 1;
    assert_eq!(publish(&house, "", &published).refuses(400, "malformed_body").field(), "[1]");
    publish(&house, "", &packed(&[])).refuses(400, "invalid_field");
    publish(&house, "", &packed(&vec![Publish::new(b""); 1_001])).refuses(413, "body_too_large");
    let refused =
        publish(&house, "", &packed(&[Publish::new(b"a"), Publish::new(b"b").priority(2)]));
    assert_eq!(refused.refuses(400, "invalid_message").field(), "[1]");
    let topic = house.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
    assert_eq!(topic["published_messages"], "1", "the one before that was refused");

    let fetched = fetch(&house, "c", 10);
    let bytes = leases(&fetched);
    settle(&house, "ack", &bytes).refuses(400, "missing_field");
    settle(&house, "ack?consumer=c&colour=red", &bytes).refuses(400, "unknown_parameter");
    settle(&house, "ack?consumer=c", &bytes[..63]).refuses(400, "malformed_body");
    settle(&house, "ack?consumer=c", &bytes[..32]).refuses(400, "malformed_body");
    let mut many = bytes.clone();
    many[32 + 19] = 0xff;
    settle(&house, "ack?consumer=c", &many).refuses(400, "invalid_field");
    // Leases of another process are nobody's.
    let mut other = bytes.clone();
    other[12] ^= 1;
    assert_eq!(settle(&house, "ack?consumer=c", &other).expect(200), json!({"lost": ["0:1"]}));
    assert_eq!(settle(&house, "ack?consumer=c", &bytes).expect(200), json!({"lost": []}));
}

#[test]
fn what_was_read_ahead_is_not_handed_out_when_it_is_gone() {
    let house = furnished(config());
    let fill = |payload: &[u8]| {
        publish(&house, "", &packed(&vec![Publish::new(payload); 100])).expect(201);
    };
    let read = |from: &str| {
        let path = format!("/v1/queues/jobs/messages?from={from}&max=10");
        let page = Packed::read(ask(&house, "GET", &path, "text/plain", b"").bytes).unwrap();
        let payloads: Vec<_> = page.messages().map(|message| message.payload().to_vec()).collect();
        (page.missed(), payloads)
    };
    fill(b"old");
    // The second page goes on with the first, so that the third is read ahead.
    for from in ["1,1", "11,1"] {
        assert_eq!(read(from), (0, vec![b"old".to_vec(); 10]));
    }
    house.operate("DELETE", "/v1/queues/jobs/messages", Value::Null).expect(200);
    fill(b"new");
    assert_eq!(read("21,1"), (80, vec![b"new".to_vec(); 10]));
    assert_eq!(read("111,1"), (0, vec![b"new".to_vec(); 10]));
    // A topic of the same name is another.
    house.operate("DELETE", "/v1/queues/jobs", Value::Null).expect(200);
    house.operate("POST", "/v1/queues", json!({"name": "jobs", "priorities": 2})).expect(201);
    for _ in 0..2 {
        fill(b"other");
    }
    assert_eq!(read("121,1"), (0, vec![b"other".to_vec(); 10]));
}
