//! Messages of a group pushed over a WebSocket: flow control, answers, rights, lost clients.

use crate::test_venue::{Key, TestVenue, config, key_of, signed};
use futures_util::{SinkExt, StreamExt};
use rialto_gateway::GatewayConfig;
use rialto_queue::packed::{Packed, PackedLeases};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

/// A timeout that fails the test on any machine.
const LONG: Duration = Duration::from_secs(20);
const PATH: &str = "/v1/queues/jobs/groups/all/stream";

fn with_topic(config: GatewayConfig) -> TestVenue {
    let venue = TestVenue::empty(config);
    venue.operate("POST", "/v1/queues", json!({"name": "jobs", "level": "memory"})).expect(201);
    let group = json!({"name": "all", "retry_delay_ms": 0});
    venue.operate("POST", "/v1/queues/jobs/groups", group).expect(201);
    venue
}

fn publish(venue: &TestVenue, payloads: &[&str]) {
    let messages: Value = payloads.iter().map(|payload| json!({"payload": payload})).collect();
    venue.operate("POST", "/v1/queues/jobs/messages", messages).expect(201);
}

fn group(venue: &TestVenue) -> Value {
    venue.operate("GET", "/v1/queues/jobs", Value::Null).expect(200)["groups"][0].clone()
}

/// Waits until a field of the group has this value.
fn until(venue: &TestVenue, field: &str, value: &str) {
    let began = std::time::Instant::now();
    while group(venue)[field] != value {
        assert!(began.elapsed() < LONG, "{field} is not {value}: {}", group(venue));
    }
}

/// A client for synchronous tests.
struct Pushed {
    runtime: Runtime,
    socket: WebSocketStream<TcpStream>,
}

impl Pushed {
    fn connect(venue: &TestVenue, query: &str) -> Pushed {
        let admin = format!("Bearer {}", venue.admin.reveal());
        Pushed::with(venue, query, &[("Authorization", admin)]).unwrap()
    }

    /// Connects with a key, or returns the HTTP status of the error.
    fn signed(venue: &TestVenue, key: &Key) -> Result<Pushed, u16> {
        Pushed::with(venue, "", &signed(key, "GET", PATH, b""))
    }

    fn with(
        venue: &TestVenue,
        query: &str,
        headers: &[(&'static str, String)],
    ) -> Result<Pushed, u16> {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let mut request =
            format!("ws://{}{PATH}{query}", venue.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let address = venue.address;
        let socket = runtime.block_on(async {
            let stream = TcpStream::connect(address).await.unwrap();
            match tokio_tungstenite::client_async(request, stream).await {
                Ok((socket, _)) => Ok(socket),
                Err(Error::Http(response)) => Err(response.status().as_u16()),
                Err(error) => panic!("{error}"),
            }
        })?;
        Ok(Pushed { runtime, socket })
    }

    fn say(&mut self, message: Message) {
        self.runtime.block_on(self.socket.send(message)).unwrap();
    }

    /// The next message, without pings.
    fn next(&mut self) -> Message {
        loop {
            let next = async { tokio::time::timeout(LONG, self.socket.next()).await };
            match self.runtime.block_on(next).expect("nothing came") {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(message)) => return message,
                other => panic!("{other:?}"),
            }
        }
    }

    fn hear(&mut self) -> Value {
        match self.next() {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// The next messages of the topic, this many, in any number of frames.
    fn messages(&mut self, count: usize) -> Vec<Value> {
        let mut messages = Vec::new();
        while messages.len() < count {
            let message = self.hear();
            assert_eq!(message["type"], "messages", "{message}");
            messages.extend(message["messages"].as_array().unwrap().iter().cloned());
        }
        assert_eq!(messages.len(), count, "{messages:?}");
        messages
    }

    fn settle(&mut self, op: &str, messages: &[Value]) -> Value {
        let leases: Value = messages
            .iter()
            .map(|message| json!({"id": message["id"], "lease": message["lease"]}))
            .collect();
        self.say(Message::text(json!({"op": op, "messages": leases}).to_string()));
        let message = self.hear();
        assert_eq!(
            (&message["type"], &message["op"]),
            (&json!("settled"), &json!(op)),
            "{message}"
        );
        message["lost"].clone()
    }
}

#[test]
fn no_more_is_pushed_than_was_asked_for_and_answers_make_room() {
    let venue = with_topic(config());
    let mut client = Pushed::connect(&venue, "?prefetch=2");
    publish(&venue, &["a", "b", "c"]);
    let had = client.messages(2);
    assert_eq!((&had[0]["payload"], &had[1]["payload"]), (&json!("a"), &json!("b")));
    assert_eq!(group(&venue)["outstanding"], "2", "the third waits for room");
    assert_eq!(client.settle("extend", &had), json!([]));
    let lease = json!([{"id": had[0]["id"], "lease": had[0]["lease"]}]);
    let hour = json!({"op": "extend", "messages": lease, "ack_wait_ms": 3_600_000});
    client.say(Message::text(hour.to_string()));
    assert_eq!(client.hear(), json!({"type": "settled", "op": "extend", "lost": []}));
    for wrong in [json!({"op": "ack", "ack_wait_ms": 5}), json!({"op": "extend", "ack_wait_ms": 0})]
    {
        client.say(Message::text(crate::test_venue::with(hour.clone(), wrong).to_string()));
        assert_eq!(client.hear()["error"]["code"], "invalid_field");
    }
    // The answer, and the message that it makes room for, arrive in either order.
    let lease = json!([{"id": had[0]["id"], "lease": had[0]["lease"]}]);
    client.say(Message::text(json!({"op": "ack", "messages": lease}).to_string()));
    let (one, other) = (client.hear(), client.hear());
    let (settled, pushed) = if one["type"] == "settled" { (one, other) } else { (other, one) };
    assert_eq!(settled, json!({"type": "settled", "op": "ack", "lost": []}));
    assert_eq!(pushed["messages"][0]["payload"], "c");
    let again = [had[0].clone()];
    assert_eq!(client.settle("ack", &again), json!(["0:1"]));
    assert_eq!(group(&venue)["acked"], "1");
}

#[test]
fn packed_messages_are_pushed_in_binary_and_answered_in_binary() {
    let venue = with_topic(config());
    publish(&venue, &["a", "b"]);
    let mut client = Pushed::connect(&venue, "?format=packed&prefetch=100");
    let Message::Binary(bytes) = client.next() else { panic!("it is not binary") };
    let packed = Packed::read(&bytes[..]).unwrap();
    let payloads: Vec<_> = packed.messages().map(|message| message.payload()).collect();
    assert_eq!(payloads, [b"a", b"b"]);
    let (mut leases, mut bytes) = (PackedLeases::new(packed.epoch()), Vec::new());
    packed.messages().for_each(|message| leases.push(message.id(), message.lease()));
    leases.write(&mut bytes);
    client.say(Message::binary(bytes));
    assert_eq!(client.hear(), json!({"type": "settled", "op": "ack", "lost": []}));
    assert_eq!(group(&venue)["acked"], "2");
}

#[test]
fn outstanding_messages_of_a_lost_client_are_redelivered() {
    let venue = with_topic(config());
    publish(&venue, &["a", "b"]);
    let mut lost = Pushed::connect(&venue, "?prefetch=2");
    lost.messages(2);
    drop(lost);
    let mut other = Pushed::connect(&venue, "");
    let again = other.messages(2);
    assert_eq!((&again[0]["attempt"], &again[1]["attempt"]), (&json!(2), &json!(2)));
    until(&venue, "consumers", "1");
    let first = json!([{"id": again[0]["id"], "lease": again[0]["lease"]}]);
    let unseen = json!({"op": "nack", "messages": first, "unseen": true});
    other.say(Message::text(unseen.to_string()));
    // The answer and the message arrive in either order.
    let heard = [other.hear(), other.hear()];
    let pushed = heard.iter().find(|message| message["type"] == "messages").unwrap();
    let message = &pushed["messages"][0];
    assert_eq!((&message["id"], &message["attempt"]), (&json!("0:1"), &json!(2)));
}

#[test]
fn a_client_that_does_not_read_is_disconnected_without_effect_on_others() {
    let mut limits = config();
    limits.stream.send_timeout = Duration::from_millis(200);
    let venue = with_topic(limits);
    let _deaf = Pushed::connect(&venue, "?prefetch=10000");
    let big = "x".repeat(50_000);
    // More than the buffers of two sockets.
    for _ in 0..30 {
        publish(&venue, &[&big[..]; 20]);
    }
    until(&venue, "consumers", "0");
    assert_eq!(group(&venue)["acked"], "0");
    let mut other = Pushed::connect(&venue, "?prefetch=3");
    assert_eq!(other.messages(3).len(), 3, "others get what it had");
    let metrics = venue.get("/metrics").body.as_str().unwrap().to_owned();
    assert!(metrics.contains("rialto_stream_too_slow_total 1\n"), "{metrics}");
}

#[test]
fn invalid_frames_are_refused_and_the_connection_continues() {
    let venue = with_topic(config());
    let mut client = Pushed::connect(&venue, "");
    for (text, code) in [
        ("{", "malformed_json"),
        (r#"{"op":"dance","messages":[]}"#, "invalid_field"),
        (r#"{"op":"ack"}"#, "missing_field"),
        (r#"{"op":"ack","messages":[]}"#, "invalid_field"),
        (r#"{"op":"ack","messages":[{"id":"0:1","lease":"7"}]}"#, "invalid_field"),
        (r#"{"op":"ack","messages":[{"id":"0:1","lease":"0.1"}],"refuse":true}"#, "invalid_field"),
        (r#"{"op":"nack","messages":[{"id":"0:1","lease":"0.1"}],"colour":1}"#, "unknown_field"),
        (
            r#"{"op":"nack","messages":[{"id":"0:1","lease":"0.1"}],"unseen":true,"refuse":true}"#,
            "invalid_field",
        ),
    ] {
        client.say(Message::text(text));
        let message = client.hear();
        assert_eq!(
            (&message["type"], &message["error"]["code"]),
            (&json!("error"), &json!(code)),
            "{text}"
        );
    }
    client.say(Message::binary(&b"RLSE"[..]));
    assert_eq!(client.hear()["error"]["code"], "malformed_body");
    publish(&venue, &["a"]);
    let had = client.messages(1);
    assert_eq!(client.settle("ack", &had), json!([]));

    let ask = |query: &str| {
        let path = format!("{PATH}{query}");
        venue.operate("GET", &path, Value::Null)
    };
    ask("").refuses(426, "websocket_required");
    ask("?prefetch=0").refuses(400, "invalid_field");
    ask("?prefetch=10001").refuses(400, "invalid_field");
    ask("?format=xml").refuses(400, "invalid_field");
    let path = "/v1/queues/jobs/groups/none/stream";
    venue.operate("GET", path, Value::Null).refuses(404, "unknown_group");
}

#[test]
fn a_key_needs_the_right_to_consume_and_is_disconnected_when_it_is_revoked() {
    let mut limits = config();
    limits.stream.heartbeat = Duration::from_millis(20);
    let venue = with_topic(limits);
    let member = venue.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let key = |rights: Value| {
        let grants = json!([{"topics": "jobs", "rights": rights}]);
        let body = json!({"member": member["member"], "queues": grants});
        key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201))
    };
    assert_eq!(Pushed::signed(&venue, &key(json!(["produce"]))).err(), Some(403));
    let consumer = key(json!(["consume"]));
    let mut client = Pushed::signed(&venue, &consumer).unwrap();
    publish(&venue, &["a"]);
    let had = client.messages(1);
    assert_eq!(client.settle("ack", &had), json!([]));
    let path = format!("/v1/admin/keys/{}", consumer.id);
    venue.operate("DELETE", &path, Value::Null).expect(200);
    let Message::Close(Some(frame)) = client.next() else { panic!("it goes on") };
    assert_eq!((u16::from(frame.code), frame.reason.as_str()), (4003, "key_not_valid"));
}

#[test]
fn a_stop_and_the_end_of_the_group_close_the_connection_with_a_reason() {
    let mut venue = with_topic(config());
    let mut client = Pushed::connect(&venue, "");
    until(&venue, "consumers", "1");
    venue.operate("DELETE", "/v1/queues/jobs/groups/all", Value::Null).expect(200);
    let Message::Close(Some(frame)) = client.next() else { panic!("it goes on") };
    assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1011, "unknown_group"));

    venue.operate("POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    let mut client = Pushed::connect(&venue, "");
    let gateway = venue.gateway.take().unwrap();
    let stopping = std::thread::spawn(move || gateway.shutdown(LONG));
    let Message::Close(Some(frame)) = client.next() else { panic!("it goes on") };
    assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1001, "going_away"));
    drop(client);
    assert!(stopping.join().unwrap());
}
