//! Every request goes through the bus, which checks the sender's grant.

mod stage;

use rialto_bus::{Context, Dispatch, Error, ErrorKind};
use rialto_desk::{
    AmendOrder, AmendTriggerPrice, CancelOrder, CancelOrders, CreateCurrency, CreateMember,
    Deposit, DeskBus, DeskConfig, Disconnect, Forbidden, Grant, HoldWithdrawal, OrderRate, Refused,
    ReleaseWithdrawal, Scope, Scopes, SetDeadMan, SetRulesVersion, SettleWithdrawal, SubmitBatch,
    ToEngine, VenueParts,
};
use rialto_disk::Faults;
use rialto_engine::{StorageLevel, StorageReading, Submission};
use rialto_model::{
    AccountId, Amend, AmendTrigger, Amount, Command, CurrencyId, MassCancel, MemberId, OrderRef,
    Outcome, Price, RejectReason, Scale, Seq, Transfer,
};
use stage::{ALICE, BOB, Stage, bid, grant, name};
use std::sync::Arc;

fn cancel_all(account: AccountId) -> CancelOrders {
    let which = MassCancel { account, instrument: None, side: None };
    CancelOrders { which, level: None }
}

fn forbidden(error: &Error) -> Option<Forbidden> {
    error.source_as().copied()
}

#[tokio::test]
async fn a_request_without_a_principal_is_refused() {
    let Stage { bus, .. } = Stage::empty().await;
    let error = bus.send(cancel_all(ALICE), &Context::new()).await.expect_err("nobody asks");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unauthenticated, "forbidden"));
}

#[tokio::test]
async fn a_grant_without_the_scope_is_refused_before_the_engine_hears_of_it() {
    let Stage { engine, bus, .. } = Stage::empty().await;
    let before = engine.released();
    let reader = grant(&[Scope::Read, Scope::Admin], &[ALICE]);
    let cx = Context::new().with_principal(&reader);
    let error = bus.send(cancel_all(ALICE), &cx).await.expect_err("it may only read");
    assert_eq!(forbidden(&error), Some(Forbidden::Scope(Scope::Trade)));
    assert_eq!(engine.released(), before);
}

#[tokio::test]
async fn a_grant_is_for_its_own_accounts() {
    let Stage { bus, .. } = Stage::empty().await;
    let alice = grant(&[Scope::Trade], &[ALICE]);
    let cx = Context::new().with_principal(&alice);
    bus.send(cancel_all(ALICE), &cx).await.expect("her own orders");
    let error = bus.send(cancel_all(BOB), &cx).await.expect_err("another's orders");
    assert_eq!(forbidden(&error), Some(Forbidden::Account));
    let error = bus.send(Disconnect { account: BOB, level: None }, &cx).await;
    assert_eq!(forbidden(&error.expect_err("another's orders")), Some(Forbidden::Account));
}

#[tokio::test]
async fn only_operators_run_the_venue() {
    let Stage { bus, .. } = Stage::empty().await;
    let trader = grant(&[Scope::Read, Scope::Trade, Scope::Transfer], &[ALICE]);
    let cx = Context::new().with_principal(&trader);
    let request = CreateMember { member: MemberId(0), name: name("more"), level: None };
    let error = bus.send(request, &cx).await.expect_err("not an operator");
    assert_eq!(forbidden(&error), Some(Forbidden::Scope(Scope::Admin)));
}

#[tokio::test]
async fn a_held_withdrawal_is_settled_once_by_an_operator() {
    let Stage { bus, .. } = Stage::empty().await;
    let operator = grant(&[Scope::Admin], &[]);
    let alice = grant(&[Scope::Transfer], &[ALICE]);
    let (by_operator, by_alice) =
        (Context::new().with_principal(&operator), Context::new().with_principal(&alice));
    let (code, scale) = ("USD".parse().expect("a code"), Scale::new(2).expect("a scale"));
    let usd = CreateCurrency { code, scale, level: None };
    let answer = bus.send(usd, &by_operator).await.expect("a currency");
    let Outcome::Created { number } = answer.outcome else { panic!("{answer:?}") };
    let currency = CurrencyId(number.try_into().expect("a small number"));
    let transfer = |amount, reference: &str| Transfer {
        account: ALICE,
        currency,
        amount: Amount(amount),
        reference: reference.parse().expect("a short name"),
    };
    let deposit = Deposit { deposit: transfer(100, "in").into(), level: None };
    bus.send(deposit, &by_operator).await.expect("the deposit");
    let hold = HoldWithdrawal { transfer: transfer(100, "out"), level: None };
    bus.send(hold, &by_alice).await.expect("as much as she has");
    let reference = "out".parse().expect("a short name");
    let settle = SettleWithdrawal { account: ALICE, reference, level: None };
    let error = bus.send(settle, &by_alice).await.expect_err("not hers to settle");
    assert_eq!(forbidden(&error), Some(Forbidden::Scope(Scope::Admin)));
    bus.send(settle, &by_operator).await.expect("it is held");
    let release = ReleaseWithdrawal { account: ALICE, reference, level: None };
    let error = bus.send(release, &by_operator).await.expect_err("it is paid out");
    assert_eq!(error.code(), "withdrawal_settled");
    let again = HoldWithdrawal { transfer: transfer(1, "more"), level: None };
    let error = bus.send(again, &by_alice).await.expect_err("nothing is left");
    assert_eq!(error.code(), "insufficient_balance");
}

fn submission(command: Command) -> Submission {
    Submission { token: 0, command, level: None }
}

#[tokio::test]
async fn one_row_that_may_not_be_holds_back_its_whole_batch() {
    let Stage { engine, bus, .. } = Stage::empty().await;
    let before = engine.released();
    let alice = grant(&[Scope::Trade], &[ALICE]);
    let cx = Context::new().with_principal(&alice);
    let cancel = |account| {
        let order = rialto_model::OrderRef::Id(rialto_model::OrderId(1));
        submission(Command::Cancel { account, order })
    };
    let submissions = vec![cancel(ALICE), cancel(BOB)];
    let error = bus.send(SubmitBatch { submissions }, &cx).await.expect_err("another's order");
    assert_eq!(forbidden(&error), Some(Forbidden::Account));
    assert_eq!(engine.released(), before);
}

#[tokio::test]
async fn a_batch_is_no_way_around_the_operator() {
    let Stage { bus, .. } = Stage::empty().await;
    let everything = Grant::new(Scope::ALL.iter().copied().collect::<Scopes>(), [ALICE]);
    let cx = Context::new().with_principal(&everything);
    let command = Command::CreateMember { member: MemberId(0), name: name("more") };
    let submissions = vec![submission(command)];
    let error = bus.send(SubmitBatch { submissions }, &cx).await.expect_err("no order");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "not_for_a_batch"));
}

#[tokio::test]
async fn a_refusal_of_the_engine_names_its_place_in_the_journal() {
    let Stage { engine, bus, .. } = Stage::empty().await;
    let operator = grant(&[Scope::Admin], &[]);
    let cx = Context::new().with_principal(&operator);
    let request = CreateMember { member: MemberId(1), name: name("again"), level: None };
    let error = bus.send(request, &cx).await.expect_err("the number is taken");
    let seq = Seq(engine.released().0);
    let refused: Option<&Refused> = error.source_as();
    assert_eq!(refused, Some(&Refused { reason: RejectReason::AlreadyExists, seq }));
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn an_engine_that_accepts_no_more_commands_reports_it() {
    let Stage { engine, bus, .. } = Stage::empty().await;
    engine.close_intake();
    let alice = grant(&[Scope::Trade], &[ALICE]);
    let cx = Context::new().with_principal(&alice);
    let error = bus.send(cancel_all(ALICE), &cx).await.expect_err("the engine is closing");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unavailable, "stopped"));
}

#[tokio::test]
async fn rules_do_not_change_where_no_snapshot_can_be_made() {
    let Stage { disk, engine, bus, .. } = Stage::with_market().await;
    let operator = grant(&[Scope::Admin], &[]);
    let cx = Context::new().with_principal(&operator);
    let used: usize =
        disk.paths().iter().filter_map(|path| disk.bytes_of(path)).map(|it| it.len()).sum();
    disk.set_faults(Faults { capacity_bytes: Some(used as u64), ..Faults::default() });
    let before = engine.released();
    let version = *rialto_core::RULES_VERSIONS.end();
    let change = SetRulesVersion { version, level: None };
    let error = bus.send(change, &cx).await.expect_err("the disk is full");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unavailable, "snapshot_failed"));
    assert_eq!(engine.released(), before);
    disk.set_faults(Faults::default());
    bus.send(change, &cx).await.expect("there is room again");
}

#[tokio::test]
async fn when_little_of_the_disk_is_left_nothing_is_entered_and_all_else_passes() {
    let Stage { engine, bus, .. } = Stage::with_market().await;
    let everything = Grant::new(Scope::ALL.iter().copied().collect::<Scopes>(), [ALICE]);
    let cx = Context::new().with_principal(&everything);
    let low = |level| engine.storage().tell(level, StorageReading::default());
    low(StorageLevel::Low);
    let placed = bus.send(bid(ALICE, 100), &cx).await.expect("there is room for orders");
    let Outcome::Order { order, .. } = placed.outcome else { panic!("{placed:?}") };
    let order = OrderRef::Id(order);

    low(StorageLevel::Reserved);
    let before = engine.released();
    let error = bus.send(bid(ALICE, 100), &cx).await.expect_err("it enters an order");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unavailable, "storage_low"));
    assert!(error.is_retryable());
    let amend = Amend { account: ALICE, order, price: Some(Price(99)), quantity: None };
    let error = bus.send(AmendOrder { amend, level: None }, &cx).await.expect_err("it enters one");
    assert_eq!(error.code(), "storage_low");
    let change = AmendTrigger { amend, trigger_price: Price(98) };
    let change = AmendTriggerPrice { change, level: None };
    let error = bus.send(change, &cx).await.expect_err("it enters one, too");
    assert_eq!(error.code(), "storage_low");
    assert_eq!(engine.released(), before, "no refusal is journaled");
    assert_eq!(engine.storage().entries_refused(), 3);
    let cancel = CancelOrder { account: ALICE, order, level: None };
    bus.send(cancel, &cx).await.expect("a cancel");
    bus.send(cancel_all(ALICE), &cx).await.expect("a kill switch");
    let timer = SetDeadMan { account: ALICE, timeout_ns: 1_000_000_000, level: None };
    bus.send(timer, &cx).await.expect("another");
    bus.send(Disconnect { account: ALICE, level: None }, &cx).await.expect("a lost connection");
    let transfer = Transfer {
        account: ALICE,
        currency: CurrencyId(2),
        amount: Amount(1),
        reference: "out".parse().expect("a short name"),
    };
    bus.send(HoldWithdrawal { transfer, level: None }, &cx).await.expect("a withdrawal");
    let member = CreateMember { member: MemberId(0), name: name("more"), level: None };
    bus.send(member, &cx).await.expect("an operator");

    low(StorageLevel::Low);
    bus.send(bid(ALICE, 100), &cx).await.expect("there is room again");
}

#[tokio::test]
async fn a_member_has_one_rate_of_orders_over_all_desks_and_cancels_pass() {
    let rate = Arc::new(OrderRate::new(2));
    let Stage { engine, live, bus, .. } = Stage::with_order_rate(Arc::clone(&rate)).await;
    let parts = VenueParts::new(engine, live).with_order_rate(rate);
    let other = DeskBus::open(parts, &DeskConfig::default());
    let of = |member| grant(&[Scope::Trade], &[ALICE]).of_member(MemberId(member));
    let (member, another, itself) = (of(1), of(2), grant(&[Scope::Trade], &[ALICE]));
    // An order that passes is refused by the engine: there is no market.
    let enter = async |bus: &DeskBus, grant: &Grant| {
        let sent = bus.send(bid(ALICE, 1), &Context::new().with_principal(grant)).await;
        sent.expect_err("there is no market")
    };
    // Two are given back each second, however slow this machine is.
    let mut refused = None;
    for nth in 0..10_000 {
        let bus = if nth % 2 == 0 { &bus } else { &other };
        let error = enter(bus, &member).await;
        if error.code() == "order_rate" {
            refused = Some(error);
            break;
        }
        assert_eq!(error.code(), "unknown_instrument");
    }
    let error = refused.expect("the rate is used up");
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Busy, true));
    let cx = Context::new().with_principal(&member);
    bus.send(cancel_all(ALICE), &cx).await.expect("a kill switch");
    assert_eq!(enter(&other, &another).await.code(), "unknown_instrument");
    // The venue itself has no limit.
    for _ in 0..5 {
        assert_eq!(enter(&bus, &itself).await.code(), "unknown_instrument");
    }
}

#[tokio::test]
async fn rows_of_a_batch_beyond_the_rate_are_refused_each_by_itself() {
    let Stage { bus, .. } = Stage::with_order_rate(Arc::new(OrderRate::new(3))).await;
    let member = grant(&[Scope::Trade], &[ALICE]).of_member(MemberId(1));
    let cx = Context::new().with_principal(&member);
    let submissions = vec![submission(bid(ALICE, 1).command()); 100];
    let answers = bus.send(SubmitBatch { submissions }, &cx).await.expect("an answer to each row");
    let codes: Vec<_> = answers
        .iter()
        .map(|answer| answer.as_ref().expect_err("there is no market").code())
        .collect();
    assert_eq!(codes[..3], ["unknown_instrument"; 3]);
    assert_eq!(codes[99], "order_rate");
}
