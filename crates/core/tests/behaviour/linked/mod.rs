//! Linked orders beside the examples of their page: the order of events, reserves, limits and bounds.

mod exits;
mod pairs;

use crate::venue::*;
use rialto_core::{Core, EVENTS_PER_COMMAND, Links};
use rialto_model::{
    Command, Condition, Distance, DoneReason, Event, HaltScope, InstrumentState, Leg, LinkKind,
    MassCancel, MemberId, NewOrder, OrderId, OrderKind, OrderList, Outcome, Price, Quantity,
    RejectReason, Restrict, Restriction, RestrictionTarget, SelfTrade, Side, TimeInForce,
    Timestamp, TradingRules, TrailTerms, Trigger, TriggerKind,
};

fn leg(condition: Option<Condition>, price: i64) -> Leg {
    Leg {
        condition,
        kind: if price == 0 { OrderKind::Market } else { OrderKind::Limit },
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    }
}

fn limit_at(price: i64) -> Leg {
    leg(None, price)
}

fn trigger(kind: TriggerKind, price: i64) -> Option<Condition> {
    Some(Condition::Trigger(Trigger { kind, price: Price(price) }))
}

fn stop(price: i64, limit: i64) -> Leg {
    leg(trigger(TriggerKind::Stop, price), limit)
}

fn pair(terms: NewOrder, stop_loss: Leg) -> OrderList {
    OrderList {
        terms,
        condition: None,
        kind: LinkKind::Oco,
        take_profit: None,
        stop_loss: Some(stop_loss),
    }
}

fn bracket(terms: NewOrder, take_profit: Leg, stop_loss: Leg) -> OrderList {
    OrderList {
        terms,
        condition: None,
        kind: LinkKind::Oto,
        take_profit: Some(take_profit),
        stop_loss: Some(stop_loss),
    }
}

/// A bracket around 100 for ten units.
fn around_100() -> OrderList {
    bracket(buy(ALICE, 100, 10), limit_at(110), stop(90, 89))
}

fn enter(venue: &mut Venue, list: OrderList) -> OrderId {
    match venue.apply(Command::PlaceList(list)) {
        Outcome::Order { order, .. } => order,
        other => panic!("{list:?} was answered {other:?}"),
    }
}

fn refused(venue: &mut Venue, list: OrderList) -> RejectReason {
    match venue.apply(Command::PlaceList(list)) {
        Outcome::Rejected { reason } => reason,
        other => panic!("{list:?} was answered {other:?}"),
    }
}

/// A venue without fees whose last price is 100.
fn at_100() -> Venue {
    let mut venue = Venue::ruled(TradingRules { maker_fee_ppm: 0, taker_fee_ppm: 0, ..rules() });
    last(&mut venue, 100);
    venue
}

fn next(order: OrderId, by: u64) -> OrderId {
    OrderId(order.0 + by)
}

/// The names of the events of the last command, without what they say.
fn names(venue: &Venue) -> Vec<String> {
    let name = |event: &Event| {
        let text = format!("{event:?}");
        text.split(['(', ' ']).next().unwrap().to_owned()
    };
    venue.events.iter().map(name).collect()
}

fn links(venue: &Venue, order: OrderId) -> Option<Links> {
    venue.core.order(order).unwrap().links
}

/// What an account's orders are for, by age.
fn quantities(venue: &Venue) -> Vec<i64> {
    let mut orders: Vec<_> = venue.core.orders_of(ALICE).collect();
    orders.sort_by_key(|order| order.id);
    orders.into_iter().map(|order| order.remaining.0).collect()
}

#[test]
fn a_list_is_remembered_with_all_that_it_was() {
    let mut venue = at_100();
    let client_order_id = "list".parse().unwrap();
    let terms = NewOrder { client_order_id, ..buy(ALICE, 100, 10) };
    let list = bracket(terms, limit_at(110), stop(90, 89));
    let first = enter(&mut venue, list);
    let again = venue.apply(Command::PlaceList(list));
    assert!(matches!(again, Outcome::Order { order, repeated: true, .. } if order == first));
    let others = [
        OrderList { take_profit: Some(limit_at(111)), ..list },
        OrderList { stop_loss: None, ..list },
        OrderList { kind: LinkKind::Oco, take_profit: None, ..list },
        OrderList { condition: trigger(TriggerKind::TakeProfit, 110), ..list },
    ];
    for other in others {
        assert_eq!(refused(&mut venue, other), RejectReason::ClientIdConflict);
    }
    assert_eq!(venue.place(terms), rejected(RejectReason::ClientIdConflict));
    venue.cancel(ALICE, first);
    let again = venue.apply(Command::PlaceList(list));
    assert!(matches!(again, Outcome::Order { repeated: true, .. }));
}

#[test]
fn lists_are_unknown_before_version_9() {
    let mut venue = Venue::under(8, rules());
    let client_order_id = "list".parse().unwrap();
    let terms = NewOrder { client_order_id, ..buy(ALICE, 100, 10) };
    let list = bracket(terms, limit_at(110), stop(90, 89));
    for _ in 0..2 {
        assert_eq!(refused(&mut venue, list), RejectReason::CommandUnknown);
    }
    venue.apply(Command::SetRulesVersion { version: 9 });
    enter(&mut venue, list);
}

#[test]
fn exits_of_an_auction_are_entered_when_trading_begins() {
    let mut venue = at_100();
    venue.set_state(InstrumentState::Call);
    enter(&mut venue, around_100());
    let first = enter(&mut venue, pair(sell(BOB, 99, 4), stop(90, 89)));
    venue.set_state(InstrumentState::Open);
    let ends = venue.done();
    assert_eq!(ends, [(next(first, 1), DoneReason::Linked, 4)], "before its order trades");
    assert_eq!(venue.trades().len(), 1);
    venue.tick();
    assert_eq!(quantities(&venue), [6, 4, 4]);
}

#[test]
fn a_halt_holds_back_exits() {
    let mut venue = at_100();
    enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    let scope = HaltScope::Instrument(SPOT);
    venue.apply(Command::HaltTrading { scope, duration_ms: 1_000 });
    venue.tick();
    assert_eq!(quantities(&venue), [6]);
    venue.set_state(InstrumentState::Open);
    venue.tick();
    assert_eq!(quantities(&venue), [6, 4, 4]);
}

#[test]
fn a_kill_switch_ends_all_orders_of_a_list_and_refuses_exits_that_are_pending() {
    for is_read in [true, false] {
        let mut venue = at_100();
        let first = enter(&mut venue, around_100());
        venue.enter(sell(BOB, 100, 4));
        if is_read {
            venue.tick();
        }
        let target = RestrictionTarget::Account(ALICE);
        let restriction = Restriction::CancelOnly;
        let killed = Restrict { target, restriction, by_member: true, cancel: true };
        venue.apply(Command::Restrict(killed));
        assert_eq!(quantities(&venue), [0_i64; 0]);
        assert_eq!(venue.done()[0], (first, DoneReason::Restricted, 6));
        venue.tick();
        match is_read {
            true => assert_eq!(names(&venue), ["Ticked"]),
            false => assert_eq!(names(&venue), ["ExitsRefused"]),
        }
        assert_eq!(quantities(&venue), [0_i64; 0]);
    }
}

/// All restrictions that refuse an account's orders, without a cancel.
fn restrictions() -> impl Iterator<Item = Restrict> {
    let set = |target, restriction| {
        let (by_member, cancel) = (false, false);
        Restrict { target, restriction, by_member, cancel }
    };
    let member = RestrictionTarget::Member(MemberId(1));
    let owners = [RestrictionTarget::Account(ALICE), member, RestrictionTarget::Venue];
    let both = [Restriction::CancelOnly, Restriction::Frozen];
    let owners = owners.into_iter().flat_map(move |target| both.map(|it| set(target, it)));
    owners.chain([set(RestrictionTarget::Instrument(SPOT), Restriction::CancelOnly)])
}

/// Restricts between the trigger of an order and its entry, and lifts the restriction after that; returns what
/// ended.
fn restrict_before_entry(venue: &mut Venue, restrict: Restrict) -> Vec<(OrderId, DoneReason, i64)> {
    assert!(venue.core.has_background_work(), "an order was triggered");
    assert_eq!(venue.apply(Command::Restrict(restrict)), Outcome::Done);
    assert_eq!(venue.done(), [], "the restriction itself ends nothing");
    venue.tick();
    assert_eq!(venue.trades(), []);
    let done = venue.done();
    venue.apply(Command::Restrict(Restrict { restriction: Restriction::None, ..restrict }));
    assert!(!venue.core.has_background_work());
    done
}

#[test]
fn a_restriction_between_trigger_and_entry_ends_a_pair() {
    let trail = TrailTerms { distance: Distance::Price(Price(10)), activation_price: Price::ZERO };
    let touched = OrderList {
        condition: trigger(TriggerKind::TakeProfit, 110),
        ..pair(sell(ALICE, 109, 10), stop(90, 89))
    };
    for restrict in restrictions() {
        for (list, reached, triggered) in [
            (pair(sell(ALICE, 110, 10), stop(90, 89)), 90, 1),
            (pair(sell(ALICE, 110, 10), leg(Some(Condition::Trail(trail)), 0)), 90, 1),
            (touched, 110, 0),
        ] {
            let mut venue = at_100();
            venue.enter(buy(BOB, 89, 20));
            let first = enter(&mut venue, list);
            last(&mut venue, reached);
            let done = restrict_before_entry(&mut venue, restrict);
            let ended = [
                (next(first, triggered), DoneReason::Restricted, 10),
                (next(first, 1 - triggered), DoneReason::Linked, 10),
            ];
            assert_eq!(done, ended, "{restrict:?} {list:?}");
            assert_eq!(quantities(&venue), [0_i64; 0]);
            assert_eq!(venue.balance(ALICE, BASE), (FUNDS, 0));
        }
    }
}

#[test]
fn a_restriction_that_is_lifted_before_the_entry_has_no_effect() {
    for restrict in restrictions() {
        let mut venue = at_100();
        venue.enter(buy(BOB, 89, 20));
        enter(&mut venue, pair(sell(ALICE, 110, 10), stop(90, 89)));
        last(&mut venue, 90);
        venue.set_state(InstrumentState::Halted);
        venue.apply(Command::Restrict(restrict));
        venue.tick();
        assert_eq!(venue.done(), [], "{restrict:?}");
        venue.apply(Command::Restrict(Restrict { restriction: Restriction::None, ..restrict }));
        venue.set_state(InstrumentState::Open);
        venue.tick();
        assert_eq!(venue.trades(), [(89, 10)], "{restrict:?}");
    }
}

#[test]
fn a_restriction_between_trigger_and_entry_of_an_exit_ends_its_list() {
    for restrict in restrictions() {
        let mut venue = at_100();
        let take_profit = leg(trigger(TriggerKind::TakeProfit, 110), 109);
        let list = bracket(buy(ALICE, 100, 10), take_profit, stop(90, 89));
        let entry = enter(&mut venue, list);
        venue.enter(sell(BOB, 100, 4));
        venue.tick();
        assert_eq!(quantities(&venue), [6, 4, 4]);
        let exits = [1, 2].map(|by| venue.core.orders_of(ALICE).nth(by).unwrap().id);
        last(&mut venue, 110);
        let done = restrict_before_entry(&mut venue, restrict);
        let ended = [
            (exits[0], DoneReason::Restricted, 4),
            (exits[1], DoneReason::Linked, 4),
            (entry, DoneReason::Linked, 6),
        ];
        assert_eq!(done, ended, "{restrict:?}");
        assert_eq!(quantities(&venue), [0_i64; 0]);
        assert_eq!(venue.balance(ALICE, BASE), (FUNDS + 4, 0), "what it bought stays");
        assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 400, 0));
    }
}

#[test]
fn a_mass_cancel_leaves_exits_of_what_traded_before() {
    let mut venue = at_100();
    enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    let all = MassCancel { account: ALICE, instrument: None, side: None };
    venue.apply(Command::MassCancel(all));
    venue.tick();
    assert_eq!(quantities(&venue), [4, 4]);
}

#[test]
fn a_withdrawn_instrument_refuses_exits_that_are_pending() {
    let mut venue = at_100();
    venue.set_state(InstrumentState::Call);
    let first = enter(&mut venue, bracket(buy(ALICE, 100, 4), limit_at(110), stop(90, 89)));
    venue.enter(sell(BOB, 100, 4));
    venue.set_state(InstrumentState::Closed);
    assert_eq!(venue.trades(), [(100, 4)]);
    for state in [InstrumentState::Listed, InstrumentState::Delisted] {
        assert_eq!(venue.set_state(state), rejected(RejectReason::HasOpenOrders));
    }
    venue.set_state(InstrumentState::Withdrawn);
    let refused = venue.events.iter().find_map(|event| match event {
        Event::ExitsRefused(refused) => Some((refused.order, refused.reason)),
        _ => None,
    });
    assert_eq!(refused, Some((first, RejectReason::InstrumentClosed)));
    assert_eq!(venue.set_state(InstrumentState::Listed), Outcome::Done);
}

#[test]
fn an_exit_whose_time_is_over_ends_with_its_list() {
    let mut venue = at_100();
    let expire_at = Timestamp(venue.time + 10);
    let gtd = |leg: Leg| Leg { time_in_force: TimeInForce::Gtd, expire_at, ..leg };
    let list = bracket(buy(ALICE, 100, 10), gtd(limit_at(110)), gtd(stop(90, 89)));
    let first = enter(&mut venue, list);
    venue.enter(sell(BOB, 100, 4));
    venue.tick();
    venue.time += 10;
    venue.tick();
    let reasons: Vec<_> = venue.done().iter().map(|(_, reason, _)| *reason).collect();
    assert_eq!(reasons, [DoneReason::Expired, DoneReason::Expired, DoneReason::Linked]);
    assert_eq!(venue.done()[2].0, first);
    // Exits that are too late are refused.
    let mut venue = at_100();
    let expire_at = Timestamp(venue.time + 10);
    let late = Leg { time_in_force: TimeInForce::Gtd, expire_at, ..limit_at(110) };
    enter(&mut venue, bracket(buy(ALICE, 100, 10), late, stop(90, 89)));
    venue.time += 10;
    venue.enter(sell(BOB, 100, 4));
    venue.tick();
    let Event::ExitsRefused(refused) = venue.events[0] else { panic!("{:?}", venue.events) };
    assert_eq!(refused.reason, RejectReason::ExpiryInvalid);
}

#[test]
fn quantities_and_prices_at_their_limits_are_linked() {
    let most = 1 << 62;
    let rules = TradingRules { quantity_max: Quantity(most), risk: false, ..rules() };
    let mut venue = Venue::ruled(rules);
    let list = bracket(buy(ALICE, 2, most), limit_at(i64::MAX), stop(1, 1));
    enter(&mut venue, list);
    venue.enter(sell(BOB, 2, most - 1));
    venue.tick();
    // What the exit would be worth cannot be expressed.
    let Event::ExitsRefused(refused) = venue.events[0] else { panic!("{:?}", venue.events) };
    assert_eq!(refused.reason, RejectReason::NotionalTooLarge);
    let list = bracket(buy(ALICE, 2, most), limit_at(3), stop(1, 1));
    enter(&mut venue, list);
    venue.enter(sell(BOB, 2, most - 1));
    venue.tick();
    venue.enter(sell(BOB, 2, 1));
    venue.tick();
    assert_eq!(quantities(&venue), [most, most]);
}

#[test]
fn many_lists_that_end_at_once_keep_within_the_bounds() {
    let mut venue = at_100();
    for _ in 0..300 {
        enter(&mut venue, bracket(buy(ALICE, 100, 2), limit_at(110), stop(90, 89)));
    }
    for _ in 0..300 {
        venue.enter(sell(BOB, 100, 1));
    }
    while venue.core.has_background_work() {
        venue.tick();
        assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
    }
    // Only as many trade as end with what is linked to them.
    assert_eq!(quantities(&venue).len(), 150 + 2 * 150);
    venue.enter(buy(CAROL, 110, 300));
    assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
    assert!(venue.done().len() + venue.trades().len() <= 256 + 2);
    venue.apply(Command::MassCancel(MassCancel { account: ALICE, instrument: None, side: None }));
    assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
}

#[test]
fn a_restart_in_the_middle_changes_nothing() {
    let mut venue = at_100();
    enter(&mut venue, around_100());
    enter(&mut venue, pair(sell(BOB, 120, 5), stop(80, 79)));
    let sells = |venue: &mut Venue, quantity| {
        venue.enter(sell(BOB, 100, quantity));
    };
    let ticks = |venue: &mut Venue| {
        venue.tick();
    };
    let script: [&dyn Fn(&mut Venue); 7] = [
        &|venue| sells(venue, 4),
        &ticks,
        &|venue| sells(venue, 3),
        &|venue| last(venue, 110),
        &ticks,
        &|venue| last(venue, 90),
        &ticks,
    ];
    for step in script {
        let bytes = venue.core.snapshot();
        let core = Core::restore(&bytes, 7).unwrap();
        let mut other = Venue { core, time: venue.time, events: Vec::new() };
        assert_eq!(other.core.snapshot(), bytes);
        step(&mut venue);
        step(&mut other);
        assert_eq!(venue.events, other.events);
        assert_eq!(venue.core.state_hash(), other.core.state_hash());
    }
}

#[test]
fn own_exits_that_a_taker_ends_count_with_what_ends_with_them() {
    let mut venue = at_100();
    for number in 0..256 {
        // Each is better than those before, so that it trades.
        let price = 1_000 + number;
        enter(&mut venue, bracket(buy(CAROL, price, 2), limit_at(2_000), stop(90, 89)));
        venue.enter(sell(BOB, price, 1));
        venue.tick();
    }
    assert_eq!(venue.core.orders_of(CAROL).count(), 3 * 256);
    let decrement = Some(SelfTrade::Decrement);
    venue.enter(NewOrder { self_trade: decrement, ..buy(CAROLS_OTHER, 2_000, 1_000) });
    let bound = EVENTS_PER_COMMAND;
    loop {
        assert!(venue.events.len() <= bound, "{} events", venue.events.len());
        if !venue.core.has_background_work() && venue.core.next_due() > Timestamp::ZERO {
            break;
        }
        venue.tick();
    }
    assert_eq!(venue.core.orders_of(CAROL).count(), 0, "all of them have ended");
}

#[test]
fn exits_that_are_to_be_entered_count_as_an_open_order() {
    let mut venue = at_100();
    venue.set_rules(TradingRules { open_orders_max: 2, ..rules() });
    venue.set_state(InstrumentState::Call);
    let with_stop =
        |terms| OrderList { take_profit: None, ..bracket(terms, limit_at(110), stop(90, 89)) };
    for _ in 0..2 {
        enter(&mut venue, with_stop(buy(ALICE, 100, 1)));
    }
    venue.enter(sell(BOB, 100, 2));
    venue.set_state(InstrumentState::Closed);
    while venue.core.has_background_work() {
        venue.tick();
    }
    assert_eq!(venue.core.orders_of(ALICE).count(), 0, "both entries are filled");
    venue.set_state(InstrumentState::Call);
    let third = refused(&mut venue, with_stop(buy(ALICE, 100, 1)));
    assert_eq!(third, RejectReason::OpenOrdersLimit);
    let plain = venue.place(buy(ALICE, 100, 1));
    assert_eq!(plain, rejected(RejectReason::OpenOrdersLimit));
    venue.set_state(InstrumentState::Open);
    venue.tick();
    assert_eq!(quantities(&venue), [1, 1], "their exits are entered in their place");
}
