//! The books of the rows of auctions, and the check of what their events say.

use super::check::{Traded, refused, verify_core, verify_tally};
use crate::drive::{FundedCore, Rejected};
use crate::error::{BenchError, verify};
use crate::suite::Context;
use rialto_core::EventSink;
use rialto_model::{
    AccountId, Command, CurrencyId, DoneReason, Event, InstrumentState, Outcome, Price, Quantity,
    Uncrossed,
};
use rialto_workload::{CallAuction, MarketFlow, Tally, call_auction, fill_of};

/// Levels of the books, and those of a small run.
const LEVELS: [(u64, u64); 2] = [(1_000, 40), (20_000, 200)];

pub(super) const BOOK: &str = "Orders of 1,000 accounts that cross at one price, and one in a hundred that \
    do not. One in ten is a market order. The price, the volume and each trade are known from how the \
    book is made.";

/// The books of a run: 100,000 orders each.
pub(super) fn books(context: &Context<'_>) -> impl Iterator<Item = CallAuction> + use<> {
    let orders = context.sized(100_000, 2_000);
    let levels = LEVELS.map(|(full, small)| context.sized(full, small));
    levels.into_iter().map(move |levels| call_auction(orders, levels))
}

/// Whether a book is the one with more levels.
pub(super) fn is_deep(auction: &CallAuction) -> bool {
    auction.levels > LEVELS[0].0
}

/// What the events of auctions say, without the digest of the trades.
#[derive(Debug, Default)]
pub(super) struct Audit {
    pub(super) traded: Traded,
    /// Trades of an auction at its price.
    at_price: u64,
    /// The last result.
    result: Option<Uncrossed>,
    results: u64,
    /// Orders that ended with the auction, and what was left of them.
    ended: u64,
    ended_quantity: i128,
    /// Orders that ended for another reason.
    ended_otherwise: u64,
    rejected: u64,
}

impl EventSink for Audit {
    #[inline]
    fn event(&mut self, event: &Event) {
        match event {
            Event::Trade(trade) => {
                self.traded.take(&fill_of(trade));
                let price = self.result.as_ref().map(|result| result.price);
                self.at_price += u64::from(trade.auction && price == Some(trade.price));
            }
            Event::Uncrossed(result) => {
                self.result = Some(*result);
                self.results += 1;
            }
            Event::Done(done) if done.reason == DoneReason::AuctionEnded => {
                self.ended += 1;
                self.ended_quantity += i128::from(done.remaining.0);
            }
            Event::Done(_) => self.ended_otherwise += 1,
            Event::Rejected(_) => self.rejected += 1,
            _ => {}
        }
    }
}

/// An audit with the digest of all trades.
#[derive(Debug, Default)]
struct FullAudit {
    audit: Audit,
    tally: Tally,
}

impl EventSink for FullAudit {
    fn event(&mut self, event: &Event) {
        self.audit.event(event);
        if let Event::Trade(trade) = event {
            self.tally.take(&fill_of(trade));
        }
    }
}

impl Audit {
    /// Verifies price, volume, trades and ended orders of some rounds of an auction, and what the
    /// core holds after it.
    pub(super) fn verify(
        &self,
        case: &str,
        auction: &CallAuction,
        rounds: u64,
        funded: &FundedCore,
    ) -> Result<(), BenchError> {
        let Audit { traded, at_price, ref result, results, .. } = *self;
        let found = result.as_ref().map(|result| (result.price, result.volume, result.surplus));
        let expected: (Price, Quantity, Quantity) =
            (auction.price, auction.volume, auction.surplus);
        verify(case, "price, volume and surplus of the auction", found, Some(expected))?;
        verify(case, "results of auctions", results, rounds)?;
        verify(case, "trades at the price of the auction", at_price, traded.trades)?;
        let ended = (self.ended, self.ended_quantity);
        let all = (auction.ended * rounds, auction.ended_quantity * i128::from(rounds));
        verify(case, "orders that ended with the auction, and their quantity", ended, all)?;
        verify(case, "orders that ended otherwise", self.ended_otherwise, 0)?;
        verify(case, "rejected commands", self.rejected, 0)?;
        let kept = 2 * traded.quantity + self.ended_quantity;
        let placed = auction.placed_quantity * i128::from(rounds);
        verify(case, "the quantity that traded or ended", kept, placed)?;
        verify(case, "the state of the instrument", state(funded), Some(InstrumentState::Open))?;
        verify_core(case, &auction.flow, rounds, traded, &funded.core)
    }
}

/// The state of the instrument of the auction.
fn state(funded: &FundedCore) -> Option<InstrumentState> {
    let found = funded.core.instrument(CallAuction::INSTRUMENT);
    found.map(|found| found.instrument.state)
}

/// Applies the commands up to the end of the call, and verifies that nothing traded and every order is
/// in the book with its reserve.
pub(super) fn collect<S: EventSink>(
    case: &str,
    auction: &CallAuction,
    funded: &mut FundedCore,
    sink: &mut S,
) -> Result<(), BenchError> {
    for (position, command) in auction.parts().0.iter().enumerate() {
        accept(case, position, funded.command_into(command, sink))?;
    }
    verify(case, "the state of the instrument", state(funded), Some(InstrumentState::Call))
}

/// Verifies the book of a call before its first round ends: all orders are there, and nothing has
/// traded.
pub(super) fn verify_collected(
    case: &str,
    auction: &CallAuction,
    audit: &Audit,
    funded: &FundedCore,
) -> Result<(), BenchError> {
    verify(case, "trades in the call", audit.traded, Traded::default())?;
    let flow = &auction.flow;
    let resting: usize = funded.core.instruments().map(|found| found.open_orders).sum();
    verify(case, "the number of orders in the call", resting as u64, flow.placed)?;
    let core = &funded.core;
    let reserved = (1..=flow.accounts).map(AccountId).any(|account| {
        let balance = core.balance(account, CurrencyId(CallAuction::INSTRUMENT.0 as u16));
        balance.is_some_and(|balance| balance.reserved.0 > 0)
    });
    verify(case, "whether what is sold is reserved", reserved, true)
}

/// An error if a command was refused.
pub(super) fn accept(case: &str, position: usize, outcome: Outcome) -> Result<(), BenchError> {
    match outcome {
        Outcome::Rejected { reason } => Err(refused(case, position)(Rejected(reason))),
        _ => Ok(()),
    }
}

/// Lets the orders of a call trade, command by command, and passes each command to `apply` with its
/// number, from zero.
pub(super) fn uncross(
    case: &str,
    auction: &CallAuction,
    funded: &mut FundedCore,
    mut apply: impl FnMut(&mut FundedCore, &Command) -> Outcome,
) -> Result<(), BenchError> {
    let position = auction.flow.prefill;
    accept(case, position, apply(funded, auction.parts().1))?;
    while funded.core.has_background_work() {
        apply(funded, &Command::Tick);
    }
    Ok(())
}

/// A core with the accounts of an auction.
pub(super) fn open(flow: &MarketFlow) -> FundedCore {
    FundedCore::open(flow.resting_max, &flow.opening())
}

/// Runs an auction once, and verifies all that is known of it: each trade too.
pub(super) fn verify_auction(case: &str, auction: &CallAuction) -> Result<(), BenchError> {
    let mut funded = open(&auction.flow);
    let mut full = FullAudit::default();
    collect(case, auction, &mut funded, &mut full)?;
    verify_collected(case, auction, &full.audit, &funded)?;
    uncross(case, auction, &mut funded, |funded, command| funded.command_into(command, &mut full))?;
    verify_tally(case, &auction.flow, &full.tally)?;
    full.audit.verify(case, auction, 1, &funded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(alter: impl FnOnce(&mut CallAuction)) -> String {
        let mut auction = call_auction(2_000, 40);
        alter(&mut auction);
        verify_auction("case", &auction).expect_err("it is wrong").to_string()
    }

    #[test]
    fn auctions_pass_on_few_levels_and_on_many() {
        verify_auction("case", &call_auction(2_000, 40)).expect("it is right");
        verify_auction("case", &call_auction(2_000, 200)).expect("it is right");
    }

    #[test]
    fn another_price_is_noticed() {
        let said = said(|auction| auction.price.0 += 1);
        assert!(said.contains("price, volume and surplus"), "{said}");
    }

    #[test]
    fn an_order_that_did_not_trade_is_noticed() {
        // The last order of the call is a sell that crosses.
        let said = said(|auction| {
            auction.flow.commands.remove(auction.flow.prefill - 1);
            auction.flow.prefill -= 1;
        });
        assert!(said.contains("the number of orders in the call"), "{said}");
    }

    #[test]
    fn the_order_of_another_account_is_noticed() {
        let said = said(|auction| {
            let last = auction.flow.prefill - 1;
            if let Command::Place(order) = &mut auction.flow.commands[last] {
                order.account = AccountId(order.account.0 % 1_000 + 1);
            }
        });
        assert!(said.contains("the balance of account"), "{said}");
    }

    #[test]
    fn the_trades_of_two_orders_in_another_order_are_noticed() {
        // Two buys at one price of the book, whose turns change: all sums stay the same.
        let said = said(|auction| {
            let is_buy = |command: &Command| match command {
                Command::Place(order) => {
                    order.side == rialto_model::Side::Buy
                        && order.kind == rialto_model::OrderKind::Market
                }
                _ => false,
            };
            let places = (0..auction.flow.prefill).filter(|&at| is_buy(&auction.flow.commands[at]));
            let places: Vec<usize> = places.collect();
            auction.flow.commands.swap(places[3], places[4]);
        });
        assert!(said.contains("the trades"), "{said}");
    }

    #[test]
    fn lost_quantity_is_noticed() {
        let said = said(|auction| auction.placed_quantity += 1);
        assert!(said.contains("the quantity that traded or ended"), "{said}");
    }
}
