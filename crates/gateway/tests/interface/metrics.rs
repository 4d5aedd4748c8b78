//! All documented metrics are exported, and all exported ones are documented.

use crate::order_stage::trade_at;
use crate::stream_own::restart;
use crate::test_venue::{Key, TestVenue, config, limit, with};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Names and types of the metrics on a page.
fn exported(page: &str) -> BTreeMap<String, String> {
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.map(|line| line.split_once(' ').unwrap()).map(|(a, b)| (a.into(), b.into())).collect()
}

fn value(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{page}")).parse().unwrap()
}

#[test]
fn every_metric_is_documented_and_every_documented_one_exported() {
    let venue = TestVenue::with_depot(config(), |options| options);
    venue.create_market();
    let reply = venue.operate("GET", "/metrics", Value::Null);
    assert!(reply.head.contains("content-type: text/plain; version=0.0.4"));
    let page = reply.expect(200);
    let documented = include_str!("../../../../docs/metrics.md").lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let name = cells.next()?.trim().trim_end_matches('`');
        Some((name.to_owned(), cells.next()?.trim().to_owned()))
    });
    assert_eq!(exported(page.as_str().unwrap()), documented.collect());
}

#[test]
fn metrics_report_counts_and_states() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    venue.place(&alice, limit("sell", "1", "100")).expect(201);
    let last = venue.place(&bob, limit("buy", "1", "100")).expect(201)["seq"].clone();
    let refused = venue.place(&bob, limit("buy", "1000", "100000"));
    refused.refuses(422, "insufficient_balance");
    let last = last.as_str().unwrap().parse::<u64>().unwrap() + 1;
    venue.see(&bob, "/v1/balances", &last.to_string().into());

    let page = venue.get("/metrics").expect(200);
    let page = page.as_str().unwrap();
    assert_eq!(value(page, "rialto_trades_total"), 1.0);
    assert_eq!(value(page, "rialto_orders_accepted_total"), 2.0);
    assert_eq!(value(page, "rialto_rejects_total{reason=\"insufficient_balance\"}"), 1.0);
    assert_eq!(value(page, "rialto_commands_total"), last as f64);
    assert_eq!(value(page, "rialto_feed_seq"), last as f64);
    assert_eq!(value(page, "rialto_mark_seq{mark=\"synced\"}"), last as f64);
    let placed = "rialto_requests_total{route=\"POST /v1/orders\",status=\"201\"}";
    assert_eq!(value(page, placed), 2.0);
    let entered = |outcome: &str| {
        let labels = format!("request=\"place_order\",outcome=\"{outcome}\"");
        value(page, &format!("rialto_bus_requests_total{{{labels}}}"))
    };
    assert_eq!(entered("ok"), 2.0);
    assert_eq!(entered("conflict"), 1.0);
    let timed = "rialto_bus_request_seconds_count{request=\"place_order\"}";
    assert_eq!(value(page, timed), 3.0);
    assert_eq!(value(page, "rialto_up"), 1.0);
    for histogram in ["rialto_journal_write_seconds", "rialto_acknowledge_seconds"] {
        let count = value(page, &format!("{histogram}_count"));
        assert!(count > 0.0 && value(page, &format!("{histogram}_sum")) > 0.0);
        assert_eq!(value(page, &format!("{histogram}_bucket{{le=\"+Inf\"}}")), count);
    }
}

#[test]
fn operators_see_what_orders_do_and_others_do_not() {
    let (mut venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&alice, &bob], "100");
    let stop = |price: &str| json!({"trigger": "stop", "trigger_price": price});
    venue.place(&alice, with(limit("sell", "1", "90"), stop("95"))).expect(201);
    for price in ["80", "81"] {
        venue.place(&alice, with(limit("sell", "1", "70"), stop(price))).expect(201);
    }
    let ended = venue.place(&alice, with(limit("sell", "1", "70"), stop("82"))).expect(201);
    let path = format!("/v1/orders/{}", ended["order_id"].as_str().unwrap());
    venue.ask(&alice, "DELETE", &path, Value::Null).expect(200);
    // An iceberg displays a second tranche.
    let shows = json!({"display_quantity": "0.1"});
    venue.place(&alice, with(limit("sell", "1", "101"), shows)).expect(201);
    venue.place(&bob, limit("buy", "0.1", "101")).expect(201);
    trade_at(&venue, [&alice, &bob], "95");
    // The stop at 95 is entered on the book.
    let began = Instant::now();
    let page = loop {
        let page = venue.operate("GET", "/metrics", Value::Null).expect(200);
        let page = page.as_str().unwrap().to_owned();
        if value(&page, "rialto_open_orders{state=\"waiting\"}") == 2.0 {
            break page;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{page}");
        std::thread::sleep(Duration::from_millis(10));
    };
    // The iceberg and the stop.
    assert_eq!(value(&page, "rialto_open_orders{state=\"entered\"}"), 2.0);
    let ended = |reason| value(&page, &format!("rialto_orders_ended_total{{reason=\"{reason}\"}}"));
    assert_eq!(["cancelled", "expired"].map(ended), [1.0, 0.0]);
    let events = |kind| value(&page, &format!("rialto_events_total{{kind=\"{kind}\"}}"));
    let kinds = ["trigger_set", "triggered", "iceberg_refreshed", "trade"];
    assert_eq!(kinds.map(events), [4.0, 1.0, 1.0, 3.0]);

    let admin = venue.key(1, &["admin"]);
    let signed = |key: &Key| venue.ask(key, "GET", "/metrics", Value::Null).expect(200);
    for (page, has_values) in [
        (signed(&admin), true),
        (signed(&alice), false),
        (venue.get("/metrics").expect(200), false),
    ] {
        let page = page.as_str().unwrap();
        for metric in ["rialto_open_orders", "rialto_orders_ended_total", "rialto_events_total"] {
            assert!(page.contains(&format!("# TYPE {metric} ")), "{page}");
            assert_eq!(page.contains(&format!("\n{metric}{{")), has_values, "{page}");
        }
    }

    // A gauge is back after a start, and a counter begins with nothing.
    restart(&mut venue);
    let page = venue.operate("GET", "/metrics", Value::Null).expect(200);
    let page = page.as_str().unwrap();
    assert_eq!(value(page, "rialto_open_orders{state=\"waiting\"}"), 2.0);
    assert_eq!(value(page, "rialto_open_orders{state=\"entered\"}"), 2.0);
    assert_eq!(value(page, "rialto_events_total{kind=\"trigger_set\"}"), 0.0);
}

#[test]
fn withdrawals_are_counted_by_state_and_outcome() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let ask = |amount: &str, reference: &str| {
        let body = json!({"currency": "USD", "amount": amount, "reference": reference});
        venue.ask(&alice, "POST", "/v1/withdrawals", body)
    };
    for reference in ["a", "b", "c", "d"] {
        ask("30", reference).expect(201);
    }
    ask("1000000000", "too-much").refuses(422, "insufficient_balance");
    venue.ask(&alice, "DELETE", "/v1/withdrawals/1-b", Value::Null).expect(200);
    for reference in ["c", "d"] {
        let approve = format!("/v1/admin/withdrawals/1-{reference}/approve");
        venue.operate("POST", &approve, json!({"receipt": "tx"})).expect(200);
    }

    let page = venue.get("/metrics").expect(200);
    let page = page.as_str().unwrap();
    let open = |state: &str| value(page, &format!("rialto_withdrawals_open{{state=\"{state}\"}}"));
    assert_eq!(["requested", "pending", "settling", "returning"].map(open), [0.0, 1.0, 0.0, 0.0]);
    let came_to =
        |end: &str| value(page, &format!("rialto_withdrawals_ended_total{{outcome=\"{end}\"}}"));
    let ends = ["settled", "rejected", "cancelled", "expired", "refused", "failed"].map(came_to);
    assert_eq!(ends, [2.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    let on_the_bus = |labels: &str| value(page, &format!("rialto_bus_requests_total{{{labels}}}"));
    assert_eq!(on_the_bus("request=\"request_withdrawal\",outcome=\"ok\""), 4.0);
    assert_eq!(on_the_bus("request=\"request_withdrawal\",outcome=\"conflict\""), 1.0);
    let timed = "rialto_bus_request_seconds_count{request=\"approve_withdrawal\"}";
    assert_eq!(value(page, timed), 2.0);
}

#[test]
fn requests_about_keys_are_counted_and_timed() {
    let venue = TestVenue::empty(config());
    venue.operate("GET", "/v1/admin/keys", Value::Null).expect(200);
    let page = venue.operate("GET", "/metrics", Value::Null).expect(200);
    let page = page.as_str().unwrap();
    let listed = "rialto_bus_requests_total{request=\"list_keys\",outcome=\"ok\"}";
    let timed = "rialto_bus_request_seconds_count{request=\"list_keys\"}";
    assert_eq!((value(page, listed), value(page, timed)), (1.0, 1.0));
}

#[test]
fn names_of_topics_are_for_operators() {
    let (venue, alice, _) = TestVenue::with_market(config());
    venue.operate("POST", "/v1/queues", json!({"name": "secret-plan"})).expect(201);
    let page = |reply: crate::test_venue::Reply| reply.expect(200).as_str().unwrap().to_owned();
    for reply in [venue.get("/metrics"), venue.ask(&alice, "GET", "/metrics", Value::Null)] {
        let page = page(reply);
        assert!(!page.contains("secret-plan"), "{page}");
        assert_eq!(value(&page, "rialto_queue_topics"), 1.0);
    }
    let operators = venue.key(1, &["admin"]);
    let by_key = venue.ask(&operators, "GET", "/metrics", Value::Null);
    for reply in [venue.operate("GET", "/metrics", Value::Null), by_key] {
        assert_eq!(value(&page(reply), "rialto_queue_messages{topic=\"secret-plan\"}"), 0.0);
    }
}
