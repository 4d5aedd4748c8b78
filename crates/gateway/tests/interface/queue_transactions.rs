//! Transactions over HTTP: atomicity, idempotence, rights.

use crate::test_venue::{Key, Reply, TestVenue, config, key_of};
use serde_json::{Value, json};

const PATH: &str = "/v1/queues/transactions";

/// A venue with the topics `in`, `out` and `log`. A worker holds a message of `in`.
fn with_topics() -> (TestVenue, Value) {
    let venue = TestVenue::empty(config());
    for topic in ["in", "out", "log"] {
        let body = json!({"name": topic, "level": "memory"});
        venue.operate("POST", "/v1/queues", body).expect(201);
        let body = json!({"name": "workers"});
        venue.operate("POST", &format!("/v1/queues/{topic}/groups"), body).expect(201);
    }
    let message = json!([{"payload": "order"}]);
    venue.operate("POST", "/v1/queues/in/messages", message).expect(201);
    let taken = fetch(&venue, "in", "one").remove(0);
    (venue, taken)
}

fn fetch(venue: &TestVenue, topic: &str, consumer: &str) -> Vec<Value> {
    let path = format!("/v1/queues/{topic}/groups/workers/fetch");
    let answer = venue.operate("POST", &path, json!({"consumer": consumer})).expect(200);
    answer["messages"].as_array().unwrap().clone()
}

fn payloads(venue: &TestVenue, topic: &str) -> Vec<String> {
    let path = format!("/v1/queues/{topic}/messages");
    let page = venue.operate("GET", &path, Value::Null).expect(200);
    let messages = page["messages"].as_array().unwrap();
    messages.iter().map(|message| message["payload"].as_str().unwrap().to_owned()).collect()
}

/// The acknowledgement of a message of `in`.
fn ack(consumer: &str, message: &Value) -> Value {
    json!([{
        "topic": "in", "group": "workers", "consumer": consumer,
        "messages": [{"id": message["id"], "lease": message["lease"]}],
    }])
}

fn publish(payload: &str) -> Value {
    json!([
        {"topic": "out", "messages": [{"payload": payload, "headers": {"n": "1"}}]},
        {"topic": "log", "messages": [{"payload": payload}, {"payload": "and more"}]},
    ])
}

fn commit(venue: &TestVenue, body: &Value) -> Reply {
    venue.operate("POST", PATH, body.clone())
}

/// A key with only these rights to these topics.
fn key(venue: &TestVenue, grants: Value) -> Key {
    let member = venue.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let body = json!({"member": member["member"], "queues": grants});
    key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201))
}

#[test]
fn a_transaction_publishes_on_all_topics_and_is_done_with_what_it_was_made_of() {
    let (venue, taken) = with_topics();
    let body = json!({"publish": publish("done"), "ack": ack("one", &taken)});
    assert_eq!(commit(&venue, &body).expect(200), json!({"duplicate": false}));
    assert_eq!(payloads(&venue, "out"), ["done"]);
    assert_eq!(payloads(&venue, "log"), ["done", "and more"]);
    let topic = venue.operate("GET", "/v1/queues/in", Value::Null).expect(200);
    assert_eq!(
        (&topic["groups"][0]["lag"], &topic["groups"][0]["acked"]),
        (&json!("0"), &json!("1"))
    );
    // Without a producer's number, a repetition fails too: its message is acknowledged.
    let refused = commit(&venue, &body).refuses(409, "lease_lost");
    assert_eq!(refused.field(), "ack[0].messages[0]");
    assert_eq!(payloads(&venue, "out"), ["done"]);
}

#[test]
fn a_numbered_transaction_may_be_sent_again() {
    let (venue, taken) = with_topics();
    let body = json!({
        "producer": "one", "number": "7", "publish": publish("done"), "ack": ack("one", &taken),
    });
    assert_eq!(commit(&venue, &body).expect(200), json!({"duplicate": false}));
    assert_eq!(commit(&venue, &body).expect(200), json!({"duplicate": true}));
    assert_eq!(payloads(&venue, "out"), ["done"]);
    // Producers' names are separate for each key.
    let grants = json!([{"topics": "*", "rights": ["produce"]}]);
    let body = json!({"producer": "one", "number": "7", "publish": publish("other")});
    let key = key(&venue, grants);
    assert_eq!(
        venue.ask(&key, "POST", PATH, body.clone()).expect(200),
        json!({"duplicate": false})
    );
    assert_eq!(venue.ask(&key, "POST", PATH, body).expect(200), json!({"duplicate": true}));
    assert_eq!(payloads(&venue, "out"), ["done", "other"]);
}

#[test]
fn a_numbered_transaction_is_known_though_its_topics_and_groups_are_gone() {
    let (venue, taken) = with_topics();
    let long = "x".repeat(300);
    let body = json!({
        "producer": "one", "number": "7", "publish": publish(&long), "ack": ack("one", &taken),
    });
    assert_eq!(commit(&venue, &body).expect(200), json!({"duplicate": false}));
    for gone in ["in/groups/workers", "log"] {
        venue.operate("DELETE", &format!("/v1/queues/{gone}"), Value::Null).expect(200);
        assert_eq!(commit(&venue, &body).expect(200), json!({"duplicate": true}));
    }
    let topic = json!({"name": "log", "level": "memory", "message_bytes_max": 256});
    venue.operate("POST", "/v1/queues", topic).expect(201);
    assert_eq!(commit(&venue, &body).expect(200), json!({"duplicate": true}));
    assert_eq!(payloads(&venue, "out"), [long]);
    let next = json!({"producer": "one", "number": "8", "ack": ack("one", &taken)});
    commit(&venue, &next).refuses(404, "unknown_group");
}

#[test]
fn a_transaction_over_what_others_have_is_refused_and_does_nothing() {
    let (venue, taken) = with_topics();
    assert_eq!(fetch(&venue, "in", "two"), [] as [Value; 0]);
    let foreign = json!({"publish": publish("stolen"), "ack": ack("two", &taken)});
    let refused = commit(&venue, &foreign).refuses(409, "lease_lost");
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("Nothing was done."));

    venue.operate("DELETE", "/v1/queues/in/groups/workers/consumers/one", Value::Null).expect(200);
    let again = fetch(&venue, "in", "two").remove(0);
    let late = json!({"publish": publish("late"), "ack": ack("one", &taken)});
    commit(&venue, &late).refuses(409, "lease_lost");
    let twice = json!([ack("two", &again)[0], ack("two", &again)[0]]);
    let refused = commit(&venue, &json!({"ack": twice})).refuses(409, "lease_lost");
    assert_eq!(refused.field(), "ack");
    assert_eq!(payloads(&venue, "out"), [] as [&str; 0]);
    // After all refusals, the consumer still has the message.
    let good = json!({"publish": publish("good"), "ack": ack("two", &again)});
    commit(&venue, &good).expect(200);
    assert_eq!(payloads(&venue, "out"), ["good"]);
}

#[test]
fn a_key_commits_only_what_it_may_do_with_every_topic() {
    let (venue, _) = with_topics();
    let key = key(
        &venue,
        json!([
            {"topics": "in", "rights": ["consume"]},
            {"topics": "out", "rights": ["produce"]},
        ]),
    );
    let fetched =
        venue.ask(&key, "POST", "/v1/queues/in/groups/workers/fetch", json!({"consumer": "a"}));
    assert_eq!(fetched.expect(200)["messages"], json!([]));
    venue.operate("DELETE", "/v1/queues/in/groups/workers/consumers/one", Value::Null).expect(200);
    let fetched =
        venue.ask(&key, "POST", "/v1/queues/in/groups/workers/fetch", json!({"consumer": "a"}));
    let taken = fetched.expect(200)["messages"][0].clone();

    let both = json!({"publish": publish("done"), "ack": ack("a", &taken)});
    let refused = venue.ask(&key, "POST", PATH, both).refuses(403, "forbidden");
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("log"), "{refused:?}");
    let mut elsewhere = ack("a", &taken);
    elsewhere[0]["topic"] = json!("out");
    venue.ask(&key, "POST", PATH, json!({"ack": elsewhere})).refuses(403, "forbidden");
    assert_eq!(payloads(&venue, "out"), [] as [&str; 0]);
    let own = json!({"publish": [publish("done")[0]], "ack": ack("a", &taken)});
    venue.ask(&key, "POST", PATH, own).expect(200);
    assert_eq!(payloads(&venue, "out"), ["done"]);
    venue.client().send("POST", PATH, &[], b"{}").refuses(401, "credentials_missing");
}

#[test]
fn a_transaction_that_makes_no_sense_is_refused_with_what_is_at_fault() {
    let (venue, taken) = with_topics();
    let one = |topic: &str, message: Value| json!([{"topic": topic, "messages": [message]}]);
    let fine = json!({"payload": "x"});
    let many = |count: usize| vec![fine.clone(); count];
    let large = |count: usize| vec![json!({"payload": "x".repeat(300_000)}); count];
    let mut unleased = ack("one", &taken);
    unleased[0]["messages"][0]["lease"] = json!("mine");
    let mut unseen = ack("one", &taken);
    unseen[0]["messages"][0]["id"] = json!("first");
    let mut no_group = ack("one", &taken);
    no_group[0]["group"] = json!("strangers");
    let many_acks = json!([{
        "topic": "in", "group": "workers", "consumer": "one",
        "messages": vec![json!({"id": taken["id"], "lease": taken["lease"]}); 1_001],
    }]);
    let two_halves = json!([
        {"topic": "out", "messages": many(600)}, {"topic": "log", "messages": many(600)},
    ]);
    let too_large = json!([{"topic": "out", "messages": large(4)}]);
    for (body, status, code, field) in [
        (json!({}), 400, "invalid_field", "body"),
        (json!([]), 400, "invalid_field", "body"),
        (json!({"publish": [], "ack": []}), 400, "invalid_field", "body"),
        (json!({"publish": [{"topic": "out", "messages": []}]}), 400, "invalid_field", "publish"),
        (json!({"publish": [{"topic": "out"}]}), 400, "missing_field", "publish[0].messages"),
        (
            json!({"publish": [{"topic": "out", "messages": many(1_001)}]}),
            400,
            "invalid_field",
            "publish[0].messages",
        ),
        (json!({"publish": two_halves}), 400, "invalid_field", "publish"),
        (json!({"publish": too_large}), 400, "transaction_too_large", "body"),
        (
            json!({"publish": one("nowhere", fine.clone())}),
            404,
            "unknown_topic",
            "publish[0].topic",
        ),
        (
            json!({"publish": one("no name", fine.clone())}),
            400,
            "invalid_field",
            "publish[0].topic",
        ),
        (
            json!({"publish": one("out", json!({}))}),
            400,
            "missing_field",
            "publish[0].messages[0].payload",
        ),
        (
            json!({"publish": one("out", json!({"payload": "x", "priority": 9}))}),
            400,
            "invalid_message",
            "publish[0].messages[0]",
        ),
        (
            json!({"publish": one("out", fine.clone()), "producer": "a"}),
            400,
            "missing_field",
            "number",
        ),
        (
            json!({"publish": one("out", fine.clone()), "number": "1"}),
            400,
            "missing_field",
            "producer",
        ),
        (
            json!({"publish": one("out", fine.clone()), "producer": "a", "number": "-1"}),
            400,
            "invalid_field",
            "number",
        ),
        (
            json!({"publish": one("out", fine.clone()), "producer": "a", "number": 1}),
            400,
            "invalid_field",
            "number",
        ),
        (
            json!({"publish": one("out", fine.clone()), "producer": "a/b", "number": "1"}),
            400,
            "invalid_field",
            "producer",
        ),
        (
            json!({"publish": one("out", fine.clone()), "confirm": "synced"}),
            400,
            "unknown_field",
            "confirm",
        ),
        (
            json!({"publish": one("out", fine.clone()), "ack": unleased}),
            400,
            "invalid_field",
            "ack[0].messages[0].lease",
        ),
        (
            json!({"publish": one("out", fine.clone()), "ack": unseen}),
            400,
            "invalid_field",
            "ack[0].messages[0].id",
        ),
        (
            json!({"publish": one("out", fine.clone()), "ack": no_group}),
            404,
            "unknown_group",
            "ack[0].group",
        ),
        (
            json!({"publish": one("out", fine.clone()), "ack": many_acks}),
            400,
            "invalid_field",
            "ack[0].messages",
        ),
    ] {
        let refused = commit(&venue, &body).refuses(status, code);
        assert_eq!(refused.field(), field, "{}", refused.body);
    }
    assert_eq!(payloads(&venue, "out"), [] as [&str; 0]);
    commit(&venue, &json!({"ack": ack("one", &taken)})).expect(200);
}

#[test]
fn a_topic_may_be_called_transactions() {
    let venue = TestVenue::empty(config());
    let body = json!({"name": "transactions", "level": "memory"});
    venue.operate("POST", "/v1/queues", body).expect(201);
    let topic = venue.operate("GET", PATH, Value::Null).expect(200);
    assert_eq!(topic["name"], "transactions");
    let message = json!({"publish": [{"topic": "transactions", "messages": [{"payload": "x"}]}]});
    commit(&venue, &message).expect(200);
    assert_eq!(payloads(&venue, "transactions"), ["x"]);
    venue.operate("DELETE", PATH, Value::Null).expect(200);
    venue.operate("GET", PATH, Value::Null).refuses(404, "unknown_topic");
}
