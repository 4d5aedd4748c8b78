use crate::venue::*;
use rialto_core::CoreConfig;
use rialto_model::{
    ClientOrderId, DoneReason, Event, InstrumentState, NewOrder, OrderId, Outcome, RejectReason,
    Side, TimeInForce,
};

fn named(name: &str, order: NewOrder) -> NewOrder {
    NewOrder { client_order_id: name.parse().unwrap(), ..order }
}

/// A venue that remembers two orders of an account.
fn forgetful() -> Venue {
    let mut config = CoreConfig::new(ENGINE);
    config.limits.client_ids_max = 2;
    Venue::with(config, rules())
}

#[test]
fn the_same_order_again_gets_the_first_answer_and_changes_nothing() {
    let mut venue = Venue::new();
    venue.enter(sell(BOB, 100, 2));
    let order = named("a", buy(ALICE, 100, 5));
    let first = venue.place(order);
    venue.enter(sell(BOB, 100, 3));
    let again = venue.place(order);
    let Outcome::Order { order: id, status, price, filled, remaining, .. } = first else {
        panic!("{first:?}");
    };
    let repeated = true;
    assert_eq!(again, Outcome::Order { order: id, status, price, filled, remaining, repeated });
    let name: ClientOrderId = "a".parse().unwrap();
    let event = Event::Repeated { account: ALICE, name, order: id, reject: None };
    assert_eq!(venue.events, [event]);
}

#[test]
fn a_refusal_is_remembered_too() {
    let mut venue = Venue::new();
    venue.set_state(InstrumentState::Halted);
    let order = named("a", buy(ALICE, 100, 5));
    let first = venue.place(order);
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.place(order), first);
    assert!(matches!(
        venue.events[..],
        [Event::Repeated { order: OrderId(0), reject: Some(RejectReason::InstrumentHalted), .. }]
    ));
}

#[test]
fn another_order_under_the_same_name_is_a_conflict_that_is_not_remembered() {
    let mut venue = Venue::new();
    let order = named("a", buy(ALICE, 100, 5));
    venue.enter(order);
    let conflict = rejected(RejectReason::ClientIdConflict);
    assert_eq!(venue.place(named("a", buy(ALICE, 100, 6))), conflict);
    assert!(!venue.place(order).is_rejected());
}

#[test]
fn names_are_per_account() {
    let mut venue = Venue::new();
    venue.enter(named("a", buy(ALICE, 100, 5)));
    venue.enter(named("a", buy(BOB, 90, 6)));
}

#[test]
fn an_order_that_has_ended_is_forgotten_after_enough_others() {
    let mut venue = forgetful();
    let first = venue.enter(named("a", buy(ALICE, 100, 1)));
    venue.cancel(ALICE, first);
    venue.enter(named("b", buy(ALICE, 100, 1)));
    assert!(venue.enter(named("a", buy(ALICE, 100, 1))) == first, "still remembered");
    venue.enter(named("c", buy(ALICE, 100, 1)));
    assert!(venue.enter(named("a", buy(ALICE, 100, 1))) != first, "forgotten");
}

#[test]
fn an_open_order_is_never_forgotten() {
    let mut venue = forgetful();
    let order = named("a", buy(ALICE, 50, 1));
    let first = venue.enter(order);
    for number in 0..9 {
        venue.enter(named(&format!("other-{number}"), buy(ALICE, 100, 1)));
    }
    assert_eq!(venue.enter(order), first);
    venue.cancel(ALICE, first);
    assert_ne!(venue.enter(order), first);
}

#[test]
fn an_unknown_account_remembers_nothing() {
    let mut venue = Venue::new();
    let order = named("a", buy(rialto_model::AccountId(5), 100, 1));
    assert_eq!(venue.place(order), rejected(RejectReason::UnknownAccount));
    let (account, member) = (rialto_model::AccountId(5), rialto_model::MemberId(1));
    let name = "late".parse().unwrap();
    venue.apply(rialto_model::Command::CreateAccount { account, member, name });
    assert_eq!(venue.place(order), rejected(RejectReason::InsufficientBalance));
    assert_eq!(venue.queue(Side::Buy), []);
}

#[test]
fn the_account_that_has_most_forgets_first() {
    let mut config = CoreConfig::new(ENGINE);
    config.limits.client_ids_total_max = 6;
    let mut venue = Venue::with(config, rules());
    let ioc = |account, name: &str| NewOrder {
        time_in_force: TimeInForce::Ioc,
        ..named(name, buy(account, 100, 5))
    };
    let (first, second) = (ioc(BOB, "b1"), ioc(BOB, "b2"));
    venue.enter(first);
    venue.enter(second);
    for number in 0..100 {
        venue.enter(ioc(ALICE, &format!("a{number}")));
    }
    let is_known = |venue: &mut Venue, order| {
        matches!(venue.place(order), Outcome::Order { repeated: true, .. })
    };
    assert!(is_known(&mut venue, first) && is_known(&mut venue, second));
    let ended: Vec<_> = venue.core.ended_orders().map(|order| order.terms.account).collect();
    assert_eq!(ended, [ALICE, ALICE, ALICE, ALICE, BOB, BOB]);
    assert!(is_known(&mut venue, ioc(ALICE, "a96")));
    assert!(!is_known(&mut venue, ioc(ALICE, "a95")), "it was forgotten and is entered anew");
}

#[test]
fn how_an_order_ended_is_remembered_and_restored() {
    let mut venue = Venue::new();
    venue.enter(named("filled", sell(BOB, 100, 2)));
    venue.enter(named("rest", NewOrder { time_in_force: TimeInForce::Ioc, ..buy(ALICE, 100, 5) }));
    let id = venue.enter(named("amended", buy(ALICE, 90, 5)));
    venue.amend(ALICE, id, Some(91), Some(8));
    venue.cancel(ALICE, id);
    venue.enter(named("open", buy(ALICE, 80, 1)));
    let restored = rialto_core::Core::restore(&venue.core.snapshot(), 1).unwrap();
    let ended: Vec<_> = restored.ended_orders().collect();
    let told = ended.iter().map(|order| {
        let (price, filled) = (order.terms.price.0, order.filled.0);
        (order.terms.client_order_id.as_str(), order.reason, price, filled, order.remaining.0)
    });
    let (rest, cancelled) = (Some(DoneReason::Remainder), Some(DoneReason::Cancelled));
    let expected =
        [("rest", rest, 100, 2, 3), ("amended", cancelled, 91, 0, 8), ("filled", None, 100, 2, 0)];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    assert!(ended.iter().all(|order| order.seq > rialto_model::Seq::ZERO));
}
