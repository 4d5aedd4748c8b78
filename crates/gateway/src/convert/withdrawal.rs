//! Withdrawals.

use rialto_api::WithdrawalInfo;
use rialto_model::Currency;
use rialto_payments::{Decision, Withdrawal, WithdrawalFailure};

pub(crate) fn withdrawal_info(withdrawal: &Withdrawal, currency: &Currency) -> WithdrawalInfo {
    let Withdrawal { transfer, state, requested, changed, expires, decision, seq, failure } =
        withdrawal;
    WithdrawalInfo {
        id: withdrawal.id().to_string(),
        account: transfer.account,
        currency: currency.code,
        amount: transfer.amount.decimal(currency.scale),
        reference: transfer.reference,
        state: state.name().into(),
        requested_at: *requested,
        changed_at: *changed,
        expires_at: *expires,
        receipt: match decision {
            Some(Decision::Approve { receipt }) => Some(receipt.to_string()),
            _ => None,
        },
        code: match failure {
            Some(WithdrawalFailure::Refused { reason, .. }) => Some(reason.code().into()),
            _ => None,
        },
        reason: match (failure, decision) {
            (Some(failure), _) => Some(failure.to_string()),
            (None, Some(Decision::Reject { reason })) if !reason.is_empty() => Some(reason.clone()),
            _ => None,
        },
        seq: *seq,
    }
}
