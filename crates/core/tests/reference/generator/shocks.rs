//! Prices that jump away from all others.

use super::{Chooser, SIDES};
use rialto_model::{Command, NewOrder, Price, Quantity, Side, TimeInForce, TradingRules};

/// Prices of a jump, on every tick that there is, and further away than any others.
const HIGH: [i64; 3] = [150, 200, 300];
const LOW: [i64; 3] = [50, 30, 20];

impl Chooser<'_> {
    /// Orders far from all others, and one that takes all that is on the way to them, and maybe stays there.
    pub(super) fn price_shock(&mut self) -> Vec<Command> {
        let instrument = self.instrument();
        let TradingRules { lot, .. } = self.rules_of(instrument);
        let taker = self.dice.pick(&SIDES);
        let prices = if taker == Side::Buy { HIGH } else { LOW };
        let order = |chooser: &mut Self, side, price, lots: i64| {
            let account = chooser.account();
            let quantity = Quantity(chooser.dice.between(1, lots) * lot.0);
            NewOrder::limit(account, instrument, side, quantity, Price(price))
        };
        let mut commands: Vec<_> = prices
            .into_iter()
            .map(|price| Command::Place(order(self, taker.opposite(), price, 3)))
            .collect();
        let far = self.dice.pick(&prices);
        let time_in_force = self.dice.pick(&[TimeInForce::Ioc, TimeInForce::Gtc]);
        commands.push(Command::Place(NewOrder { time_in_force, ..order(self, taker, far, 60) }));
        commands
    }
}
