//! A signature is accepted once, over restarts too.

use crate::asking::{Client, Credentials, secret};
use crate::running::{PATIENCE, Running};
use rialto_gateway::{SignRequest, now_us};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// A market, a funded member, and the key of its account.
fn create_market(admin: &Client) -> (String, String) {
    let post = |what: &str, body: Value| {
        admin.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
    };
    post("currencies", json!({ "code": "BTC", "scale": 8 }));
    post("currencies", json!({ "code": "USD", "scale": 8 }));
    post(
        "instruments",
        json!({
            "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 6, "tick": "1", "lot": "0.00001",
        }),
    );
    post("members", json!({ "member": 1, "name": "first" }));
    post("accounts", json!({ "account": 1, "member": 1, "name": "main" }));
    let deposit =
        json!({ "account": 1, "currency": "USD", "amount": "1000000", "reference": "begin" });
    post("deposits", deposit);
    let key = post("keys", json!({ "member": 1, "scopes": ["read", "trade"] }));
    let part = |name: &str| key[name].as_str().unwrap().to_owned();
    (part("id"), part("secret"))
}

/// Sends a request unchanged, and returns the complete answer.
fn send(url: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_same_bytes_do_not_enter_a_second_order_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "synced");
    let admin_key = venue.admin_key();
    let admin = Client::new(&venue.url(), Credentials::Admin(admin_key.clone()));
    let (id, its_secret) = create_market(&admin);
    let key = Credentials::Key { id: id.clone(), secret: secret(&its_secret).unwrap() };

    let body = json!({
        "instrument": "BTC-USD", "side": "buy", "price": "100", "quantity": "0.01",
    });
    let body = body.to_string();
    let (method, path, durability) = ("POST", "/v1/orders", "");
    let signed = SignRequest {
        // As far ahead as allowed, so that it is valid for longest.
        timestamp_us: now_us() + 900_000,
        nonce: "once",
        method,
        path,
        durability,
        body: body.as_bytes(),
    };
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: rialto\r\nconnection: close\r\n");
    for (name, value) in signed.headers(&id, secret(&its_secret).unwrap().as_bytes()) {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("content-type: application/json\r\n");
    request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    let answer = send(&venue.url(), &request);
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");

    venue.kill();
    let venue = Running::serve(dir.path(), "synced");
    let answer = send(&venue.url(), &request);
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    assert!(answer.contains("timestamp_outside_window"), "{answer}");
    assert!(answer.contains("retry-after: 1\r\n"), "{answer}");

    // The client signs again until the venue accepts it.
    let began = Instant::now();
    let client = Client::new(&venue.url(), key);
    let orders = client.get("/v1/orders").unwrap();
    assert_eq!(orders["orders"].as_array().unwrap().len(), 1, "{orders}");
    assert!(began.elapsed() < PATIENCE);
    let answer = send(&venue.url(), &request);
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}
