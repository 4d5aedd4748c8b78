//! A WebSocket client of the stream.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use crate::test_venue::{Key, TestVenue};
use futures_util::{SinkExt, StreamExt};
use rialto_gateway::{SignRequest, now_us};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// A timeout that fails the test on any machine.
const LONG: Duration = Duration::from_secs(20);

static NONCE: AtomicU64 = AtomicU64::new(0);

/// A connection for synchronous tests.
pub struct Wire {
    runtime: Runtime,
    socket: WebSocketStream<TcpStream>,
    /// The text of the last message.
    pub text: String,
}

/// A received frame.
#[derive(Debug, PartialEq)]
pub enum Came {
    Message(Value),
    Closed(u16, String),
    Gone,
}

impl Wire {
    pub fn connect(venue: &TestVenue) -> Wire {
        Wire::try_connect(venue).unwrap()
    }

    /// Connects, or returns the HTTP status of the error.
    pub fn try_connect(venue: &TestVenue) -> Result<Wire, u16> {
        Wire::with_receive_buffer(venue, None)
    }

    /// A client with a small receive buffer.
    pub fn narrow(venue: &TestVenue) -> Wire {
        Wire::with_receive_buffer(venue, Some(8 << 10)).unwrap()
    }

    fn with_receive_buffer(venue: &TestVenue, bytes: Option<u32>) -> Result<Wire, u16> {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let address = venue.address;
        let socket = runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            if let Some(bytes) = bytes {
                socket.set_recv_buffer_size(bytes).unwrap();
            }
            let stream = socket.connect(address).await.unwrap();
            let url = format!("ws://{address}/v1/stream");
            match tokio_tungstenite::client_async(url, stream).await {
                Ok((socket, _)) => Ok(socket),
                Err(tokio_tungstenite::tungstenite::Error::Http(response)) => {
                    Err(response.status().as_u16())
                }
                Err(error) => panic!("{error}"),
            }
        });
        Ok(Wire { runtime, socket: socket?, text: String::new() })
    }

    pub fn say(&mut self, message: Value) {
        self.say_text(&message.to_string());
    }

    pub fn say_text(&mut self, text: &str) {
        self.say_raw(Message::text(text)).unwrap();
    }

    pub fn say_raw(&mut self, message: Message) -> Result<(), String> {
        let sent = self.runtime.block_on(self.socket.send(message));
        sent.map_err(|error| error.to_string())
    }

    /// The next frame, without pings and heartbeats.
    pub fn come(&mut self) -> Came {
        let began = Instant::now();
        loop {
            match self.come_any() {
                Came::Message(message) if message["type"] == "heartbeat" => {
                    assert!(began.elapsed() < LONG, "nothing came but heartbeats");
                }
                came => return came,
            }
        }
    }

    /// The next frame, without pings.
    pub fn come_any(&mut self) -> Came {
        loop {
            let next = async { tokio::time::timeout(LONG, self.socket.next()).await };
            let next = self.runtime.block_on(next).expect("nothing came");
            match next {
                Some(Ok(Message::Text(text))) => {
                    text.as_str().clone_into(&mut self.text);
                    let message = serde_json::from_str(&text).unwrap();
                    crate::test_venue::described::check_message(&message);
                    return Came::Message(message);
                }
                Some(Ok(Message::Close(Some(frame)))) => {
                    return Came::Closed(frame.code.into(), frame.reason.to_string());
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(other)) => panic!("{other:?}"),
                Some(Err(_)) | None => return Came::Gone,
            }
        }
    }

    /// The next message.
    #[track_caller]
    pub fn hear(&mut self) -> Value {
        match self.come() {
            Came::Message(message) => message,
            other => panic!("{other:?}"),
        }
    }

    /// The next message, of this type.
    #[track_caller]
    pub fn hear_of(&mut self, kind: &str) -> Value {
        let message = self.hear();
        assert_eq!(message["type"], kind, "{message}");
        message
    }

    /// The next message, an error with this code.
    #[track_caller]
    pub fn refused(&mut self, code: &str) -> Value {
        let message = self.hear_of("error");
        assert_eq!(message["error"]["code"], code, "{message}");
        message
    }

    /// Authenticates; repeats until a restarted venue accepts signatures.
    #[track_caller]
    pub fn auth(&mut self, key: &Key) {
        loop {
            self.say(auth(key));
            let message = self.hear();
            if message["error"]["code"] != "timestamp_outside_window" {
                assert_eq!(message["type"], "authenticated", "{message}");
                return;
            }
            crate::test_venue::wait_for_signatures(&message);
        }
    }

    /// Subscribes and receives the confirmation.
    #[track_caller]
    pub fn subscribe(&mut self, fields: Value) -> Value {
        self.say(crate::test_venue::with(json!({"op": "subscribe"}), fields));
        self.hear_of("subscribed")
    }

    /// Closes the connection in order.
    pub fn close(mut self) {
        let _ = self.runtime.block_on(self.socket.close(None));
        while let Came::Message(_) = self.come() {}
    }
}

/// The message that authenticates.
pub fn auth(key: &Key) -> Value {
    auth_at(key, now_us())
}

pub fn auth_at(key: &Key, time_us: u64) -> Value {
    let nonce = format!("w{}", NONCE.fetch_add(1, Ordering::Relaxed));
    let signature = signature(key, time_us, &nonce);
    json!({
        "op": "auth", "key": key.id, "timestamp": time_us.to_string(), "nonce": nonce,
        "signature": signature,
    })
}

/// The signature of a message that authenticates.
pub fn signature(key: &Key, timestamp_us: u64, nonce: &str) -> String {
    let (method, path, durability, body) = ("GET", "/v1/stream", "", &b""[..]);
    SignRequest { timestamp_us, nonce, method, path, durability, body }.sign(key.secret.as_bytes())
}

pub fn seq_of(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

/// A client's book, by the rules of `docs/stream.md`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Book {
    pub last_seq: u64,
    /// Price to quantity and number of orders.
    pub sides: [BTreeMap<String, Value>; 2],
    pub merged: usize,
    pub wholes: usize,
}

impl Book {
    /// Applies a message; panics on a gap.
    #[track_caller]
    pub fn take(&mut self, message: &Value) {
        match message["type"].as_str().unwrap() {
            "book" => {
                self.wholes += 1;
                self.sides = Default::default();
            }
            "book_delta" => {
                assert_eq!(seq_of(&message["prev_seq"]), self.last_seq, "a gap: {message}");
                let (first, last) = (seq_of(&message["first_seq"]), seq_of(&message["last_seq"]));
                assert!(self.last_seq < first && first <= last, "{message}");
                self.merged += usize::from(first < last);
            }
            other => panic!("{other} is no message about a book"),
        }
        self.last_seq = seq_of(&message["last_seq"]);
        for (side, key) in ["bids", "asks"].into_iter().enumerate() {
            for level in message[key].as_array().unwrap() {
                let price = level[0].as_str().unwrap().to_owned();
                match level[2].as_u64().unwrap() {
                    0 => drop(self.sides[side].remove(&price)),
                    _ => drop(self.sides[side].insert(price, level.clone())),
                }
            }
        }
    }

    /// The book in an answer of `GET /v1/book`.
    pub fn of(answer: &Value) -> Book {
        let mut book = Book::default();
        let mut message = answer.clone();
        message["type"] = json!("book");
        book.take(&message);
        book
    }
}
