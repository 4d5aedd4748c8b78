//! Compares a core with what a flow must come to.

use crate::drive::FundedCore;
use crate::error::{BenchError, broken, verify};
use rialto_core::Core;
use rialto_model::{AccountId, Amount, CurrencyId};
use rialto_workload::{Fill, MarketFlow, Tally};

/// The trades of a run, without their digest, which takes as long as the orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traded {
    pub(super) trades: u64,
    pub(super) quantity: i128,
}

impl Traded {
    #[inline]
    pub(super) fn take(&mut self, fill: &Fill) {
        self.trades += 1;
        self.quantity += i128::from(fill.quantity.0);
    }

    /// As many trades, some rounds of them.
    pub(super) fn rounds(self, rounds: u64) -> Traded {
        Traded { trades: self.trades * rounds, quantity: self.quantity * i128::from(rounds) }
    }
}

impl From<Tally> for Traded {
    fn from(tally: Tally) -> Traded {
        Traded { trades: tally.trades, quantity: tally.traded_quantity }
    }
}

/// Verifies trades, resting orders, every balance, and the invariants of the core, after some
/// rounds of a flow.
pub(super) fn verify_core(
    case: &str,
    flow: &MarketFlow,
    rounds: u64,
    traded: Traded,
    core: &Core,
) -> Result<(), BenchError> {
    let expected = Traded::from(flow.expected.tally).rounds(rounds);
    verify(case, "what traded", traded, expected)?;
    verify_state(case, flow, rounds, core)
}

/// The same without the trades, which leave their marks in the balances.
pub(super) fn verify_state(
    case: &str,
    flow: &MarketFlow,
    rounds: u64,
    core: &Core,
) -> Result<(), BenchError> {
    core.check().map_err(broken(case, "find the core sound"))?;
    let resting: usize = core.instruments().map(|instrument| instrument.open_orders).sum();
    verify(case, "the number of resting orders", resting as u64, flow.expected.resting)?;
    for account in (1..=flow.accounts).map(AccountId) {
        for currency in (1..=flow.quote().0).map(CurrencyId) {
            let has = core.balance(account, currency).unwrap_or_default();
            let all = Amount(has.available.0 + has.reserved.0);
            let what = format!("the balance of account {account} in currency {currency}");
            verify(case, &what, all, flow.balance(account, currency, rounds))?;
        }
    }
    let fees = core.balance(AccountId::FEES, flow.quote()).unwrap_or_default();
    verify(case, "the fees", fees.available, flow.fees(rounds))
}

/// Verifies the digest of all trades, of one round.
pub(super) fn verify_tally(case: &str, flow: &MarketFlow, tally: &Tally) -> Result<(), BenchError> {
    verify(case, "the trades", *tally, flow.expected.tally)
}

/// Runs a flow once through a core, and verifies everything.
pub(super) fn verify_flow(case: &str, flow: &MarketFlow) -> Result<(), BenchError> {
    let mut core = FundedCore::open(flow.resting_max, &flow.opening());
    let mut tally = Tally::default();
    for (position, command) in flow.commands.iter().enumerate() {
        core.apply(command, &mut |fill| tally.take(fill)).map_err(refused(case, position))?;
    }
    verify_tally(case, flow, &tally)?;
    verify_core(case, flow, 1, tally.into(), &core.core)
}

/// For `map_err`: the error of a command that must be accepted.
pub(super) fn refused<E>(case: &str, position: usize) -> impl FnOnce(E) -> BenchError
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |error| BenchError::Refused { case: case.to_string(), position, source: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::{Command, InstrumentId, NewOrder, Price, Quantity, Side};
    use rialto_workload::{crossed_levels, qaexchange};

    fn after(flow: &MarketFlow, commands: &[Command]) -> (FundedCore, Tally) {
        let mut core = FundedCore::open(flow.resting_max, &flow.opening());
        let mut tally = Tally::default();
        for command in commands {
            core.apply(command, &mut |fill| tally.take(fill)).expect("it is accepted");
        }
        (core, tally)
    }

    #[test]
    fn a_flow_that_ran_passes() {
        verify_flow("case", &qaexchange(1_000)).expect("it is right");
        verify_flow("case", &crossed_levels(10, 20)).expect("it is right");
    }

    #[test]
    fn a_command_that_is_missing_is_noticed() {
        let flow = qaexchange(1_000);
        let (core, tally) = after(&flow, &flow.commands[..999]);
        assert!(verify_core("case", &flow, 1, tally.into(), &core.core).is_err());
    }

    #[test]
    fn the_trades_of_others_are_noticed_though_their_number_is_right() {
        let flow = crossed_levels(10, 1);
        let mut commands = flow.commands.clone();
        let last = commands.len() - 1;
        // The same order of another account.
        if let Command::Place(order) = &mut commands[last] {
            order.account = AccountId(50);
        }
        let (core, tally) = after(&flow, &commands);
        assert_eq!(tally, flow.expected.tally);
        let said =
            verify_core("case", &flow, 1, tally.into(), &core.core).expect_err("it is wrong");
        assert!(said.to_string().contains("the balance of account"), "{said}");
    }

    #[test]
    fn an_order_too_many_is_noticed() {
        let flow = crossed_levels(10, 1);
        let (mut core, tally) = after(&flow, &flow.commands);
        let (account, instrument) = (AccountId(1), InstrumentId(1));
        let order = NewOrder::limit(account, instrument, Side::Buy, Quantity(1), Price(1));
        core.apply(&Command::Place(order), &mut |_| {}).expect("it rests");
        let said =
            verify_core("case", &flow, 1, tally.into(), &core.core).expect_err("it is wrong");
        assert!(said.to_string().contains("resting orders"), "{said}");
    }
}
