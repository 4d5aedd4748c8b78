//! Transactions over HTTP: all or nothing, once, and who may.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod house;

use house::{House, Key, Reply, config, key_of};
use serde_json::{Value, json};

const PATH: &str = "/v1/queues/transactions";

/// A venue with the topics `in`, of which a worker has one message, `out` and `log`.
fn furnished() -> (House, Value) {
    let house = House::empty(config());
    for topic in ["in", "out", "log"] {
        let body = json!({"name": topic, "level": "memory"});
        house.operate("POST", "/v1/queues", body).expect(201);
        let body = json!({"name": "workers"});
        house.operate("POST", &format!("/v1/queues/{topic}/groups"), body).expect(201);
    }
    let message = json!([{"payload": "order"}]);
    house.operate("POST", "/v1/queues/in/messages", message).expect(201);
    let taken = fetch(&house, "in", "one").remove(0);
    (house, taken)
}

fn fetch(house: &House, topic: &str, consumer: &str) -> Vec<Value> {
    let path = format!("/v1/queues/{topic}/groups/workers/fetch");
    let told = house.operate("POST", &path, json!({"consumer": consumer})).expect(200);
    told["messages"].as_array().unwrap().clone()
}

fn payloads(house: &House, topic: &str) -> Vec<String> {
    let path = format!("/v1/queues/{topic}/messages");
    let page = house.operate("GET", &path, Value::Null).expect(200);
    let messages = page["messages"].as_array().unwrap();
    messages.iter().map(|message| message["payload"].as_str().unwrap().to_owned()).collect()
}

/// That a consumer has worked on a message of `in`.
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

fn commit(house: &House, body: &Value) -> Reply {
    house.operate("POST", PATH, body.clone())
}

/// A key with these rights to these topics and nothing else.
fn key(house: &House, grants: Value) -> Key {
    let member = house.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let body = json!({"member": member["member"], "queues": grants});
    key_of(&house.operate("POST", "/v1/admin/keys", body).expect(201))
}

#[test]
fn a_transaction_publishes_on_all_topics_and_is_done_with_what_it_was_made_of() {
    let (house, taken) = furnished();
    let body = json!({"publish": publish("done"), "ack": ack("one", &taken)});
    assert_eq!(commit(&house, &body).expect(200), json!({"duplicate": false}));
    assert_eq!(payloads(&house, "out"), ["done"]);
    assert_eq!(payloads(&house, "log"), ["done", "and more"]);
    let topic = house.operate("GET", "/v1/queues/in", Value::Null).expect(200);
    assert_eq!(
        (&topic["groups"][0]["lag"], &topic["groups"][0]["acked"]),
        (&json!("0"), &json!("1"))
    );
    // What was sent again without a number is not done a second time either: its message is gone.
    let refused = commit(&house, &body).refuses(409, "lease_lost");
    assert_eq!(refused.field(), "ack[0].messages[0]");
    assert_eq!(payloads(&house, "out"), ["done"]);
}

#[test]
fn a_numbered_transaction_may_be_sent_again() {
    let (house, taken) = furnished();
    let body = json!({
        "producer": "one", "number": "7", "publish": publish("done"), "ack": ack("one", &taken),
    });
    assert_eq!(commit(&house, &body).expect(200), json!({"duplicate": false}));
    assert_eq!(commit(&house, &body).expect(200), json!({"duplicate": true}));
    assert_eq!(payloads(&house, "out"), ["done"]);
    // A producer's name is its key's own.
    let grants = json!([{"topics": "*", "rights": ["produce"]}]);
    let body = json!({"producer": "one", "number": "7", "publish": publish("other")});
    let key = key(&house, grants);
    assert_eq!(
        house.ask(&key, "POST", PATH, body.clone()).expect(200),
        json!({"duplicate": false})
    );
    assert_eq!(house.ask(&key, "POST", PATH, body).expect(200), json!({"duplicate": true}));
    assert_eq!(payloads(&house, "out"), ["done", "other"]);
}

#[test]
fn a_numbered_transaction_is_known_though_its_topics_and_groups_are_gone() {
    let (house, taken) = furnished();
    let long = "x".repeat(300);
    let body = json!({
        "producer": "one", "number": "7", "publish": publish(&long), "ack": ack("one", &taken),
    });
    assert_eq!(commit(&house, &body).expect(200), json!({"duplicate": false}));
    for gone in ["in/groups/workers", "log"] {
        house.operate("DELETE", &format!("/v1/queues/{gone}"), Value::Null).expect(200);
        assert_eq!(commit(&house, &body).expect(200), json!({"duplicate": true}));
    }
    let topic = json!({"name": "log", "level": "memory", "message_bytes_max": 256});
    house.operate("POST", "/v1/queues", topic).expect(201);
    assert_eq!(commit(&house, &body).expect(200), json!({"duplicate": true}));
    assert_eq!(payloads(&house, "out"), [long]);
    let next = json!({"producer": "one", "number": "8", "ack": ack("one", &taken)});
    commit(&house, &next).refuses(404, "unknown_group");
}

#[test]
fn a_transaction_over_what_others_have_is_refused_and_does_nothing() {
    let (house, taken) = furnished();
    assert_eq!(fetch(&house, "in", "two"), [] as [Value; 0]);
    let foreign = json!({"publish": publish("stolen"), "ack": ack("two", &taken)});
    let refused = commit(&house, &foreign).refuses(409, "lease_lost");
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("Nothing was done."));

    house.operate("DELETE", "/v1/queues/in/groups/workers/consumers/one", Value::Null).expect(200);
    let again = fetch(&house, "in", "two").remove(0);
    let late = json!({"publish": publish("late"), "ack": ack("one", &taken)});
    commit(&house, &late).refuses(409, "lease_lost");
    let twice = json!([ack("two", &again)[0], ack("two", &again)[0]]);
    let refused = commit(&house, &json!({"ack": twice})).refuses(409, "lease_lost");
    assert_eq!(refused.field(), "ack");
    assert_eq!(payloads(&house, "out"), [] as [&str; 0]);
    // Whatever was refused, the message is still its consumer's.
    let good = json!({"publish": publish("good"), "ack": ack("two", &again)});
    commit(&house, &good).expect(200);
    assert_eq!(payloads(&house, "out"), ["good"]);
}

#[test]
fn a_key_commits_only_what_it_may_do_with_every_topic() {
    let (house, _) = furnished();
    let key = key(
        &house,
        json!([
            {"topics": "in", "rights": ["consume"]},
            {"topics": "out", "rights": ["produce"]},
        ]),
    );
    let fetched =
        house.ask(&key, "POST", "/v1/queues/in/groups/workers/fetch", json!({"consumer": "a"}));
    assert_eq!(fetched.expect(200)["messages"], json!([]));
    house.operate("DELETE", "/v1/queues/in/groups/workers/consumers/one", Value::Null).expect(200);
    let fetched =
        house.ask(&key, "POST", "/v1/queues/in/groups/workers/fetch", json!({"consumer": "a"}));
    let taken = fetched.expect(200)["messages"][0].clone();

    let both = json!({"publish": publish("done"), "ack": ack("a", &taken)});
    let refused = house.ask(&key, "POST", PATH, both).refuses(403, "forbidden");
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("log"), "{refused:?}");
    let mut elsewhere = ack("a", &taken);
    elsewhere[0]["topic"] = json!("out");
    house.ask(&key, "POST", PATH, json!({"ack": elsewhere})).refuses(403, "forbidden");
    assert_eq!(payloads(&house, "out"), [] as [&str; 0]);
    let own = json!({"publish": [publish("done")[0]], "ack": ack("a", &taken)});
    house.ask(&key, "POST", PATH, own).expect(200);
    assert_eq!(payloads(&house, "out"), ["done"]);
    house.client().send("POST", PATH, &[], b"{}").refuses(401, "credentials_missing");
}

#[test]
fn a_transaction_that_makes_no_sense_is_refused_with_what_is_at_fault() {
    let (house, taken) = furnished();
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
        let refused = commit(&house, &body).refuses(status, code);
        assert_eq!(refused.field(), field, "{}", refused.body);
    }
    assert_eq!(payloads(&house, "out"), [] as [&str; 0]);
    commit(&house, &json!({"ack": ack("one", &taken)})).expect(200);
}

#[test]
fn a_topic_may_be_called_transactions() {
    let house = House::empty(config());
    let body = json!({"name": "transactions", "level": "memory"});
    house.operate("POST", "/v1/queues", body).expect(201);
    let topic = house.operate("GET", PATH, Value::Null).expect(200);
    assert_eq!(topic["name"], "transactions");
    let message = json!({"publish": [{"topic": "transactions", "messages": [{"payload": "x"}]}]});
    commit(&house, &message).expect(200);
    assert_eq!(payloads(&house, "transactions"), ["x"]);
    house.operate("DELETE", PATH, Value::Null).expect(200);
    house.operate("GET", PATH, Value::Null).refuses(404, "unknown_topic");
}
