//! A client of the WebSocket that pushes messages of a group.

use super::super::messages::Messages;
use super::super::stage::seconds;
use super::client::{BATCH, compare_packed};
use super::served::Served;
use crate::error::{BenchError, broken, verify};
use crate::measure::Clock;
use rialto_queue::packed::PackedLeases;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The most outstanding messages.
pub(super) const PREFETCH: u64 = 4 * BATCH;
/// The timeout of a frame.
const TIMEOUT: Duration = Duration::from_secs(30);
const SETTLED: &[u8] = br#"{"type":"settled","op":"ack","lost":[]}"#;

// RFC 6455, section 5.2.
const LAST: u8 = 0x80;
const MASKED: u8 = 0x80;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A WebSocket with the payload of its last frame.
struct Socket {
    stream: TcpStream,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
}

impl Socket {
    fn open(served: &Served, path: &str) -> io::Result<Socket> {
        let stream = TcpStream::connect(served.address())?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut socket = Socket { stream, buffer: vec![0; 8 << 20], begin: 0, end: 0 };
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: rialto\r\n{}\r\nconnection: upgrade\r\nupgrade: \
             websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: \
             dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            served.authorization()
        );
        socket.stream.write_all(request.as_bytes())?;
        loop {
            let come = &socket.buffer[..socket.end];
            if let Some(at) = come.windows(4).position(|four| four == b"\r\n\r\n") {
                if come.starts_with(b"HTTP/1.1 101") {
                    socket.begin = at + 4;
                    return Ok(socket);
                }
                return Err(io::Error::other(String::from_utf8_lossy(come).into_owned()));
            }
            socket.more()?;
        }
    }

    /// Reads until there are this many bytes after `begin`.
    fn have(&mut self, bytes: usize) -> io::Result<()> {
        if self.begin + bytes > self.buffer.len() {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        if bytes > self.buffer.len() {
            return Err(io::Error::other("a frame is too long"));
        }
        while self.end - self.begin < bytes {
            self.more()?;
        }
        Ok(())
    }

    fn more(&mut self) -> io::Result<()> {
        match self.stream.read(&mut self.buffer[self.end..])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }

    /// The next text or binary frame, and the position of its payload.
    fn next(&mut self) -> io::Result<(u8, std::ops::Range<usize>)> {
        loop {
            if self.begin == self.end {
                (self.begin, self.end) = (0, 0);
            }
            self.have(2)?;
            let [first, short] = [self.buffer[self.begin], self.buffer[self.begin + 1]];
            let length_bytes = match short {
                126 => 2,
                127 => 8,
                _ => 0,
            };
            self.have(2 + length_bytes)?;
            let told = &self.buffer[self.begin + 2..self.begin + 2 + length_bytes];
            let long = told.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
            let length = if length_bytes == 0 { u64::from(short) } else { long } as usize;
            self.have(2 + length_bytes + length)?;
            let start = self.begin + 2 + length_bytes;
            self.begin = start + length;
            match first {
                first if first == LAST | TEXT || first == LAST | BINARY => {
                    return Ok((first & 0x0f, start..start + length));
                }
                first if first == LAST | PING => self.say(PONG, &[])?,
                _ => {
                    let said = String::from_utf8_lossy(&self.buffer[start..start + length]);
                    return Err(io::Error::other(format!("a frame of kind {first}: {said}")));
                }
            }
        }
    }

    /// Sends a frame, masked with zeros.
    fn say(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let mut frame = vec![LAST | kind];
        match payload.len() {
            short @ ..126 => frame.push(MASKED | short as u8),
            long => {
                frame.push(MASKED | 126);
                let long = u16::try_from(long).map_err(|_| io::Error::other("too long to say"))?;
                frame.extend_from_slice(&long.to_be_bytes());
            }
        }
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(payload);
        self.stream.write_all(&frame)
    }
}

/// Consumes all pushed messages as the only member of a group, compares every byte, and
/// acknowledges them frame by frame. Returns the seconds until the last confirmation.
pub(super) fn consume(
    case: &str,
    served: &Served,
    group: &str,
    messages: &Messages,
) -> Result<f64, BenchError> {
    let failed = || broken(case, "have messages pushed");
    let path = format!("/v1/queues/bench/groups/{group}/stream?format=packed&prefetch={PREFETCH}");
    let mut socket = Socket::open(served, &path).map_err(failed())?;
    let (mut leases, mut said) = (PackedLeases::default(), Vec::new());
    let clock = Clock::start();
    let (mut received, mut unsettled) = (0, 0_u64);
    while received < messages.count || unsettled > 0 {
        let (kind, payload) = socket.next().map_err(failed())?;
        let payload = &socket.buffer[payload];
        if kind == TEXT {
            verify(case, "an answer", payload == SETTLED, true)?;
            unsettled -= 1;
            continue;
        }
        received += compare_packed(case, payload, messages, (received, |nth| nth), &mut leases)?;
        said.clear();
        leases.write(&mut said);
        socket.say(BINARY, &said).map_err(failed())?;
        unsettled += 1;
    }
    Ok(seconds(&clock))
}
