//! A load of requests over kept connections, from one thread with blocking sockets.
//!
//! Every connection has one request under way. Their answers are taken in turn, and each is
//! followed at once by the next request, so that all connections stay busy without a runtime that
//! would compete with that of the server.

use crate::error::{BenchError, broken};
use crate::measure::{Clock, Latencies};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A server that answers nothing for so long hangs.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer, head included.
const ANSWER_BYTES_MAX: usize = 4_096;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Requests, ready to be sent, one behind the other.
#[derive(Default)]
pub(super) struct Requests {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Requests {
    pub(super) fn push(&mut self, head: &str, body: &[u8]) {
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(HEAD_END);
        self.bytes.extend_from_slice(body);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }
}

/// Looks at the status and the body of an answer; an error ends the load.
pub(super) type Check<'a> = dyn FnMut(u16, &[u8]) -> Result<(), BenchError> + 'a;

/// What came of a load.
pub(super) struct Loaded {
    /// Requests a second.
    pub(super) rate: f64,
    /// From sending to answer, all others waiting likewise.
    pub(super) latencies: Latencies,
}

/// Sends all requests over so many connections and has every answer checked: its status and body.
/// Rate and latencies leave out the first tenth.
pub(super) fn load(
    case: &str,
    address: SocketAddr,
    connections: usize,
    requests: &Requests,
    check: &mut Check<'_>,
) -> Result<Loaded, BenchError> {
    let failed = || broken(case, "send a request and read its answer");
    let clock = Clock::start();
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections.min(requests.len()) {
        open.push(Connection::open(address).map_err(failed())?);
    }
    let mut next = 0;
    for connection in &mut open {
        connection.send(requests.get(next), clock.now_ns()).map_err(failed())?;
        next += 1;
    }
    let warm_up = requests.len() / 10;
    let (mut answered, mut began_ns) = (0, 0);
    let mut latencies = Latencies::new();
    while answered < requests.len() {
        for connection in &mut open {
            if !connection.is_waiting {
                continue;
            }
            let (status, body) = connection.answer().map_err(failed())?;
            check(status, body)?;
            let now = clock.now_ns();
            answered += 1;
            if answered > warm_up {
                latencies.record(now - connection.sent_ns);
            } else if answered == warm_up {
                began_ns = now;
            }
            if next < requests.len() {
                connection.send(requests.get(next), now).map_err(failed())?;
                next += 1;
            }
        }
    }
    let elapsed_ns = (clock.now_ns() - began_ns).max(1);
    Ok(Loaded { rate: (answered - warm_up) as f64 * 1e9 / elapsed_ns as f64, latencies })
}

struct Connection {
    stream: TcpStream,
    buffer: Box<[u8; ANSWER_BYTES_MAX]>,
    sent_ns: u64,
    is_waiting: bool,
}

impl Connection {
    fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let buffer = Box::new([0; ANSWER_BYTES_MAX]);
        Ok(Connection { stream, buffer, sent_ns: 0, is_waiting: false })
    }

    fn send(&mut self, request: &[u8], now_ns: u64) -> io::Result<()> {
        (self.sent_ns, self.is_waiting) = (now_ns, true);
        self.stream.write_all(request)
    }

    /// Reads one whole answer: its status and its body.
    fn answer(&mut self) -> io::Result<(u16, &[u8])> {
        let mut got = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[got..])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            got += read;
            if let Some(answer) = Answer::of(&self.buffer[..got])? {
                self.is_waiting = false;
                return Ok((answer.status, &self.buffer[answer.body_at..got]));
            }
        }
    }
}

/// Where the parts of a whole answer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    body_at: usize,
}

impl Answer {
    /// `None` as long as some of it is missing.
    fn of(bytes: &[u8]) -> io::Result<Option<Answer>> {
        let Some(end) = bytes.windows(HEAD_END.len()).position(|four| four == HEAD_END) else {
            return Ok(None);
        };
        let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| wrong("a head is not text"))?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let status = status.and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| wrong("an answer has no status"))?;
        let length = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: Option<usize> = length.and_then(|(_, value)| value.trim().parse().ok());
        let length = length.ok_or_else(|| wrong("an answer has no length"))?;
        let body_at = end + HEAD_END.len();
        match bytes.len().cmp(&(body_at + length)) {
            std::cmp::Ordering::Less => Ok(None),
            std::cmp::Ordering::Equal => Ok(Some(Answer { status, body_at })),
            std::cmp::Ordering::Greater => Err(wrong("more came than one answer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let bytes = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}";
        for cut in 0..bytes.len() {
            assert_eq!(Answer::of(&bytes[..cut]).expect("so far it is one"), None);
        }
        let whole = Answer::of(bytes).expect("it is one").expect("it is whole");
        assert_eq!((whole.status, &bytes[whole.body_at..]), (201, b"{}".as_slice()));
    }

    #[test]
    fn what_is_no_answer_or_more_than_one_is_refused() {
        for bytes in [
            "HTTP/1.1\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nx",
        ] {
            assert!(Answer::of(bytes.as_bytes()).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn requests_come_out_as_they_went_in() {
        let mut requests = Requests::default();
        requests.push("POST /a HTTP/1.1", b"1");
        requests.push("POST /b HTTP/1.1", b"22");
        assert_eq!(requests.len(), 2);
        assert_eq!(requests.get(1), b"POST /b HTTP/1.1\r\n\r\n22");
    }
}
