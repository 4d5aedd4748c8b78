//! Limits of a key's use of queues: topics, groups and bytes of its grant, and consumers. Other
//! keys are not affected, and room is released.

use crate::test_venue::{Key, Reply, TestVenue, config, key_of, with};
use rialto_gateway::{GatewayConfig, QueueLimits};
use rialto_queue::Publish;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A key with all rights to these topics, within these limits of the grant.
fn key(venue: &TestVenue, topics: &str, bounds: Value) -> Key {
    let member = venue.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let grant = json!({"topics": topics, "rights": ["admin", "produce", "consume"]});
    let body = json!({"member": member["member"], "queues": [with(grant, bounds)]});
    key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201))
}

fn topic(name: &str) -> Value {
    json!({"name": name, "level": "memory"})
}

fn create(venue: &TestVenue, key: &Key, name: &str) -> Reply {
    venue.ask(key, "POST", "/v1/queues", topic(name))
}

fn group(venue: &TestVenue, key: &Key, topic: &str, name: &str) -> Reply {
    venue.ask(key, "POST", &format!("/v1/queues/{topic}/groups"), json!({"name": name}))
}

fn publish(venue: &TestVenue, key: &Key, topic: &str, payload: &str) -> Reply {
    let path = format!("/v1/queues/{topic}/messages");
    venue.ask(key, "POST", &path, json!([{"payload": payload}]))
}

/// Published by the operator, who has no limits.
fn put(venue: &TestVenue, topic: &str, payload: &str) {
    let path = format!("/v1/queues/{topic}/messages");
    venue.operate("POST", &path, json!([{"payload": payload}])).expect(201);
}

/// The bytes of a message with only this payload.
fn bytes_of(payload: &str) -> u64 {
    Publish::new(payload.as_bytes()).bytes() as u64
}

fn messages_in(venue: &TestVenue, topic: &str) -> Value {
    venue.operate("GET", &format!("/v1/queues/{topic}"), Value::Null).expect(200)["messages"]
        .clone()
}

/// Fetches and settles all messages of the group `all`.
fn settle_all(venue: &TestVenue, topic: &str, op: &str, fields: Value) {
    let group = format!("/v1/queues/{topic}/groups/all");
    let one = json!({"consumer": "one", "max": 100});
    let fetched = venue.operate("POST", &format!("{group}/fetch"), one).expect(200);
    let leases = fetched["messages"].as_array().unwrap().iter();
    let leases: Value = leases.map(|it| json!({"id": it["id"], "lease": it["lease"]})).collect();
    let body = with(json!({"consumer": "one", "messages": leases}), fields);
    venue.operate("POST", &format!("{group}/{op}"), body).expect(200);
}

/// Repeats until a request is answered with this status: the bytes of topics are summed once a
/// second.
#[track_caller]
fn until(status: u16, ask: impl Fn() -> Reply) -> Reply {
    let began = Instant::now();
    loop {
        let reply = ask();
        if reply.status == status {
            return reply;
        }
        assert!(began.elapsed() < LONG, "{}", reply.body);
    }
}

#[test]
fn a_key_creates_no_more_topics_than_its_grant_allows() {
    let venue = TestVenue::empty(config());
    let alice = key(&venue, "a.*", json!({"topics_max": 2}));
    let same = key(&venue, "a.*", json!({"topics_max": 2}));
    let bob = key(&venue, "b.*", json!({"topics_max": 2}));
    create(&venue, &alice, "a.1").expect(201);
    // Either thread may have created it, under one of these names.
    venue.operate("POST", "/v1/queues", topic("a.2")).expect(201);
    let refused = create(&venue, &alice, "a.3").refuses(503, "grant_topics");
    assert!(refused.body.to_string().contains("a.*"), "{}", refused.body);
    assert!(!refused.head.contains("retry-after"), "it helps only to delete one");
    create(&venue, &same, "a.3").refuses(503, "grant_topics");
    venue.operate("GET", "/v1/queues/a.3", Value::Null).refuses(404, "unknown_topic");
    create(&venue, &alice, "a.1").expect(201);
    create(&venue, &bob, "b.1").expect(201);
    create(&venue, &bob, "b.2").expect(201);
    create(&venue, &bob, "b.3").refuses(503, "grant_topics");

    venue.ask(&alice, "DELETE", "/v1/queues/a.1", Value::Null).expect(200);
    create(&venue, &alice, "a.3").expect(201);
    create(&venue, &alice, "a.1").refuses(503, "grant_topics");
    // Operators have no limits.
    venue.operate("POST", "/v1/queues", topic("a.4")).expect(201);
}

#[test]
fn a_grant_without_limits_has_those_of_the_settings() {
    let queue = QueueLimits {
        topic_bytes_max: 70_000,
        grant_topics_max: 1,
        grant_groups_max: 1,
        grant_bytes_max: 1_000,
    };
    let venue = TestVenue::empty(GatewayConfig { queue, ..config() });
    let alice = key(&venue, "a.*", json!({}));
    let answer = create(&venue, &alice, "a.1").expect(201);
    assert_eq!(answer["bytes_max"], "70000", "{answer}");
    create(&venue, &alice, "a.2").refuses(503, "grant_topics");
    group(&venue, &alice, "a.1", "one").expect(201);
    group(&venue, &alice, "a.1", "two").refuses(503, "grant_groups");
    publish(&venue, &alice, "a.1", &"x".repeat(1_000)).refuses(503, "grant_full");
    publish(&venue, &alice, "a.1", "x").expect(201);
    let carol = key(&venue, "c.*", json!({"topics_max": 2, "bytes_max": 10_000}));
    for name in ["c.1", "c.2"] {
        create(&venue, &carol, name).expect(201);
        publish(&venue, &carol, name, &"x".repeat(1_000)).expect(201);
    }
}

#[test]
fn a_key_creates_no_more_groups_than_its_grant_allows() {
    let venue = TestVenue::empty(config());
    let alice = key(&venue, "a.*", json!({"groups_max": 2}));
    let bob = key(&venue, "b.*", json!({"groups_max": 2}));
    for name in ["a.1", "a.2", "b.1"] {
        venue.operate("POST", "/v1/queues", topic(name)).expect(201);
    }
    group(&venue, &alice, "a.1", "one").expect(201);
    group(&venue, &alice, "a.2", "two").expect(201);
    let refused = group(&venue, &alice, "a.1", "three").refuses(503, "grant_groups");
    assert!(refused.body.to_string().contains("a.*"), "{}", refused.body);
    assert!(!refused.head.contains("retry-after"), "it helps only to delete one");
    group(&venue, &alice, "a.1", "one").expect(201);
    group(&venue, &bob, "b.1", "one").expect(201);
    venue.ask(&alice, "DELETE", "/v1/queues/a.2/groups/two", Value::Null).expect(200);
    group(&venue, &alice, "a.1", "three").expect(201);
    // Operators have no limits.
    venue.operate("POST", "/v1/queues/a.1/groups", json!({"name": "four"})).expect(201);
}

#[test]
fn dead_letters_that_are_sent_back_are_charged_to_the_grant() {
    let venue = TestVenue::empty(config());
    let text = "x".repeat(1_000);
    let room = json!({"bytes_max": 3 * bytes_of(&text)});
    let alice = key(&venue, "a*", room);
    venue.operate("POST", "/v1/queues", topic("a")).expect(201);
    group(&venue, &alice, "a", "all").expect(201);
    publish(&venue, &alice, "a", &text).expect(201);
    settle_all(&venue, "a", "nack", json!({"refuse": true}));
    let redrive = || venue.ask(&alice, "POST", "/v1/queues/a.dead/redrive", Value::Null);
    // While the message and its dead letter count, there is no room for another.
    let until_dead = || venue.operate("GET", "/v1/queues/a.dead", Value::Null);
    until(200, until_dead);
    until(503, || publish(&venue, &alice, "a", &text));
    redrive().refuses(503, "grant_full");
    // Operators have no limits.
    let answer = venue.operate("POST", "/v1/queues/a.dead/redrive", Value::Null).expect(200);
    assert_eq!(answer["sent"], "1", "{answer}");
}

#[test]
fn a_key_publishes_no_more_bytes_than_its_grant_allows() {
    let venue = TestVenue::empty(config());
    let (text, longer) = ("x".repeat(400), "x".repeat(401));
    let room = json!({"bytes_max": 3 * bytes_of(&text)});
    let alice = key(&venue, "a.*", room.clone());
    let same = key(&venue, "a.*", room.clone());
    let wider = key(&venue, "a.*", json!({"bytes_max": 100 * bytes_of(&text)}));
    let bob = key(&venue, "b.*", room);
    for (key, name) in [(&alice, "a.1"), (&alice, "a.2"), (&bob, "b.1")] {
        create(&venue, key, name).expect(201);
    }
    for name in ["a.1", "a.2"] {
        publish(&venue, &alice, name, &text).expect(201);
    }
    let refused = publish(&venue, &alice, "a.1", &longer).refuses(503, "grant_full");
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    assert!(refused.body.to_string().contains("a.*"), "{}", refused.body);
    assert_eq!(messages_in(&venue, "a.1"), "1", "nothing of it was published");
    publish(&venue, &same, "a.1", &text).expect(201);
    for key in [&alice, &same] {
        publish(&venue, key, "a.2", "x").refuses(503, "grant_full");
    }
    let publish_two = json!([
        {"topic": "b.1", "messages": [{"payload": "x"}]},
        {"topic": "a.2", "messages": [{"payload": "x"}]},
    ]);
    let both = json!([{"topics": "a.*", "rights": ["produce"], "bytes_max": 3 * bytes_of(&text)},
        {"topics": "b.*", "rights": ["produce"]}]);
    let both = venue.operate("POST", "/v1/admin/keys", json!({"member": 1, "queues": both}));
    let both = key_of(&both.expect(201));
    let body = json!({"publish": publish_two});
    let refused = venue.ask(&both, "POST", "/v1/queues/transactions", body);
    assert_eq!(refused.refuses(503, "grant_full").field(), "publish[1].topic");
    assert_eq!(messages_in(&venue, "b.1"), "0", "nothing of the transaction was done");

    publish(&venue, &wider, "a.1", &text).expect(201);
    put(&venue, "a.1", &text);
    publish(&venue, &bob, "b.1", &text).expect(201);
}

#[test]
fn purged_acknowledged_and_deleted_messages_free_their_bytes() {
    let venue = TestVenue::empty(config());
    let text = "x".repeat(400);
    let purge: fn(&TestVenue) = |venue| {
        venue.operate("DELETE", "/v1/queues/a.1/messages", Value::Null).expect(200);
    };
    let acknowledge: fn(&TestVenue) = |venue| settle_all(venue, "a.1", "ack", json!({}));
    let delete: fn(&TestVenue) = |venue| {
        venue.operate("DELETE", "/v1/queues/a.1", Value::Null).expect(200);
    };
    // Sums are kept per pattern, so that each way has its own pattern.
    let ways = [("a.*", purge), ("a*", acknowledge), ("*", delete)];
    for (pattern, drain) in ways {
        let alice = key(&venue, pattern, json!({"bytes_max": 2 * bytes_of(&text)}));
        for name in ["a.1", "a.2"] {
            let body = with(topic(name), json!({"kind": "work_queue"}));
            venue.operate("POST", "/v1/queues", body).expect(201);
        }
        venue.operate("POST", "/v1/queues/a.1/groups", json!({"name": "all"})).expect(201);
        put(&venue, "a.1", &text);
        put(&venue, "a.1", &text);
        publish(&venue, &alice, "a.2", "x").refuses(503, "grant_full");
        drain(&venue);
        until(201, || publish(&venue, &alice, "a.2", "x"));
        venue.operate("DELETE", "/v1/queues/a.2/messages", Value::Null).expect(200);
    }
}

#[test]
fn dead_letters_are_charged_to_the_grant_of_their_original_topic() {
    let venue = TestVenue::empty(config());
    let text = "x".repeat(10_000);
    venue
        .operate("POST", "/v1/queues", with(topic("a"), json!({"kind": "work_queue"})))
        .expect(201);
    let group = json!({"name": "all"});
    venue.operate("POST", "/v1/queues/a/groups", group).expect(201);
    put(&venue, "a", &text);
    settle_all(&venue, "a", "nack", json!({"refuse": true}));
    until(200, || venue.operate("GET", "/v1/queues/a.dead", Value::Null));
    let began = Instant::now();
    while messages_in(&venue, "a.dead") != "1" || messages_in(&venue, "a") != "0" {
        assert!(began.elapsed() < LONG);
    }
    let alice = key(&venue, "a", json!({"bytes_max": 10_000, "topics_max": 1}));
    publish(&venue, &alice, "a", "x").refuses(503, "grant_full");
    venue.ask(&alice, "DELETE", "/v1/queues/a", Value::Null).expect(200);
    create(&venue, &alice, "a").refuses(503, "grant_topics");
    venue.operate("DELETE", "/v1/queues/a.dead", Value::Null).expect(200);
    create(&venue, &alice, "a").expect(201);
    until(201, || publish(&venue, &alice, "a", "x"));
}

#[test]
fn a_key_has_few_consumers() {
    const OWN_MAX: usize = 256;
    let venue = TestVenue::empty(config());
    let (alice, bob) = (key(&venue, "jobs", json!({})), key(&venue, "jobs", json!({})));
    create(&venue, &alice, "jobs").expect(201);
    venue.ask(&alice, "POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    let group = "/v1/queues/jobs/groups/all";
    let fetch = |key: &Key, nth: usize| {
        let body = json!({"consumer": format!("c{nth}")});
        venue.ask(key, "POST", &format!("{group}/fetch"), body)
    };
    for nth in 0..OWN_MAX {
        fetch(&alice, nth).expect(200);
    }
    let refused = fetch(&alice, OWN_MAX).refuses(503, "too_many_consumers");
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    fetch(&alice, 0).expect(200);
    fetch(&bob, OWN_MAX).expect(200);
    venue.ask(&alice, "DELETE", &format!("{group}/consumers/c7"), Value::Null).expect(200);
    fetch(&alice, OWN_MAX).expect(200);
}
