//! The price of an auction.

use crate::page::{examples, levels, orders};
use crate::venue::{ALICE, BOB, SPOT, Venue, buy, rules, sell};
use rialto_core::EVENTS_PER_COMMAND;
use rialto_core::book::{UncrossTerms, Uncrossing, uncross};
use rialto_model::{
    DoneReason, Event, InstrumentState, NewOrder, OrderId, OrderSize, Price, Quantity, Side,
    TimeInForce, Trade, TradingRules,
};

const PAGE: &str = include_str!("../../../../docs/rules/uncrossing.md");

#[test]
fn books_uncross_at_the_prices_of_the_page() {
    let mut ids = Vec::new();
    for cells in examples(PAGE) {
        let [id, buys, sells, reference, price, volume, surplus, ..] = &cells[..] else {
            panic!("{cells:?}")
        };
        let reference = Price(reference.parse().unwrap_or(0));
        let terms = UncrossTerms { tick: Price(1), reference, market_buys: 0, market_sells: 0 };
        let level = |(price, quantity)| (Price(price), Quantity(quantity));
        let (buys, sells) = (levels(buys).into_iter().rev(), levels(sells).into_iter());
        let expected = Uncrossing {
            price: Price(price.parse().unwrap()),
            volume: volume.parse().unwrap(),
            surplus: surplus.parse().unwrap(),
        };
        assert_eq!(uncross(buys.map(level), sells.map(level), &terms), Some(expected), "{id}");
        ids.push(id.clone());
    }
    let all: Vec<_> = (1..=12).map(|number| format!("A{number}")).collect();
    assert_eq!(ids, all);
}

/// An order that was entered: its id, and what is left of it as the test counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entered {
    id: OrderId,
    price: i64,
    left: i64,
}

/// A call that the orders of a row came into, each in `parts` orders that come in turns with those of
/// the others.
struct Call {
    venue: Venue,
    /// By price and then by time.
    buys: Vec<Entered>,
    sells: Vec<Entered>,
}

impl Call {
    fn of(cells: &[String], parts: i64, time_in_force: TimeInForce) -> Call {
        let [_, buys, sells, reference, ..] = cells else { panic!("{cells:?}") };
        let reference_price = Price(reference.parse().unwrap_or(0));
        let mut venue = Venue::ruled(TradingRules { reference_price, ..rules() });
        venue.set_state(InstrumentState::Call);
        let mut call = Call { venue, buys: Vec::new(), sells: Vec::new() };
        for part in 0..parts {
            for (quantity, price) in orders(buys) {
                let left = quantity * (part + 1) / parts - quantity * part / parts;
                call.enter(NewOrder { time_in_force, ..buy(ALICE, price, left) });
            }
            for (quantity, price) in orders(sells) {
                let left = quantity * (part + 1) / parts - quantity * part / parts;
                call.enter(NewOrder { time_in_force, ..sell(BOB, price, left) });
            }
        }
        call.buys.sort_by_key(|order| (-order.price, order.id));
        call.sells.sort_by_key(|order| (order.price, order.id));
        call
    }

    fn enter(&mut self, order: NewOrder) {
        let OrderSize::Base(Quantity(left)) = order.size else { panic!("{order:?}") };
        if left == 0 {
            return;
        }
        let entered = Entered { id: self.venue.enter(order), price: order.price.0, left };
        match order.side {
            Side::Buy => self.buys.push(entered),
            Side::Sell => self.sells.push(entered),
        }
    }

    /// Opens the instrument, and gives ticks until it is open. Returns all events.
    fn uncross(&mut self) -> Vec<Event> {
        self.venue.set_state(InstrumentState::Open);
        let mut events = self.venue.events.clone();
        let state = |venue: &Venue| venue.core.instrument(SPOT).unwrap().instrument.state;
        while state(&self.venue) == InstrumentState::Uncrossing {
            self.venue.tick();
            assert!(self.venue.events.len() <= EVENTS_PER_COMMAND);
            events.extend(&self.venue.events);
        }
        assert_eq!(state(&self.venue), InstrumentState::Open);
        events
    }

    /// The trades at a price: always the first buy and the first sell that are left, up to a volume.
    fn trade(&mut self, price: i64, volume: i64) -> Vec<(OrderId, OrderId, i64, i64)> {
        let (mut trades, mut left) = (Vec::new(), volume);
        let [mut buys, mut sells] = [&mut self.buys, &mut self.sells].map(|side| side.iter_mut());
        let (mut bought, mut sold) = (buys.next().unwrap(), sells.next().unwrap());
        while left > 0 {
            assert!(sold.price <= price && price <= bought.price);
            let quantity = bought.left.min(sold.left).min(left);
            trades.push((bought.id, sold.id, price, quantity));
            left -= quantity;
            bought.left -= quantity;
            sold.left -= quantity;
            if left > 0 && bought.left == 0 {
                bought = buys.next().unwrap();
            }
            if left > 0 && sold.left == 0 {
                sold = sells.next().unwrap();
            }
        }
        self.buys.retain(|order| order.left > 0);
        self.sells.retain(|order| order.left > 0);
        trades
    }
}

/// Buyer, seller, price and quantity.
fn parties(trade: &Trade) -> (OrderId, OrderId, i64, i64) {
    let (maker, taker) = (trade.maker_order, trade.taker_order);
    let (buyer, seller) =
        if trade.taker_side == Side::Buy { (taker, maker) } else { (maker, taker) };
    (buyer, seller, trade.price.0, trade.quantity.0)
}

#[test]
fn calls_of_these_orders_trade_at_the_prices_of_the_page() {
    let mut checked = 0;
    for cells in examples(PAGE) {
        let [id, _, _, _, price, volume, surplus, ..] = &cells[..] else { panic!("{cells:?}") };
        let [price, volume, surplus] = [price, volume, surplus].map(|cell| cell.parse().unwrap());
        // Forty orders in place of one make an auction of several commands.
        for (parts, time_in_force) in [1, 2, 40]
            .into_iter()
            .flat_map(|parts| [(parts, TimeInForce::Gtc), (parts, TimeInForce::Gfa)])
        {
            let mut call = Call::of(&cells, parts, time_in_force);
            let events = call.uncross();
            let results = events.iter().filter_map(|event| match event {
                Event::Uncrossed(it) => Some((it.price.0, it.volume.0, it.surplus.0)),
                _ => None,
            });
            assert_eq!(results.collect::<Vec<_>>(), [(price, volume, surplus)], "{id}");
            let trades = events.iter().filter_map(|event| match event {
                Event::Trade(trade) => Some(trade),
                _ => None,
            });
            assert!(trades.clone().all(|trade| trade.auction), "{id}");
            let made: Vec<_> = trades.map(parties).collect();
            assert_eq!(made, call.trade(price, volume), "{id} in {parts} parts");
            call.assert_left(id, time_in_force, &events);
            checked += 1;
        }
    }
    assert_eq!(checked, 12 * 6, "the rows of the page");
}

impl Call {
    /// What is left rests in its place, or has ended if it was for the auction only.
    fn assert_left(&self, id: &str, time_in_force: TimeInForce, events: &[Event]) {
        let ended = events.iter().filter_map(|event| match event {
            Event::Done(done) => Some((done.order, done.reason, done.remaining.0)),
            _ => None,
        });
        let ended: Vec<_> = ended.collect();
        let rests = |side| {
            let orders = self.venue.core.orders(SPOT, side);
            orders.map(|it| Entered { id: it.id, price: it.price.0, left: it.remaining.0 })
        };
        let resting = [rests(Side::Buy).collect::<Vec<_>>(), rests(Side::Sell).collect()];
        if time_in_force == TimeInForce::Gtc {
            assert_eq!(resting, [self.buys.clone(), self.sells.clone()], "{id}");
            assert_eq!(ended, [], "{id}");
            return;
        }
        assert_eq!(resting, [const { Vec::new() }; 2], "{id}");
        let mut left: Vec<_> = self.buys.iter().chain(&self.sells).collect();
        left.sort_by_key(|order| order.id);
        let left = left.iter().map(|order| (order.id, DoneReason::AuctionEnded, order.left));
        assert_eq!(ended, left.collect::<Vec<_>>(), "{id}");
    }
}
