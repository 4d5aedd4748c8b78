//! Connections: owners, limits, threads and the operators' listener.

use crate::bounds::until_limited;
use crate::test_venue::{Client, Key, TestVenue, config, limit, signed};
use crate::wire::Wire;
use rialto_desk::LiveConfig;
use rialto_gateway::GatewayConfig;
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const HERE: [u8; 4] = [127, 0, 0, 1];
const ELSEWHERE: [u8; 4] = [127, 0, 0, 2];

/// A request that needs a key, on a connection that stays open.
fn balances(client: &mut Client, key: &Key) -> crate::test_venue::Reply {
    client.send("GET", "/v1/balances", &signed(key, "GET", "/v1/balances", b""), b"")
}

/// Repeats until the gateway has noticed the end of connections.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
    }
}

fn is_answered(venue: &TestVenue, source: [u8; 4]) -> bool {
    let mut client = Client::connect_from(source, venue.address);
    let _ = client.raw(b"GET /v1/time HTTP/1.1\r\nhost: x\r\n\r\n");
    client.read().is_ok_and(|reply| reply.status == 200)
}

#[test]
fn an_address_has_few_connections_until_a_request_on_them_is_signed() {
    let few = GatewayConfig { address_connections_max: 3, ..config() };
    let (venue, alice, _) = TestVenue::with_market(few);
    until("room", || is_answered(&venue, HERE));
    let mut silent: Vec<Client> = Vec::new();
    // Earlier connections end asynchronously.
    until("three are taken", || {
        let mut client = venue.client();
        let is_taken = client.send("GET", "/v1/time", &[], b"").status == 200;
        if is_taken {
            silent.push(client);
        }
        silent.len() == 3
    });
    let reply = venue.client().read().unwrap().refuses(503, "too_many_connections");
    assert!(reply.head.contains("connection: close"));
    assert!(reply.body.to_string().contains("This address"), "{}", reply.body);
    assert!(is_answered(&venue, ELSEWHERE), "nobody else pays for it");
    // A connection with a signed request belongs to the key.
    balances(&mut silent[0], &alice).expect(200);
    let mut fourth = venue.client();
    fourth.send("GET", "/v1/time", &[], b"").expect(200);
    venue.client().read().unwrap().refuses(503, "too_many_connections");
}

#[test]
fn a_key_has_few_connections() {
    let few = GatewayConfig { key_connections_max: 16, ..config() };
    let (venue, alice, bob) = TestVenue::with_market(few);
    let mut clients: Vec<Client> = (0..18).map(|_| venue.client()).collect();
    for client in &mut clients[..16] {
        balances(client, &alice).expect(200);
        // Any number of times.
        balances(client, &alice).expect(200);
    }
    let reply = balances(&mut clients[16], &alice).refuses(503, "too_many_connections");
    assert!(reply.body.to_string().contains("This key"), "{}", reply.body);
    balances(&mut clients[17], &bob).expect(200);
    // A stream counts too.
    let mut wire = Wire::connect(&venue);
    wire.say(crate::wire::auth(&alice));
    wire.refused("too_many_connections");
    clients.remove(0);
    until("room came back", || balances(&mut clients[15], &alice).status == 200);
}

#[test]
fn streams_hold_their_connections() {
    let few = GatewayConfig { address_connections_max: 2, ..config() };
    let venue = TestVenue::empty(few);
    let _streams = [Wire::connect(&venue), Wire::connect(&venue)];
    venue.client().read().unwrap().refuses(503, "too_many_connections");
}

#[test]
fn unauthenticated_subscriptions_of_an_address_are_bounded() {
    let mut few = config();
    few.stream.address_subscriptions_max = 3;
    let (venue, alice, _) = TestVenue::with_market(few);
    let on = |channel: &str| json!({"channel": channel, "instrument": "BTC-USD"});
    let (mut first, mut second) = (Wire::connect(&venue), Wire::connect(&venue));
    for channel in ["trades", "book"] {
        first.subscribe(on(channel));
    }
    first.hear_of("book");
    second.subscribe(on("trades"));
    second.say(crate::test_venue::with(json!({"op": "subscribe"}), on("ticker")));
    second.refused("too_many_subscriptions");
    // An ended subscription makes room, and so does authentication.
    first.say(crate::test_venue::with(json!({"op": "unsubscribe"}), on("book")));
    first.hear_of("unsubscribed");
    second.subscribe(on("ticker"));
    second.hear_of("ticker");
    first.say(crate::test_venue::with(json!({"op": "subscribe"}), on("book")));
    first.refused("too_many_subscriptions");
    first.auth(&alice);
    first.subscribe(on("book"));
}

#[test]
fn probes_and_operators_are_answered_at_the_connection_limit() {
    let full = GatewayConfig {
        operations_listen: Some(SocketAddr::from((HERE, 0))),
        operations_connections_max: 2,
        connections_max: 1,
        ..config()
    };
    let venue = TestVenue::empty(full);
    let mut only = venue.client();
    only.send("GET", "/v1/time", &[], b"").expect(200);
    venue.client().read().unwrap().refuses(503, "too_many_connections");

    let mut operator = venue.operator();
    for path in ["/v1/live", "/v1/ready", "/v1/health", "/metrics"] {
        operator.send("GET", path, &[], b"").expect(200);
    }
    let headers = [
        ("Authorization", format!("Bearer {}", venue.admin.reveal())),
        ("Content-Type", "application/json".to_owned()),
    ];
    let body = json!({"name": "alice"}).to_string();
    operator.send("POST", "/v1/admin/members", &headers, body.as_bytes()).expect(201);
    // Routes of callers are not served there.
    for path in ["/v1/time", "/v1/orders", "/v1/stream", "/v1/queues"] {
        operator.send("GET", path, &[], b"").refuses(404, "unknown_route");
    }
    let mut second = venue.operator();
    second.send("GET", "/v1/live", &[], b"").expect(200);
    venue.operator().read().unwrap().refuses(503, "too_many_connections");
}

/// A gateway that trusts 127.0.0.1 as a proxy, with one request for each address.
fn behind_a_proxy() -> TestVenue {
    TestVenue::empty(GatewayConfig {
        trusted_proxies: vec!["127.0.0.1".parse().unwrap()],
        address_connections_max: 1,
        address_rate: 1,
        address_burst: 1,
        ..config()
    })
}

#[test]
fn a_trusted_proxy_names_the_client_of_a_connection() {
    let venue = behind_a_proxy();
    let from = |client: &str| {
        let mut connection = venue.client();
        let line = format!("PROXY TCP4 {client} 127.0.0.1 4711 80\r\n");
        connection.raw(line.as_bytes()).unwrap();
        connection
    };
    let mut first = from("192.0.2.1");
    first.send("GET", "/v1/time", &[], b"").expect(200);
    until_limited(200, || first.send("GET", "/v1/time", &[], b""));
    from("192.0.2.1").read().unwrap().refuses(503, "too_many_connections");
    from("192.0.2.2").send("GET", "/v1/time", &[], b"").expect(200);
    // Version 2, in one write with the request.
    let mut third = venue.client();
    let head = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x03\x7f\0\0\x01\0\x01\0\x50";
    third.raw(&[&head[..], b"GET /v1/time HTTP/1.1\r\nhost: x\r\n\r\n"].concat()).unwrap();
    third.read().unwrap().expect(200);
    // A malformed header closes the connection.
    let mut bad = venue.client();
    bad.raw(b"PROXY TCP4 nobody\r\n").unwrap();
    assert!(bad.read().is_err());
}

#[test]
fn only_a_trusted_proxy_names_the_client_of_a_request() {
    let venue = behind_a_proxy();
    let ask = |connection: &mut Client, client: &str| {
        connection.send("GET", "/v1/time", &[("Forwarded", format!("for={client}"))], b"")
    };
    // One connection with requests of many clients, and more connections than an address may have.
    let mut proxy = venue.client();
    let mut other = venue.client();
    ask(&mut proxy, "192.0.2.1").expect(200);
    until_limited(200, || ask(&mut other, "192.0.2.1"));
    ask(&mut proxy, "192.0.2.2").expect(200);
    ask(&mut proxy, "\"[2001:db8::1]:80\"").expect(200);
    // The same /64.
    until_limited(200, || ask(&mut proxy, "\"[2001:db8::2]\""));
    let mut stranger = Client::connect_from(ELSEWHERE, venue.address);
    ask(&mut stranger, "192.0.2.3").expect(200);
    until_limited(200, || ask(&mut stranger, "192.0.2.4"));
    let mut announced = Client::connect_from([127, 0, 0, 3], venue.address);
    announced.raw(b"PROXY TCP4 192.0.2.5 127.0.0.1 1 2\r\n\r\n").unwrap();
    assert_eq!(announced.read().unwrap().status, 400);
}

#[test]
fn a_connection_is_served_on_both_kinds_of_threads_in_turn() {
    let (mut venue, alice, _) = TestVenue::with_market(config());
    let mut client = venue.client();
    for round in 1..=20 {
        let body = limit("buy", "1", &format!("{round}")).to_string();
        let headers = signed(&alice, "POST", "/v1/orders", body.as_bytes());
        let placed = client.send("POST", "/v1/orders", &headers, body.as_bytes()).expect(201);
        let path = format!("/v1/orders?min_seq={}", placed["seq"].as_str().unwrap());
        let orders = client.send("GET", &path, &signed(&alice, "GET", &path, b""), b"");
        assert_eq!(orders.expect(200)["orders"].as_array().unwrap().len(), round);
    }
    // A moved connection notices the stop too.
    let gateway = venue.gateway.take().unwrap();
    let stopping = std::thread::spawn(move || gateway.shutdown(Duration::from_secs(10)));
    assert!(client.read().is_err(), "an idle connection is closed");
    assert!(stopping.join().unwrap(), "all was finished in time");
}

#[test]
fn a_connection_that_would_have_a_reserved_descriptor_is_closed() {
    let venue = TestVenue::empty(GatewayConfig {
        operations_listen: Some(SocketAddr::from((HERE, 0))),
        // The first three are the standard streams.
        descriptors_end: Some(3),
        ..config()
    });
    assert!(venue.client().read().is_err(), "it is closed without a word");
    let page = venue.operator().send("GET", "/metrics", &[], b"").expect(200);
    assert!(page.as_str().unwrap().contains("rialto_connections_refused_total 1\n"));
}

/// Name and nice level of the thread with this directory.
#[cfg(target_os = "linux")]
fn thread(path: &std::path::Path) -> Option<(String, i64)> {
    let name = std::fs::read_to_string(path.join("comm")).ok()?.trim().to_owned();
    let stat = std::fs::read_to_string(path.join("stat")).ok()?;
    // After the name in parentheses, which may contain anything, the nice level is the 17th field.
    let nice = stat.rsplit(')').next()?.split_whitespace().nth(16)?.parse().ok()?;
    Some((name, nice))
}

/// Name and nice level of each thread of this process.
#[cfg(target_os = "linux")]
fn threads() -> Vec<(String, i64)> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.filter_map(|task| thread(&task.ok()?.path())).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn requests_other_than_orders_have_threads_of_a_lower_priority() {
    let venue = TestVenue::empty(GatewayConfig { shared_nice: 7, ..config() });
    venue.get("/v1/time").expect(200);
    until("the threads are there", || {
        let threads = threads();
        threads.contains(&("gateway-shared".to_owned(), 7))
            && threads.iter().any(|(name, nice)| name == "gateway" && *nice < 7)
            && threads.contains(&("live-feed".to_owned(), LiveConfig::default().nice.into()))
    });
}

/// The number of context switches of the shared threads of the gateway with this nice level,
/// voluntary or not.
#[cfg(target_os = "linux")]
fn switches_of_shared_threads(of_nice: i64) -> u64 {
    let each = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
        let path = task.ok()?.path();
        let (name, nice) = thread(&path)?;
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let left = status.lines().filter_map(|it| it.split_once("voluntary_ctxt_switches:"));
        let left = left.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum::<u64>();
        (name == "gateway-shared" && nice == of_nice).then_some(left)
    });
    each.sum()
}

#[test]
#[cfg(target_os = "linux")]
fn orders_are_not_answered_on_the_threads_of_everything_else() {
    const NICE: u8 = 8;
    const REQUESTS: u64 = 400;
    let venue = TestVenue::empty(GatewayConfig { shared_nice: NICE, ..config() });
    venue.create_market();
    let alice = venue.member("alice");
    let switches = || switches_of_shared_threads(NICE.into());
    // A thread that serves requests switches with each of them; an idle one only by its timers.
    let mut client = venue.client();
    let before = switches();
    for price in 1..=REQUESTS {
        let body = limit("buy", "1", &price.to_string()).to_string();
        let headers = signed(&alice, "POST", "/v1/orders", body.as_bytes());
        client.send("POST", "/v1/orders", &headers, body.as_bytes()).expect(201);
    }
    let while_ordering = switches() - before;
    let before = switches();
    for _ in 0..REQUESTS {
        client.send("GET", "/v1/time", &[], b"").expect(200);
    }
    let while_asking = switches() - before;
    assert!(while_ordering < REQUESTS / 4, "{while_ordering} switches for orders");
    assert!(while_asking > REQUESTS / 4, "{while_asking} switches for everything else");
}

#[test]
#[cfg(target_os = "linux")]
fn operators_are_not_answered_on_the_threads_of_everything_else() {
    const NICE: u8 = 9;
    const REQUESTS: u64 = 400;
    let venue = TestVenue::empty(GatewayConfig {
        operations_listen: Some(SocketAddr::from((HERE, 0))),
        shared_nice: NICE,
        ..config()
    });
    let mut operator = venue.operator();
    operator.send("GET", "/v1/live", &[], b"").expect(200);
    let before = switches_of_shared_threads(NICE.into());
    assert!(before > 0, "the threads are not known by their names");
    for _ in 0..REQUESTS {
        operator.send("GET", "/v1/live", &[], b"").expect(200);
    }
    let switches = switches_of_shared_threads(NICE.into()) - before;
    assert!(switches < REQUESTS / 4, "{switches} switches");
}
