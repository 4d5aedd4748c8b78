//! Orders that wait for a trigger.

use super::{Chooser, SIDES};
use rialto_model::{
    Command, ConditionalOrder, InstrumentId, NewOrder, OrderKind, OrderSize, PostOnly, Price,
    Quantity, TimeInForce, Trigger, TriggerKind,
};

impl Chooser<'_> {
    pub(super) fn conditional(&mut self) -> Command {
        let mut terms = self.order();
        if self.dice.chance(93) {
            terms.post_only = PostOnly::Off;
            terms.minimum_quantity = Quantity::ZERO;
            terms.kind = self.dice.pick(&[OrderKind::Limit, OrderKind::Market]);
            if terms.time_in_force == TimeInForce::Fok || terms.time_in_force.is_for_auction() {
                terms.time_in_force = TimeInForce::Ioc;
            }
            let rules = self.rules_of(terms.instrument);
            if matches!(terms.size, OrderSize::Quote(_)) {
                terms.size = OrderSize::Base(self.quantity(&rules));
            }
            terms.price = match terms.kind {
                OrderKind::Market if self.dice.chance(80) => Price::ZERO,
                _ => self.price(&rules),
            };
        }
        let rules = self.rules_of(terms.instrument);
        let price = self.price(&rules);
        let trigger = self.trigger(price);
        let immediate = self.dice.chance(40);
        Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate })
    }

    /// Hundreds of small orders with few triggers, which one price triggers.
    pub(super) fn many_conditional(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let many = 40 + self.dice.below(260);
        (0..many)
            .map(|_| {
                let side = self.dice.pick(&SIDES);
                let price = self.price(&rules);
                let quantity = Quantity(self.dice.between(1, 2) * rules.lot.0);
                let in_force = [TimeInForce::Gtc, TimeInForce::Gtc, TimeInForce::Ioc];
                let terms = NewOrder {
                    time_in_force: self.dice.pick(&in_force),
                    ..NewOrder::limit(self.account(), instrument, side, quantity, price)
                };
                let at = self.price(&rules);
                let trigger = self.trigger(at);
                let immediate = self.dice.chance(10);
                Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate })
            })
            .collect()
    }

    fn trigger(&mut self, price: Price) -> Trigger {
        Trigger { kind: self.dice.pick(TriggerKind::ALL), price }
    }
}
