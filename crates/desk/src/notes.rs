//! Adds commands and answers to the records of requests.

use crate::Answer;
use rialto_bus::Context;
use rialto_model::{
    AmendTrigger, Command, ConditionalOrder, Deposit, IcebergOrder, OrderList, OrderSize, Outcome,
    RestrictionTarget, TrailingOrder,
};

/// Records the account and the terms of a command. Prices and quantities are in units of the
/// instrument's scale, which the desk does not know.
pub(crate) fn note_command(command: &Command, cx: &Context<'_>) {
    if cx.trail_id() == 0 {
        return;
    }
    match command {
        Command::Place(order)
        | Command::PlaceConditional(ConditionalOrder { terms: order, .. })
        | Command::PlaceTrailing(TrailingOrder { terms: order, .. })
        | Command::PlaceIceberg(IcebergOrder { terms: order, .. })
        | Command::PlaceList(OrderList { terms: order, .. }) => {
            cx.note("account", &order.account.0);
            cx.note("instrument", &order.instrument.0);
            cx.note("side", &order.side);
            cx.note("price_units", &order.price.0);
            match order.size {
                OrderSize::Base(quantity) => cx.note("quantity_units", &quantity.0),
                OrderSize::Quote(amount) => cx.note("quote_units", &amount.0),
            }
            cx.note("time_in_force", &order.time_in_force);
            if let Command::PlaceConditional(ConditionalOrder { trigger, .. }) = command {
                cx.note("trigger", &trigger.kind);
                cx.note("trigger_price_units", &trigger.price.0);
            }
            if let Command::PlaceTrailing(TrailingOrder { trail, .. }) = command {
                cx.note("distance_kind", &trail.distance.kind());
                cx.note("distance", &trail.distance.value());
                cx.note("activation_price_units", &trail.activation_price.0);
            }
            if let Command::PlaceIceberg(IcebergOrder { display_quantity, .. }) = command {
                cx.note("display_quantity_units", &display_quantity.0);
            }
            if let Command::PlaceList(list) = command {
                cx.note("link", &list.kind);
            }
        }
        Command::Amend(amend) => cx.note("account", &amend.account.0),
        Command::AmendTrigger(AmendTrigger { amend, trigger_price }) => {
            cx.note("account", &amend.account.0);
            cx.note("trigger_price_units", &trigger_price.0);
        }
        Command::MassCancel(which) => cx.note("account", &which.account.0),
        Command::Cancel { account, .. }
        | Command::Disconnect { account }
        | Command::SetDeadMan { account, .. } => cx.note("account", &account.0),
        Command::SettleWithdrawal { account, reference }
        | Command::ReleaseWithdrawal { account, reference } => {
            cx.note("account", &account.0);
            cx.note("reference", &reference.as_str());
        }
        Command::Deposit(Deposit { transfer, .. })
        | Command::Withdraw(transfer)
        | Command::HoldWithdrawal(transfer) => {
            cx.note("account", &transfer.account.0);
            cx.note("currency", &transfer.currency.0);
            cx.note("amount_units", &transfer.amount.0);
            cx.note("reference", &transfer.reference.as_str());
        }
        Command::Restrict(restrict) => {
            if let RestrictionTarget::Account(account) = restrict.target {
                cx.note("account", &account.0);
            }
            cx.note("restriction", &restrict.restriction);
            cx.note("cancel", &restrict.cancel);
        }
        _ => {}
    }
}

pub(crate) fn note_answer(answer: &Answer, cx: &Context<'_>) {
    if cx.trail_id() == 0 {
        return;
    }
    cx.step("answered");
    cx.note("seq", &answer.seq.0);
    match &answer.outcome {
        Outcome::Order { order, status, filled, remaining, .. } => {
            cx.note("order", &order.0);
            cx.note("status", status);
            cx.note("filled_units", &filled.0);
            cx.note("remaining_units", &remaining.0);
        }
        Outcome::Cancelling { cancelled, pending } => {
            cx.note("cancelled", cancelled);
            cx.note("pending", pending);
        }
        Outcome::Created { number } => cx.note("number", number),
        Outcome::Rejected { reason } => cx.note("refused", reason),
        Outcome::Done | Outcome::Repeated => {}
    }
}
