//! Each way that a withdrawal can go, and that each happens once.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod venue;

use rialto_bus::{Context, Dispatch, ErrorKind};
use rialto_desk::{Forbidden, Refused, Scope};
use rialto_disk::SimDisk;
use rialto_model::RejectReason;
use rialto_payments::{
    ApproveWithdrawal, CancelWithdrawal, Decision, ListWithdrawals, RejectWithdrawal,
    RequestWithdrawal, State,
};
use venue::{ALICE, BOB, EXPIRES_AFTER, FUNDS, TestVenue, grant, id, operator, owner, transfer};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_withdrawal_is_paid_out() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    let requested = venue.request(transfer(ALICE, 30, "w")).await.unwrap();
    assert!(!requested.repeated);
    let pending = requested.withdrawal;
    assert_eq!(pending.state, State::Pending);
    let lasts = pending.expires.unwrap().0 - pending.changed.0;
    assert_eq!(u128::from(lasts), EXPIRES_AFTER.as_nanos());
    assert_eq!(venue.balance(ALICE), (FUNDS - 30, 30));
    let settled = venue.approve(id(ALICE, "w"), "tx-1").await.unwrap();
    assert_eq!(settled.state, State::Settled);
    assert_eq!(settled.decision, Some(Decision::Approve { receipt: "tx-1".parse().unwrap() }));
    assert!(settled.seq.is_some());
    assert_eq!(venue.balance(ALICE), (FUNDS - 30, 0));
    assert_eq!(venue.effects("w"), (1, 1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_withdrawal_is_released() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    venue.request(transfer(ALICE, 30, "w")).await.unwrap();
    let rejected = venue.reject(id(ALICE, "w"), "no such bank").await.unwrap();
    assert_eq!(rejected.state, State::Rejected);
    let reason = "no such bank".to_owned();
    assert_eq!(rejected.decision, Some(Decision::Reject { reason }));
    assert_eq!(venue.balance(ALICE), (FUNDS, 0));
    assert_eq!(venue.effects("w"), (1, 0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_owner_can_cancel_it() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    venue.request(transfer(ALICE, 30, "w")).await.unwrap();
    assert_eq!(venue.cancel(id(ALICE, "w")).await.unwrap().state, State::Cancelled);
    assert_eq!(venue.balance(ALICE), (FUNDS, 0));
    assert_eq!(venue.cancel(id(ALICE, "w")).await.unwrap().state, State::Cancelled);
    assert_eq!(venue.effects("w"), (1, 0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undecided_withdrawal_is_released_in_time() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    venue.request(transfer(ALICE, 30, "w")).await.unwrap();
    venue.clock.advance(EXPIRES_AFTER);
    let expired = venue.wait_for(id(ALICE, "w"), State::Expired).await;
    assert_eq!(expired.decision, None);
    assert_eq!(venue.balance(ALICE), (FUNDS, 0));
    let error = venue.approve(id(ALICE, "w"), "tx-1").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, "withdrawal_decided"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawal_that_the_engine_rejects_ends_as_refused_with_the_reason() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    let too_much = transfer(ALICE, FUNDS + 1, "w");
    let first = venue.request(too_much).await.unwrap_err();
    let refused: Refused = *first.source_as().unwrap();
    assert_eq!(refused.reason, RejectReason::InsufficientBalance);
    assert_eq!(venue.get(id(ALICE, "w")).await.unwrap().state, State::Refused);
    let again = venue.request(too_much).await.unwrap_err();
    assert_eq!(again.source_as(), Some(&refused), "the first answer is repeated");
    let error = venue.approve(id(ALICE, "w"), "tx-1").await.unwrap_err();
    assert_eq!(error.code(), "withdrawal_decided");
    assert_eq!(venue.balance(ALICE), (FUNDS, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asking_twice_asks_for_one_withdrawal() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    let (one, other) = tokio::join!(
        venue.request(transfer(ALICE, 30, "w")),
        venue.request(transfer(ALICE, 30, "w"))
    );
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(one.repeated != other.repeated, "one of them came first");
    assert_eq!(one.withdrawal, other.withdrawal);
    assert_eq!(venue.effects("w"), (1, 0, 0));
    let error = venue.request(transfer(ALICE, 31, "w")).await.unwrap_err();
    assert_eq!(error.code(), RejectReason::ReferenceConflict.code());
    venue.approve(id(ALICE, "w"), "tx-1").await.unwrap();
    let again = venue.request(transfer(ALICE, 30, "w")).await.unwrap();
    assert_eq!((again.repeated, again.withdrawal.state), (true, State::Settled));
    assert_eq!(venue.effects("w"), (1, 1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_concurrent_cancel_and_approval_one_gets_a_conflict() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    let mut settled = 0;
    for round in 0..20 {
        let reference = format!("w{round}");
        let id = id(ALICE, &reference);
        venue.request(transfer(ALICE, 3, &reference)).await.unwrap();
        let (approved, cancelled) = if round % 2 == 0 {
            tokio::join!(venue.approve(id, "tx"), venue.cancel(id))
        } else {
            let (cancelled, approved) = tokio::join!(venue.cancel(id), venue.approve(id, "tx"));
            (approved, cancelled)
        };
        let (won, lost) = match (approved, cancelled) {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
            other => panic!("exactly one of them happens: {other:?}"),
        };
        assert_eq!(lost.code(), "withdrawal_decided");
        settled += i128::from(won.state == State::Settled);
        let effects = venue.effects(&reference);
        let expected = if won.state == State::Settled { (1, 1, 0) } else { (1, 0, 1) };
        assert_eq!(effects, expected, "{won:?}");
    }
    assert_eq!(venue.balance(ALICE), (FUNDS - 3 * settled, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_with_another_receipt_is_another_decision() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    venue.request(transfer(ALICE, 30, "w")).await.unwrap();
    venue.approve(id(ALICE, "w"), "tx-1").await.unwrap();
    assert_eq!(venue.approve(id(ALICE, "w"), "tx-1").await.unwrap().state, State::Settled);
    let error = venue.approve(id(ALICE, "w"), "tx-2").await.unwrap_err();
    assert_eq!(error.code(), "withdrawal_decided");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forbidden_request_is_refused_before_anything_begins() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    venue.request(transfer(ALICE, 30, "w")).await.unwrap();
    let id = id(ALICE, "w");
    let (bob, reader) = (owner(BOB), grant(&[Scope::Read], &[ALICE]));
    let forbidden = |error: rialto_bus::Error| *error.source_as::<Forbidden>().unwrap();
    let cx = Context::new().with_principal(&bob);
    let asked = RequestWithdrawal { transfer: transfer(ALICE, 1, "x") };
    assert_eq!(forbidden(venue.bus.send(asked, &cx).await.unwrap_err()), Forbidden::Account);
    let cancelled = venue.bus.send(CancelWithdrawal { id }, &cx).await;
    assert_eq!(forbidden(cancelled.unwrap_err()), Forbidden::Account);
    let approve = ApproveWithdrawal { id, receipt: "tx".parse().unwrap() };
    let approved = venue.bus.send(approve, &cx).await;
    assert_eq!(forbidden(approved.unwrap_err()), Forbidden::Scope(Scope::Admin));
    let everybody = ListWithdrawals { account: None, ended: false, after: None, limit: 10 };
    let listed = venue.bus.query(everybody, &cx).await;
    assert_eq!(forbidden(listed.unwrap_err()), Forbidden::Scope(Scope::Admin));
    let cx = Context::new().with_principal(&reader);
    let cancelled = venue.bus.send(CancelWithdrawal { id }, &cx).await;
    assert_eq!(forbidden(cancelled.unwrap_err()), Forbidden::Scope(Scope::Transfer));
    assert_eq!(venue.get(id).await.unwrap().state, State::Pending);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn empty_and_too_long_texts_are_invalid() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    venue.request(transfer(ALICE, 30, "w")).await.unwrap();
    let (id, operator) = (id(ALICE, "w"), operator());
    let cx = Context::new().with_principal(&operator);
    let nothing = ApproveWithdrawal { id, receipt: Default::default() };
    assert_eq!(venue.bus.send(nothing, &cx).await.unwrap_err().kind(), ErrorKind::Invalid);
    for reason in ["x".repeat(201), "line\nbreak".to_owned()] {
        let error = venue.bus.send(RejectWithdrawal { id, reason }, &cx).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    let unnamed = venue.request(transfer(ALICE, 1, "")).await.unwrap_err();
    assert_eq!(unnamed.kind(), ErrorKind::Invalid);
    let unknown = venue.approve(venue::id(BOB, "w"), "tx").await.unwrap_err();
    assert_eq!((unknown.kind(), unknown.code()), (ErrorKind::NotFound, "unknown_withdrawal"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_come_in_pages_open_ones_first_come_first() {
    let venue = TestVenue::with_accounts(&SimDisk::new(1)).await;
    for number in 0..5 {
        venue.request(transfer(ALICE, 1, &format!("a{number}"))).await.unwrap();
        venue.request(transfer(BOB, 1, &format!("b{number}"))).await.unwrap();
    }
    for number in 0..3 {
        venue.cancel(id(ALICE, &format!("a{number}"))).await.unwrap();
    }
    let operator = operator();
    let cx = Context::new().with_principal(&operator);
    let list = async |account, ended, after: Option<&str>, limit| {
        let after = after.map(|after| after.parse().unwrap());
        let page = ListWithdrawals { account, ended, after, limit };
        let page = venue.bus.query(page, &cx).await.unwrap();
        let names: Vec<_> = page.withdrawals.iter().map(|it| it.id().to_string()).collect();
        (names.join(" "), page.more)
    };
    let page = |names: &str, more| (names.to_owned(), more);
    assert_eq!(list(Some(ALICE), false, None, 10).await, page("1-a3 1-a4", false));
    assert_eq!(list(Some(ALICE), true, None, 2).await, page("1-a2 1-a1", true));
    assert_eq!(list(Some(ALICE), true, Some("1-a1"), 2).await, page("1-a0", false));
    assert_eq!(list(None, false, None, 3).await, page("2-b0 2-b1 2-b2", true));
    assert_eq!(list(None, false, Some("2-b2"), 3).await, page("1-a3 2-b3 1-a4", true));
    assert_eq!(list(None, true, None, 10).await, page("1-a2 1-a1 1-a0", false));
}
