//! Restrictions, and the kill switch of members.

use crate::error::ErrorDetail;
use crate::text::Str;
use rialto_model::{AccountId, MemberId, Restriction, Seq, Symbol, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A restriction to set. It names one of `venue`, `member`, `account` and `instrument`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestrictionRequest<'a> {
    /// All accounts of the venue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub venue: bool,
    /// All accounts of this member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// This account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// This instrument, for all accounts. It cannot be `frozen`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// What is refused; `none` lifts the restriction.
    pub restriction: Restriction,
    /// Whether the open orders of the target are cancelled.
    #[serde(default)]
    pub cancel: bool,
}

/// Who set a restriction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestrictedBy {
    /// An operator.
    Operator,
    /// The member itself, by its kill switch.
    Member,
}

/// A restriction, on one of `venue`, `member`, `account` and `instrument`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestrictionInfo {
    /// All accounts of the venue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub venue: bool,
    /// All accounts of this member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// This account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// This instrument, for all accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Symbol>,
    /// What is refused.
    pub restriction: Restriction,
    /// Who set it.
    pub by: RestrictedBy,
}

/// A restriction was set or lifted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RestrictionAnswer {
    /// The restriction as it is now.
    #[serde(flatten)]
    pub restriction: RestrictionInfo,
    /// Orders that were cancelled at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u32>,
    /// Whether more are being cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<bool>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// Which restrictions to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestrictionsQuery<'a> {
    /// The value of `next` in the page before.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub after: Option<Str<'a>>,
    /// Most restrictions in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Wait until the answer is complete up to this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// The restrictions in force: of the venue, of members, of accounts, of instruments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RestrictionsAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The restrictions.
    pub restrictions: Vec<RestrictionInfo>,
    /// The parameter `after` of the next page; null at the end.
    pub next: Option<String>,
}

/// The account to kill, or to release.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KillRequest {
    /// The account; without it, all accounts of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
}

/// The restriction of an account.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KillStateAnswer {
    /// The account.
    pub account: AccountId,
    /// The strictest restriction of the account, its member and the venue.
    pub restriction: Restriction,
    /// Whether the member's own restriction is set, which it may lift.
    pub killed: bool,
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
}

/// What a kill, or its lifting, did with an account.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KillResult {
    /// The account.
    pub account: AccountId,
    /// Orders that were cancelled at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u32>,
    /// Whether more are being cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<bool>,
    /// The sequence of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// The time of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// The error that left this account as it was. It says nothing about the other accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetail>,
}

/// What a kill, or its lifting, did with each account.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KillAnswer {
    /// One result for each account.
    pub results: Vec<KillResult>,
    /// The sequence of the last command; null if there was none.
    pub seq: Option<Seq>,
}
