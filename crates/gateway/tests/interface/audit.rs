//! The audit trail: who operated the venue, and why.

use crate::test_venue::{Key, TestVenue, config, key_of, limit, signed};
use rialto_gateway::GatewayConfig;
use serde_json::{Value, json};

/// An operator with a key of its own.
fn operator(venue: &TestVenue) -> Key {
    let body = json!({"member": 1, "scopes": ["admin"], "label": "night shift"});
    key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201))
}

fn trail(venue: &TestVenue, query: &str) -> Value {
    venue.operate("GET", &format!("/v1/admin/audit{query}"), Value::Null).expect(200)
}

/// The last entry of the trail.
fn last(venue: &TestVenue) -> Value {
    let answer = trail(venue, "?limit=1000");
    answer["entries"].as_array().unwrap().last().unwrap().clone()
}

#[test]
fn the_trail_names_the_key_the_reason_and_the_outcome() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let operator = operator(&venue);
    let halt = json!({"instrument": "BTC-USD"});
    let path = "/v1/admin/halt?reason=ticket%2031:%20f%C3%BCr%20alle%20F%C3%A4lle";
    let halted = venue.ask(&operator, "POST", path, halt.clone()).expect(200);
    let entry = last(&venue);
    assert_eq!((&entry["seq"], &entry["time"]), (&halted["seq"], &halted["time"]));
    assert_eq!(entry["by"], operator.id.as_str());
    assert_eq!(entry["reason"], "ticket 31: für alle Fälle");
    assert_eq!(
        (&entry["command"], &entry["outcome"]),
        (&json!("set_instrument_state"), &json!("done"))
    );
    assert_eq!((&entry["instrument"], &entry["state"]), (&json!("BTC-USD"), &json!("halted")));

    // Without a reason, and with the admin key, which has a name of its own.
    venue.operate("POST", "/v1/admin/resume", halt).expect(200);
    let entry = last(&venue);
    assert_eq!((&entry["by"], entry.get("reason")), (&json!("admin"), None));

    // A refused attempt is in the trail.
    let body = json!({"account": 1, "currency": "USD", "amount": "1000000000", "reference": "out"});
    let path = "/v1/admin/withdrawals?reason=wrong%20account";
    let refused = venue.ask(&operator, "POST", path, body).refuses(422, "insufficient_balance");
    let entry = last(&venue);
    assert_eq!(entry["seq"], refused.body["error"]["seq"]);
    assert_eq!(
        (&entry["outcome"], &entry["code"]),
        (&json!("refused"), &json!("insufficient_balance"))
    );
    assert_eq!((&entry["account"], &entry["reason"]), (&json!(1), &json!("wrong account")));

    let body = json!({"account": 1, "currency": "USD", "amount": "5", "reference": "wire-1"});
    for outcome in ["done", "repeated"] {
        let reply = venue.ask(&operator, "POST", "/v1/admin/deposits", body.clone());
        assert!(reply.status < 300, "{}", reply.body);
        let entry = last(&venue);
        assert_eq!((&entry["command"], &entry["outcome"]), (&json!("deposit"), &json!(outcome)));
        assert_eq!((&entry["account"], &entry["reference"]), (&json!(1), &json!("wire-1")));
    }

    // Commands of members are not.
    let before = last(&venue);
    venue.place(&alice, limit("buy", "1", "100")).expect(201);
    assert_eq!(last(&venue), before);
}

#[test]
fn a_caller_cannot_choose_its_name() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let operator = operator(&venue);
    let halt = json!({"instrument": "BTC-USD"});
    let refused = venue.ask(&operator, "POST", "/v1/admin/halt?by=admin", halt.clone());
    assert_eq!(refused.refuses(400, "unknown_parameter").field(), "by");
    let body = crate::test_venue::with(halt.clone(), json!({"by": "admin"}));
    let refused = venue.ask(&operator, "POST", "/v1/admin/halt", body);
    assert_eq!(refused.refuses(400, "unknown_field").field(), "by");

    // The reason is signed with the path: another one does not fit the signature.
    let body = halt.to_string();
    let headers = signed(&operator, "POST", "/v1/admin/halt?reason=mine", body.as_bytes());
    let mut client = venue.client();
    let path = "/v1/admin/halt?reason=theirs";
    client.send("POST", path, &headers, body.as_bytes()).refuses(401, "credentials_invalid");

    venue.ask(&alice, "POST", "/v1/admin/halt", halt).refuses(403, "forbidden");
    venue.ask(&alice, "GET", "/v1/admin/audit", Value::Null).refuses(403, "forbidden");
    let entries = trail(&venue, "")["entries"].as_array().unwrap().clone();
    assert!(entries.iter().all(|entry| entry["command"] != "set_instrument_state"), "{entries:?}");
}

#[test]
fn a_reason_is_bounded_and_printable_and_nothing_changes_otherwise() {
    let (venue, ..) = TestVenue::with_market(config());
    let before = trail(&venue, "")["next_seq"].clone();
    let halt = |reason: &str| {
        let path = format!("/v1/admin/halt?reason={reason}");
        venue.operate("POST", &path, json!({"instrument": "BTC-USD"}))
    };
    for reason in [&*"x".repeat(101), &"%C3%A4".repeat(51), "a%0Ab", "%1B[2J", "%E2%80%AE", "%FF"] {
        assert_eq!(halt(reason).refuses(400, "invalid_field").field(), "reason");
    }
    assert_eq!(trail(&venue, "")["next_seq"], before);
    halt(&"x".repeat(100)).expect(200);
    assert_eq!(last(&venue)["reason"], "x".repeat(100));
    // What is not in the trail takes no reason.
    let refused = venue.operate("POST", "/v1/admin/snapshot?reason=x", Value::Null);
    assert_eq!(refused.refuses(400, "unknown_parameter").field(), "reason");
    let refused = venue.operate("POST", "/v1/admin/backup?reason=x", json!({"name": "x"}));
    assert_eq!(refused.refuses(400, "unknown_parameter").field(), "reason");
}

#[test]
fn the_trail_is_read_in_pages() {
    let config = GatewayConfig { page_max: 5, ..config() };
    let (venue, alice, _) = TestVenue::with_market(config);
    for _ in 0..20 {
        venue.place(&alice, limit("buy", "1", "100")).expect(201);
    }
    let body = json!({"instrument": "BTC-USD"});
    let halted = venue.operate("POST", "/v1/admin/halt", body).expect(200);
    let mut seqs: Vec<u64> = Vec::new();
    let mut query = "?limit=5".to_owned();
    loop {
        let page = trail(&venue, &query);
        let entries = page["entries"].as_array().unwrap();
        assert!(entries.len() <= 5);
        seqs.extend(entries.iter().map(|it| it["seq"].as_str().unwrap().parse::<u64>().unwrap()));
        if page["more"] == false {
            break;
        }
        query = format!("?limit=5&from_seq={}", page["next_seq"].as_str().unwrap());
    }
    assert!(seqs.len() > 5 && seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
    assert_eq!(seqs.last().unwrap().to_string(), halted["seq"].as_str().unwrap());

    let audit = |query: &str| venue.operate("GET", &format!("/v1/admin/audit{query}"), Value::Null);
    assert_eq!(audit("?limit=6").refuses(400, "invalid_field").field(), "limit");
    assert_eq!(audit("?limit=0").refuses(400, "invalid_field").field(), "limit");
    assert_eq!(audit("?from_seq=x").refuses(400, "invalid_field").field(), "from_seq");
    audit("?to_seq=1").refuses(400, "unknown_parameter");
    // Beyond the end there is nothing yet.
    let page = trail(&venue, "?from_seq=1000000");
    assert_eq!((&page["entries"], &page["more"]), (&json!([]), &json!(false)));
    assert_eq!(page["next_seq"], "1000000");
}

#[test]
fn decisions_about_withdrawals_name_the_operator() {
    let (venue, _, bob) = TestVenue::with_market(config());
    let operator = operator(&venue);
    for (number, decision, body, command) in [
        (1, "approve", json!({"receipt": "tx-1"}), "settle_withdrawal"),
        (2, "reject", json!({"reason": "shown to the owner"}), "release_withdrawal"),
    ] {
        let reference = format!("rent-{number}");
        let out = json!({"currency": "USD", "amount": "0.01", "reference": reference});
        let asked = venue.ask(&bob, "POST", "/v1/withdrawals", out).expect(201);
        let id = asked["withdrawal"]["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/admin/withdrawals/{id}/{decision}?reason=four%20eyes");
        let decided = venue.ask(&operator, "POST", &path, body).expect(200);
        let entry = last(&venue);
        assert_eq!(
            (&entry["command"], &entry["seq"]),
            (&json!(command), &decided["withdrawal"]["seq"])
        );
        assert_eq!((&entry["by"], &entry["reason"]), (&json!(operator.id), &json!("four eyes")));
        assert_eq!(entry["reference"], reference);
    }
    // The owner cancels without an operator.
    let before = last(&venue);
    let out = json!({"currency": "USD", "amount": "0.01", "reference": "rent-3"});
    let asked = venue.ask(&bob, "POST", "/v1/withdrawals", out).expect(201);
    let path = format!("/v1/withdrawals/{}", asked["withdrawal"]["id"].as_str().unwrap());
    venue.ask(&bob, "DELETE", &path, Value::Null).expect(200);
    assert_eq!(last(&venue), before);
}
