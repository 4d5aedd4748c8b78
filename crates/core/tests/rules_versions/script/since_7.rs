//! The part of the script that only version 7 of the rules knows.

use super::{SPOT, Script, buy, market, sell};
use rialto_model::{
    Command, Distance, InstrumentState, NewOrder, OrderId, OrderKind, OrderSize, Outcome, Price,
    Quantity, Side, TimeInForce, Timestamp, TradingRules, TrailTerms, TrailingOrder,
};

impl Script {
    pub(super) fn since_version_7(&mut self) {
        self.set_rules(TradingRules { open_orders_max: 5_000, ..self.rules });
        self.trade_at(100);
        self.refused_trails();
        self.kinds_of_trails();
        self.what_comes_between_trails();
        self.trails_of_auctions();
        self.many_trails();
        self.set_rules(self.rules);
    }

    fn trails(&mut self, terms: NewOrder, distance: Distance, activation: i64) -> OrderId {
        let trail = TrailTerms { distance, activation_price: Price(activation) };
        match self.does(Command::PlaceTrailing(TrailingOrder { terms, trail })) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    fn refused_trails(&mut self) {
        let five = Distance::Price(Price(5));
        for &time_in_force in TimeInForce::ALL {
            self.trails(NewOrder { time_in_force, ..sell(3, 90, 2) }, five, 0);
        }
        for &kind in OrderKind::ALL {
            self.trails(NewOrder { kind, price: Price(0), ..sell(3, 90, 2) }, five, 0);
        }
        for value in [i64::MIN, -1, 0, 99, 100, 101, i64::MAX] {
            self.trails(sell(3, 90, 2), Distance::Price(Price(value)), 0);
            self.trails(buy(3, 110, 2), Distance::Price(Price(value)), 0);
        }
        for ppm in [0, 1, 999_999, 1_000_000, u32::MAX] {
            self.trails(sell(3, 90, 2), Distance::Ppm(ppm), 0);
            self.trails(buy(3, 110, 2), Distance::Ppm(ppm), 0);
        }
        for activation in [i64::MIN, -1, 1, 99, 101, i64::MAX] {
            self.trails(sell(3, 90, 2), five, activation);
            self.trails(buy(3, 110, 2), Distance::Ppm(10_000), activation);
        }
        let minimum_quantity = Quantity(1);
        self.trails(NewOrder { minimum_quantity, ..sell(3, 90, 2) }, five, 0);
        self.trails(market(3, Side::Sell, OrderSize::Quote(rialto_model::Amount(50))), five, 0);
        for (price, quantity) in [(0, 1), (90, 0), (i64::MAX, i64::MAX), (90, 1 << 40)] {
            self.trails(buy(3, price, quantity), five, 0);
        }
        self.settle();
        self.clear();
    }

    fn kinds_of_trails(&mut self) {
        for distance in [Distance::Price(Price(3)), Distance::Ppm(30_000)] {
            for side in [Side::Buy, Side::Sell] {
                for time_in_force in [TimeInForce::Gtc, TimeInForce::Ioc, TimeInForce::Day] {
                    self.trade_at(100);
                    let name = format!("t{}{side:?}{time_in_force:?}", distance.kind().number());
                    let limited = NewOrder {
                        time_in_force,
                        client_order_id: name.parse().unwrap(),
                        ..if side == Side::Buy { buy(3, 104, 7) } else { sell(3, 96, 7) }
                    };
                    let ahead = if side == Side::Sell { 102 } else { 98 };
                    self.trails(limited, distance, ahead);
                    self.trails(limited, distance, ahead);
                    self.trails(limited, distance, 0);
                    let order = market(4, side, OrderSize::Base(Quantity(5)));
                    self.trails(NewOrder { time_in_force, ..order }, distance, 0);
                    self.settle();
                    let others = if side == Side::Buy { sell(1, 104, 9) } else { buy(1, 96, 9) };
                    for price in [99, 101, 104, 103, 105, 102, 96, 95, 97, 98, 99] {
                        self.trade_at(if side == Side::Sell { price } else { 200 - price });
                        self.settle();
                    }
                    self.place(others);
                    self.settle();
                    self.clear();
                }
            }
        }
    }

    fn what_comes_between_trails(&mut self) {
        let three = Distance::Price(Price(3));
        for between in 0..6 {
            self.trade_at(100);
            let expire_at = Timestamp(self.venue.time.0 + 500);
            let time_in_force = TimeInForce::Gtd;
            let terms = NewOrder { time_in_force, expire_at, ..sell(3, 90, 2) };
            let id = self.trails(terms, three, 0);
            self.trade_at(104);
            self.trade_at(101);
            self.trade_at(106);
            match between {
                0 => drop(self.cancel(3, id)),
                1 => self.amend(3, id, None, Some(1)),
                2 => self.pass(1_000),
                3 => self.set_state(SPOT, InstrumentState::Halted),
                4 => self.set_rules(TradingRules { collar_ppm: 10_000, ..self.rules }),
                _ => self.set_state(SPOT, InstrumentState::Withdrawn),
            }
            self.settle();
            self.set_rules(TradingRules { open_orders_max: 5_000, ..self.rules });
            self.set_state(SPOT, InstrumentState::Open);
            self.settle();
            self.clear();
        }
    }

    fn trails_of_auctions(&mut self) {
        self.trade_at(100);
        self.trails(sell(3, 90, 2), Distance::Price(Price(5)), 0);
        self.trails(buy(3, 110, 2), Distance::Price(Price(5)), 0);
        for price in [104, 99, 93, 98] {
            self.set_state(SPOT, InstrumentState::Call);
            self.trails(sell(4, 90, 2), Distance::Ppm(20_000), 0);
            self.place(sell(1, price, 3));
            self.place(buy(2, price, 3));
            self.set_state(SPOT, InstrumentState::Open);
            self.settle();
        }
        self.clear();
    }

    /// More than one command enters, and prices that rise and fall while they wait.
    fn many_trails(&mut self) {
        self.trade_at(100);
        for number in 0..120_i64 {
            let distance = match number % 3 {
                0 => Distance::Ppm(10_000 + 10_000 * (number % 5) as u32),
                _ => Distance::Price(Price(1 + number % 4)),
            };
            self.trails(sell(3, 80 - number % 7, 1), distance, number % 2 * (100 + number % 9));
            self.trails(buy(4, 120 + number % 7, 1), distance, number % 2 * (100 - number % 9));
            if number % 16 == 15 {
                self.trade_at(100 + number / 16);
            }
        }
        for price in [104, 108, 103, 110, 99, 105, 95, 101] {
            self.trade_at(price);
            self.does(Command::Tick);
        }
        self.trails(sell(3, 88, 1), Distance::Price(Price(2)), 0);
        self.settle();
        self.clear();
    }
}
