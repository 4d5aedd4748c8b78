//! What is published of a call, as the page says.

use crate::venue::{Venue, refresh};
use rialto_feed::{FeedConfig, PriceLevel};
use rialto_model::*;

const PAGE: &str = include_str!("../../../../docs/rules/call-depth.md");
const SPOT: InstrumentId = InstrumentId(1);

/// Levels such as `5@101 3@99`: quantity and price.
fn levels(cell: &str) -> Vec<(i64, i64)> {
    let level = |text: &str| {
        let (quantity, price) = text.split_once('@')?;
        Some((quantity.parse().unwrap(), price.parse().unwrap()))
    };
    cell.split_whitespace().filter_map(level).collect()
}

fn told(levels: &[PriceLevel]) -> Vec<(i64, i64)> {
    levels.iter().map(|level| (level.quantity.0, level.price.0)).collect()
}

fn send(venue: &mut Venue, command: &Command) {
    let outcome = venue.send(Timestamp(1), command);
    assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
}

/// An instrument in a call of this depth, with orders of two members.
fn in_call(call_depth: CallDepth, buys: &[(i64, i64)], sells: &[(i64, i64)]) -> Venue {
    let mut venue = Venue::new(FeedConfig::default());
    let scale = Scale::new(0).unwrap();
    for code in ["BASE", "QUOTE"] {
        send(&mut venue, &Command::CreateCurrency { code: code.parse().unwrap(), scale });
    }
    let rules = TradingRules { risk: false, ..TradingRules::unrestrained() };
    let spec = InstrumentSpec {
        symbol: "S".parse().unwrap(),
        kind: InstrumentKind::Spot,
        base: CurrencyId(1),
        quote: CurrencyId(2),
        price_scale: scale,
        quantity_scale: scale,
        rules,
    };
    send(&mut venue, &Command::CreateInstrument(spec));
    for number in 1..=2 {
        let name = "m".parse().unwrap();
        send(&mut venue, &Command::CreateMember { member: MemberId(number), name });
        let (account, member) = (AccountId(number), MemberId(number));
        send(&mut venue, &Command::CreateAccount { account, member, name });
    }
    let rules = AuctionRules { call_depth, ..AuctionRules::PLAIN };
    send(&mut venue, &Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
    set_state(&mut venue, InstrumentState::Call);
    for (account, side, orders) in [(1, Side::Buy, buys), (2, Side::Sell, sells)] {
        for (quantity, price) in orders {
            let (quantity, price) = (Quantity(*quantity), Price(*price));
            let order = NewOrder::limit(AccountId(account), SPOT, side, quantity, price);
            send(&mut venue, &Command::Place(order));
        }
    }
    show(&mut venue);
    venue
}

fn set_state(venue: &mut Venue, state: InstrumentState) {
    send(venue, &Command::SetInstrumentState { instrument: SPOT, state });
    venue.finish();
}

/// Publishes the indicative price; the book that a client keeps is then that of the feed.
fn show(venue: &mut Venue) {
    let Venue { feed, mirrors, .. } = venue;
    refresh(feed, &mut |update| {
        if let rialto_feed::Update::Book(delta) = update {
            mirrors.get_mut(&delta.instrument).unwrap().apply(delta);
        }
    });
    venue.compare();
    assert_eq!(venue.mirrors[&SPOT].never_there, []);
}

#[test]
fn the_published_levels_are_those_of_the_page() {
    let mut checked = 0;
    for line in PAGE.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some(mode) = CallDepth::from_name(cells[0].trim_matches('`')) else { continue };
        let venue = in_call(mode, &levels(cells[1]), &levels(cells[2]));
        let depth = venue.feed.depth(SPOT, 99).unwrap();
        let published = (told(&depth.bids), told(&depth.asks));
        assert_eq!(published, (levels(cells[3]), levels(cells[4])), "{line}");
        checked += 1;
    }
    assert_eq!(checked, 6);
}

#[test]
fn what_is_left_of_an_auction_is_published_when_trading_begins() {
    for mode in CallDepth::ALL {
        let mut venue = in_call(*mode, &[(5, 101), (3, 99)], &[(4, 100), (2, 103)]);
        set_state(&mut venue, InstrumentState::Open);
        show(&mut venue);
        let depth = venue.feed.depth(SPOT, 99).unwrap();
        assert_eq!(told(&depth.bids), [(1, 101), (3, 99)], "{mode:?}");
        assert_eq!(told(&depth.asks), [(2, 103)], "{mode:?}");
    }
}

/// Publishes the changes of all these commands together, as a feed does that has fallen behind.
fn send_together(venue: &mut Venue, commands: &[Command]) {
    let Venue { core, feed, mirrors, .. } = venue;
    let mut hear = |update: rialto_feed::Update<'_>| {
        if let rialto_feed::Update::Book(delta) = update {
            mirrors.get_mut(&delta.instrument).unwrap().apply(delta);
        }
    };
    for command in commands {
        let mut events = Vec::new();
        let (seq, time) = (core.seq().next(), core.time());
        let outcome = core.apply(seq, time, command, &mut events);
        assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
        events.iter().for_each(|event| feed.fold(seq, time, event, &mut hear).unwrap());
    }
    feed.end_of(core.seq(), core.time(), &mut hear).unwrap();
}

#[test]
fn no_price_of_a_hidden_call_is_published_as_removed() {
    let state = |state| Command::SetInstrumentState { instrument: SPOT, state };
    let buy = |quantity, price| {
        let (quantity, price) = (Quantity(quantity), Price(price));
        Command::Place(NewOrder::limit(AccountId(1), SPOT, Side::Buy, quantity, price))
    };
    let sell = NewOrder::limit(AccountId(2), SPOT, Side::Sell, Quantity(7), Price(97));
    for mode in CallDepth::ALL {
        let mut venue = in_call(*mode, &[(5, 101)], &[(2, 103)]);
        set_state(&mut venue, InstrumentState::Open);
        show(&mut venue);
        // The call begins, and its orders come, before anything is published.
        let begun = [state(InstrumentState::Call), buy(7, 98), Command::Place(sell)];
        send_together(&mut venue, &begun);
        show(&mut venue);
        send_together(&mut venue, &[state(InstrumentState::Open)]);
        venue.finish();
        show(&mut venue);
        // A call that begins and ends before anything is published.
        send_together(&mut venue, &[state(InstrumentState::Call), buy(3, 96)]);
        send_together(&mut venue, &[state(InstrumentState::Halted), state(InstrumentState::Call)]);
        set_state(&mut venue, InstrumentState::Open);
        show(&mut venue);
        let depth = venue.feed.depth(SPOT, 99).unwrap();
        assert_eq!(told(&depth.bids), [(5, 98), (3, 96)], "{mode:?}");
        assert_eq!(told(&depth.asks), [(2, 103)], "{mode:?}");
    }
}

#[test]
fn a_change_of_the_depth_takes_effect_in_the_call() {
    let mut venue = in_call(CallDepth::Full, &[(5, 101), (3, 99)], &[(4, 100)]);
    let published = |venue: &mut Venue, call_depth| {
        let rules = AuctionRules { call_depth, ..AuctionRules::PLAIN };
        send(venue, &Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
        venue.compare();
        show(venue);
        told(&venue.feed.depth(SPOT, 99).unwrap().bids)
    };
    assert_eq!(published(&mut venue, CallDepth::Hidden), []);
    assert_eq!(published(&mut venue, CallDepth::Indicative), [(5, 101)]);
    assert_eq!(published(&mut venue, CallDepth::Hidden), []);
    assert_eq!(published(&mut venue, CallDepth::Full), [(5, 101), (3, 99)]);
    set_state(&mut venue, InstrumentState::Halted);
    assert_eq!(published(&mut venue, CallDepth::Indicative), []);
}

#[test]
fn the_public_learns_nothing_of_orders_that_do_not_move_the_price() {
    let mut venue = in_call(CallDepth::Indicative, &[(5, 101)], &[(4, 100)]);
    let before = venue.mirrors[&SPOT].last_seq;
    let order = |price| NewOrder::limit(AccountId(2), SPOT, Side::Sell, Quantity(7), Price(price));
    for price in [150, 160] {
        send(&mut venue, &Command::Place(order(price)));
        show(&mut venue);
    }
    assert_eq!(venue.mirrors[&SPOT].last_seq, before);
}

/// As docs/rules/icebergs.md says: the indicative levels count what is hidden, the depth does not.
#[test]
fn an_iceberg_shows_what_the_depth_of_the_call_lets_it() {
    for (mode, bids, asks) in [
        (CallDepth::Full, vec![(2, 101), (3, 99)], vec![(4, 100)]),
        (CallDepth::Indicative, vec![(9, 101)], vec![(4, 101)]),
        (CallDepth::Hidden, vec![], vec![]),
    ] {
        let mut venue = in_call(mode, &[], &[(4, 100)]);
        let buy = |quantity, price| {
            let (quantity, price) = (Quantity(quantity), Price(price));
            NewOrder::limit(AccountId(1), SPOT, Side::Buy, quantity, price)
        };
        let (terms, display_quantity) = (buy(9, 101), Quantity(2));
        send(&mut venue, &Command::PlaceIceberg(IcebergOrder { terms, display_quantity }));
        send(&mut venue, &Command::Place(buy(3, 99)));
        show(&mut venue);
        let depth = venue.feed.depth(SPOT, 99).unwrap();
        assert_eq!((told(&depth.bids), told(&depth.asks)), (bids, asks), "{mode:?}");
    }
}
