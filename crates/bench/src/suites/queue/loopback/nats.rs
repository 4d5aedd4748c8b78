//! The same messages through NATS JetStream: its server, if it is installed, in its own process,
//! and the needed part of its protocol.

use super::super::messages::{FIRST_SEQ, Messages};
use super::super::stage::seconds;
use crate::error::{BenchError, broken, verify};
use crate::measure::Clock;
use crate::suite::FreshDirectory;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The environment variable with the server's path.
const VARIABLE: &str = "RIALTO_NATS_SERVER";
/// The path of `scripts/fetch-nats-server.sh`, next to the builds.
const FETCHED: &str = "peers/nats-server";
/// The default bound of outstanding acknowledgements of its clients.
const OUTSTANDING: u64 = 4_096;
/// The messages of one write.
const SEND: u64 = 64;
/// The messages of one fetch.
const FETCH: u64 = 500;
const STREAM: &str = "bench";
const INBOX: &str = "_INBOX.bench";
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The server's path: from the environment, or the fetched one.
pub(super) fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(PathBuf::from(named));
    }
    let own = std::env::current_exe().ok()?;
    own.ancestors().map(|above| above.join(FETCHED)).find(|program| program.is_file())
}

/// A server with a stream on disk. Dropping it ends it.
pub(super) struct JetStream {
    server: Child,
    address: SocketAddr,
    // After the server, so that it is removed when the server has ended.
    _directory: FreshDirectory,
}

impl JetStream {
    /// Starts the server with default settings, and creates a stream.
    pub(super) fn start(
        case: &str,
        program: &Path,
        directory: FreshDirectory,
    ) -> Result<JetStream, BenchError> {
        let path = directory.path();
        let server = Command::new(program)
            .args(["--addr", "127.0.0.1", "--port", "-1", "--jetstream"])
            .arg("--store_dir")
            .arg(path)
            .arg("--ports_file_dir")
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(broken(case, "start the NATS server"))?;
        let unknown = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut started = JetStream { server, address: unknown, _directory: directory };
        started.address = started.told_address(case)?;
        let create = format!(
            r#"{{"name":"{STREAM}","subjects":["{STREAM}"],"storage":"file","retention":"limits"}}"#
        );
        started.connect(case)?.ask(case, &format!("$JS.API.STREAM.CREATE.{STREAM}"), &create)?;
        Ok(started)
    }

    /// The server's address, from the file that it writes.
    fn told_address(&mut self, case: &str) -> Result<SocketAddr, BenchError> {
        let name = format!("nats-server_{}.ports", self.server.id());
        let path = self._directory.path().join(name);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let told = std::fs::read_to_string(&path).unwrap_or_default();
            let address = told.split("nats://").nth(1).and_then(|rest| rest.split('"').next());
            if let Some(address) = address.and_then(|text| text.parse().ok()) {
                return Ok(address);
            }
            let ended = self.server.try_wait().map_err(broken(case, "watch the NATS server"))?;
            if ended.is_some() || Instant::now() > deadline {
                let said = io::Error::other("it says nothing of where it listens");
                return Err(broken(case, "start the NATS server")(said));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn connect(&self, case: &str) -> Result<Client, BenchError> {
        Client::connect(self.address).map_err(broken(case, "connect to the NATS server"))
    }

    /// Publishes all messages and waits for each acknowledgement. Returns the seconds.
    pub(super) fn produce(&self, case: &str, messages: &Messages) -> Result<f64, BenchError> {
        let failed = || broken(case, "publish on JetStream");
        let mut client = self.connect(case)?;
        let mut out = Vec::new();
        let clock = Clock::start();
        let (mut sent, mut acknowledged) = (0, 0);
        while acknowledged < messages.count {
            while sent < messages.count && sent - acknowledged + SEND <= OUTSTANDING {
                out.clear();
                let until = (sent + SEND).min(messages.count);
                for position in sent..until {
                    let payload = messages.payload(position);
                    let head = format!("PUB {STREAM} {INBOX} {}\r\n", payload.len());
                    out.extend_from_slice(head.as_bytes());
                    out.extend_from_slice(payload);
                    out.extend_from_slice(b"\r\n");
                }
                client.stream.write_all(&out).map_err(failed())?;
                sent = until;
            }
            client.take().map_err(failed())?;
            acknowledged += 1;
            let expected = format!(r#"{{"stream":"{STREAM}","seq":{acknowledged}}}"#);
            if client.payload != expected.as_bytes() {
                let got = String::from_utf8_lossy(&client.payload).into_owned();
                verify(case, "an acknowledgement", got, expected)?;
            }
        }
        Ok(seconds(&clock))
    }

    /// Fetches all messages and compares every byte. Returns the seconds.
    pub(super) fn consume(&self, case: &str, messages: &Messages) -> Result<f64, BenchError> {
        let failed = || broken(case, "fetch from JetStream");
        let mut client = self.connect(case)?;
        let create = format!(
            r#"{{"stream_name":"{STREAM}","config":{{"name":"reader","durable_name":"reader","ack_policy":"none","deliver_policy":"all"}}}}"#
        );
        client.ask(case, &format!("$JS.API.CONSUMER.CREATE.{STREAM}.reader"), &create)?;
        let clock = Clock::start();
        let mut received = 0;
        while received < messages.count {
            let batch = FETCH.min(messages.count - received);
            let body = format!(r#"{{"batch":{batch},"expires":30000000000}}"#);
            let next = format!("$JS.API.CONSUMER.MSG.NEXT.{STREAM}.reader");
            client.publish(&next, &body).map_err(failed())?;
            for _ in 0..batch {
                client.take().map_err(failed())?;
                // $JS.ACK.<stream>.<consumer>.<delivered>.<place in the stream>.…
                let place = client.reply.split('.').nth(5).and_then(|place| place.parse().ok());
                let seq = place.map_or(0, |place: u64| place + FIRST_SEQ - 1);
                messages.check_bytes(case, received, seq, &client.payload)?;
                received += 1;
            }
        }
        Ok(seconds(&clock))
    }
}

impl Drop for JetStream {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A connection that is subscribed to its inbox, with the last received message.
struct Client {
    stream: TcpStream,
    input: BufReader<TcpStream>,
    line: String,
    reply: String,
    payload: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let input = BufReader::with_capacity(256 << 10, stream.try_clone()?);
        let (line, reply, payload) = (String::new(), String::new(), Vec::new());
        let mut client = Client { stream, input, line, reply, payload };
        let hello = format!(
            "CONNECT {{\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":\
             true,\"protocol\":1}}\r\nSUB {INBOX} 1\r\n"
        );
        client.stream.write_all(hello.as_bytes())?;
        Ok(client)
    }

    fn publish(&mut self, subject: &str, body: &str) -> io::Result<()> {
        let message = format!("PUB {subject} {INBOX} {}\r\n{body}\r\n", body.len());
        self.stream.write_all(message.as_bytes())
    }

    /// Sends a request to the server that must succeed.
    fn ask(&mut self, case: &str, subject: &str, body: &str) -> Result<(), BenchError> {
        let failed = || broken(case, "ask the NATS server");
        self.publish(subject, body).map_err(failed())?;
        self.take().map_err(failed())?;
        let told = String::from_utf8_lossy(&self.payload);
        if told.contains(r#""error""#) {
            return Err(failed()(io::Error::other(told.into_owned())));
        }
        Ok(())
    }

    /// Receives the next message for the inbox.
    fn take(&mut self) -> io::Result<()> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        loop {
            self.line.clear();
            if self.input.read_line(&mut self.line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut words = self.line.split_ascii_whitespace();
            match words.next() {
                Some("MSG") => break,
                Some("PING") => self.stream.write_all(b"PONG\r\n")?,
                Some("INFO" | "PONG" | "+OK") => {}
                // An error, or a message with headers: an empty fetch.
                _ => return Err(wrong(self.line.trim_end())),
            }
        }
        // MSG <subject> <subscription> [reply] <bytes>
        let words: Vec<_> = self.line.split_ascii_whitespace().collect();
        let bytes = words.last().and_then(|bytes| bytes.parse::<usize>().ok());
        let bytes = bytes.ok_or_else(|| wrong("a message has no length"))?;
        self.reply.clear();
        if let [_, _, _, reply, _] = words[..] {
            self.reply.push_str(reply);
        }
        // The line's end is received too, and removed.
        self.payload.resize(bytes + 2, 0);
        self.input.read_exact(&mut self.payload)?;
        self.payload.truncate(bytes);
        Ok(())
    }
}
