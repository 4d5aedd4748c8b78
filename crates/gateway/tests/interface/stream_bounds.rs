//! Limits of the stream, invalid messages and slow readers.

use crate::test_venue::{Key, TestVenue, config, with};
use crate::wire::{Book, Came, Wire, seq_of};
use rialto_gateway::GatewayConfig;
use serde_json::{Value, json};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

/// A hundred orders at a hundred prices, and their cancels; returns the last sequence.
fn churn(venue: &TestVenue, key: &Key) -> Value {
    let rows: Vec<Value> = (0..100)
        .map(|row| {
            let price = format!("{}.{:02}", 50 + row % 40, row);
            json!({"place": {
                "instrument": "BTC-USD", "side": "buy", "quantity": "0.0001", "price": price,
            }})
        })
        .collect();
    venue.ask(key, "POST", "/v1/orders/batch", json!({"rows": rows})).expect(200);
    venue.ask(key, "DELETE", "/v1/orders", Value::Null).expect(200)["seq"].clone()
}

/// Settings with which a client may leave a stream unread for as long as a test takes.
fn patient() -> GatewayConfig {
    let long = Duration::from_secs(300);
    let mut settings = GatewayConfig { answer_timeout: long, ..config() };
    (settings.stream.send_timeout, settings.stream.idle_timeout) = (long, long);
    settings
}

/// Settings without limits for slow readers.
fn unbounded() -> GatewayConfig {
    let mut settings = patient();
    (settings.stream.queue_messages, settings.stream.queue_bytes) = (1 << 30, 1 << 40);
    settings
}

#[test]
fn a_slow_private_stream_is_closed_and_can_resume_while_others_continue() {
    let mut settings = unbounded();
    settings.stream.queue_messages = 256;
    is_cut_off_and_resumes(settings);
}

#[test]
fn a_stream_with_too_many_bytes_is_closed_and_can_resume_while_others_continue() {
    let mut settings = unbounded();
    settings.stream.queue_bytes = 64 << 10;
    is_cut_off_and_resumes(settings);
}

/// The most bytes that the system buffers for one connection of this port.
#[cfg(target_os = "linux")]
fn unreceived_bytes_max(port: u16) -> u64 {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let local = format!(":{port:04X}");
    let sockets = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let own = sockets.filter(|fields| fields.get(1).is_some_and(|it| it.ends_with(&local)));
    // Established connections: for a listener, the field has another meaning.
    let own = own.filter(|fields| fields[3] == "01");
    own.map(|fields| u64::from_str_radix(fields[4].split(':').next().unwrap(), 16).unwrap())
        .max()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn the_system_holds_little_of_a_stream_that_is_not_read() {
    const SEND_BUFFER_BYTES: usize = 64 << 10;
    let settings = GatewayConfig { send_buffer_bytes: SEND_BUFFER_BYTES, ..unbounded() };
    let (venue, alice, _) = TestVenue::with_market(settings);
    let mut slow = Wire::narrow(&venue);
    slow.auth(&alice);
    slow.subscribe(json!({"channel": "orders"}));
    let port = venue.address.port();
    let mut held_max = 0;
    for _ in 0..30 {
        churn(&venue, &alice);
        held_max = held_max.max(unreceived_bytes_max(port));
    }
    let (low, high) = (SEND_BUFFER_BYTES as u64 / 2, 2 * SEND_BUFFER_BYTES as u64);
    assert!((low..=high).contains(&held_max), "{held_max} bytes");
}

fn is_cut_off_and_resumes(settings: GatewayConfig) {
    let (venue, alice, bob) = TestVenue::with_market(settings);
    let begin = seq_of(&venue.get("/v1/book/BTC-USD").expect(200)["seq"]);
    let from = json!({"channel": "orders", "from_seq": begin.to_string()});
    let mut slow = Wire::narrow(&venue);
    slow.auth(&alice);
    slow.subscribe(from.clone());
    let mut other = Wire::connect(&venue);
    other.auth(&bob);
    other.subscribe(from.clone());

    let is_cut_off = || {
        let page = venue.get("/metrics").expect(200);
        page.as_str().unwrap().contains("rialto_stream_too_slow_total 1\n")
    };
    let mut rounds = 0;
    let mut last = Value::Null;
    while !is_cut_off() {
        rounds += 1;
        assert!(rounds < 400, "it was never cut off");
        last = churn(&venue, &alice);
    }
    churn(&venue, &bob);
    other.hear_of("orders");

    let mut seen = Vec::new();
    let reason = loop {
        match slow.come() {
            Came::Message(message) => seen.push(message),
            Came::Closed(code, reason) => {
                assert_eq!(code, 4008);
                break reason;
            }
            Came::Gone => panic!("no close frame"),
        }
    };
    let resume: u64 = reason.rsplit(' ').next().unwrap().parse().unwrap();
    seen.retain(|message| seq_of(&message["seq"]) <= resume);
    let mut again = Wire::connect(&venue);
    again.auth(&alice);
    again.subscribe(json!({"channel": "orders", "from_seq": resume.to_string()}));
    let mut whole = Wire::connect(&venue);
    whole.auth(&alice);
    whole.subscribe(from);
    let last = seq_of(&last);
    let through = |wire: &mut Wire, mut all: Vec<Value>| {
        while all.last().is_none_or(|message| seq_of(&message["seq"]) < last) {
            all.push(wire.hear_of("orders"));
        }
        all
    };
    assert_eq!(through(&mut again, seen), through(&mut whole, Vec::new()));
}

#[test]
fn a_slow_reader_of_a_book_gets_less_but_misses_nothing() {
    let (venue, alice, _) = TestVenue::with_market(patient());
    let mut slow = Wire::narrow(&venue);
    slow.subscribe(json!({"channel": "book", "instrument": "BTC-USD"}));
    for _ in 0..120 {
        churn(&venue, &alice);
    }
    let placed = venue.place(&alice, crate::test_venue::limit("buy", "1", "77")).expect(201);
    let shown = Book::of(&venue.see(&alice, "/v1/book/BTC-USD", &placed["seq"]));
    let mut book = Book::default();
    let mut messages = 0;
    while book.last_seq < shown.last_seq {
        book.take(&slow.hear());
        messages += 1;
    }
    assert_eq!(book.sides, shown.sides);
    println!("{messages} messages, {} merged, {} whole", book.merged, book.wholes);
}

#[test]
fn invalid_messages_get_an_error_and_the_stream_continues() {
    let (venue, _, _) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    for (text, code) in [
        ("", "malformed_json"),
        ("{", "malformed_json"),
        ("[]", "invalid_field"),
        (r#"{"op":"sing"}"#, "invalid_field"),
        (r#"{"op":"ping","loud":true}"#, "unknown_field"),
        (r#"{"op":"subscribe","channel":"book","instrument":"NO-SUCH"}"#, "unknown_instrument"),
        (
            r#"{"op":"subscribe","channel":"book","instrument":"BTC-USD","depth":0}"#,
            "invalid_field",
        ),
        (r#"{"op":"unsubscribe","channel":"trades","instrument":"BTC-USD"}"#, "not_subscribed"),
    ] {
        wire.say_text(text);
        wire.refused(code);
    }
    wire.say_raw(Message::binary(vec![1, 2, 3])).unwrap();
    wire.refused("malformed_json");
    let trades = json!({"channel": "trades", "instrument": "BTC-USD"});
    wire.subscribe(trades.clone());
    wire.say(with(json!({"op": "subscribe"}), trades));
    wire.refused("already_subscribed");
    wire.say(json!({"op": "ping"}));
    wire.hear_of("pong");
    venue.get("/v1/stream").refuses(426, "websocket_required");
    let refused = venue.get("/v1/stream?x=1").refuses(400, "unknown_parameter");
    assert_eq!(refused.field(), "x");
}

#[test]
fn a_text_frame_that_is_not_utf8_ends_the_stream() {
    let (venue, _, _) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    let frame = Frame::message(vec![b'{', 0xff], OpCode::Data(Data::Text), true);
    wire.say_raw(Message::Frame(frame)).unwrap();
    assert_eq!(wire.come(), Came::Closed(1007, "not_utf8".to_owned()));
}

#[test]
fn a_message_that_is_too_long_ends_the_stream() {
    let (venue, _, _) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    let long = json!({"op": "ping", "key": "x".repeat(20_000)}).to_string();
    // The server may close before it has received all.
    let _ = wire.say_raw(Message::text(long));
    assert_eq!(wire.come(), Came::Closed(1009, "message_too_big".to_owned()));
}

#[test]
fn a_client_that_sends_too_much_is_disconnected() {
    let mut settings = config();
    (settings.stream.message_rate, settings.stream.message_burst) = (1, 5);
    let (venue, _, _) = TestVenue::with_market(settings);
    let mut wire = Wire::connect(&venue);
    for _ in 0..6 {
        wire.say(json!({"op": "ping"}));
    }
    for _ in 0..5 {
        match wire.come() {
            Came::Message(message) => assert_eq!(message["type"], "pong"),
            // Unsent answers are dropped.
            came => return assert_eq!(came, Came::Closed(4029, "rate_limited".to_owned())),
        }
    }
    assert_eq!(wire.come(), Came::Closed(4029, "rate_limited".to_owned()));
}

/// A stream that was not read while another, which was read, lived for twice the idle timeout.
/// `None` if the other was disconnected too.
fn silent_beside_awake(venue: &TestVenue) -> Option<Wire> {
    // Reading answers pings.
    let mut awake = Wire::connect(venue);
    let mut lives = |beats: usize| {
        (0..beats).all(|_| match awake.come_any() {
            Came::Message(message) => {
                assert_eq!(message["type"], "heartbeat");
                true
            }
            // A close frame that is read late may be lost.
            Came::Gone => false,
            came => {
                assert_eq!(came, Came::Closed(4000, "idle".to_owned()));
                false
            }
        })
    };
    if !lives(20) {
        return None;
    }
    let silent = Wire::connect(venue);
    lives(25).then_some(silent)
}

#[test]
fn a_silent_client_is_disconnected_and_one_that_answers_pings_is_not() {
    let mut settings = config();
    settings.stream.heartbeat = Duration::from_millis(40);
    settings.stream.idle_timeout = Duration::from_millis(400);
    let (venue, _, _) = TestVenue::with_market(settings);
    // On a busy machine an answer, or the look at the silent stream, may be too late, but not in every attempt.
    let came = (0..20).find_map(|_| match silent_beside_awake(&venue)?.come() {
        Came::Gone => None,
        came => Some(came),
    });
    let came = came.expect("a client that answers pings is disconnected");
    assert_eq!(came, Came::Closed(4000, "idle".to_owned()));
}

#[test]
fn streams_and_subscriptions_are_bounded() {
    let mut settings = config();
    (settings.stream.connections_max, settings.stream.subscriptions_max) = (2, 2);
    let (venue, _, _) = TestVenue::with_market(settings);
    let mut first = Wire::connect(&venue);
    let _second = Wire::connect(&venue);
    assert_eq!(Wire::try_connect(&venue).err(), Some(503));
    for channel in ["book", "trades"] {
        first.subscribe(json!({"channel": channel, "instrument": "BTC-USD"}));
        if channel == "book" {
            first.hear_of("book");
        }
    }
    first.say(json!({"op": "subscribe", "channel": "ticker", "instrument": "BTC-USD"}));
    first.refused("too_many_subscriptions");
    first.close();
    // The place is free when the server has noticed the end.
    let began = std::time::Instant::now();
    while Wire::try_connect(&venue).is_err() {
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}

/// The code of the first close frame of a server.
fn closing_code(bytes: &[u8]) -> Option<u16> {
    let mut rest = bytes;
    loop {
        let [first, length, behind @ ..] = rest else { return None };
        let (length, behind) = match *length {
            126 => {
                let (length, behind) = behind.split_first_chunk::<2>()?;
                (usize::from(u16::from_be_bytes(*length)), behind)
            }
            length => (usize::from(length), behind),
        };
        let payload = behind.get(..length)?;
        if first & 0xf == 8 {
            return Some(u16::from_be_bytes(*payload.first_chunk::<2>()?));
        }
        rest = &behind[length..];
    }
}

#[test]
fn an_endless_message_of_empty_frames_ends_the_connection() {
    use std::io::{Read, Write};
    let venue = TestVenue::empty(config());
    let mut stream = std::net::TcpStream::connect(venue.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = "GET /v1/stream HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut received = Vec::new();
    while !received.windows(4).any(|four| four == b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        received.push(byte[0]);
    }
    assert!(received.starts_with(b"HTTP/1.1 101 "));
    // A text frame that continues with empty frames for ever, masked with zeros.
    stream.write_all(&[0x01, 0x81, 0, 0, 0, 0, b'{']).unwrap();
    let nothing = [0x00, 0x80, 0, 0, 0, 0].repeat(1_000);
    let mut frames = 0;
    while stream.write_all(&nothing).is_ok() {
        frames += 1_000;
        assert!(frames < 20_000_000, "it is taken for ever");
    }
    // The messages before the close can still be read.
    received.clear();
    let mut buffer = [0; 4_096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        received.extend_from_slice(&buffer[..read]);
    }
    assert_eq!(closing_code(&received), Some(1009), "{received:?}");
}

#[test]
fn many_resumes_of_a_member_do_not_delay_others() {
    let mut settings = patient();
    (settings.stream.replays_max, settings.stream.queue_messages) = (1, 64);
    let (venue, alice, bob) = TestVenue::with_market(settings);
    let begin = seq_of(&venue.get("/v1/book/BTC-USD").expect(200)["seq"]);
    let from = json!({"channel": "orders", "from_seq": begin.to_string()});
    for _ in 0..120 {
        churn(&venue, &alice);
    }
    venue.place(&bob, crate::test_venue::limit("buy", "1", "77")).expect(201);
    let _silent: Vec<Wire> = (0..8)
        .map(|_| {
            let mut wire = Wire::narrow(&venue);
            wire.auth(&alice);
            wire.subscribe(from.clone());
            wire
        })
        .collect();
    let mut other = Wire::connect(&venue);
    other.auth(&bob);
    other.subscribe(from);
    other.hear_of("orders");
}
