//! Withdrawals: requested by their owners, decided by the operator.

use crate::text::{DecimalText, Str};
use rialto_model::{AccountId, CurrencyCode, Decimal, Reference, Seq, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A withdrawal to request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalRequest<'a> {
    /// The account; may be left out where the key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The code of the currency.
    #[serde(borrow)]
    pub currency: Str<'a>,
    /// The amount.
    pub amount: DecimalText<'a>,
    /// The reference, 1 to 36 printable bytes. A withdrawal that is sent again takes effect once.
    pub reference: Str<'a>,
}

/// The operator paid a withdrawal out.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveRequest<'a> {
    /// The identifier of the payment at the bank or on the chain.
    #[serde(borrow)]
    pub receipt: Str<'a>,
}

/// The operator refuses a withdrawal.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectRequest<'a> {
    /// The reason, shown to the owner.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str<'a>>,
}

/// A withdrawal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawalInfo {
    /// Its id: the account, a dash and the reference.
    pub id: String,
    /// The account.
    pub account: AccountId,
    /// The code of the currency.
    pub currency: CurrencyCode,
    /// The amount.
    pub amount: Decimal,
    /// The member's reference.
    pub reference: Reference,
    /// `requested`, `pending`, `settling`, `returning`, `settled`, `rejected`, `cancelled`,
    /// `expired`, `refused` or `failed`.
    pub state: std::borrow::Cow<'static, str>,
    /// When it was requested.
    pub requested_at: Timestamp,
    /// When its state changed last.
    pub changed_at: Timestamp,
    /// When it is released unless the operator decides.
    pub expires_at: Option<Timestamp>,
    /// The identifier of the payment at the bank or on the chain.
    pub receipt: Option<String>,
    /// The code of the engine's refusal.
    pub code: Option<std::borrow::Cow<'static, str>>,
    /// The reason that it was refused, rejected or failed.
    pub reason: Option<String>,
    /// The sequence of its last command.
    pub seq: Option<Seq>,
}

/// One withdrawal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawalAnswer {
    /// The withdrawal.
    pub withdrawal: WithdrawalInfo,
    /// Whether it was requested earlier under the same reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<bool>,
}

/// A page of withdrawals.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawalsAnswer {
    /// The withdrawals.
    pub withdrawals: Vec<WithdrawalInfo>,
    /// The `after` of the next page; null on the last.
    pub next: Option<String>,
}

/// Whether to list open or ended orders or withdrawals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    /// Open ones.
    #[default]
    Open,
    /// Ended ones.
    Ended,
}

/// Which withdrawals to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalsQuery<'a> {
    /// The account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Open withdrawals, or ended ones.
    #[serde(default)]
    pub status: Listed,
    /// Start after this row: the `next` of the previous page.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub after: Option<Str<'a>>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}
