//! Icebergs.

use crate::page::{examples_of, orders};
use crate::venue::{ALICE, BOB, SPOT, Venue, limit, rejected, rules};
use rialto_model::{
    Amount, Command, Enumeration, Event, IcebergOrder, InstrumentState, NewOrder, OrderId,
    OrderKind, OrderSize, Outcome, PostOnly, Price, Quantity, RejectReason, Side, TimeInForce,
};

const PAGE: &str = include_str!("../../../../docs/rules/icebergs.md");

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn iceberg(terms: NewOrder, display_quantity: i64) -> IcebergOrder {
    IcebergOrder { terms, display_quantity: Quantity(display_quantity) }
}

/// Enters bids such as `100@1000` and `100/10000@990`; returns the first.
fn enter_bids(venue: &mut Venue, text: &str) -> OrderId {
    let mut entered = Vec::new();
    for bid in text.split_whitespace() {
        let (quantity, price) = bid.split_once('@').unwrap();
        let price = number(price);
        let command = match quantity.split_once('/') {
            None => Command::Place(limit(ALICE, Side::Buy, price, number(quantity))),
            Some((displayed, quantity)) => {
                let terms = limit(ALICE, Side::Buy, price, number(quantity));
                Command::PlaceIceberg(iceberg(terms, number(displayed)))
            }
        };
        match venue.apply(command) {
            Outcome::Order { order, .. } => entered.push(order),
            other => panic!("{bid} was answered {other:?}"),
        }
    }
    entered[0]
}

/// The bids in the form of the page.
fn bids(venue: &Venue) -> String {
    let order = |order: rialto_core::OrderState| match order.iceberg {
        None => format!("{}@{}", order.remaining, order.price),
        Some(iceberg) => format!("{}/{}@{}", iceberg.displayed, order.remaining, order.price),
    };
    let all: Vec<_> = venue.core.orders(SPOT, Side::Buy).map(order).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(" ") }
}

fn trades(venue: &Venue) -> Vec<(i64, i64)> {
    venue.trades().into_iter().map(|(price, size)| (size, price)).collect()
}

#[test]
fn icebergs_trade_as_the_page_says() {
    let mut checked = 0;
    for cells in examples_of(PAGE, "I") {
        let [id, before, order, made, after, _] = &cells[..] else { panic!("{cells:?}") };
        let mut venue = Venue::new();
        enter_bids(&mut venue, before);
        let [side, size, time_in_force] = order.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{order}")
        };
        let (quantity, price) = orders(size)[0];
        venue.place(NewOrder {
            time_in_force: TimeInForce::from_name(time_in_force).unwrap(),
            ..limit(BOB, Side::from_name(side).unwrap(), price, quantity)
        });
        assert_eq!(trades(&venue), orders(made), "{id}");
        assert_eq!(&bids(&venue), after, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 8, "the rows of the page");
}

#[test]
fn icebergs_are_amended_as_the_page_says() {
    let mut checked = 0;
    for cells in examples_of(PAGE, "IR") {
        let [id, before, sold, amendment, after] = &cells[..] else { panic!("{cells:?}") };
        let mut venue = Venue::new();
        let first = enter_bids(&mut venue, before);
        venue.enter(limit(BOB, Side::Sell, 100, number(sold)));
        let (quantity, price) = orders(amendment)[0];
        let outcome = venue.amend(ALICE, first, Some(price), Some(quantity));
        assert!(matches!(outcome, Outcome::Order { .. }), "{id}: {outcome:?}");
        assert_eq!(&bids(&venue), after, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 4, "the rows of the page");
}

#[test]
fn icebergs_trade_in_auctions_as_the_page_says() {
    let mut checked = 0;
    for cells in examples_of(PAGE, "IU") {
        let [id, before, sold, offers, made, after] = &cells[..] else { panic!("{cells:?}") };
        let mut venue = Venue::new();
        enter_bids(&mut venue, before);
        venue.enter(limit(BOB, Side::Sell, 100, number(sold)));
        venue.set_state(InstrumentState::Call);
        for (quantity, price) in orders(offers) {
            venue.enter(limit(BOB, Side::Sell, price, quantity));
        }
        venue.set_state(InstrumentState::Open);
        assert_eq!(trades(&venue), orders(made), "{id}");
        let is_refreshed = |event: &Event| matches!(event, Event::IcebergRefreshed(_));
        assert!(!venue.events.iter().any(is_refreshed), "{id}");
        assert_eq!(&bids(&venue), after, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 2, "the rows of the page");
}

#[test]
fn a_new_tranche_is_told_with_what_it_displays() {
    let mut venue = Venue::new();
    let first = enter_bids(&mut venue, "2/6@100 3@100");
    venue.place(limit(BOB, Side::Sell, 100, 2));
    let told: Vec<_> = venue
        .events
        .iter()
        .filter_map(|event| match event {
            Event::IcebergRefreshed(it) => Some((it.order, it.price.0, it.displayed.0)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(first, 100, 2)]);
}

#[test]
fn an_iceberg_takes_with_its_whole_quantity() {
    let mut venue = Venue::new();
    venue.enter(limit(BOB, Side::Sell, 100, 4));
    enter_bids(&mut venue, "2/9@100");
    assert_eq!(venue.trades(), [(100, 4)]);
    assert_eq!(bids(&venue), "2/5@100");
}

#[test]
fn icebergs_are_refused_as_the_page_says() {
    let terms = limit(ALICE, Side::Buy, 100, 400);
    let place = |order| Venue::new().apply(Command::PlaceIceberg(order));
    for wrong in [0, -1, 400, 401, 3] {
        let refused = rejected(RejectReason::DisplayQuantityInvalid);
        assert_eq!(place(iceberg(terms, wrong)), refused, "{wrong}");
    }
    let mut by_lot = Venue::ruled(rialto_model::TradingRules { lot: Quantity(10), ..rules() });
    let refused = by_lot.apply(Command::PlaceIceberg(iceberg(terms, 15)));
    assert_eq!(refused, rejected(RejectReason::DisplayQuantityInvalid));
    let accepted = by_lot.apply(Command::PlaceIceberg(iceberg(terms, 20)));
    assert!(matches!(accepted, Outcome::Order { .. }));
    for wrong in [
        NewOrder { kind: OrderKind::Market, price: Price::ZERO, ..terms },
        NewOrder { size: OrderSize::Quote(Amount(500)), ..terms },
        NewOrder { time_in_force: TimeInForce::Ioc, ..terms },
        NewOrder { time_in_force: TimeInForce::Fok, ..terms },
        NewOrder { time_in_force: TimeInForce::Gfa, ..terms },
        NewOrder { minimum_quantity: Quantity(1), ..terms },
    ] {
        let refused = rejected(RejectReason::InvalidCombination);
        assert_eq!(place(iceberg(wrong, 100)), refused, "{wrong:?}");
    }
    let mut venue = Venue::new();
    let order = enter_bids(&mut venue, "4/400@100");
    let grown = venue.amend(ALICE, order, None, Some(401));
    assert_eq!(grown, rejected(RejectReason::DisplayQuantityInvalid));
    assert_eq!(bids(&venue), "4/400@100");
    let mut calling = Venue::new();
    calling.set_state(InstrumentState::Call);
    let passive = NewOrder { post_only: PostOnly::Reject, ..terms };
    let refused = calling.apply(Command::PlaceIceberg(iceberg(passive, 100)));
    assert_eq!(refused, rejected(RejectReason::WrongPhase));
    let mut older = Venue::under(7, rules());
    let refused = older.apply(Command::PlaceIceberg(iceberg(terms, 100)));
    assert_eq!(refused, rejected(RejectReason::CommandUnknown));
}
