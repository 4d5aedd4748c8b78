//! A venue that stops with a thousand requests in flight. Each is answered, either with the result
//! that is in the journal, or with an error that says that nothing was done.

use crate::asking::{Client, Credentials, secret};
use crate::running::Running;
use rialto::config::Config;
use rialto::venue::Venue;
use rialto_disk::RealDisk;
use rialto_gateway::{Secret, SignRequest, now_us};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 100;
/// Pipelined requests of a connection.
const ON_EACH: usize = 10;
/// The number of answers before the venue stops.
const FIRST_ANSWERS: usize = 50;
/// A timeout that fails the test on any machine.
const LONG: Duration = Duration::from_secs(60);

/// A member's connection data.
#[derive(Clone)]
struct Member {
    address: SocketAddr,
    key: String,
    secret: Secret,
}

/// A received answer.
#[derive(Debug)]
struct Answer {
    order: String,
    status: u16,
    retry_after: bool,
    code: Option<String>,
}

impl Member {
    /// A prepared request for an order with this client order id.
    fn order(&self, name: &str) -> Vec<u8> {
        let body = json!({
            "instrument": "BTC-USD", "side": "buy", "price": "100", "quantity": "0.01",
            "client_order_id": name,
        });
        let body = body.to_string();
        let signed = SignRequest {
            timestamp_us: now_us(),
            nonce: name,
            method: "POST",
            path: "/v1/orders",
            durability: "",
            body: body.as_bytes(),
        };
        let mut head = "POST /v1/orders HTTP/1.1\r\nhost: rialto\r\n".to_owned();
        for (name, value) in signed.headers(&self.key, self.secret.as_bytes()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("content-type: application/json\r\n");
        format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    fn connect(&self) -> Connection {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        Connection { stream, left: Vec::new(), is_over: false }
    }
}

struct Connection {
    stream: TcpStream,
    left: Vec<u8>,
    /// An answer closed the connection: later requests were not read.
    is_over: bool,
}

impl Connection {
    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Reads one answer; the sender knows its order.
    fn read(&mut self, order: &str) -> Answer {
        if self.is_over {
            let (order, code) = (order.to_owned(), Some("stopped".to_owned()));
            return Answer { order, status: 503, retry_after: true, code };
        }
        let end = loop {
            match self.left.windows(4).position(|four| four == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.more(order),
            }
        };
        let head = String::from_utf8(self.left.drain(..end).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head.split("content-length: ").nth(1).unwrap();
        let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
        while self.left.len() < length {
            self.more(order);
        }
        let body: Vec<u8> = self.left.drain(..length).collect();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let code = body["error"]["code"].as_str().map(str::to_owned);
        let retry_after = head.contains("retry-after: 1\r\n");
        self.is_over = head.contains("connection: close\r\n");
        assert_eq!(self.is_over, code.as_deref() == Some("stopped"), "{head}");
        Answer { order: order.to_owned(), status, retry_after, code }
    }

    fn more(&mut self, order: &str) {
        let mut buffer = [0; 4_096];
        let read = self.stream.read(&mut buffer).unwrap_or_else(|error| panic!("{order}: {error}"));
        assert!(read > 0, "the connection was closed before {order} was answered");
        self.left.extend_from_slice(&buffer[..read]);
    }
}

impl Answer {
    /// Whether the order was accepted; otherwise checks the error.
    fn is_taken(&self) -> bool {
        match (self.status, self.code.as_deref()) {
            (200 | 201, None) => true,
            (503, Some("stopped")) if self.retry_after => false,
            _ => panic!("{self:?}"),
        }
    }
}

/// A market, and a funded member.
fn create_market(address: SocketAddr, admin_key: &str) -> Member {
    let admin = Client::new(&format!("http://{address}"), Credentials::Admin(admin_key.to_owned()));
    let admin = |path: &str, body: Value| {
        admin.call("POST", &format!("/v1/admin/{path}"), Some(&body)).unwrap()
    };
    for code in ["BTC", "USD"] {
        admin("currencies", json!({"code": code, "scale": 8}));
    }
    admin(
        "instruments",
        json!({
            "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 6, "tick": "0.01", "lot": "0.000001", "open_orders_max": 5_000,
        }),
    );
    let member = admin("members", json!({"name": "first"}))["member"].clone();
    let account = admin("accounts", json!({"member": member, "name": "main"}))["account"].clone();
    let deposit =
        json!({"account": account, "currency": "USD", "amount": "1000000", "reference": "wire"});
    admin("deposits", deposit);
    let key = admin("keys", json!({"member": member, "scopes": ["read", "trade"]}));
    Member {
        address,
        key: key["id"].as_str().unwrap().to_owned(),
        secret: secret(key["secret"].as_str().unwrap()).unwrap(),
    }
}

/// Sends a thousand orders on a hundred connections at once, calls `stop` after the first answers,
/// and returns every answer.
fn storm(member: &Member, stop: impl FnOnce()) -> Vec<Answer> {
    let all_connected = Arc::new(Barrier::new(CONNECTIONS));
    let (tell, answered) = channel();
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|connection| {
            let (member, ready) = (member.clone(), Arc::clone(&all_connected));
            let tell: Sender<()> = tell.clone();
            std::thread::spawn(move || {
                let names: Vec<_> = (0..ON_EACH).map(|at| format!("c{connection}-{at}")).collect();
                let mut orders = Vec::new();
                for name in &names {
                    orders.extend(member.order(name));
                }
                let mut connection = member.connect();
                ready.wait();
                connection.send(&orders);
                let answer = |name: &String| {
                    let answer = connection.read(name);
                    let _ = tell.send(());
                    answer
                };
                names.iter().map(answer).collect::<Vec<_>>()
            })
        })
        .collect();
    for _ in 0..FIRST_ANSWERS {
        answered.recv_timeout(LONG).unwrap();
    }
    stop();
    clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
}

/// The orders of the venue in this directory, after a restart.
fn orders_in(data: &Path) -> BTreeSet<String> {
    let venue = open(data).0;
    let orders = {
        let feed = venue.live().read();
        let account = feed.accounts().next().unwrap();
        let orders = feed.open_orders(account.account);
        orders.map(|order| order.terms.client_order_id.to_string()).collect()
    };
    venue.close(LONG).unwrap();
    orders
}

fn open(data: &Path) -> (Venue, Option<String>) {
    let mut config = Config::default();
    config.engine.data_dir = data.to_path_buf();
    config.engine.segment_bytes = 4 << 20;
    // A busy machine may delay the disk, or the thread that waits for it, for a second.
    config.engine.io_stalled_after = Duration::from_secs(30);
    config.gateway.listen = "127.0.0.1:0".parse().unwrap();
    (config.gateway.key_rate, config.gateway.key_burst) = (1_000_000, 1_000_000);
    let (venue, opening) = Venue::open(&config, Arc::new(RealDisk::new())).unwrap();
    (venue, opening.new_admin_key.map(|key| key.reveal().to_string()))
}

fn check(answers: &[Answer], data: &Path) {
    assert_eq!(answers.len(), CONNECTIONS * ON_EACH);
    let taken: BTreeSet<String> = answers
        .iter()
        .filter(|answer| answer.is_taken())
        .map(|answer| answer.order.clone())
        .collect();
    assert!(taken.len() >= FIRST_ANSWERS);
    assert_eq!(taken, orders_in(data), "the journal has exactly the acknowledged orders");
}

#[test]
fn a_shutdown_answers_a_thousand_requests_or_lists_the_unfinished() {
    let dir = tempfile::tempdir().unwrap();
    let (venue, admin_key) = open(dir.path());
    let member = create_market(venue.local_addr(), &admin_key.unwrap());
    let mut closing = None;
    let answers = storm(&member, || closing = Some(venue.close(LONG).unwrap()));
    let closing = closing.unwrap();
    assert!(closing.report.is_clean(), "{closing}");
    check(&answers, dir.path());
}

#[test]
fn a_stopping_process_answers_a_thousand_requests_or_lists_the_unfinished() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = Running::serve(dir.path(), "synced");
    let address = process.url().replace("http://", "").parse().unwrap();
    let member = create_market(address, &process.admin_key());
    let answers = storm(&member, || process.signal("TERM"));
    let status = process.wait();
    assert!(status.success(), "{status}:\n{}", process.said.join("\n"));
    process.line("all operations ended in");
    check(&answers, &dir.path().join("data"));
}

#[test]
fn requests_before_the_stop_are_finished_and_later_ones_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = Running::serve(dir.path(), "synced");
    let address = process.url().replace("http://", "").parse().unwrap();
    let member = create_market(address, &process.admin_key());
    // Its body is sent after the stop. The `100 Continue` shows that the request is in flight.
    let request = String::from_utf8(member.order("slow")).unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut slow = member.connect();
    slow.send(format!("{head}\r\nexpect: 100-continue\r\n\r\n").as_bytes());
    while !slow.left.ends_with(b"\r\n\r\n") {
        slow.more("slow");
    }
    assert!(slow.left.starts_with(b"HTTP/1.1 100 "));
    slow.left.clear();
    let mut kept = member.connect();
    kept.send(&member.order("before"));
    assert!(kept.read("before").is_taken());

    process.signal("TERM");
    let watch = Client::new(&process.url(), Credentials::None);
    let end = Instant::now() + LONG;
    while watch.call("GET", "/v1/health", None).unwrap()["stopping"] != true {
        assert!(Instant::now() < end, "it was told to stop");
    }
    kept.send(&member.order("after"));
    assert!(!kept.read("after").is_taken());
    let ready = watch.send("GET", "/v1/ready", None).unwrap();
    assert_eq!((ready.status, &ready.body["reason"]), (503, &json!("it is stopping")));
    slow.send(body.as_bytes());
    assert!(slow.read("slow").is_taken());

    let status = process.wait();
    assert!(status.success(), "{status}:\n{}", process.said.join("\n"));
    let known = orders_in(&dir.path().join("data"));
    assert_eq!(known, ["before", "slow"].map(str::to_owned).into());
}
