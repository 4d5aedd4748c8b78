//! The part of the script that only version 10 of the rules knows.

use super::{SPOT, Script, buy, sell};
use rialto_model::{
    AccountId, Amend, AmendTrigger, Command, Condition, ConditionalOrder, Distance,
    InstrumentState, Leg, LinkKind, NewOrder, OrderId, OrderKind, OrderList, OrderRef, Outcome,
    Price, Quantity, Side, TimeInForce, Timestamp, TradingRules, TrailTerms, TrailingOrder,
    Trigger, TriggerKind,
};

fn stop(price: i64) -> Trigger {
    Trigger { kind: TriggerKind::Stop, price: Price(price) }
}

fn as_market(order: NewOrder) -> NewOrder {
    NewOrder { kind: OrderKind::Market, price: Price::ZERO, ..order }
}

fn leg(condition: Option<Condition>, price: i64) -> Leg {
    Leg {
        condition,
        kind: if price == 0 { OrderKind::Market } else { OrderKind::Limit },
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    }
}

fn stop_leg(trigger: i64, price: i64) -> Leg {
    leg(Some(Condition::Trigger(stop(trigger))), price)
}

impl Script {
    pub(super) fn since_version_10(&mut self) {
        self.refused_amendments();
        self.amended_stops();
        self.amended_between_trigger_and_entry();
        self.amended_trailing_stops();
        self.amended_pairs();
        self.amended_exits();
        self.five_levels_that_rest();
    }

    fn waits_for(&mut self, terms: NewOrder, trigger: Trigger) -> OrderId {
        let order = ConditionalOrder { terms, trigger, immediate: false };
        match self.does(Command::PlaceConditional(order)) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    fn trails_by(&mut self, terms: NewOrder, distance: i64) -> OrderId {
        let distance = Distance::Price(Price(distance));
        let trail = TrailTerms { distance, activation_price: Price::ZERO };
        match self.does(Command::PlaceTrailing(TrailingOrder { terms, trail })) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    fn amend_trigger(
        &mut self,
        account: u32,
        id: OrderId,
        trigger_price: i64,
        (price, quantity): (Option<i64>, Option<i64>),
    ) {
        let (account, order) = (AccountId(account), OrderRef::Id(id));
        let (price, quantity) = (price.map(Price), quantity.map(Quantity));
        let amend = Amend { account, order, price, quantity };
        let trigger_price = Price(trigger_price);
        self.does(Command::AmendTrigger(AmendTrigger { amend, trigger_price }));
    }

    fn traded_between_others(&mut self, price: i64) {
        self.place(sell(2, price, 1));
        self.place(NewOrder { time_in_force: TimeInForce::Ioc, ..buy(4, price, 1) });
    }

    fn end_all(&mut self) {
        self.settle();
        self.clear();
        self.settle();
        self.traded_between_others(100);
        self.settle();
    }

    fn refused_amendments(&mut self) {
        self.end_all();
        let plain = self.place(sell(3, 150, 4));
        let waits = self.waits_for(sell(3, 90, 4), stop(95));
        let in_market = self.waits_for(as_market(buy(3, 1, 4)), stop(105));
        let trails = self.trails_by(as_market(sell(3, 1, 4)), 9);
        for order in [plain, waits, in_market, trails, OrderId(1)] {
            for trigger in [i64::MIN, -1, 0, 94, 95, 100, 105, 106, i64::MAX] {
                self.amend_trigger(3, order, trigger, (None, None));
            }
            for price in [i64::MIN, 0, 1, 90, 99, i64::MAX] {
                self.amend_trigger(3, order, 93, (Some(price), None));
                self.amend(3, order, Some(price), None);
            }
            for quantity in [i64::MIN, 0, 1, 4, 5, i64::MAX] {
                self.amend_trigger(3, order, 92, (None, Some(quantity)));
                self.amend(3, order, None, Some(quantity));
            }
            self.amend_trigger(2, order, 91, (None, None));
        }
        self.end_all();
    }

    fn amended_stops(&mut self) {
        // The place at a trigger price; larger and smaller; limits that move and that stay.
        let first = self.waits_for(sell(3, 80, 4), stop(95));
        let second = self.waits_for(sell(1, 80, 4), stop(95));
        let third = self.waits_for(sell(3, 80, 4), stop(96));
        self.amend_trigger(3, first, 96, (None, None));
        self.amend(1, second, None, Some(9));
        self.amend(3, third, Some(81), Some(2));
        let given =
            self.waits_for(NewOrder { price: Price(85), ..as_market(sell(1, 1, 2)) }, stop(97));
        let protected = self.waits_for(as_market(sell(3, 1, 2)), stop(97));
        self.amend_trigger(1, given, 94, (None, None));
        self.amend_trigger(3, protected, 94, (None, None));
        self.amend_trigger(3, protected, 93, (Some(70), None));
        self.amend_trigger(3, protected, 94, (None, Some(1)));
        self.set_rules(TradingRules { taker_fee_ppm: 20_000, ..self.rules });
        let bought = self.waits_for(as_market(buy(3, 1, 2)), stop(107));
        self.amend_trigger(3, bought, 108, (None, None));
        self.set_rules(self.rules);
        self.amend(3, bought, None, Some(1));
        self.amend_trigger(3, bought, 106, (Some(110), Some(3)));
        for price in [96, 95, 94, 107] {
            self.place(buy(4, 79, 3));
            self.place(sell(4, 109, 3));
            self.traded_between_others(price);
            self.settle();
        }
        self.end_all();
    }

    fn amended_between_trigger_and_entry(&mut self) {
        let first = self.waits_for(sell(3, 80, 4), stop(95));
        let second = self.waits_for(sell(1, 80, 4), stop(90));
        let third = self.waits_for(buy(1, 120, 4), stop(110));
        self.traded_between_others(95);
        self.set_state(SPOT, InstrumentState::Call);
        self.amend_trigger(3, first, 94, (None, None));
        self.amend(3, first, Some(82), Some(3));
        // A price has been at 95, and the last one would not trigger 96 of a buy.
        self.amend_trigger(1, third, 96, (None, None));
        self.amend_trigger(1, second, 94, (None, None));
        self.set_state(SPOT, InstrumentState::Open);
        self.settle();
        self.traded_between_others(96);
        self.traded_between_others(94);
        self.settle();
        // A queued price does not trigger what is moved behind it.
        let first = self.waits_for(buy(3, 120, 4), stop(99));
        let second = self.waits_for(buy(1, 120, 4), stop(110));
        self.traded_between_others(103);
        self.traded_between_others(97);
        self.set_state(SPOT, InstrumentState::Call);
        self.amend_trigger(1, second, 102, (None, None));
        self.amend_trigger(3, first, 100, (None, None));
        self.set_state(SPOT, InstrumentState::Open);
        self.settle();
        self.traded_between_others(102);
        self.settle();
        self.end_all();
    }

    fn amended_trailing_stops(&mut self) {
        let limited = self.trails_by(sell(3, 80, 4), 5);
        let in_market = self.trails_by(as_market(sell(1, 1, 4)), 5);
        let bought = self.trails_by(as_market(buy(3, 1, 4)), 5);
        self.amend(3, limited, Some(81), Some(6));
        self.amend(1, in_market, None, Some(2));
        self.amend(3, bought, None, Some(7));
        self.traded_between_others(108);
        self.amend(3, limited, None, Some(3));
        self.traded_between_others(103);
        self.amend(1, in_market, None, Some(9));
        self.settle();
        self.end_all();
    }

    fn pair(&mut self, terms: NewOrder, condition: Option<Condition>, stop_loss: Leg) -> OrderId {
        let (kind, take_profit, stop_loss) = (LinkKind::Oco, None, Some(stop_loss));
        let list = OrderList { terms, condition, kind, take_profit, stop_loss };
        match self.does(Command::PlaceList(list)) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    fn amended_pairs(&mut self) {
        let after = |order: OrderId| OrderId(order.0 + 1);
        let touched = Trigger { kind: TriggerKind::TakeProfit, price: Price(110) };
        for (first, condition, second) in [
            (sell(3, 110, 4), None, stop_leg(90, 0)),
            (sell(3, 108, 4), Some(Condition::Trigger(touched)), stop_leg(90, 88)),
        ] {
            let order = self.pair(first, condition, second);
            self.place(buy(4, 98, 2));
            for price in [89, 97, 98, 105, 111] {
                self.amend(3, order, Some(price), None);
                self.amend_trigger(3, order, price, (None, None));
                self.amend(3, after(order), Some(price), None);
                self.amend_trigger(3, after(order), price - 12, (None, None));
            }
            self.amend(3, order, None, Some(3));
            self.amend(3, after(order), None, Some(5));
            self.amend_trigger(3, after(order), 91, (None, Some(5)));
            self.end_all();
        }
        // What the second reserves beyond the first.
        let order = self.pair(buy(3, 90, 4), None, stop_leg(110, 112));
        for price in [80, 95, 99] {
            self.amend(3, order, Some(price), None);
        }
        for limit in [113, 120, 80] {
            self.amend(3, after(order), Some(limit), None);
        }
        self.amend_trigger(3, after(order), 105, (Some(105), None));
        self.amend(3, order, Some(i64::MAX), None);
        self.set_state(SPOT, InstrumentState::Call);
        self.place(sell(4, 96, 1));
        self.amend(3, order, Some(97), None);
        self.set_state(SPOT, InstrumentState::Open);
        self.end_all();
    }

    fn amended_exits(&mut self) {
        let after = |order: OrderId, by: u64| OrderId(order.0 + by);
        for (profit, loss) in
            [(leg(None, 110), stop_leg(90, 0)), (leg(None, 112), stop_leg(92, 91))]
        {
            let list = OrderList {
                terms: buy(3, 99, 9),
                condition: None,
                kind: LinkKind::Oto,
                take_profit: Some(profit),
                stop_loss: Some(loss),
            };
            let Outcome::Order { order, .. } = self.does(Command::PlaceList(list)) else {
                panic!("it is accepted")
            };
            self.place(NewOrder { time_in_force: TimeInForce::Ioc, ..sell(4, 99, 3) });
            self.settle();
            let (profit, loss) = (after(order, 2), after(order, 3));
            for price in [99, 98, 114] {
                self.amend(3, profit, Some(price), None);
                self.amend_trigger(3, loss, price - 4, (None, None));
                self.amend_trigger(3, loss, price - 16, (Some(price - 20), None));
            }
            self.place(NewOrder { time_in_force: TimeInForce::Ioc, ..sell(4, 99, 2) });
            self.settle();
            self.amend(3, order, Some(97), None);
            // The exits end before they are enlarged, and new ones have the new prices.
            self.place(NewOrder { time_in_force: TimeInForce::Ioc, ..sell(4, 97, 2) });
            self.cancel(3, profit);
            self.settle();
            self.end_all();
        }
    }

    fn five_levels_that_rest(&mut self) {
        let levels =
            |order: NewOrder| NewOrder { kind: OrderKind::FiveLevels, price: Price::ZERO, ..order };
        for &time_in_force in TimeInForce::ALL {
            for count in [0, 2, 7] {
                for price in 0..count {
                    self.place(sell(2, 101 + price, 1));
                }
                self.place(levels(NewOrder { time_in_force, ..buy(3, 1, 9) }));
                self.clear();
            }
        }
        // The collar cuts the levels off: the rest stands at the last price traded.
        let collar_ppm = 30_000;
        self.set_rules(TradingRules { collar_ppm, reference_price: Price(100), ..self.rules });
        for (side, prices) in [(Side::Buy, [101, 102]), (Side::Sell, [99, 98])] {
            for price in prices {
                self.place(NewOrder {
                    price: Price(price),
                    ..match side {
                        Side::Buy => sell(2, 1, 1),
                        Side::Sell => buy(2, 1, 1),
                    }
                });
            }
            self.set_rules(TradingRules {
                collar_ppm: 15_000,
                reference_price: Price(100),
                ..self.rules
            });
            let order = if side == Side::Buy { buy(3, 1, 9) } else { sell(3, 1, 9) };
            let order = self.place(levels(order));
            self.amend(3, order, None, Some(8));
            self.set_rules(TradingRules { collar_ppm, reference_price: Price(100), ..self.rules });
            self.clear();
        }
        self.set_rules(self.rules);
        self.rest(300, sell(2, 105, 1));
        self.place(levels(buy(3, 1, 400)));
        self.settle();
        self.end_all();
    }
}
