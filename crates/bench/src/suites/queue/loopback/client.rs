//! A client of the HTTP API: one kept-alive connection with blocking calls, so that no runtime
//! competes with the server's.

use super::super::messages::{FIRST_SEQ, Messages};
use super::super::stage::seconds;
use super::served::Served;
use crate::error::{BenchError, broken, verify};
use crate::measure::Clock;
use rialto_queue::Publish;
use rialto_queue::packed::{
    LEASES_MEDIA_TYPE, MESSAGES_MEDIA_TYPE, Packed, PackedLeases, PackedWriter,
};
use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The messages of a request.
pub(super) const BATCH: u64 = 1_000;
/// The batches in flight of a producer: with batches of a thousand, about as many messages as
/// JetStream's client has by default.
pub(super) const OUTSTANDING: u64 = 4;
/// The read requests in flight of a reader.
const READS: u64 = 2;
/// The timeout of an answer.
const TIMEOUT: Duration = Duration::from_secs(30);
const HEAD_END: &[u8] = b"\r\n\r\n";
/// The bytes to read for the head of an answer.
const HEAD_BYTES: usize = 16 << 10;
/// The path of a stage's topic.
const TOPIC: &str = "/v1/queues/bench";

/// A connection with its last answer.
struct Connection {
    stream: TcpStream,
    authorization: String,
    buffer: Vec<u8>,
    /// Bytes before `begin` are consumed.
    begin: usize,
    end: usize,
}

/// An answer: the positions of its parts in the buffer.
struct Answer {
    status: u16,
    head: std::ops::Range<usize>,
    body: std::ops::Range<usize>,
}

impl Connection {
    fn open(address: SocketAddr, authorization: String) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Connection { stream, authorization, buffer: vec![0; 4 << 20], begin: 0, end: 0 })
    }

    /// A request without its body.
    fn head(&self, method: &str, path: &str, headers: &str, body_bytes: usize) -> String {
        format!(
            "{method} {TOPIC}{path} HTTP/1.1\r\nhost: rialto\r\n{}\r\n{headers}content-length: \
             {body_bytes}\r\n\r\n",
            self.authorization
        )
    }

    fn send(&mut self, head: &str, body: &[u8]) -> io::Result<()> {
        let parts = [IoSlice::new(head.as_bytes()), IoSlice::new(body)];
        let sent = self.stream.write_vectored(&parts)?;
        match sent.checked_sub(head.len()) {
            Some(sent) => self.stream.write_all(&body[sent..]),
            None => {
                self.stream.write_all(&head.as_bytes()[sent..])?;
                self.stream.write_all(body)
            }
        }
    }

    /// Reads one complete answer. Bytes of the next one stay for the next call.
    fn answer(&mut self) -> io::Result<Answer> {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        } else if self.begin > self.buffer.len() / 2 {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let head_end = loop {
            let come = &self.buffer[self.begin..self.end];
            match come.windows(HEAD_END.len()).position(|four| four == HEAD_END) {
                Some(at) => break self.begin + at + HEAD_END.len(),
                None => self.more(HEAD_BYTES)?,
            }
        };
        let head = std::str::from_utf8(&self.buffer[self.begin..head_end])
            .map_err(|_| wrong("a head is not text"))?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| wrong("an answer has no status"))?;
        let length = header(head, "content-length").and_then(|value| value.parse().ok());
        let length: usize = length.ok_or_else(|| wrong("an answer has no length"))?;
        let answer =
            Answer { status, head: self.begin..head_end, body: head_end..head_end + length };
        if answer.body.end > self.buffer.len() {
            return Err(wrong("an answer is too long"));
        }
        // No further: the rest is then read to where this answer began, so that the memory stays in
        // the processor's cache.
        while self.end < answer.body.end {
            self.more(answer.body.end - self.end)?;
        }
        self.begin = answer.body.end;
        Ok(answer)
    }

    fn more(&mut self, bytes_max: usize) -> io::Result<()> {
        let end = self.buffer.len().min(self.end + bytes_max);
        match self.stream.read(&mut self.buffer[self.end..end])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }

    fn text(&self, range: &std::ops::Range<usize>) -> String {
        String::from_utf8_lossy(&self.buffer[range.clone()]).into_owned()
    }
}

/// The value of a header, in a head with lower-case names.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
    lines.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
}

fn connect(case: &str, served: &Served) -> Result<Connection, BenchError> {
    Connection::open(served.address(), served.authorization()).map_err(broken(case, "connect"))
}

/// Returns an error unless this is the answer.
fn expect(
    case: &str,
    connection: &Connection,
    answer: &Answer,
    (status, body): (u16, &str),
) -> Result<(), BenchError> {
    let is_right =
        answer.status == status && connection.buffer[answer.body.clone()] == *body.as_bytes();
    if is_right {
        return Ok(());
    }
    let got = format!("{}: {}", answer.status, connection.text(&answer.body));
    verify(case, "an answer", got, format!("{status}: {body}"))
}

/// Takes the answer to a batch of this many messages, whose numbers must be consecutive, and
/// returns the first.
fn confirmed(case: &str, connection: &mut Connection, messages: u64) -> Result<u64, BenchError> {
    let answer = connection.answer().map_err(broken(case, "publish a batch"))?;
    let text = connection.text(&answer.body);
    let first = text.split("0:").nth(1).and_then(|rest| rest.split('"').next()?.parse().ok());
    let first: u64 = first.unwrap_or_default();
    let last = first + messages - 1;
    let body =
        format!(r#"{{"ranges":[{{"first":"0:{first}","last":"0:{last}"}}],"duplicates":0}}"#);
    expect(case, connection, &answer, (201, &body)).map(|()| first)
}

/// Publishes all messages in batches, in turn on this many connections, each with its share of the
/// batches in flight, and waits for the last confirmation. Returns the seconds, and the order of
/// the batches in the topic.
pub(super) fn produce(
    case: &str,
    served: &Served,
    messages: &Messages,
    connections: u64,
) -> Result<(f64, Order), BenchError> {
    let connect = |_| connect(case, served);
    let mut connections = (0..connections).map(connect).collect::<Result<Vec<_>, _>>()?;
    let kind = format!("content-type: {MESSAGES_MEDIA_TYPE}\r\n");
    let mut writer = PackedWriter::new();
    let mut order = Order { firsts: Vec::new() };
    let count = connections.len() as u64;
    let batches = messages.count.div_ceil(BATCH);
    let clock = Clock::start();
    for batch in 0..batches + OUTSTANDING {
        // The connection had its turn that many batches ago.
        let connection = &mut connections[(batch % count) as usize];
        if let Some(oldest) = batch.checked_sub(OUTSTANDING)
            && oldest < batches
        {
            let first = confirmed(case, connection, messages.batch(oldest, BATCH).count() as u64)?;
            order.firsts.push((first, oldest));
        }
        if batch < batches {
            writer.clear();
            for position in messages.batch(batch, BATCH) {
                writer.push(&Publish::new(messages.payload(position)));
            }
            let head = connection.head("POST", "/messages", &kind, writer.bytes().len());
            let sent = connection.send(&head, writer.bytes());
            sent.map_err(broken(case, "publish a batch"))?;
        }
    }
    let seconds = seconds(&clock);
    order.firsts.sort_unstable();
    Ok((seconds, order))
}

/// The order of batches in a topic.
pub(super) struct Order {
    /// The number of the first message of each batch, with the batch; in order.
    firsts: Vec<(u64, u64)>,
}

impl Order {
    /// The sent positions of all messages, in the order of the topic.
    fn positions(&self, messages: &Messages) -> Vec<u64> {
        self.firsts.iter().flat_map(|(_, batch)| messages.batch(*batch, BATCH)).collect()
    }
}

/// Compares every byte of the messages in an answer, collects their leases, and returns the number
/// of messages.
fn compare(
    case: &str,
    connection: &Connection,
    answer: &Answer,
    messages: &Messages,
    (received, place): (u64, impl Fn(u64) -> u64),
    leases: &mut PackedLeases,
) -> Result<u64, BenchError> {
    if answer.status != 200 {
        let got = format!("{}: {}", answer.status, connection.text(&answer.body));
        verify(case, "an answer", got, "200".to_owned())?;
    }
    let body = &connection.buffer[answer.body.clone()];
    compare_packed(case, body, messages, (received, place), leases)
}

/// The same for packed messages. The one at `nth` in the topic was sent at `place(nth)`.
pub(super) fn compare_packed(
    case: &str,
    bytes: &[u8],
    messages: &Messages,
    (received, place): (u64, impl Fn(u64) -> u64),
    leases: &mut PackedLeases,
) -> Result<u64, BenchError> {
    let packed = Packed::read(bytes);
    let packed = packed.map_err(broken(case, "read packed messages"))?;
    leases.clear(packed.epoch());
    let mut position = received;
    for message in packed.messages() {
        let placed = (position, place(position));
        messages.check_placed(case, placed, message.id().seq, message.payload())?;
        leases.push(message.id(), message.lease());
        position += 1;
    }
    Ok(position - received)
}

/// Reads all messages without a group, and compares every byte. Returns the seconds.
pub(super) fn read(
    case: &str,
    served: &Served,
    messages: &Messages,
    order: &Order,
) -> Result<f64, BenchError> {
    let failed = || broken(case, "read messages");
    let positions = order.positions(messages);
    // No message matches one that was never sent.
    let place = |nth: u64| positions.get(nth as usize).copied().unwrap_or(u64::MAX);
    let mut connection = connect(case, served)?;
    let kind = format!("accept: {MESSAGES_MEDIA_TYPE}\r\n");
    let clock = Clock::start();
    let mut leases = PackedLeases::default();
    let (mut asked, mut received) = (0, 0);
    while received < messages.count {
        // The next position is known before the answer, if the answer is full.
        while asked < messages.count && asked < received + READS * BATCH {
            let from = asked + FIRST_SEQ;
            let path = format!("/messages?from={from}&max={BATCH}");
            let head = connection.head("GET", &path, &kind, 0);
            connection.send(&head, b"").map_err(failed())?;
            asked += BATCH;
        }
        let answer = connection.answer().map_err(failed())?;
        let came = compare(case, &connection, &answer, messages, (received, place), &mut leases)?;
        received += came;
        let next = header(&connection.text(&answer.head), "x-rialto-next").map(str::to_owned);
        let expected = Some((received + FIRST_SEQ).to_string());
        verify(case, "where the reading goes on", next, expected)?;
        verify(case, "messages of an answer", came, BATCH.min(messages.count + came - received))?;
    }
    let seconds = seconds(&clock);
    verify(case, "the number of messages read", received, messages.count)?;
    Ok(seconds)
}

/// Consumes all messages as the only member of a group, compares every byte and acknowledges them,
/// together with the request for more. Returns the seconds.
pub(super) fn consume(
    case: &str,
    served: &Served,
    group: &str,
    messages: &Messages,
) -> Result<f64, BenchError> {
    let failed = || broken(case, "fetch messages");
    let mut connection = connect(case, served)?;
    let body = format!(r#"{{"consumer":"one","max":{BATCH},"wait_ms":20000}}"#);
    let kinds = format!("accept: {MESSAGES_MEDIA_TYPE}\r\ncontent-type: application/json\r\n");
    let fetch = connection.head("POST", &format!("/groups/{group}/fetch"), &kinds, body.len());
    let fetch = fetch + &body;
    let kind = format!("content-type: {LEASES_MEDIA_TYPE}\r\n");
    let path = format!("/groups/{group}/ack?consumer=one");
    let (mut leases, mut request) = (PackedLeases::default(), Vec::new());
    let mut out = Vec::new();
    let clock = Clock::start();
    connection.send(&fetch, b"").map_err(failed())?;
    let mut received = 0;
    while received < messages.count {
        let answer = connection.answer().map_err(failed())?;
        let came =
            compare(case, &connection, &answer, messages, (received, |nth| nth), &mut leases)?;
        if came == 0 {
            break;
        }
        received += came;
        request.clear();
        leases.write(&mut request);
        out.clear();
        out.extend_from_slice(connection.head("POST", &path, &kind, request.len()).as_bytes());
        out.extend_from_slice(&request);
        if received < messages.count {
            out.extend_from_slice(fetch.as_bytes());
        }
        connection.send("", &out).map_err(failed())?;
        let answer = connection.answer().map_err(failed())?;
        expect(case, &connection, &answer, (200, r#"{"lost":[]}"#))?;
    }
    let seconds = seconds(&clock);
    verify(case, "the number of messages fetched", received, messages.count)?;
    Ok(seconds)
}
