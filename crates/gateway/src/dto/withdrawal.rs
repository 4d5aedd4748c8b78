//! Withdrawals in JSON.

use crate::json::{JsonOut, Str};
use rialto_model::{AccountId, Currency};
use rialto_payments::{Decision, Trouble, Withdrawal};
use serde::Deserialize;

/// Body of `POST /v1/withdrawals`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WithdrawalRequest<'a> {
    pub(crate) account: Option<AccountId>,
    #[serde(borrow)]
    pub(crate) currency: Str<'a>,
    pub(crate) amount: Str<'a>,
    pub(crate) reference: Str<'a>,
}

/// Body of `POST /v1/admin/withdrawals/{id}/approve`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApproveRequest<'a> {
    #[serde(borrow)]
    pub(crate) receipt: Str<'a>,
}

/// Body of `POST /v1/admin/withdrawals/{id}/reject`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectRequest<'a> {
    #[serde(borrow)]
    pub(crate) reason: Option<Str<'a>>,
}

/// Appends a withdrawal.
pub(crate) fn write_withdrawal(out: &mut JsonOut, withdrawal: &Withdrawal, currency: &Currency) {
    let Withdrawal { transfer, state, requested, changed, expires, decision, seq, trouble } =
        withdrawal;
    out.open_object();
    out.key("id").text(&withdrawal.id().to_string());
    out.key("account").number(transfer.account.0);
    out.key("currency").text(currency.code.as_str());
    out.key("amount").decimal(transfer.amount.0, currency.scale);
    out.key("reference").text(transfer.reference.as_str());
    out.key("state").text(state.name());
    out.key("requested_at").quoted(requested.0);
    out.key("changed_at").quoted(changed.0);
    out.key("expires_at");
    match expires {
        Some(expires) => out.quoted(expires.0),
        None => out.null(),
    }
    out.key("receipt");
    match decision {
        Some(Decision::Approve { receipt }) => out.text(receipt.as_str()),
        _ => out.null(),
    }
    out.key("code");
    match trouble {
        Some(Trouble::Refused { reason, .. }) => out.text(reason.code()),
        _ => out.null(),
    }
    out.key("reason");
    match (trouble, decision) {
        (Some(trouble), _) => out.text(&trouble.to_string()),
        (None, Some(Decision::Reject { reason })) if !reason.is_empty() => out.text(reason),
        _ => out.null(),
    }
    out.key("seq");
    match seq {
        Some(seq) => out.quoted(seq.0),
        None => out.null(),
    }
    out.close_object();
}
