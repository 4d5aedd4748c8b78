//! The same payloads over a bare socket: the cost of the kernel alone.

use super::super::messages::{FIRST_SEQ, Messages};
use super::super::stage::seconds;
use super::client::BATCH;
use crate::drive::both;
use crate::error::{BenchError, broken};
use crate::measure::Clock;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// One thread sends every payload, a batch per call; another receives and compares every byte.
/// Returns the seconds.
pub(super) fn carry(case: &str, messages: &Messages) -> Result<f64, BenchError> {
    let failed = || broken(case, "carry bytes over a bare socket");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed())?;
    let address = listener.local_addr().map_err(failed())?;
    let receiving = || {
        let stream = TcpStream::connect(address).map_err(failed())?;
        let clock = Clock::start();
        receive(case, stream, messages).map(|()| seconds(&clock))
    };
    let (sent, received) = both(|| send(&listener, messages), receiving);
    // What the receiver found says more than that the sender was broken off.
    received.and_then(|seconds| sent.map(|()| seconds).map_err(failed()))
}

fn send(listener: &TcpListener, messages: &Messages) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    for first in (0..messages.count).step_by(BATCH as usize) {
        let positions = first..(first + BATCH).min(messages.count);
        let mut parts: Vec<_> =
            positions.map(|position| IoSlice::new(messages.payload(position))).collect();
        let mut left = &mut parts[..];
        while !left.is_empty() {
            let sent = stream.write_vectored(left)?;
            IoSlice::advance_slices(&mut left, sent);
        }
    }
    Ok(())
}

fn receive(case: &str, mut stream: TcpStream, messages: &Messages) -> Result<(), BenchError> {
    let payload_bytes = messages.payload(0).len();
    let mut buffer = vec![0; payload_bytes * BATCH as usize];
    let (mut come, mut position) = (0, 0);
    while position < messages.count {
        come += match stream.read(&mut buffer[come..]) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            read => read,
        }
        .map_err(broken::<io::Error>(case, "receive"))?;
        let mut payloads = buffer[..come].chunks_exact(payload_bytes);
        for payload in payloads.by_ref() {
            messages.check_bytes(case, position, position + FIRST_SEQ, payload)?;
            position += 1;
        }
        let left = payloads.remainder().len();
        buffer.copy_within(come - left..come, 0);
        come = left;
    }
    Ok(())
}
