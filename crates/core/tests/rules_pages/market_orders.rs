//! Market orders, and those of kinds that take their limit from the book.

use crate::page::{examples, orders};
use crate::venue::{ALICE, BOB, SPOT, Venue, limit, rules};
use rialto_model::{
    Command, DoneReason, Enumeration, Event, InstrumentState, NewOrder, OrderKind, OrderStatus,
    Outcome, Price, RejectReason, Side, TimeInForce, TradingRules,
};

const PAGE: &str = include_str!("../../../../docs/rules/market-orders.md");

/// `buy 10 gtc`, of a kind.
fn order(text: &str, kind: &str) -> NewOrder {
    let [side, quantity, time_in_force] = text.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{text}")
    };
    let side = Side::from_name(side).unwrap();
    NewOrder {
        kind: OrderKind::from_name(kind).unwrap(),
        time_in_force: TimeInForce::from_name(time_in_force).unwrap(),
        ..limit(BOB, side, 0, quantity.parse().unwrap())
    }
}

#[test]
fn orders_trade_and_rest_as_the_page_says() {
    let mut checked = 0;
    for cells in examples(PAGE) {
        let [id, text, kind, others, protection, tick, at, trades, left, _] = &cells[..] else {
            panic!("{cells:?}")
        };
        let mut venue = Venue::ruled(TradingRules {
            market_protection_ppm: protection.parse().unwrap(),
            tick: Price(tick.parse().unwrap()),
            ..rules()
        });
        let order = order(text, kind);
        for (quantity, price) in orders(others) {
            venue.enter(limit(ALICE, order.side.opposite(), price, quantity));
        }
        let outcome = venue.place(order);
        let made: Vec<_> = venue.trades().into_iter().map(|(price, size)| (size, price)).collect();
        assert_eq!(made, orders(trades), "{id}");
        let (ended, price) = match outcome {
            Outcome::Rejected { reason } => (reason.code().to_owned(), None),
            Outcome::Order { status: OrderStatus::Cancelled, remaining, price, .. } => {
                assert_eq!(venue.done()[0].1, DoneReason::Remainder, "{id}");
                (format!("{remaining} cancelled"), Some(price))
            }
            Outcome::Order { remaining, price, .. } => {
                assert_eq!(venue.queue(order.side), [(price.0, remaining.0)], "{id}");
                (format!("{remaining} rest"), Some(price))
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(&ended, left, "{id}");
        assert!(price.is_none_or(|price| price.to_string() == *at), "{id}");
        checked += 1;
    }
    assert_eq!(checked, 9, "the rows of the page");
}

#[test]
fn each_kind_is_accepted_with_the_times_in_force_of_the_page() {
    let listed: Vec<_> = crate::page::rows(PAGE).filter(|cells| cells.len() == 3).collect();
    for kind in [OrderKind::Market, OrderKind::BestPrice, OrderKind::FiveLevels] {
        let row = listed.iter().find(|cells| cells[0] == kind.name()).unwrap();
        for &time_in_force in TimeInForce::ALL {
            // A session needs a timetable, and the end of a date a date.
            if matches!(time_in_force, TimeInForce::Gfs | TimeInForce::Gtd) {
                continue;
            }
            let mut venue = Venue::new();
            venue.enter(limit(ALICE, Side::Sell, 100, 5));
            let order = NewOrder { kind, time_in_force, ..limit(BOB, Side::Buy, 0, 1) };
            let outcome = venue.place(order);
            let is_for_auction = time_in_force.is_for_auction();
            let names: Vec<_> = row[2].split([' ', ',', ';']).collect();
            let expected = match names.contains(&time_in_force.name()) {
                true => None,
                false if kind == OrderKind::Market && is_for_auction => {
                    Some(RejectReason::WrongPhase)
                }
                false => Some(RejectReason::InvalidCombination),
            };
            let refused = match outcome {
                Outcome::Rejected { reason } => Some(reason),
                _ => None,
            };
            assert_eq!(refused, expected, "{kind:?} {time_in_force:?}");
        }
    }
}

#[test]
fn orders_are_refused_as_the_page_says() {
    let best = order("buy 1 gtc", "best_price");
    let five = order("buy 1 ioc", "five_levels");
    let market = order("buy 1 gtc", "market");
    assert_eq!(Venue::new().place(best), rejected(RejectReason::NoLiquidity));
    let with_price = |order| NewOrder { price: Price(100), ..order };
    let by_amount =
        |order| NewOrder { size: rialto_model::OrderSize::Quote(rialto_model::Amount(5)), ..order };
    let passive = |order| NewOrder { post_only: rialto_model::PostOnly::Reject, ..order };
    let wrong = [
        with_price(best),
        with_price(five),
        by_amount(best),
        by_amount(market),
        passive(best),
        passive(market),
        passive(five),
        NewOrder { time_in_force: TimeInForce::Gfa, ..five },
        NewOrder { time_in_force: TimeInForce::Gfa, ..best },
    ];
    for order in wrong {
        let mut venue = Venue::new();
        venue.enter(limit(ALICE, Side::Sell, 100, 5));
        assert_eq!(venue.place(order), rejected(RejectReason::InvalidCombination), "{order:?}");
    }
    let mut venue = Venue::new();
    venue.enter(limit(ALICE, Side::Sell, 100, 5));
    venue.set_state(InstrumentState::Call);
    for order in [best, five, market] {
        assert_eq!(venue.place(order), rejected(RejectReason::WrongPhase), "{order:?}");
    }
    let mut older = Venue::under(9, rules());
    older.enter(limit(ALICE, Side::Sell, 100, 5));
    let five_gtc = NewOrder { time_in_force: TimeInForce::Gtc, ..five };
    assert_eq!(older.place(five_gtc), rejected(RejectReason::InvalidCombination));
    let mut older = Venue::under(4, rules());
    older.enter(limit(ALICE, Side::Sell, 100, 5));
    assert_eq!(older.place(best), rejected(RejectReason::AttributeUnknown));
    assert_eq!(older.place(five), rejected(RejectReason::AttributeUnknown));
    assert_eq!(older.place(market), rejected(RejectReason::InvalidCombination));
}

#[test]
fn an_order_does_not_rest_off_the_tick() {
    // Before rules version 4 a tick could change while orders of an older one were open.
    let mut venue = Venue::under(3, rules());
    venue.enter(limit(ALICE, Side::Sell, 101, 5));
    venue.set_rules(TradingRules { tick: Price(4), ..rules() });
    let outcome = venue.apply(Command::SetRulesVersion { version: 5 });
    assert_eq!(outcome, Outcome::Done);
    let order = |text| order(text, "best_price");
    assert_eq!(venue.place(order("buy 6 gtc")), rejected(RejectReason::PriceOffTick));
    assert_eq!(venue.place(order("buy 6 fok")), rejected(RejectReason::Unfillable));
    venue.enter(order("buy 6 ioc"));
    assert_eq!(venue.trades(), [(101, 5)]);
}

#[test]
fn what_rests_after_an_interruption_takes_part_in_the_auction() {
    let auctions = rialto_model::AuctionRules {
        dynamic_range_ppm: 20_000,
        call_ms: 1_000,
        ..rialto_model::AuctionRules::PLAIN
    };
    let reference_price = Price(100);
    let mut venue = Venue::ruled(TradingRules { reference_price, ..rules() });
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules: auctions, seed: 7 });
    venue.enter(limit(ALICE, Side::Sell, 101, 1));
    venue.enter(limit(ALICE, Side::Sell, 103, 1));
    venue.place(order("buy 3 gtc", "market"));
    assert_eq!(venue.trades(), [(101, 1)]);
    let is_told = |event: &Event| matches!(event, Event::Interrupted(_));
    assert!(venue.events.iter().any(is_told), "{:?}", venue.events);
    // The best price was 101, and the protection is a tenth of it.
    assert_eq!(venue.queue(Side::Buy), [(111, 2)]);
}

fn rejected(reason: RejectReason) -> Outcome {
    Outcome::Rejected { reason }
}

#[test]
fn what_rests_is_amended_and_cancelled_as_a_limit_order() {
    let mut venue = Venue::new();
    venue.enter(limit(ALICE, Side::Sell, 100, 1));
    let order = venue.enter(order("buy 3 gtc", "best_price"));
    assert_eq!(venue.queue(Side::Buy), [(100, 2)]);
    assert!(!venue.amend(BOB, order, Some(98), Some(5)).is_rejected());
    assert_eq!(venue.queue(Side::Buy), [(98, 4)]);
    assert!(!venue.cancel(BOB, order).is_rejected());
    assert_eq!(venue.queue(Side::Buy), []);
}
