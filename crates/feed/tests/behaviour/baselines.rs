//! Beginning with a baseline and continuing is the same as folding everything.

use crate::stage::*;
use rialto_feed::{
    Baseline, BaselineAccount, BaselineBalance, BaselineEnded, BaselineInstrument, BaselineOrder,
    Feed, FeedConfig, FoldError, Moment,
};
use rialto_model::*;

/// Two orders on each side of which one is partly filled, a trade between Alice and Bob, and a
/// calendar with a plan that is not adopted.
fn history() -> Stage {
    let mut stage = Stage::new();
    stage.rest(ALICE, Side::Buy, 90, 5);
    stage.rest(BOB, Side::Buy, 90, 7);
    stage.rest(ALICE, Side::Sell, 110, 9);
    let maker = stage.rest(ALICE, Side::Sell, 100, 30);
    let all = reserve(Side::Buy, 100, 10);
    let deal = trade((maker, ALICE), (90, BOB), Side::Buy, (100, 10), (20, 0), all);
    stage.step(&[accepted(90, BOB, Side::Buy, 100, 10, false), Event::Trade(deal)]);
    let calendar = "equities".parse().unwrap();
    let planned = |number, at| {
        let transition = PlannedTransition::plain(Timestamp(at), InstrumentState::Closed);
        Event::TransitionPlanned { calendar, number, transition }
    };
    let adopted = Event::PlanAdopted { calendar, count: 2, digest: 7, replace: true };
    let assigned = Event::CalendarAssigned { instrument: MARKET, calendar };
    for event in [planned(0, 10), planned(1, 20), adopted, assigned, planned(0, 30)] {
        stage.step(&[event]);
    }
    stage
}

/// What a snapshot of the engine at this point would say.
fn baseline_of(feed: &Feed) -> Baseline {
    let house = [AccountId::FEES, AccountId::TRANSIT];
    let accounts: Vec<_> = feed.accounts().collect();
    let holders = accounts.iter().map(|account| account.account).chain(house);
    let balances = holders.flat_map(|account| feed.balances(account)).map(|b| BaselineBalance {
        account: b.account,
        currency: b.currency,
        available: b.available,
        reserved: b.reserved,
    });
    let book = feed.order_book(MARKET, usize::MAX).unwrap();
    let orders = book.bids.iter().chain(&book.asks).map(|public| {
        let order = feed.order(public.order).unwrap();
        BaselineOrder {
            order: order.order,
            terms: order.terms,
            quantity: order.quantity,
            filled: order.filled,
            remaining: order.remaining,
            reserved: order.reserved,
            resting: true,
            trigger: None,
            trail: None,
            iceberg: order.iceberg,
            links: order.links,
        }
    });
    Baseline {
        seq: feed.seq(),
        time: feed.time(),
        currencies: feed.currencies().to_vec(),
        instruments: feed
            .instruments()
            .map(|instrument| BaselineInstrument {
                instrument: instrument.id,
                spec: instrument.spec,
                state: instrument.state,
                last_price: feed.ticker(instrument.id).unwrap().last,
                auction_rules: *feed.auction_rules(instrument.id).unwrap(),
                terms: *feed.terms(instrument.id).unwrap(),
                auction_price: feed.auction(instrument.id).unwrap().last.map(|it| it.price),
                calendar: feed.calendar_of(instrument.id).unwrap_or_default(),
                halted_until: feed.auction(instrument.id).unwrap().halted_until,
                limit_state: feed.auction(instrument.id).unwrap().limit_state,
            })
            .collect(),
        members: feed.members().copied().collect(),
        accounts: accounts
            .iter()
            .map(|account| BaselineAccount {
                account: account.account,
                member: account.member,
                name: account.name,
                dead_man: account.dead_man.unwrap_or(Timestamp::MAX),
            })
            .collect(),
        balances: balances.collect(),
        orders: orders.collect(),
        ended: Vec::new(),
        withdrawals: Vec::new(),
        restrictions: feed.restrictions(None).collect(),
        calendars: feed.calendars().to_vec(),
    }
}

#[test]
fn a_baseline_holds_what_was_folded() {
    let whole = history();
    let begun = Feed::from_snapshot(FeedConfig::default(), &baseline_of(&whole.feed)).unwrap();
    begun.check().unwrap();
    assert_eq!(baseline_of(&begun), baseline_of(&whole.feed));
    assert_eq!(begun.seq(), whole.feed.seq());
    let open: Vec<_> = begun.open_orders(ALICE).map(|order| order.order).collect();
    assert_eq!(open, whole.feed.open_orders(ALICE).map(|order| order.order).collect::<Vec<_>>());
}

#[test]
fn the_events_after_a_baseline_lead_to_the_same() {
    let mut whole = history();
    let mut begun = Stage::bare(FeedConfig::default());
    begun.feed = Feed::from_snapshot(FeedConfig::default(), &baseline_of(&whole.feed)).unwrap();
    let maker = whole.feed.order_book(MARKET, 1).unwrap().asks[0].order.counter();
    let all = reserve(Side::Buy, 100, 20);
    let deal = trade((maker, ALICE), (91, BOB), Side::Buy, (100, 20), (0, 0), all);
    let events = [accepted(91, BOB, Side::Buy, 100, 20, false), Event::Trade(deal)];
    let told = [whole.step(&events), begun.step(&events)];
    assert_eq!(baseline_of(&begun.feed), baseline_of(&whole.feed));
    assert_eq!(told[0].books[0].asks, told[1].books[0].asks);
    assert_eq!(told[0].balances, told[1].balances);
}

#[test]
fn an_iceberg_goes_on_displaying_what_it_displayed() {
    let mut whole = history();
    let iceberg = whole.iceberg(105, 1_000, 100);
    whole.take(iceberg, 91, 105, 30, 970);
    let mut begun = Stage::bare(FeedConfig::default());
    begun.feed = Feed::from_snapshot(FeedConfig::default(), &baseline_of(&whole.feed)).unwrap();
    begun.feed.check().unwrap();
    assert_eq!(begun.depth(), whole.depth());
    assert_eq!(begun.depth()[1][1], (105, 70, 1));
    for stage in [&mut begun, &mut whole] {
        let mut events = stage.taking(iceberg, 92, 105, 80, 890);
        events.push(refreshed(iceberg, 105, 90));
        stage.step(&events);
    }
    assert_eq!(begun.depth()[1][1], (105, 90, 1));
    assert_eq!(baseline_of(&begun.feed), baseline_of(&whole.feed));
}

#[test]
fn a_baseline_is_not_published_again() {
    let whole = history();
    let mut begun = Stage::bare(FeedConfig::default());
    begun.feed = Feed::from_snapshot(FeedConfig::default(), &baseline_of(&whole.feed)).unwrap();
    let told = begun.step(&[Event::Ticked]);
    assert!(told.books.is_empty() && told.balances.is_empty() && told.orders.is_empty());
    let told = begun.step(&[accepted(91, BOB, Side::Buy, 50, 20, true)]);
    assert_eq!((told.books.len(), told.bests.len()), (1, 0));
    assert_eq!(told.books[0].prev_seq, whole.feed.seq());
}

#[test]
fn older_trades_fill_in_history_only() {
    let whole = history();
    let baseline = baseline_of(&whole.feed);
    let mut begun = Feed::from_snapshot(FeedConfig::default(), &baseline).unwrap();
    for (seq, time, events) in &whole.history {
        for event in events {
            if let Event::Trade(trade) = event {
                begun.backfill_trade(*seq, *time, trade).unwrap();
            }
        }
    }
    assert_eq!(begun.ticker(MARKET), whole.feed.ticker(MARKET));
    assert!(begun.trades(MARKET).eq(whole.feed.trades(MARKET)));
    for account in [ALICE, BOB] {
        assert!(begun.fills(account).eq(whole.feed.fills(account)));
        assert!(begun.fills(account).count() > 0);
    }
    assert_eq!(baseline_of(&begun), baseline);
}

#[test]
fn trades_older_than_a_day_do_not_change_the_ticker() {
    let mut whole = history();
    let day = 24 * 60 * MINUTE;
    whole.time += day;
    whole.step(&[Event::Ticked]);
    let mut begun = Feed::from_snapshot(FeedConfig::default(), &baseline_of(&whole.feed)).unwrap();
    let deal = trade((1, ALICE), (2, BOB), Side::Buy, (100, 10), (20, 0), Amount(0));
    begun.backfill_trade(Seq(1), Timestamp(SECOND), &deal).unwrap();
    assert_eq!(begun.ticker(MARKET).unwrap().trades, 0);
    assert_eq!(begun.trades(MARKET).count(), 1);
}

#[test]
fn history_precedes_the_first_event() {
    let mut stage = history();
    let deal = trade((1, ALICE), (2, BOB), Side::Buy, (100, 10), (20, 0), Amount(0));
    let refused = stage.feed.backfill_trade(Seq(1), Timestamp(SECOND), &deal);
    assert!(matches!(refused, Err(FoldError::OutOfOrder { .. })));
    let baseline = baseline_of(&stage.feed);
    let mut begun = Feed::from_snapshot(FeedConfig::default(), &baseline).unwrap();
    let later = baseline.seq.next();
    assert!(begun.backfill_trade(later, Timestamp(SECOND), &deal).is_err());
    assert!(begun.backfill_trade(baseline.seq, Timestamp(SECOND), &deal).is_ok());
}

#[test]
fn the_history_before_a_baseline_is_empty() {
    let whole = history();
    let baseline = baseline_of(&whole.feed);
    let begun = Feed::from_snapshot(FeedConfig::default(), &baseline).unwrap();
    assert!(begun.changes_since(ALICE, Seq(baseline.seq.0 - 1)).is_err());
    assert!(begun.changes_since(ALICE, baseline.seq).is_ok());
    let partly = begun.open_orders(ALICE).find(|order| order.filled > Quantity(0)).unwrap();
    assert_eq!((partly.status, partly.filled_notional), (OrderStatus::PartiallyFilled, None));
}

#[test]
fn an_order_that_is_still_coming_in_is_open_but_not_on_the_book() {
    let mut baseline = baseline_of(&history().feed);
    baseline.orders[0].resting = false;
    let begun = Feed::from_snapshot(FeedConfig::default(), &baseline).unwrap();
    begun.check().unwrap();
    let order = begun.order(baseline.orders[0].order).unwrap();
    assert!(order.status.is_open() && !order.resting);
    assert_eq!(begun.depth(MARKET, 9).unwrap().bids[0].quantity, Quantity(7));
}

#[test]
fn a_baseline_brings_back_the_ended_orders_that_have_names() {
    let mut baseline = baseline_of(&history().feed);
    let order = |number: u64, name: &str, done, filled, remaining| BaselineEnded {
        order: order_id(number),
        terms: NewOrder {
            client_order_id: name.parse().unwrap(),
            ..terms(ALICE, Side::Buy, 100, filled + remaining)
        },
        done,
        filled: Quantity(filled),
        remaining: Quantity(remaining),
        ended: Moment { seq: Seq(number), time: Timestamp(number) },
    };
    baseline.ended = vec![
        order(3, "filled", None, 7, 0),
        order(2, "cancelled", Some(DoneReason::Cancelled), 2, 3),
        order(1, "expired", Some(DoneReason::Expired), 0, 4),
    ];
    let begun = Feed::from_snapshot(FeedConfig::default(), &baseline).unwrap();
    begun.check().unwrap();
    let found = |name: &str| begun.order_by_client_id(ALICE, name.parse().unwrap()).unwrap();
    let told = |name: &str| {
        let view = found(name);
        (view.status, view.filled.0, view.remaining.0, view.quantity.0, view.filled_notional)
    };
    assert_eq!(told("filled"), (OrderStatus::Filled, 7, 0, 7, None));
    assert_eq!(told("cancelled"), (OrderStatus::Cancelled, 2, 3, 5, None));
    assert_eq!(told("expired"), (OrderStatus::Expired, 0, 4, 4, Some(Amount::ZERO)));
    assert_eq!(found("expired").updated.seq, Seq(1));
    let listed: Vec<_> = begun.ended_orders(ALICE).map(|order| order.order).collect();
    assert_eq!(listed, [3, 2, 1].map(order_id));
    assert!(begun.changes_since(ALICE, baseline.seq).unwrap().unwrap().orders.is_empty());

    let two = FeedConfig { ended_orders: 2, ..FeedConfig::default() };
    let begun = Feed::from_snapshot(two, &baseline).unwrap();
    assert!(begun.order(order_id(1)).is_none() && begun.order(order_id(2)).is_some());
    baseline.ended.push(baseline.ended[0].clone());
    assert!(Feed::from_snapshot(two, &baseline).is_err(), "an order ends once");
}

#[test]
fn a_baseline_that_names_what_it_does_not_have_is_refused() {
    let sound = baseline_of(&history().feed);
    let spoil = |change: fn(&mut Baseline)| {
        let mut baseline = sound.clone();
        change(&mut baseline);
        Feed::from_snapshot(FeedConfig::default(), &baseline).unwrap_err()
    };
    let error = spoil(|baseline| baseline.orders[0].terms.account = AccountId(99));
    assert!(matches!(error, FoldError::UnknownAccount { .. }), "{error}");
    let error = spoil(|baseline| baseline.orders.push(baseline.orders[0].clone()));
    assert!(matches!(error, FoldError::Mismatch { .. }), "{error}");
    let error = spoil(|baseline| baseline.balances[0].currency = CurrencyId(9));
    assert!(matches!(error, FoldError::UnknownCurrency { .. }), "{error}");
    let error = spoil(|baseline| baseline.currencies.swap(0, 1));
    assert!(matches!(error, FoldError::NumberTaken { .. }), "{error}");
    let error = spoil(|baseline| baseline.members.clear());
    assert!(matches!(error, FoldError::UnknownMember { .. }), "{error}");
}

/// A trade of a time when the instrument's risk was off carries no notional; what it was worth
/// counts all the same after risk was switched on.
#[test]
fn a_trade_without_a_notional_counts_by_price_and_quantity() {
    let stage = history();
    let baseline = baseline_of(&stage.feed);
    let (maker, all) = (80, reserve(Side::Buy, 100, 10));
    let mut deal = trade((maker, ALICE), (90, BOB), Side::Buy, (100, 10), (20, 0), all);
    let worth = deal.notional;
    assert!(worth > Amount::ZERO);
    deal.notional = Amount::ZERO;
    let mut begun = Feed::from_snapshot(FeedConfig::default(), &baseline).unwrap();
    begun.backfill_trade(baseline.seq, baseline.time, &deal).unwrap();
    assert_eq!(begun.ticker(MARKET).unwrap().quote_volume, worth);
}
