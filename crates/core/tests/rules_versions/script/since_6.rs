//! The part of the script that only version 6 of the rules knows.

use super::{SPOT, Script, buy, market, sell};
use rialto_model::{
    AccountId, Command, ConditionalOrder, InstrumentState, NewOrder, OrderId, OrderKind, OrderSize,
    Outcome, Price, Quantity, Restrict, Restriction, RestrictionTarget, Side, TimeInForce,
    Timestamp, TradingRules, Trigger, TriggerKind,
};

impl Script {
    pub(super) fn since_version_6(&mut self) {
        self.set_rules(TradingRules { open_orders_max: 5_000, ..self.rules });
        self.trade_at(100);
        self.refused_triggers();
        self.kinds_of_triggers();
        self.what_comes_between();
        self.triggers_of_auctions();
        self.many_triggers();
        self.set_rules(self.rules);
    }

    pub(super) fn trade_at(&mut self, price: i64) {
        self.place(sell(1, price, 1));
        self.place(buy(2, price, 1));
    }

    fn waits(&mut self, terms: NewOrder, kind: TriggerKind, price: i64) -> OrderId {
        self.waits_or(terms, kind, price, false)
    }

    fn waits_or(
        &mut self,
        terms: NewOrder,
        kind: TriggerKind,
        price: i64,
        immediate: bool,
    ) -> OrderId {
        let trigger = Trigger { kind, price: Price(price) };
        let order = ConditionalOrder { terms, trigger, immediate };
        match self.does(Command::PlaceConditional(order)) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    fn refused_triggers(&mut self) {
        let stop = TriggerKind::Stop;
        for &time_in_force in TimeInForce::ALL {
            self.waits(NewOrder { time_in_force, ..sell(3, 90, 2) }, stop, 95);
        }
        for &kind in OrderKind::ALL {
            self.waits(NewOrder { kind, price: Price(0), ..sell(3, 90, 2) }, stop, 95);
        }
        for price in [0, -1, 100, 101, i64::MAX] {
            self.waits(sell(3, 90, 2), stop, price);
        }
        let minimum_quantity = Quantity(1);
        self.waits(NewOrder { minimum_quantity, ..sell(3, 90, 2) }, stop, 95);
        self.waits(market(3, Side::Sell, OrderSize::Quote(rialto_model::Amount(50))), stop, 95);
        for (price, quantity) in [(0, 1), (90, 0), (i64::MAX, i64::MAX), (90, 1 << 40)] {
            self.waits(buy(3, price, quantity), stop, 150);
        }
        self.clear();
    }

    fn kinds_of_triggers(&mut self) {
        for &kind in TriggerKind::ALL {
            for side in [Side::Buy, Side::Sell] {
                for time_in_force in [TimeInForce::Gtc, TimeInForce::Ioc, TimeInForce::Day] {
                    self.trade_at(100);
                    let rises = (side == Side::Buy) == (kind == TriggerKind::Stop);
                    let at = if rises { 103 } else { 97 };
                    let name = format!("w{}{side:?}{time_in_force:?}", kind.number());
                    let limited = NewOrder {
                        time_in_force,
                        client_order_id: name.parse().unwrap(),
                        ..if side == Side::Buy { buy(3, 104, 7) } else { sell(3, 96, 7) }
                    };
                    self.waits(limited, kind, at);
                    self.waits(limited, kind, at);
                    self.waits_or(limited, kind, 100, true);
                    let order = market(4, side, OrderSize::Base(Quantity(5)));
                    self.waits(NewOrder { time_in_force, ..order }, kind, at);
                    self.waits_or(NewOrder { time_in_force, ..order }, kind, 100, true);
                    self.settle();
                    let others = if side == Side::Buy { sell(1, 104, 9) } else { buy(1, 96, 9) };
                    self.trade_at(at);
                    self.place(others);
                    self.settle();
                    self.clear();
                }
            }
        }
    }

    fn what_comes_between(&mut self) {
        let stop = TriggerKind::Stop;
        let restrict = |restriction| Restrict {
            target: RestrictionTarget::Account(AccountId(3)),
            restriction,
            by_member: false,
            cancel: false,
        };
        for between in 0..7 {
            self.trade_at(100);
            let expire_at = Timestamp(self.venue.time.0 + 500);
            let time_in_force = TimeInForce::Gtd;
            let id = self.waits(NewOrder { time_in_force, expire_at, ..sell(3, 90, 2) }, stop, 95);
            self.trade_at(95);
            self.trade_at(98);
            match between {
                0 => drop(self.cancel(3, id)),
                1 => self.amend(3, id, None, Some(1)),
                2 => self.pass(1_000),
                3 => drop(self.does(Command::Restrict(restrict(Restriction::CancelOnly)))),
                4 => self.set_state(SPOT, InstrumentState::Halted),
                5 => self.set_rules(TradingRules { collar_ppm: 10_000, ..self.rules }),
                _ => self.set_state(SPOT, InstrumentState::Withdrawn),
            }
            self.settle();
            self.does(Command::Restrict(restrict(Restriction::None)));
            self.set_rules(TradingRules { open_orders_max: 5_000, ..self.rules });
            self.set_state(SPOT, InstrumentState::Open);
            self.settle();
            self.clear();
        }
    }

    fn triggers_of_auctions(&mut self) {
        self.trade_at(100);
        self.waits(sell(3, 90, 2), TriggerKind::Stop, 95);
        self.waits(buy(3, 110, 2), TriggerKind::Stop, 105);
        for price in [95, 105] {
            self.set_state(SPOT, InstrumentState::Call);
            self.waits(sell(4, 90, 2), TriggerKind::TakeProfit, 105);
            self.place(sell(1, price, 3));
            self.place(buy(2, price, 3));
            self.set_state(SPOT, InstrumentState::Open);
            self.settle();
        }
        self.clear();
    }

    /// More than one command enters, each of which triggers another.
    fn many_triggers(&mut self) {
        self.trade_at(100);
        for number in 0..400_i64 {
            self.waits(sell(3, 90 - number % 7, 1), TriggerKind::Stop, 99 - number % 9);
            self.waits(buy(4, 99 - number % 5, 1), TriggerKind::TakeProfit, 98 - number % 4);
        }
        self.place(buy(2, 85, 50));
        self.trade_at(99);
        self.does(Command::Tick);
        self.waits(sell(3, 88, 1), TriggerKind::Stop, 92);
        self.settle();
        self.clear();
    }
}
