//! Packed messages are published over HTTP and pushed over a WebSocket; the process is killed, and
//! unacknowledged messages are pushed again.

use crate::asking::{Client, Credentials};
use crate::running::{PATIENCE, Running, configure};
use rialto_queue::Publish;
use rialto_queue::packed::{MESSAGES_MEDIA_TYPE, Packed, PackedLeases, PackedWriter};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

const TEXT: u8 = 1;
const BINARY: u8 = 2;

fn connect(running: &Running) -> TcpStream {
    let stream = TcpStream::connect(running.url().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Reads the head of an answer.
fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Publishes packed messages.
fn publish(running: &Running, admin: &str, payloads: &[Vec<u8>]) {
    let mut writer = PackedWriter::new();
    payloads.iter().for_each(|payload| writer.push(&Publish::new(payload)));
    let mut stream = connect(running);
    let request = format!(
        "POST /v1/queues/jobs/messages HTTP/1.1\r\nhost: rialto\r\nauthorization: Bearer {admin}\r\n\
         content-type: {MESSAGES_MEDIA_TYPE}\r\ncontent-length: {}\r\n\r\n",
        writer.bytes().len()
    );
    stream.write_all(&[request.as_bytes(), writer.bytes()].concat()).unwrap();
    let answer = head(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

/// Opens a WebSocket to the group.
fn subscribe(running: &Running, admin: &str) -> TcpStream {
    let mut stream = connect(running);
    let request = format!(
        "GET /v1/queues/jobs/groups/all/stream?format=packed&prefetch=100 HTTP/1.1\r\n\
         host: rialto\r\nauthorization: Bearer {admin}\r\nconnection: upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let answer = head(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    stream
}

/// The next text or binary frame: RFC 6455, section 5.2.
fn frame(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    loop {
        let mut start = [0; 2];
        stream.read_exact(&mut start).unwrap();
        let len = match start[1] {
            126 => {
                let mut len = [0; 2];
                stream.read_exact(&mut len).unwrap();
                u64::from(u16::from_be_bytes(len))
            }
            127 => {
                let mut len = [0; 8];
                stream.read_exact(&mut len).unwrap();
                u64::from_be_bytes(len)
            }
            len => u64::from(len),
        };
        let mut payload = vec![0; len as usize];
        stream.read_exact(&mut payload).unwrap();
        match start[0] & 0x0f {
            kind @ (TEXT | BINARY) => return (kind, payload),
            // Pings are not answered: the venue waits a minute for that.
            9 => {}
            other => panic!("a frame of kind {other}: {payload:?}"),
        }
    }
}

/// Sends a short binary frame, masked with zeros.
fn say(stream: &mut TcpStream, payload: &[u8]) {
    let len = u8::try_from(payload.len()).unwrap();
    assert!(len < 126);
    stream.write_all(&[&[0x80 | BINARY, 0x80 | len, 0, 0, 0, 0], payload].concat()).unwrap();
}

/// The messages of the next frames, this many.
fn pushed(stream: &mut TcpStream, count: usize) -> Vec<Packed<Vec<u8>>> {
    let mut batches: Vec<Packed<Vec<u8>>> = Vec::new();
    while batches.iter().map(Packed::len).sum::<usize>() < count {
        let (kind, payload) = frame(stream);
        assert_eq!(kind, BINARY, "{}", String::from_utf8_lossy(&payload));
        batches.push(Packed::read(payload).unwrap());
    }
    batches
}

#[test]
fn unacknowledged_messages_are_pushed_by_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[queue]\nenabled = true\n");
    let mut running = Running::serve(dir.path(), "buffered");
    let admin = running.admin_key();
    let client = Client::new(&running.url(), Credentials::Admin(admin.clone()));
    let topic = json!({"name": "jobs", "segment_bytes": 2 << 20});
    assert_eq!(client.send("POST", "/v1/queues", Some(&topic)).unwrap().status, 201);
    let group = json!({"name": "all"});
    assert_eq!(client.send("POST", "/v1/queues/jobs/groups", Some(&group)).unwrap().status, 201);
    let payloads: Vec<_> = (0..20_u8).map(|nth| vec![nth; 3_000]).collect();
    publish(&running, &admin, &payloads);

    let mut stream = subscribe(&running, &admin);
    let batches = pushed(&mut stream, 20);
    let (mut leases, mut bytes) = (PackedLeases::new(batches[0].epoch()), Vec::new());
    let had = batches.iter().flat_map(Packed::messages);
    had.take(12).for_each(|message| leases.push(message.id(), message.lease()));
    leases.write(&mut bytes);
    say(&mut stream, &bytes);
    let (kind, told) = frame(&mut stream);
    let told = String::from_utf8(told).unwrap();
    assert_eq!((kind, &*told), (TEXT, r#"{"type":"settled","op":"ack","lost":[]}"#));
    running.kill();

    let running = Running::serve(dir.path(), "buffered");
    let batches = pushed(&mut subscribe(&running, &admin), 8);
    let got: Vec<_> = batches
        .iter()
        .flat_map(Packed::messages)
        .map(|message| (message.id().seq, message.payload().to_vec()))
        .collect();
    let expected: Vec<_> = (13..=20).zip(payloads[12..].iter().cloned()).collect();
    assert_eq!(got, expected);
}
