use crate::venue::*;
use proptest::prelude::*;
use rialto_core::{Core, FORMAT_VERSION, SnapshotError};
use rialto_model::{
    Amend, AmendTrigger, Amount, AuctionRules, CircuitBreakerRule, Command, Condition,
    ConditionalOrder, ContractTerms, Distance, Event, HaltScope, IcebergOrder, InstrumentId,
    InstrumentState, Leg, LinkKind, LotFees, MassCancel, MemberId, Name, NewOrder, OrderId,
    OrderKind, OrderList, OrderRef, OrderSize, Outcome, PlannedTransition, PostOnly, Price,
    Quantity, RejectReason, Restrict, Restriction, RestrictionTarget, SelfTrade, Seq, Side,
    TimeInForce, Timestamp, TradingRules, TrailTerms, TrailingOrder, Trigger, TriggerKind,
};

/// A state with something of everything in it: open orders of several kinds, timers, client order
/// ids inside and outside the window, withdrawals, a suspended taker, a mass cancel and a closing
/// in progress; a call that ends by itself, an auction that trades, and a mass cancel that it holds up;
/// restrictions; calendars; a circuit breaker that halted trading, one that is armed, a limit state and
/// a halt that waits for an auction; terms of contracts; waiting orders, and triggered ones.
fn rich() -> Venue {
    let mut config = rialto_core::CoreConfig::new(ENGINE);
    config.limits.client_ids_max = 3;
    let mut venue = Venue::with(config, rules());
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    for reference in ["held", "settled", "released"] {
        venue.apply(Command::HoldWithdrawal(transfer(ALICE, QUOTE, 5, reference)));
    }
    let named = |reference: &str| (ALICE, reference.parse().unwrap());
    let (account, reference) = named("settled");
    venue.apply(Command::SettleWithdrawal { account, reference });
    let (account, reference) = named("released");
    venue.apply(Command::ReleaseWithdrawal { account, reference });
    let other = |order| NewOrder { instrument: rialto_model::InstrumentId(2), ..order };
    for number in 0..6 {
        let client_order_id = format!("alice-{number}").parse().unwrap();
        venue.enter(NewOrder { client_order_id, ..buy(ALICE, 50 + number, 7) });
    }
    let client_order_id = "carol-ended".parse().unwrap();
    let time_in_force = TimeInForce::Ioc;
    venue.enter(NewOrder { client_order_id, time_in_force, ..buy(CAROL, 45, 1) });
    let mut late = sell(BOB, 500, 5);
    (late.time_in_force, late.expire_at) = (TimeInForce::Gtd, Timestamp(START + 900_000));
    venue.enter(late);
    timetables(&mut venue);
    auctions(&mut venue);
    restrictions(&mut venue);
    halts(&mut venue);
    contracts(&mut venue);
    triggers(&mut venue);
    trailing(&mut venue);
    icebergs(&mut venue);
    linked(&mut venue);
    amended(&mut venue);
    venue.apply(Command::SetDeadMan { account: BOB, timeout_ns: 5_000_000 });
    venue.place(sell(ALICE, 0, 1));
    venue.enter(buy(BOB, 40, 10));
    venue.enter(sell(CAROL, 55, 3));
    for _ in 0..300 {
        venue.enter(other(buy(CAROL, 20, 1)));
        venue.enter(other(buy(ALICE, 21, 1)));
        venue.enter(sell(CAROL, 101, 1));
    }
    let state = InstrumentState::Withdrawn;
    venue.apply(Command::SetInstrumentState { instrument: rialto_model::InstrumentId(2), state });
    let (instrument, side) = (None, None);
    venue.apply(Command::MassCancel(MassCancel { account: CAROL, instrument, side }));
    // Three hundred sells of Carol were there; enough are left for a taker to be suspended.
    for _ in 0..300 {
        venue.enter(sell(CAROL, 102, 1));
    }
    let id = venue.enter(buy(BOB, 30, 400));
    venue.amend(BOB, id, Some(102), None);
    assert_eq!(venue.core.next_due(), Timestamp::ZERO, "the taker is suspended");
    assert!(venue.core.has_background_work());
    venue
}

/// Instrument 3 is in the no-cancel period of a planned call, with transitions ahead; another calendar
/// has a plan that has not been adopted.
fn timetables(venue: &mut Venue) {
    venue.apply(Command::CreateInstrument(spec("PLANNED", rules())));
    let calendar: Name = "day".parse().unwrap();
    let now = venue.time;
    let at = |later: u64, state| PlannedTransition::plain(Timestamp(now + later), state);
    let call = PlannedTransition {
        earliest_end: Timestamp(now + 700_000),
        random_end_ms: 1,
        next: InstrumentState::Open,
        no_cancel_from: Timestamp(now),
        ..at(0, InstrumentState::Call)
    };
    let close = at(900_000, InstrumentState::Closed);
    let planned = [
        call,
        at(800_000, InstrumentState::Open),
        PlannedTransition { ends_session: true, ends_day: true, ..close },
    ];
    for (number, transition) in (0..).zip(planned) {
        venue.apply(Command::PlanTransition { calendar, number, transition });
        let other = "other".parse().unwrap();
        venue.apply(Command::PlanTransition { calendar: other, number, transition });
    }
    let instrument = InstrumentId(3);
    venue.apply(Command::AssignCalendar { instrument, calendar });
    let (digest, seed, replace) = (0x0102_0304, 0x0506_0708, true);
    venue.apply(Command::AdoptPlan { calendar, count: 3, digest, seed, replace });
    venue.tick();
    let own = NewOrder { instrument, time_in_force: TimeInForce::Gfs, ..buy(ALICE, 50, 1) };
    let order = venue.enter(own);
    assert_eq!(venue.cancel(ALICE, order), rejected(RejectReason::NoCancelPeriod));
}

/// Instrument 4 is in a call that ends by itself, with orders for its auction; instrument 5 uncrosses,
/// and a mass cancel waits for it.
fn auctions(venue: &mut Venue) {
    let in_instrument = |id, order| NewOrder { instrument: InstrumentId(id), ..order };
    for symbol in ["CALL", "UNCROSSING"] {
        venue.apply(Command::CreateInstrument(spec(symbol, rules())));
    }
    let rules = AuctionRules {
        fee_ppm: 7,
        self_trade: SelfTrade::Decrement,
        daily_range_ppm: 900_000,
        static_range_ppm: 900_000,
        dynamic_range_ppm: 100_000,
        auction_range_ppm: 50_000,
        extended_range_ppm: 60_000,
        call_ms: 5_000,
        random_end_ms: 5_000,
        ..AuctionRules::PLAIN
    };
    let instrument = InstrumentId(4);
    venue.apply(Command::SetAuctionRules { instrument, rules, seed: 11 });
    for price in [100, 150] {
        venue.enter(in_instrument(4, sell(BOB, price, 1)));
        venue.enter(in_instrument(4, buy(ALICE, price, 1)));
    }
    let for_auction =
        |order| NewOrder { time_in_force: TimeInForce::Gfa, ..in_instrument(4, order) };
    venue.enter(for_auction(market(ALICE, Side::Buy, OrderSize::Base(Quantity(3)))));
    venue.enter(for_auction(sell(BOB, 101, 3)));
    let set = |state| Command::SetInstrumentState { instrument: InstrumentId(5), state };
    venue.apply(set(InstrumentState::Call));
    for _ in 0..300 {
        venue.enter(in_instrument(5, buy(CAROLS_OTHER, 101, 1)));
        venue.enter(in_instrument(5, sell(BOB, 99, 1)));
    }
    venue.apply(set(InstrumentState::Open));
    let (instrument, side) = (None, None);
    venue.apply(Command::MassCancel(MassCancel { account: CAROLS_OTHER, instrument, side }));
    let state = |id| venue.core.instrument(InstrumentId(id)).unwrap().instrument.state;
    assert_eq!([state(4), state(5)], [InstrumentState::Call, InstrumentState::Uncrossing]);
}

/// Restrictions of every target but the venue, set by both sides; the cancels of an account and of an
/// instrument that wait for an auction, and those of an instrument that go on.
fn restrictions(venue: &mut Venue) {
    let (member, name) = (MemberId(4), "fourth".parse().unwrap());
    venue.apply(Command::CreateMember { member, name });
    venue.apply(Command::CreateInstrument(spec("CLEARED", rules())));
    for _ in 0..300 {
        venue.enter(NewOrder { instrument: InstrumentId(6), ..buy(BOB, 101, 1) });
    }
    let (frozen, cancel_only) = (Restriction::Frozen, Restriction::CancelOnly);
    let instrument = |id| RestrictionTarget::Instrument(InstrumentId(id));
    let member = RestrictionTarget::Member(member);
    for (target, restriction, by_member, cancel) in [
        (member, frozen, false, false),
        (member, cancel_only, true, false),
        (RestrictionTarget::Account(CAROLS_OTHER), cancel_only, true, true),
        (instrument(4), cancel_only, false, false),
        (instrument(5), cancel_only, false, true),
        (instrument(6), cancel_only, false, true),
    ] {
        venue.apply(Command::Restrict(Restrict { target, restriction, by_member, cancel }));
    }
    assert_eq!(venue.core.restrictions().count(), 6);
}

/// Instruments with a largest notional, with fees by the lot, and with both.
fn contracts(venue: &mut Venue) {
    let fees = LotFees { maker: Amount(-3), taker: Amount(4), auction: Amount(2) };
    let first = venue.core.instruments().len() as u32 + 1;
    let symbols = ["LARGEST", "BY-LOT", "LARGEST-BY-LOT"];
    for (id, symbol) in (first..).zip(symbols) {
        let by_lot = symbol.ends_with("BY-LOT");
        let notional_max = if symbol.starts_with("LARGEST") { 70_000 } else { 0 };
        let lot_fees = by_lot.then_some(fees);
        let terms = ContractTerms { notional_max: Amount(notional_max), lot_fees };
        venue.apply(Command::CreateInstrument(spec(symbol, rules())));
        let instrument = InstrumentId(id);
        venue.apply(Command::SetContractTerms { instrument, terms });
        venue.enter(NewOrder { instrument, ..buy(ALICE, 70, 1_000) });
    }
}

/// Orders wait in two instruments. In the first, more were triggered than a command enters, and one has
/// come to wait since; the second is halted, and its orders were triggered before.
fn triggers(venue: &mut Venue) {
    let first = venue.core.instruments().len() as u32 + 1;
    for symbol in ["TRIGGERED", "TRIGGERED-HALTED"] {
        venue.apply(Command::CreateInstrument(spec(symbol, rules())));
    }
    for instrument in [first, first + 1].map(InstrumentId) {
        let listed = |order| NewOrder { instrument, ..order };
        let mut waits = |terms, kind, price| {
            let trigger = Trigger { kind, price: Price(price) };
            let order = ConditionalOrder { terms: listed(terms), trigger, immediate: false };
            let outcome = venue.apply(Command::PlaceConditional(order));
            assert!(!outcome.is_rejected(), "{outcome:?}");
        };
        for number in 0..300 {
            waits(sell(BOB, 90, 1), TriggerKind::Stop, 99 - number % 5);
        }
        let client_order_id = "waits".parse().unwrap();
        let named = NewOrder { client_order_id, ..buy(CAROL, 140, 3) };
        if instrument.0 == first {
            waits(named, TriggerKind::Stop, 130);
        }
        let market = NewOrder { kind: OrderKind::Market, ..buy(CAROL, 0, 3) };
        waits(market, TriggerKind::Stop, 120);
        waits(sell(CAROL, 140, 3), TriggerKind::TakeProfit, 140);
        venue.enter(listed(sell(ALICE, 95, 1)));
        venue.enter(listed(buy(ALICE, 96, 1)));
        venue.enter(listed(sell(ALICE, 98, 1)));
        venue.enter(listed(buy(CAROL, 98, 1)));
        let trigger = Trigger { kind: TriggerKind::Stop, price: Price(97) };
        let terms = listed(sell(BOB, 80, 2));
        venue.apply(Command::PlaceConditional(ConditionalOrder {
            terms,
            trigger,
            immediate: false,
        }));
    }
    let (instrument, state) = (InstrumentId(first + 1), InstrumentState::Halted);
    venue.apply(Command::SetInstrumentState { instrument, state });
    venue.tick();
}

/// Icebergs that display a full part, a part of one and all that is left, one of them remembered by its
/// client order id; and one that takes part in a call.
fn icebergs(venue: &mut Venue) {
    let instrument = InstrumentId(venue.core.instruments().len() as u32 + 1);
    venue.apply(Command::CreateInstrument(spec("ICEBERGS", rules())));
    let place = |venue: &mut Venue, terms: NewOrder, display_quantity: i64| {
        let terms = NewOrder { instrument, ..terms };
        let display_quantity = Quantity(display_quantity);
        let order = IcebergOrder { terms, display_quantity };
        let outcome = venue.apply(Command::PlaceIceberg(order));
        assert!(!outcome.is_rejected(), "{outcome:?}");
    };
    let named = NewOrder { client_order_id: "iceberg".parse().unwrap(), ..buy(ALICE, 99, 50) };
    place(venue, named, 10);
    place(venue, buy(BOB, 99, 30), 7);
    place(venue, buy(BOB, 99, 8), 5);
    venue.enter(NewOrder { instrument, ..sell(CAROL, 99, 25) });
    place(venue, sell(CAROL, 101, 40), 4);
    venue.apply(Command::SetInstrumentState { instrument, state: InstrumentState::Call });
    place(venue, sell(CAROL, 98, 9), 3);
}

/// A pair, a pair that waits, an entry that has not traded, one whose exits are smaller than what it has traded,
/// and one whose exits are not entered.
fn linked(venue: &mut Venue) {
    let instrument = InstrumentId(venue.core.instruments().len() as u32 + 1);
    venue.apply(Command::CreateInstrument(spec("LINKED", rules())));
    let trigger = |kind, price| Condition::Trigger(Trigger { kind, price: Price(price) });
    let leg = |condition, price| Leg {
        condition,
        kind: if price == 0 { OrderKind::Market } else { OrderKind::Limit },
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    };
    let stop = |price| leg(Some(trigger(TriggerKind::Stop, price)), 0);
    let place = |venue: &mut Venue, list: OrderList| {
        let terms = NewOrder { instrument, ..list.terms };
        let outcome = venue.apply(Command::PlaceList(OrderList { terms, ..list }));
        assert!(!outcome.is_rejected(), "{outcome:?}");
    };
    let pair = |terms, condition, stop| OrderList {
        terms,
        condition,
        kind: LinkKind::Oco,
        take_profit: None,
        stop_loss: Some(stop),
    };
    let entry = |terms, take_profit, stop_loss| OrderList {
        terms,
        condition: None,
        kind: LinkKind::Oto,
        take_profit,
        stop_loss,
    };
    let named = NewOrder { client_order_id: "pair".parse().unwrap(), ..sell(ALICE, 120, 5) };
    place(venue, pair(named, None, stop(70)));
    let waits = Some(trigger(TriggerKind::TakeProfit, 60));
    place(venue, pair(buy(BOB, 61, 5), waits, stop(140)));
    place(venue, entry(buy(BOB, 80, 5), Some(leg(None, 125)), Some(stop(72))));
    place(venue, entry(buy(BOB, 90, 9), Some(leg(None, 126)), Some(stop(74))));
    let trail = TrailTerms { distance: Distance::Price(Price(9)), activation_price: Price::ZERO };
    place(venue, entry(buy(ALICE, 89, 9), None, Some(leg(Some(Condition::Trail(trail)), 0))));
    venue.enter(NewOrder { instrument, ..sell(CAROL, 90, 3) });
    venue.tick();
    venue.apply(Command::SetInstrumentState { instrument, state: InstrumentState::Call });
    venue.enter(NewOrder { instrument, ..sell(CAROL, 89, 8) });
    venue.apply(Command::SetInstrumentState { instrument, state: InstrumentState::Open });
    venue.tick();
    venue.apply(Command::HaltTrading {
        scope: HaltScope::Instrument(instrument),
        duration_ms: 60_000,
    });
}

/// Trigger prices that were amended before and after prices that are queued.
fn amended(venue: &mut Venue) {
    let instrument = InstrumentId(venue.core.instruments().len() as u32 + 1);
    venue.apply(Command::CreateInstrument(spec("AMENDED", rules())));
    let listed = |order| NewOrder { instrument, ..order };
    let trade_at = |venue: &mut Venue, price| {
        venue.enter(listed(sell(ALICE, price, 1)));
        venue.enter(listed(buy(CAROL, price, 1)));
    };
    trade_at(venue, 100);
    let waits = |venue: &mut Venue, account, price| {
        let trigger = Trigger { kind: TriggerKind::Stop, price: Price(price) };
        let terms = listed(buy(account, 120, 2));
        let order = ConditionalOrder { terms, trigger, immediate: false };
        match venue.apply(Command::PlaceConditional(order)) {
            Outcome::Order { order, .. } => order,
            other => panic!("{other:?}"),
        }
    };
    let amend = |venue: &mut Venue, account, order, price| {
        let order = OrderRef::Id(order);
        let amend = Amend { account, order, price: None, quantity: Some(Quantity(3)) };
        let change = AmendTrigger { amend, trigger_price: Price(price) };
        let outcome = venue.apply(Command::AmendTrigger(change));
        assert!(!outcome.is_rejected(), "{outcome:?}");
    };
    let first = waits(venue, ALICE, 105);
    waits(venue, BOB, 106);
    let third = waits(venue, BOB, 108);
    waits(venue, BOB, 107);
    amend(venue, ALICE, first, 106);
    trade_at(venue, 106);
    trade_at(venue, 103);
    let set = |state| Command::SetInstrumentState { instrument, state };
    venue.apply(set(InstrumentState::Call));
    amend(venue, BOB, third, 104);
    venue.apply(set(InstrumentState::Halted));
}

/// Trailing stops of all stages: not active, active since several prices, and reached while a halt holds
/// them up; prices are queued.
fn trailing(venue: &mut Venue) {
    let instrument = InstrumentId(venue.core.instruments().len() as u32 + 1);
    venue.apply(Command::CreateInstrument(spec("TRAILING", rules())));
    let listed = |order| NewOrder { instrument, ..order };
    let trade_at = |venue: &mut Venue, price| {
        venue.enter(listed(sell(ALICE, price, 1)));
        venue.enter(listed(buy(CAROL, price, 1)));
    };
    let trail = |venue: &mut Venue, terms, distance, activation| {
        let trail = TrailTerms { distance, activation_price: Price(activation) };
        let order = TrailingOrder { terms: listed(terms), trail };
        let outcome = venue.apply(Command::PlaceTrailing(order));
        assert!(!outcome.is_rejected(), "{outcome:?}");
    };
    trade_at(venue, 100);
    for number in 0..300 {
        let distance = match number % 2 {
            0 => Distance::Price(Price(2 + number % 4)),
            _ => Distance::Ppm(20_000 + 10_000 * (number % 3) as u32),
        };
        trail(venue, sell(BOB, 90, 1), distance, if number % 7 == 0 { 104 } else { 0 });
        if number % 100 == 0 {
            venue.tick();
            trade_at(venue, 101 - number / 100);
        }
    }
    let named = NewOrder { client_order_id: "trails".parse().unwrap(), ..buy(CAROL, 140, 3) };
    trail(venue, named, Distance::Price(Price(5)), 90);
    let market = NewOrder { kind: OrderKind::Market, ..buy(CAROL, 0, 3) };
    trail(venue, market, Distance::Ppm(150_000), 0);
    venue.tick();
    trade_at(venue, 103);
    trade_at(venue, 99);
    trade_at(venue, 105);
    venue.apply(Command::SetInstrumentState { instrument, state: InstrumentState::Halted });
}

/// Instrument 7 is halted for a time, and 8 when it has uncrossed, since the circuit breaker of their
/// calendar halted them; 9 is watched by one that is armed; 10 is in a limit state.
fn halts(venue: &mut Venue) {
    let (halted, watched): (Name, Name) = ("halted".parse().unwrap(), "watched".parse().unwrap());
    let rules = TradingRules { reference_price: Price(100), ..rules() };
    for symbol in ["HALTED", "HALTED-NEXT", "WATCHED", "AT-LIMIT"] {
        venue.apply(Command::CreateInstrument(spec(symbol, rules)));
    }
    let in_instrument = |id, order| NewOrder { instrument: InstrumentId(id), ..order };
    let never = Timestamp(venue.time + Timestamp::DAY);
    let transition = PlannedTransition::plain(never, InstrumentState::Closed);
    for (calendar, instruments) in [(halted, 7..=8), (watched, 9..=9)] {
        venue.apply(Command::PlanTransition { calendar, number: 0, transition });
        for instrument in instruments.map(InstrumentId) {
            venue.apply(Command::AssignCalendar { instrument, calendar });
            let (range_ppm, halt_ms) = (50_000, 70_000);
            let breaker = CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms };
            if instrument != InstrumentId(8) {
                venue.apply(Command::SetCircuitBreaker(breaker));
            }
        }
    }
    let set = |state| Command::SetInstrumentState { instrument: InstrumentId(8), state };
    venue.apply(set(InstrumentState::Call));
    for _ in 0..300 {
        venue.enter(in_instrument(8, buy(ALICE, 101, 1)));
        venue.enter(in_instrument(8, sell(BOB, 99, 1)));
    }
    venue.apply(set(InstrumentState::Open));
    venue.enter(in_instrument(7, sell(BOB, 106, 2)));
    venue.enter(in_instrument(7, buy(ALICE, 106, 2)));
    let rules = AuctionRules {
        limit_range_ppm: 50_000,
        limit_state_ms: 80_000,
        halt_ms: 90_000,
        ..AuctionRules::PLAIN
    };
    let instrument = InstrumentId(10);
    venue.apply(Command::SetAuctionRules { instrument, rules, seed: 12 });
    venue.enter(in_instrument(10, buy(ALICE, 105, 2)));
    venue.tick();
    let state = |id| venue.core.instrument(InstrumentId(id)).unwrap().instrument.state;
    let expected = [InstrumentState::Halted, InstrumentState::Uncrossing, InstrumentState::Open];
    assert_eq!([7, 8, 9].map(state), expected);
}

/// The same commands to both; they must decide alike.
fn go_on(first: &mut Core, second: &mut Core, commands: &[Command]) {
    let mut time = first.time();
    for command in commands {
        while first.next_due() <= time && *command != Command::Tick {
            both(first, second, time, &Command::Tick);
        }
        both(first, second, time, command);
        time = time.saturating_add(40_000);
    }
    assert_eq!(first.state_hash(), second.state_hash());
    first.check().unwrap();
}

fn both(first: &mut Core, second: &mut Core, time: Timestamp, command: &Command) {
    let seq = Seq(first.seq().0 + 1);
    let (mut events, mut again) = (Vec::<Event>::new(), Vec::<Event>::new());
    let outcome = first.apply(seq, time, command, &mut events);
    assert_eq!(outcome, second.apply(seq, time, command, &mut again), "{command:?}");
    assert_eq!(events, again, "{command:?}");
    assert_eq!(first.next_due(), second.next_due(), "after {command:?}");
}

#[test]
fn a_restored_core_decides_like_the_one_it_was_taken_of() {
    let mut venue = rich();
    let mut restored = Core::restore(&venue.core.snapshot(), 99).unwrap();
    restored.check().unwrap();
    let repeat = NewOrder { client_order_id: "alice-0".parse().unwrap(), ..buy(ALICE, 50, 7) };
    let mut commands = vec![Command::Tick; 4];
    commands.extend([Command::Place(repeat), Command::Place(buy(CAROL, 600, 20))]);
    commands.extend([Command::Tick; 30]);
    go_on(&mut venue.core, &mut restored, &commands);
}

#[test]
fn the_snapshot_of_a_restored_core_is_the_same() {
    let snapshot = rich().core.snapshot();
    assert_eq!(Core::restore(&snapshot, 7).unwrap().snapshot(), snapshot);
}

#[test]
fn the_hash_key_is_not_part_of_the_state() {
    let snapshot = rich().core.snapshot();
    let hash = |key| Core::restore(&snapshot, key).unwrap().state_hash();
    assert_eq!(hash(1), hash(2));
}

/// Each format version as it was first written. Never written again: restoring it must work
/// forever.
const VERSION_1: &[u8] = include_bytes!("../fixtures/snapshot-v1.bin");
/// What the state of version 1 hashes to in the present version.
const VERSION_1_HASH: &str = include_str!("../fixtures/snapshot-v1-now.hash");
const VERSION_2: &[u8] = include_bytes!("../fixtures/snapshot-v2.bin");
const VERSION_2_HASH: &str = include_str!("../fixtures/snapshot-v2.hash");
const VERSION_3: &[u8] = include_bytes!("../fixtures/snapshot-v3.bin");
const VERSION_3_HASH: &str = include_str!("../fixtures/snapshot-v3.hash");
const VERSION_4: &[u8] = include_bytes!("../fixtures/snapshot-v4.bin");
const VERSION_4_HASH: &str = include_str!("../fixtures/snapshot-v4.hash");
const VERSION_5: &[u8] = include_bytes!("../fixtures/snapshot-v5.bin");
const VERSION_5_HASH: &str = include_str!("../fixtures/snapshot-v5.hash");
const VERSION_6: &[u8] = include_bytes!("../fixtures/snapshot-v6.bin");
const VERSION_6_HASH: &str = include_str!("../fixtures/snapshot-v6.hash");
const VERSION_7: &[u8] = include_bytes!("../fixtures/snapshot-v7.bin");
const VERSION_7_HASH: &str = include_str!("../fixtures/snapshot-v7.hash");
const VERSION_8: &[u8] = include_bytes!("../fixtures/snapshot-v8.bin");
const VERSION_8_HASH: &str = include_str!("../fixtures/snapshot-v8.hash");
const VERSION_9: &[u8] = include_bytes!("../fixtures/snapshot-v9.bin");
const VERSION_9_HASH: &str = include_str!("../fixtures/snapshot-v9.hash");
const VERSION_10: &[u8] = include_bytes!("../fixtures/snapshot-v10.bin");
const VERSION_10_HASH: &str = include_str!("../fixtures/snapshot-v10.hash");

#[test]
fn snapshots_of_every_version_restore_to_their_known_hashes() {
    let versions = [
        (VERSION_1, VERSION_1_HASH),
        (VERSION_2, VERSION_2_HASH),
        (VERSION_3, VERSION_3_HASH),
        (VERSION_4, VERSION_4_HASH),
        (VERSION_5, VERSION_5_HASH),
        (VERSION_6, VERSION_6_HASH),
        (VERSION_7, VERSION_7_HASH),
        (VERSION_8, VERSION_8_HASH),
        (VERSION_9, VERSION_9_HASH),
        (VERSION_10, VERSION_10_HASH),
    ];
    for (bytes, hash) in versions {
        let core = Core::restore(bytes, 0).unwrap();
        core.check().unwrap();
        assert_eq!(core.state_hash().to_string(), hash.trim());
        assert!(core.has_background_work() && core.next_due() == Timestamp::ZERO);
    }
}

#[test]
fn a_version_without_withdrawals_restores_to_the_usual_bounds_of_them() {
    let core = Core::restore(VERSION_1, 0).unwrap();
    let usual = rialto_core::Limits::default();
    assert_eq!(core.limits().withdrawals_max, usual.withdrawals_max);
    assert_eq!(core.limits().account_withdrawals_max, usual.account_withdrawals_max);
    assert!(core.withdrawals().is_empty());
}

#[test]
#[ignore = "writes the fixture; run it once for a new format version, under a new name"]
fn write_the_fixture_of_the_current_version() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let core = rich().core;
    let name = format!("{folder}/snapshot-v{FORMAT_VERSION}");
    std::fs::write(format!("{name}.bin"), core.snapshot()).unwrap();
    std::fs::write(format!("{name}.hash"), format!("{}\n", core.state_hash())).unwrap();
}

fn refused(change: impl FnOnce(&mut Vec<u8>)) -> SnapshotError {
    let mut bytes = VERSION_2.to_vec();
    change(&mut bytes);
    Core::restore(&bytes, 0).err().expect("it must be refused")
}

#[test]
fn a_snapshot_from_a_newer_version_is_refused_by_name() {
    let error = refused(|bytes| bytes[8..12].copy_from_slice(&11_u32.to_le_bytes()));
    assert_eq!(error, SnapshotError::NewerFormat { got: 11, known: FORMAT_VERSION });
    assert!(error.to_string().contains("format version 11"), "{error}");
}

#[test]
fn a_snapshot_of_unknown_rules_is_refused_by_name() {
    let error = refused(|bytes| bytes[12..16].copy_from_slice(&11_u32.to_le_bytes()));
    assert_eq!(error, SnapshotError::UnknownRules { got: 11, first: 1, last: 10 });
}

#[test]
fn damage_is_found_by_the_checksum() {
    let error = refused(|bytes| bytes[1_000] ^= 4);
    assert!(matches!(error, SnapshotError::Checksum { .. }), "{error}");
}

#[test]
fn a_snapshot_cut_short_is_refused() {
    let error = refused(|bytes| bytes.truncate(bytes.len() - 1));
    assert!(matches!(error, SnapshotError::Length { .. }), "{error}");
    let error = refused(|bytes| bytes.truncate(20));
    assert_eq!(error, SnapshotError::NotASnapshot);
}

#[test]
fn something_else_is_not_a_snapshot() {
    assert_eq!(refused(|bytes| bytes[0] = b'X'), SnapshotError::NotASnapshot);
}

fn any_command() -> impl Strategy<Value = Command> {
    let account = prop::sample::select(vec![ALICE, BOB, CAROL, CAROLS_OTHER]);
    let side = prop::sample::select(vec![Side::Buy, Side::Sell]);
    let mode = prop::option::of(prop::sample::select(vec![
        SelfTrade::Allow,
        SelfTrade::CancelOldest,
        SelfTrade::CancelBoth,
        SelfTrade::Decrement,
    ]));
    let post_only =
        prop::sample::select(vec![PostOnly::Off, PostOnly::Off, PostOnly::Reject, PostOnly::Slide]);
    let times = prop::sample::select(vec![TimeInForce::Gtc, TimeInForce::Gtd, TimeInForce::Day]);
    let place = (account.clone(), side, 90..110_i64, 1..30_i64, mode, post_only, times, 0..40_u32)
        .prop_map(|(account, side, price, quantity, self_trade, post_only, time, name)| {
            let expires = if time == TimeInForce::Gtd { START + 3_000_000 } else { 0 };
            let name = if name < 20 { format!("name-{name}") } else { String::new() };
            Command::Place(NewOrder {
                self_trade,
                post_only,
                time_in_force: time,
                expire_at: Timestamp(expires),
                client_order_id: name.parse().unwrap(),
                ..limit(account, side, price, quantity)
            })
        });
    let order = (1..60_u64).prop_map(|id| OrderRef::Id(OrderId::from_parts(ENGINE, id)));
    let cancel = (account.clone(), order.clone())
        .prop_map(|(account, order)| Command::Cancel { account, order });
    let amend = (account.clone(), order, 90..110_i64).prop_map(|(account, order, price)| {
        let price = Some(rialto_model::Price(price));
        Command::Amend(rialto_model::Amend { account, order, price, quantity: None })
    });
    let dead_man = (account.clone(), 0..600_000_u64)
        .prop_map(|(account, timeout_ns)| Command::SetDeadMan { account, timeout_ns });
    let withdrawal = (account.clone(), 0..6_u32, 0..3_u32).prop_map(|(account, name, step)| {
        let reference = format!("w{name}");
        let held = transfer(account, QUOTE, 10, &reference);
        let reference = held.reference;
        match step {
            0 => Command::HoldWithdrawal(held),
            1 => Command::SettleWithdrawal { account, reference },
            _ => Command::ReleaseWithdrawal { account, reference },
        }
    });
    let mass_cancel = account.prop_map(|account| {
        Command::MassCancel(MassCancel { account, instrument: None, side: None })
    });
    prop_oneof![
        12 => place, 2 => cancel, 4 => amend, 1 => dead_man, 1 => mass_cancel, 3 => withdrawal,
        1 => Just(Command::Tick)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_snapshot_at_any_point_and_the_rest_is_the_whole(
        commands in prop::collection::vec(any_command(), 1..120),
        cut in 0..120_usize,
    ) {
        let mut venue = Venue::new();
        let cut = cut.min(commands.len());
        for command in &commands[..cut] {
            venue.time += 40_000;
            venue.apply(*command);
        }
        let mut restored = Core::restore(&venue.core.snapshot(), 5).unwrap();
        go_on(&mut venue.core, &mut restored, &commands[cut..]);
    }
}

#[test]
fn outcomes_of_the_rich_state_are_not_all_refusals() {
    let mut venue = rich();
    assert!(matches!(venue.place(buy(CAROL, 600, 20)), Outcome::Order { .. }));
}
