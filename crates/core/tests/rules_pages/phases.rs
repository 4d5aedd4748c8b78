//! What an instrument accepts in each of its phases.

use crate::page::rows;
use crate::venue::{ALICE, BOB, SPOT, Venue, buy, rules, sell};
use rialto_model::{
    Command, Condition, ConditionalOrder, Enumeration, IcebergOrder, InstrumentState, Leg,
    LinkKind, NewOrder, OrderId, OrderKind, OrderList, Outcome, PostOnly, Price, Quantity,
    TimeInForce, Timestamp, TradingRules, Trigger, TriggerKind,
};

const PAGE: &str = include_str!("../../../../docs/rules/phases.md");

/// An instrument in a state, with an order of Alice if it can have orders.
fn instrument_in(state: InstrumentState) -> (Venue, Option<OrderId>) {
    let mut venue = Venue::ruled(TradingRules { reference_price: Price(100), ..rules() });
    let has_orders = !matches!(
        state,
        InstrumentState::Listed | InstrumentState::Withdrawn | InstrumentState::Delisted
    );
    if state == InstrumentState::Uncrossing {
        // More than one command may trade.
        venue.set_state(InstrumentState::Call);
        for _ in 0..200 {
            venue.enter(buy(BOB, 101, 1));
            venue.enter(sell(ALICE, 99, 1));
        }
        let order = venue.enter(buy(ALICE, 50, 2));
        venue.set_state(InstrumentState::Open);
        return (venue, Some(order));
    }
    let order = has_orders.then(|| venue.enter(buy(ALICE, 50, 2)));
    assert!(!venue.set_state(state).is_rejected(), "{state:?}");
    (venue, order)
}

fn said(outcome: Outcome) -> String {
    match outcome {
        Outcome::Rejected { reason } => reason.code().to_owned(),
        _ => "yes".to_owned(),
    }
}

fn entered(state: InstrumentState, time_in_force: TimeInForce, post_only: PostOnly) -> String {
    let (mut venue, _) = instrument_in(state);
    let expires = time_in_force == TimeInForce::Gtd;
    let expire_at = Timestamp(if expires { venue.time + 1 } else { 0 });
    let order = NewOrder { time_in_force, post_only, expire_at, ..sell(BOB, 99, 1) };
    let answer = said(venue.place(order));
    // A fill-or-kill order finds nobody here, which is no matter of the phase.
    if answer == "unfillable" { "yes".to_owned() } else { answer }
}

#[test]
fn each_phase_accepts_what_the_page_says() {
    let mut states = Vec::new();
    for cells in rows(PAGE).filter(|cells| cells.len() == 9) {
        let Some(state) = InstrumentState::from_name(&cells[0]) else { continue };
        use TimeInForce as T;
        let columns: [(&[T], PostOnly); 6] = [
            (&[T::Gtc, T::Day, T::Gtd], PostOnly::Off),
            (&[T::Ioc, T::Fok], PostOnly::Off),
            (&[T::Gtc], PostOnly::Reject),
            (&[T::AtOpen], PostOnly::Off),
            (&[T::AtClose], PostOnly::Off),
            (&[T::Gfa], PostOnly::Off),
        ];
        for ((times, post_only), cell) in columns.into_iter().zip(&cells[1..]) {
            for time in times {
                let answer = entered(state, *time, post_only);
                assert_eq!(&answer, cell, "{state:?}, {time:?}, {post_only:?}");
            }
        }
        let changed = |change: fn(&mut Venue, OrderId) -> Outcome| {
            let (mut venue, order) = instrument_in(state);
            order.map_or("–".to_owned(), |order| said(change(&mut venue, order)))
        };
        let amended = changed(|venue, order| venue.amend(ALICE, order, None, Some(1)));
        let cancelled = changed(|venue, order| venue.cancel(ALICE, order));
        assert_eq!([&amended, &cancelled], [&cells[7], &cells[8]], "{state:?}");
        states.push(state);
    }
    states.sort_by_key(|state| state.number());
    assert_eq!(states, InstrumentState::ALL);
}

/// Orders of the columns of the table of kinds.
fn of_kinds() -> [Vec<Command>; 7] {
    let place =
        |kind, time_in_force| Command::Place(NewOrder { kind, time_in_force, ..sell(BOB, 0, 1) });
    let trigger = |price| Trigger { kind: TriggerKind::Stop, price: Price(price) };
    let leg = |condition, kind, price| Leg {
        condition,
        kind,
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    };
    let stop = |price| leg(Some(Condition::Trigger(trigger(price))), OrderKind::Market, 0);
    let list = |terms, kind, take_profit, stop_loss| {
        let stop_loss = Some(stop_loss);
        Command::PlaceList(OrderList { terms, condition: None, kind, take_profit, stop_loss })
    };
    let conditional =
        ConditionalOrder { terms: sell(BOB, 90, 1), trigger: trigger(95), immediate: false };
    let iceberg = IcebergOrder { terms: sell(BOB, 105, 10), display_quantity: Quantity(5) };
    let take_profit = leg(None, OrderKind::Limit, 95);
    let times = [TimeInForce::Ioc, TimeInForce::Gtc];
    let levels = [OrderKind::BestPrice, OrderKind::FiveLevels];
    [
        times.map(|time| place(OrderKind::Market, time)).to_vec(),
        vec![place(OrderKind::Market, TimeInForce::Gfa)],
        levels.iter().flat_map(|&kind| times.map(|time| place(kind, time))).collect(),
        times
            .map(|time_in_force| {
                let minimum_quantity = Quantity(1);
                let order = sell(BOB, 99, 1);
                Command::Place(NewOrder { time_in_force, minimum_quantity, ..order })
            })
            .to_vec(),
        vec![Command::PlaceConditional(conditional)],
        vec![Command::PlaceIceberg(iceberg)],
        vec![
            list(sell(BOB, 110, 1), LinkKind::Oco, None, stop(90)),
            list(sell(BOB, 105, 1), LinkKind::Oto, Some(take_profit), stop(115)),
        ],
    ]
}

#[test]
fn each_phase_accepts_the_kinds_that_the_page_says() {
    let mut states = Vec::new();
    for cells in rows(PAGE).filter(|cells| cells.len() == 8) {
        let Some(state) = InstrumentState::from_name(&cells[0]) else { continue };
        for (orders, cell) in of_kinds().iter().zip(&cells[1..]) {
            for order in orders {
                let (mut venue, _) = instrument_in(state);
                if state == InstrumentState::Open {
                    // Somebody to trade with.
                    venue.enter(buy(ALICE, 99, 5));
                }
                assert_eq!(&said(venue.apply(*order)), cell, "{state:?}, {order:?}");
            }
        }
        states.push(state);
    }
    states.sort_by_key(|state| state.number());
    assert_eq!(states, InstrumentState::ALL);
}

#[test]
fn the_page_names_every_state_and_time_of_an_auction() {
    for state in InstrumentState::ALL {
        assert!(rows(PAGE).any(|cells| cells.len() == 2 && cells[0] == state.name()), "{state:?}");
    }
    for time in TimeInForce::ALL.iter().filter(|time| time.is_for_auction()) {
        assert!(rows(PAGE).any(|cells| cells.len() == 3 && cells[0] == time.name()), "{time:?}");
    }
}

#[test]
fn an_instrument_that_uncrosses_goes_on_by_itself() {
    let (mut venue, _) = instrument_in(InstrumentState::Uncrossing);
    for _ in 0..2 {
        venue.tick();
    }
    assert_eq!(venue.core.instrument(SPOT).unwrap().instrument.state, InstrumentState::Open);
}
