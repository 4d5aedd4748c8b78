//! A stream of a member's own fills, with a blocking socket.

use crate::attack::upgrade;
use crate::websocket::{FrameKind, first_frame, frame};
use rialto_gateway::{Secret, SignRequest, now_us};
use rialto_model::AccountId;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);
/// How much is read at once.
const READ_BYTES: usize = 16 << 10;

/// A stream that is subscribed to the fills of an account.
pub(crate) struct FillStream {
    stream: TcpStream,
    received: Vec<u8>,
}

impl FillStream {
    /// Connects, authenticates and subscribes.
    pub(super) fn open(
        address: SocketAddr,
        key: &str,
        secret: &Secret,
        account: AccountId,
    ) -> io::Result<FillStream> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        upgrade(&mut stream)?;
        let mut stream = FillStream { stream, received: Vec::new() };
        let (timestamp_us, nonce) = (now_us(), "stream");
        let signed = SignRequest {
            timestamp_us,
            nonce,
            method: "GET",
            path: "/v1/stream",
            durability: "",
            body: b"",
        };
        let signature = signed.sign(secret.as_bytes());
        let timestamp = timestamp_us.to_string();
        let auth = json!({"op": "auth", "key": key, "timestamp": timestamp, "nonce": nonce,
            "signature": signature});
        stream.ask(&auth, "authenticated")?;
        let subscribe = json!({"op": "subscribe", "channel": "fills", "account": account});
        stream.ask(&subscribe, "subscribed")?;
        Ok(stream)
    }

    /// Sends a message, and waits for the answer of this type.
    fn ask(&mut self, message: &Value, expected: &str) -> io::Result<()> {
        self.stream.write_all(&frame(FrameKind::Text, message.to_string().as_bytes()))?;
        loop {
            let mut came = self.read_once()?.into_iter().filter(|it| it["type"] != "heartbeat");
            let Some(answer) = came.next() else { continue };
            if answer["type"] == expected {
                return Ok(());
            }
            return Err(io::Error::other(format!("the answer is {answer}, not {expected}")));
        }
    }

    /// Reads once, which waits only if no bytes have arrived. Returns the order ids of the fills that
    /// are complete.
    pub(crate) fn read(&mut self) -> io::Result<Vec<u64>> {
        let mut orders = Vec::new();
        for message in self.read_once()? {
            match message["type"].as_str() {
                Some("fills") => {
                    for fill in message["fills"].as_array().into_iter().flatten() {
                        let id = fill["order_id"].as_str().and_then(|id| id.parse().ok());
                        orders.push(id.ok_or(io::ErrorKind::InvalidData)?);
                    }
                }
                Some("heartbeat") => {}
                _ => return Err(io::Error::other(format!("unexpected message {message}"))),
            }
        }
        Ok(orders)
    }

    fn read_once(&mut self) -> io::Result<Vec<Value>> {
        let before = self.received.len();
        self.received.resize(before + READ_BYTES, 0);
        let read = self.stream.read(&mut self.received[before..]);
        self.received.truncate(before + read.as_ref().map_or(0, |read| *read));
        if read? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (mut messages, mut taken) = (Vec::new(), 0);
        while let Some((kind, payload, length)) = first_frame(&self.received[taken..])? {
            match kind {
                FrameKind::Text => messages.push(serde_json::from_slice(payload)?),
                FrameKind::Ping => self.stream.write_all(&frame(FrameKind::Pong, payload))?,
                FrameKind::Pong => {}
                FrameKind::Close => {
                    let said = String::from_utf8_lossy(payload).into_owned();
                    return Err(io::Error::other(format!("the venue closed the stream: {said}")));
                }
            }
            taken += length;
        }
        self.received.drain(..taken);
        Ok(messages)
    }
}

impl AsFd for FillStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
