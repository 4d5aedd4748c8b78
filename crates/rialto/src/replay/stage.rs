//! The venue that a file is replayed on: one instrument, and the accounts that the file names.

use super::operation::Overview;
use rialto_core::Limits;
use rialto_model::{
    AccountId, Amount, Command, CurrencyId, InstrumentId, InstrumentKind, InstrumentSpec, MemberId,
    Price, Scale, TradingRules,
};
use std::collections::HashMap;

/// The instrument of every replay.
pub(super) const INSTRUMENT: InstrumentId = InstrumentId(1);

/// The total of each currency over all accounts: half of the most that one currency may hold.
const DEPOSITS: i128 = rialto_core::HELD_MAX / 2;

/// The bounds of the venue: the most accounts, and room for a deep book.
pub(super) fn limits() -> Limits {
    Limits { orders_max: 1 << 26, ..Limits::default() }
}

/// The venue's account for each account of the file: its rank there, from 1, because the file may
/// use any numbers.
pub(super) fn accounts(overview: &Overview) -> HashMap<u32, AccountId> {
    (1..).zip(&overview.accounts).map(|(rank, account)| (*account, AccountId(rank))).collect()
}

/// The commands before the first operation: currencies, the instrument, and for each account a
/// member, the account and its deposits.
pub(super) fn commands(overview: &Overview, risk: bool) -> Vec<Command> {
    let Overview { price_scale, quantity_scale, .. } = *overview;
    let [base, quote] = overview.currencies.map(|code| code.parse().expect("a short plain word"));
    let quote_scale = Scale::new(price_scale.places() + quantity_scale.places())
        .expect("a file has at most 18 decimal places in price and quantity together");
    let mut commands = vec![
        Command::CreateCurrency { code: base, scale: quantity_scale },
        Command::CreateCurrency { code: quote, scale: quote_scale },
        Command::CreateInstrument(InstrumentSpec {
            symbol: overview.symbol.parse().expect("a short plain word"),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale,
            quantity_scale,
            rules: rules(overview.tick, risk),
        }),
    ];
    let accounts = u32::try_from(overview.accounts.len()).expect("the first pass counted them");
    for account in 1..=accounts {
        let name = format!("account-{account}").parse().expect("a short plain word");
        let member = MemberId(account);
        commands.push(Command::CreateMember { member, name });
        commands.push(Command::CreateAccount { account: AccountId(account), member, name });
        for currency in [1, 2] {
            commands.push(Command::deposit(rialto_model::Transfer {
                account: AccountId(account),
                currency: CurrencyId(currency),
                amount: Amount(DEPOSITS / i128::from(accounts)),
                reference: format!("replay-{currency}").parse().expect("a short plain word"),
            }));
        }
    }
    commands
}

/// Rules without limits: a replay shows the effect of the recorded orders on each other.
fn rules(tick: Price, risk: bool) -> TradingRules {
    TradingRules { tick, risk, ..TradingRules::unrestrained() }
}
