//! One HTTP connection that is kept alive, with a blocking socket and at most one request in
//! flight.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// The timeout of an answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer, head included.
const ANSWER_BYTES_MAX: usize = 4_096;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Prepared requests, concatenated.
#[derive(Default)]
pub(crate) struct Requests {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Requests {
    pub(crate) fn push(&mut self, head: &str, body: &[u8]) {
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(HEAD_END);
        self.bytes.extend_from_slice(body);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }
}

/// A connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Box<[u8; ANSWER_BYTES_MAX]>,
    /// The received bytes of an answer.
    got: usize,
    /// Whether a request is in flight.
    pub(crate) is_waiting: bool,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let buffer = Box::new([0; ANSWER_BYTES_MAX]);
        Ok(Connection { stream, buffer, got: 0, is_waiting: false })
    }

    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.is_waiting = true;
        self.stream.write_all(request)
    }

    /// Waits for one complete answer: its status and its body.
    pub(crate) fn answer(&mut self) -> io::Result<(u16, &[u8])> {
        loop {
            if let Some((status, body)) = self.read_once()? {
                return Ok((status, &self.buffer[body]));
            }
        }
    }

    /// Reads once, which waits only if no bytes have arrived, and returns the answer if it is
    /// complete.
    pub(crate) fn read(&mut self) -> io::Result<Option<(u16, &[u8])>> {
        let answer = self.read_once()?;
        Ok(answer.map(|(status, body)| (status, &self.buffer[body])))
    }

    fn read_once(&mut self) -> io::Result<Option<(u16, std::ops::Range<usize>)>> {
        let read = self.stream.read(&mut self.buffer[self.got..])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.got += read;
        let Some(answer) = Answer::of(&self.buffer[..self.got])? else { return Ok(None) };
        let body = answer.body_at..std::mem::take(&mut self.got);
        self.is_waiting = false;
        Ok(Some((answer.status, body)))
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// The positions of the parts of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    body_at: usize,
}

impl Answer {
    /// `None` while it is incomplete.
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
    fn a_malformed_answer_and_trailing_bytes_are_refused() {
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
