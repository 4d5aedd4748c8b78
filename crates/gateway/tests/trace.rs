//! Requests belong to the traces in their headers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod test_venue;

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use test_venue::{TestVenue, config, signed};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// Records the names and traces of requests.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<(String, String)>>>);

#[derive(Default)]
struct Named {
    name: String,
    trace: String,
}

impl Visit for Named {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "name" => self.name = format!("{value:?}").trim_matches('"').to_owned(),
            "trace_id" => self.trace = format!("{value:?}"),
            _ => {}
        }
    }
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut named = Named::default();
        span.record(&mut named);
        self.0.lock().unwrap().push((named.name, named.trace));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn commands_and_queries_belong_to_the_trace_that_they_name() {
    let spans = Spans::default();
    tracing::subscriber::set_global_default(spans.clone()).unwrap();
    let (venue, alice, _) = TestVenue::with_market(config());
    let parent = |trace: &str| ("traceparent", format!("00-{trace}-b7ad6b7169203331-01"));
    let body = test_venue::limit("buy", "1", "100").to_string().into_bytes();
    let mut headers = signed(&alice, "POST", "/v1/orders", &body);
    headers.push(parent(TRACE));
    venue.client().send("POST", "/v1/orders", &headers, &body).expect(201);
    venue.client().send("GET", "/v1/book/BTC-USD", &[parent(TRACE)], b"").expect(200);
    venue
        .client()
        .send("GET", "/v1/ticker/BTC-USD", &[parent("none of the kind")], b"")
        .expect(200);

    let spans = spans.0.lock().unwrap();
    let of = |name: &str| {
        let span = spans.iter().find(|(known, _)| known == name);
        span.map(|(_, trace)| trace.clone()).unwrap_or_else(|| panic!("no {name} in {spans:?}"))
    };
    assert_eq!((of("place_order").as_str(), of("get_book").as_str()), (TRACE, TRACE));
    let own = of("get_ticker");
    assert!(own.len() == 32 && own != TRACE && own != "0".repeat(32), "{own}");
}
