//! Orders that trade with many others: at many prices, or with hundreds.

use super::{Chooser, SIDES};
use rialto_model::{
    Amend, Amount, Command, Condition, InstrumentId, Leg, LinkKind, NewOrder, OrderKind, OrderList,
    OrderRef, OrderSize, PostOnly, Price, Quantity, SelfTrade, Side, TimeInForce, Timestamp,
    TradingRules, Trigger, TriggerKind,
};

impl Chooser<'_> {
    /// Orders at many prices of one side, and one that takes five of them.
    pub(super) fn many_levels(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let TradingRules { tick, lot, .. } = self.rules_of(instrument);
        let side = self.dice.pick(&SIDES);
        let away = if side == Side::Buy { -1 } else { 1 };
        let account = self.account();
        // Orders that its account cancels, at the last of its prices or at all of them.
        let own_from = self.dice.pick(&[1, 4, 5, 9, 9, 9]);
        let has_gaps = self.dice.chance(40);
        let mut commands = Vec::new();
        for ticks in 1..=8 {
            if has_gaps && self.dice.chance(30) {
                continue;
            }
            let quantity = Quantity(self.dice.between(1, 3) * lot.0);
            let price = Price((100 / tick.0 + away * ticks) * tick.0);
            let owner = if ticks >= own_from { account } else { self.account() };
            let order = NewOrder::limit(owner, instrument, side, quantity, price);
            commands.push(Command::Place(order));
        }
        let quantity = Quantity(self.dice.between(5, 40) * lot.0);
        let in_force = [
            TimeInForce::Ioc,
            TimeInForce::Fok,
            TimeInForce::Gtc,
            TimeInForce::Gtc,
            TimeInForce::Day,
            TimeInForce::Gfs,
        ];
        let many = if self.now.rules_version >= 10 { in_force.len() } else { 2 };
        let self_trade = if own_from < 9 { SelfTrade::CancelOldest } else { SelfTrade::Allow };
        let taker = side.opposite();
        let terms = NewOrder {
            kind: OrderKind::FiveLevels,
            time_in_force: self.dice.pick(&in_force[..many]),
            self_trade: self.dice.chance(90).then_some(self_trade),
            ..NewOrder::limit(account, instrument, taker, quantity, Price::ZERO)
        };
        if self.now.rules_version < 10 || self.dice.chance(75) {
            commands.push(Command::Place(terms));
            return commands;
        }
        // Exits beyond all levels on both sides, or a stop-loss among the levels.
        let rules = self.rules_of(instrument);
        let price = self.better(side, &rules, 100 / tick.0, 12);
        let profit = Leg {
            condition: None,
            kind: OrderKind::Limit,
            time_in_force: TimeInForce::Gtc,
            price,
            expire_at: Timestamp::ZERO,
        };
        let mut loss = self.stop_loss(side, &rules, 100 / tick.0);
        if self.dice.chance(35) {
            let ticks = 100 / tick.0 + away * self.dice.between(1, 4);
            let trigger = Trigger { kind: TriggerKind::Stop, price: Price(ticks * tick.0) };
            loss.condition = Some(Condition::Trigger(trigger));
        }
        commands.push(Command::PlaceList(OrderList {
            terms,
            condition: None,
            kind: LinkKind::Oto,
            take_profit: Some(profit),
            stop_loss: self.dice.chance(60).then_some(loss),
        }));
        commands
    }

    /// An order that trades with hundreds.
    pub(super) fn sweep(&mut self) -> Command {
        let rules = self.rules_of(InstrumentId(1));
        let far = |side| if side == Side::Buy { 4 } else { -4 };
        if !self.now.orders.is_empty() && self.dice.chance(30) {
            let order = &self.now.orders[self.dice.below(self.now.orders.len() as u64) as usize];
            let price = Price((100 / rules.tick.0 + far(order.side)) * rules.tick.0);
            let quantity = Quantity(order.filled.0 + self.dice.between(200, 800) * rules.lot.0);
            let (account, order) = (order.account, OrderRef::Id(order.id));
            let (price, quantity) = (Some(price), Some(quantity));
            return Command::Amend(Amend { account, order, price, quantity });
        }
        let mut order = self.order();
        if self.dice.chance(30) {
            order.kind = OrderKind::Market;
            order.time_in_force = self.dice.pick(&[TimeInForce::Ioc, TimeInForce::Fok]);
            order.post_only = PostOnly::Off;
            order.expire_at = Timestamp::ZERO;
            order.price = Price::ZERO;
            order.size = OrderSize::Quote(Amount(1));
        }
        order.instrument = InstrumentId(1);
        let lots = self.dice.between(100, 1_500);
        match &mut order.size {
            OrderSize::Base(quantity) => *quantity = Quantity(lots * rules.lot.0),
            OrderSize::Quote(amount) => {
                let listed = self.now.listed(InstrumentId(1)).expect("a world has an instrument");
                let each = 100 * i128::from(listed.instrument.quote_factor());
                *amount = Amount(i128::from(lots * rules.lot.0) * each);
            }
        }
        if self.now.rules_version >= 10 && self.dice.chance(30) {
            return Command::Place(NewOrder {
                kind: OrderKind::FiveLevels,
                time_in_force: TimeInForce::Gtc,
                post_only: PostOnly::Off,
                size: OrderSize::Base(Quantity(lots * rules.lot.0)),
                price: Price::ZERO,
                minimum_quantity: Quantity::ZERO,
                expire_at: Timestamp::ZERO,
                ..order
            });
        }
        if order.kind == OrderKind::Limit {
            order.price = Price((100 / rules.tick.0 + far(order.side)) * rules.tick.0);
        }
        Command::Place(order)
    }
}
