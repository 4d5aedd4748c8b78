//! The feed against the core: what it folds from the events is what the core itself holds.

use crate::venue::{Mirror, Venue, fold, refresh};
use proptest::collection::vec;
use proptest::prelude::*;
use rialto_desk::baseline_of;
use rialto_feed::{DeltaMerger, Feed, FeedConfig, Update};
use rialto_model::testing::plausible::{self, Bounds};
use rialto_model::*;
use std::collections::BTreeSet;

const BOUNDS: Bounds = Bounds {
    accounts: 6,
    instruments: 2,
    currencies: 3,
    orders: 160,
    price_max: 20,
    quantity_max: 50,
    time_max: Timestamp(Timestamp::DAY * 3),
};

/// Three currencies, six accounts of four members, two instruments and money for everybody.
fn open_for_business(venue: &mut Venue, risk: [bool; 2]) {
    let mut send = |command: Command| {
        let outcome = venue.send(Timestamp(1), &command);
        assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
    };
    let scale = |places| Scale::new(places).unwrap();
    for code in ["C1", "C2", "C3"] {
        send(Command::CreateCurrency { code: code.parse().unwrap(), scale: scale(6) });
    }
    for number in 1..=4 {
        let name = "m".parse().unwrap();
        send(Command::CreateMember { member: MemberId(number), name });
    }
    for number in 1..=6 {
        let (account, member) = (AccountId(number), MemberId(number % 4 + 1));
        send(Command::CreateAccount { account, member, name: "a".parse().unwrap() });
        for currency in 1..=3 {
            let reference = format!("start{currency}").parse().unwrap();
            let amount = Amount(1_000_000);
            let currency = CurrencyId(currency);
            send(Command::deposit(Transfer { account, currency, amount, reference }));
        }
    }
    for (index, risk) in risk.into_iter().enumerate() {
        send(Command::CreateInstrument(InstrumentSpec {
            symbol: format!("I{index}").parse().unwrap(),
            kind: InstrumentKind::Spot,
            base: CurrencyId(index as u16 + 1),
            quote: CurrencyId(3),
            price_scale: scale(2),
            quantity_scale: scale(3),
            rules: TradingRules {
                quantity_max: Quantity(1_000_000),
                market_protection_ppm: 500_000,
                maker_fee_ppm: -7_000 + 10_000 * index as i32,
                taker_fee_ppm: 31_000,
                self_trade: SelfTrade::Decrement,
                open_orders_max: 100_000,
                day_end_s: 3_600,
                reference_price: Price(10),
                risk,
                ..TradingRules::unrestrained()
            },
        }));
    }
    let (calendar, instrument) = ("equities".parse().unwrap(), InstrumentId(2));
    let far = Timestamp(BOUNDS.time_max.0 * 9);
    let transition = PlannedTransition::plain(far, InstrumentState::Open);
    send(Command::PlanTransition { calendar, number: 0, transition });
    send(Command::AdoptPlan { calendar, count: 1, digest: 5, seed: 6, replace: true });
    send(Command::AssignCalendar { instrument, calendar });
    let (range_ppm, halt_ms) = (200_000, 3_000);
    let rule = CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms };
    send(Command::SetCircuitBreaker(rule));
    let rules = AuctionRules {
        call_ms: 1_000,
        limit_range_ppm: 500_000,
        limit_state_ms: 2_000,
        halt_ms: 2_000,
        ..AuctionRules::PLAIN
    };
    send(Command::SetAuctionRules { instrument, rules, seed: 7 });
}

/// An iceberg on a book.
fn an_iceberg(venue: &Venue, nth: u64) -> Option<OrderRef> {
    let sides = venue.core.instruments().flat_map(|view| {
        [Side::Buy, Side::Sell].map(|side| venue.core.orders(view.instrument.id, side))
    });
    let icebergs: Vec<_> = sides.flatten().filter(|order| order.iceberg.is_some()).collect();
    let order = icebergs.get(nth as usize % icebergs.len().max(1))?;
    Some(OrderRef::Id(order.id))
}

/// An order that waits for a trigger.
fn a_waiting_order(venue: &Venue, nth: u64) -> Option<OrderRef> {
    let instruments = venue.core.instruments().map(|view| view.instrument.id);
    let waiting: Vec<_> = instruments.flat_map(|id| venue.core.waiting_orders(id)).collect();
    let order = waiting.get(nth as usize % waiting.len().max(1))?;
    Some(OrderRef::Id(order.id))
}

/// Cancels and amendments name orders of any account; here the owner of an open order sends them. An
/// amendment of an order that is not open changes an iceberg instead, and one of a trigger price an order that
/// waits. A plan is continued or adopted with the number of transitions that it has, and the transition that
/// moves is one that is planned.
fn by_owner(venue: &Venue, command: &Command) -> Command {
    let owner = |order: &OrderRef| match order {
        OrderRef::Id(id) => venue.core.order(*id).map(|order| order.account),
        OrderRef::Client(_) => None,
    };
    let draft = |name| venue.feed.calendar(name).map_or(0, |it| it.plan.len() as u32);
    match *command {
        Command::Cancel { account, order } => {
            Command::Cancel { account: owner(&order).unwrap_or(account), order }
        }
        Command::Amend(amend) => {
            let order = match (owner(&amend.order), amend.order) {
                (None, OrderRef::Id(id)) => an_iceberg(venue, id.counter()).unwrap_or(amend.order),
                _ => amend.order,
            };
            let account = owner(&order).unwrap_or(amend.account);
            Command::Amend(Amend { account, order, ..amend })
        }
        Command::AmendTrigger(AmendTrigger { amend, trigger_price }) => {
            let nth = match amend.order {
                OrderRef::Id(id) => id.counter(),
                OrderRef::Client(_) => 0,
            };
            let order = a_waiting_order(venue, nth).unwrap_or(amend.order);
            let account = owner(&order).unwrap_or(amend.account);
            let amend = Amend { account, order, ..amend };
            Command::AmendTrigger(AmendTrigger { amend, trigger_price })
        }
        Command::PlanTransition { calendar, number: 1.., transition } => {
            Command::PlanTransition { calendar, number: draft(calendar), transition }
        }
        Command::AdoptPlan { calendar, digest, seed, replace, .. } => {
            let count = draft(calendar);
            Command::AdoptPlan { calendar, count, digest, seed, replace }
        }
        Command::MoveTransition { calendar, at, to } => {
            let planned = venue.feed.calendar(calendar).map_or(&[][..], |it| &it.planned);
            let at = planned.last().map_or(at, |last| last.at);
            Command::MoveTransition { calendar, at, to }
        }
        other => other,
    }
}

/// A command and how many seconds pass before it.
fn steps() -> impl Strategy<Value = Vec<(u64, Command)>> {
    let pause = prop_oneof![8 => Just(0_u64), 4 => 1..90_u64, 1 => 1..40_000_u64];
    let command = prop_oneof![30 => plausible::command(BOUNDS), 2 => call_command(), 2 => calendar_command(),
            1 => halt_command(), 3 => plausible::iceberg_order(BOUNDS).prop_map(Command::PlaceIceberg), 3 => list_command(),
            1 => plausible::conditional_order(BOUNDS).prop_map(Command::PlaceConditional),
            4 => plausible::amend_trigger(BOUNDS).prop_map(Command::AmendTrigger), 2 => five_levels_command()];
    vec((pause, command), 1..160)
}

/// Linked orders whose prices are in their order.
fn list_command() -> impl Strategy<Value = Command> {
    let parts = (plausible::limit_order(BOUNDS), any::<[bool; 2]>(), 1..4_i64, 1..4_i64);
    parts.prop_map(|(order, [is_pair, waits], gain, loss)| {
        let terms = NewOrder {
            time_in_force: TimeInForce::Gtc,
            post_only: PostOnly::Off,
            minimum_quantity: Quantity::ZERO,
            expire_at: Timestamp::ZERO,
            ..order
        };
        let side = if is_pair { terms.side } else { terms.side.opposite() };
        let better = |price: Price, by: i64| match side {
            Side::Sell => Price(price.0 + by),
            Side::Buy => Price(price.0 - by),
        };
        let leg = |condition, price| Leg {
            condition,
            kind: OrderKind::Limit,
            time_in_force: TimeInForce::Gtc,
            price,
            expire_at: Timestamp::ZERO,
        };
        let waits_for = |kind, price| Some(Condition::Trigger(Trigger { kind, price }));
        let (gain, loss) = (better(terms.price, gain), better(terms.price, -loss));
        let stop = leg(waits_for(TriggerKind::Stop, loss), better(loss, -1));
        let profit = match waits {
            true => leg(waits_for(TriggerKind::TakeProfit, gain), terms.price),
            false => leg(None, gain),
        };
        Command::PlaceList(OrderList {
            terms,
            condition: None,
            kind: if is_pair { LinkKind::Oco } else { LinkKind::Oto },
            take_profit: (!is_pair).then_some(profit),
            stop_loss: Some(stop),
        })
    })
}

/// An order that trades at five prices, and whose rest stands at the last of them.
fn five_levels_command() -> impl Strategy<Value = Command> {
    plausible::limit_order(BOUNDS).prop_map(|order| {
        Command::Place(NewOrder {
            kind: OrderKind::FiveLevels,
            time_in_force: TimeInForce::Gtc,
            post_only: PostOnly::Off,
            price: Price::ZERO,
            expire_at: Timestamp::ZERO,
            ..order
        })
    })
}

/// The first instrument goes into a call or out of it, or takes an order for the next auction.
fn call_command() -> impl Strategy<Value = Command> {
    let instrument = InstrumentId(1);
    let enter = |state| Just(Command::SetInstrumentState { instrument, state });
    let order = plausible::limit_order(BOUNDS).prop_map(move |order| {
        let (time_in_force, post_only) = (TimeInForce::AtOpen, PostOnly::Off);
        Command::Place(NewOrder { instrument, time_in_force, post_only, ..order })
    });
    prop_oneof![1 => enter(InstrumentState::Call), 1 => enter(InstrumentState::Open), 2 => order]
}

/// A calendar plans, or the first instrument follows it.
fn calendar_command() -> impl Strategy<Value = Command> {
    let calendar: Name = "equities".parse().unwrap();
    let planned =
        (0..2_u32, plausible::transition(BOUNDS)).prop_map(move |(number, transition)| {
            Command::PlanTransition { calendar, number, transition }
        });
    let adopted = any::<bool>().prop_map(move |replace| Command::AdoptPlan {
        calendar,
        count: 0,
        digest: 7,
        seed: 8,
        replace,
    });
    let assigned = any::<bool>().prop_map(move |is_assigned| {
        let calendar = if is_assigned { calendar } else { Name::EMPTY };
        Command::AssignCalendar { instrument: InstrumentId(1), calendar }
    });
    let moved = (1..BOUNDS.time_max.0).prop_map(move |to| Command::MoveTransition {
        calendar,
        at: Timestamp::ZERO,
        to: Timestamp(to),
    });
    prop_oneof![3 => planned, 2 => adopted, 1 => assigned, 2 => moved]
}

/// Trading is halted for a time, or a circuit breaker is set.
fn halt_command() -> impl Strategy<Value = Command> {
    let calendar: Name = "equities".parse().unwrap();
    let instrument = InstrumentId(1);
    let scope = prop_oneof![
        2 => Just(HaltScope::Instrument(instrument)),
        1 => Just(HaltScope::Calendar(calendar)),
        1 => Just(HaltScope::Venue),
    ];
    let halted = (scope, 1..20_000_u32)
        .prop_map(|(scope, duration_ms)| Command::HaltTrading { scope, duration_ms });
    let breaker = (0..200_000_u32, 1..100_000_u32).prop_map(move |(range_ppm, halt_ms)| {
        let rule = CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms };
        Command::SetCircuitBreaker(rule)
    });
    prop_oneof![1 => halted, 1 => breaker]
}

fn run(venue: &mut Venue, steps: &[(u64, Command)], mut after: impl FnMut(&Venue)) {
    for (pause, command) in steps {
        let time = Timestamp(venue.core.time().0 + pause * Timestamp::SECOND);
        let command = by_owner(venue, command);
        venue.send(time, &command);
        after(venue);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_feed_holds_what_the_core_holds(steps in steps(), risk in any::<[bool; 2]>()) {
        let mut venue = Venue::new(FeedConfig::default());
        open_for_business(&mut venue, risk);
        run(&mut venue, &steps, Venue::compare);
    }

    #[test]
    fn beginning_with_a_snapshot_leads_to_the_same(
        before in steps(),
        after in steps(),
        risk in any::<[bool; 2]>(),
    ) {
        let mut venue = Venue::new(FeedConfig::default());
        open_for_business(&mut venue, risk);
        run(&mut venue, &before, |_| {});
        let baseline = baseline_of(&venue.core);
        let known = venue.history.len();
        run(&mut venue, &after, |_| {});

        let mut begun = Feed::from_snapshot(FeedConfig::default(), &baseline).unwrap();
        for (seq, time, events) in &venue.history[..known] {
            for event in events {
                if let Event::Trade(trade) = event {
                    begun.backfill_trade(*seq, *time, trade).unwrap();
                }
            }
        }
        for (seq, time, events) in &venue.history[known..] {
            fold(&mut begun, *seq, *time, events, &mut |_| {});
        }
        for feed in [&mut begun, &mut venue.feed] {
            refresh(feed, &mut |_| {});
        }
        assert_alike(&begun, &venue.feed, baseline.seq);
    }

    #[test]
    fn merged_deltas_have_the_effect_of_all(steps in steps(), every in 1..12_usize) {
        let mut venue = Venue::new(FeedConfig::default());
        open_for_business(&mut venue, [true, false]);
        let id = InstrumentId(1);
        let first = venue.feed.depth(id, usize::MAX).unwrap();
        let known = venue.history.len();
        run(&mut venue, &steps, |_| {});

        let mut slow = Feed::from_snapshot(FeedConfig::default(), &Default::default()).unwrap();
        let mut merger = DeltaMerger::new(1_000);
        let mut mirror = Mirror { last_seq: first.last_seq, ..Mirror::default() };
        for (index, (seq, time, events)) in venue.history.iter().enumerate() {
            fold(&mut slow, *seq, *time, events, &mut |update| match update {
                Update::Book(delta) if delta.instrument == id => merger.add(delta).unwrap(),
                _ => {}
            });
            if index >= known && index % every == 0 && let Some(delta) = merger.take() {
                mirror.apply(&delta);
            }
        }
        if let Some(delta) = merger.take() {
            mirror.apply(&delta);
        }
        mirror.assert_equals(&venue.feed.depth(id, usize::MAX).unwrap());
    }
}

/// Everything that a feed which began with a snapshot at `since` shares with one that did not.
fn assert_alike(begun: &Feed, whole: &Feed, since: Seq) {
    begun.check().unwrap();
    assert_eq!((begun.seq(), begun.time()), (whole.seq(), whole.time()));
    assert!(begun.instruments().eq(whole.instruments()));
    assert!(begun.accounts().eq(whole.accounts()));
    assert!(begun.restrictions(None).eq(whole.restrictions(None)));
    assert_eq!(begun.calendars(), whole.calendars());
    for instrument in whole.instruments().map(|instrument| instrument.id) {
        let (a, b) = (begun.order_book(instrument, 9_999), whole.order_book(instrument, 9_999));
        let (a, b) = (a.unwrap(), b.unwrap());
        assert_eq!((a.bids, a.asks), (b.bids, b.asks));
        let (a, b) = (begun.depth(instrument, 9_999), whole.depth(instrument, 9_999));
        let (a, b) = (a.unwrap(), b.unwrap());
        assert_eq!((a.bids, a.asks), (b.bids, b.asks));
        assert_eq!(begun.ticker(instrument), whole.ticker(instrument));
        assert!(begun.trades(instrument).eq(whole.trades(instrument)));
    }
    let accounts: Vec<_> = whole.accounts().map(|account| account.account).collect();
    for account in accounts.into_iter().chain([AccountId::FEES, AccountId::TRANSIT]) {
        let held = |feed: &Feed| -> Vec<_> {
            feed.balances(account).map(|b| (b.currency, b.available, b.reserved)).collect()
        };
        assert_eq!(held(begun), held(whole));
        assert!(begun.fills(account).eq(whole.fills(account)));
        let open = |feed: &Feed| -> Vec<_> {
            let orders = feed.open_orders(account);
            let of = |o: rialto_feed::OrderView| (o.order, o.terms, o.status, o.filled, o.iceberg);
            orders.map(|o| (of(o), o.trigger, o.trail)).collect()
        };
        assert_eq!(open(begun), open(whole));
        let changes = |feed: &Feed| feed.changes_since(account, since).unwrap().unwrap();
        let (a, b) = (changes(begun), changes(whole));
        assert_eq!(a.fills, b.fills);
        assert_eq!(a.balances, b.balances);
        let orders = |orders: &[rialto_feed::OrderView]| -> Vec<_> {
            orders.iter().map(|o| (o.order, o.terms, o.status, o.done, o.updated)).collect()
        };
        assert_eq!(orders(&a.orders), orders(&b.orders));
    }
}

fn limit(account: u32, side: Side, price: i64, quantity: i64) -> NewOrder {
    NewOrder::limit(AccountId(account), InstrumentId(1), side, Quantity(quantity), Price(price))
}

#[test]
fn an_order_that_trades_over_several_commands_is_followed() {
    let mut venue = Venue::new(FeedConfig::default());
    open_for_business(&mut venue, [true, true]);
    for _ in 0..600 {
        venue.send(Timestamp(1), &Command::Place(limit(1, Side::Sell, 10, 1)));
    }
    venue.apply(Timestamp(1), &Command::Place(limit(2, Side::Buy, 10, 700)));
    let open = |venue: &Venue| venue.feed.open_orders(AccountId(2)).next().unwrap();
    let order = open(&venue);
    assert!(!order.resting, "256 makers are as many as one command may touch");
    assert_eq!((order.filled, order.status), (Quantity(256), OrderStatus::PartiallyFilled));
    venue.compare();
    venue.finish();
    assert_eq!((open(&venue).filled, open(&venue).resting), (Quantity(600), true));
    venue.compare();
    venue.send(
        Timestamp(2),
        &Command::Cancel { account: AccountId(2), order: OrderRef::Id(order.order) },
    );
    venue.compare();
}

#[test]
fn orders_of_other_kinds_are_shown_alike_after_a_restart() {
    let mut venue = Venue::new(FeedConfig::default());
    open_for_business(&mut venue, [true, true]);
    let time = Timestamp(1);
    let place = |venue: &mut Venue, kind, time_in_force, name: &str| {
        venue.send(time, &Command::Place(limit(1, Side::Sell, 10, 1)));
        let order = NewOrder {
            kind,
            time_in_force,
            minimum_quantity: Quantity(1),
            client_order_id: name.parse().unwrap(),
            ..limit(2, Side::Buy, 0, 3)
        };
        venue.send(time, &Command::Place(order));
    };
    place(&mut venue, OrderKind::BestPrice, TimeInForce::Gtc, "ends");
    let ends = venue.feed.open_orders(AccountId(2)).next().unwrap();
    assert_eq!((ends.filled, ends.resting), (Quantity(1), true));
    let order = OrderRef::Id(ends.order);
    venue.send(time, &Command::Cancel { account: AccountId(2), order });
    place(&mut venue, OrderKind::FiveLevels, TimeInForce::Ioc, "at-once");
    place(&mut venue, OrderKind::Market, TimeInForce::Gtc, "rests");
    venue.compare();
    let begun = Feed::from_snapshot(FeedConfig::default(), &baseline_of(&venue.core)).unwrap();
    let terms = |feed: &Feed| -> Vec<NewOrder> {
        let (open, ended) = (feed.open_orders(AccountId(2)), feed.ended_orders(AccountId(2)));
        open.chain(ended).map(|order| order.terms).collect()
    };
    let shown = terms(&venue.feed);
    assert_eq!(terms(&begun), shown);
    let kinds: Vec<_> = shown.iter().map(|terms| terms.kind).collect();
    assert_eq!(kinds, [OrderKind::Limit, OrderKind::FiveLevels, OrderKind::Limit]);
}

#[test]
fn a_mass_cancel_over_several_commands_is_followed() {
    let mut venue = Venue::new(FeedConfig::default());
    open_for_business(&mut venue, [true, true]);
    for number in 0..600 {
        venue.send(Timestamp(1), &Command::Place(limit(1, Side::Sell, 10 + number % 7, 1)));
    }
    let all = MassCancel { account: AccountId(1), instrument: None, side: None };
    venue.send(Timestamp(1), &Command::MassCancel(all));
    venue.compare();
    venue.finish();
    venue.compare();
    assert_eq!(venue.feed.open_orders(AccountId(1)).count(), 0);
    assert_eq!(venue.feed.ended_orders(AccountId(1)).count(), 600);
}

/// Random tests prove little if they never reach what matters.
#[test]
fn the_random_commands_reach_every_event_that_moves_something() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..200 {
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let mut venue = Venue::new(FeedConfig::default());
        open_for_business(&mut venue, [true, true]);
        run(&mut venue, &steps, |venue| {
            for view in venue.core.instruments() {
                let is_covered = view.instrument.state.may_be_crossed();
                let depth = venue.feed.depth(view.instrument.id, 1).unwrap();
                let kind = match view.auction_rules.call_depth {
                    CallDepth::Hidden if is_covered => "hidden book",
                    CallDepth::Indicative if is_covered && !depth.bids.is_empty() => {
                        "indicative level"
                    }
                    _ => continue,
                };
                *seen.entry(kind).or_insert(0_u32) += 1;
            }
        });
        for kind in iceberg_changes(&venue).into_iter().chain(amendments(&venue)) {
            *seen.entry(kind).or_insert(0_u32) += 1;
        }
        for event in venue.history.iter().flat_map(|(_, _, events)| events) {
            let kind = match event {
                Event::Accepted(accepted) => match (accepted.rests, accepted.terms.size) {
                    (true, _) => "accepted and resting",
                    (false, OrderSize::Base(_)) => "accepted",
                    (false, OrderSize::Quote(_)) => "accepted in quote",
                },
                Event::Rested(_) => "rested",
                Event::Trade(trade) if trade.maker_fee.0 < 0 => "trade with rebate",
                Event::Trade(trade) if trade.auction => "trade of an auction",
                Event::Trade(_) => "trade",
                Event::Done(done) => match done.reason {
                    DoneReason::Cancelled => "cancelled",
                    DoneReason::Remainder => "remainder",
                    DoneReason::SelfTrade => "self-trade",
                    DoneReason::MassCancelled => "mass-cancelled",
                    DoneReason::Expired => "expired",
                    DoneReason::Disconnected => "disconnected",
                    DoneReason::DeadMan => "dead-man",
                    DoneReason::InstrumentClosed => "closed",
                    DoneReason::QuoteSpent => "quote spent",
                    DoneReason::AuctionEnded => "auction ended",
                    DoneReason::Restricted => "restricted",
                    DoneReason::Refused => "refused",
                    DoneReason::Linked => "ended by a linked order",
                },
                Event::Reduced(reduced) => match reduced.reason {
                    ReduceReason::Amended => "reduced",
                    ReduceReason::SelfTrade => "decremented",
                },
                Event::Amended(_) => "amended",
                Event::Deposited { .. } => "deposited",
                Event::Withdrawn { .. } => "withdrawn",
                Event::RulesSet { .. } => "rules set",
                Event::InstrumentStateSet { .. } => "state set",
                Event::DeadManSet { .. } => "dead-man set",
                Event::AuctionRulesSet { .. } => "auction rules set",
                Event::Uncrossed(_) => "uncrossed",
                Event::Interrupted(_) => "interrupted",
                Event::Restricted(_) => "restriction set",
                Event::TransitionPlanned { .. } => "transition planned",
                Event::PlanAdopted { .. } => "plan adopted",
                Event::CalendarAssigned { .. } => "calendar assigned",
                Event::TransitionMoved { .. } => "transition moved",
                Event::TransitionBegun { .. } => "transition begun",
                Event::TradingHalted(halted) => match halted.cause {
                    HaltCause::Operator => "halted by an operator",
                    HaltCause::CircuitBreaker => "halted by a circuit breaker",
                    HaltCause::LimitState => "halted at a limit",
                },
                Event::CircuitBreakerSet(_) => "circuit breaker set",
                Event::LimitStateSet { .. } => "limit state set",
                Event::TriggerSet(_) => "trigger set",
                Event::Triggered(_) => "triggered",
                Event::IcebergSet(_) => "iceberg set",
                Event::IcebergRefreshed(_) => "iceberg refreshed",
                Event::ExitsSet(_) => "exits set",
                Event::OrdersLinked(_) => "orders linked",
                Event::ExitsRefused(_) => "exits refused",
                Event::ContractTermsSet { .. } => "contract terms set",
                _ => continue,
            };
            *seen.entry(kind).or_insert(0_u32) += 1;
        }
    }
    assert_eq!(seen.len(), 59, "{seen:#?}");
}

/// What was amended that is not on the book.
fn amendments(venue: &Venue) -> Vec<&'static str> {
    let (mut waiting, mut entries) = (BTreeSet::new(), BTreeSet::new());
    let mut changes = Vec::new();
    for (_, _, events) in &venue.history {
        let mut takers = BTreeSet::new();
        for event in events {
            match event {
                Event::TriggerSet(it) if !waiting.insert(it.order) => {
                    changes.push("trigger price amended");
                }
                Event::Triggered(it) => {
                    waiting.remove(&it.order);
                }
                Event::Amended(it) if waiting.contains(&it.order) => {
                    changes.push("waiting order amended");
                }
                Event::Trade(it) => {
                    takers.insert(it.taker_order);
                }
                Event::Amended(it) if takers.contains(&it.order) => {
                    changes.push("rest of five levels moved");
                }
                Event::ExitsSet(it) if !entries.insert(it.order) => changes.push("exits amended"),
                _ => {}
            }
        }
    }
    changes
}

/// What happened to icebergs that events of other orders have too.
fn iceberg_changes(venue: &Venue) -> Vec<&'static str> {
    let mut icebergs = BTreeSet::new();
    let mut changes = Vec::new();
    for (_, _, events) in &venue.history {
        let rested =
            |id| events.iter().any(|event| matches!(event, Event::Rested(it) if it.order == id));
        for event in events {
            match event {
                Event::IcebergSet(set) => {
                    icebergs.insert(set.order);
                }
                Event::Amended(it) if icebergs.contains(&it.order) && !rested(it.order) => {
                    changes.push("iceberg enlarged in its place");
                }
                Event::Reduced(it) if icebergs.contains(&it.order) => {
                    changes.push("iceberg reduced");
                }
                Event::Trade(it) if it.auction => {
                    let traded = [it.maker_order, it.taker_order];
                    if traded.iter().any(|order| icebergs.contains(order)) {
                        changes.push("iceberg in an auction");
                    }
                }
                _ => {}
            }
        }
    }
    changes
}
