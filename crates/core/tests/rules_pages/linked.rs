//! Linked orders.

use crate::page::{examples, examples_of, letters};
use crate::venue::{ALICE, BASE, BOB, CAROL, ENGINE, QUOTE, SPOT, Venue, limit, rejected, rules};
use rialto_core::OrderState;
use rialto_model::{
    Amend, AmendTrigger, Command, Condition, Distance, Enumeration, InstrumentState, Leg, LinkKind,
    NewOrder, OrderId, OrderKind, OrderList, OrderRef, OrderSize, Outcome, Price, Quantity,
    RejectReason, Restrict, Restriction, RestrictionTarget, Side, TimeInForce, Timestamp, Trade,
    TradingRules, TrailTerms, Trigger, TriggerKind,
};

/// The orders of [`venue`].
const ORDERS_BEFORE: u64 = 2;

const PAGE: &str = include_str!("../../../../docs/rules/linked-orders.md");

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn leg(condition: Option<Condition>, price: Option<i64>) -> Leg {
    Leg {
        condition,
        kind: if price.is_some() { OrderKind::Limit } else { OrderKind::Market },
        time_in_force: TimeInForce::Gtc,
        price: Price(price.unwrap_or(0)),
        expire_at: Timestamp::ZERO,
    }
}

fn trigger(kind: TriggerKind, price: &str) -> Condition {
    Condition::Trigger(Trigger { kind, price: Price(number(price)) })
}

fn stop(words: &[&str]) -> Leg {
    match words {
        ["stop", price] => leg(Some(trigger(TriggerKind::Stop, price)), None),
        ["stop", price, "limit", limit] => {
            leg(Some(trigger(TriggerKind::Stop, price)), Some(number(limit)))
        }
        ["trail", distance] => {
            let distance = Distance::Price(Price(number(distance)));
            let trail = TrailTerms { distance, activation_price: Price::ZERO };
            leg(Some(Condition::Trail(trail)), None)
        }
        other => panic!("{other:?}"),
    }
}

fn side(text: &str) -> Side {
    Side::from_name(text).unwrap_or_else(|| panic!("{text} is no side"))
}

/// Such as `4@100`.
fn size_at(text: &str) -> (i64, i64) {
    let (quantity, price) = text.split_once('@').unwrap_or_else(|| panic!("{text}"));
    (number(quantity), number(price))
}

/// A list in the form of the page.
fn list(text: &str) -> OrderList {
    let words: Vec<&str> = text.split(' ').collect();
    let side = side(words[0]);
    let mut list = OrderList {
        terms: NewOrder::limit(ALICE, SPOT, side, Quantity(0), Price(0)),
        condition: None,
        kind: LinkKind::Oto,
        take_profit: None,
        stop_loss: None,
    };
    let mut rest = &words[2..];
    if let [kind @ "take_profit", price, behind @ ..] = rest {
        list.terms.kind = OrderKind::Market;
        list.terms.size = OrderSize::Base(Quantity(number(words[1])));
        list.condition = Some(trigger(TriggerKind::from_name(kind).unwrap(), price));
        rest = behind;
    } else {
        let (quantity, price) = size_at(words[1]);
        list.terms = limit(ALICE, side, price, quantity);
    }
    if let ["or", behind @ ..] = rest {
        list.kind = LinkKind::Oco;
        list.stop_loss = Some(stop(behind));
        return list;
    }
    if let ["profit", price, behind @ ..] = rest {
        list.take_profit = Some(leg(None, Some(number(price))));
        rest = behind;
    }
    if let ["loss", price] = rest {
        list.stop_loss = Some(stop(&["stop", price]));
    }
    list
}

/// The open orders of an account in the order of their ids.
fn open(venue: &Venue) -> Vec<OrderState> {
    let mut orders: Vec<_> = venue.core.orders_of(ALICE).collect();
    orders.sort_by_key(|order| order.id);
    orders
}

fn shown(order: &OrderState) -> String {
    let side = order.side.name();
    match (order.trigger, order.trail) {
        (Some(Trigger { kind, price }), _) => {
            format!("{side} {} {} {price}", order.remaining, kind.name())
        }
        (None, Some(_)) => format!("{side} {} trail", order.remaining),
        (None, None) => format!("{side} {}@{}", order.remaining, order.price),
    }
}

/// What an account traded in the events of a command.
fn note_trades(venue: &Venue, made: &mut Vec<String>) {
    let own = |trade: &&Trade| trade.maker_account == ALICE || trade.taker_account == ALICE;
    made.extend(
        venue.trade_events().filter(own).map(|trade| format!("{}@{}", trade.quantity, trade.price)),
    );
}

/// The first order of the only list.
fn first_of_list() -> OrderId {
    OrderId::from_parts(ENGINE, ORDERS_BEFORE + 1)
}

/// Does a step, and the background work behind it.
fn act(venue: &mut Venue, step: &str, made: &mut Vec<String>) {
    let outcome = apply(venue, step, made);
    assert!(!outcome.is_rejected(), "{step}: {outcome:?}");
    work(venue, made);
}

fn work(venue: &mut Venue, made: &mut Vec<String>) {
    for _ in 0..3 {
        venue.tick();
        note_trades(venue, made);
    }
}

/// The order of a list that is named, or the open order of a number.
fn named(venue: &Venue, which: &str) -> OrderId {
    let first = first_of_list();
    match which {
        "first" => first,
        "second" => OrderId(first.0 + 1),
        number => open(venue)[self::number(number) as usize - 1].id,
    }
}

/// Does a step; returns the answer to its last command.
fn apply(venue: &mut Venue, step: &str, made: &mut Vec<String>) -> Outcome {
    let words: Vec<&str> = step.split(' ').collect();
    let mut apply = |venue: &mut Venue, command: Command| {
        let outcome = venue.apply(command);
        note_trades(venue, made);
        outcome
    };
    let ioc = |order: NewOrder| NewOrder { time_in_force: TimeInForce::Ioc, ..order };
    match words[..] {
        ["rest", way, order] => {
            let (quantity, price) = size_at(order);
            apply(venue, Command::Place(limit(BOB, side(way), price, quantity)))
        }
        ["last", price] => {
            let price = number(price);
            apply(venue, Command::Place(limit(BOB, Side::Sell, price, 1)));
            apply(venue, Command::Place(ioc(limit(CAROL, Side::Buy, price, 1))))
        }
        ["cancel", which] => {
            let order = OrderRef::Id(named(venue, which));
            apply(venue, Command::Cancel { account: ALICE, order })
        }
        ["amend", which, "stop", price] => {
            let order = OrderRef::Id(named(venue, which));
            let amend = Amend { account: ALICE, order, price: None, quantity: None };
            let trigger_price = Price(number(price));
            apply(venue, Command::AmendTrigger(AmendTrigger { amend, trigger_price }))
        }
        ["amend", which, "limit", price] | ["amend", which, price] if !price.contains('@') => {
            let (order, price) = (OrderRef::Id(named(venue, which)), Some(Price(number(price))));
            let quantity = None;
            apply(venue, Command::Amend(Amend { account: ALICE, order, price, quantity }))
        }
        ["amend", which, order] => {
            let (quantity, price) = size_at(order);
            let order = OrderRef::Id(named(venue, which));
            let (price, quantity) = (Some(Price(price)), Some(Quantity(quantity)));
            apply(venue, Command::Amend(Amend { account: ALICE, order, price, quantity }))
        }
        [what @ ("kill" | "restrict")] => {
            let target = RestrictionTarget::Account(ALICE);
            let restriction = Restriction::CancelOnly;
            let is_kill = what == "kill";
            let (by_member, cancel) = (is_kill, is_kill);
            apply(venue, Command::Restrict(Restrict { target, restriction, by_member, cancel }))
        }
        [state @ ("call" | "open")] => {
            let state = InstrumentState::from_name(state).unwrap();
            apply(venue, Command::SetInstrumentState { instrument: SPOT, state })
        }
        [way, order] => {
            let (quantity, price) = size_at(order);
            apply(venue, Command::Place(ioc(limit(CAROL, side(way), price, quantity))))
        }
        _ => panic!("{step}"),
    }
}

/// A venue where one unit traded at 100.
fn venue() -> Venue {
    let mut venue = Venue::ruled(TradingRules {
        market_protection_ppm: 50_000,
        maker_fee_ppm: 0,
        taker_fee_ppm: 0,
        ..rules()
    });
    act(&mut venue, "last 100", &mut Vec::new());
    venue
}

/// Compares what traded, and the open orders.
fn verify(id: &str, venue: &Venue, made: &[String], (traded, after): (&String, &String)) {
    let none = |texts: &[String], between: &str| match texts.is_empty() {
        true => "–".to_owned(),
        false => texts.join(between),
    };
    assert_eq!(none(made, " "), *traded, "{id}");
    let orders: Vec<_> = open(venue).iter().map(shown).collect();
    assert_eq!(none(&orders, ", "), *after, "{id}");
}

#[test]
fn each_order_of_arrival_has_the_outcome_of_the_page() {
    let mut checked = 0;
    for cells in examples_of(PAGE, "LA") {
        let [id, text, first, then, answer, traded, after] = &cells[..] else {
            panic!("{cells:?}")
        };
        let mut venue = venue();
        venue.apply(Command::PlaceList(list(text)));
        let mut made = Vec::new();
        let steps: Vec<_> = first.split("; ").collect();
        let (last, before) = steps.split_last().unwrap();
        for step in before {
            act(&mut venue, step, &mut made);
        }
        apply(&mut venue, last, &mut made);
        let answered = match apply(&mut venue, then, &mut made) {
            Outcome::Rejected { reason } => reason.code(),
            _ => "accepted",
        };
        assert_eq!(answered, answer, "{id}");
        work(&mut venue, &mut made);
        verify(id, &venue, &made, (traded, after));
        checked += 1;
    }
    assert_eq!(checked, 15, "the rows of the page");
}

#[test]
fn lists_do_what_the_page_says() {
    let mut checked = 0;
    for cells in examples(PAGE).filter(|cells| !["LA", "LR"].contains(&letters(&cells[0]))) {
        let [id, text, steps, traded, after, _] = &cells[..] else { panic!("{cells:?}") };
        let mut venue = venue();
        let outcome = venue.apply(Command::PlaceList(list(text)));
        assert!(matches!(outcome, Outcome::Order { .. }), "{id}: {outcome:?}");
        let mut made = Vec::new();
        for step in steps.split("; ") {
            act(&mut venue, step, &mut made);
        }
        verify(id, &venue, &made, (traded, after));
        checked += 1;
    }
    assert_eq!(checked, 19, "the rows of the page");
}

#[test]
fn pairs_reserve_what_the_page_says() {
    let mut checked = 0;
    for cells in examples_of(PAGE, "LR") {
        let [id, text, first, second] = &cells[..] else { panic!("{cells:?}") };
        let mut venue = venue();
        let before = (venue.balance(ALICE, BASE).1, venue.balance(ALICE, QUOTE).1);
        let mut steps = text.split("; ");
        let outcome = venue.apply(Command::PlaceList(list(steps.next().unwrap())));
        for step in steps {
            act(&mut venue, step, &mut Vec::new());
        }
        if let Some(reason) = RejectReason::ALL.iter().find(|reason| reason.code() == first) {
            assert_eq!(outcome, rejected(*reason), "{id}");
        } else {
            let reserved: Vec<_> = open(&venue).iter().map(|order| order.reserved.0).collect();
            assert_eq!(reserved, [number(first).into(), number(second).into()], "{id}");
            let held = (venue.balance(ALICE, BASE).1, venue.balance(ALICE, QUOTE).1);
            let sum: i128 = reserved.iter().sum();
            assert_eq!(held.0 - before.0 + held.1 - before.1, sum, "{id}");
        }
        checked += 1;
    }
    assert_eq!(checked, 5, "the rows of the page");
}
