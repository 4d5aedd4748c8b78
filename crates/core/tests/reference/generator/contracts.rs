//! The terms of contracts.

use super::Chooser;
use rialto_model::{Amount, Command, ContractTerms, InstrumentId, LotFees};

impl Chooser<'_> {
    /// Mostly about an instrument without open orders: fees by the lot change only there.
    pub(super) fn contract(&mut self) -> Command {
        let is_empty = |id: &InstrumentId| !self.now.orders.iter().any(|it| it.instrument == *id);
        let listed = self.now.instruments.iter().map(|listed| listed.instrument.id);
        let empty: Vec<InstrumentId> = listed.filter(is_empty).collect();
        let instrument = match empty.is_empty() || self.dice.chance(30) {
            true => self.instrument(),
            false => self.dice.pick(&empty),
        };
        let notional_max = self.dice.pick(&[0, 0, 0, 0, 3_000, 30_000]);
        let mut terms = ContractTerms { notional_max: Amount(notional_max), lot_fees: None };
        if self.dice.chance(70) {
            let taker = self.dice.pick(&[0, 1, 1, 7, 90, 900]);
            terms.lot_fees = Some(LotFees {
                maker: Amount(self.dice.pick(&[-taker, 0, taker / 2, taker])),
                taker: Amount(taker),
                auction: Amount(self.dice.pick(&[0, taker / 2, taker])),
            });
        }
        match (self.dice.below(30), &mut terms.lot_fees) {
            (0, _) => terms.notional_max = Amount(self.dice.pick(&[-1, 1, (1 << 100) + 1])),
            (1, Some(fees)) => fees.maker.0 = fees.taker.0 + 1,
            (2, Some(fees)) => fees.auction.0 = self.dice.pick(&[-1, fees.taker.0 + 1]),
            (3, Some(fees)) => fees.taker.0 = self.dice.pick(&[-1, 1 << 63]),
            _ => {}
        }
        Command::SetContractTerms { instrument, terms }
    }
}
