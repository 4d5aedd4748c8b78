//! The part of the script that only version 5 of the rules knows.

use super::{SPOT, Script, buy, market, sell};
use rialto_model::{
    Amount, AuctionRules, Command, ContractTerms, InstrumentId, InstrumentState, LotFees,
    OrderSize, Price, Quantity, Side, TradingRules,
};

fn lot_fees(maker: i128, taker: i128, auction: i128) -> Option<LotFees> {
    Some(LotFees { maker: Amount(maker), taker: Amount(taker), auction: Amount(auction) })
}

impl Script {
    pub(super) fn since_version_5(&mut self) {
        self.fees_by_the_lot();
        self.largest_notional();
        self.amended_quantities();
    }

    fn set_terms(&mut self, instrument: InstrumentId, terms: ContractTerms) {
        self.does(Command::SetContractTerms { instrument, terms });
    }

    /// The rules of the script with another lot.
    fn lots_of(&mut self, lot: i64) {
        let rules = TradingRules { tick: Price(1), lot: Quantity(lot), ..self.rules };
        self.set_rules(rules);
    }

    fn fees_by_the_lot(&mut self) {
        self.lots_of(5);
        for (maker, taker, auction) in [(-3, 7, 2), (7, 7, 7), (0, 0, 0), (-900, 900, 900)] {
            let lot_fees = lot_fees(maker, taker, auction);
            self.set_terms(SPOT, ContractTerms { lot_fees, ..ContractTerms::PLAIN });
            for price in [1, 100] {
                self.place(sell(1, price, 30));
                self.place(buy(2, price, 10));
                let id = self.place(buy(2, price + 1, 50));
                self.amend(2, id, Some(price), Some(40));
                self.place(sell(3, price, 5));
                self.place(market(4, Side::Sell, OrderSize::Quote(Amount(120))));
                self.set_terms(SPOT, ContractTerms::PLAIN);
                self.lots_of(1);
                self.clear();
                self.place(sell(1, price, 30));
                for amount in [50, 121, 700] {
                    self.place(market(4, Side::Buy, OrderSize::Quote(Amount(amount))));
                }
                self.clear();
                self.set_state(SPOT, InstrumentState::Call);
                self.place(sell(1, price, 30));
                self.place(buy(2, price + 1, 20));
                self.set_state(SPOT, InstrumentState::Open);
                self.settle();
                self.clear();
            }
        }
        for (lot_fees, notional_max) in
            [(lot_fees(2, 1, 0), 0), (lot_fees(0, 1, 2), 0), (None, -1), (None, 1)]
        {
            let notional_max = Amount(notional_max);
            self.set_terms(SPOT, ContractTerms { notional_max, lot_fees });
        }
        self.set_terms(InstrumentId(99), ContractTerms::PLAIN);
        self.set_terms(SPOT, ContractTerms::PLAIN);
    }

    fn largest_notional(&mut self) {
        self.lots_of(1);
        self.set_terms(SPOT, ContractTerms { notional_max: Amount(1_000), lot_fees: None });
        let id = self.place(buy(1, 100, 10));
        self.place(buy(1, 100, 11));
        self.amend(1, id, Some(101), None);
        self.place(sell(2, 100, 10));
        for amount in [1_000, 1_001] {
            self.place(market(3, Side::Sell, OrderSize::Quote(Amount(amount))));
        }
        let rules = TradingRules { notional_min: Amount(1_001), ..self.rules };
        self.set_rules(rules);
        self.set_terms(SPOT, ContractTerms::PLAIN);
        self.clear();
    }

    /// A price that is amended brings the quantity under the rules of today.
    fn amended_quantities(&mut self) {
        let id = self.place(buy(1, 100, 10));
        let rules = TradingRules { quantity_max: Quantity(9), ..self.rules };
        self.set_rules(rules);
        self.amend(1, id, Some(101), None);
        self.amend(1, id, Some(101), Some(9));
        self.set_rules(self.rules);
        self.does(Command::SetAuctionRules {
            instrument: SPOT,
            rules: AuctionRules::PLAIN,
            seed: 5,
        });
        self.clear();
    }
}
