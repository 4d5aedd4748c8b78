//! Queries go through the bus, which checks the sender's grant.

mod stage;

use rialto_bus::{Context, Dispatch, Error, ErrorKind};
use rialto_desk::{
    FindInstrument, FindOrder, Forbidden, Freshness, GetBalances, GetBook, GetPublishedSeq,
    GetStatus, Grant, IdentifyOrder, ListAccounts, ListOrders, OrderSelection, PlaceOrder,
    PrivateChannel, QueryError, ReadFeed, ReplayStop, RequiredState, Resume, Scope, Subscribe,
    Subscription, TakeBackup,
};
use rialto_model::{
    AccountId, InstrumentId, MemberId, OrderId, OrderRef, Outcome, RejectReason, Seq,
};
use stage::{ALICE, BOB, Received, Stage, bid, grant};
use std::sync::Arc;

const BTC: InstrumentId = InstrumentId(1);

fn forbidden(error: &Error) -> Option<Forbidden> {
    error.source_as().copied()
}

fn query_error(error: &Error) -> Option<QueryError> {
    error.source_as().copied()
}

fn open_orders(account: AccountId, limit: usize) -> ListOrders {
    ListOrders { account, instrument: None, which: OrderSelection::Open, after: None, limit }
}

#[tokio::test]
async fn an_answer_knows_of_the_sequence_that_was_asked_for() {
    let stage = Stage::with_market().await;
    let alice = grant(&[Scope::Trade, Scope::Read], &[ALICE]);
    let cx = Context::new().with_principal(&alice);
    for price in [100, 101, 102] {
        let placed = stage.bus.send(bid(ALICE, price), &cx).await.expect("she has the money");
        let Outcome::Order { order, .. } = placed.outcome else { panic!("{placed:?}") };
        let query = FindOrder { account: ALICE, order: OrderRef::Id(order) };
        let request = ReadFeed { query, freshness: Freshness::Through(placed.seq) };
        let found = stage.bus.query(request, &cx).await.expect("the answer was released");
        assert!(found.at.seq >= placed.seq);
        assert_eq!(found.answer.terms.price.0, price);
        let on = found.names.instrument(found.answer.terms.instrument).expect("its names");
        assert_eq!(on.symbol.as_str(), "BTC-USD");
    }
}

#[tokio::test]
async fn private_data_needs_the_scope_read() {
    let stage = Stage::with_market().await;
    let (owner, trader) = (grant(&[Scope::Read], &[ALICE]), grant(&[Scope::Trade], &[ALICE]));
    let (stranger, operator) = (grant(&[Scope::Read], &[BOB]), grant(&[Scope::Admin], &[]));
    let balances = async |grant: &Grant| {
        let cx = Context::new().with_principal(grant);
        stage.bus.query(ReadFeed::now(GetBalances { account: ALICE }), &cx).await
    };
    let own = balances(&owner).await.expect("her own");
    assert_eq!(own.answer.len(), 1);
    assert!(balances(&operator).await.is_ok(), "an operator sees everything");
    let refused = balances(&trader).await.expect_err("it may trade, not read");
    assert_eq!(forbidden(&refused), Some(Forbidden::Scope(Scope::Read)));
    let refused = balances(&stranger).await.expect_err("another's");
    assert_eq!(forbidden(&refused), Some(Forbidden::Account));
    let refused = balances(Grant::nobody()).await.expect_err("nobody's");
    assert_eq!(forbidden(&refused), Some(Forbidden::Scope(Scope::Read)));
}

#[tokio::test]
async fn public_data_needs_a_principal_and_no_scope() {
    let stage = Stage::with_market().await;
    let cx = Context::new().with_principal(Grant::nobody());
    let book = ReadFeed::now(GetBook { instrument: BTC, levels: 10 });
    assert!(stage.bus.query(book, &cx).await.is_ok());
    let status = stage.bus.query(GetStatus, &cx).await.expect("everybody may know");
    assert!(status.is_ready());
    let error = stage.bus.query(book, &Context::new()).await.expect_err("by whose grant?");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    let members = ReadFeed::now(ListAccounts { member: MemberId(1) });
    let error = stage.bus.query(members, &cx).await.expect_err("not an operator");
    assert_eq!(forbidden(&error), Some(Forbidden::Scope(Scope::Admin)));
}

#[tokio::test]
async fn an_order_is_identified_only_to_a_key_that_may_change_it() {
    let stage = Stage::with_market().await;
    let trader = grant(&[Scope::Trade], &[ALICE, BOB]);
    let cx = Context::new().with_principal(&trader);
    let placed = stage.bus.send(bid(ALICE, 100), &cx).await.expect("she has the money");
    let Outcome::Order { order, .. } = placed.outcome else { panic!("{placed:?}") };
    let identify = |account| IdentifyOrder {
        account,
        order: OrderRef::Id(order),
        required: RequiredState::Order,
    };
    let found = stage.bus.query(identify(ALICE), &cx).await.expect("it was released");
    assert_eq!(found.answer.terms.price.0, 100);
    let error = stage.bus.query(identify(BOB), &cx).await.expect_err("it is not Bob's");
    let unknown = QueryError::Unknown(RejectReason::UnknownOrder);
    assert_eq!(query_error(&error), Some(unknown));
    let reader = grant(&[Scope::Read], &[ALICE]);
    let cx = Context::new().with_principal(&reader);
    let error = stage.bus.query(identify(ALICE), &cx).await.expect_err("it may only read");
    assert_eq!(forbidden(&error), Some(Forbidden::Scope(Scope::Trade)));
}

#[tokio::test]
async fn a_sequence_that_does_not_come_is_behind() {
    let stage = Stage::with_market().await;
    let cx = Context::new().with_principal(Grant::nobody());
    let query = GetBook { instrument: BTC, levels: 1 };
    let request = ReadFeed { query, freshness: Freshness::Through(Seq(1_000_000)) };
    let error = stage.bus.query(request, &cx).await.expect_err("that far the venue is not");
    assert_eq!((error.code(), error.is_retryable()), ("behind", true));
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_repetition() {
    let stage = Stage::with_market().await;
    let alice = grant(&[Scope::Trade, Scope::Read], &[ALICE]);
    let cx = Context::new().with_principal(&alice);
    let mut placed = Vec::new();
    for price in 1..=7 {
        let answer = stage.bus.send(bid(ALICE, price), &cx).await.expect("she has the money");
        let Outcome::Order { order, .. } = answer.outcome else { panic!("{answer:?}") };
        placed.push(order);
    }
    let (mut listed, mut after) = (Vec::<OrderId>::new(), None);
    loop {
        let query = ListOrders { after, ..open_orders(ALICE, 3) };
        let request = ReadFeed { query, freshness: Freshness::Released };
        let page = stage.bus.query(request, &cx).await.expect("her own").answer;
        listed.extend(page.rows.iter().map(|order| order.order));
        let Some(last) = page.next_after() else { break };
        after = Some(last.order);
    }
    assert_eq!(listed, placed);
}

#[tokio::test]
async fn a_new_instrument_is_found_at_once() {
    let stage = Stage::empty().await;
    let cx = Context::new().with_principal(Grant::nobody());
    let symbol = "BTC-USD".parse().expect("a symbol");
    let error = stage.bus.query(FindInstrument { symbol }, &cx).await.expect_err("not listed");
    let unknown = QueryError::Unknown(RejectReason::UnknownInstrument);
    assert_eq!(query_error(&error), Some(unknown));
    stage.list_market().await;
    let listing = stage.bus.query(FindInstrument { symbol }, &cx).await.expect("it is listed");
    assert_eq!(listing.id, BTC);
}

#[tokio::test]
async fn a_subscriber_hears_of_what_is_its_own_until_it_ends_the_subscription() {
    let stage = Stage::with_market().await;
    let alice = grant(&[Scope::Trade, Scope::Read], &[ALICE]);
    let cx = Context::new().with_principal(&alice);
    let received = Arc::new(Received::default());
    let subscribe = |account| Subscribe {
        subscription: Subscription::Own(PrivateChannel::Orders, account),
        listener: Arc::clone(&received) as _,
    };
    let error = stage.bus.query(subscribe(BOB), &cx).await.err().expect("another's orders");
    assert_eq!(forbidden(&error), Some(Forbidden::Account));
    let subscribed = stage.bus.query(subscribe(ALICE), &cx).await.expect("her own orders");
    let first = stage.bus.send(bid(ALICE, 100), &cx).await.expect("she has the money").seq;
    stage.wait_for_publication(first).await;
    assert_eq!(received.seqs(), [first]);
    drop(subscribed);
    let second = stage.bus.send(bid(ALICE, 101), &cx).await.expect("she has the money").seq;
    stage.wait_for_publication(second).await;
    assert_eq!(received.seqs(), [first]);
}

#[tokio::test]
async fn a_replay_is_private_and_reads_up_to_the_published_sequence() {
    let stage = Stage::with_market().await;
    let alice = grant(&[Scope::Trade, Scope::Read], &[ALICE]);
    let cx = Context::new().with_principal(&alice);
    let before = stage.bus.query(GetPublishedSeq, &cx).await.expect("everybody may know");
    let first: PlaceOrder = bid(ALICE, 100);
    let first = stage.bus.send(first, &cx).await.expect("she has the money").seq;
    let resume = |account| Resume { channel: PrivateChannel::Orders, account, after: before };
    let error = stage.bus.query(resume(BOB), &cx).await.err().expect("another's orders");
    assert_eq!(forbidden(&error), Some(Forbidden::Account));
    stage.wait_for_publication(first).await;
    let mut replay = stage.bus.query(resume(ALICE), &cx).await.expect("her own");
    let mut seqs = Vec::new();
    let published = replay.published();
    // A refused command is repeated.
    for (is_taken, stopped) in [(false, ReplayStop::Refused), (true, ReplayStop::Complete)] {
        let read = replay.read_through(
            published,
            stage::LONG,
            |_| false,
            |seq, _, _, _| {
                seqs.push(seq);
                is_taken
            },
        );
        assert_eq!(read.expect("the events are there"), stopped);
    }
    assert_eq!(seqs, [first, first]);
    assert_eq!(replay.reached(), published);
    let paused = replay.read_through(published.next(), stage::LONG, |_| true, |_, _, _, _| true);
    assert_eq!(paused.expect("nothing was read"), ReplayStop::Paused);
}

#[tokio::test]
async fn a_backup_is_an_operators_and_its_name_is_no_path() {
    let stage = Stage::empty().await;
    let operator = grant(&[Scope::Admin], &[]);
    let backup = |name: &str| TakeBackup { name: name.to_owned() };
    let cx = Context::new().with_principal(Grant::nobody());
    let error = stage.bus.send(backup("../x"), &cx).await.expect_err("not an operator");
    assert_eq!(forbidden(&error), Some(Forbidden::Scope(Scope::Admin)));
    let cx = Context::new().with_principal(&operator);
    let error = stage.bus.send(backup("../x"), &cx).await.expect_err("a path");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "invalid_field"));
    let error = stage.bus.send(backup("x"), &cx).await.expect_err("there is no directory");
    assert_eq!(error.code(), "no_backup_dir");
}
