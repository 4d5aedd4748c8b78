//! Kept connections, a thread each, with one request in flight.

use super::Way;
use crate::drive::joined;
use crate::error::{BenchError, broken, verify};
use crate::measure::Clock;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A prepared request, without its body.
pub(super) struct Call {
    pub(super) head: Vec<u8>,
}

/// Makes the calls of each connection, one after the other. Returns the time of all.
pub(super) fn load(
    case: &str,
    address: SocketAddr,
    calls: &[Vec<Call>],
    content: &[u8],
    way: Way,
) -> Result<u64, BenchError> {
    let start = Barrier::new(calls.len() + 1);
    std::thread::scope(|scope| {
        let connections: Vec<_> = calls
            .iter()
            .map(|calls| {
                let start = &start;
                scope.spawn(move || {
                    let opened = Connection::open(address);
                    start.wait();
                    let mut connection = opened.map_err(broken(case, "connect"))?;
                    calls.iter().try_for_each(|call| connection.call(case, call, content, way))
                })
            })
            .collect();
        // Before the wait: this thread may be the last to go on.
        let clock = Clock::start();
        start.wait();
        connections.into_iter().map(joined).collect::<Result<Vec<()>, BenchError>>()?;
        Ok(clock.now_ns())
    })
}

struct Connection {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl Connection {
    fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Connection { stream: BufReader::with_capacity(64 << 10, stream), body: Vec::new() })
    }

    fn call(
        &mut self,
        case: &str,
        call: &Call,
        content: &[u8],
        way: Way,
    ) -> Result<(), BenchError> {
        let failed = || broken(case, "send a request and read its answer");
        let stream = self.stream.get_mut();
        stream.write_all(&call.head).map_err(failed())?;
        if way == Way::Put {
            stream.write_all(content).map_err(failed())?;
        }
        let status = self.answer().map_err(failed())?;
        if status != 200 {
            let said = String::from_utf8_lossy(&self.body);
            return verify(case, "an answer", format!("{status}: {said}"), "200".to_owned());
        }
        let is_right = way == Way::Put || self.body == content;
        verify(case, "whether an object has the content that was put", is_right, true)
    }

    /// The status of an answer, whose body is read whole.
    fn answer(&mut self) -> io::Result<u16> {
        let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let (mut status, mut length) = (None, None);
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if status.is_none() {
                status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok();
            }
        }
        let status = status.ok_or_else(|| wrong("an answer has no status"))?;
        let length = length.ok_or_else(|| wrong("an answer has no length"))?;
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body)?;
        Ok(status)
    }
}
