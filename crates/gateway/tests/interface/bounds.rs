//! Limits are enforced; invalid input changes nothing and ends no connection.

use crate::test_venue::{Client, Reply, TestVenue, config, head_of, limit, signed, with};
use rialto_gateway::GatewayConfig;
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

#[test]
fn an_order_that_makes_no_sense_is_refused_with_the_field_at_fault() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let good = limit("buy", "1", "100");
    let bad = [
        (json!({"side": "up"}), 400, "invalid_field", "side"),
        (json!({"price": 100}), 400, "invalid_field", "price"),
        (json!({"quantity": 1.5}), 400, "invalid_field", "quantity"),
        (json!({"price": "1e5"}), 400, "invalid_field", "price"),
        (json!({"price": "100.001"}), 400, "invalid_field", "price"),
        (json!({"price": "9".repeat(30)}), 400, "invalid_field", "price"),
        (json!({"price": null}), 400, "missing_field", "price"),
        (json!({"quantity": null}), 400, "missing_field", "quantity"),
        (json!({"instrument": null}), 400, "invalid_field", "instrument"),
        (json!({"quote_amount": "1"}), 400, "invalid_field", "quote_amount"),
        (json!({"expire_at": 5}), 400, "invalid_field", "expire_at"),
        (json!({"expire_at": "5"}), 400, "expiry_invalid", "expire_at"),
        (json!({"client_order_id": ""}), 400, "invalid_field", "client_order_id"),
        (json!({"client_order_id": "x".repeat(37)}), 400, "invalid_field", "client_order_id"),
        (json!({"client_order_id": "a b"}), 400, "invalid_field", "client_order_id"),
        (json!({"account": "1"}), 400, "invalid_field", "account"),
        (json!({"account": 4_294_967_296_u64}), 400, "invalid_field", "account"),
        (json!({"colour": "red"}), 400, "unknown_field", "colour"),
        (json!({"price": "-1"}), 400, "price_not_positive", "price"),
        (json!({"price": "0"}), 400, "price_not_positive", "price"),
        (json!({"quantity": "0"}), 400, "quantity_not_positive", "quantity"),
        (json!({"instrument": "ETH-USD"}), 404, "unknown_instrument", "instrument"),
        (json!({"instrument": "x".repeat(99)}), 404, "unknown_instrument", "instrument"),
        (
            json!({"kind": "market", "time_in_force": "gtc", "post_only": "slide"}),
            400,
            "invalid_combination",
            "post_only",
        ),
        (json!({"kind": "best_price"}), 400, "invalid_combination", "price"),
        (
            json!({"kind": "best_price", "price": null, "time_in_force": "gfa"}),
            400,
            "invalid_combination",
            "time_in_force",
        ),
        (
            json!({"kind": "five_levels", "price": null, "time_in_force": "gfa"}),
            400,
            "invalid_combination",
            "time_in_force",
        ),
        (
            json!({"kind": "five_levels", "time_in_force": "gtc"}),
            400,
            "invalid_combination",
            "price",
        ),
        (
            json!({"kind": "five_levels", "price": null, "time_in_force": "gtc",
                   "post_only": "reject"}),
            400,
            "invalid_combination",
            "post_only",
        ),
        (
            json!({"kind": "market", "quantity": null, "quote_amount": "5", "price": null,
                   "time_in_force": "gtc"}),
            400,
            "invalid_combination",
            "quote_amount",
        ),
        (
            json!({"quantity": null, "quote_amount": "5"}),
            400,
            "invalid_combination",
            "quote_amount",
        ),
        (json!({"kind": "stop"}), 400, "invalid_field", "kind"),
        (json!({"minimum_quantity": "x"}), 400, "invalid_field", "minimum_quantity"),
        (json!({"minimum_quantity": 1}), 400, "invalid_field", "minimum_quantity"),
        (json!({"minimum_quantity": "99999"}), 400, "invalid_combination", "minimum_quantity"),
        (json!({"minimum_quantity": "-1"}), 400, "invalid_combination", "minimum_quantity"),
        (
            json!({"minimum_quantity": "0.1", "time_in_force": "fok"}),
            400,
            "invalid_combination",
            "minimum_quantity",
        ),
        (
            json!({"minimum_quantity": "0.1", "post_only": "reject"}),
            400,
            "invalid_combination",
            "minimum_quantity",
        ),
        (json!({"minimum_quantity": "0.1"}), 422, "unfillable", ""),
        (json!({"kind": "best_price", "price": null}), 422, "no_liquidity", ""),
        (
            json!({"time_in_force": "ioc", "post_only": "reject"}),
            400,
            "invalid_combination",
            "post_only",
        ),
        (json!({"kind": "market", "price": null}), 422, "no_liquidity", ""),
        (json!({"time_in_force": "fok"}), 422, "unfillable", ""),
        (json!({"quantity": "99999999"}), 422, "insufficient_balance", ""),
    ];
    for (change, status, code, field) in bad {
        let body = with(good.clone(), change);
        let shown = body.to_string();
        assert_eq!(venue.place(&alice, body).refuses(status, code).field(), field, "{shown}");
    }
    let seq = venue.place(&alice, good).expect(201)["seq"].clone();
    let orders = venue.see(&alice, "/v1/orders", &seq);
    assert_eq!(orders["orders"].as_array().unwrap().len(), 1, "only the good one is there");
}

#[test]
fn a_body_that_is_no_json_is_refused() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let send = |body: &[u8]| venue.ask_bytes(&alice, "POST", "/v1/orders", body);
    let reply = send(b"{\"side\": \"buy\",\n oops}").refuses(400, "malformed_json");
    assert!(reply.body["error"]["message"].as_str().unwrap().contains("line 2, column 2"));
    for body in [&b""[..], b"{", b"\xff\xfe", b"{\"side\":\"buy\"} x", &[b'['; 5_000]] {
        assert_eq!(send(body).status, 400, "{body:?}");
    }
    // An array of the fields is not an order.
    send(br#"[1,"BTC-USD","buy"]"#).refuses(400, "invalid_field");
    send(b"null").refuses(400, "invalid_field");
    let body = limit("buy", "1", "100").to_string();
    let mut headers = signed(&alice, "POST", "/v1/orders", body.as_bytes());
    headers.last_mut().unwrap().1 = "text/plain".to_owned();
    let reply = venue.client().send("POST", "/v1/orders", &headers, body.as_bytes());
    assert_eq!(reply.refuses(415, "unsupported_media_type").field(), "content-type");
    venue.ask_bytes(&alice, "DELETE", "/v1/orders", b"{}").refuses(400, "unexpected_body");
}

#[test]
fn a_body_is_bounded_with_and_without_a_length() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let body = vec![b' '; (64 << 10) + 1];
    let reply = venue.ask_bytes(&alice, "POST", "/v1/orders", &body);
    reply.refuses(413, "body_too_large");
    // An announced length is refused before the body arrives.
    let headers = signed(&alice, "POST", "/v1/orders", &body);
    let length = format!("content-length: {}", body.len());
    let mut client = venue.client();
    client.raw(head_of("POST", "/v1/orders", &headers, &length).as_bytes()).unwrap();
    client.read().unwrap().refuses(413, "body_too_large");
    let mut body = limit("buy", "1", "100").to_string().into_bytes();
    body.resize(64 << 10, b' ');
    venue.ask_bytes(&alice, "POST", "/v1/orders", &body).expect(201);

    let mut client = venue.client();
    let headers = signed(&alice, "POST", "/v1/orders", &[b' '; 5 * 0x4000]);
    let head = head_of("POST", "/v1/orders", &headers, "transfer-encoding: chunked");
    client.raw(head.as_bytes()).unwrap();
    let chunk = [b"4000\r\n".to_vec(), vec![b' '; 0x4000], b"\r\n".to_vec()].concat();
    for _ in 0..5 {
        // The answer may arrive, and the connection end, before all is sent.
        if client.raw(&chunk).is_err() {
            break;
        }
    }
    let reply = client.read().unwrap().refuses(413, "body_too_large");
    assert!(reply.head.contains("connection: close"), "{}", reply.head);
    venue.place(&alice, limit("buy", "1", "100")).expect(201);
}

#[test]
fn slow_heads_and_bodies_time_out() {
    let hasty = Duration::from_millis(50);
    let venue = TestVenue::empty(GatewayConfig { body_timeout: hasty, ..config() });
    let mut client = venue.client();
    let admin = [("Authorization", format!("Bearer {}", venue.admin.reveal()))];
    let head = head_of("POST", "/v1/orders", &admin, "content-length: 5");
    client.raw(format!("{head}{{").as_bytes()).unwrap();
    client.read().unwrap().refuses(408, "body_timeout");
    venue.get("/v1/time").expect(200);

    let venue = TestVenue::empty(GatewayConfig { head_timeout: hasty, ..config() });
    let mut client = venue.client();
    // It may be closed before this is sent.
    let _ = client.raw(b"GET /v1/time HTT");
    // Closed by the gateway, not after the client's timeout.
    let kind = client.read().unwrap_err().kind();
    assert!(matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset), "{kind:?}");
    // A head that arrives in time is answered. On a busy machine some arrive too late.
    let is_answered = (0..1_000).any(|_| {
        let mut client = venue.client();
        let _ = client.raw(b"GET /v1/time HTTP/1.1\r\nhost: x\r\n\r\n");
        client.read().is_ok_and(|reply| reply.status == 200)
    });
    assert!(is_answered, "no head arrived in time");
}

/// Asks until the allowance, of which a second gives back one, is used up. All answers before have
/// this status.
#[track_caller]
pub(crate) fn until_limited(status: u16, mut ask: impl FnMut() -> Reply) -> Reply {
    let (began, mut allowed) = (Instant::now(), 0);
    loop {
        let reply = ask();
        if reply.status != status {
            return reply.refuses(429, "rate_limited");
        }
        allowed += 1;
        assert!(allowed <= began.elapsed().as_secs() + 1, "{allowed} more were allowed");
    }
}

#[test]
fn each_key_and_each_address_has_an_allowance() {
    let tight = GatewayConfig { key_rate: 1, key_burst: 3, ..config() };
    let (venue, alice, bob) = {
        let venue = TestVenue::empty(config());
        venue.create_market();
        drop(venue);
        let venue = TestVenue::empty(GatewayConfig { address_rate: 1, address_burst: 3, ..tight });
        // The admin key has its own allowance, so that keys are made without it.
        let key = |account: u32| {
            let (info, secret) = venue
                .keys
                .create(rialto_gateway::KeyRequest {
                    label: String::new(),
                    member: rialto_model::MemberId(1),
                    accounts: vec![rialto_model::AccountId(account)],
                    scopes: [rialto_gateway::Scope::Read].into_iter().collect(),
                    queues: Vec::new(),
                    depot: Vec::new(),
                    expires_us: None,
                })
                .unwrap();
            crate::test_venue::Key { id: info.id, secret }
        };
        let keys = (key(1), key(2));
        (venue, keys.0, keys.1)
    };
    let ask = |key: &crate::test_venue::Key| venue.ask(key, "GET", "/v1/balances", Value::Null);
    for _ in 0..3 {
        ask(&alice).expect(200);
    }
    let reply = until_limited(200, || ask(&alice));
    assert!(reply.head.contains("retry-after"));
    ask(&bob).expect(200);

    for _ in 0..3 {
        venue.get("/v1/time").expect(200);
    }
    until_limited(200, || venue.get("/v1/time"));
    until_limited(404, || venue.get("/nowhere"));
    until_limited(401, || venue.get("/v1/balances"));
    venue.get("/v1/health").expect(200);
    ask(&bob).expect(200);
}

#[test]
fn addresses_that_are_not_counted_apart_share_one_allowance() {
    let few = GatewayConfig { addresses_max: 1, address_rate: 1, address_burst: 100, ..config() };
    let venue = TestVenue::empty(few);
    let ask = |last: u8| {
        let mut client = Client::connect_from([127, 0, 0, last], venue.address);
        client.send("GET", "/v1/time", &[], b"").status
    };
    // It has its own allowance, which must not be full again when the others get theirs.
    for _ in 0..20 {
        assert_eq!(ask(1), 200);
    }
    assert!((0..1_000).any(|_| ask(2) == 429), "the second address is bounded");
    assert!((0..20).any(|_| ask(3) == 429), "the third has no allowance but the second's");
    assert_eq!(ask(1), 200);
}

#[test]
fn a_connection_beyond_the_limit_gets_an_error_and_room_is_freed() {
    let venue = TestVenue::empty(GatewayConfig { connections_max: 2, ..config() });
    let mut first = venue.client();
    let mut second = venue.client();
    for client in [&mut first, &mut second] {
        client.send("GET", "/v1/time", &[], b"").expect(200);
    }
    let mut third = venue.client();
    let reply = third.read().unwrap().refuses(503, "too_many_connections");
    assert!(reply.head.contains("connection: close"));
    drop(first);
    // The gateway notices the end of a connection asynchronously.
    let is_back = (0..10_000).any(|_| {
        let mut client = venue.client();
        let _ = client.raw(b"GET /v1/time HTTP/1.1\r\nhost: x\r\n\r\n");
        client.read().is_ok_and(|reply| reply.status == 200)
    });
    assert!(is_back, "no room came back");
}

#[test]
fn shutting_down_finishes_what_is_under_way() {
    let (mut venue, alice, _) = TestVenue::with_market(config());
    let mut idle = venue.client();
    idle.send("GET", "/v1/time", &[], b"").expect(200);
    let order = limit("buy", "1", "100").to_string();
    let headers = signed(&alice, "POST", "/v1/orders", order.as_bytes());
    let mut client = venue.client();
    let mut text = "POST /v1/orders HTTP/1.1\r\nhost: x\r\n".to_owned();
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n", order.len()));
    client.raw(text.as_bytes()).unwrap();
    // The gateway has the head when it stops, and gets the body after.
    while venue.engine.as_ref().unwrap().released().0 == 0 {
        std::thread::yield_now();
    }
    client.raw(&order.as_bytes()[..1]).unwrap();
    idle.send("GET", "/v1/time", &[], b"").expect(200);
    let gateway = venue.gateway.take().unwrap();
    let stopping = std::thread::spawn(move || gateway.shutdown(Duration::from_secs(10)));
    assert!(idle.read().is_err(), "an idle connection is closed");
    client.raw(&order.as_bytes()[1..]).unwrap();
    client.read().unwrap().expect(201);
    assert!(stopping.join().unwrap(), "all was finished in time");
    assert!(std::net::TcpStream::connect(venue.address).is_err());
}

#[test]
fn a_client_who_does_not_read_holds_no_stop_up() {
    let mut venue = TestVenue::empty(config());
    let requests = "GET /v1/time HTTP/1.1\r\nhost: x\r\n\r\n".repeat(1_000_000);
    let mut stream = std::net::TcpStream::connect(venue.address).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    // More answers than the system buffers for a client: then the gateway reads nothing more.
    let mut left = requests.as_bytes();
    while let Ok(written) = std::io::Write::write(&mut stream, left) {
        left = &left[written..];
        assert!(!left.is_empty(), "the answers have to pile up");
    }
    let began = std::time::Instant::now();
    let gateway = venue.gateway.take().unwrap();
    assert!(gateway.shutdown(Duration::from_secs(20)), "nothing was under way");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn an_address_of_the_network_is_listened_on_only_when_that_is_allowed() {
    let venue = TestVenue::empty(config());
    let open = GatewayConfig { listen: ([0, 0, 0, 0], 0).into(), ..config() };
    let start = |config| {
        let engine = std::sync::Arc::clone(venue.engine.as_ref().unwrap());
        let parts = rialto_desk::VenueParts::new(engine, venue.live.clone());
        rialto_gateway::Gateway::start(config, parts, venue.keys.clone())
    };
    let message = start(open.clone()).err().unwrap().to_string();
    assert!(message.contains("0.0.0.0:0") && message.contains("allow_remote"), "{message}");
    let gateway = start(GatewayConfig { allow_remote: true, ..open }).ok().unwrap();
    assert!(gateway.shutdown(Duration::from_secs(5)));
    let taken = GatewayConfig { listen: venue.address, ..config() };
    assert!(start(taken).err().unwrap().to_string().contains("cannot listen"));
}

#[test]
fn an_answer_does_not_wait_for_what_follows_the_request() {
    let (venue, _, _) = TestVenue::with_market(config());
    let request = b"GET /v1/time HTTP/1.1\r\nhost: venue\r\n\r\n";
    // Two complete requests, then an empty line and the beginning of another.
    let mut client = venue.client();
    client.raw(&[&request[..], request, b"\r\nGET /v1/ti"].concat()).unwrap();
    for _ in 0..2 {
        client.read().unwrap().expect(200);
    }
}

#[test]
fn a_malformed_head_gets_an_error() {
    let (venue, _, _) = TestVenue::with_market(config());
    let mut client = venue.client();
    client.raw(b"no http at all\r\n\r\n").unwrap();
    assert_eq!(client.read().unwrap().status, 400);
}
