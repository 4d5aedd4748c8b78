//! Linked orders.

use super::{Chooser, SIDES};
use rialto_model::{
    AccountId, Command, Condition, InstrumentId, Leg, LinkKind, NewOrder, OrderKind, OrderList,
    OrderSize, PostOnly, Price, Quantity, Restrict, Restriction, RestrictionTarget, Side,
    TimeInForce, Timestamp, TradingRules, Trigger, TriggerKind,
};

impl Chooser<'_> {
    pub(super) fn list(&mut self) -> Command {
        let terms = self.order();
        let list = match self.dice.chance(45) {
            true => self.pair(terms),
            false => self.entry(terms),
        };
        Command::PlaceList(if self.dice.chance(6) { self.spoilt(list) } else { list })
    }

    /// A list that was entered before, the same or changed.
    pub(super) fn list_again(&mut self, mut list: OrderList) -> Command {
        match self.dice.below(8) {
            0 => list.take_profit = None,
            1 => list.kind = self.dice.pick(LinkKind::ALL),
            2 => list.stop_loss = list.stop_loss.map(|leg| Leg { price: Price(101), ..leg }),
            3 => return Command::Place(list.terms),
            _ => {}
        }
        Command::PlaceList(list)
    }

    /// What the last trade of an instrument was at, or about there.
    pub(super) fn around(&self, instrument: InstrumentId, rules: &TradingRules) -> i64 {
        let last = self.now.listed(instrument).ok().and_then(|listed| listed.last_price);
        let ticks = last.map_or(100, |last| last.0) / rules.tick.0;
        // Prices that went astray are left alone.
        if (1..1_000).contains(&ticks) { ticks } else { 100 / rules.tick.0 }
    }

    /// The price that is some ticks better than another one for an order of this side.
    pub(super) fn better(
        &mut self,
        side: Side,
        rules: &TradingRules,
        from: i64,
        ticks: i64,
    ) -> Price {
        let ticks = if side == Side::Sell { from + ticks } else { from - ticks };
        Price(ticks * rules.tick.0)
    }

    fn plain(&mut self, mut terms: NewOrder) -> NewOrder {
        terms.kind = OrderKind::Limit;
        terms.minimum_quantity = Quantity::ZERO;
        if !terms.time_in_force.rests_in_trading() {
            terms.time_in_force = TimeInForce::Gtc;
            terms.expire_at = Timestamp::ZERO;
        }
        if matches!(terms.size, OrderSize::Quote(_)) {
            terms.size = OrderSize::Base(self.quantity(&self.rules_of(terms.instrument)));
        }
        terms
    }

    fn pair(&mut self, terms: NewOrder) -> OrderList {
        let mut terms = self.plain(terms);
        let rules = self.rules_of(terms.instrument);
        let from = self.around(terms.instrument, &rules);
        let mut condition = None;
        let ticks = self.dice.between(1, 3);
        let better = self.better(terms.side, &rules, from, ticks);
        if self.dice.chance(35) {
            let kind = TriggerKind::TakeProfit;
            condition = Some(Condition::Trigger(Trigger { kind, price: better }));
            terms.post_only = PostOnly::Off;
            terms.price = self.better(terms.side, &rules, from, ticks - 2);
        } else {
            terms.price = better;
        }
        let stop_loss = Some(self.stop_loss(terms.side, &rules, from));
        OrderList { terms, condition, kind: LinkKind::Oco, take_profit: None, stop_loss }
    }

    fn entry(&mut self, mut terms: NewOrder) -> OrderList {
        let rules = self.rules_of(terms.instrument);
        let exit = terms.side.opposite();
        let from = self.around(terms.instrument, &rules);
        if terms.kind == OrderKind::Limit && terms.price != Price::ZERO && self.dice.chance(85) {
            let ticks = self.dice.between(-1, 1);
            terms.price = self.better(terms.side, &rules, from, ticks);
        }
        let which = self.dice.weighted(&[25, 20, 55]);
        // Mostly beyond the limit, and now and then where the exit trades or is triggered at once.
        let ticks = self.dice.between(1, 3) + i64::from(self.dice.chance(70));
        let price = self.better(exit, &rules, from, ticks);
        let profit = self.take_profit(exit, &rules, from, price);
        let beside = from - i64::from(self.dice.chance(40));
        let loss = self.stop_loss(exit, &rules, beside);
        OrderList {
            terms,
            condition: None,
            kind: LinkKind::Oto,
            take_profit: (which != 1).then_some(profit),
            stop_loss: (which != 0).then_some(loss),
        }
    }

    fn take_profit(&mut self, side: Side, rules: &TradingRules, from: i64, price: Price) -> Leg {
        if self.dice.chance(65) {
            return self.with_a_time(Leg {
                condition: None,
                kind: OrderKind::Limit,
                time_in_force: TimeInForce::Gtc,
                price,
                expire_at: Timestamp::ZERO,
            });
        }
        let condition = Condition::Trigger(Trigger { kind: TriggerKind::TakeProfit, price });
        self.leg(side, rules, from, condition)
    }

    pub(super) fn stop_loss(&mut self, side: Side, rules: &TradingRules, from: i64) -> Leg {
        let mut condition = Condition::Trail(self.trail(rules));
        if self.dice.chance(70) {
            let ticks = -self.dice.between(1, 3);
            let price = self.better(side, rules, from, ticks);
            condition = Condition::Trigger(Trigger { kind: TriggerKind::Stop, price });
        }
        self.leg(side, rules, from, condition)
    }

    /// An order that waits, and whose limit may suit somebody when it is triggered.
    fn leg(&mut self, side: Side, rules: &TradingRules, from: i64, condition: Condition) -> Leg {
        let is_market = self.dice.chance(40);
        let trails = matches!(condition, Condition::Trail(_));
        let ticks = self.dice.between(-4, 1);
        let price = match is_market && (trails || self.dice.chance(80)) {
            true => Price::ZERO,
            false => self.better(side, rules, from, ticks),
        };
        let kind = if is_market { OrderKind::Market } else { OrderKind::Limit };
        let (time_in_force, expire_at) = (TimeInForce::Gtc, Timestamp::ZERO);
        let condition = Some(condition);
        self.with_a_time(Leg { condition, kind, time_in_force, price, expire_at })
    }

    fn with_a_time(&mut self, mut leg: Leg) -> Leg {
        match self.dice.weighted(&[80, 8, 4, 8]) {
            1 => {
                leg.time_in_force = TimeInForce::Gtd;
                leg.expire_at = self.time.saturating_add(1 + self.dice.below(5_000_000));
            }
            2 => leg.time_in_force = TimeInForce::Day,
            3 if leg.condition.is_some() => leg.time_in_force = TimeInForce::Ioc,
            _ => {}
        }
        leg
    }

    /// With something that may be wrong.
    fn spoilt(&mut self, mut list: OrderList) -> OrderList {
        let rules = self.rules_of(list.terms.instrument);
        let is_loss = self.dice.chance(50);
        let mut changed = if is_loss { list.stop_loss } else { list.take_profit };
        match self.dice.below(12) {
            0 => changed = None,
            1 => list.kind = self.dice.pick(LinkKind::ALL),
            2 => {
                let kind = self.dice.pick(TriggerKind::ALL);
                let price = self.price(&rules);
                list.condition = Some(Condition::Trigger(Trigger { kind, price }));
                return list;
            }
            3 => {
                list.condition = Some(Condition::Trail(self.trail(&rules)));
                return list;
            }
            4 => {
                return OrderList {
                    stop_loss: list.take_profit,
                    take_profit: list.stop_loss,
                    ..list
                };
            }
            _ => {
                if let Some(leg) = &mut changed {
                    match self.dice.below(7) {
                        0 => leg.kind = self.dice.pick(OrderKind::ALL),
                        1 => leg.time_in_force = self.dice.pick(TimeInForce::ALL),
                        2 => leg.price = self.price(&rules),
                        3 => leg.expire_at = self.time,
                        4 => leg.condition = None,
                        5 => {
                            let kind = self.dice.pick(TriggerKind::ALL);
                            let price = self.price(&rules);
                            leg.condition = Some(Condition::Trigger(Trigger { kind, price }));
                        }
                        _ => leg.condition = Some(Condition::Trail(self.trail(&rules))),
                    }
                }
            }
        }
        *(if is_loss { &mut list.stop_loss } else { &mut list.take_profit }) = changed;
        list
    }

    /// A list, and orders of other accounts that trade with it part by part, or move the price to a trigger.
    pub(super) fn list_and_its_end(&mut self) -> Vec<Command> {
        match self.dice.below(20) {
            0..5 => return self.exit_at_once(),
            5..8 => return self.exit_before_it_grows(),
            _ => {}
        }
        let mut commands = vec![];
        let mut terms = self.order();
        terms.instrument = InstrumentId(1);
        let rules = self.rules_of(terms.instrument);
        terms.size = OrderSize::Base(Quantity(self.dice.between(2, 9) * rules.lot.0));
        let is_pair = self.dice.chance(35);
        let plain = self.plain(terms);
        let list = if is_pair { self.pair(plain) } else { self.entry(plain) };
        let from = self.around(terms.instrument, &rules);
        let accounts: Vec<AccountId> = self.now.accounts.keys().copied().collect();
        commands.push(Command::PlaceList(list));
        for _ in 0..1 + self.dice.below(6) {
            if self.dice.chance(35) {
                commands.push(Command::Tick);
            }
            let side = match self.dice.chance(60) {
                true => list.terms.side.opposite(),
                false => list.terms.side,
            };
            let ticks = self.dice.between(-4, 2);
            let price = self.better(side, &rules, from, ticks);
            let quantity = Quantity(self.dice.between(1, 4) * rules.lot.0);
            let account = self.dice.pick(&accounts);
            let order = NewOrder::limit(account, terms.instrument, side, quantity, price);
            commands.push(Command::Place(order));
        }
        commands
    }

    /// An entry that trades at once, and whose exit then trades with somebody else's order.
    fn exit_at_once(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let side = self.dice.pick(&SIDES);
        let from = self.around(instrument, &rules);
        let at = Price(from * rules.tick.0);
        let near = self.better(side, &rules, from, 1);
        let lots = self.dice.between(1, 4);
        let (less, more) = (self.dice.between(0, 1), self.dice.between(0, 1));
        let order = |chooser: &mut Self, side, price, lots| {
            let account = chooser.account();
            NewOrder::limit(account, instrument, side, Quantity(lots * rules.lot.0), price)
        };
        let opposite = order(self, side.opposite(), at, lots);
        let same = order(self, side, near, lots + 1 - less);
        let mut terms = order(self, side, at, lots + more);
        terms.time_in_force = TimeInForce::Ioc;
        let profit = self.take_profit(side.opposite(), &rules, from, near);
        let loss = self.stop_loss(side.opposite(), &rules, from - 1);
        let list = OrderList {
            terms,
            condition: None,
            kind: LinkKind::Oto,
            take_profit: Some(profit),
            stop_loss: self.dice.chance(70).then_some(loss),
        };
        vec![
            Command::Place(opposite),
            Command::Place(same),
            Command::PlaceList(list),
            Command::Tick,
            Command::Tick,
        ]
    }

    /// An entry that trades on, and whose exit trades before it is made larger.
    fn exit_before_it_grows(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let side = self.dice.pick(&SIDES);
        let from = self.around(instrument, &rules);
        let at = Price(from * rules.tick.0);
        let profit_at = self.better(side.opposite(), &rules, from, 1);
        let order = |chooser: &mut Self, side, price, lots| {
            let account = chooser.account();
            NewOrder::limit(account, instrument, side, Quantity(lots * rules.lot.0), price)
        };
        let terms = order(self, side, at, 9);
        let loss = self.stop_loss(side.opposite(), &rules, from - 1);
        let list = OrderList {
            terms,
            condition: None,
            kind: LinkKind::Oto,
            take_profit: Some(Leg {
                condition: None,
                kind: OrderKind::Limit,
                time_in_force: TimeInForce::Gtc,
                price: profit_at,
                expire_at: Timestamp::ZERO,
            }),
            stop_loss: self.dice.chance(70).then_some(loss),
        };
        let more = self.dice.between(1, 4);
        let mut commands = vec![
            Command::PlaceList(list),
            Command::Place(order(self, side.opposite(), at, 3)),
            Command::Tick,
            Command::Tick,
            Command::Place(order(self, side.opposite(), at, more)),
            Command::Place(order(self, side, profit_at, 2)),
            Command::Tick,
        ];
        if self.dice.chance(40) {
            // A restriction refuses that they become larger.
            let set = |restriction| {
                let target = RestrictionTarget::Account(terms.account);
                let (by_member, cancel) = (false, false);
                Command::Restrict(Restrict { target, restriction, by_member, cancel })
            };
            commands[5] = set(Restriction::CancelOnly);
            commands.push(set(Restriction::None));
        }
        commands
    }

    /// Many small pairs and entries at few prices, and orders that trade with them.
    pub(super) fn many_lists(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let many = 20 + self.dice.below(120);
        let pairs = self.dice.pick(&[0, 50, 100]);
        let one = |chooser: &mut Self| {
            let side = chooser.dice.pick(&SIDES);
            let price = chooser.price(&rules);
            let quantity = Quantity(chooser.dice.between(1, 3) * rules.lot.0);
            let terms = NewOrder::limit(chooser.account(), instrument, side, quantity, price);
            if chooser.dice.chance(20) {
                return Command::Place(terms);
            }
            let list = match chooser.dice.chance(pairs) {
                true => chooser.pair(terms),
                false => chooser.entry(terms),
            };
            Command::PlaceList(list)
        };
        (0..many).map(|_| one(self)).collect()
    }
}
