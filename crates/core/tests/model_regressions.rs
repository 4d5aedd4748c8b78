//! What the comparison with the reference found, as the shortest sequence that shows it.

#[allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
mod reference;

use reference::lockstep::Lockstep;
use reference::world::{World, plain_order};
use rialto_model::{
    AccountId, Amend, Amount, Command, CurrencyId, InstrumentId, NewOrder, OrderKind, OrderRef,
    OrderSize, OrderStatus, Outcome, Price, Quantity, RejectReason, Side, TimeInForce, Transfer,
};

/// An amended order was counted twice in the sum that may stand at its price.
#[test]
fn an_order_that_grows_is_not_counted_beside_itself() {
    let mut lockstep = Lockstep::set_up(&World::plain(&[0]));
    let large = 1_i64 << 61;
    let size = OrderSize::Base(Quantity(large));
    lockstep.must(&Command::Place(NewOrder { side: Side::Sell, size, ..plain_order() }));
    let outcome = lockstep.must(&Command::Amend(Amend {
        account: AccountId(1),
        order: OrderRef::Id(lockstep.reference.orders[0].id),
        price: None,
        quantity: Some(Quantity(large + 1)),
    }));
    assert!(matches!(outcome, Outcome::Order { status: OrderStatus::Open, .. }), "{outcome:?}");
    lockstep.compare().unwrap();
}

/// Makers that a new lot left with a broken quantity made a fill-or-kill order fill in part.
#[test]
fn a_fill_or_kill_sell_for_an_amount_is_never_filled_in_part() {
    let sell_holding = |held: i128| {
        // Version 4 refuses such a lot while orders are open.
        let world = World { rules_version: 3, ..World::plain(&[1_000, 1_000]) };
        let mut lockstep = Lockstep::set_up(&world);
        let away = Transfer {
            account: AccountId(2),
            currency: CurrencyId(1),
            amount: Amount(1_000 - held),
            reference: "away".parse().unwrap(),
        };
        lockstep.must(&Command::Withdraw(away));
        let bid = NewOrder { size: OrderSize::Base(Quantity(3)), ..plain_order() };
        lockstep.must(&Command::Place(bid));
        lockstep.must(&Command::Place(bid));
        let instrument = InstrumentId(1);
        let mut rules = lockstep.reference.listed(instrument).unwrap().instrument.spec.rules;
        rules.lot = Quantity(2);
        lockstep.must(&Command::SetRules { instrument, rules });
        // Enough for both bids; what is left buys no whole lot more.
        lockstep.must(&Command::Place(NewOrder {
            account: AccountId(2),
            side: Side::Sell,
            kind: OrderKind::Market,
            time_in_force: TimeInForce::Fok,
            size: OrderSize::Quote(Amount(700)),
            price: Price::ZERO,
            ..plain_order()
        }))
    };
    // Six are enough for both bids, but after the first the other three are one lot and a half.
    let refused = Outcome::Rejected { reason: RejectReason::InsufficientBalance };
    assert_eq!(sell_holding(6), refused);
    let filled = sell_holding(8);
    let six = Quantity(6);
    assert!(matches!(filled, Outcome::Order { filled, .. } if filled == six), "{filled:?}");
}
