//! Withdrawals: asked for by their owners, decided by the operator.

use crate::text::{DecimalText, Str};
use rialto_model::{AccountId, CurrencyCode, Decimal, Reference, Seq, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A withdrawal to ask for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalRequest<'a> {
    /// From which account; may be left out where the key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The code of the currency.
    #[serde(borrow)]
    pub currency: Str<'a>,
    /// How much.
    pub amount: DecimalText<'a>,
    /// The member's own name for it, 1 to 36 printable bytes. Sent again, nothing is withdrawn again.
    pub reference: Str<'a>,
}

/// The operator paid a withdrawal out.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveRequest<'a> {
    /// What the bank or the chain calls the payment.
    #[serde(borrow)]
    pub receipt: Str<'a>,
}

/// The operator refuses a withdrawal.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectRequest<'a> {
    /// Why, for its owner.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str<'a>>,
}

/// A withdrawal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawalInfo {
    /// Its id: the account, a dash and the reference.
    pub id: String,
    /// From which account.
    pub account: AccountId,
    /// The code of the currency.
    pub currency: CurrencyCode,
    /// How much.
    pub amount: Decimal,
    /// The member's own name for it.
    pub reference: Reference,
    /// `requested`, `pending`, `settling`, `returning`, `settled`, `rejected`, `cancelled`,
    /// `expired`, `refused` or `failed`.
    pub state: std::borrow::Cow<'static, str>,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// When its state changed last.
    pub changed_at: Timestamp,
    /// When it is given back if nobody decides.
    pub expires_at: Option<Timestamp>,
    /// What the bank or the chain calls the payment.
    pub receipt: Option<String>,
    /// The code of the engine's refusal.
    pub code: Option<std::borrow::Cow<'static, str>>,
    /// Why it was refused, rejected or failed.
    pub reason: Option<String>,
    /// The last command about it in the journal.
    pub seq: Option<Seq>,
}

/// One withdrawal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawalAnswer {
    /// The withdrawal.
    pub withdrawal: WithdrawalInfo,
    /// Whether it had been asked for before, under the same reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<bool>,
}

/// A page of withdrawals.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawalsAnswer {
    /// The withdrawals.
    pub withdrawals: Vec<WithdrawalInfo>,
    /// What to give as `after` for the next page; null on the last.
    pub next: Option<String>,
}

/// Which of what has a life to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    /// What is still open.
    #[default]
    Open,
    /// What has ended.
    Ended,
}

/// Which withdrawals to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalsQuery<'a> {
    /// Of which account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Open withdrawals, or ended ones.
    #[serde(default)]
    pub status: Listed,
    /// Behind the one that the page before called `next`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub after: Option<Str<'a>>,
    /// At most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}
