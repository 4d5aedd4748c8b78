//! The part of the script that only version 9 of the rules knows.

use super::{SPOT, Script, buy, sell};
use rialto_model::{
    AccountId, Amend, Amount, ClientOrderId, Command, Condition, Distance, InstrumentState, Leg,
    LinkKind, NewOrder, OrderId, OrderKind, OrderList, OrderRef, OrderSize, Outcome, Price,
    Restrict, Restriction, RestrictionTarget, SelfTrade, Side, TimeInForce, Timestamp, TrailTerms,
    Transfer, Trigger, TriggerKind,
};

fn leg(condition: Option<Condition>, price: i64) -> Leg {
    Leg {
        condition,
        kind: if price == 0 { OrderKind::Market } else { OrderKind::Limit },
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    }
}

fn limit(price: i64) -> Leg {
    leg(None, price)
}

fn stop(trigger: i64, price: i64) -> Leg {
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(trigger) };
    leg(Some(Condition::Trigger(trigger)), price)
}

fn touched(trigger: i64, price: i64) -> Leg {
    let trigger = Trigger { kind: TriggerKind::TakeProfit, price: Price(trigger) };
    leg(Some(Condition::Trigger(trigger)), price)
}

fn trailing(distance: i64, price: i64) -> Leg {
    let trail =
        TrailTerms { distance: Distance::Price(Price(distance)), activation_price: Price::ZERO };
    leg(Some(Condition::Trail(trail)), price)
}

fn pair(terms: NewOrder, condition: Option<Condition>, stop_loss: Leg) -> OrderList {
    let (kind, take_profit, stop_loss) = (LinkKind::Oco, None, Some(stop_loss));
    OrderList { terms, condition, kind, take_profit, stop_loss }
}

fn entry(terms: NewOrder, take_profit: Option<Leg>, stop_loss: Option<Leg>) -> OrderList {
    OrderList { terms, condition: None, kind: LinkKind::Oto, take_profit, stop_loss }
}

/// A step of the script with a pair, by the id of its first order.
type Step<'a> = &'a dyn Fn(&mut Script, OrderId);

impl Script {
    pub(super) fn since_version_9(&mut self) {
        self.refused_lists();
        self.pairs_end();
        self.entries_trade();
        self.exits_at_once();
        self.exits_are_refused();
        self.entries_are_amended();
        self.lists_of_auctions();
        self.lists_that_time_ends();
        self.many_lists();
        self.lists_of_a_withdrawn_instrument();
    }

    fn list(&mut self, list: OrderList) -> OrderId {
        match self.does(Command::PlaceList(list)) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    /// Trades one unit between two others, and does what comes of it.
    fn trade_of_others_at(&mut self, price: i64) {
        self.place(sell(2, price, 1));
        self.place(NewOrder { time_in_force: TimeInForce::Ioc, ..buy(4, price, 1) });
        self.settle();
    }

    fn end_lists(&mut self) {
        self.settle();
        self.clear();
        self.settle();
    }

    fn refused_lists(&mut self) {
        self.trade_of_others_at(100);
        let terms = buy(3, 99, 4);
        let legs = [
            limit(110),
            limit(99),
            limit(0),
            stop(90, 89),
            stop(90, 0),
            stop(99, 0),
            stop(0, 0),
            touched(110, 108),
            touched(110, 0),
            trailing(5, 90),
            trailing(5, 0),
            trailing(0, 0),
        ];
        for first in legs {
            self.list(entry(terms, Some(first), None));
            self.list(entry(terms, None, Some(first)));
            self.list(pair(sell(3, 110, 4), None, first));
            self.list(pair(sell(3, 110, 4), first.condition, stop(90, 0)));
            for second in legs {
                self.list(entry(terms, Some(first), Some(second)));
            }
            self.end_lists();
        }
        for &time_in_force in TimeInForce::ALL {
            let timed = |leg: Leg| Leg { time_in_force, ..leg };
            self.list(entry(NewOrder { time_in_force, ..terms }, Some(limit(110)), None));
            self.list(entry(terms, Some(timed(limit(110))), Some(timed(stop(90, 0)))));
            self.list(pair(NewOrder { time_in_force, ..sell(3, 110, 4) }, None, stop(90, 0)));
            self.list(pair(sell(3, 110, 4), None, timed(stop(90, 0))));
        }
        for &kind in OrderKind::ALL {
            self.list(entry(NewOrder { kind, ..terms }, Some(limit(110)), None));
            self.list(entry(terms, Some(Leg { kind, ..limit(110) }), None));
            self.list(entry(terms, None, Some(Leg { kind, ..stop(90, 89) })));
            self.list(pair(NewOrder { kind, ..sell(3, 110, 4) }, None, stop(90, 0)));
        }
        self.end_lists();
        self.place(buy(1, 98, 1));
        let mut odd = [sell(3, 98, 4), sell(3, 110, 0), sell(3, 110, i64::MAX), sell(3, 0, 4)];
        odd[1].size = OrderSize::Quote(Amount(500));
        for terms in odd {
            self.list(pair(terms, None, stop(90, 0)));
            self.list(entry(terms, None, Some(stop(120, 0))));
        }
        let client_order_id: ClientOrderId = "list".parse().expect("it is short");
        let named = NewOrder { client_order_id, ..buy(3, 99, 4) };
        for list in [
            entry(named, Some(limit(98)), None),
            entry(named, Some(limit(98)), None),
            entry(named, Some(limit(110)), None),
            pair(named, None, stop(110, 0)),
        ] {
            self.list(list);
        }
        self.end_lists();
    }

    fn pairs_end(&mut self) {
        let ends: [Step<'_>; 7] = [
            &|script, _| {
                script.place(buy(1, 110, 2));
            },
            &|script, _| script.trade_of_others_at(90),
            &|script, first| {
                script.cancel(3, first);
            },
            &|script, first| {
                script.cancel(3, OrderId(first.0 + 1));
            },
            &|script, _| {
                let self_trade = Some(SelfTrade::Decrement);
                script.place(NewOrder { self_trade, ..buy(3, 110, 1) });
            },
            &|script, _| {
                let self_trade = Some(SelfTrade::CancelBoth);
                script.place(NewOrder { self_trade, ..buy(3, 110, 1) });
            },
            &|script, first| script.amend(3, first, None, Some(2)),
        ];
        for second in [stop(90, 89), stop(90, 0), trailing(5, 80), trailing(5, 0)] {
            for end in ends {
                for waits in [false, true] {
                    self.trade_of_others_at(100);
                    let condition = touched(110, 0).condition.filter(|_| waits);
                    let price = if waits { 108 } else { 110 };
                    let first = self.list(pair(sell(3, price, 4), condition, second));
                    end(self, first);
                    self.settle();
                    self.trade_of_others_at(94);
                    self.trade_of_others_at(110);
                    self.end_lists();
                }
            }
        }
        // The second order needs more than the first.
        self.trade_of_others_at(100);
        self.list(pair(buy(3, 90, 5), None, stop(110, 112)));
        self.trade_of_others_at(110);
        self.end_lists();
    }

    fn entries_trade(&mut self) {
        let exits = [
            (Some(limit(110)), Some(stop(90, 89))),
            (Some(limit(110)), Some(trailing(5, 0))),
            (Some(touched(110, 109)), Some(stop(90, 0))),
            (Some(touched(110, 0)), None),
            (Some(limit(110)), None),
            (None, Some(stop(90, 0))),
            (None, Some(trailing(5, 85))),
        ];
        for (profit, loss) in exits {
            for price in [90, 95, 110, 100] {
                self.trade_of_others_at(100);
                let first = self.list(entry(buy(3, 99, 10), profit, loss));
                self.place(sell(1, 99, 3));
                self.settle();
                self.place(sell(1, 99, 2));
                self.settle();
                if price == 100 {
                    self.cancel(3, first);
                }
                // It trades on, and its exits trade before that is read.
                self.place(sell(1, 99, 1));
                self.place(buy(1, 110, 2));
                self.settle();
                self.place(buy(2, 89, 20));
                self.trade_of_others_at(price);
                self.end_lists();
            }
            // As an incoming order it trades with more than one command may touch.
            self.rest(300, sell(1, 99, 1));
            self.list(entry(buy(3, 99, 290), profit, loss));
            self.settle();
            self.end_lists();
        }
    }

    fn exits_at_once(&mut self) {
        self.trade_of_others_at(100);
        let incoming =
            |quantity| NewOrder { time_in_force: TimeInForce::Ioc, ..buy(3, 100, quantity) };
        for (profit, loss) in [
            (Some(limit(99)), Some(stop(90, 0))),
            (Some(touched(99, 98)), Some(stop(90, 0))),
            (Some(limit(110)), Some(stop(101, 99))),
            (None, Some(stop(101, 0))),
        ] {
            self.rest(2, buy(1, 99, 2));
            self.place(sell(1, 100, 3));
            self.list(entry(incoming(5), profit, loss));
            self.settle();
            self.end_lists();
        }
        // More makers than one command touches, so that a tick continues with the exit.
        self.rest(300, buy(1, 99, 1));
        self.place(sell(1, 100, 290));
        self.list(entry(incoming(290), Some(limit(99)), None));
        self.settle();
        self.end_lists();
    }

    fn exits_are_refused(&mut self) {
        self.trade_of_others_at(100);
        let account = AccountId(3);
        let target = RestrictionTarget::Account(account);
        let set = |restriction| {
            Command::Restrict(Restrict { target, restriction, by_member: false, cancel: false })
        };
        for has_exits in [false, true] {
            self.list(entry(buy(3, 99, 10), Some(limit(110)), Some(stop(90, 0))));
            self.place(sell(1, 99, 3));
            if has_exits {
                self.settle();
                self.place(sell(1, 99, 3));
            }
            self.does(set(Restriction::CancelOnly));
            self.settle();
            self.does(set(Restriction::None));
            self.end_lists();
        }
        // The account has moved what it bought.
        let currency = self.venue.reference.listed(SPOT).expect("it is listed");
        let currency = currency.instrument.spec.base;
        for number in 0..2 {
            self.list(entry(buy(3, 99, 10), Some(limit(110)), Some(stop(90, 0))));
            self.place(sell(1, 99, 3));
            if number == 1 {
                self.settle();
                self.place(sell(1, 99, 3));
            }
            let held = self.venue.reference.balances();
            let (available, _) = held.get(&(account, currency)).copied().unwrap_or_default();
            let reference = format!("moved-{number}").parse().expect("it is short");
            let transfer = Transfer { account, currency, amount: Amount(available), reference };
            self.does(Command::Withdraw(transfer));
            self.settle();
            let reference = format!("back-{number}").parse().expect("it is short");
            self.does(Command::deposit(Transfer { reference, ..transfer }));
            self.end_lists();
        }
    }

    fn entries_are_amended(&mut self) {
        self.trade_of_others_at(100);
        for has_traded in [false, true] {
            let first = self.list(entry(buy(3, 95, 10), Some(limit(110)), Some(stop(90, 89))));
            if has_traded {
                self.place(sell(1, 95, 2));
                self.settle();
            }
            for price in [110, 109, 90, 91, 111, 89] {
                self.amend(3, first, Some(price), None);
                self.settle();
            }
            self.amend(3, first, Some(95), Some(20));
            self.place(sell(1, 96, 4));
            self.amend(3, first, Some(96), None);
            self.settle();
            let (account, price) = (AccountId(3), Some(Price(120)));
            for order in 1..=2 {
                let order = OrderRef::Id(OrderId(first.0 + order));
                self.does(Command::Amend(Amend { account, order, price, quantity: None }));
            }
            self.end_lists();
        }
    }

    fn lists_of_auctions(&mut self) {
        self.trade_of_others_at(100);
        self.set_state(SPOT, InstrumentState::Call);
        self.list(pair(sell(3, 102, 4), None, stop(90, 0)));
        self.list(entry(buy(3, 103, 6), Some(limit(110)), Some(stop(90, 0))));
        self.list(entry(sell(2, 101, 5), Some(limit(95)), Some(stop(120, 0))));
        self.place(buy(1, 103, 5));
        self.set_state(SPOT, InstrumentState::Halted);
        self.settle();
        self.set_state(SPOT, InstrumentState::Open);
        self.end_lists();
        self.set_state(SPOT, InstrumentState::Call);
        for _ in 0..150 {
            self.list(entry(buy(3, 101, 1), Some(limit(110)), Some(stop(90, 0))));
            self.list(pair(sell(1, 100, 1), None, stop(90, 0)));
        }
        self.set_state(SPOT, InstrumentState::Open);
        self.end_lists();
    }

    fn lists_that_time_ends(&mut self) {
        self.trade_of_others_at(100);
        let soon = |script: &Script| Timestamp(script.venue.time.0 + 1_000);
        let in_time =
            |leg: Leg, expire_at| Leg { time_in_force: TimeInForce::Gtd, expire_at, ..leg };
        let at = soon(self);
        self.list(pair(sell(3, 110, 4), None, in_time(stop(90, 0), at)));
        let terms = NewOrder { time_in_force: TimeInForce::Gtd, expire_at: at, ..buy(3, 99, 4) };
        self.list(entry(terms, Some(in_time(limit(110), at)), Some(in_time(stop(90, 0), at))));
        self.place(sell(1, 99, 2));
        self.settle();
        self.list(entry(buy(3, 99, 4), Some(in_time(limit(110), at)), None));
        self.place(sell(1, 99, 2));
        self.pass(2_000);
        self.settle();
        self.end_lists();
    }

    fn many_lists(&mut self) {
        self.trade_of_others_at(100);
        for _ in 0..200 {
            self.list(pair(sell(3, 110, 1), None, stop(90, 0)));
        }
        self.place(buy(1, 110, 190));
        self.settle();
        for _ in 0..200 {
            self.list(entry(buy(3, 99, 2), Some(limit(110)), Some(stop(90, 0))));
        }
        self.place(sell(1, 99, 350));
        self.settle();
        self.place(buy(2, 89, 400));
        self.trade_of_others_at(90);
        self.trade_of_others_at(100);
        self.end_lists();
        for _ in 0..300 {
            self.list(pair(sell(3, 110, 1), None, trailing(5, 0)));
        }
        self.mass_cancel(3, None, Some(Side::Sell));
        self.end_lists();
    }

    fn lists_of_a_withdrawn_instrument(&mut self) {
        self.trade_of_others_at(100);
        self.set_state(SPOT, InstrumentState::Call);
        for _ in 0..100 {
            self.list(entry(buy(3, 100, 2), Some(limit(110)), Some(stop(90, 0))));
        }
        self.place(sell(1, 100, 150));
        self.does(Command::SetInstrumentState { instrument: SPOT, state: InstrumentState::Open });
        self.set_state(SPOT, InstrumentState::Halted);
        self.set_state(SPOT, InstrumentState::Listed);
        self.set_state(SPOT, InstrumentState::Withdrawn);
        self.settle();
        self.set_state(SPOT, InstrumentState::Open);
        self.end_lists();
    }
}
