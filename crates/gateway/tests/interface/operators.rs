//! Requests of operators: members, accounts, currencies, instruments, transfers, keys, backups.

use crate::test_venue::{TestVenue, config, key_of, limit};
use rialto_desk::VenueParts;
use rialto_disk::RealDisk;
use rialto_engine::{Clock, Engine, EngineConfig, ManualClock, SystemClock};
use rialto_gateway::Gateway;
use rialto_model::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn numbers_are_given_or_chosen_and_never_twice() {
    let venue = TestVenue::empty(config());
    let member = |body| venue.operate("POST", "/v1/admin/members", body);
    assert_eq!(member(json!({"name": "a"})).expect(201)["member"], 1);
    assert_eq!(member(json!({"member": 7, "name": "b"})).expect(201)["member"], 7);
    let taken = member(json!({"member": 7, "name": "c"})).refuses(409, "already_exists");
    assert_eq!(taken.field(), "member");
    member(json!({"member": 7})).refuses(400, "missing_field");
    member(json!({"name": "a b"})).refuses(400, "invalid_field");
    member(json!({"name": "x".repeat(37)})).refuses(400, "invalid_field");
    let account = |body| venue.operate("POST", "/v1/admin/accounts", body);
    assert_eq!(account(json!({"member": 7, "name": "d"})).expect(201)["account"], 1);
    account(json!({"member": 8, "name": "d"})).refuses(404, "unknown_member");
    let taken = account(json!({"member": 7, "account": 1, "name": "e"}));
    assert_eq!(taken.refuses(409, "already_exists").field(), "account");
    let currency = |body| venue.operate("POST", "/v1/admin/currencies", body);
    currency(json!({"code": "USD", "scale": 6})).expect(201);
    let taken = currency(json!({"code": "USD", "scale": 6})).refuses(409, "already_exists");
    assert_eq!(taken.field(), "code");
    currency(json!({"code": "EUR", "scale": 19})).refuses(400, "invalid_field");
    currency(json!({"code": "EUR", "scale": "6"})).refuses(400, "invalid_field");
}

#[test]
fn an_instrument_is_listed_and_its_rules_change_one_by_one() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let path = "/v1/admin/instruments/BTC-USD";
    let patch = |body| venue.operate("PATCH", path, body);
    let seq = patch(json!({"taker_fee_ppm": 500, "tick": "0.1"})).expect(200)["seq"].clone();
    let path = format!("/v1/instruments/BTC-USD?min_seq={}", seq.as_str().unwrap());
    let now = venue.get(&path).expect(200);
    assert_eq!(
        (&now["instrument"]["tick"], &now["instrument"]["maker_fee_ppm"]),
        (&json!("0.10"), &json!(100))
    );
    venue.place(&alice, limit("buy", "1", "100.01")).refuses(422, "price_off_tick");
    venue.place(&alice, limit("buy", "1", "100")).expect(201);
    for (rules, field) in [
        (json!({"tick": "0.15"}), "tick"),
        (json!({"lot": "0.0003"}), "lot"),
        (json!({"risk": false}), "risk"),
        (json!({"lot": "0.0003", "risk": false}), "lot"),
    ] {
        assert_eq!(patch(rules).refuses(409, "has_open_orders").field(), field);
    }
    for (rules, field, message) in [
        (json!({"taker_fee_ppm": -1}), "taker_fee_ppm", "must be 0 to 100000"),
        (
            json!({"maker_fee_ppm": 501}),
            "maker_fee_ppm",
            "must be no larger in size than taker_fee_ppm",
        ),
        (json!({"tick": "0"}), "tick", "must be positive"),
        (json!({"lot": "0"}), "lot", "must be positive"),
        (json!({"quantity_max": "0"}), "quantity_max", "must be at least one lot"),
        (json!({"notional_min": "-1"}), "notional_min", "must not be negative"),
        (json!({"reference_price": "-1"}), "reference_price", "must not be negative"),
        (json!({"collar_ppm": 1_000_000}), "collar_ppm", "must be below 1000000 ppm"),
        (
            json!({"market_protection_ppm": 1_000_000}),
            "market_protection_ppm",
            "must be below 1000000 ppm",
        ),
    ] {
        let refused = patch(rules).refuses(400, "invalid_rules");
        assert_eq!(refused.field(), field);
        let expected = format!("The rules are not possible: {field} {message}.");
        assert_eq!(refused.body["error"]["message"], expected);
    }
    // The fee of makers stays at 100.
    let refused = patch(json!({"taker_fee_ppm": 50})).refuses(400, "invalid_rules");
    assert_eq!(refused.field(), "taker_fee_ppm");
    patch(json!({"tick": "0.001"})).refuses(400, "invalid_field");
    patch(json!({"tick": 0.1})).refuses(400, "invalid_field");
    patch(json!({"price_scale": 3})).refuses(400, "unknown_field");
    venue
        .operate("PATCH", "/v1/admin/instruments/NO", json!({}))
        .refuses(404, "unknown_instrument");
    let list = |body| venue.operate("POST", "/v1/admin/instruments", body);
    let body = json!({
        "symbol": "X", "base": "BTC", "quote": "ZZZ", "price_scale": 2, "quantity_scale": 4,
        "tick": "0.01", "lot": "0.0001",
    });
    let reply = list(body.clone());
    assert_eq!(reply.refuses(404, "unknown_currency").field(), "quote");
    let taken = json!({"symbol": "BTC-USD", "quote": "USD"});
    let refused = list(crate::test_venue::with(body.clone(), taken));
    assert_eq!(refused.refuses(409, "already_exists").field(), "symbol");
    let refused = list(crate::test_venue::with(body.clone(), json!({"quote": "BTC"})));
    assert_eq!(refused.refuses(400, "invalid_rules").field(), "quote");
    venue.operate("POST", "/v1/admin/currencies", json!({"code": "EUR", "scale": 2})).expect(201);
    let refused = list(crate::test_venue::with(body, json!({"quote": "EUR"})));
    let refused = refused.refuses(400, "invalid_rules");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert_eq!(
        (refused.field(), message),
        (
            "price_scale",
            "The rules are not possible: price scale plus quantity scale must not exceed the quote \
         currency's scale.",
        )
    );
}

#[test]
fn an_instrument_is_halted_resumed_and_closed() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let set = |what: &str| {
        let path = format!("/v1/admin/{what}");
        venue.operate("POST", &path, json!({"instrument": "BTC-USD"}))
    };
    venue.place(&alice, limit("buy", "1", "100")).expect(201);
    assert_eq!(set("halt").expect(200)["state"], "halted");
    let reply = venue.place(&alice, limit("buy", "1", "100"));
    assert_eq!(reply.refuses(422, "instrument_halted").field(), "instrument");
    set("resume").expect(200);
    venue.place(&alice, limit("buy", "1", "100")).expect(201);
    set("close").expect(200);
    venue.place(&alice, limit("buy", "1", "100")).refuses(422, "instrument_closed");
    venue
        .operate("POST", "/v1/admin/halt", json!({"instrument": "NO"}))
        .refuses(404, "unknown_instrument");
}

#[test]
fn a_transfer_takes_effect_once() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let body = json!({"account": 1, "currency": "USD", "amount": "5", "reference": "wire-1"});
    let deposit = |body: &Value| venue.operate("POST", "/v1/admin/deposits", body.clone());
    assert_eq!(deposit(&body).expect(201)["repeated"], false);
    assert_eq!(deposit(&body).expect(200)["repeated"], true);
    deposit(&crate::test_venue::with(body.clone(), json!({"amount": "6"})))
        .refuses(409, "reference_conflict");
    let bad = [
        (json!({"amount": "0"}), 400, "amount_not_positive"),
        (json!({"amount": "-1", "reference": "n"}), 400, "amount_not_positive"),
        (json!({"amount": "0.0000001"}), 400, "invalid_field"),
        (json!({"amount": 5}), 400, "invalid_field"),
        (json!({"amount": "9".repeat(60)}), 400, "invalid_field"),
        (json!({"reference": ""}), 400, "reference_missing"),
        (json!({"currency": "ZZZ"}), 404, "unknown_currency"),
        (json!({"account": 4_000, "reference": "y"}), 404, "unknown_account"),
        (json!({"account": null}), 400, "invalid_field"),
    ];
    for (change, status, code) in bad {
        deposit(&crate::test_venue::with(body.clone(), change)).refuses(status, code);
    }

    let body = json!({"account": 1, "currency": "USD", "amount": "999999", "reference": "out"});
    let out = venue.operate("POST", "/v1/admin/withdrawals", body).expect(201);
    let balances = venue.see(&alice, "/v1/balances", &out["seq"]);
    assert_eq!(balances["balances"][1]["available"], "6.000000");
    let body = json!({"account": 1, "currency": "USD", "amount": "7", "reference": "out-2"});
    venue.operate("POST", "/v1/admin/withdrawals", body).refuses(422, "insufficient_balance");
}

#[test]
fn a_deposit_of_a_known_time_takes_effect_once_whenever_it_is_sent() {
    let (venue, _, bob) = TestVenue::with_market(config());
    let body = json!({"account": 1, "currency": "USD", "amount": "5", "reference": "wire-0"});
    let first = venue.operate("POST", "/v1/admin/deposits", body.clone()).expect(201);
    let now: u64 = first["time"].as_str().unwrap().parse().unwrap();
    let days = |count: u64| (now - count * Timestamp::DAY).to_string();
    let deposit = |time: &str, reference: &str| {
        let fields = json!({"time": time, "reference": reference});
        venue.operate("POST", "/v1/admin/deposits", crate::test_venue::with(body.clone(), fields))
    };
    assert_eq!(deposit(&days(29), "wire-1").expect(201)["repeated"], false);
    // References of members' withdrawals are separate from those of operators.
    let out = json!({"currency": "USD", "amount": "0.01", "reference": "wire-1"});
    venue.ask(&bob, "POST", "/v1/withdrawals", out).expect(201);
    assert_eq!(deposit(&days(29), "wire-1").expect(200)["repeated"], true);
    assert_eq!(deposit(&days(31), "wire-1").expect(200)["repeated"], true);
    assert_eq!(deposit(&days(31), "wire-2").refuses(409, "reference_too_old").field(), "time");
    assert_eq!(deposit("yesterday", "wire-3").refuses(400, "invalid_field").field(), "time");
    let timed = crate::test_venue::with(body.clone(), json!({"time": days(1), "reference": "out"}));
    let refused = venue.operate("POST", "/v1/admin/withdrawals", timed);
    assert_eq!(refused.refuses(400, "unknown_field").field(), "time");
}

#[test]
fn keys_are_made_for_a_members_own_accounts_and_listed_without_their_secrets() {
    let (venue, ..) = TestVenue::with_market(config());
    let make = |body| venue.operate("POST", "/v1/admin/keys", body);
    let made = make(json!({"member": 2, "scopes": ["read"], "label": "desk"})).expect(201);
    assert_eq!((&made["accounts"], &made["label"]), (&json!([2]), &json!("desk")));
    let key = key_of(&made);
    venue.ask(&key, "GET", "/v1/balances", Value::Null).expect(200);
    let listed = venue.operate("GET", "/v1/admin/keys", Value::Null).expect(200).to_string();
    assert!(listed.contains(&key.id) && !listed.contains(&key.secret.reveal()));

    make(json!({"member": 9, "scopes": ["read"]})).refuses(404, "unknown_member");
    let bad = [
        json!({"member": 2, "scopes": []}),
        json!({"member": 2, "scopes": ["rule"]}),
        json!({"member": 2, "scopes": ["read"], "accounts": [1]}),
        json!({"member": 2, "scopes": ["read"], "expires_at": "1"}),
        json!({"member": 2, "scopes": ["read"], "expires_at": 1}),
        json!({"member": 2, "scopes": ["read"], "label": "x".repeat(101)}),
    ];
    for body in bad {
        make(body).refuses(400, "invalid_field");
    }
    venue.operate("DELETE", "/v1/admin/keys/rk_none", Value::Null).refuses(404, "unknown_key");
    let admin = make(json!({"member": 2, "scopes": ["admin"]})).expect(201);
    let body = json!({"name": "by-key"});
    venue.ask(&key_of(&admin), "POST", "/v1/admin/members", body).expect(201);
}

#[test]
fn a_snapshot_and_a_backup_are_made_while_the_venue_runs() {
    let (venue, alice, _) = TestVenue::with_market(config());
    venue.place(&alice, limit("buy", "1", "100")).expect(201);
    venue.operate("POST", "/v1/admin/snapshot", Value::Null).expect(201);
    let backup = |name: &str| venue.operate("POST", "/v1/admin/backup", json!({"name": name}));
    let made = backup("first").expect(201);
    assert_eq!(made["directory"], venue.dir.path().join("backups/first").to_str().unwrap());
    assert_eq!(made["left_out"], json!(["keys", "flows", "queues"]));
    backup("first").refuses(409, "backup_exists");
    backup("before-0.2").expect(201);
    for name in ["", "..", ".hidden", "a/b", "/tmp", &"x".repeat(65)] {
        backup(name).refuses(400, "invalid_field");
    }
    let config = EngineConfig {
        data_dir: made["directory"].as_str().unwrap().into(),
        segment_bytes: 4 << 20,
        ..EngineConfig::default()
    };
    let (engine, report) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    assert_eq!(report.last.to_string(), made["seq"].as_str().unwrap());
    drop(engine);
}

#[test]
fn a_backup_is_not_written_through_a_symbolic_link() {
    let venue = TestVenue::empty(config());
    let (backups, elsewhere) = (venue.dir.path().join("backups"), venue.dir.path().join("theirs"));
    std::fs::create_dir_all(&elsewhere).unwrap();
    let refused = |name: &str| {
        let reply = venue.operate("POST", "/v1/admin/backup", json!({"name": name}));
        let message = reply.refuses(503, "backup_failed").body["error"]["message"].to_string();
        assert!(message.contains("is a symbolic link"), "{message}");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    };
    std::os::unix::fs::symlink(&elsewhere, &backups).unwrap();
    refused("monday");
    std::fs::remove_file(&backups).unwrap();
    std::fs::create_dir(&backups).unwrap();
    std::os::unix::fs::symlink(&elsewhere, backups.join("monday")).unwrap();
    refused("monday");
    venue.operate("POST", "/v1/admin/backup", json!({"name": "tuesday"})).expect(201);
}

#[test]
fn a_clock_step_is_reported_and_followed_after_acceptance() {
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let venue = TestVenue::with_clock(config(), EngineConfig::default(), Arc::clone(&clock) as _);
    venue.create_market();
    let alice = venue.member("alice");
    let metric = |name: &str| {
        let page = venue.get("/metrics").expect(200);
        let line = page.as_str().unwrap().lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse::<f64>().unwrap()
    };
    let accept = || venue.operate("POST", "/v1/admin/clock/accept", Value::Null).expect(200);
    assert_eq!(metric("rialto_clock_unfollowed_seconds"), 0.0);
    assert_eq!(accept()["step_ns"], "0");

    clock.step(-3_600_000_000_000);
    assert_eq!(metric("rialto_clock_unfollowed_seconds"), -3_600.0);
    assert_eq!(metric("rialto_clock_steps_total"), 1.0);
    venue.place(&alice, limit("buy", "1", "100")).expect(201);
    venue.ask(&alice, "POST", "/v1/admin/clock/accept", Value::Null).refuses(403, "forbidden");
    assert_eq!(accept()["step_ns"], "-3600000000000");
    assert_eq!(metric("rialto_clock_unfollowed_seconds"), 0.0);
}

#[test]
fn the_error_of_a_venue_without_a_backup_directory_names_the_setting() {
    let venue = TestVenue::empty(config());
    let engine = Arc::clone(venue.engine.as_ref().unwrap());
    let (live, keys) = (Arc::clone(&venue.live), Arc::clone(&venue.keys));
    let parts = VenueParts::new(engine, live);
    let other = Gateway::start(config(), parts, keys).ok().unwrap();
    let headers = [
        ("Authorization", format!("Bearer {}", venue.admin.reveal())),
        ("Content-Type", "application/json".to_owned()),
    ];
    let mut client = crate::test_venue::Client::connect(other.local_addr());
    let reply = client.send("POST", "/v1/admin/backup", &headers, br#"{"name":"monday"}"#);
    let message = reply.refuses(409, "no_backup_dir").body["error"]["message"].to_string();
    assert!(message.contains("backup_dir under [gateway]"), "{message}");
    drop(client);
    assert!(other.shutdown(std::time::Duration::from_secs(5)));
}
