//! Tests of the outbox.

use super::*;
use rialto_desk::{Listener, PrivateChannel};
use rialto_feed::PriceLevel;
use rialto_model::{AccountId, InstrumentId, Price, Quantity, Timestamp};
use std::sync::Arc;

const BOOK: Subscription = Subscription::Book(InstrumentId(1));
const AUCTION: Subscription = Subscription::Auction(InstrumentId(1));
const ORDERS: Subscription = Subscription::Own(PrivateChannel::Orders, AccountId(7));

fn outbox(messages: usize) -> Outbox {
    Outbox::new(OutboxLimits { messages, bytes: 1_000, levels: 3 })
}

fn joined(outbox: &Outbox, subscription: Subscription, seq: u64) {
    assert!(outbox.prepare(subscription));
    outbox.joined(subscription, Seq(seq));
}

fn event(outbox: &Outbox, seq: u64) {
    outbox.event(ORDERS, Seq(seq), &seq.to_string().into());
}

fn delta(outbox: &Outbox, prev: u64, seq: u64, prices: &[i64]) {
    let level = |price: &i64| PriceLevel {
        price: Price(*price),
        quantity: Quantity(seq as i64),
        orders: 1,
    };
    let delta = BookDelta {
        instrument: InstrumentId(1),
        first_seq: Seq(seq),
        last_seq: Seq(seq),
        prev_seq: Seq(prev),
        time: Timestamp(seq),
        bids: prices.iter().map(level).collect(),
        asks: Vec::new(),
    };
    outbox.delta(&Arc::new(delta), &format!("delta {seq}").into());
}

/// A short text of the next message.
fn next(outbox: &Outbox) -> String {
    match outbox.try_next() {
        None => "nothing".to_owned(),
        Some(Next::Text(text)) => text.to_string(),
        Some(Next::Joined(_, seq)) => format!("joined {seq}"),
        Some(Next::Whole(_)) => "whole".to_owned(),
        Some(Next::Delta(it)) => format!("merged {}-{}", it.first_seq, it.last_seq),
        Some(Next::End(End::TooSlow(seq))) => format!("too slow {seq:?}"),
        Some(Next::End(End::Closed)) => "closed".to_owned(),
    }
}

#[test]
fn deltas_before_and_while_the_book_is_read_are_not_sent_twice() {
    let outbox = outbox(9);
    joined(&outbox, BOOK, 1);
    delta(&outbox, 1, 2, &[10]);
    assert_eq!([next(&outbox), next(&outbox)], ["joined 1", "whole"]);
    delta(&outbox, 2, 3, &[10]);
    delta(&outbox, 3, 4, &[10]);
    outbox.was_read(BOOK, Seq(3));
    assert_eq!([next(&outbox), next(&outbox)], ["delta 4", "nothing"]);
}

#[test]
fn waiting_deltas_are_merged_and_too_many_become_a_snapshot() {
    let outbox = outbox(9);
    joined(&outbox, BOOK, 1);
    assert_eq!([next(&outbox), next(&outbox)], ["joined 1", "whole"]);
    outbox.was_read(BOOK, Seq(1));
    delta(&outbox, 1, 2, &[10]);
    delta(&outbox, 2, 3, &[11]);
    delta(&outbox, 3, 4, &[10]);
    assert_eq!([next(&outbox), next(&outbox)], ["merged 2-4", "nothing"]);
    delta(&outbox, 4, 5, &[10, 11]);
    delta(&outbox, 5, 6, &[12, 13]);
    assert_eq!(next(&outbox), "whole");
    outbox.was_read(BOOK, Seq(6));
    assert_eq!(next(&outbox), "nothing");
}

#[test]
fn a_slow_connection_can_resume_before_its_first_unsent_event() {
    let outbox = outbox(2);
    joined(&outbox, ORDERS, 1);
    assert_eq!([next(&outbox), next(&outbox)], ["joined 1", "whole"]);
    outbox.was_read(ORDERS, Seq(3));
    event(&outbox, 3);
    event(&outbox, 5);
    assert_eq!(next(&outbox), "5", "3 was in what was read");
    event(&outbox, 6);
    event(&outbox, 8);
    assert_eq!(next(&outbox), "6");
    event(&outbox, 9);
    event(&outbox, 10);
    // 6 was taken, but may not have been sent.
    assert_eq!(next(&outbox), "too slow Some(Seq(5))");
}

#[test]
fn a_state_that_was_computed_after_its_sequence_was_read_is_sent() {
    let outbox = outbox(9);
    joined(&outbox, AUCTION, 12);
    assert_eq!([next(&outbox), next(&outbox)], ["joined 12", "whole"]);
    outbox.was_read(AUCTION, Seq(12));
    outbox.state(AUCTION, Seq(11), &"before".into());
    assert_eq!(next(&outbox), "nothing");
    outbox.state(AUCTION, Seq(12), &"indicative".into());
    assert_eq!([next(&outbox), next(&outbox)], ["indicative", "nothing"]);
}

#[test]
fn live_events_wait_for_the_replay() {
    let outbox = outbox(100);
    assert!(outbox.prepare(ORDERS));
    outbox.resume(ORDERS, Seq(10));
    let past = |seq: u64| outbox.past(ORDERS, Seq(seq), seq.to_string().into()) == Queued::Yes;
    assert!(past(11));
    outbox.joined(ORDERS, Seq(12));
    let joined = std::pin::pin!(outbox.joined_after());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(joined.poll(&mut cx), std::task::Poll::Ready(Some(Seq(12))));
    event(&outbox, 13);
    assert!(past(12));
    outbox.caught_up();
    event(&outbox, 14);
    let sent: Vec<String> = (0..6).map(|_| next(&outbox)).collect();
    assert_eq!(sent, ["joined 10", "11", "12", "13", "14", "nothing"]);
}

#[test]
fn publications_for_an_earlier_subscription_are_ignored() {
    let outbox = outbox(9);
    joined(&outbox, ORDERS, 1);
    event(&outbox, 2);
    assert!(outbox.forget(ORDERS));
    assert!(outbox.prepare(ORDERS));
    event(&outbox, 3);
    assert_eq!(next(&outbox), "nothing");
    outbox.joined(ORDERS, Seq(3));
    assert_eq!([next(&outbox), next(&outbox)], ["joined 3", "whole"]);
}
