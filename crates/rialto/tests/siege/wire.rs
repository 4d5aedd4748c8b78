//! Hand-written HTTP and WebSocket from any loopback address, for requests that client libraries do
//! not send.

use crate::venue::Member;
use rialto_gateway::{Secret, SignRequest, now_us};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpSocket;

/// The timeout of an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer and frame.
const ANSWER_BYTES_MAX: usize = 64 << 20;

static NONCE: AtomicU64 = AtomicU64::new(0);

/// An address of the attackers, which the honest member does not use.
pub(crate) fn attacker(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 66, (number / 250) as u8, (number % 250) as u8 + 1)
}

/// Connects from an address of the loopback network.
pub(crate) fn connect_from(from: Ipv4Addr, to: SocketAddr) -> io::Result<TcpStream> {
    open(from, to, None)
}

/// Connects with a small receive buffer.
pub(crate) fn connect_narrow(from: Ipv4Addr, to: SocketAddr) -> io::Result<TcpStream> {
    open(from, to, Some(4_096))
}

fn open(from: Ipv4Addr, to: SocketAddr, receive_bytes: Option<u32>) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if let Some(bytes) = receive_bytes {
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.bind((from, 0).into())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let stream = runtime.block_on(socket.connect(to))?.into_std()?;
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    Ok(stream)
}

/// The head of a request with a body of this length; `more` are further header lines.
pub(crate) fn head(method: &str, path: &str, body_bytes: usize, more: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: venue\r\ncontent-type: application/json\r\n\
         content-length: {body_bytes}\r\n{more}\r\n"
    )
    .into_bytes()
}

/// The header lines of a signed request.
pub(crate) fn signature(member: &Member, method: &str, path: &str, body: &[u8]) -> String {
    let nonce = format!("siege-{}", NONCE.fetch_add(1, Ordering::Relaxed));
    let (timestamp_us, durability) = (now_us(), "");
    let request = SignRequest { timestamp_us, nonce: &nonce, method, path, durability, body };
    let secret = Secret::from_hex(&member.secret).unwrap();
    let headers = request.headers(&member.key, secret.as_bytes());
    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

/// A complete signed request.
pub(crate) fn signed(member: &Member, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = head(method, path, body.len(), &signature(member, method, path, body));
    bytes.extend_from_slice(body);
    bytes
}

/// Sends a request and reads its answer.
pub(crate) fn ask(stream: &mut TcpStream, request: &[u8]) -> io::Result<(u16, Value)> {
    stream.write_all(request)?;
    read_answer(stream)
}

/// Reads an answer: its status, and its body if that is JSON.
pub(crate) fn read_answer(stream: &mut TcpStream) -> io::Result<(u16, Value)> {
    let head = read_head(stream)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or(io::ErrorKind::InvalidData)?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0).min(ANSWER_BYTES_MAX)];
    stream.read_exact(&mut body)?;
    Ok((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
        if head.len() > 1 << 16 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// The code of an error answer.
pub(crate) fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or("none")
}

/// A WebSocket of a client that may send anything.
pub(crate) struct Socket {
    stream: TcpStream,
}

pub(crate) const CONTINUATION: u8 = 0;
pub(crate) const TEXT: u8 = 1;
pub(crate) const CLOSE: u8 = 8;

impl Socket {
    /// Opens a WebSocket, or returns the status of the refusal.
    pub(crate) fn open(mut stream: TcpStream, path: &str) -> io::Result<Result<Socket, u16>> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: venue\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let head = read_head(&mut stream)?;
        match head.split(' ').nth(1).and_then(|status| status.parse().ok()) {
            Some(101) => Ok(Ok(Socket { stream })),
            status => Ok(Err(status.unwrap_or(0))),
        }
    }

    /// A frame with a zero mask.
    pub(crate) fn frame(is_last: bool, kind: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![u8::from(is_last) << 7 | kind];
        match payload.len() {
            short @ 0..=125 => frame.push(0x80 | short as u8),
            long => {
                frame.push(0x80 | 126);
                frame.extend_from_slice(&u16::try_from(long).unwrap().to_be_bytes());
            }
        }
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(payload);
        frame
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a message.
    pub(crate) fn say(&mut self, message: &Value) -> io::Result<()> {
        self.send_bytes(&Socket::frame(true, TEXT, message.to_string().as_bytes()))
    }

    /// Authenticates as a member.
    pub(crate) fn authenticate(&mut self, member: &Member) -> io::Result<()> {
        let nonce = NONCE.fetch_add(1, Ordering::Relaxed).to_string();
        let (timestamp_us, method, path) = (now_us(), "GET", "/v1/stream");
        let (durability, body) = ("", &b""[..]);
        let request = SignRequest { timestamp_us, nonce: &nonce, method, path, durability, body };
        let secret = Secret::from_hex(&member.secret).unwrap();
        self.say(&serde_json::json!({
            "op": "auth", "key": member.key, "timestamp": timestamp_us.to_string(),
            "nonce": nonce, "signature": request.sign(secret.as_bytes()),
        }))
    }

    /// The next frame's kind and payload.
    pub(crate) fn read(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut start = [0; 2];
        self.stream.read_exact(&mut start)?;
        let length = match start[1] & 0x7f {
            126 => {
                let mut long = [0; 2];
                self.stream.read_exact(&mut long)?;
                usize::from(u16::from_be_bytes(long))
            }
            127 => {
                let mut long = [0; 8];
                self.stream.read_exact(&mut long)?;
                usize::try_from(u64::from_be_bytes(long)).unwrap_or(usize::MAX)
            }
            short => usize::from(short),
        };
        let mut payload = vec![0; length.min(ANSWER_BYTES_MAX)];
        self.stream.read_exact(&mut payload)?;
        Ok((start[0] & 0x0f, payload))
    }

    /// Reads until a message of this type; an error of the venue ends it too.
    pub(crate) fn wait_for(&mut self, kind: &str, patience: Duration) -> io::Result<Value> {
        let end = Instant::now() + patience;
        while Instant::now() < end {
            let (frame, payload) = self.read()?;
            if frame == CLOSE {
                let mut text = String::new();
                let _ = write!(text, "closed: {payload:?}");
                return Err(io::Error::other(text));
            }
            let Ok(message) = serde_json::from_slice::<Value>(&payload) else { continue };
            if message["type"] == kind {
                return Ok(message);
            }
            if message["type"] == "error" {
                return Err(io::Error::other(message.to_string()));
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}
