//! Bounds that random sequences hardly ever meet exactly: written by hand, and decided by core and
//! reference side by side.

#[allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
mod reference;

use reference::lockstep::Lockstep;
use reference::world::{World, plain_order, plain_rules};
use rialto_core::RULES_VERSIONS;
use rialto_model::{
    AccountId, Amend, Amount, Command, CurrencyId, InstrumentId, InstrumentState, MassCancel,
    NewOrder, OrderId, OrderKind, OrderRef, OrderSize, OrderStatus, Outcome, PostOnly, Price,
    Quantity, RejectReason, SelfTrade, Side, TimeInForce, Timestamp, TradingRules, Transfer,
};

const RICH: i128 = 1_000_000_000;

fn world(accounts: usize) -> Lockstep {
    Lockstep::set_up(&World::plain(&vec![RICH; accounts]))
}

fn order(account: u32, side: Side, price: i64, quantity: i64) -> NewOrder {
    NewOrder {
        account: AccountId(account),
        side,
        price: Price(price),
        size: OrderSize::Base(Quantity(quantity)),
        ..plain_order()
    }
}

/// Places `count` orders for one unit each, all at one price, and returns the last one's id.
fn rest(lockstep: &mut Lockstep, count: usize, account: u32, side: Side, price: i64) -> OrderId {
    let one = Command::Place(order(account, side, price, 1));
    for _ in 0..count {
        let outcome = lockstep.must(&one);
        assert!(matches!(outcome, Outcome::Order { status: OrderStatus::Open, .. }));
    }
    lockstep.reference.orders.last().expect("orders were placed").id
}

/// The status, what has traded and what is left, of an answer about an order.
fn order_fields(outcome: Outcome) -> (OrderStatus, i64, i64) {
    match outcome {
        Outcome::Order { status, filled, remaining, .. } => (status, filled.0, remaining.0),
        other => panic!("not about an order: {other:?}"),
    }
}

fn refused(reason: RejectReason) -> Outcome {
    Outcome::Rejected { reason }
}

/// Gives Ticks until nothing is left to do, and counts them.
fn ticks(lockstep: &mut Lockstep) -> usize {
    let mut count = 0;
    while lockstep.reference.next_background_work() <= lockstep.time
        || lockstep.reference.next_due() <= lockstep.time
    {
        lockstep.must_at_once(&Command::Tick);
        count += 1;
    }
    count
}

#[test]
fn a_taker_with_exactly_256_makers_is_finished_at_once() {
    let mut lockstep = world(2);
    rest(&mut lockstep, 256, 1, Side::Sell, 100);
    let outcome = lockstep.must_at_once(&Command::Place(order(2, Side::Buy, 100, 300)));
    assert_eq!(order_fields(outcome), (OrderStatus::PartiallyFilled, 256, 44));
    assert_eq!(lockstep.reference.next_due(), Timestamp::MAX);
    lockstep.compare().unwrap();
}

#[test]
fn a_taker_with_257_makers_is_continued_by_a_tick() {
    let mut lockstep = world(2);
    rest(&mut lockstep, 257, 1, Side::Sell, 100);
    let outcome = lockstep.must_at_once(&Command::Place(order(2, Side::Buy, 100, 300)));
    assert_eq!(order_fields(outcome), (OrderStatus::PartiallyFilled, 256, 44));
    lockstep.snapshot().unwrap();
    assert_eq!(ticks(&mut lockstep), 1);
    assert_eq!(lockstep.reference.orders[0].remaining, Quantity(43));
    lockstep.compare().unwrap();
}

#[test]
fn a_taker_that_only_cancelled_own_orders_so_far_is_open() {
    let mut lockstep = world(1);
    rest(&mut lockstep, 257, 1, Side::Sell, 100);
    let mut taker = order(1, Side::Buy, 100, 5);
    taker.self_trade = Some(SelfTrade::CancelOldest);
    let outcome = lockstep.must_at_once(&Command::Place(taker));
    assert_eq!(order_fields(outcome), (OrderStatus::Open, 0, 5));
    assert_eq!(ticks(&mut lockstep), 1);
    assert_eq!(lockstep.reference.orders.len(), 1);
}

#[test]
fn an_amended_order_that_sweeps_is_continued_by_ticks() {
    let mut lockstep = world(2);
    rest(&mut lockstep, 600, 1, Side::Sell, 100);
    let bid = rest(&mut lockstep, 1, 2, Side::Buy, 99);
    let amend = Amend {
        account: AccountId(2),
        order: OrderRef::Id(bid),
        price: Some(Price(100)),
        quantity: Some(Quantity(600)),
    };
    let outcome = lockstep.must_at_once(&Command::Amend(amend));
    assert_eq!(order_fields(outcome), (OrderStatus::PartiallyFilled, 256, 344));
    lockstep.snapshot().unwrap();
    assert_eq!(ticks(&mut lockstep), 2);
    assert!(lockstep.reference.orders.is_empty());
    lockstep.compare().unwrap();
}

#[test]
fn a_fill_or_kill_check_looks_at_4096_orders() {
    let mut lockstep = world(2);
    rest(&mut lockstep, 4_097, 1, Side::Sell, 100);
    let mut taker = order(2, Side::Buy, 100, 4_097);
    taker.time_in_force = TimeInForce::Fok;
    let outcome = lockstep.must(&Command::Place(taker));
    assert_eq!(outcome, refused(RejectReason::TooDeep));

    let mut whole_levels = taker;
    whole_levels.self_trade = Some(SelfTrade::Allow);
    whole_levels.size = OrderSize::Base(Quantity(4_098));
    let outcome = lockstep.must(&Command::Place(whole_levels));
    assert_eq!(outcome, refused(RejectReason::Unfillable));

    taker.size = OrderSize::Base(Quantity(4_096));
    let outcome = lockstep.must_at_once(&Command::Place(taker));
    assert_eq!(order_fields(outcome), (OrderStatus::PartiallyFilled, 256, 3_840));
    assert_eq!(ticks(&mut lockstep), 15);
    assert_eq!(lockstep.reference.orders.len(), 1);
    lockstep.compare().unwrap();
}

#[test]
fn a_fill_or_kill_check_looks_at_4096_levels() {
    let mut lockstep = world(2);
    for price in 1..=4_097 {
        lockstep.must(&Command::Place(order(1, Side::Sell, price, 1)));
    }
    let mut taker = order(2, Side::Buy, 5_000, 4_097);
    taker.time_in_force = TimeInForce::Fok;
    taker.self_trade = Some(SelfTrade::Allow);
    let outcome = lockstep.must(&Command::Place(taker));
    assert_eq!(outcome, refused(RejectReason::TooDeep));
    taker.size = OrderSize::Base(Quantity(4_096));
    lockstep.must_at_once(&Command::Place(taker));
    assert_eq!(ticks(&mut lockstep), 15);
}

#[test]
fn a_fill_or_kill_sell_for_an_amount_needs_what_would_trade() {
    let mut lockstep = world(2);
    let poor = AccountId(1);
    let away = Transfer {
        account: poor,
        currency: CurrencyId(1),
        amount: Amount(RICH - 3),
        reference: "away".parse().unwrap(),
    };
    lockstep.must(&Command::Withdraw(away));
    lockstep.must(&Command::Place(order(2, Side::Buy, 100, 10)));
    let mut sell = order(1, Side::Sell, 0, 1);
    sell.kind = OrderKind::Market;
    sell.time_in_force = TimeInForce::Fok;
    sell.size = OrderSize::Quote(Amount(450));
    let outcome = lockstep.must(&Command::Place(sell));
    assert_eq!(outcome, refused(RejectReason::InsufficientBalance));
    sell.size = OrderSize::Quote(Amount(350));
    assert_eq!(order_fields(lockstep.must(&Command::Place(sell))), (OrderStatus::Filled, 3, 0));
}

#[test]
fn an_amount_also_pays_what_is_owed_of_earlier_fees() {
    let buy_for = |amount| {
        let mut lockstep = world(2);
        let instrument = InstrumentId(1);
        let mut rules = lockstep.reference.listed(instrument).unwrap().instrument.spec.rules;
        rules.taker_fee_ppm = 100_000;
        lockstep.must(&Command::SetRules { instrument, rules });
        lockstep.must(&Command::Place(order(1, Side::Sell, 1, 1)));
        lockstep.must(&Command::Place(order(1, Side::Sell, 10, 1)));
        let mut buy = order(2, Side::Buy, 10, 1);
        buy.kind = OrderKind::Market;
        buy.time_in_force = TimeInForce::Ioc;
        buy.size = OrderSize::Quote(Amount(amount));
        order_fields(lockstep.must(&Command::Place(buy)))
    };
    // The first costs 1 and leaves a tenth to be charged; with it the second costs 11 and a tenth.
    assert_eq!(buy_for(12), (OrderStatus::Filled, 1, 0));
    assert_eq!(buy_for(13), (OrderStatus::Cancelled, 2, 0));
}

#[test]
fn a_mass_cancel_of_256_orders_is_finished_and_one_of_257_is_not() {
    for (count, pending) in [(256, false), (257, true)] {
        let mut lockstep = world(1);
        rest(&mut lockstep, count, 1, Side::Buy, 100);
        let all = MassCancel { account: AccountId(1), instrument: None, side: None };
        let outcome = lockstep.must(&Command::MassCancel(all));
        assert_eq!(outcome, Outcome::Cancelling { cancelled: 256, pending });
        assert_eq!(ticks(&mut lockstep), usize::from(pending));
        lockstep.compare().unwrap();
    }
}

#[test]
fn a_mass_cancel_continues_after_the_orders_before_it_end() {
    let mut lockstep = world(2);
    let last = rest(&mut lockstep, 600, 1, Side::Sell, 100);
    let by_counter = |counter: u64| OrderId(last.0 - 600 + counter);
    let account = AccountId(1);
    let all = MassCancel { account, instrument: None, side: None };
    lockstep.must(&Command::MassCancel(all));
    lockstep.snapshot().unwrap();

    // The one that is next, the one after it, one that loses its place, one that trades, one that
    // is changed and one that comes too late to be cancelled.
    let amend = |counter, price| {
        let order = OrderRef::Id(by_counter(counter));
        let quantity = Some(Quantity(2));
        Command::Amend(Amend { account, order, price: Some(Price(price)), quantity })
    };
    lockstep.must(&amend(257, 101));
    let cancel = |counter| Command::Cancel { account, order: OrderRef::Id(by_counter(counter)) };
    lockstep.must(&cancel(258));
    lockstep.must(&amend(300, 99));
    lockstep.must(&Command::Place(order(2, Side::Buy, 100, 4)));
    lockstep.must(&Command::Place(order(1, Side::Sell, 105, 7)));
    lockstep.must(&Command::MassCancel(MassCancel { side: Some(Side::Sell), ..all }));
    lockstep.must(&cancel(600));
    lockstep.snapshot().unwrap();
    ticks(&mut lockstep);
    assert!(
        lockstep.reference.orders.is_empty(),
        "the second mass cancel came after the late order"
    );
    lockstep.compare().unwrap();
}

#[test]
fn orders_entered_after_a_mass_cancel_stay() {
    let mut lockstep = world(1);
    rest(&mut lockstep, 300, 1, Side::Buy, 100);
    let all = MassCancel { account: AccountId(1), instrument: None, side: None };
    lockstep.must(&Command::MassCancel(all));
    let late = rest(&mut lockstep, 1, 1, Side::Buy, 100);
    assert_eq!(ticks(&mut lockstep), 1);
    let open: Vec<OrderId> = lockstep.reference.orders.iter().map(|order| order.id).collect();
    assert_eq!(open, [late]);
}

#[test]
fn more_than_256_expiries_take_several_ticks() {
    let mut lockstep = world(1);
    for number in 0..600 {
        let mut gtd = order(1, Side::Buy, 100, 1);
        gtd.time_in_force = TimeInForce::Gtd;
        gtd.expire_at = Timestamp(lockstep.time.0 + 1 + number % 2);
        lockstep.must(&Command::Place(gtd));
    }
    let before = lockstep.journal.len();
    lockstep.pass(2).unwrap();
    assert_eq!(lockstep.journal.len() - before, 0, "nothing must come first");
    assert_eq!(ticks(&mut lockstep), 3);
    assert!(lockstep.reference.orders.is_empty());
    lockstep.compare().unwrap();
}

#[test]
fn dead_man_timers_of_many_accounts_fire_within_the_bound() {
    let mut lockstep = world(300);
    for account in 1..=300 {
        rest(&mut lockstep, 1 + account as usize % 3, account, Side::Buy, 100);
        let account = AccountId(account);
        lockstep.must(&Command::SetDeadMan { account, timeout_ns: 5 });
    }
    let before = lockstep.journal.len();
    lockstep.pass(5).unwrap();
    ticks(&mut lockstep);
    // Two for the timers, and one for each account's turn and each of 600 orders in 256s.
    assert_eq!(lockstep.journal.len() - before, 5);
    assert!(lockstep.reference.orders.is_empty());
    lockstep.compare().unwrap();
}

#[test]
fn timers_without_orders_fire_256_in_a_tick() {
    let mut lockstep = world(300);
    for account in 1..=300 {
        let account = AccountId(account);
        lockstep.must(&Command::SetDeadMan { account, timeout_ns: 5 });
    }
    let before = lockstep.journal.len();
    lockstep.pass(5).unwrap();
    assert_eq!(lockstep.journal.len() - before, 2);
}

#[test]
fn an_instrument_that_is_closing_cannot_be_opened() {
    let mut lockstep = world(2);
    let last = rest(&mut lockstep, 300, 1, Side::Buy, 100);
    let set = |state| Command::SetInstrumentState { instrument: InstrumentId(1), state };
    let outcome = lockstep.must(&set(InstrumentState::Withdrawn));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 256, pending: true });
    lockstep.snapshot().unwrap();
    for state in [InstrumentState::Open, InstrumentState::Halted] {
        assert_eq!(lockstep.must(&set(state)), refused(RejectReason::HasOpenOrders));
    }
    lockstep.must(&set(InstrumentState::Withdrawn));
    lockstep.must(&Command::Cancel { account: AccountId(1), order: OrderRef::Id(last) });
    let outcome = lockstep.must(&Command::Place(order(2, Side::Buy, 100, 1)));
    assert_eq!(outcome, refused(RejectReason::InstrumentClosed));
    assert_eq!(ticks(&mut lockstep), 1);
    assert_eq!(lockstep.must(&set(InstrumentState::Open)), Outcome::Done);
    lockstep.compare().unwrap();
}

#[test]
fn a_client_order_id_is_remembered_while_its_order_is_open_or_among_the_last_1024() {
    let mut lockstep = world(1);
    let named = |name: &str, price| {
        let client_order_id = name.parse().unwrap();
        NewOrder { client_order_id, ..order(1, Side::Buy, price, 1) }
    };
    let first = named("first", 100);
    let (status, ..) = order_fields(lockstep.must(&Command::Place(first)));
    assert_eq!(status, OrderStatus::Open);
    // Refused orders count too.
    lockstep.must(&Command::Place(named("refused", -1)));
    for number in 0..1_023 {
        lockstep.must(&Command::Place(named(&format!("n{number}"), -1)));
    }
    let again = |lockstep: &mut Lockstep, body| lockstep.must(&Command::Place(body));
    let of_first = again(&mut lockstep, first);
    assert!(matches!(of_first, Outcome::Order { repeated: true, .. }));
    let still = again(&mut lockstep, named("refused", -2));
    assert_eq!(still, refused(RejectReason::ClientIdConflict));
    // One more pushes the refused one out, but not the open one.
    lockstep.must(&Command::Place(named("last", -1)));
    lockstep.snapshot().unwrap();
    let forgotten = again(&mut lockstep, named("refused", -2));
    assert_eq!(forgotten, refused(RejectReason::PriceNotPositive));
    let conflict = again(&mut lockstep, named("first", 99));
    assert_eq!(conflict, refused(RejectReason::ClientIdConflict));
    let order = OrderRef::Client("first".parse().unwrap());
    lockstep.must(&Command::Cancel { account: AccountId(1), order });
    let (status, ..) = order_fields(again(&mut lockstep, named("first", 99)));
    assert_eq!(status, OrderStatus::Open, "forgotten with its order");
}

#[test]
fn the_venue_holds_at_most_two_to_the_120_of_a_currency() {
    let mut lockstep = world(2);
    let deposit = |amount: i128, name: &str| {
        Command::deposit(Transfer {
            account: AccountId(1),
            currency: CurrencyId(1),
            amount: Amount(amount),
            reference: name.parse().unwrap(),
        })
    };
    let room = (1 << 120) - 2 * RICH;
    let outcome = lockstep.must(&deposit(room + 1, "a"));
    assert_eq!(outcome, refused(RejectReason::AmountTooLarge));
    assert_eq!(lockstep.must(&deposit(room, "a")), Outcome::Done);
    assert_eq!(lockstep.must(&deposit(1, "b")), refused(RejectReason::AmountTooLarge));
    lockstep.compare().unwrap();
}

#[test]
fn quantities_at_one_price_add_up_to_at_most_two_to_the_62() {
    let mut lockstep = Lockstep::set_up(&World::plain(&[0]));
    let half = 1_i64 << 61;
    for _ in 0..2 {
        lockstep.must(&Command::Place(order(1, Side::Sell, 100, half)));
    }
    let more = lockstep.must(&Command::Place(order(1, Side::Sell, 100, half)));
    assert_eq!(more, refused(RejectReason::QuantityTooLarge));
    let elsewhere = lockstep.must(&Command::Place(order(1, Side::Sell, 101, half)));
    assert_eq!(order_fields(elsewhere).0, OrderStatus::Open);
    let order = OrderRef::Id(lockstep.reference.orders[2].id);
    let (account, price) = (AccountId(1), Some(Price(100)));
    let moved = lockstep.must(&Command::Amend(Amend { account, order, price, quantity: None }));
    assert_eq!(moved, refused(RejectReason::QuantityTooLarge));
}

#[test]
fn prices_may_reach_the_largest_number() {
    let mut lockstep = Lockstep::set_up(&World::plain(&[0, 0]));
    lockstep.must(&Command::Place(order(1, Side::Sell, i64::MAX, 3)));
    let mut market = order(2, Side::Buy, 0, 1);
    market.kind = OrderKind::Market;
    market.time_in_force = TimeInForce::Ioc;
    assert_eq!(order_fields(lockstep.must(&Command::Place(market))), (OrderStatus::Filled, 1, 0));
    lockstep.must(&Command::Place(order(2, Side::Buy, i64::MAX, 3)));
    market.side = Side::Sell;
    assert_eq!(order_fields(lockstep.must(&Command::Place(market))).0, OrderStatus::Cancelled);
    lockstep.compare().unwrap();
}

#[test]
fn a_slid_order_keeps_within_the_largest_notional() {
    let mut lockstep = Lockstep::set_up(&World::plain(&[0, 0]));
    let price = Price(1 << 40);
    lockstep.must(&Command::Place(NewOrder { price, ..plain_order() }));
    let sell = NewOrder {
        account: AccountId(2),
        side: Side::Sell,
        post_only: PostOnly::Slide,
        size: OrderSize::Base(Quantity(1 << 60)),
        price,
        ..plain_order()
    };
    let outcome = lockstep.must(&Command::Place(sell));
    assert_eq!(outcome, Outcome::Rejected { reason: RejectReason::NotionalTooLarge });
}

#[test]
fn an_order_slides_to_a_tick_from_a_price_off_the_tick() {
    // Before rules version 4 the tick could change while orders rested, and they stay.
    let world = World { rules_version: 3, ..World::plain(&[RICH, RICH]) };
    for (resting, side, rests_at) in [(103, Side::Buy, 100), (72, Side::Sell, 80)] {
        let mut lockstep = Lockstep::set_up(&world);
        lockstep.must(&Command::Place(order(1, side.opposite(), resting, 1)));
        let rules = TradingRules { tick: Price(10), ..plain_rules(true) };
        lockstep.must(&Command::SetRules { instrument: InstrumentId(1), rules });
        lockstep.must(&Command::SetRulesVersion { version: *RULES_VERSIONS.end() });
        let crossing = if side == Side::Buy { 110 } else { 70 };
        let slides = NewOrder { post_only: PostOnly::Slide, ..order(2, side, crossing, 1) };
        let Outcome::Order { status: OrderStatus::Open, price, .. } =
            lockstep.must(&Command::Place(slides))
        else {
            panic!("it does not rest");
        };
        assert_eq!(price, Price(rests_at));
        lockstep.compare().unwrap();
    }
}
