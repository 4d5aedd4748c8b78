//! Orders that trade with many others: at many prices, or with hundreds.

use super::{Chooser, SIDES};
use rialto_model::{
    Amend, Amount, Command, InstrumentId, NewOrder, OrderKind, OrderRef, OrderSize, PostOnly,
    Price, Quantity, Side, TimeInForce, Timestamp, TradingRules,
};

impl Chooser<'_> {
    /// Orders at many prices of one side, and one that takes five of them.
    pub(super) fn many_levels(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let TradingRules { tick, lot, .. } = self.rules_of(instrument);
        let side = self.dice.pick(&SIDES);
        let away = if side == Side::Buy { -1 } else { 1 };
        let mut commands: Vec<Command> = (1..=8)
            .map(|ticks| {
                let quantity = Quantity(self.dice.between(1, 3) * lot.0);
                let price = Price((100 / tick.0 + away * ticks) * tick.0);
                Command::Place(NewOrder::limit(self.account(), instrument, side, quantity, price))
            })
            .collect();
        let quantity = Quantity(self.dice.between(5, 40) * lot.0);
        commands.push(Command::Place(NewOrder {
            kind: OrderKind::FiveLevels,
            time_in_force: self.dice.pick(&[TimeInForce::Ioc, TimeInForce::Fok]),
            ..NewOrder::limit(self.account(), instrument, side.opposite(), quantity, Price::ZERO)
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
        if order.kind == OrderKind::Limit {
            order.price = Price((100 / rules.tick.0 + far(order.side)) * rules.tick.0);
        }
        Command::Place(order)
    }
}
