//! Nanoseconds to encode and decode the frequent commands and events.
//!
//! `cargo run --release -p rialto-model --example codec_rate`
//!
//! Each figure is the best of several rounds over a few thousand different values, because other
//! work of the machine only adds to it.

#![allow(clippy::print_stdout)]

use rialto_model::{
    Accepted, AccountId, Amount, COMMAND_BYTES_MAX, ClientOrderId, Command, Done, DoneReason,
    EVENT_BYTES_MAX, EVENTS_HEADER_BYTES, Event, EventEncoder, Handling, InstrumentId, NewOrder,
    OrderId, OrderKind, OrderRef, OrderSize, PostOnly, Price, Quantity, Side, TimeInForce,
    Timestamp, Trade, TradeId, decode_command, decode_events, encode_command,
};
use std::hint::black_box;
use std::time::Instant;

const VALUES: u64 = 4_096;
const ROUNDS: usize = 200;

fn order(number: u64, client_order_id: ClientOrderId) -> NewOrder {
    NewOrder {
        account: AccountId(number as u32 % 1_000),
        instrument: InstrumentId(number as u32 % 7 + 1),
        side: if number.is_multiple_of(3) { Side::Buy } else { Side::Sell },
        kind: OrderKind::Limit,
        time_in_force: TimeInForce::Gtc,
        post_only: PostOnly::Off,
        self_trade: None,
        handling: Handling::NONE.with_cancel_on_disconnect(number.is_multiple_of(5)),
        size: OrderSize::Base(Quantity(number as i64 * 10)),
        price: Price(number as i64 + 1_000_000),
        minimum_quantity: Quantity::ZERO,
        expire_at: Timestamp::ZERO,
        client_order_id,
    }
}

fn accepted(number: u64, client_order_id: ClientOrderId) -> Event {
    Event::Accepted(Accepted {
        order: OrderId(number),
        terms: order(number, client_order_id),
        reserved: Amount(i128::from(number) * 1_000),
        rests: number.is_multiple_of(2),
    })
}

/// The last one is for a currency of 18 decimal places.
fn trade(number: u64, unit: i128) -> Event {
    Event::Trade(Trade {
        trade: TradeId(number),
        instrument: InstrumentId(1),
        taker_side: if number.is_multiple_of(3) { Side::Buy } else { Side::Sell },
        auction: false,
        price: Price(number as i64),
        quantity: Quantity(number as i64),
        maker_order: OrderId(number),
        taker_order: OrderId(number + 1),
        maker_account: AccountId(1),
        taker_account: AccountId(2),
        maker_remaining: Quantity(3),
        taker_remaining: Quantity(4),
        notional: Amount(i128::from(number) * unit),
        maker_fee: Amount(5),
        taker_fee: Amount(6),
        buyer_unreserved: Amount(i128::from(number)),
    })
}

fn done(number: u64) -> Event {
    Event::Done(Done {
        order: OrderId(number),
        account: AccountId(7),
        instrument: InstrumentId(1),
        side: Side::Buy,
        reason: DoneReason::Cancelled,
        price: Price(number as i64),
        remaining: Quantity(5),
        released: Amount(i128::from(number)),
    })
}

/// The best time of a round, in nanoseconds for each value.
fn best_ns(mut round: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round();
        best = best.min(start.elapsed().as_nanos() as f64 / VALUES as f64);
    }
    best
}

fn show(name: &str, bytes: usize, encode_ns: f64, decode_ns: f64) {
    println!("{name:<28} {bytes:>5} B  encode {encode_ns:>6.2} ns  decode {decode_ns:>6.2} ns");
}

fn commands(name: &str, make: impl Fn(u64) -> Command) {
    let commands: Vec<Command> = (1..=VALUES).map(make).collect();
    // As in a group of the journal: one after the other in a buffer that is reused.
    let mut buffer = vec![0_u8; (VALUES as usize + 1) * COMMAND_BYTES_MAX];
    let mut ends = vec![0; commands.len()];
    let encode_ns = best_ns(|| {
        let mut at = 0;
        for (command, end) in commands.iter().zip(&mut ends) {
            at += encode_command(Timestamp(7), black_box(command), &mut buffer[at..]);
            *end = at;
        }
    });
    let decode_ns = best_ns(|| {
        let mut start = 0;
        for &end in &ends {
            black_box(decode_command(&buffer[start..end]).is_ok());
            start = end;
        }
    });
    let mut start = 0;
    for (&end, command) in ends.iter().zip(&commands) {
        assert_eq!(decode_command(&buffer[start..end]), Ok((Timestamp(7), *command)));
        start = end;
    }
    show(name, ends[0], encode_ns, decode_ns);
}

fn events(name: &str, make: impl Fn(u64) -> Event) {
    let events: Vec<Event> = (1..=VALUES).map(make).collect();
    let mut buffer = vec![0_u8; EVENTS_HEADER_BYTES + events.len() * EVENT_BYTES_MAX];
    let mut bytes = 0;
    let encode_ns = best_ns(|| {
        let mut encoder = EventEncoder::new(Timestamp(7), &mut buffer);
        for event in &events {
            encoder.push(black_box(event)).expect("the buffer has room for each");
        }
        bytes = encoder.finish();
    });
    let record = &buffer[..bytes];
    let decoded = || decode_events(record).expect("it was just encoded").1;
    let decode_ns = best_ns(|| {
        for event in decoded() {
            black_box(event.is_ok());
        }
    });
    assert!(decoded().map(|event| event.expect("it was just encoded")).eq(events.iter().copied()));
    show(name, (bytes - EVENTS_HEADER_BYTES) / events.len(), encode_ns, decode_ns);
}

fn main() {
    let named = "client-order-000001".parse().expect("it is short and printable");
    let cancel = |number| Command::Cancel {
        account: AccountId(number as u32),
        order: OrderRef::Id(OrderId(number)),
    };
    commands("place", |number| Command::Place(order(number, ClientOrderId::EMPTY)));
    commands("place, named", |number| Command::Place(order(number, named)));
    commands("cancel", cancel);
    commands("place and cancel in turn", |number| match number % 2 {
        0 => cancel(number),
        _ => Command::Place(order(number, ClientOrderId::EMPTY)),
    });
    events("accepted", |number| accepted(number, ClientOrderId::EMPTY));
    events("accepted, named", |number| accepted(number, named));
    events("trade", |number| trade(number, 1_000));
    events("trade, wide", |number| trade(number, 1_000_000_000_000_000_000_000));
    events("done", done);
    events("accepted, trade, done, mixed", |number| match number * 7 % 5 {
        0 | 1 => accepted(number, ClientOrderId::EMPTY),
        2 | 3 => trade(number, 1_000),
        _ => done(number),
    });
}
