//! Each group of methods against a real venue.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod test_venue;

use rialto_client::api::{
    AccountQuery, AmendRequest, AuctionRulesRequest, BatchRow, BookOf, BookQuery,
    CalendarAssignRequest, CalendarQuery, CancelQuery, CancelRequest, ContractTermsRequest,
    DeadManRequest, ExtendRequest, FetchRequest, FillsQuery, FreshQuery, GroupRequest, HaltRequest,
    KeyCreateRequest, KeyRotateRequest, KillRequest, LeaseRequest, LeasesQuery, ListedOrders,
    MassCancelQuery, MemberRequest, MessageRequest, NackRequest, OrderRequest, OrdersQuery,
    PhaseRequest, PublishQuery, ReadQuery, RestrictionRequest, RestrictionsQuery, RulesRequest,
    SettleRequest, StateRequest, TopicRequest, TradesQuery, TransferRequest, TransitionMoveRequest,
    WithdrawalRequest, WithdrawalsQuery,
};
use rialto_client::model::{
    InstrumentState, MemberId, OrderStatus, Restriction, Scope, Side, Timestamp,
};
use rialto_client::{Client, ClientError, ClientOptions, Credentials};
use test_venue::{TestVenue, credentials, impatient};

const NONE: AccountQuery = AccountQuery { account: None, min_seq: None };

#[test]
fn a_member_trades_and_sees_what_it_did() {
    let place = TestVenue::open();
    let (alice, bob) = (place.member(&place.alice), place.member(&place.bob));
    place.runtime.block_on(async {
        let mut order = OrderRequest::limit("BTC-USD", Side::Sell, "0.5", "64000");
        order.client_order_id = Some("one".into());
        let placed = alice.place(&order).await.unwrap();
        assert_eq!(placed.status, Some(OrderStatus::Open));
        // The same order again is not entered again.
        assert_eq!(alice.place(&order).await.unwrap().repeated, Some(true));
        let bought = bob.place(&OrderRequest::market("BTC-USD", Side::Buy, "0.2")).await.unwrap();
        assert_eq!(bought.filled.unwrap().to_string(), "0.2000");

        // A client sees its own commands without a word about it.
        assert_eq!(bob.last_seq(), Some(bought.seq));
        let fills = bob.fills(&FillsQuery::default()).await.unwrap();
        assert!(fills.seq >= bought.seq);
        assert_eq!(fills.fills.len(), 1);
        assert_eq!(bob.orders(&OrdersQuery::default()).await.unwrap().orders.len(), 0);
        let ended = OrdersQuery { status: ListedOrders::Ended, ..OrdersQuery::default() };
        assert_eq!(bob.orders(&ended).await.unwrap().orders.len(), 1);
        assert!(!bob.balances(&NONE).await.unwrap().balances.is_empty());

        let amend = AmendRequest { price: Some("64001".into()), ..AmendRequest::default() };
        assert_eq!(
            alice.amend("client:one", &amend).await.unwrap().status,
            placed.status.map(|_| OrderStatus::PartiallyFilled)
        );
        let order = alice.order("client:one", &NONE).await.unwrap().order;
        assert_eq!(order.price.unwrap().to_string(), "64001.00");
        alice.cancel("client:one", &CancelQuery::default()).await.unwrap();

        let rows = [
            BatchRow::Place(Box::new(OrderRequest::limit("BTC-USD", Side::Buy, "0.1", "100"))),
            BatchRow::Cancel(CancelRequest { account: None, id: "client:none".into() }),
        ];
        let batch = alice.batch(None, &rows).await.unwrap();
        let statuses: Vec<u16> = batch.results.iter().map(|result| result.status).collect();
        assert_eq!(statuses, [201, 404]);
        let cancelled = alice.cancel_all(&MassCancelQuery::default()).await.unwrap();
        assert_eq!(cancelled.cancelled, Some(1));
        let timer = DeadManRequest { account: None, timeout_ms: 60_000 };
        assert!(alice.dead_man(&timer).await.unwrap().due.is_some());
        let killed = alice.kill(&KillRequest::default()).await.unwrap();
        assert_eq!((killed.results.len(), killed.seq), (1, alice.last_seq()));
        let state = alice.kill_state(&AccountQuery::default()).await.unwrap();
        assert_eq!((state.restriction, state.killed), (Restriction::CancelOnly, true));
        alice.lift_kill(&KillRequest::default()).await.unwrap();
        assert!(!alice.kill_state(&AccountQuery::default()).await.unwrap().killed);
    });
}

#[test]
fn withdrawals_are_asked_for_and_decided() {
    let place = TestVenue::open();
    let (alice, operator) = (place.member(&place.alice), place.operator());
    place.runtime.block_on(async {
        let ask = |reference: &'static str| WithdrawalRequest {
            account: None,
            currency: "USD".into(),
            amount: "250".into(),
            reference: reference.into(),
        };
        let asked = alice.withdraw(&ask("a")).await.unwrap().withdrawal;
        assert_eq!(alice.withdrawal(&asked.id).await.unwrap().withdrawal.id, asked.id);
        let open = alice.withdrawals(&WithdrawalsQuery::default()).await.unwrap();
        assert_eq!(open.withdrawals.len(), 1);
        alice.cancel_withdrawal(&asked.id).await.unwrap();
        let asked = alice.withdraw(&ask("b")).await.unwrap().withdrawal;
        let all = operator.all_withdrawals(&WithdrawalsQuery::default()).await.unwrap();
        assert!(all.withdrawals.iter().any(|withdrawal| withdrawal.id == asked.id));
        let receipt = rialto_client::api::ApproveRequest { receipt: "wire-1".into() };
        operator.approve_withdrawal(&asked.id, &receipt).await.unwrap();
    });
}

#[test]
fn everybody_sees_the_market() {
    let place = TestVenue::open();
    let client = Client::new(&place.url(), Credentials::None).unwrap();
    let alice = place.member(&place.alice);
    place.runtime.block_on(async {
        alice.place(&OrderRequest::limit("BTC-USD", Side::Sell, "1", "64000")).await.unwrap();
        let fresh = FreshQuery { min_seq: alice.last_seq() };
        assert_eq!(client.instruments(&fresh).await.unwrap().instruments.len(), 1);
        let instrument = client.instrument("BTC-USD", &FreshQuery::default()).await.unwrap();
        assert_eq!(instrument.instrument.state, InstrumentState::Open);
        let BookOf::Levels(book) =
            client.book("BTC-USD", &BookQuery::default()).await.unwrap().sides
        else {
            panic!("the book is by price");
        };
        assert_eq!(book.asks.len(), 1);
        assert!(client.trades("BTC-USD", &TradesQuery::default()).await.unwrap().trades.is_empty());
        assert!(client.ticker("BTC-USD", &FreshQuery::default()).await.unwrap().ask.is_some());
        let calendars = client.calendars(&FreshQuery::default()).await.unwrap();
        assert!(calendars.calendars.is_empty());
        let unknown = client.calendar("equities", &CalendarQuery::default()).await.unwrap_err();
        assert_eq!(unknown.code(), Some("unknown_calendar"), "{unknown}");
        assert!(client.time().await.unwrap().time.0 > 0);
        assert!(client.ready().await.unwrap().ready);
        assert!(client.openapi().await.unwrap()["paths"].is_object());
    });
}

#[test]
fn an_operator_runs_the_venue() {
    let place = TestVenue::open();
    let operator = place.operator();
    place.runtime.block_on(async {
        let member = MemberRequest { member: MemberId(0), name: "carol".into() };
        let created = operator.create_member(&member).await.unwrap();
        let member = MemberId(created.member.unwrap());
        let key = KeyCreateRequest {
            label: Some("desk".into()),
            member,
            accounts: Some(Vec::new()),
            scopes: vec![Scope::Read],
            queues: Vec::new(),
            depot: Vec::new(),
            expires_at: None,
        };
        let key = operator.create_key(&key).await.unwrap();
        assert!(key.secret.is_some());
        operator.rotate_key(&key.id, &KeyRotateRequest { overlap_s: 0 }).await.unwrap();
        operator.revoke_key(&key.id).await.unwrap();
        let keys = operator.keys().await.unwrap().keys;
        assert!(keys.iter().any(|it| it.id == key.id && it.revoked_at.is_some()));

        let btc = StateRequest { instrument: "BTC-USD".into() };
        let halt = HaltRequest { instrument: Some("BTC-USD".into()), ..HaltRequest::default() };
        assert_eq!(operator.halt(&halt).await.unwrap().state, InstrumentState::Halted);
        let halt = HaltRequest { venue: true, duration_ms: Some(60_000), ..HaltRequest::default() };
        assert!(operator.halt(&halt).await.unwrap().until.is_some());
        operator.resume(&btc).await.unwrap();
        let call =
            PhaseRequest { instrument: "BTC-USD".into(), state: InstrumentState::ClosingCall };
        operator.set_state(&call).await.unwrap();
        let rules = AuctionRulesRequest { fee_ppm: Some(5), ..AuctionRulesRequest::of("BTC-USD") };
        let changed = operator.change_auction_rules(&rules).await.unwrap();
        let fresh = FreshQuery { min_seq: Some(changed.seq) };
        let auction = operator.auction("BTC-USD", &fresh).await.unwrap();
        let terms = ContractTermsRequest {
            instrument: "BTC-USD".into(),
            notional_max: Some("1000000".into()),
            lot_fees: None,
            remove_lot_fees: true,
        };
        let limited = operator.change_contract_terms(&terms).await.unwrap();
        let fresh = FreshQuery { min_seq: Some(limited.seq) };
        let listed = operator.instrument("BTC-USD", &fresh).await.unwrap();
        let most = listed.instrument.notional_max.map(|most| most.to_string());
        assert_eq!((most.as_deref(), listed.instrument.lot_fees), (Some("1000000.000000"), None));
        let told = (auction.auction.state, auction.rules.fee_ppm);
        assert_eq!(told, (InstrumentState::ClosingCall, 5));
        operator.resume(&btc).await.unwrap();
        let restriction = RestrictionRequest {
            venue: false,
            member: None,
            account: None,
            instrument: Some("BTC-USD".into()),
            restriction: Restriction::CancelOnly,
            cancel: true,
        };
        let restricted = operator.restrict(&restriction).await.unwrap();
        assert_eq!((restricted.cancelled, restricted.pending), (Some(0), Some(false)));
        let all = operator.restrictions(&RestrictionsQuery::default()).await.unwrap();
        assert_eq!(all.restrictions, [restricted.restriction]);
        let lifted =
            RestrictionRequest { restriction: Restriction::None, cancel: false, ..restriction };
        operator.restrict(&lifted).await.unwrap();
        let none = CalendarAssignRequest { calendar: None };
        assert_eq!(operator.assign_calendar("BTC-USD", &none).await.unwrap().calendar, None);
        let (at, to) = (Timestamp(1), Timestamp(2));
        let shift = TransitionMoveRequest { at, to };
        let unknown = operator.move_transition("equities", &shift).await.unwrap_err();
        assert_eq!(unknown.code(), Some("unknown_calendar"), "{unknown}");
        let rules = RulesRequest { taker_fee_ppm: Some(300), ..RulesRequest::default() };
        operator.change_rules("BTC-USD", &rules).await.unwrap();
        let deposit = TransferRequest {
            account: rialto_client::model::AccountId(1),
            currency: "USD".into(),
            amount: "5".into(),
            reference: "extra".into(),
            time: None,
            durability: None,
        };
        let first = operator.deposit(&deposit).await.unwrap();
        let again = operator.deposit(&deposit).await.unwrap();
        assert_eq!((first.repeated, again.repeated), (false, true));
        assert!(operator.snapshot().await.unwrap().seq >= first.seq);
    });
}

#[test]
fn messages_go_through_a_topic() {
    let place = TestVenue::open();
    let operator = place.operator();
    place.runtime.block_on(async {
        let topic = TopicRequest { name: "jobs".into(), ..TopicRequest::default() };
        operator.create_topic(&topic).await.unwrap();
        assert_eq!(operator.topics().await.unwrap().topics, ["jobs"]);
        let group = GroupRequest { name: "all".into(), ..GroupRequest::default() };
        operator.create_group("jobs", &group).await.unwrap();
        let message =
            |text: &str| MessageRequest { payload: Some(text.to_owned()), ..Default::default() };
        let messages = rialto_client::api::Rows(vec![message("a"), message("b"), message("c")]);
        let published =
            operator.publish("jobs", &PublishQuery::default(), &messages).await.unwrap();
        assert_eq!(published.ids.unwrap().len(), 3);
        let read = operator.read("jobs", &ReadQuery::default()).await.unwrap();
        assert_eq!(read.messages.len(), 3);

        let fetch = FetchRequest {
            consumer: "c1".into(),
            max: None,
            wait_ms: 1_000,
            ack_wait_ms: Some(60_000),
        };
        let fetched = operator.fetch("jobs", "all", &fetch).await.unwrap().messages;
        assert_eq!(fetched[0].payload.as_deref(), Some("a"));
        let leases = |range: &[rialto_client::api::MessageInfo<'static>]| {
            let lease = |message: &rialto_client::api::MessageInfo<'static>| LeaseRequest {
                id: message.id.clone().into(),
                lease: message.lease.clone().unwrap().into(),
            };
            rialto_client::api::Rows(range.iter().map(lease).collect())
        };
        let settle = |range| SettleRequest { consumer: "c1".into(), messages: leases(range) };
        let extend = ExtendRequest {
            consumer: "c1".into(),
            messages: leases(&fetched),
            ack_wait_ms: Some(90_000),
        };
        assert!(operator.extend("jobs", "all", &extend).await.unwrap().lost.is_empty());
        let leased = operator.leases("jobs", "all", &LeasesQuery::default()).await.unwrap().leases;
        assert_eq!((leased.len(), leased[0].consumer.as_deref()), (3, Some("c1")));
        assert!(operator.ack("jobs", "all", &settle(&fetched[..2])).await.unwrap().lost.is_empty());
        let nack = NackRequest {
            consumer: "c1".into(),
            messages: leases(&fetched[2..]),
            delay_ms: None,
            refuse: false,
            unseen: false,
            detail: None,
        };
        assert!(operator.nack("jobs", "all", &nack).await.unwrap().lost.is_empty());
        operator.leave("jobs", "all", "c1").await.unwrap();
        operator.delete_group("jobs", "all").await.unwrap();
        operator.purge("jobs").await.unwrap();
        operator.delete_topic("jobs").await.unwrap();
    });
}

#[test]
fn a_refusal_has_the_whole_error_of_the_venue() {
    let place = TestVenue::open();
    let options = ClientOptions { read_own_writes: false, ..impatient() };
    let alice = Client::with_options(&place.url(), credentials(&place.alice), options).unwrap();
    place.runtime.block_on(async {
        let order = OrderRequest::limit("BTC-USD", Side::Buy, "0.5", "64000.001");
        let ClientError::Refused(refusal) = alice.place(&order).await.unwrap_err() else {
            panic!("it is refused");
        };
        assert_eq!(refusal.field.as_deref(), Some("price"));
        let order = OrderRequest::limit("BTC-USD", Side::Buy, "500", "64000");
        let error = alice.place(&order).await.unwrap_err();
        assert_eq!(error.code(), Some("insufficient_balance"));
        // The engine's refusals have a place in the journal, too.
        let ClientError::Refused(refusal) = error else { panic!("it is refused") };
        assert_eq!(refusal.seq, alice.last_seq());
    });
}
