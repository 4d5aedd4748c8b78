//! Calls, uncrossings, and what goes on meanwhile.

use crate::venue::*;
use rialto_core::{Core, SEARCH_STEPS_PER_ORDER};
use rialto_model::{
    AuctionRules, Command, DoneReason, Event, InstrumentState, MassCancel, NewOrder, OrderKind,
    OrderSize, Outcome, PostOnly, Price, Quantity, RejectReason, SelfTrade, Side, TimeInForce,
    Timestamp, TradingRules, Uncrossed,
};

fn in_call() -> Venue {
    let mut venue = Venue::new();
    venue.set_state(InstrumentState::Call);
    venue
}

fn set_auction_rules(venue: &mut Venue, rules: AuctionRules) -> Outcome {
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 })
}

fn state(venue: &Venue) -> InstrumentState {
    venue.core.instrument(SPOT).unwrap().instrument.state
}

fn uncrossed(venue: &Venue) -> Option<(i64, i64, i64)> {
    venue.events.iter().find_map(|event| match event {
        Event::Uncrossed(Uncrossed { price, volume, surplus, .. }) => {
            Some((price.0, volume.0, surplus.0))
        }
        _ => None,
    })
}

fn for_auction(order: NewOrder, time_in_force: TimeInForce) -> NewOrder {
    NewOrder { time_in_force, ..order }
}

/// More pairs of crossing orders than one command may trade.
const PAIRS: usize = 300;

/// An instrument whose uncrossing takes several commands, in its first.
fn uncrossing() -> Venue {
    uncrossing_of(PAIRS, PAIRS)
}

/// The same with these numbers of orders.
fn uncrossing_of(buys: usize, sells: usize) -> Venue {
    let mut venue = in_call();
    for at in 0..buys.max(sells) {
        if at < buys {
            venue.enter(buy(ALICE, 101, 1));
        }
        if at < sells {
            venue.enter(sell(BOB, 99, 1));
        }
    }
    assert_eq!(venue.set_state(InstrumentState::Open), Outcome::Done);
    assert_eq!(state(&venue), InstrumentState::Uncrossing);
    venue
}

/// Ticks until the instrument has uncrossed; returns the quantity that traded.
fn finish(venue: &mut Venue) -> i64 {
    let mut traded = 0;
    while state(venue) == InstrumentState::Uncrossing {
        venue.tick();
        traded += venue.trades().iter().map(|(_, quantity)| quantity).sum::<i64>();
    }
    traded
}

#[test]
fn orders_collect_in_a_call_and_trade_at_one_price_when_it_ends() {
    let mut venue = in_call();
    venue.enter(buy(ALICE, 105, 10));
    venue.enter(sell(BOB, 98, 4));
    venue.enter(sell(CAROL, 100, 8));
    assert!(venue.core.book(SPOT).unwrap().is_crossed());
    assert_eq!(venue.set_state(InstrumentState::Open), Outcome::Done);
    assert_eq!(uncrossed(&venue), Some((100, 10, -2)));
    assert_eq!(venue.trades(), [(100, 4), (100, 6)]);
    assert!(venue.trade_events().all(|trade| trade.auction));
    assert_eq!(venue.queue(Side::Sell), [(100, 2)]);
    assert_eq!(state(&venue), InstrumentState::Open);
}

#[test]
fn what_is_left_goes_on_into_trading_with_its_place() {
    let mut venue = in_call();
    venue.enter(sell(BOB, 100, 5));
    venue.enter(sell(CAROL, 100, 5));
    venue.enter(buy(ALICE, 100, 7));
    venue.set_state(InstrumentState::Open);
    venue.enter(sell(BOB, 100, 1));
    assert_eq!(venue.queue(Side::Sell), [(100, 3), (100, 1)]);
}

#[test]
fn a_call_without_anything_to_trade_just_ends() {
    let mut venue = in_call();
    venue.enter(buy(ALICE, 99, 1));
    venue.enter(sell(BOB, 100, 1));
    venue.set_state(InstrumentState::Open);
    let state = InstrumentState::Open;
    assert_eq!(venue.events, [Event::InstrumentStateSet { instrument: SPOT, state }]);
}

#[test]
fn orders_for_an_auction_end_with_it() {
    let mut venue = in_call();
    let filled = venue.enter(for_auction(buy(ALICE, 100, 2), TimeInForce::AtOpen));
    let left = venue.enter(for_auction(buy(ALICE, 99, 3), TimeInForce::Gfa));
    let stays = venue.enter(buy(ALICE, 98, 3));
    venue.enter(sell(BOB, 100, 2));
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.trades(), [(100, 2)]);
    assert_eq!(venue.done(), [(left, DoneReason::AuctionEnded, 3)]);
    assert!(venue.core.order(filled).is_none() && venue.core.order(stays).is_some());
}

#[test]
fn an_auction_of_orders_that_find_nobody_ends_them() {
    let mut venue = in_call();
    let alone = venue.enter(for_auction(buy(ALICE, 100, 2), TimeInForce::AtOpen));
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.done(), [(alone, DoneReason::AuctionEnded, 2)]);
    assert_eq!((uncrossed(&venue), state(&venue)), (None, InstrumentState::Open));
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS, 0));
}

#[test]
fn an_order_for_an_auction_can_be_amended_and_cancelled() {
    let mut venue = in_call();
    let first = venue.enter(for_auction(buy(ALICE, 100, 2), TimeInForce::Gfa));
    let second = venue.enter(for_auction(buy(ALICE, 100, 2), TimeInForce::Gfa));
    venue.amend(ALICE, first, Some(101), Some(5));
    venue.cancel(ALICE, second);
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.done(), [(first, DoneReason::AuctionEnded, 5)]);
}

fn market_for_auction(account: rialto_model::AccountId, side: Side, quantity: i64) -> NewOrder {
    let order = market(account, side, OrderSize::Base(Quantity(quantity)));
    for_auction(order, TimeInForce::Gfa)
}

#[test]
fn a_market_order_in_a_call_has_its_protection_price_as_limit() {
    let reference_price = Price(1_000);
    let mut venue = Venue::ruled(TradingRules { reference_price, ..rules() });
    venue.set_state(InstrumentState::Call);
    venue.enter(market_for_auction(ALICE, Side::Buy, 3));
    venue.enter(market_for_auction(BOB, Side::Sell, 2));
    assert_eq!(venue.queue(Side::Buy), [(1_100, 3)]);
    assert_eq!(venue.queue(Side::Sell), [(900, 2)]);
    venue.set_state(InstrumentState::Open);
    assert_eq!(uncrossed(&venue), Some((1_000, 2, 1)), "market orders alone: the reference price");
}

#[test]
fn a_market_order_in_a_call_needs_a_price_to_count_from() {
    let mut venue = in_call();
    let order = market_for_auction(ALICE, Side::Buy, 3);
    assert_eq!(venue.place(order), rejected(RejectReason::NoReferencePrice));
    let priced = NewOrder { price: Price(50), ..order };
    assert_eq!(venue.place(priced), rejected(RejectReason::InvalidCombination));
    let amount = NewOrder { size: OrderSize::Quote(rialto_model::Amount(100)), ..order };
    assert_eq!(venue.place(amount), rejected(RejectReason::InvalidCombination));
}

#[test]
fn post_only_orders_that_rested_take_part() {
    let mut venue = Venue::new();
    venue.enter(NewOrder { post_only: PostOnly::Reject, ..sell(BOB, 100, 5) });
    venue.set_state(InstrumentState::Call);
    venue.enter(buy(ALICE, 100, 5));
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.trades(), [(100, 5)]);
}

#[test]
fn both_sides_pay_the_fee_of_auctions_and_no_more_than_as_takers() {
    let mut venue = in_call();
    set_auction_rules(&mut venue, AuctionRules { fee_ppm: 5_000, ..AuctionRules::PLAIN });
    venue.enter(buy(ALICE, 1_000, 10));
    venue.enter(sell(BOB, 1_000, 10));
    venue.set_state(InstrumentState::Open);
    let trade = *venue.trade_events().next().unwrap();
    assert_eq!((trade.maker_fee.0, trade.taker_fee.0), (50, 50));
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 10_050, 0));
    assert_eq!(venue.balance(BOB, QUOTE), (FUNDS + 9_950, 0));
    venue.set_state(InstrumentState::Call);
    set_auction_rules(&mut venue, AuctionRules { fee_ppm: 50_000, ..AuctionRules::PLAIN });
    venue.enter(buy(ALICE, 1_000, 10));
    venue.enter(sell(BOB, 1_000, 10));
    venue.set_state(InstrumentState::Open);
    let trade = *venue.trade_events().next().unwrap();
    assert_eq!((trade.maker_fee.0, trade.taker_fee.0), (100, 100), "the rate of a taker, 1 %");
}

/// The trades and the ends of an auction in which Carol would trade with herself first.
fn own_auction(self_trade: SelfTrade) -> (Vec<(i64, i64)>, Vec<DoneReason>) {
    let mut venue = in_call();
    set_auction_rules(&mut venue, AuctionRules { self_trade, ..AuctionRules::PLAIN });
    venue.enter(sell(CAROL, 100, 5));
    venue.enter(sell(BOB, 100, 5));
    venue.enter(buy(CAROLS_OTHER, 101, 5));
    venue.enter(buy(ALICE, 100, 5));
    venue.set_state(InstrumentState::Open);
    assert!(!venue.core.book(SPOT).unwrap().is_crossed());
    (venue.trades(), venue.done().into_iter().map(|(_, reason, _)| reason).collect())
}

#[test]
fn members_trade_with_themselves_in_auctions_unless_the_rules_prevent_it() {
    let own = DoneReason::SelfTrade;
    assert_eq!(own_auction(SelfTrade::Allow), (vec![(100, 5), (100, 5)], vec![]));
    assert_eq!(own_auction(SelfTrade::CancelNewest), (vec![(100, 5)], vec![own]));
    assert_eq!(own_auction(SelfTrade::CancelOldest), (vec![(100, 5)], vec![own]));
    assert_eq!(own_auction(SelfTrade::CancelBoth), (vec![(100, 5)], vec![own, own]));
    assert_eq!(own_auction(SelfTrade::Decrement), (vec![(100, 5)], vec![own, own]));
}

#[test]
fn orders_that_prevention_leaves_crossing_uncross_again_at_their_own_price() {
    let mut venue = in_call();
    let self_trade = SelfTrade::CancelOldest;
    set_auction_rules(&mut venue, AuctionRules { self_trade, ..AuctionRules::PLAIN });
    venue.enter(sell(CAROL, 90, 10));
    venue.enter(sell(BOB, 100, 3));
    venue.enter(buy(CAROLS_OTHER, 105, 10));
    venue.set_state(InstrumentState::Open);
    let prices: Vec<_> =
        venue.events.iter().filter(|event| matches!(event, Event::Uncrossed(_))).collect();
    assert_eq!(prices.len(), 2);
    assert_eq!(venue.trades(), [(105, 3)], "the surplus of buys takes the highest price");
}

#[test]
fn an_uncrossing_goes_on_in_slices_while_the_instrument_is_frozen() {
    let mut venue = uncrossing();
    let frozen = rejected(RejectReason::InstrumentUncrossing);
    let order = venue.core.orders(SPOT, Side::Buy).next().unwrap().id;
    assert_eq!(venue.place(buy(CAROL, 50, 1)), frozen);
    assert_eq!(venue.cancel(ALICE, order), frozen);
    assert_eq!(venue.amend(ALICE, order, None, Some(5)), frozen);
    assert_eq!(venue.set_state(InstrumentState::Halted), frozen);
    assert_eq!(venue.set_rules(rules()), frozen);
    assert_eq!(set_auction_rules(&mut venue, AuctionRules::PLAIN), frozen);
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    let elsewhere = NewOrder { instrument: rialto_model::InstrumentId(2), ..buy(CAROL, 50, 1) };
    assert!(!venue.place(elsewhere).is_rejected(), "other instruments trade on");
    assert_eq!(finish(&mut venue), PAIRS as i64 - 127);
    assert_eq!(state(&venue), InstrumentState::Open);
    assert_eq!(venue.core.instrument(SPOT).unwrap().open_orders, 0);
}

#[test]
fn the_search_for_the_price_is_sliced_too() {
    let mut venue = in_call();
    let levels = 2 * 256 * i64::from(SEARCH_STEPS_PER_ORDER) - 200;
    venue.enter(buy(ALICE, levels, 20_000));
    for price in 1..=levels {
        venue.enter(sell(BOB, price, 1));
    }
    venue.set_state(InstrumentState::Open);
    assert_eq!(uncrossed(&venue), None, "one command looks at a half of the levels");
    venue.tick();
    assert_eq!(uncrossed(&venue), Some((levels, levels, 20_000 - levels)));
    finish(&mut venue);
    assert_eq!(venue.queue(Side::Buy), [(levels, 20_000 - levels)]);
}

#[test]
fn a_mass_cancel_leaves_the_orders_of_an_uncrossing_and_cancels_the_others() {
    let mut venue = uncrossing();
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    let instrument = rialto_model::InstrumentId(2);
    let elsewhere = NewOrder { instrument, ..buy(ALICE, 50, 1) };
    venue.enter(elsewhere);
    let all = MassCancel { account: ALICE, instrument: None, side: None };
    let outcome = venue.apply(Command::MassCancel(all));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 1, pending: true });
    venue.enter(elsewhere);
    let others = MassCancel { instrument: Some(instrument), ..all };
    let outcome = venue.apply(Command::MassCancel(others));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 1, pending: true });
    assert_eq!(finish(&mut venue), PAIRS as i64 - 127, "nothing of it is lost");
    while venue.core.has_background_work() {
        venue.tick();
    }
    assert_eq!(venue.core.orders_of(ALICE).count(), 0);
}

#[test]
fn a_mass_cancel_ends_what_an_uncrossing_leaves() {
    let mut venue = uncrossing_of(PAIRS + 10, PAIRS);
    let all = MassCancel { account: ALICE, instrument: None, side: None };
    venue.apply(Command::MassCancel(all));
    finish(&mut venue);
    while venue.core.has_background_work() {
        venue.tick();
    }
    assert_eq!(venue.queue(Side::Buy), []);
}

#[test]
fn other_work_has_its_turns_while_orders_uncross() {
    let mut venue = uncrossing_of(2_000, 2_000);
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    let elsewhere = NewOrder { instrument: rialto_model::InstrumentId(2), ..buy(CAROL, 50, 1) };
    for _ in 0..600 {
        venue.enter(elsewhere);
    }
    venue.apply(Command::MassCancel(MassCancel { account: CAROL, instrument: None, side: None }));
    for _ in 0..4 {
        venue.tick();
    }
    assert_eq!(state(&venue), InstrumentState::Uncrossing);
    assert_eq!(venue.core.orders_of(CAROL).count(), 0, "the kinds take turns");
}

#[test]
fn two_auctions_take_turns() {
    let mut venue = uncrossing_of(2_000, 2_000);
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    let instrument = rialto_model::InstrumentId(2);
    venue.apply(Command::SetInstrumentState { instrument, state: InstrumentState::Call });
    for _ in 0..150 {
        venue.enter(NewOrder { instrument, ..buy(ALICE, 101, 1) });
        venue.enter(NewOrder { instrument, ..sell(BOB, 99, 1) });
    }
    venue.apply(Command::SetInstrumentState { instrument, state: InstrumentState::Open });
    for _ in 0..3 {
        venue.tick();
    }
    let other = venue.core.instrument(instrument).unwrap().instrument.state;
    assert_eq!((state(&venue), other), (InstrumentState::Uncrossing, InstrumentState::Open));
}

/// The last price is 100; the price of an auction may be 1 % away.
fn with_range(self_trade: SelfTrade) -> Venue {
    let mut venue = Venue::new();
    venue.enter(sell(BOB, 100, 1));
    venue.enter(buy(ALICE, 100, 1));
    let rules = AuctionRules {
        self_trade,
        auction_range_ppm: 10_000,
        call_ms: 1_000,
        ..AuctionRules::PLAIN
    };
    set_auction_rules(&mut venue, rules);
    venue.set_state(InstrumentState::Call);
    venue
}

#[test]
fn a_call_that_was_halted_is_extended_as_a_call() {
    for (to, phase) in [
        (InstrumentState::Open, InstrumentState::Call),
        (InstrumentState::Closed, InstrumentState::ClosingCall),
    ] {
        let mut venue = with_range(SelfTrade::Allow);
        venue.enter(buy(ALICE, 110, 1));
        venue.enter(sell(BOB, 110, 1));
        venue.set_state(InstrumentState::Halted);
        venue.set_state(to);
        assert_eq!((venue.trades(), state(&venue)), (vec![], phase));
        venue.enter(buy(ALICE, 90, 1));
        let restored = Core::restore(&venue.core.snapshot(), 1).unwrap();
        assert_eq!(restored.state_hash(), venue.core.state_hash());
    }
}

#[test]
fn a_later_price_of_an_auction_is_compared_with_the_range_too() {
    let mut venue = with_range(SelfTrade::CancelOldest);
    venue.enter(sell(CAROL, 100, 10));
    venue.enter(buy(CAROLS_OTHER, 150, 10));
    venue.enter(sell(BOB, 150, 1));
    venue.set_state(InstrumentState::Open);
    assert_eq!((venue.trades(), state(&venue)), (vec![], InstrumentState::Call));
}

#[test]
fn an_auction_in_which_nothing_trades_moves_no_range() {
    let mut venue = with_range(SelfTrade::CancelBoth);
    let rules = AuctionRules { static_range_ppm: 10_000, call_ms: 1_000, ..AuctionRules::PLAIN };
    let rules = AuctionRules { self_trade: SelfTrade::CancelBoth, ..rules };
    set_auction_rules(&mut venue, rules);
    venue.enter(sell(CAROL, 200, 1));
    venue.enter(buy(CAROLS_OTHER, 200, 1));
    venue.set_state(InstrumentState::Open);
    assert_eq!(uncrossed(&venue), Some((200, 1, 0)));
    assert_eq!(venue.core.instrument(SPOT).unwrap().auction_price, Price::ZERO);
}

#[test]
fn an_order_that_expires_while_it_uncrosses_takes_part() {
    let mut venue = in_call();
    for _ in 0..PAIRS {
        let expire_at = Timestamp(venue.time + 5);
        let time_in_force = TimeInForce::Gtd;
        venue.enter(NewOrder { time_in_force, expire_at, ..buy(ALICE, 101, 1) });
        venue.enter(sell(BOB, 99, 1));
    }
    venue.set_state(InstrumentState::Open);
    venue.time += 1_000;
    assert_eq!(finish(&mut venue), PAIRS as i64 - 127);
}

#[test]
fn an_order_that_had_expired_when_it_began_takes_no_part() {
    let mut venue = in_call();
    let (time_in_force, expire_at) = (TimeInForce::Gtd, Timestamp(venue.time + 5));
    let late = venue.enter(NewOrder { time_in_force, expire_at, ..buy(ALICE, 101, 1) });
    venue.enter(sell(BOB, 99, 1));
    venue.time += 5;
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.done(), [(late, DoneReason::Expired, 1)]);
    assert_eq!(venue.trades(), []);
}

#[test]
fn a_snapshot_in_every_slice_goes_on_the_same() {
    let mut venue = uncrossing();
    let seq = |core: &Core| rialto_model::Seq(core.seq().0 + 1);
    for _ in 0..4 {
        let mut restored = Core::restore(&venue.core.snapshot(), 99).unwrap();
        assert_eq!(restored.state_hash(), venue.core.state_hash());
        let mut events = Vec::new();
        restored.apply(seq(&restored), Timestamp(venue.time), &Command::Tick, &mut events);
        venue.tick();
        assert_eq!(events, venue.events);
        assert_eq!(restored.state_hash(), venue.core.state_hash());
    }
}

#[test]
fn quantities_and_prices_at_the_end_of_their_range_uncross() {
    let free = TradingRules { risk: false, quantity_max: Quantity::MAX, ..rules() };
    let mut venue = Venue::ruled(free);
    venue.set_state(InstrumentState::Call);
    let most = 1_i64 << 40;
    for _ in 0..3 {
        venue.enter(buy(ALICE, i64::MAX >> 3, most));
        venue.enter(sell(BOB, 1, most));
    }
    venue.set_state(InstrumentState::Open);
    assert_eq!(uncrossed(&venue), Some((1, 3 * most, 0)), "no reference price: the lowest");
}

#[test]
fn a_halted_call_uncrosses_when_trading_resumes() {
    let mut venue = in_call();
    venue.enter(buy(ALICE, 101, 1));
    venue.enter(sell(BOB, 99, 1));
    venue.set_state(InstrumentState::Halted);
    assert!(venue.core.book(SPOT).unwrap().is_crossed());
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.trades(), [(99, 1)]);
}

#[test]
fn the_closing_auction_trades_before_the_close() {
    let mut venue = Venue::new();
    venue.set_state(InstrumentState::ClosingCall);
    venue.enter(for_auction(buy(ALICE, 101, 2), TimeInForce::AtClose));
    let stays = venue.enter(sell(BOB, 99, 3));
    venue.set_state(InstrumentState::Closed);
    assert_eq!(venue.trades(), [(99, 2)], "the surplus of sells takes the lowest price");
    assert_eq!(state(&venue), InstrumentState::Closed);
    assert_eq!(venue.core.order(stays).unwrap().remaining, Quantity(1));
}

#[test]
fn withdrawing_a_call_cancels_its_orders_without_an_auction() {
    let mut venue = in_call();
    venue.enter(buy(ALICE, 101, 1));
    venue.enter(for_auction(sell(BOB, 99, 1), TimeInForce::Gfa));
    let outcome = venue.set_state(InstrumentState::Withdrawn);
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 2, pending: false });
    assert_eq!(venue.trades(), []);
}

#[test]
fn listing_and_delisting_need_an_empty_book() {
    let mut venue = Venue::new();
    let order = venue.enter(buy(ALICE, 100, 1));
    let open = rejected(RejectReason::HasOpenOrders);
    assert_eq!(venue.set_state(InstrumentState::Listed), open);
    assert_eq!(venue.set_state(InstrumentState::Delisted), open);
    venue.cancel(ALICE, order);
    assert_eq!(
        venue.set_state(InstrumentState::Uncrossing),
        rejected(RejectReason::StateChangeInvalid)
    );
    assert_eq!(venue.set_state(InstrumentState::Delisted), Outcome::Done);
    assert_eq!(venue.set_state(InstrumentState::Open), rejected(RejectReason::StateChangeInvalid));
}

#[test]
fn ticks_and_lots_change_only_to_finer_ones_while_orders_rest() {
    let coarse = TradingRules { tick: Price(4), lot: Quantity(6), ..rules() };
    let mut venue = Venue::ruled(coarse);
    let order = venue.enter(buy(ALICE, 100, 6));
    let open = rejected(RejectReason::HasOpenOrders);
    assert_eq!(venue.set_rules(TradingRules { tick: Price(3), ..coarse }), open);
    assert_eq!(venue.set_rules(TradingRules { lot: Quantity(4), ..coarse }), open);
    assert_eq!(
        venue.set_rules(TradingRules { tick: Price(2), lot: Quantity(3), ..coarse }),
        Outcome::Done
    );
    venue.cancel(ALICE, order);
    assert_eq!(venue.set_rules(TradingRules { tick: Price(7), ..coarse }), Outcome::Done);
}

#[test]
fn a_seed_decides_how_long_a_call_lasts() {
    let length = |seed| {
        let mut venue = Venue::new();
        let rules = AuctionRules {
            dynamic_range_ppm: 10_000,
            call_ms: 1_000,
            random_end_ms: 1_000,
            ..AuctionRules::PLAIN
        };
        venue.apply(Command::SetAuctionRules { instrument: SPOT, rules, seed });
        venue.enter(sell(BOB, 100, 1));
        venue.enter(buy(ALICE, 100, 1));
        venue.enter(sell(BOB, 110, 1));
        venue.enter(buy(ALICE, 110, 1));
        assert_eq!(state(&venue), InstrumentState::Call);
        venue.core.next_due().0 - venue.time
    };
    let lengths: Vec<_> = (0..50).map(length).collect();
    assert!(lengths.iter().all(|length| (1_000_000_000..=2_000_000_000).contains(length)));
    assert!(lengths.iter().collect::<std::collections::BTreeSet<_>>().len() > 40);
    assert_eq!(length(7), length(7));
}

#[test]
fn earlier_rules_refuse_auctions_by_name() {
    let mut venue = Venue::under(3, rules());
    for state in InstrumentState::ALL.iter().filter(|state| state.number() > 2) {
        assert_eq!(venue.set_state(*state), rejected(RejectReason::StateUnknown), "{state:?}");
    }
    let unknown = rejected(RejectReason::CommandUnknown);
    assert_eq!(set_auction_rules(&mut venue, AuctionRules::PLAIN), unknown);
    let unknown = rejected(RejectReason::AttributeUnknown);
    for time in TimeInForce::ALL.iter().filter(|time| time.is_for_auction()) {
        assert_eq!(venue.place(for_auction(buy(ALICE, 100, 1), *time)), unknown, "{time:?}");
    }
    let order = NewOrder { kind: OrderKind::Market, ..buy(ALICE, 0, 1) };
    assert_eq!(venue.place(for_auction(order, TimeInForce::Gfa)), unknown);
}

#[test]
fn market_orders_alone_trade_at_the_reference_price() {
    let reference_price = Price(100);
    let rules = TradingRules { reference_price, market_protection_ppm: 50_000, ..rules() };
    let mut venue = Venue::ruled(rules);
    venue.set_state(InstrumentState::Call);
    let market = |order| NewOrder { kind: OrderKind::Market, price: Price::ZERO, ..order };
    venue.enter(for_auction(market(buy(ALICE, 0, 3)), TimeInForce::Gfa));
    let left = venue.enter(for_auction(market(sell(BOB, 0, 5)), TimeInForce::AtOpen));
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.trades(), [(100, 3)]);
    assert_eq!(venue.done(), [(left, DoneReason::AuctionEnded, 2)]);
}

#[test]
fn a_book_with_limits_off_the_tick_uncrosses_after_the_change_of_rules() {
    let mut venue = Venue::under(3, rules());
    venue.enter(sell(BOB, 101, 5));
    venue.set_rules(TradingRules { tick: Price(4), ..rules() });
    venue.apply(Command::SetRulesVersion { version: 4 });
    venue.set_state(InstrumentState::Call);
    venue.enter(buy(ALICE, 104, 5));
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.trades(), [(101, 5)]);
}
