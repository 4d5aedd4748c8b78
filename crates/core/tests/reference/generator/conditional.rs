//! Conditional orders.

use super::{Chooser, SIDES};
use rialto_model::{
    Command, ConditionalOrder, Distance, InstrumentId, NewOrder, OrderKind, OrderSize, PostOnly,
    Price, Quantity, TimeInForce, TradingRules, TrailTerms, TrailingOrder, Trigger, TriggerKind,
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

    pub(super) fn conditional_or_trailing(&mut self) -> Command {
        let Command::PlaceConditional(order) = self.conditional() else { unreachable!() };
        if self.now.rules_version < 6 || self.dice.chance(70) {
            return Command::PlaceConditional(order);
        }
        let rules = self.rules_of(order.terms.instrument);
        let trail = self.trail(&rules);
        Command::PlaceTrailing(TrailingOrder { terms: order.terms, trail })
    }

    /// Many small trailing stops at few distances, and trades at few prices among them.
    pub(super) fn many_trailing(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let many = 20 + self.dice.below(80);
        let one = |chooser: &mut Self| {
            let side = chooser.dice.pick(&SIDES);
            let price = chooser.price(&rules);
            let quantity = Quantity(chooser.dice.between(1, 2) * rules.lot.0);
            let in_force = [TimeInForce::Gtc, TimeInForce::Gtc, TimeInForce::Ioc];
            let terms = NewOrder {
                time_in_force: chooser.dice.pick(&in_force),
                ..NewOrder::limit(chooser.account(), instrument, side, quantity, price)
            };
            if chooser.dice.chance(15) {
                return Command::Place(terms);
            }
            let trail = chooser.trail(&rules);
            Command::PlaceTrailing(TrailingOrder { terms, trail })
        };
        (0..many).map(|_| one(self)).collect()
    }

    pub(super) fn trail(&mut self, rules: &TradingRules) -> TrailTerms {
        let distance = match self.dice.below(100) {
            0..2 => Distance::Price(Price(self.dice.between(-1, 1))),
            2..4 => Distance::Ppm(self.dice.pick(&[0, 999_999, 1_000_000, u32::MAX])),
            4..6 => Distance::Price(Price(i64::MAX / rules.tick.0 * rules.tick.0)),
            6..55 => Distance::Price(Price(self.dice.between(1, 6) * rules.tick.0)),
            _ => Distance::Ppm(self.dice.pick(&[1, 10_000, 20_000, 50_000])),
        };
        let activation_price = match self.dice.chance(50) {
            true => Price::ZERO,
            false => self.price(rules),
        };
        TrailTerms { distance, activation_price }
    }

    fn trigger(&mut self, price: Price) -> Trigger {
        Trigger { kind: self.dice.pick(TriggerKind::ALL), price }
    }
}
