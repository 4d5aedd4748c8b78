//! Shared memory and queues of the venue: one account cannot displace another's entries.

use crate::honest::unharmed;
use crate::pace::turn;
use crate::venue::{Besieged, SYMBOL};
use crate::wire::{ask, attacker, code, connect_from, signed};
use serde_json::{Value, json};
use std::io::Write;

#[test]
fn ended_orders_of_others_stay_known() {
    let mut turn = turn();
    let besieged = Besieged::begin("[feed]\nended_orders = 2_000\n");
    let (honest, attacking) = (besieged.trader(), besieged.trader());
    while turn.another() {
        let client = besieged.client(&honest);
        for number in 0..20 {
            let order = json!({
                "instrument": SYMBOL, "side": "buy", "quantity": "0.00001", "price": "1",
                "time_in_force": "ioc", "client_order_id": format!("mine-{number}"),
            });
            client.call("POST", "/v1/orders", Some(&order)).unwrap();
        }
        besieged.enter(&attacking, 6_000, |number| {
            json!({
                "instrument": SYMBOL, "side": "buy", "quantity": "0.00001", "price": "1",
                "time_in_force": "ioc", "client_order_id": format!("theirs-{number}"),
            })
        });
        for number in 0..20 {
            let path = format!("/v1/orders/client:mine-{number}");
            let answer = client.send("GET", &path, None).unwrap();
            assert_eq!(answer.status, 200, "{number}: {}", answer.body);
            assert_eq!(answer.body["order"]["status"], "cancelled");
        }
        besieged.assert_live();
    }
    besieged.end();
}

#[test]
fn a_deposit_credits_once_however_often_members_withdraw() {
    let mut turn = turn();
    let besieged =
        Besieged::begin("[limits]\ntransfers_max = 64\naccount_withdrawals_max = 1_000\n");
    let honest = besieged.trader();
    let attacking = besieged.member(&["read", "trade", "transfer"], &Value::Null);
    let balance = |seq: &Value| {
        let path = format!("/v1/balances?min_seq={}", seq.as_str().unwrap());
        let answer = besieged.client(&honest).get(&path).unwrap();
        let balances = answer["balances"].as_array().unwrap().clone();
        let usd = balances.into_iter().find(|it| it["currency"] == "USD").unwrap();
        usd["available"].as_str().unwrap().to_string()
    };
    let mut round = 0;
    while turn.another() {
        round += 1;
        let reference = format!("wire-{round}");
        let deposit = besieged.deposit(honest.account, "USD", "250", &reference);
        let credited = balance(&deposit["seq"]);
        let client = besieged.client(&attacking);
        for number in 0..200 {
            let body = json!({
                "currency": "USD", "amount": "0.01", "reference": format!("r{round}-{number}"),
            });
            // Withdrawals may be refused; their displacement of others matters.
            let asked = client.send("POST", "/v1/withdrawals", Some(&body)).unwrap();
            if asked.status < 300 {
                let id = asked.body["withdrawal"]["id"].as_str().unwrap().to_string();
                let _ = client.send("DELETE", &format!("/v1/withdrawals/{id}"), None).unwrap();
            }
        }
        // The operator got no answer and retries.
        let again = besieged.deposit(honest.account, "USD", "250", &reference);
        assert_eq!(balance(&again["seq"]), credited, "the deposit {reference} was credited twice");
    }
    besieged.end();
}

#[test]
fn limited_requests_use_up_no_memory_of_signatures() {
    let mut turn = turn();
    let besieged = Besieged::begin("signatures_max = 1_000\nkey_rate = 50\nkey_burst = 100\n");
    let attacking = besieged.trader();
    let honest = besieged.trader();
    while turn.another() {
        let mut stream = connect_from(attacker(0), besieged.address()).unwrap();
        let mut limited = None;
        let mut codes = std::collections::BTreeMap::new();
        for _ in 0..4_000 {
            let request = signed(&attacking, "GET", "/v1/balances", b"");
            let Ok((status, answer)) = ask(&mut stream, &request) else {
                stream = connect_from(attacker(0), besieged.address()).unwrap();
                continue;
            };
            *codes.entry(code(&answer).to_string()).or_insert(0) += 1;
            if status == 429 && limited.is_none() {
                limited = Some(request);
            }
        }
        println!("4,000 requests at 50 a second: {codes:?}");
        // The honest member's request is neither busy nor a replay.
        let answer = besieged.client(&honest).send("GET", "/v1/balances", None).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        // A rate-limited request can be sent again unchanged.
        let request = limited.expect("4,000 requests are too many");
        let end = std::time::Instant::now() + std::time::Duration::from_secs(4);
        let again = loop {
            let (status, answer) = ask(&mut stream, &request).unwrap();
            if status != 429 || std::time::Instant::now() > end {
                break (status, answer);
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        assert_eq!(again.0, 200, "{}", again.1);
    }
    besieged.end();
}

#[test]
fn mass_cancels_of_one_account_leave_room_for_anothers() {
    let mut turn = turn();
    let besieged = Besieged::begin("[limits]\npending_cancels_max = 16\n");
    let (honest, attacking, trading) = (besieged.trader(), besieged.trader(), besieged.trader());
    let resting = |number: usize| {
        json!({
            "instrument": SYMBOL, "side": "buy", "quantity": "0.00001",
            "price": (1 + number % 500).to_string(),
        })
    };
    while turn.another() {
        besieged.enter(&attacking, 30_000, resting);
        besieged.enter(&honest, 600, resting);
        let cancelled = unharmed("mass cancels of one account", &besieged, &trading, || {
            let mut streams: Vec<_> = (0..64)
                .map(|number| connect_from(attacker(number % 8), besieged.address()).unwrap())
                .collect();
            for stream in &mut streams {
                stream.write_all(&signed(&attacking, "DELETE", "/v1/orders", b"")).unwrap();
            }
            let mine = besieged.client(&honest).send("DELETE", "/v1/orders", None).unwrap();
            let _answers: Vec<_> = streams.iter_mut().map(crate::wire::read_answer).collect();
            mine
        });
        assert_eq!(cancelled.status, 200, "{}", cancelled.body);
    }
    besieged.end();
}
