//! Keeps the simulated members funded: a deposit tops up a low balance.

use super::plan::{Plan, Purpose};
use crate::demo::markets::{CURRENCIES, MEMBERS, Role};
use rialto_feed::Feed;
use rialto_model::{Amount, Command, Transfer};

/// Deposits the missing amounts. The reference contains the sequence at which the balance was low,
/// so that the same shortage is not made up for twice.
pub(super) fn top_up(feed: &Feed, plan: &mut Plan) {
    for member in MEMBERS.iter().filter(|member| member.role != Role::Visitor) {
        for currency in &CURRENCIES {
            let code = currency.code.parse().expect("the constants are codes");
            let Some(listed) = feed.currency_by_code(&code) else { continue };
            let Some(balance) = feed.balance(member.account(), listed.id) else { continue };
            let funds = currency.amount(currency.funds);
            if balance.available.0 >= funds.0 / 4 {
                continue;
            }
            let reference = format!("top-{}-{}-{}", member.number, currency.code, balance.updated);
            let transfer = Transfer {
                account: member.account(),
                currency: listed.id,
                amount: Amount(funds.0 - balance.available.0),
                reference: reference.parse().expect("at most 36 printable bytes"),
            };
            plan.add(Purpose::Plain, Command::deposit(transfer));
        }
    }
}
