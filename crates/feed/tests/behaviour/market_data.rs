//! Market data: deltas, best prices, trades and tickers.

use crate::stage::*;
use rialto_feed::FeedConfig;
use rialto_model::*;

/// Alice sells and Bob buys `quantity` at `price`, in one command.
fn deal(stage: &mut Stage, price: i64, quantity: i64) -> Updates {
    let maker = stage.rest(ALICE, Side::Sell, price, quantity);
    let all = reserve(Side::Buy, price, quantity);
    let taker = maker + 1_000_000;
    let event = trade((maker, ALICE), (taker, BOB), Side::Buy, (price, quantity), (0, 0), all);
    stage.step(&[accepted(taker, BOB, Side::Buy, price, quantity, false), Event::Trade(event)])
}

#[test]
fn deltas_follow_one_another() {
    let mut stage = Stage::new();
    let order = stage.rest(ALICE, Side::Buy, 100, 50);
    let first = stage.feed.seq();
    stage.step(&[Event::Ticked]);
    let told = stage.step(&[cancelled(order, ALICE, Side::Buy, 100, 50)]);
    let delta = &told.books[0];
    assert_eq!((delta.prev_seq, delta.first_seq), (first, stage.feed.seq()));
    assert_eq!((delta.bids[0].quantity, delta.bids[0].orders), (Quantity(0), 0));
    assert_eq!(stage.feed.depth(MARKET, 5).unwrap().last_seq, delta.last_seq);
}

#[test]
fn depth_is_cut_where_asked() {
    let mut stage = Stage::new();
    for price in [100, 98, 99] {
        stage.rest(ALICE, Side::Buy, price, 50);
    }
    let depth = stage.feed.depth(MARKET, 2).unwrap();
    assert_eq!(depth.bids.iter().map(|l| l.price.0).collect::<Vec<_>>(), [100, 99]);
    assert_eq!(stage.feed.order_book(MARKET, 1).unwrap().bids.len(), 1);
    assert_eq!(stage.feed.depth(InstrumentId(9), 2), None);
}

#[test]
fn best_prices_are_published_when_they_change() {
    let mut stage = Stage::new();
    let told = stage.step(&[accepted(80, ALICE, Side::Buy, 100, 50, true)]);
    assert_eq!(told.bests[0].bid.map(|level| level.price), Some(Price(100)));
    let told = stage.step(&[accepted(81, ALICE, Side::Buy, 99, 50, true)]);
    assert_eq!((told.bests.len(), told.books.len()), (0, 1));
    let told = stage.step(&[accepted(82, ALICE, Side::Buy, 100, 7, true)]);
    assert_eq!(told.bests[0].bid.map(|level| level.quantity), Some(Quantity(57)));
}

#[test]
fn the_last_trades_are_kept_newest_first() {
    let config = FeedConfig { trades_per_instrument: 2, ..FeedConfig::default() };
    let mut stage = Stage::with(config, true);
    for price in [100, 101, 102] {
        deal(&mut stage, price, 10);
    }
    let prices: Vec<_> = stage.feed.trades(MARKET).map(|trade| trade.price.0).collect();
    assert_eq!(prices, [102, 101]);
    assert_eq!(stage.feed.trades(MARKET).next().unwrap().taker_side, Side::Buy);
}

#[test]
fn the_ticker_sums_up_the_window() {
    let mut stage = Stage::new();
    for price in [100, 130, 90] {
        deal(&mut stage, price, 10);
    }
    let ticker = stage.feed.ticker(MARKET).unwrap();
    assert_eq!((ticker.open, ticker.last), (Some(Price(100)), Some(Price(90))));
    assert_eq!((ticker.high, ticker.low), (Some(Price(130)), Some(Price(90))));
    assert_eq!((ticker.change, ticker.trades), (Some(Price(-10)), 3));
    assert_eq!((ticker.base_volume, ticker.quote_volume), (Amount(300_000), Amount(3_200)));
}

#[test]
fn the_window_slides_as_time_passes_without_trades() {
    let mut stage = Stage::new();
    deal(&mut stage, 100, 10);
    stage.time += 5 * MINUTE;
    deal(&mut stage, 90, 10);
    stage.time += 24 * 60 * MINUTE - 5 * MINUTE;
    let told = stage.step(&[Event::Ticked]);
    assert_eq!((told.tickers[0].open, told.tickers[0].trades), (Some(Price(90)), 1));
    stage.time += 5 * MINUTE;
    let told = stage.step(&[Event::Ticked]);
    let ticker = told.tickers[0];
    assert_eq!((ticker.open, ticker.trades, ticker.last), (None, 0, Some(Price(90))));
    assert_eq!((ticker.change, ticker.quote_volume), (None, Amount(0)));
}

#[test]
fn a_halt_is_published_and_visible() {
    let mut stage = Stage::new();
    let state = InstrumentState::Halted;
    let told = stage.step(&[Event::InstrumentStateSet { instrument: MARKET, state }]);
    assert_eq!(told.instruments[0].state, state);
    let symbol = "BTC-USD".parse().unwrap();
    assert_eq!(stage.feed.instrument_by_symbol(&symbol).unwrap().state, state);
}

#[test]
fn new_rules_are_published_and_visible() {
    let mut stage = Stage::new();
    let rules = TradingRules { tick: Price(5), ..spec(true).rules };
    let told = stage.step(&[Event::RulesSet { instrument: MARKET, rules }]);
    assert_eq!(told.instruments[0].spec.rules.tick, Price(5));
    assert_eq!(stage.feed.instrument(MARKET).unwrap().spec.rules, rules);
}
