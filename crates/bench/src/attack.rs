//! Hostile load on a gateway, from a separate process at the lowest priority.
//!
//! [`run`] is that process: it reads an [`AttackPlan`] as a line of JSON from standard input,
//! prints `ready` when all connections are open, attacks until the input ends, and prints an
//! [`AttackReport`] as a line of JSON.

use crate::websocket::{FrameKind, UPGRADE, frame};
use rialto_gateway::{Secret, SignRequest, now_us};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket, sockopt};
use rustix::process::{Resource, Rlimit, getrlimit, nice, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The priority of the process: the lowest.
const NICE: i32 = 19;
/// The number of loopback addresses that connections come from.
const ADDRESSES: usize = 64;
/// The interval at which closed connections are reopened, and the bound of connections each time.
const REOPEN_EVERY: Duration = Duration::from_millis(100);
const REOPENED_AT_ONCE: usize = 10;
/// How long a stream is left unread before it is replaced. A close by the venue is not visible
/// behind unread data.
const UNREAD_FOR: Duration = Duration::from_secs(2);
/// The receive buffer of a client that does not read.
const NARROW_BYTES: usize = 4_096;
/// The length of a long body.
const BODY_BYTES: usize = 2 << 20;
/// The interval of each connection's bodies, unless the last answer takes longer.
const BODY_EVERY: Duration = Duration::from_millis(100);
/// The timeout of a write or an answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// An attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attack {
    /// Connections without requests.
    IdleConnections,
    /// WebSockets without requests.
    SilentStreams,
    /// WebSockets that subscribe to all market data of an instrument and do not read it.
    UnreadStreams,
    /// Signed publishes of 2 MiB of `[{},{},…]`: more messages than a request may have.
    LongBodies,
}

/// The plan of an attack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AttackPlan {
    /// The kind.
    pub attack: Attack,
    /// The address to attack.
    pub address: SocketAddr,
    /// The number of connections.
    pub connections: usize,
    /// The id of the key of [`Attack::LongBodies`].
    pub key: String,
    /// Its secret, in hex.
    pub secret: String,
    /// The path of its bodies.
    pub path: String,
    /// The instrument of [`Attack::UnreadStreams`].
    pub instrument: String,
}

/// The results of an attack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttackReport {
    /// The number of opened connections.
    pub opened: u64,
    /// The number of connections open at the end.
    pub held: u64,
    /// The number of answers by status.
    pub answers: BTreeMap<u16, u64>,
    /// Requests whose connection failed.
    pub broken_off: u64,
}

/// Runs the attack of the plan on standard input.
///
/// # Errors
/// The plan cannot be read, or a connection cannot be opened.
pub fn run() -> io::Result<()> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let plan: AttackPlan = serde_json::from_str(&line)?;
    nice(NICE)?;
    raise_descriptors(plan.connections as u64 + 64);
    let ended = AtomicBool::new(false);
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Any end of the input ends the attack.
            let _ = io::stdin().lock().read_to_end(&mut Vec::new());
            ended.store(true, Ordering::Relaxed);
        });
        match plan.attack {
            Attack::LongBodies => send_bodies(&plan, &ended),
            _ => hold_connections(&plan, &ended),
        }
    })?;
    say(&serde_json::to_string(&report)?)
}

/// Raises the soft limit of descriptors to this many, as far as the system allows.
pub(crate) fn raise_descriptors(needed: u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < needed) {
        let wanted = maximum.map_or(needed, |maximum| maximum.min(needed));
        // A failure shows when a connection cannot be opened.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

fn hold_connections(plan: &AttackPlan, ended: &AtomicBool) -> io::Result<AttackReport> {
    let mut opened = 0;
    let mut open = |number| -> io::Result<IdleConnection> {
        let stream = open(plan, number)?;
        opened += 1;
        Ok(IdleConnection { number, stream, since: Instant::now() })
    };
    // The oldest first.
    let mut held = (0..plan.connections).map(&mut open).collect::<io::Result<VecDeque<_>>>()?;
    say("ready")?;
    let mut to_open = VecDeque::new();
    while !ended.load(Ordering::Relaxed) {
        std::thread::sleep(REOPEN_EVERY);
        let mut still_held = VecDeque::new();
        for one in held {
            let is_spent = plan.attack == Attack::UnreadStreams
                && one.since.elapsed() >= UNREAD_FOR
                && to_open.len() < REOPENED_AT_ONCE;
            match is_spent || is_closed(&one.stream)? {
                true => to_open.push_back(one.number),
                false => still_held.push_back(one),
            }
        }
        held = still_held;
        for _ in 0..REOPENED_AT_ONCE.min(to_open.len()) {
            let Some(number) = to_open.pop_front() else { break };
            match open(number) {
                Ok(again) => held.push_back(again),
                // Refused connections are tried again.
                Err(_) => to_open.push_back(number),
            }
        }
    }
    let mut report = AttackReport { opened, ..AttackReport::default() };
    for one in held {
        report.held += u64::from(!is_closed(&one.stream)?);
    }
    Ok(report)
}

/// An open connection.
struct IdleConnection {
    number: usize,
    stream: TcpStream,
    since: Instant,
}

/// Whether the venue has closed a connection, as far as all data before the close is received.
fn is_closed(stream: &TcpStream) -> io::Result<bool> {
    let mut polled = [PollFd::new(stream, PollFlags::RDHUP)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    Ok(!polled[0].revents().is_empty())
}

fn open(plan: &AttackPlan, number: usize) -> io::Result<TcpStream> {
    let address = plan.address;
    match plan.attack {
        Attack::IdleConnections | Attack::LongBodies => connect_from(number, address, None),
        Attack::SilentStreams => open_stream(number, address),
        Attack::UnreadStreams => {
            let mut stream = open_stream(number, address)?;
            let instrument = &plan.instrument;
            for wanted in [
                json!({"op": "subscribe", "channel": "book", "instrument": instrument}),
                json!({"op": "subscribe", "channel": "book", "instrument": instrument, "depth": 5}),
                json!({"op": "subscribe", "channel": "trades", "instrument": instrument}),
                json!({"op": "subscribe", "channel": "ticker", "instrument": instrument}),
            ] {
                let wanted = wanted.to_string();
                stream.write_all(&frame(FrameKind::Text, wanted.as_bytes()))?;
            }
            Ok(stream)
        }
    }
}

fn open_stream(number: usize, address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = connect_from(number, address, Some(NARROW_BYTES))?;
    upgrade(&mut stream)?;
    Ok(stream)
}

/// Makes a connection a stream of the venue.
pub(crate) fn upgrade(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(UPGRADE)?;
    match read_head(stream)? {
        (101, _) => Ok(()),
        (status, _) => Err(io::Error::other(format!("a stream was refused with {status}"))),
    }
}

/// Connects from the loopback address that the number selects.
fn connect_from(
    number: usize,
    to: SocketAddr,
    receive_bytes: Option<usize>,
) -> io::Result<TcpStream> {
    let stream = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    if let Some(bytes) = receive_bytes {
        sockopt::set_socket_recv_buffer_size(&stream, bytes)?;
    }
    let from = Ipv4Addr::new(127, 66, 0, (number % ADDRESSES) as u8 + 1);
    bind(&stream, &SocketAddrV4::new(from, 0))?;
    connect(&stream, &to)?;
    let stream = TcpStream::from(stream);
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// The status of an answer and the length of its body.
fn read_head(stream: &mut TcpStream) -> io::Result<(u16, usize)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    Ok((status.ok_or(io::ErrorKind::InvalidData)?, length))
}

fn send_bodies(plan: &AttackPlan, ended: &AtomicBool) -> io::Result<AttackReport> {
    let body = empty_objects();
    let secret = Secret::from_hex(&plan.secret).ok_or(io::ErrorKind::InvalidInput)?;
    say("ready")?;
    std::thread::scope(|scope| {
        let (body, secret) = (&body, &secret);
        let senders: Vec<_> = (0..plan.connections)
            .map(|number| scope.spawn(move || send_on_one(plan, number, secret, body, ended)))
            .collect();
        let mut all = AttackReport::default();
        for sender in senders {
            let report = sender.join().map_err(|_| io::Error::other("a sender panicked"))??;
            all.opened += report.opened;
            all.held += report.held;
            all.broken_off += report.broken_off;
            for (status, count) in report.answers {
                *all.answers.entry(status).or_default() += count;
            }
        }
        Ok(all)
    })
}

fn send_on_one(
    plan: &AttackPlan,
    number: usize,
    secret: &Secret,
    body: &[u8],
    ended: &AtomicBool,
) -> io::Result<AttackReport> {
    let mut report = AttackReport::default();
    let mut stream = None;
    let mut nonce = 0;
    while !ended.load(Ordering::Relaxed) {
        let began = Instant::now();
        let mut open = match stream.take() {
            Some(open) => open,
            None => {
                report.opened += 1;
                connect_from(number, plan.address, None)?
            }
        };
        nonce += 1;
        let head = signed_head(plan, &format!("{number}-{nonce}"), secret, body);
        // A venue that refuses the head may not read the body; its answer is sent all the same.
        let sent = open.write_all(head.as_bytes()).and_then(|()| open.write_all(body));
        match read_answer(&mut open) {
            Ok(status) => *report.answers.entry(status).or_default() += 1,
            Err(_) => report.broken_off += 1,
        }
        if sent.is_ok() && !is_closed(&open)? {
            stream = Some(open);
        }
        std::thread::sleep(BODY_EVERY.saturating_sub(began.elapsed()));
    }
    report.held = u64::from(stream.is_some());
    Ok(report)
}

fn read_answer(stream: &mut TcpStream) -> io::Result<u16> {
    let (status, length) = read_head(stream)?;
    io::copy(&mut stream.take(length as u64), &mut io::sink())?;
    Ok(status)
}

fn signed_head(plan: &AttackPlan, nonce: &str, secret: &Secret, body: &[u8]) -> String {
    let request = SignRequest {
        timestamp_us: now_us(),
        nonce,
        method: "POST",
        path: &plan.path,
        durability: "",
        body,
    };
    let mut head = format!(
        "POST {} HTTP/1.1\r\nhost: rialto\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n",
        plan.path,
        body.len()
    );
    for (name, value) in request.headers(&plan.key, secret.as_bytes()) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head + "\r\n"
}

/// `[{},{},…]`, of the longest body of messages.
fn empty_objects() -> Vec<u8> {
    let mut body = b"[".to_vec();
    while body.len() < BODY_BYTES - 4 {
        body.extend_from_slice(b"{},");
    }
    body.extend_from_slice(b"{}]");
    body
}
