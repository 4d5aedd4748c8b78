//! Topics over HTTP: publishing, consuming, reading, rights, errors.

use crate::test_venue::{Key, Reply, TestVenue, config, key_of, signed};
use rialto_gateway::GatewayConfig;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A venue with a topic `jobs` and its group `all`.
fn with_topic(config: GatewayConfig) -> TestVenue {
    let venue = TestVenue::empty(config);
    venue.operate("POST", "/v1/queues", json!({"name": "jobs", "level": "memory"})).expect(201);
    venue.operate("POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    venue
}

fn publish(venue: &TestVenue, messages: Value) -> Value {
    venue.operate("POST", "/v1/queues/jobs/messages", messages).expect(201)
}

fn in_group(venue: &TestVenue, what: &str, body: Value) -> Reply {
    venue.operate("POST", &format!("/v1/queues/jobs/groups/all/{what}"), body)
}

fn fetch(venue: &TestVenue, consumer: &str) -> Vec<Value> {
    let answer = in_group(venue, "fetch", json!({"consumer": consumer})).expect(200);
    answer["messages"].as_array().unwrap().clone()
}

/// The names of messages in an acknowledgement.
fn leases(messages: &[Value]) -> Value {
    let lease = |message: &Value| json!({"id": message["id"], "lease": message["lease"]});
    messages.iter().map(lease).collect()
}

/// A key with only these rights to these topics.
fn key(venue: &TestVenue, grants: Value) -> Key {
    let member = venue.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let body = json!({"member": member["member"], "queues": grants});
    key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201))
}

#[test]
fn a_message_is_fetched_until_it_is_acknowledged() {
    let venue = with_topic(config());
    let message = json!({
        "payload": "paint it \"red\"", "key": "house-7", "headers": {"trace": "9"},
        "content_type": "text/plain", "schema_version": 3, "expires_after_ms": 60_000,
    });
    let answer = publish(&venue, json!([message, {"payload_base64": "/wA="}]));
    assert_eq!(answer, json!({"ids": ["0:1", "0:2"], "duplicates": 0}));

    let messages = fetch(&venue, "one");
    let [first, second] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!((&first["id"], &first["attempt"]), (&json!("0:1"), &json!(1)));
    for name in ["payload", "key", "headers", "content_type", "schema_version"] {
        assert_eq!(first[name], message[name], "{name}");
    }
    assert!(first["expires_at"].is_string() && first["published_at"].is_string(), "{first}");
    assert_eq!((&second["payload_base64"], &second["payload"]), (&json!("/wA="), &Value::Null));

    assert!(fetch(&venue, "two").is_empty(), "another has them");
    let body = json!({"consumer": "one", "messages": leases(&messages[..1])});
    assert_eq!(in_group(&venue, "ack", body).expect(200), json!({"lost": []}));
    let body = json!({"consumer": "one", "messages": leases(&messages[1..]), "detail": "busy"});
    assert_eq!(in_group(&venue, "nack", body).expect(200), json!({"lost": []}));

    let again = fetch(&venue, "two");
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!((&again[0]["id"], &again[0]["attempt"]), (&json!("0:2"), &json!(2)));
    let unseen = |more: Value| {
        let body = json!({"consumer": "two", "messages": leases(&again), "unseen": true});
        in_group(&venue, "nack", crate::test_venue::with(body, more))
    };
    assert_eq!(unseen(json!({"detail": "x"})).refuses(400, "invalid_field").field(), "unseen");
    assert_eq!(unseen(json!({})).expect(200), json!({"lost": []}));
    let again = fetch(&venue, "two");
    assert_eq!((&again[0]["id"], &again[0]["attempt"]), (&json!("0:2"), &json!(2)));
    let body = json!({"consumer": "two", "messages": leases(&again)});
    assert_eq!(in_group(&venue, "extend", body).expect(200), json!({"lost": []}));

    let topic = venue.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
    assert_eq!(topic["published_messages"], "2");
    // The values are unpredictable, but they are numbers.
    for (rates, of) in [(&topic["rates"], "published"), (&topic["groups"][0]["rates"], "delivered")]
    {
        assert!(rates["window_ms"].is_string(), "{rates}");
        assert!(rates[format!("{of}_per_s")].is_number(), "{rates}");
        assert!(rates[format!("{of}_bytes_per_s")].is_number(), "{rates}");
    }
    let group = &topic["groups"][0];
    assert_eq!(
        (&group["name"], &group["acked"], &group["redelivered"]),
        (&json!("all"), &json!("1"), &json!("2"))
    );
    let metrics = venue.operate("GET", "/metrics", Value::Null).body.as_str().unwrap().to_owned();
    assert!(metrics.contains("rialto_queue_published_total{topic=\"jobs\"} 2\n"), "{metrics}");
    assert!(metrics.contains("rialto_queue_redelivered_total{topic=\"jobs\",group=\"all\"} 2\n"));
    assert!(
        metrics.contains("rialto_bus_requests_total{request=\"ack_messages\",outcome=\"ok\"} 1\n")
    );
}

/// The nanoseconds from the publication of a leased message, a moment ago, to the end of its lease.
fn lease_ns(lease: &Value) -> u64 {
    let number = |field: &str| lease[field].as_str().unwrap().parse::<u64>().unwrap();
    number("deadline") - number("published_at")
}

#[test]
fn leases_have_a_length_of_their_own_and_are_listed_page_by_page() {
    const HOUR_MS: u64 = 3_600_000;
    let venue = with_topic(config());
    publish(&venue, json!([{"payload": "a"}, {"payload": "b"}, {"payload": "c"}]));
    let list = |query: &str| {
        let path = format!("/v1/queues/jobs/groups/all/leases{query}");
        let leases = venue.operate("GET", &path, Value::Null).expect(200)["leases"].clone();
        leases.as_array().unwrap().clone()
    };
    assert!(list("").is_empty());
    let ask = json!({"consumer": "one", "max": 1, "ack_wait_ms": HOUR_MS});
    let long = in_group(&venue, "fetch", ask).expect(200)["messages"].clone();
    let usual = fetch(&venue, "two");
    let all = list("");
    let shown = |lease: &Value| (lease["id"].clone(), lease["consumer"].clone());
    let pairs: Vec<_> = all.iter().map(shown).collect();
    let expected = [("0:1", "one"), ("0:2", "two"), ("0:3", "two")];
    assert_eq!(pairs, expected.map(|(id, consumer)| (json!(id), json!(consumer))));
    assert_eq!(all[0]["attempt"], 1);
    assert!(lease_ns(&all[0]) >= HOUR_MS * 1_000_000, "{all:?}");
    assert!(lease_ns(&all[1]) < HOUR_MS * 1_000_000, "{all:?}");
    let pages = [list("?max=2"), list("?max=2&after=0:2"), list("?after=0:3")];
    assert_eq!(pages.concat(), all);
    assert_eq!(pages.map(|page| page.len()), [2, 1, 0]);
    // An extension by another length.
    let body = json!({"consumer": "two", "messages": leases(&usual), "ack_wait_ms": 2 * HOUR_MS});
    assert_eq!(in_group(&venue, "extend", body).expect(200), json!({"lost": []}));
    assert!(lease_ns(&list("")[2]) >= 2 * HOUR_MS * 1_000_000);
    let body = json!({"consumer": "one", "messages": leases(long.as_array().unwrap())});
    assert_eq!(in_group(&venue, "ack", body).expect(200), json!({"lost": []}));
    assert_eq!(list("").len(), 2);

    for length in [json!(0), json!(7 * 24 * HOUR_MS + 1)] {
        let ask = json!({"consumer": "one", "ack_wait_ms": length});
        let refused = in_group(&venue, "fetch", ask).refuses(400, "invalid_field");
        assert_eq!(refused.field(), "ack_wait_ms");
        let ask = json!({"consumer": "two", "messages": leases(&usual), "ack_wait_ms": length});
        let refused = in_group(&venue, "extend", ask).refuses(400, "invalid_field");
        assert_eq!(refused.field(), "ack_wait_ms");
    }
    let ask = |path: &str| venue.operate("GET", path, Value::Null);
    ask("/v1/queues/jobs/groups/none/leases").refuses(404, "unknown_group");
    let refused = ask("/v1/queues/jobs/groups/all/leases?after=x").refuses(400, "invalid_field");
    assert_eq!(refused.field(), "after");
    let other = key(&venue, json!([{"topics": "other", "rights": ["consume"]}]));
    let path = "/v1/queues/jobs/groups/all/leases";
    venue.ask(&other, "GET", path, Value::Null).refuses(403, "forbidden");
}

#[test]
fn a_lease_that_was_lost_is_listed_and_the_others_count() {
    let venue = with_topic(config());
    publish(&venue, json!([{"payload": "a"}, {"payload": "b"}, {"payload": "c"}]));
    let messages = fetch(&venue, "one");
    let ack = |messages: &[Value]| {
        let body = json!({"consumer": "one", "messages": leases(messages)});
        in_group(&venue, "ack", body).expect(200)
    };
    assert_eq!(ack(&messages[..1]), json!({"lost": []}));
    assert_eq!(ack(&messages[..2]), json!({"lost": ["0:1"]}));
    // The same number with another process's token; and a lane that does not exist.
    let (_, number) = messages[2]["lease"].as_str().unwrap().split_once('.').unwrap();
    let lease = format!("00000000.{number}");
    let other = json!([{"id": "0:3", "lease": lease}, {"id": "200:7", "lease": lease}]);
    let body = json!({"consumer": "one", "messages": other});
    assert_eq!(in_group(&venue, "extend", body).expect(200), json!({"lost": ["0:3", "200:7"]}));
    assert_eq!(ack(&messages[2..]), json!({"lost": []}));
}

#[test]
fn a_fetch_waits_until_something_is_published() {
    let venue = with_topic(config());
    std::thread::scope(|scope| {
        let began = Instant::now();
        let body = json!({"consumer": "one", "wait_ms": 20_000});
        let waiting = scope.spawn(|| in_group(&venue, "fetch", body).expect(200));
        loop {
            let topic = venue.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
            if topic["groups"][0]["consumers"] == "1" {
                break;
            }
        }
        publish(&venue, json!([{"payload": "at last"}]));
        let answer = waiting.join().unwrap();
        assert_eq!(answer["messages"][0]["payload"], "at last");
        assert!(began.elapsed() < Duration::from_secs(15));
    });
    let answer = in_group(&venue, "fetch", json!({"consumer": "two", "wait_ms": 5})).expect(200);
    assert_eq!(answer, json!({"messages": [], "missed": "0"}));
}

#[test]
fn a_reader_waits_until_something_is_published() {
    let venue = with_topic(config());
    std::thread::scope(|scope| {
        let path = "/v1/queues/jobs/messages?from=1&wait_ms=20000";
        let waiting = scope.spawn(|| venue.operate("GET", path, Value::Null).expect(200));
        publish(&venue, json!([{"payload": "at last"}]));
        let answer = waiting.join().unwrap();
        assert_eq!(answer["messages"][0]["payload"], "at last");
        assert_eq!(answer["next"], "2");
    });
    let path = "/v1/queues/jobs/messages?from=2&wait_ms=5";
    let answer = venue.operate("GET", path, Value::Null).expect(200);
    assert_eq!(answer, json!({"messages": [], "missed": "0", "conflated": "0", "next": "2"}));
}

#[test]
fn a_waiting_fetch_is_answered_at_the_stop() {
    let mut venue = with_topic(config());
    let body = json!({"consumer": "one", "wait_ms": 30_000}).to_string().into_bytes();
    let path = "/v1/queues/jobs/groups/all/fetch";
    let key = key(&venue, json!([{"topics": "jobs", "rights": ["consume"]}]));
    let mut client = venue.client();
    let headers = signed(&key, "POST", path, &body);
    let waiting = std::thread::spawn(move || client.send("POST", path, &headers, &body));
    loop {
        let topic = venue.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
        if topic["groups"][0]["consumers"] == "1" {
            break;
        }
    }
    let began = Instant::now();
    assert!(venue.gateway.take().unwrap().shutdown(Duration::from_secs(10)));
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    let answer = waiting.join().unwrap().expect(200);
    assert_eq!(answer, json!({"messages": [], "missed": "0"}));
}

#[test]
fn lines_are_published_as_an_array_is_and_numbers_keep_them_from_being_published_twice() {
    let venue = with_topic(config());
    let send = |path: &str, body: &str| {
        let headers = [
            ("Authorization", format!("Bearer {}", venue.admin.reveal())),
            ("Content-Type", "application/x-ndjson".to_owned()),
        ];
        venue.client().send("POST", path, &headers, body.as_bytes())
    };
    let path = "/v1/queues/jobs/messages?producer=7&first=1";
    let lines = "{\"payload\":\"a\"}\n\n{\"payload\":\"b\"}\n";
    assert_eq!(send(path, lines).expect(201)["ids"], json!(["0:1", "0:2"]));
    assert_eq!(send(path, lines).expect(201), json!({"ids": [], "duplicates": 2}));
    let wrong = send(path, "{\"payload\":\"a\"}\n{\"payload\":7}\n").refuses(400, "invalid_field");
    assert_eq!(wrong.field(), "[1].payload");
}

#[test]
fn a_topic_is_read_page_by_page_without_a_group() {
    let venue = with_topic(config());
    publish(&venue, json!([{"payload": "a"}, {"payload": "b"}, {"payload": "c"}]));
    let read = |query: &str| {
        venue.operate("GET", &format!("/v1/queues/jobs/messages{query}"), Value::Null)
    };
    let page = read("?max=2").expect(200);
    let payloads = |page: &Value| -> Vec<String> {
        let messages = page["messages"].as_array().unwrap();
        messages.iter().map(|message| message["payload"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(payloads(&page), ["a", "b"]);
    let next = page["next"].as_str().unwrap();
    let rest = read(&format!("?from={next}")).expect(200);
    assert_eq!(payloads(&rest), ["c"]);
    read("?from=yesterday").refuses(400, "invalid_field");
    read("?from=oldest&from_time=0").refuses(400, "invalid_field");
    read("?wait_ms=30001").refuses(400, "invalid_field");
    let at = page["messages"][1]["published_at"].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(payloads(&read("?from_time=0").expect(200)), ["a", "b", "c"]);
    assert_eq!(
        payloads(&read(&format!("?from_time={}", at + 1_000_000_000_000)).expect(200)).len(),
        0
    );
    assert_eq!(payloads(&read("?from=next").expect(200)), Vec::<String>::new());
    read(&format!("?from={}", vec!["1"; 17].join(","))).refuses(400, "invalid_field");
    assert_eq!(payloads(&read("?from=18446744073709551615").expect(200)), Vec::<String>::new());
}

#[test]
fn an_overtaken_reader_gets_an_error_if_the_topic_says_so() {
    let venue = TestVenue::empty(config());
    let topic = json!({"name": "jobs", "level": "memory", "priorities": 2, "overtaken": "cut_off"});
    venue.operate("POST", "/v1/queues", topic).expect(201);
    let fill = || publish(&venue, (0..6).map(|nth| json!({"payload": nth.to_string()})).collect());
    let read = |from: &str| {
        let path = format!("/v1/queues/jobs/messages?from={from}&max=2");
        venue.operate("GET", &path, Value::Null)
    };
    fill();
    // The second page continues the first, so that the third is read ahead.
    let next = |reply: Reply| reply.expect(200)["next"].as_str().unwrap().to_owned();
    let at = next(read(&next(read("oldest"))));
    venue.operate("DELETE", "/v1/queues/jobs/messages", Value::Null).expect(200);
    fill();
    assert_eq!(read(&at).refuses(409, "cut_off").field(), "from");
    // Also after a message that may be read.
    publish(&venue, json!([{"payload": "urgent", "priority": 1}]));
    assert_eq!(read(&at).refuses(409, "cut_off").field(), "from");
    let begun = read("oldest").expect(200);
    let ids: Vec<_> = (0..2).map(|nth| &begun["messages"][nth]["id"]).collect();
    assert_eq!(ids, ["1:1", "0:7"]);
}

#[test]
fn a_reader_far_behind_gets_conflated_messages_and_their_number() {
    let venue = TestVenue::empty(config());
    let overtaken = json!({"conflated": {"behind": 2}});
    let topic = json!({"name": "jobs", "level": "memory", "overtaken": overtaken});
    venue.operate("POST", "/v1/queues", topic).expect(201);
    let message = |key: &str, payload: &str| json!({"key": key, "payload": payload});
    let messages = [("x", "x1"), ("x", "x2"), ("y", "y1"), ("x", "x3"), ("y", "y2")];
    publish(&venue, messages.iter().map(|(key, payload)| message(key, payload)).collect());
    let read = |query: &str| {
        let path = format!("/v1/queues/jobs/messages{query}");
        venue.operate("GET", &path, Value::Null).expect(200)
    };
    let first = read("?max=1");
    assert_eq!(first["messages"][0]["payload"], "x3");
    assert_eq!((&first["missed"], &first["conflated"]), (&json!("0"), &json!("3")));
    let rest = read(&format!("?from={}", first["next"].as_str().unwrap()));
    assert_eq!(rest["messages"][0]["payload"], "y2");
    assert_eq!((&rest["missed"], &rest["conflated"]), (&json!("0"), &json!("0")));
}

#[test]
fn invalid_requests_are_refused_with_the_field() {
    let venue = with_topic(GatewayConfig { queue_body_bytes_max: 4_096, ..config() });
    let make = |body: Value| venue.operate("POST", "/v1/queues", body);
    make(json!({"name": "jobs", "level": "memory", "priorities": 2})).refuses(409, "topic_exists");
    make(json!({"name": "jobs", "level": "memory"})).expect(201);
    for body in [
        json!({"name": "a/b"}),
        json!({"name": "x", "kind": "heap"}),
        json!({"name": "x", "level": "safe"}),
        json!({"name": "x", "priorities": 17}),
        json!({"name": "x", "segment_bytes": 5_000}),
        json!({"name": "x", "segment_bytes": 1_u64 << 40}),
        json!({"name": "x", "compression": "rar"}),
        json!({"name": "x", "encryption": "rot13"}),
    ] {
        make(body).refuses(400, "invalid_field");
    }
    let refused = make(json!({"name": "x", "priorities": 17})).refuses(400, "invalid_field");
    let message = "the options of the topic are invalid: priorities is 17; it must be 1 to 16.";
    assert_eq!(refused.field(), "priorities");
    assert_eq!(refused.body["error"]["message"], message);
    let put = |query: &str, body: Value| {
        venue.operate("POST", &format!("/v1/queues/jobs/messages{query}"), body)
    };
    let one = || json!([{"payload": "a"}]);
    put("", json!([])).refuses(400, "invalid_field");
    put("", json!({"payload": "a"})).refuses(400, "invalid_field");
    put("", json!([{"payload": "a"}, {}])).refuses(400, "missing_field");
    put("", json!([{"payload": "a", "colour": 1}])).refuses(400, "unknown_field");
    put("", json!([{"payload_base64": "?"}])).refuses(400, "invalid_field");
    put("", json!([{"payload": "x".repeat(5_000)}])).refuses(413, "body_too_large");
    put("?confirm=soon", one()).refuses(400, "invalid_field");
    assert_eq!(put("?confirm=synced", one()).refuses(400, "invalid_field").field(), "confirm");
    put("?producer=1", one()).refuses(400, "missing_field");
    put("?producer=0&first=1", one()).refuses(400, "invalid_field");
    let reply = put("", json!([{"payload": "a"}, {"payload": "b", "priority": 3}]));
    let reply = reply.refuses(400, "invalid_message");
    assert_eq!(reply.field(), "[1]");
    let answer = reply.body["error"]["message"].as_str().unwrap();
    assert!(answer.contains("The first 1 of 2 messages have been published."), "{answer}");

    let reply = put("", json!([{"payload": "b", "priority": 3}])).refuses(400, "invalid_message");
    let answer = reply.body["error"]["message"].as_str().unwrap();
    assert!(answer.ends_with(" No message has been published."), "{answer}");
    let reply = put("", json!([{"payload": "a", "headers": {"h": 5}}]));
    let reply = reply.refuses(400, "invalid_field");
    assert_eq!(reply.field(), "[0].headers.h");
    let answer = &reply.body["error"]["message"];
    assert_eq!(answer, "The field [0].headers.h is the number 5; it must be a text.");

    let group = |what: &str, body: Value| in_group(&venue, what, body);
    let refused = group("fetch", json!({"consumer": "c", "wait_ms": 30_001}));
    assert_eq!(refused.refuses(400, "invalid_field").field(), "wait_ms");
    group("fetch", json!({"consumer": "c", "max": 0})).refuses(400, "invalid_field");
    group("fetch", json!({"consumer": "c", "max": 1_001})).refuses(400, "invalid_field");
    group("fetch", json!({"consumer": ""})).refuses(400, "invalid_field");
    group("fetch", json!({})).refuses(400, "missing_field");
    group("ack", json!({"consumer": "c", "messages": []})).refuses(400, "invalid_field");
    for (id, lease) in [("1", "0.1"), ("0:1", "1"), ("256:1", "0.1"), ("0:1", "zz.1")] {
        let body = json!({"consumer": "c", "messages": [{"id": id, "lease": lease}]});
        group("ack", body).refuses(400, "invalid_field");
    }
    let make = |body: Value| venue.operate("POST", "/v1/queues/jobs/groups", body);
    make(json!({"name": "all", "filter": "eu"})).refuses(409, "group_exists");
    make(json!({"name": "x", "filter": "="})).refuses(400, "invalid_field");
    make(json!({"name": "x", "filter": "x".repeat(1_001)})).refuses(400, "invalid_field");
    let shrinking = json!({"name": "x", "retry_delay_ms": 2, "retry_delay_max_ms": 1});
    let refused = make(shrinking).refuses(400, "invalid_field");
    assert_eq!(refused.field(), "retry_delay_max_ms");
    make(json!({"name": "x", "ack_wait_ms": 0})).refuses(400, "invalid_field");
    for outstanding_max in [0, 65_537] {
        make(json!({"name": "x", "outstanding_max": outstanding_max}))
            .refuses(400, "invalid_field");
    }
    for start in [json!({"seq": 3}), json!({"at": 3}), json!({"at": "x"}), json!({"end": "3"})] {
        make(json!({"name": "x", "start": start})).refuses(400, "invalid_field");
    }
    let ask = |path: &str| venue.operate("GET", path, Value::Null);
    ask("/v1/queues/none").refuses(404, "unknown_topic");
    ask("/v1/queues/none/messages").refuses(404, "unknown_topic");
    ask("/v1/queues/..%2F/messages").refuses(400, "invalid_field");
    let path = "/v1/queues/jobs/groups/none/fetch";
    venue.operate("POST", path, json!({"consumer": "c"})).refuses(404, "unknown_group");
    venue.operate("POST", "/v1/queues/none/messages", one()).refuses(404, "unknown_topic");
}

#[test]
fn a_full_work_queue_refuses_and_takes_more_when_something_is_done() {
    let venue = TestVenue::empty(config());
    let body = json!({"name": "jobs", "level": "memory", "kind": "work_queue", "messages_max": 1});
    venue.operate("POST", "/v1/queues", body).expect(201);
    venue.operate("POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    publish(&venue, json!([{"payload": "a"}]));
    let put = || venue.operate("POST", "/v1/queues/jobs/messages", json!([{"payload": "b"}]));
    assert!(put().refuses(503, "topic_full").head.contains("retry-after"));
    let body = json!({"consumer": "one", "messages": leases(&fetch(&venue, "one"))});
    in_group(&venue, "ack", body).expect(200);
    put().expect(201);
}

#[test]
fn a_consumer_that_leaves_gives_back_what_it_had() {
    let venue = with_topic(config());
    publish(&venue, json!([{"payload": "a"}]));
    assert_eq!(fetch(&venue, "one").len(), 1);
    assert!(fetch(&venue, "two").is_empty());
    let leave = "/v1/queues/jobs/groups/all/consumers/one";
    let producer = key(&venue, json!([{"topics": "jobs", "rights": ["produce"]}]));
    venue.ask(&producer, "DELETE", leave, Value::Null).refuses(403, "forbidden");
    let other = key(&venue, json!([{"topics": "jobs", "rights": ["consume"]}]));
    venue.ask(&other, "DELETE", leave, Value::Null).expect(200);
    assert!(fetch(&venue, "two").is_empty(), "another key's consumer of that name is another");
    venue.operate("DELETE", leave, Value::Null).expect(200);
    assert_eq!(fetch(&venue, "two").len(), 1);
    venue.operate("DELETE", leave, Value::Null).expect(200);
}

#[test]
fn a_topic_that_was_deleted_and_made_again_is_another_one() {
    let venue = with_topic(config());
    publish(&venue, json!([{"payload": "a"}]));
    assert_eq!(fetch(&venue, "one").len(), 1);
    venue.operate("DELETE", "/v1/queues/jobs", Value::Null).expect(200);
    in_group(&venue, "fetch", json!({"consumer": "one"})).refuses(404, "unknown_topic");
    venue.operate("POST", "/v1/queues", json!({"name": "jobs", "level": "memory"})).expect(201);
    venue.operate("POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    publish(&venue, json!([{"payload": "b"}]));
    assert_eq!(fetch(&venue, "one")[0]["payload"], "b");
    venue.operate("DELETE", "/v1/queues/jobs/groups/all", Value::Null).expect(200);
    in_group(&venue, "fetch", json!({"consumer": "one"})).refuses(404, "unknown_group");
}

#[test]
fn dead_letters_are_listed_sent_back_and_dropped() {
    let venue = with_topic(config());
    let body = json!({"name": "once", "attempts_max": 1});
    venue.operate("POST", "/v1/queues/jobs/groups", body).expect(201);
    publish(&venue, json!([{"payload": "a"}, {"payload": "b"}]));
    let once = "/v1/queues/jobs/groups/once";
    let body = json!({"consumer": "one"});
    let answer = venue.operate("POST", &format!("{once}/fetch"), body).expect(200);
    let leases = leases(answer["messages"].as_array().unwrap());
    let body = json!({"consumer": "one", "messages": leases, "refuse": true, "detail": "torn"});
    venue.operate("POST", &format!("{once}/nack"), body).expect(200);

    let letters = |max: &str| {
        let path = format!("/v1/queues/jobs.dead/dead-letters{max}");
        let answer = venue.operate("GET", &path, Value::Null).expect(200);
        answer["messages"].as_array().unwrap().clone()
    };
    let [a, b] = &letters("")[..] else { panic!() };
    assert_eq!((&a["payload"], &b["payload"]), (&json!("a"), &json!("b")));
    assert_eq!(
        (&a["headers"]["dead-reason"], &a["headers"]["dead-detail"]),
        (&json!("refused"), &json!("torn"))
    );
    assert_eq!(letters("?max=1").len(), 1);

    let redrive = "/v1/queues/jobs.dead/redrive";
    // The right to redrive dead letters includes no right to publish elsewhere.
    let redriver = key(&venue, json!([{"topics": "jobs.dead", "rights": ["admin", "consume"]}]));
    let answer = venue.ask(&redriver, "POST", redrive, Value::Null).expect(200);
    assert_eq!(answer, json!({"sent": "0", "kept": "2", "next": "3"}));
    let path = format!("{redrive}?from={}", answer["next"].as_str().unwrap());
    let answer = venue.ask(&redriver, "POST", &path, Value::Null).expect(200);
    assert_eq!(
        answer,
        json!({"sent": "0", "kept": "0", "next": "3"}),
        "messages that stay come again"
    );
    let answer = venue.operate("POST", &format!("{redrive}?max=1"), Value::Null).expect(200);
    assert_eq!(answer, json!({"sent": "1", "kept": "0", "next": "2"}));
    for from in ["next", "", "1,", "-1", &"1,".repeat(20)] {
        let path = format!("{redrive}?from={from}");
        let refused = venue.operate("POST", &path, Value::Null).refuses(400, "invalid_field");
        assert_eq!(refused.field(), "from", "{from:?}");
    }
    let far = format!("{redrive}?from={}", u64::MAX);
    let answer = venue.operate("POST", &far, Value::Null).expect(200);
    assert_eq!((&answer["sent"], &answer["kept"]), (&json!("0"), &json!("0")));
    assert_eq!(letters("").len(), 1);
    assert_eq!(fetch(&venue, "one").len(), 3, "two, and one that came back");

    let messages = "/v1/queues/jobs.dead/messages";
    let reader = key(&venue, json!([{"topics": "jobs.dead", "rights": ["consume"]}]));
    venue.ask(&reader, "DELETE", messages, Value::Null).refuses(403, "forbidden");
    venue.ask(&reader, "POST", redrive, Value::Null).refuses(403, "forbidden");
    let answer = venue.ask(&redriver, "DELETE", messages, Value::Null).expect(200);
    assert_eq!(answer, json!({"dropped": "1"}), "the other one was sent back, and is gone");
    assert!(letters("").is_empty());
    venue.operate("POST", "/v1/queues/none/redrive", Value::Null).refuses(404, "unknown_topic");
    for (method, action) in [("GET", "dead-letters"), ("POST", "redrive")] {
        let path = format!("/v1/queues/jobs/{action}");
        venue.operate(method, &path, Value::Null).refuses(409, "no_dead_letters");
    }
    venue
        .operate("GET", "/v1/queues/jobs/dead-letters?max=0", Value::Null)
        .refuses(400, "invalid_field");
}

#[test]
fn a_key_may_do_what_it_was_granted_and_nothing_else() {
    let venue = with_topic(config());
    let ask = |key: &Key, method: &str, path: &str, body: Value| venue.ask(key, method, path, body);
    venue.create_market();
    let member = venue.member("trader");
    ask(&member, "GET", "/v1/queues/jobs", Value::Null).refuses(403, "forbidden");
    assert_eq!(ask(&member, "GET", "/v1/queues", Value::Null).expect(200), json!({"topics": []}));
    venue.get("/v1/queues").refuses(401, "credentials_missing");

    let producer = key(&venue, json!([{"topics": "job*", "rights": ["produce"]}]));
    let consumer = key(&venue, json!([{"topics": "jobs", "rights": ["consume"]}]));
    let admin = key(&venue, json!([{"topics": "own.*", "rights": ["admin"]}]));
    let messages = "/v1/queues/jobs/messages";
    let group = "/v1/queues/jobs/groups/all";
    let one = || json!([{"payload": "a"}]);
    let as_one = || json!({"consumer": "one"});
    ask(&producer, "POST", messages, one()).expect(201);
    ask(&consumer, "POST", messages, one()).refuses(403, "forbidden");
    ask(&producer, "GET", messages, Value::Null).refuses(403, "forbidden");
    ask(&consumer, "GET", messages, Value::Null).expect(200);
    ask(&producer, "POST", &format!("{group}/fetch"), as_one()).refuses(403, "forbidden");
    let answer = ask(&consumer, "POST", &format!("{group}/fetch"), as_one()).expect(200);
    assert_eq!(answer["messages"].as_array().unwrap().len(), 1);
    let lease = leases(answer["messages"].as_array().unwrap());
    for what in ["ack", "nack", "extend"] {
        let body = json!({"consumer": "one", "messages": lease});
        ask(&producer, "POST", &format!("{group}/{what}"), body).refuses(403, "forbidden");
    }
    for key in [&producer, &consumer] {
        ask(key, "DELETE", "/v1/queues/jobs", Value::Null).refuses(403, "forbidden");
        ask(key, "DELETE", group, Value::Null).refuses(403, "forbidden");
        ask(key, "POST", "/v1/queues", json!({"name": "jobs.eu"})).refuses(403, "forbidden");
        ask(key, "POST", "/v1/queues/jobs/groups", json!({"name": "x"})).refuses(403, "forbidden");
        ask(key, "GET", "/v1/queues/jobs", Value::Null).expect(200);
    }
    // The existence of a topic is not revealed without a right to it.
    ask(&consumer, "GET", "/v1/queues/none", Value::Null).refuses(403, "forbidden");
    let body = json!({"name": "own.things", "level": "memory"});
    ask(&admin, "POST", "/v1/queues", body).expect(201);
    let group = |dead: Value| {
        let body = json!({"name": "all", "dead_letter": dead});
        ask(&admin, "POST", "/v1/queues/own.things/groups", body)
    };
    group(json!({"topic": "jobs"})).refuses(403, "forbidden");
    group(json!("own")).expect(201);
    let answer = ask(&admin, "GET", "/v1/queues", Value::Null).expect(200);
    assert_eq!(answer, json!({"topics": ["own.things"]}));
    ask(&admin, "DELETE", "/v1/queues/own.things", Value::Null).expect(200);
    ask(&admin, "DELETE", "/v1/queues/jobs", Value::Null).refuses(403, "forbidden");
}

#[test]
fn grants_that_make_no_sense_are_refused() {
    let venue = TestVenue::empty(config());
    venue.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    for grants in [
        json!([]),
        json!([{"topics": "a b", "rights": ["consume"]}]),
        json!([{"topics": "a", "rights": []}]),
        json!([{"topics": "a", "rights": ["own"]}]),
        Value::Array(vec![json!({"topics": "a", "rights": ["consume"]}); 101]),
    ] {
        let body = json!({"member": 1, "queues": grants});
        venue.operate("POST", "/v1/admin/keys", body).refuses(400, "invalid_field");
    }
    let body = json!({"member": 1, "queues": [{"topics": "a b", "rights": ["consume"]}]});
    let refused = venue.operate("POST", "/v1/admin/keys", body).expect(400);
    assert_eq!(refused["error"]["field"], "queues[0].topics");
}

#[test]
fn pages_of_messages_and_dead_letters_are_bounded_with_headers() {
    let venue = with_topic(config());
    let header = "x".repeat(60_000);
    for _ in 0..3 {
        let message = json!({"payload": "", "headers": {"h": header, "dead-topic": "t"}});
        publish(&venue, Value::Array(vec![message; 20]));
    }
    // 2 MiB contain 34 of them; the one that exceeds the limit is included.
    for path in ["messages", "dead-letters"] {
        let path = format!("/v1/queues/jobs/{path}?max=100");
        let answer = venue.operate("GET", &path, Value::Null).expect(200);
        assert_eq!(answer["messages"].as_array().unwrap().len(), 35, "{path}");
    }
    let answer = in_group(&venue, "fetch", json!({"consumer": "one", "max": 100})).expect(200);
    assert_eq!(answer["messages"].as_array().unwrap().len(), 35, "fetched");
}

#[test]
fn a_group_begins_at_a_number_or_a_time() {
    let venue = with_topic(config());
    publish(&venue, json!([{"payload": "a"}, {"payload": "b"}, {"payload": "c"}]));
    for (start, count) in [
        (json!("oldest"), 3),
        (json!({"seq": "2"}), 2),
        (json!({"at": "1"}), 3),
        (json!({"at": u64::MAX.to_string()}), 0),
    ] {
        let body = json!({"name": "late", "start": start});
        venue.operate("POST", "/v1/queues/jobs/groups", body).expect(201);
        let path = "/v1/queues/jobs/groups/late";
        let body = json!({"consumer": "one"});
        let answer = venue.operate("POST", &format!("{path}/fetch"), body).expect(200);
        assert_eq!(answer["messages"].as_array().unwrap().len(), count, "{start}");
        venue.operate("DELETE", path, Value::Null).expect(200);
    }
}

#[test]
fn names_of_the_venue_cannot_be_taken() {
    let venue = with_topic(config());
    for name in ["venue", "venue.mine"] {
        venue.operate("POST", "/v1/queues", json!({"name": name})).refuses(400, "invalid_field");
    }
    venue.operate("POST", "/v1/queues", json!({"name": "venues"})).expect(201);
}

#[test]
fn messages_that_cannot_become_dead_letters_are_counted() {
    let venue = TestVenue::empty(config());
    venue.operate("POST", "/v1/queues", json!({"name": "jobs", "level": "memory"})).expect(201);
    let group = json!({"name": "all", "dead_letter": {"topic": "missing"}});
    venue.operate("POST", "/v1/queues/jobs/groups", group).expect(201);
    publish(&venue, json!([{"payload": "a"}]));
    let messages = leases(&fetch(&venue, "one"));
    let body = json!({"consumer": "one", "messages": messages, "refuse": true});
    in_group(&venue, "nack", body).expect(200);
    let answer = venue.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
    assert_eq!(answer["groups"][0]["dead_letters_pending"], "1", "{answer}");
    let page = venue.operate("GET", "/metrics", Value::Null).expect(200);
    let line = r#"rialto_queue_dead_letters_pending{topic="jobs",group="all"} 1"#;
    assert!(page.as_str().unwrap().contains(line), "{page}");
}
