//! Streams that were cut, reordered or damaged on their way are noticed.

use crate::stage::*;
use rialto_feed::{FeedConfig, FoldError};
use rialto_model::*;

fn refused(stage: &mut Stage, event: Event) -> FoldError {
    stage.try_step(&[event]).unwrap_err()
}

#[test]
fn a_gap_in_the_sequence() {
    let mut stage = Stage::new();
    let after = stage.feed.seq();
    let got = Seq(after.0 + 2);
    let error = stage.feed.fold(got, Timestamp(SECOND), &Event::Ticked, &mut |_| {});
    assert_eq!(error, Err(FoldError::OutOfOrder { after, got }));
}

#[test]
fn a_command_that_was_folded_before() {
    let mut stage = Stage::new();
    let after = stage.feed.seq();
    let error = stage.feed.fold(after, Timestamp(SECOND), &Event::Ticked, &mut |_| {});
    assert_eq!(error, Err(FoldError::OutOfOrder { after, got: after }));
    let error = stage.feed.end_of(after, Timestamp(SECOND), &mut |_| {});
    assert_eq!(error, Err(FoldError::OutOfOrder { after, got: after }));
}

#[test]
fn a_command_without_events() {
    let mut stage = Stage::new();
    assert!(matches!(stage.try_step(&[]), Err(FoldError::OutOfOrder { .. })));
}

#[test]
fn an_order_that_is_not_open() {
    let mut stage = Stage::new();
    let order = stage.rest(ALICE, Side::Buy, 100, 50);
    let cancel = cancelled(order, ALICE, Side::Buy, 100, 50);
    stage.step(&[cancel]);
    let seq = stage.feed.seq().next();
    let error = refused(&mut stage, cancel);
    assert_eq!(error, FoldError::UnknownOrder { seq, order: order_id(order) });
}

#[test]
fn amounts_that_do_not_add_up() {
    let mut stage = Stage::new();
    let order = stage.rest(ALICE, Side::Buy, 100, 50);
    let cancel = done(order, ALICE, Side::Buy, DoneReason::Cancelled, (100, 50), Amount(1));
    let error = refused(&mut stage, cancel);
    assert!(matches!(error, FoldError::Mismatch { what: "what is released", .. }), "{error}");
    let mut stage = Stage::new();
    let order = stage.rest(ALICE, Side::Buy, 100, 50);
    let error = refused(&mut stage, cancelled(order, ALICE, Side::Buy, 100, 40));
    assert!(matches!(error, FoldError::Mismatch { event: 40, folded: 50, .. }), "{error}");
}

#[test]
fn things_that_were_never_created() {
    let terms = terms(ALICE, Side::Buy, 100, 50);
    let entered = |terms| {
        Event::Accepted(Accepted { order: order_id(80), terms, reserved: Amount(0), rests: true })
    };
    let nowhere = NewOrder { instrument: InstrumentId(9), ..terms };
    let error = refused(&mut Stage::new(), entered(nowhere));
    assert!(matches!(error, FoldError::UnknownInstrument { .. }), "{error}");
    let nobody = NewOrder { account: AccountId(9), ..terms };
    let error = refused(&mut Stage::new(), entered(nobody));
    assert!(matches!(error, FoldError::UnknownAccount { .. }), "{error}");
    let reference = "r".parse().unwrap();
    let (account, currency, amount) = (ALICE, CurrencyId(9), Amount(1));
    let deposit = Event::Deposited { account, currency, amount, reference };
    let error = refused(&mut Stage::new(), deposit);
    assert!(matches!(error, FoldError::UnknownCurrency { .. }), "{error}");
    let (account, member) = (AccountId(9), MemberId(9));
    let opened = Event::AccountCreated { account, member, name: Name::EMPTY };
    let error = refused(&mut Stage::new(), opened);
    assert!(matches!(error, FoldError::UnknownMember { .. }), "{error}");
}

#[test]
fn numbers_that_are_taken() {
    let again = Event::MemberCreated { member: MemberId(1), name: Name::EMPTY };
    let error = refused(&mut Stage::new(), again);
    assert!(matches!(error, FoldError::NumberTaken { what: "member", .. }), "{error}");
    let again = Event::InstrumentCreated { instrument: MARKET, spec: spec(true) };
    let error = refused(&mut Stage::new(), again);
    assert!(matches!(error, FoldError::NumberTaken { what: "instrument", .. }), "{error}");
    let skipped = Event::CurrencyCreated(currency(CurrencyId(9), "EUR", 6));
    let error = refused(&mut Stage::bare(FeedConfig::default()), skipped);
    assert!(matches!(error, FoldError::NumberTaken { what: "currency", .. }), "{error}");
}
