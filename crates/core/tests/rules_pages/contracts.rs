//! Limits and fees of a contract as the page says.

use crate::page::{examples, orders, rows};
use crate::venue::*;
use rialto_model::{
    Amount, Command, ContractTerms, InstrumentState, LotFees, NewOrder, OrderSize, Outcome, Price,
    Quantity, RejectReason, Side, TradingRules,
};

const PAGE: &str = include_str!("../../../../docs/rules/contracts.md");

fn lot_fees(maker: i128, taker: i128) -> LotFees {
    LotFees { maker: Amount(maker), taker: Amount(taker), auction: Amount(0) }
}

fn set_terms(venue: &mut Venue, terms: ContractTerms) -> Outcome {
    venue.apply(Command::SetContractTerms { instrument: SPOT, terms })
}

/// An order such as `sell 40@100` or `buy for 100`.
fn order(account: rialto_model::AccountId, text: &str) -> NewOrder {
    let (side, size) = text.split_once(' ').unwrap();
    let side = if side == "buy" { Side::Buy } else { Side::Sell };
    match size.strip_prefix("for ") {
        Some(amount) => market(account, side, OrderSize::Quote(Amount(amount.parse().unwrap()))),
        None => {
            let [(quantity, price)] = orders(size)[..] else { panic!("{text}") };
            limit(account, side, price, quantity)
        }
    }
}

#[test]
fn fees_by_the_lot_are_those_of_the_page() {
    let mut count = 0;
    for cells in examples(PAGE) {
        let [id, lot, fees, resting, incoming, trades, paid, _] = &cells[..] else {
            panic!("{cells:?}")
        };
        let pair = |text: &str| {
            let (maker, taker) = text.split_once(", ").unwrap();
            (maker.parse().unwrap(), taker.parse().unwrap())
        };
        let (maker, taker): (i128, i128) = pair(fees);
        let lot = Quantity(lot.parse().unwrap());
        let mut venue = Venue::ruled(TradingRules { lot, ..rules() });
        let lot_fees = Some(lot_fees(maker, taker));
        let terms = ContractTerms { lot_fees, ..ContractTerms::PLAIN };
        assert_eq!(set_terms(&mut venue, terms), Outcome::Done, "{id}");
        venue.enter(order(ALICE, resting));
        venue.enter(order(BOB, incoming));
        let traded: Vec<_> = venue.trades().into_iter().map(|(at, size)| (size, at)).collect();
        assert_eq!(traded, orders(trades), "{id}");
        let fees = venue.trade_events().map(|trade| (trade.maker_fee.0, trade.taker_fee.0));
        assert_eq!(fees.collect::<Vec<(i128, i128)>>(), [pair(paid)], "{id}");
        count += 1;
    }
    assert_eq!(count, 6);
}

/// Whether an order of 20 at 100 can be entered, or a resting one be amended to that.
fn order_and_amendment(venue: &mut Venue) -> [Result<(), RejectReason>; 2] {
    let small = venue.enter(buy(ALICE, 100, 10));
    let amended = venue.amend(ALICE, small, None, Some(20));
    venue.cancel(ALICE, small);
    let entered = venue.place(buy(ALICE, 100, 20));
    [entered, amended].map(|outcome| match outcome {
        Outcome::Rejected { reason } => Err(reason),
        _ => Ok(()),
    })
}

#[test]
fn limits_are_compared_with_what_the_page_says() {
    let terms =
        |notional_max| ContractTerms { notional_max: Amount(notional_max), ..ContractTerms::PLAIN };
    let mut venue = Venue::new();
    assert_eq!(set_terms(&mut venue, terms(2_000)), Outcome::Done);
    assert_eq!(order_and_amendment(&mut venue), [Ok(()); 2]);
    set_terms(&mut venue, terms(1_999));
    let too_large = reason_of("notional_max");
    assert_eq!(order_and_amendment(&mut venue), [Err(too_large); 2]);
    let amount = |amount| market(BOB, Side::Sell, OrderSize::Quote(Amount(amount)));
    assert_eq!(venue.place(amount(2_000)), rejected(too_large));
    assert!(!venue.place(amount(1_999)).is_rejected());

    venue.set_rules(TradingRules { notional_min: Amount(1_999), ..rules() });
    let too_small = reason_of("notional_min");
    assert_eq!(venue.place(buy(ALICE, 1, 1_998)), rejected(too_small));
    let below = TradingRules { notional_min: Amount(2_000), ..rules() };
    assert_eq!(venue.set_rules(below), rejected(RejectReason::InvalidRules));

    let mut venue = Venue::ruled(TradingRules { quantity_max: Quantity(19), ..rules() });
    assert_eq!(order_and_amendment(&mut venue), [Err(reason_of("quantity_max")); 2]);
    let mut venue = Venue::ruled(TradingRules { open_orders_max: 1, ..rules() });
    venue.enter(buy(ALICE, 100, 1));
    assert_eq!(venue.place(buy(ALICE, 100, 1)), rejected(reason_of("open_orders_max")));
}

/// The refusal in the row of a limit.
fn reason_of(limit: &str) -> RejectReason {
    let mut limits = rows(PAGE).filter(|cells| cells.len() == 4 && cells[0] == limit);
    let code = limits.next().unwrap()[3].clone();
    *RejectReason::ALL.iter().find(|reason| reason.code() == code).unwrap()
}

/// Makes the change that a row of the page names.
fn change(venue: &mut Venue, name: &str) -> Outcome {
    let old = venue.core.instrument(SPOT).unwrap();
    let (rules, terms) = (old.instrument.spec.rules, *old.terms);
    let new = match name {
        "tick to a divisor" => TradingRules { tick: Price(2), ..rules },
        "tick to another" => TradingRules { tick: Price(3), ..rules },
        "lot to a divisor" => TradingRules { lot: Quantity(5), ..rules },
        "lot to another" => TradingRules { lot: Quantity(20), ..rules },
        "lot under fees by the lot" => TradingRules { lot: Quantity(5), ..rules },
        "quantity_max" => TradingRules { quantity_max: Quantity(10), ..rules },
        "notional_min" => TradingRules { notional_min: Amount(1_000_000), ..rules },
        "open_orders_max" => TradingRules { open_orders_max: 0, ..rules },
        "taker_fee_ppm" => TradingRules { taker_fee_ppm: 20_000, ..rules },
        "risk" => TradingRules { risk: false, ..rules },
        "notional_max" => {
            return set_terms(venue, ContractTerms { notional_max: Amount(1), ..terms });
        }
        "fees by the lot" => {
            let lot_fees = Some(lot_fees(1, 2));
            return set_terms(venue, ContractTerms { lot_fees, ..terms });
        }
        other => panic!("{other} is not known to this test"),
    };
    venue.set_rules(new)
}

fn changes() -> Vec<Vec<String>> {
    let begins = rows(PAGE).skip_while(|cells| cells[0] != "Change");
    begins.skip(2).filter(|cells| cells.len() == 3).collect()
}

#[test]
fn changes_with_open_orders_are_accepted_where_the_page_says() {
    let coarse = TradingRules { tick: Price(4), lot: Quantity(10), ..rules() };
    let changes = changes();
    assert_eq!(changes.len(), 12);
    for cells in changes {
        let [name, accepted, what] = &cells[..] else { panic!("{cells:?}") };
        let mut venue = Venue::ruled(coarse);
        let by_lot = name == "lot under fees by the lot";
        if by_lot {
            let lot_fees = Some(lot_fees(1, 2));
            set_terms(&mut venue, ContractTerms { lot_fees, ..ContractTerms::PLAIN });
        }
        let id = venue.enter(sell(ALICE, 100, 40));
        let before = venue.core.order(id).unwrap();
        let outcome = change(&mut venue, name);
        let got = match outcome {
            Outcome::Rejected { reason } => reason.code(),
            _ => "yes",
        };
        assert_eq!(got, accepted, "{name}");
        assert_eq!(venue.core.order(id).unwrap(), before, "{name}: the order is as it was");
        if what.contains("amendments") {
            let amended = venue.amend(ALICE, id, Some(104), None);
            assert_eq!(amended, rejected(reason_of(name)), "{name}");
        }
        if what.contains("new orders") {
            assert_eq!(venue.place(sell(ALICE, 104, 40)), rejected(reason_of(name)), "{name}");
        }
        if what.contains("keep their rates") {
            assert_eq!(before.taker_fee_ppm, 10_000);
            venue.amend(ALICE, id, Some(104), None);
            assert_eq!(venue.core.order(id).unwrap().taker_fee_ppm, 20_000, "{name}");
        }
    }
}

#[test]
fn nothing_changes_while_an_instrument_uncrosses() {
    for cells in changes() {
        let coarse = TradingRules { tick: Price(4), lot: Quantity(10), ..rules() };
        let mut venue = Venue::ruled(coarse);
        venue.set_state(InstrumentState::Call);
        // More than one command trades.
        for _ in 0..200 {
            venue.enter(buy(ALICE, 100, 40));
            venue.enter(sell(BOB, 100, 40));
        }
        venue.set_state(InstrumentState::Open);
        let state = venue.core.instrument(SPOT).unwrap().instrument.state;
        assert_eq!(state, InstrumentState::Uncrossing);
        let outcome = change(&mut venue, &cells[0]);
        assert_eq!(outcome, rejected(RejectReason::InstrumentUncrossing), "{}", cells[0]);
    }
}

#[test]
fn versions_before_5_refuse_terms() {
    let mut venue = Venue::under(4, rules());
    let outcome = set_terms(&mut venue, ContractTerms::PLAIN);
    assert_eq!(outcome, rejected(RejectReason::CommandUnknown));
}
