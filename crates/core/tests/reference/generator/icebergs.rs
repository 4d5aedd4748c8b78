//! Icebergs.

use super::{Chooser, SIDES};
use rialto_model::{
    Command, IcebergOrder, InstrumentId, NewOrder, OrderKind, OrderSize, Quantity, TimeInForce,
};

impl Chooser<'_> {
    pub(super) fn iceberg(&mut self) -> Command {
        let mut terms = self.order();
        let lot = self.rules_of(terms.instrument).lot.0;
        if self.dice.chance(93) {
            terms.kind = OrderKind::Limit;
            terms.minimum_quantity = Quantity::ZERO;
            if terms.time_in_force.trades_at_once() || terms.time_in_force.is_for_auction() {
                terms.time_in_force = TimeInForce::Gtc;
            }
            if terms.price.0 == 0 {
                terms.price = self.price(&self.rules_of(terms.instrument));
            }
            terms.size = OrderSize::Base(Quantity(self.dice.between(2, 20) * lot));
        }
        let display_quantity = match self.dice.below(100) {
            0..3 => Quantity(self.dice.pick(&[0, -1, 1, i64::MAX])),
            3..6 => Quantity(20 * lot),
            _ => Quantity(self.dice.between(1, 4) * lot),
        };
        Command::PlaceIceberg(IcebergOrder { terms, display_quantity })
    }

    /// Icebergs of many parts at few prices, and orders among them: a taker meets more parts than one
    /// command may touch.
    pub(super) fn many_icebergs(&mut self) -> Vec<Command> {
        let instrument = InstrumentId(1);
        let rules = self.rules_of(instrument);
        let many = 10 + self.dice.below(30);
        let one = |chooser: &mut Self| {
            let side = chooser.dice.pick(&SIDES);
            let price = chooser.price(&rules);
            let quantity = Quantity(chooser.dice.between(2, 101) * rules.lot.0);
            let account = chooser.account();
            let terms = NewOrder::limit(account, instrument, side, quantity, price);
            if chooser.dice.chance(30) {
                return Command::Place(terms);
            }
            let display_quantity = Quantity(chooser.dice.between(1, 2) * rules.lot.0);
            Command::PlaceIceberg(IcebergOrder { terms, display_quantity })
        };
        (0..many).map(|_| one(self)).collect()
    }
}
