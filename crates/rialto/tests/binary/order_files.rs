//! The real binary: a member uploads a file of orders, and collects the answer.

use crate::asking::{Client, Credentials, secret};
use crate::running::{PATIENCE, Running, configure, rialto, text};
use rialto_client::{ClientOptions, HttpRequest};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const SETTINGS: &str = "[depot]\nenabled = true\nfree_bytes_min = 0\n\
                        [order_files]\nenabled = true\nfiles_max = 2\n";
const HEADER: &str = "instrument,side,quantity,price,kind,time_in_force,label\n";

/// A member with a key that may trade, and use the files of the member.
struct Member {
    client: rialto_client::Client,
    runtime: tokio::runtime::Runtime,
}

impl Member {
    fn at(url: &str, key: &Value) -> Member {
        let part = |name: &str| key[name].as_str().unwrap().to_owned();
        let credentials =
            Credentials::Key { id: part("id"), secret: secret(&part("secret")).unwrap() };
        let options = ClientOptions { retry_wait_max: Duration::ZERO, ..ClientOptions::default() };
        let client = rialto_client::Client::with_options(url, credentials, options).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Member { client, runtime }
    }

    fn send(&self, method: &str, path: &str, body: Option<(&'static str, &str)>) -> (u16, String) {
        let body = body.map(|(media_type, body)| (media_type, body.to_owned().into()));
        let request = HttpRequest { method, path: path.to_owned(), body, accept: None };
        let answer = self.runtime.block_on(self.client.send(&request)).unwrap();
        (answer.status, text(&answer.body))
    }

    /// Uploads a file, and returns its id.
    fn upload(&self, name: &str, content: &str) -> String {
        let path = format!("/v1/depot/member-1/files?directory=in/orders&name={name}.csv");
        let (status, answer) = self.send("POST", &path, Some(("text/csv", content)));
        assert_eq!(status, 201, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        id_of(&answer)
    }

    /// Waits for a file of the shelf.
    fn collect(&self, name: &str) -> String {
        let path = format!("/v1/depot/member-1/shelf?path=out/orders/{name}");
        let end = Instant::now() + PATIENCE;
        loop {
            match self.send("GET", &path, None) {
                (200, file) => {
                    let file: Value = serde_json::from_str(&file).unwrap();
                    let path = format!("/v1/depot/member-1/files/{}", id_of(&file));
                    let (status, content) = self.send("GET", &path, None);
                    assert_eq!(status, 200, "{content}");
                    return content;
                }
                (status, answer) => assert_eq!(status, 404, "{answer}"),
            }
            assert!(Instant::now() < end, "there is no {name}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The id of a file in an answer.
fn id_of(answer: &Value) -> String {
    answer["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn create_market(url: &str, admin_key: &str) -> Value {
    let admin = Client::new(url, Credentials::Admin(admin_key.to_owned()));
    let post = |what: &str, body: Value| {
        admin.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
    };
    for code in ["BTC", "USD"] {
        post("currencies", json!({ "code": code, "scale": 8 }));
    }
    post(
        "instruments",
        json!({ "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
                "quantity_scale": 4, "tick": "0.50", "lot": "0.0001" }),
    );
    post("members", json!({ "member": 1, "name": "client" }));
    post("accounts", json!({ "account": 1, "member": 1, "name": "main" }));
    let deposit = json!({ "account": 1, "currency": "USD", "amount": "1000000", "reference": "a" });
    post("deposits", deposit);
    let grants = json!([{ "tenants": "member-1", "rights": ["read", "write"] }]);
    post("keys", json!({ "member": 1, "scopes": ["read", "trade"], "depot": grants }))
}

fn open_orders(member: &Member) -> Vec<Value> {
    let (status, answer) = member.send("GET", "/v1/orders?limit=1000", None);
    assert_eq!(status, 200, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["orders"].as_array().unwrap().clone()
}

fn column<'a>(answer: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = answer.lines();
    let nth = lines.next().unwrap().split(',').position(|it| it == name).unwrap();
    lines.map(|line| line.split(',').nth(nth).unwrap()).collect()
}

#[test]
fn a_member_uploads_orders_and_collects_answers() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), SETTINGS);
    let mut venue = Running::serve(dir.path(), "synced");
    let admin_key = venue.admin_key();
    let key = create_market(&venue.url(), &admin_key);
    let member = Member::at(&venue.url(), &key);
    let content = format!(
        "{HEADER}BTC-USD,buy,0.5,100.50,,,one\nBTC-USD,buy,0.5,100.30,,,two\n\
         BTC-USD,buy,1,,market,,three\n"
    );
    let id = member.upload("morning", &content);
    let answer = member.collect(&format!("morning.{id}.csv"));
    assert_eq!(column(&answer, "status"), ["open", "rejected", "rejected"], "{answer}");
    assert_eq!(column(&answer, "reason"), ["", "price_off_tick", "no_liquidity"], "{answer}");
    let orders = open_orders(&member);
    assert_eq!(orders.len(), 1);
    assert_eq!(orders[0]["order_id"], column(&answer, "order_id")[0]);
    assert_eq!(orders[0]["client_order_id"], column(&answer, "client_order_id")[0]);

    let bad = member.upload("bad", &format!("{HEADER}BTC-USD,buy,much,1,,,\n"));
    let faults = member.collect(&format!("bad.{bad}.errors.csv"));
    assert!(faults.contains("\n2,3,quantity,"), "{faults}");

    let admin = Client::new(&venue.url(), Credentials::Admin(admin_key.clone()));
    let lines = [
        "rialto_order_files_up 1",
        "rialto_order_files_total{outcome=\"answered\"} 1",
        "rialto_order_files_total{outcome=\"refused\"} 1",
        "rialto_order_file_rows_total{outcome=\"entered\"} 1",
    ];
    // A file counts when the depot has recorded what became of it, after its answer can be read.
    let end = Instant::now() + PATIENCE;
    loop {
        let metrics = admin.metrics();
        let Some(missing) = lines.iter().find(|line| !metrics.contains(**line)) else { break };
        assert!(Instant::now() < end, "no {missing} in {metrics}");
        std::thread::sleep(Duration::from_millis(20));
    }

    // Who restores a backup has to know that it forgets which files were answered.
    let made = admin.call("POST", "/v1/admin/backup", Some(&json!({ "name": "b" }))).expect("made");
    assert!(made["left_out"].as_array().unwrap().contains(&json!("order_files")), "{made}");

    // After a restart the content is known.
    venue.terminate();
    let venue = Running::serve(dir.path(), "synced");
    let member = Member::at(&venue.url(), &key);
    let again = member.upload("again", &content);
    assert_eq!(member.collect(&format!("again.{again}.csv")), answer);
    assert_eq!(open_orders(&member).len(), 1);
}

#[test]
fn every_row_is_an_order_once_when_the_process_is_killed() {
    const ROWS: usize = 900;
    let dir = tempfile::tempdir().unwrap();
    // Slow enough that kills come in the middle of a file.
    configure(dir.path(), &format!("{SETTINGS}orders_per_second = 1500\n"));
    let mut venue = Running::serve(dir.path(), "synced");
    let key = create_market(&venue.url(), &venue.admin_key());
    let row = |nth: usize| format!("BTC-USD,buy,0.0001,{}.00,,,r{nth}\n", 1 + nth % 90);
    let content = (1..=ROWS).map(row).fold(HEADER.to_owned(), |file, row| file + &row);
    let id = Member::at(&venue.url(), &key).upload("large", &content);
    for pause_ms in [150, 250, 350] {
        std::thread::sleep(Duration::from_millis(pause_ms));
        venue.kill();
        venue = Running::serve(dir.path(), "synced");
    }
    let member = Member::at(&venue.url(), &key);
    let answer = member.collect(&format!("large.{id}.csv"));
    assert_eq!(column(&answer, "status"), vec!["open"; ROWS]);
    let mut answered: Vec<_> = column(&answer, "order_id");
    let orders = open_orders(&member);
    let mut open: Vec<_> = orders.iter().map(|it| it["order_id"].as_str().unwrap()).collect();
    answered.sort_unstable();
    open.sort_unstable();
    assert_eq!(open, answered);
}

#[test]
fn order_files_need_the_depot() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[order_files]\nenabled = true\n");
    let config: &Path = &dir.path().join("rialto.toml");
    let refused = rialto(&["serve", "--config", config.to_str().unwrap()]);
    assert!(!refused.status.success());
    let told = text(&refused.stderr);
    assert!(told.contains("order_files.enabled needs depot.enabled"), "{told}");
}

#[test]
fn orders_of_keys_and_of_files_count_for_the_rate_of_their_member() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), &format!("[desk]\nmember_order_rate = 2\n{SETTINGS}"));
    let venue = Running::serve(dir.path(), "synced");
    let key = create_market(&venue.url(), &venue.admin_key());
    let member = Member::at(&venue.url(), &key);
    let id = member.upload("a", &format!("{HEADER}{}", "BTC-USD,buy,1,1,,,\n".repeat(8)));
    // While the file waits for the rate, an order by hand is refused.
    let order = json!({ "instrument": "BTC-USD", "side": "buy", "quantity": "1", "price": "1" });
    let order = order.to_string();
    let end = Instant::now() + PATIENCE;
    let refused = loop {
        let (status, answer) =
            member.send("POST", "/v1/orders", Some(("application/json", &order)));
        if status == 429 {
            break answer;
        }
        assert!(Instant::now() < end, "no order was refused: {answer}");
    };
    assert!(refused.contains("\"order_rate\""), "{refused}");
    let (status, answer) = member.send("DELETE", "/v1/orders", None);
    assert_eq!(status, 200, "{answer}");
    let answer = member.collect(&format!("a.{id}.csv"));
    assert_eq!(column(&answer, "row").len(), 8, "{answer}");
    let is_entered = |status: &&str| matches!(*status, "open" | "cancelled");
    assert!(column(&answer, "status").iter().all(is_entered), "{answer}");
}
