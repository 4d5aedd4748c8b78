//! Conditional orders at the smallest and at the largest prices. After each step, a snapshot of the venue restores to
//! the same state.

use crate::venue::*;
use rialto_core::Core;
use rialto_model::{
    AccountId, Amend, AmendTrigger, Command, Condition, ConditionalOrder, Distance, DoneReason,
    Event, Leg, LinkKind, NewOrder, OrderId, OrderKind, OrderList, OrderRef, OrderStatus, Outcome,
    Price, Quantity, RejectReason, Side, TimeInForce, Timestamp, TradingRules, TrailTerms,
    TrailingOrder, Trigger, TriggerKind,
};

/// The largest price; it ends in 7.
const MAX: i64 = i64::MAX;
/// It pays for any order.
const FUNDS_FOR_ANY_ORDER: i128 = 1 << 110;

/// A venue where ALICE, BOB and CAROL can pay any price, and one unit traded at `price`.
fn at(price: i64, rules: TradingRules) -> Venue {
    let mut venue = Venue::ruled(rules);
    for account in [ALICE, BOB, CAROL] {
        venue.apply(Command::deposit(transfer(account, QUOTE, FUNDS_FOR_ANY_ORDER, "riches")));
    }
    last(&mut venue, price);
    venue
}

fn at_100() -> Venue {
    at(100, rules())
}

fn fixed(kind: TriggerKind, price: i64) -> Condition {
    Condition::Trigger(Trigger { kind, price: Price(price) })
}

fn stop(price: i64) -> Condition {
    fixed(TriggerKind::Stop, price)
}

fn trail(distance: Distance, activation: i64) -> Condition {
    Condition::Trail(TrailTerms { distance, activation_price: Price(activation) })
}

fn by_price(price: i64) -> Distance {
    Distance::Price(Price(price))
}

fn market(side: Side) -> NewOrder {
    NewOrder { kind: OrderKind::Market, ..limit(ALICE, side, 0, 1) }
}

/// Enters an order that waits; its id, or why it was refused.
fn enter(
    venue: &mut Venue,
    terms: NewOrder,
    condition: Condition,
) -> Result<OrderId, RejectReason> {
    let outcome = venue.apply(match condition {
        Condition::Trigger(trigger) => {
            Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate: false })
        }
        Condition::Trail(trail) => Command::PlaceTrailing(TrailingOrder { terms, trail }),
    });
    assert_restores(venue);
    match outcome {
        Outcome::Order { order, status: OrderStatus::Waiting, .. } => Ok(order),
        Outcome::Rejected { reason } => Err(reason),
        other => panic!("{terms:?} at {condition:?} was answered {other:?}"),
    }
}

/// A snapshot of the venue is the venue again.
fn assert_restores(venue: &Venue) {
    let restored = Core::restore(&venue.core.snapshot(), 7).unwrap();
    assert_eq!(restored.state_hash(), venue.core.state_hash());
}

/// Does the background work; the limits of the orders that are entered.
fn entered(venue: &mut Venue) -> Vec<(OrderId, i64)> {
    let mut limits = Vec::new();
    while venue.core.has_background_work() {
        venue.tick();
        assert_restores(venue);
        limits.extend(venue.events.iter().filter_map(|event| match event {
            Event::Triggered(it) => Some((it.order, it.price.0)),
            _ => None,
        }));
    }
    limits
}

/// What an account holds for its orders, and that the orders hold it.
fn held(venue: &Venue, account: AccountId) -> (i128, i128) {
    let held = (venue.balance(account, BASE).1, venue.balance(account, QUOTE).1);
    let orders: i128 = venue.core.orders_of(account).map(|order| order.reserved.0).sum();
    assert_eq!(held.0 + held.1, orders);
    held
}

/// A notional with the fee of a taker, 1 %.
fn with_fee(notional: i128) -> i128 {
    notional + notional / 100
}

#[test]
fn a_trigger_price_is_positive_on_the_tick_and_not_reached() {
    use Side::{Buy, Sell};
    use TriggerKind::{Stop, TakeProfit};
    let (invalid, reached) = (RejectReason::TriggerPriceInvalid, RejectReason::WouldTrigger);
    let ten = TradingRules { tick: Price(10), ..rules() };
    for (rules, side, kind, price, expected) in [
        (rules(), Buy, Stop, MAX, None),
        (rules(), Buy, TakeProfit, MAX, Some(reached)),
        (rules(), Sell, Stop, MAX, Some(reached)),
        (rules(), Sell, TakeProfit, MAX, None),
        (rules(), Buy, Stop, 1, Some(reached)),
        (rules(), Buy, TakeProfit, 1, None),
        (rules(), Sell, Stop, 1, None),
        (rules(), Sell, TakeProfit, 1, Some(reached)),
        (ten, Buy, Stop, MAX, Some(invalid)),
        (ten, Buy, Stop, MAX - 7, None),
        (ten, Sell, Stop, 1, Some(invalid)),
        (ten, Sell, Stop, 10, None),
    ] {
        let mut venue = at(100, rules);
        let refused = enter(&mut venue, market(side), fixed(kind, price)).err();
        assert_eq!(refused, expected, "{side:?} {kind:?} {price}");
        assert_eq!(held(&venue, ALICE) == (0, 0), expected.is_some(), "{side:?} {kind:?} {price}");
    }
    let mut venue = at_100();
    for price in [0, -1, i64::MIN] {
        for (side, kind) in [(Buy, Stop), (Buy, TakeProfit), (Sell, Stop), (Sell, TakeProfit)] {
            let refused = enter(&mut venue, market(side), fixed(kind, price));
            assert_eq!(refused, Err(invalid), "{side:?} {kind:?} {price}");
        }
        let not_positive = Err(RejectReason::PriceNotPositive);
        assert_eq!(enter(&mut venue, sell(ALICE, price, 1), stop(90)), not_positive, "{price}");
    }
    assert_eq!(held(&venue, ALICE), (0, 0));
}

#[test]
fn orders_are_triggered_and_trade_at_the_largest_and_at_the_smallest_price() {
    let mut venue = at_100();
    let (before, _) = venue.balance(ALICE, QUOTE);
    let bought = enter(&mut venue, buy(ALICE, MAX, 1), stop(MAX)).unwrap();
    let sold = enter(&mut venue, sell(ALICE, 1, 1), stop(1)).unwrap();
    let needed = with_fee(MAX.into());
    assert_eq!(held(&venue, ALICE), (1, needed));
    venue.enter(sell(BOB, MAX, 2));
    venue.enter(NewOrder { time_in_force: TimeInForce::Ioc, ..buy(CAROL, MAX, 1) });
    assert_eq!(entered(&mut venue), [(bought, MAX)]);
    assert_eq!(venue.trades(), [(MAX, 1)]);
    assert_eq!(venue.balance(ALICE, QUOTE), (before - needed, 0));
    assert_eq!(venue.balance(ALICE, BASE), (FUNDS, 1));
    venue.enter(buy(CAROL, 1, 2));
    venue.enter(NewOrder { time_in_force: TimeInForce::Ioc, ..sell(BOB, 1, 1) });
    assert_eq!(entered(&mut venue), [(sold, 1)]);
    assert_eq!(venue.trades(), [(1, 1)]);
    assert_eq!(venue.balance(ALICE, QUOTE), (before - needed + 1, 0));
    assert_eq!(venue.balance(ALICE, BASE), (FUNDS, 0));
}

#[test]
fn a_protection_price_is_between_one_tick_and_the_largest_price() {
    let ten = TradingRules { tick: Price(10), ..rules() };
    let wide = TradingRules { market_protection_ppm: 999_999, ..ten };
    // With 10 % more it is one below the largest price.
    let most = 8_384_883_669_867_978_006;
    for (rules, side, price, expected) in [
        (rules(), Side::Buy, most, MAX - 1),
        (rules(), Side::Buy, most + 2, MAX),
        (rules(), Side::Buy, MAX, MAX),
        (ten, Side::Buy, MAX - 7, MAX - 7),
        (rules(), Side::Sell, 1, 1),
        (ten, Side::Sell, 10, 10),
        (wide, Side::Sell, 100, 10),
    ] {
        let mut venue = at(if side == Side::Buy { 50 } else { 1_000 }, rules);
        let order = enter(&mut venue, market(side), stop(price)).unwrap();
        assert_eq!(venue.core.order(order).unwrap().price.0, expected, "{side:?} {price}");
        match side {
            Side::Buy => assert_eq!(held(&venue, ALICE), (0, with_fee(expected.into()))),
            Side::Sell => assert_eq!(held(&venue, ALICE), (1, 0)),
        }
        last(&mut venue, price);
        assert_eq!(entered(&mut venue), [(order, expected)]);
        assert_eq!(venue.queue(side), [(expected, 1)], "what is left rests");
    }
    // Triggered at once, a sell's limit is measured from a trigger price that is beyond all prices of the book.
    let mut venue = at_100();
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(MAX) };
    let order = ConditionalOrder { terms: market(Side::Sell), trigger, immediate: true };
    let Outcome::Order { order, .. } = venue.apply(Command::PlaceConditional(order)) else {
        panic!("it is accepted")
    };
    assert_eq!(entered(&mut venue), [(order, MAX - MAX / 10)]);
}

#[test]
fn an_order_above_the_largest_notional_or_the_balance_is_refused() {
    let most = 1 << 37;
    let mut venue = at(100, TradingRules { quantity_max: Quantity::MAX, ..rules() });
    let too_large = Err(RejectReason::NotionalTooLarge);
    assert_eq!(enter(&mut venue, buy(ALICE, MAX, 2 * most), stop(MAX)), too_large);
    assert_eq!(enter(&mut venue, buy(ALICE, MAX, MAX), stop(MAX)), too_large);
    let large = NewOrder { kind: OrderKind::Market, ..buy(ALICE, 0, 2 * most) };
    assert_eq!(enter(&mut venue, large, stop(MAX)), too_large);
    let poor = NewOrder { account: CAROLS_OTHER, ..market(Side::Buy) };
    let short = Err(RejectReason::InsufficientBalance);
    for condition in [stop(MAX), trail(by_price(MAX - 100), 0)] {
        assert_eq!(enter(&mut venue, poor, condition), short);
    }
    let bought = enter(&mut venue, buy(ALICE, MAX, most), stop(MAX)).unwrap();
    let needed = with_fee(i128::from(MAX) * i128::from(most));
    assert_eq!(held(&venue, ALICE), (0, needed));
    venue.cancel(ALICE, bought);
    assert_eq!(held(&venue, ALICE), (0, 0));
}

#[test]
fn a_distance_leaves_a_trigger_price_or_is_refused() {
    use Side::{Buy, Sell};
    let (trails, prices) = (RejectReason::TrailInvalid, RejectReason::TriggerPriceInvalid);
    let ppm = Distance::Ppm;
    // The last price is 100. Without an extreme the order is not active, and has no trigger price yet.
    for (tick, side, distance, activation, expected) in [
        (1, Sell, by_price(99), 0, Ok(Some(1))),
        (1, Sell, by_price(100), 0, Err(trails)),
        (1, Sell, by_price(MAX), 0, Err(trails)),
        (1, Buy, by_price(MAX - 100), 0, Ok(Some(MAX))),
        (1, Buy, by_price(MAX - 99), 0, Err(trails)),
        (1, Buy, by_price(MAX), 0, Err(trails)),
        (1, Sell, by_price(0), 0, Err(trails)),
        (1, Buy, by_price(-1), 0, Err(trails)),
        (1, Buy, by_price(i64::MIN), 0, Err(trails)),
        (1, Sell, ppm(990_000), 0, Ok(Some(1))),
        (1, Sell, ppm(990_001), 0, Err(trails)),
        (1, Sell, ppm(999_999), 0, Err(trails)),
        (1, Buy, ppm(999_999), 0, Ok(Some(200))),
        (1, Buy, ppm(0), 0, Err(trails)),
        (1, Buy, ppm(1_000_000), 0, Err(trails)),
        (1, Buy, ppm(u32::MAX), 0, Err(trails)),
        (1, Sell, by_price(MAX - 1), MAX, Ok(None)),
        (1, Sell, by_price(MAX), MAX, Err(trails)),
        (1, Sell, ppm(999_999), MAX, Ok(None)),
        (1, Buy, by_price(1), MAX, Err(trails)),
        (1, Buy, ppm(1), MAX, Err(trails)),
        (1, Buy, by_price(MAX - 1), 1, Ok(None)),
        (1, Buy, by_price(MAX), 1, Err(trails)),
        (1, Sell, by_price(5), -1, Err(prices)),
        (1, Sell, by_price(5), i64::MIN, Err(prices)),
        // Less than a tick is a tick; a trigger price below a tick is none.
        (10, Sell, ppm(1), 0, Ok(Some(90))),
        (10, Buy, ppm(1), 0, Ok(Some(110))),
        (10, Sell, ppm(900_000), 0, Ok(Some(10))),
        (10, Sell, ppm(900_001), 0, Err(trails)),
        (10, Sell, by_price(90), 0, Ok(Some(10))),
        (10, Sell, by_price(5), 0, Err(trails)),
        (10, Sell, by_price(MAX), 0, Err(trails)),
        (10, Sell, by_price(10), 5, Err(prices)),
        (10, Sell, by_price(10), MAX, Err(prices)),
    ] {
        let mut venue = at(100, TradingRules { tick: Price(tick), ..rules() });
        let what = format!("{side:?} {distance:?} from {activation}, tick {tick}");
        for terms in [market(side), limit(ALICE, side, 100, 1)] {
            let order = enter(&mut venue, terms, trail(distance, activation));
            let state = order.map(|order| venue.core.order(order).unwrap().trail.unwrap());
            let found = state.map(|state| state.trigger_price(side, Price(tick)).map(|it| it.0));
            assert_eq!(found, expected, "{what}");
            if let Ok(order) = order {
                assert_ne!(held(&venue, ALICE), (0, 0), "{what}");
                venue.cancel(ALICE, order);
            }
            assert_eq!(held(&venue, ALICE), (0, 0), "{what}");
        }
    }
}

#[test]
fn a_trailing_sell_follows_to_the_largest_price() {
    let mut venue = at_100();
    let near = enter(&mut venue, market(Side::Sell), trail(by_price(5), 0)).unwrap();
    let far = enter(&mut venue, market(Side::Sell), trail(Distance::Ppm(990_000), 0)).unwrap();
    let later = enter(&mut venue, sell(ALICE, MAX, 1), trail(by_price(MAX - 1), MAX)).unwrap();
    last(&mut venue, MAX);
    assert_eq!(entered(&mut venue), []);
    let trigger_price = |venue: &Venue, order| {
        let state = venue.core.order(order).unwrap().trail.unwrap();
        state.trigger_price(Side::Sell, Price(1)).unwrap().0
    };
    let hundredth = MAX / 100;
    assert_eq!(trigger_price(&venue, near), MAX - 5);
    assert_eq!(trigger_price(&venue, far), hundredth);
    assert_eq!(trigger_price(&venue, later), 1);
    // 10 % below the trigger price, rounded up.
    let protected = |trigger: i64| trigger - trigger / 10;
    last(&mut venue, MAX - 5);
    assert_eq!(entered(&mut venue), [(near, protected(MAX - 5))]);
    last(&mut venue, hundredth);
    assert_eq!(entered(&mut venue), [(far, protected(hundredth))]);
    // They rest where they were entered, and are out of the way of the last trade.
    venue.cancel(ALICE, near);
    venue.cancel(ALICE, far);
    last(&mut venue, 1);
    assert_eq!(entered(&mut venue), [(later, MAX)]);
    assert_eq!(held(&venue, ALICE), (1, 0));
}

#[test]
fn a_trailing_buy_follows_to_the_smallest_price() {
    let mut venue = at_100();
    let (before, _) = venue.balance(ALICE, QUOTE);
    let order = enter(&mut venue, market(Side::Buy), trail(by_price(MAX - 100), 0)).unwrap();
    assert_eq!(held(&venue, ALICE), (0, with_fee(MAX.into())));
    last(&mut venue, 1);
    assert_eq!(entered(&mut venue), []);
    last(&mut venue, MAX - 100);
    assert_eq!(entered(&mut venue), [], "its trigger price is one tick higher");
    last(&mut venue, MAX - 99);
    assert_eq!(entered(&mut venue), [(order, MAX)]);
    assert_eq!(venue.queue(Side::Buy), [(MAX, 1)]);
    venue.enter(sell(BOB, 1, 1));
    assert_eq!(venue.trades(), [(MAX, 1)]);
    // It rested: 0.1 % for the maker.
    let paid = i128::from(MAX) + i128::from(MAX) / 1_000;
    assert_eq!(venue.balance(ALICE, QUOTE), (before - paid, 0));
}

#[test]
fn a_trigger_price_is_amended_up_to_the_largest() {
    let mut venue = at_100();
    let order = enter(&mut venue, market(Side::Buy), stop(110)).unwrap();
    assert_eq!(held(&venue, ALICE), (0, with_fee(121)));
    let amend = |venue: &mut Venue, price| {
        let amend =
            Amend { account: ALICE, order: OrderRef::Id(order), price: None, quantity: None };
        venue.apply(Command::AmendTrigger(AmendTrigger { amend, trigger_price: Price(price) }))
    };
    assert!(!amend(&mut venue, MAX).is_rejected());
    assert_eq!(venue.core.order(order).unwrap().price, Price(MAX));
    assert_eq!(held(&venue, ALICE), (0, with_fee(MAX.into())));
    assert_restores(&venue);
    last(&mut venue, MAX - 1);
    assert_eq!(entered(&mut venue), []);
    let would_trigger = rejected(RejectReason::WouldTrigger);
    assert_eq!(amend(&mut venue, MAX - 1), would_trigger);
    last(&mut venue, MAX);
    assert_eq!(entered(&mut venue), [(order, MAX)]);
}

#[test]
fn the_distance_of_an_exit_is_compared_with_the_price_when_it_is_entered() {
    let exit = |condition| Leg {
        condition: Some(condition),
        kind: OrderKind::Market,
        time_in_force: TimeInForce::Ioc,
        price: Price::ZERO,
        expire_at: Timestamp::ZERO,
    };
    let list = |kind, terms, condition| OrderList {
        terms,
        condition: None,
        kind,
        take_profit: None,
        stop_loss: Some(exit(condition)),
    };
    let place = |venue: &mut Venue, list| match venue.apply(Command::PlaceList(list)) {
        Outcome::Order { order, .. } => Ok(order),
        Outcome::Rejected { reason } => Err(reason),
        other => panic!("{other:?}"),
    };
    let mut venue = at_100();
    let invalid = RejectReason::TrailInvalid;
    for distance in [by_price(0), by_price(i64::MIN), Distance::Ppm(0), Distance::Ppm(1_000_000)] {
        let entry = list(LinkKind::Oto, buy(ALICE, 100, 10), trail(distance, 0));
        assert_eq!(place(&mut venue, entry), Err(invalid), "{distance:?}");
    }
    for distance in [by_price(MAX), by_price(100), Distance::Ppm(999_999)] {
        let pair = list(LinkKind::Oco, sell(ALICE, 110, 10), trail(distance, 0));
        assert_eq!(place(&mut venue, pair), Err(invalid), "{distance:?}");
        let entry = list(LinkKind::Oto, buy(ALICE, 100, 10), trail(distance, 0));
        let entry = place(&mut venue, entry).unwrap();
        assert_restores(&venue);
        venue.enter(sell(BOB, 100, 4));
        venue.tick();
        let Event::ExitsRefused(refused) = venue.events[0] else { panic!("{:?}", venue.events) };
        assert_eq!((refused.order, refused.reason), (entry, invalid), "{distance:?}");
        assert_eq!(venue.done(), [(entry, DoneReason::Linked, 6)]);
        assert_eq!(held(&venue, ALICE), (0, 0));
    }
}
