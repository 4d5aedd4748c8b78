//! An auction of very many orders, whose outcome is known beforehand.

use crate::venue::*;
use rialto_core::EVENTS_PER_COMMAND;
use rialto_model::{Command, Event, InstrumentState, OrderId, Side, TradingRules, Uncrossed};

/// Orders for one unit each at each of 100 prices of a side.
const AT_EACH_PRICE: i64 = 5_000;
/// Further sells, at their lowest price.
const MORE: i64 = AT_EACH_PRICE / 2;

/// What the commands of an auction published.
#[derive(Debug, Default, PartialEq, Eq)]
struct Published {
    uncrossed: Vec<(i64, i64, i64)>,
    trades: i64,
    volume: i64,
}

impl Published {
    fn add(&mut self, events: &[Event], price: i64) {
        assert!(events.len() <= EVENTS_PER_COMMAND, "{} events", events.len());
        for event in events {
            match event {
                Event::Uncrossed(Uncrossed { price, volume, surplus, .. }) => {
                    self.uncrossed.push((price.0, volume.0, surplus.0));
                }
                Event::Trade(trade) => {
                    assert_eq!((trade.price.0, trade.auction), (price, true));
                    self.trades += 1;
                    self.volume += trade.quantity.0;
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_million_orders_uncross_in_slices_as_calculated() {
    let open_orders_max = 1_000_000;
    let mut venue = Venue::ruled(TradingRules { open_orders_max, ..rules() });
    venue.set_state(InstrumentState::Call);
    // Buys from 1000 to 1099, sells from 980 to 1079: at 1039 the buys are 61 prices, the sells 60 and MORE.
    let mut last_at_1039 = OrderId(0);
    for at in 0..100 * AT_EACH_PRICE {
        let order = buy(ALICE, 1_000 + at % 100, 1);
        let id = venue.unchecked(Command::Place(order));
        if order.price.0 == 1_039 {
            last_at_1039 = id;
        }
        venue.unchecked(Command::Place(sell(BOB, 980 + at % 100, 1)));
    }
    for _ in 0..MORE {
        venue.unchecked(Command::Place(sell(BOB, 980, 1)));
    }
    let volume = 60 * AT_EACH_PRICE + MORE;
    let open_orders = venue.core.instrument(SPOT).unwrap().open_orders;
    assert_eq!(open_orders as i64, 200 * AT_EACH_PRICE + MORE);

    let state = InstrumentState::Open;
    venue.unchecked(Command::SetInstrumentState { instrument: SPOT, state });
    let (mut published, mut commands) = (Published::default(), 1);
    published.add(&venue.events, 1_039);
    while venue.core.instrument(SPOT).unwrap().instrument.state == InstrumentState::Uncrossing {
        venue.unchecked(Command::Tick);
        published.add(&venue.events, 1_039);
        commands += 1;
    }
    let uncrossed = vec![(1_039, volume, AT_EACH_PRICE - MORE)];
    assert_eq!(published, Published { uncrossed, trades: volume, volume });
    // A trade visits two orders. Of the 256 that a command visits, the turn of the auction counts as one.
    assert_eq!(commands, (volume + 126) / 127);

    // At 1039 the earlier half has traded.
    let levels = |side| venue.core.book(SPOT).unwrap().levels(side);
    let of = |side| levels(side).map(|level| (level.price.0, level.quantity.0)).collect::<Vec<_>>();
    let mut buys: Vec<_> = (1_000..1_039).rev().map(|price| (price, AT_EACH_PRICE)).collect();
    buys.insert(0, (1_039, AT_EACH_PRICE - MORE));
    assert_eq!(of(Side::Buy), buys);
    let sells: Vec<_> = (1_040..1_080).map(|price| (price, AT_EACH_PRICE)).collect();
    assert_eq!(of(Side::Sell), sells);
    let best = venue.core.orders(SPOT, Side::Buy).take((AT_EACH_PRICE - MORE) as usize);
    assert_eq!(best.last().unwrap().id, last_at_1039);

    let (bought, paid) = (i128::from(volume), i128::from(volume * 1_039));
    assert_eq!(venue.balance(ALICE, BASE), (FUNDS + bought, 0));
    assert_eq!(venue.balance(BOB, QUOTE), (FUNDS + paid, 0));
    let of_alice = venue.balance(ALICE, QUOTE);
    assert_eq!(of_alice.0 + of_alice.1, FUNDS - paid);
    let left = i128::from(40 * AT_EACH_PRICE);
    assert_eq!(venue.balance(BOB, BASE), (FUNDS - bought - left, left));
    venue.core.check().unwrap();
}
