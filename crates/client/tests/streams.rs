//! Streams that lose their connection, and one whose key ends.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod test_venue;

use rialto_client::api::{BookOf, BookQuery, LevelInfo, OrderRequest, StreamMessage};
use rialto_client::model::{Seq, Side};
use rialto_client::{Client, ClientError, StreamEvent, StreamSubscription, VenueStream};
use std::collections::BTreeMap;
use test_venue::{PATIENCE, Proxy, TestVenue, credentials};

async fn next(stream: &mut VenueStream) -> StreamEvent {
    tokio::time::timeout(PATIENCE, stream.next()).await.unwrap().unwrap().unwrap()
}

/// Waits for the event that `find` accepts, and returns its result.
async fn until<T>(stream: &mut VenueStream, what: impl Fn(&StreamEvent) -> Option<T>) -> T {
    loop {
        if let Some(found) = what(&next(stream).await) {
            return found;
        }
    }
}

fn subscribed(event: &StreamEvent) -> Option<()> {
    let StreamEvent::Message(message) = event else { return None };
    matches!(**message, StreamMessage::Subscribed { .. }).then_some(())
}

fn resumed(event: &StreamEvent) -> Option<()> {
    matches!(event, StreamEvent::Resumed).then_some(())
}

#[test]
fn fills_are_neither_lost_nor_repeated_when_connections_break() {
    let place = TestVenue::open();
    let (alice, bob) = (place.member(&place.alice), place.member(&place.bob));
    place.runtime.block_on(async {
        let proxy = Proxy::to(place.gateway.address).await;
        let through =
            Client::new(&format!("http://{}", proxy.address), credentials(&place.bob)).unwrap();
        let mut stream = through.stream([StreamSubscription::fills(None)]).await.unwrap();
        until(&mut stream, subscribed).await;
        alice.place(&OrderRequest::limit("BTC-USD", Side::Sell, "5", "64000")).await.unwrap();
        let mut expected = Vec::new();
        for round in 0..3 {
            for nth in 0..5 {
                let order = OrderRequest::limit("BTC-USD", Side::Buy, "0.01", "64000");
                expected.push(bob.place(&order).await.unwrap().seq);
                // In the middle of each round, with messages on their way.
                if nth == 2 && round < 2 {
                    proxy.cut();
                }
            }
        }
        let mut seen: Vec<Seq> = Vec::new();
        let mut breaks = 0;
        while seen.len() < expected.len() {
            match next(&mut stream).await {
                StreamEvent::Message(message) => {
                    if let StreamMessage::Fills { seq, fills, .. } = *message {
                        assert_eq!(fills.len(), 1);
                        seen.push(seq);
                    }
                }
                StreamEvent::Disconnected { .. } => breaks += 1,
                _ => {}
            }
        }
        assert_eq!(seen, expected);
        assert!(breaks > 0);
    });
}

#[test]
fn a_book_is_right_after_its_connection_broke() {
    let place = TestVenue::open();
    let alice = place.member(&place.alice);
    place.runtime.block_on(async {
        let proxy = Proxy::to(place.gateway.address).await;
        let url = format!("http://{}", proxy.address);
        let through = Client::new(&url, rialto_client::Credentials::None).unwrap();
        let mut stream = through.stream([StreamSubscription::book("BTC-USD")]).await.unwrap();
        until(&mut stream, subscribed).await;
        let place_at = |price: String| {
            let alice = alice.clone();
            async move {
                let order = OrderRequest::limit("BTC-USD", Side::Buy, "0.01", price);
                alice.place(&order).await.unwrap();
            }
        };
        for nth in 0..5 {
            place_at(format!("{}", 100 + nth)).await;
        }
        proxy.cut();
        for nth in 0..5 {
            place_at(format!("{}", 200 + nth)).await;
        }
        let BookOf::Levels(right) =
            alice.book("BTC-USD", &BookQuery::default()).await.unwrap().sides
        else {
            panic!("the book is by price");
        };
        let mut held: Option<Seq> = None;
        let mut bids: BTreeMap<String, LevelInfo> = BTreeMap::new();
        while held != Some(right.last_seq) || bids.len() != 10 {
            let StreamEvent::Message(message) = next(&mut stream).await else { continue };
            match *message {
                StreamMessage::Book { sides, .. } => {
                    bids = sides.bids.iter().map(|level| (level.0.to_string(), *level)).collect();
                    held = Some(sides.last_seq);
                }
                StreamMessage::BookDelta { prev_seq, last_seq, bids: changed, .. } => {
                    assert_eq!(held, Some(prev_seq));
                    bids.extend(changed.iter().map(|level| (level.0.to_string(), *level)));
                    held = Some(last_seq);
                }
                _ => {}
            }
        }
        assert_eq!(right.bids.len(), 10);
        assert!(right.bids.iter().all(|level| bids.get(&level.0.to_string()) == Some(level)));
    });
}

#[test]
fn a_stream_tells_its_reader_that_it_was_away() {
    let place = TestVenue::open();
    place.runtime.block_on(async {
        let proxy = Proxy::to(place.gateway.address).await;
        let url = format!("http://{}", proxy.address);
        let through = Client::new(&url, credentials(&place.alice)).unwrap();
        let all = [StreamSubscription::orders(None), StreamSubscription::balances(None)];
        let mut stream = through.stream(all).await.unwrap();
        until(&mut stream, subscribed).await;
        proxy.cut();
        until(&mut stream, |event| matches!(event, StreamEvent::Disconnected { .. }).then_some(()))
            .await;
        until(&mut stream, resumed).await;
        // What is asked for later comes, too.
        stream.subscribe(StreamSubscription::trades("BTC-USD"));
        until(&mut stream, subscribed).await;
    });
}

#[test]
fn a_revoked_key_ends_its_stream() {
    let place = TestVenue::open();
    place.runtime.block_on(async {
        let alice = place.member(&place.alice);
        let mut stream = alice.stream([StreamSubscription::orders(None)]).await.unwrap();
        until(&mut stream, subscribed).await;
        place.operator().revoke_key(&place.alice.id).await.unwrap();
        let ended = loop {
            if let Err(error) =
                tokio::time::timeout(PATIENCE, stream.next()).await.unwrap().unwrap()
            {
                break error;
            }
        };
        assert_eq!(ended.code(), Some("key_not_valid"), "{ended}");
        assert!(stream.next().await.is_none());
        assert!(matches!(alice.stream([]).await.unwrap_err(), ClientError::Refused(_)));
    });
}
