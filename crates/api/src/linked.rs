//! Linked orders: exits and pairs.

use crate::text::DecimalText;
use rialto_model::{Decimal, OrderId, TimeInForce, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An exit at a better price than that of its entry: `trigger`, `price` or both.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeProfitRequest<'a> {
    /// The trigger price: the exit waits until the last price reaches it. Without it, the exit is a limit order
    /// that is entered at once.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<DecimalText<'a>>,
    /// The limit. Without it, the exit is a market order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<DecimalText<'a>>,
    /// Time in force; if left out, `gtc` for a limit order and `ioc` for a market order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_in_force: Option<TimeInForce>,
    /// When a `gtd` order ends: nanoseconds since 1970, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_at: Option<Timestamp>,
}

/// A stop that is linked with another order: `trigger`, or a distance at which it trails.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopLossRequest<'a> {
    /// The trigger price: it waits until the last price reaches it.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<DecimalText<'a>>,
    /// It is a trailing stop instead: its trigger price follows the last price at this distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_distance: Option<DecimalText<'a>>,
    /// The distance of a trailing stop in millionths of the price that it follows, instead of
    /// `trail_distance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_ppm: Option<u32>,
    /// A trailing stop follows the last price from this one on; without it from the last price when it is
    /// entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_price: Option<DecimalText<'a>>,
    /// The limit. Without it, it is a market order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<DecimalText<'a>>,
    /// Time in force; if left out, `gtc` for a limit order and `ioc` for a market order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_in_force: Option<TimeInForce>,
    /// When a `gtd` order ends: nanoseconds since 1970, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_at: Option<Timestamp>,
}

/// How an order is linked with other orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinksInfo {
    /// The first order of the list of linked orders that it belongs to: that of a pair, or the entry. Shown
    /// while it is linked and when it has ended.
    pub list: OrderId,
    /// The order that ends when this one trades, is triggered or ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linked_to: Option<OrderId>,
    /// The exit at a better price that an entry enters as it trades, while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take_profit: Option<ExitInfo>,
    /// The stop that an entry enters as it trades, while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_loss: Option<ExitInfo>,
}

/// An exit of an order, as it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExitInfo {
    /// The trigger price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Decimal>,
    /// The distance of a trailing stop's trigger price from the price that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_distance: Option<Decimal>,
    /// The distance in millionths of the price that it follows, instead of `trail_distance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_ppm: Option<u32>,
    /// The price from which on a trailing stop follows the last price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_price: Option<Decimal>,
    /// The limit; a market order has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Decimal>,
    /// How long it stands.
    pub time_in_force: TimeInForce,
    /// When it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_at: Option<Timestamp>,
}
