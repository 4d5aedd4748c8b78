//! Price ranges.

use crate::page::{examples, orders};
use crate::venue::{ALICE, BOB, CAROL, SPOT, Venue, buy, rules, sell};
use rialto_model::{
    AuctionRules, Command, DoneReason, Event, InstrumentState, NewOrder, OrderStatus, Outcome,
    Price, RejectReason, Side, TimeInForce, TradingRules,
};

const PAGE: &str = include_str!("../../../../docs/rules/price-ranges.md");

fn venue(reference: i64, tick: i64, auctions: AuctionRules) -> Venue {
    let rules = TradingRules { reference_price: Price(reference), tick: Price(tick), ..rules() };
    let mut venue = Venue::ruled(rules);
    let outcome =
        venue.apply(Command::SetAuctionRules { instrument: SPOT, rules: auctions, seed: 7 });
    assert_eq!(outcome, Outcome::Done);
    venue
}

/// Trades one unit at a price, which becomes the last price.
fn trade_at(venue: &mut Venue, price: i64) {
    venue.enter(sell(ALICE, price, 1));
    venue.enter(buy(BOB, price, 1));
    assert_eq!(venue.trades(), [(price, 1)]);
}

fn example(id: &str) -> Vec<String> {
    examples(PAGE).find(|cells| cells[0] == id).unwrap_or_else(|| panic!("no example {id}"))
}

fn interruption(venue: &Venue) -> Option<rialto_model::Interrupted> {
    venue.events.iter().find_map(|event| match event {
        Event::Interrupted(interrupted) => Some(*interrupted),
        _ => None,
    })
}

fn state(venue: &Venue) -> InstrumentState {
    venue.core.instrument(SPOT).unwrap().instrument.state
}

#[test]
fn trading_is_interrupted_where_the_page_says() {
    for id in ["V1", "V10", "V4", "V5"] {
        let cells = example(id);
        let [_, last, range, sells, order, trades, price, span, left, _] = &cells[..] else {
            panic!("{cells:?}")
        };
        let auctions = AuctionRules {
            dynamic_range_ppm: range.parse().unwrap(),
            call_ms: 1_000,
            ..AuctionRules::PLAIN
        };
        let mut venue = venue(0, 1, auctions);
        trade_at(&mut venue, last.parse().unwrap());
        for (quantity, price) in orders(sells) {
            venue.enter(sell(ALICE, price, quantity));
        }
        let (size, time_in_force) = order.strip_prefix("buy ").unwrap().split_once(' ').unwrap();
        let (quantity, limit) = orders(size)[0];
        let time_in_force = match time_in_force {
            "gtc" => TimeInForce::Gtc,
            "ioc" => TimeInForce::Ioc,
            _ => TimeInForce::Fok,
        };
        let outcome = venue.place(NewOrder { time_in_force, ..buy(BOB, limit, quantity) });
        let made: Vec<_> = venue.trades().into_iter().map(|(price, size)| (size, price)).collect();
        assert_eq!(made, orders(trades), "{id}");
        let interrupted = interruption(&venue);
        let told =
            interrupted.map(|it| (it.price.0.to_string(), format!("{}–{}", it.low, it.high)));
        let expected = (price != "–").then(|| (price.clone(), span.clone()));
        assert_eq!(told, expected, "{id}");
        let after =
            if interrupted.is_some() { InstrumentState::Call } else { InstrumentState::Open };
        assert_eq!(state(&venue), after, "{id}");
        let rest: i64 = venue.queue(Side::Buy).iter().map(|(_, quantity)| quantity).sum();
        let ended = match outcome {
            Outcome::Rejected { reason } => reason.code().to_owned(),
            Outcome::Order { status: OrderStatus::Cancelled, remaining, .. } => {
                assert_eq!(venue.done()[0].1, DoneReason::Remainder);
                format!("{remaining} cancelled")
            }
            _ => format!("{rest} rest"),
        };
        assert_eq!(&ended, left, "{id}");
    }
}

#[test]
fn the_limits_of_the_day_are_those_of_the_page() {
    let cells = example("V3");
    let [_, around, range, tick, accepted, refused, _] = &cells[..] else { panic!("{cells:?}") };
    let daily_range_ppm = range.parse().unwrap();
    let auctions = AuctionRules { daily_range_ppm, ..AuctionRules::PLAIN };
    let mut venue = venue(around.parse().unwrap(), tick.parse().unwrap(), auctions);
    for price in accepted.split(' ').map(|price| price.parse().unwrap()) {
        assert!(!venue.place(sell(ALICE, price, 1)).is_rejected(), "{price}");
        assert!(!venue.place(buy(BOB, price, 1)).is_rejected(), "{price}");
    }
    for price in refused.split(' ').map(|price| price.parse().unwrap()) {
        let outside = Outcome::Rejected { reason: RejectReason::PriceOutsideLimits };
        assert_eq!(venue.place(sell(ALICE, price, 1)), outside, "{price}");
        assert_eq!(venue.place(buy(ALICE, price, 1)), outside, "{price}");
        let order = venue.enter(buy(BOB, 54_002, 2));
        assert_eq!(venue.amend(BOB, order, Some(price), None), outside, "{price}");
    }
}

/// What an auction led to, in the words of the page.
fn result(venue: &Venue) -> String {
    match interruption(venue) {
        Some(it) if it.until_command => "until a command".to_owned(),
        Some(_) => "extended".to_owned(),
        None => venue.trades()[0].0.to_string(),
    }
}

#[test]
fn calls_are_extended_where_the_page_says() {
    for id in ["V6", "V7", "V8", "V9"] {
        let cells = example(id);
        let [_, last, ranges, book, first, second, _] = &cells[..] else { panic!("{cells:?}") };
        let (range, extended) = ranges.split_once(' ').unwrap();
        let auctions = AuctionRules {
            auction_range_ppm: range.parse().unwrap(),
            extended_range_ppm: extended.parse().unwrap(),
            call_ms: 1_000,
            random_end_ms: 500,
            ..AuctionRules::PLAIN
        };
        let mut venue = venue(0, 1, auctions);
        trade_at(&mut venue, last.parse().unwrap());
        venue.set_state(InstrumentState::Call);
        let [bought, sold] = orders(book)[..] else { panic!("{book}") };
        venue.enter(buy(BOB, bought.1, bought.0));
        venue.enter(sell(CAROL, sold.1, sold.0));
        venue.set_state(InstrumentState::Open);
        assert_eq!(&result(&venue), first, "{id}");
        match first.as_str() {
            "extended" => {
                let due = venue.core.next_due().0;
                let length = due - venue.time;
                assert!((1_000_000_000..=1_500_000_000).contains(&length), "{id}: {length}");
                venue.time = due;
                venue.tick();
                assert_eq!(&result(&venue), second, "{id}");
            }
            "until a command" => {
                assert_eq!(venue.core.next_due().0, u64::MAX, "{id}");
                venue.set_state(InstrumentState::Open);
                assert_eq!(&result(&venue), second, "{id}");
            }
            _ => {}
        }
        assert_eq!(state(&venue), InstrumentState::Open, "{id}");
    }
}
