//! Which orders and fills a request is about.

use crate::text::Str;
use rialto_model::{AccountId, OrderId, Seq, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The orders to list, by their status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListedOrders {
    /// Open orders, the waiting ones included.
    #[default]
    Open,
    /// Conditional orders that have not been triggered.
    Waiting,
    /// Ended ones.
    Ended,
}

/// Which orders to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrdersQuery<'a> {
    /// The account; may be left out where the key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Only orders of this instrument.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// Open orders, only the waiting conditional orders, or ended orders.
    #[serde(default)]
    pub status: ListedOrders,
    /// Start after this row: the `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<OrderId>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Wait until the answer is complete up to this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// The orders of an account to cancel.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MassCancelQuery<'a> {
    /// The account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Only orders of this instrument.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// Only orders of this side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
}

/// The account, and how fresh the answer has to be.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountQuery {
    /// The account; may be left out where the key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Wait until the answer is complete up to this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// The account of the order to cancel.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelQuery {
    /// The account; may be left out where the key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
}

/// Which fills to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillsQuery<'a> {
    /// The account; may be left out where the key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Only orders of this instrument.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// Start after this row: the `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Str<'a>>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Wait until the answer is complete up to this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}
