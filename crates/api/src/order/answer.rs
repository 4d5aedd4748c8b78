//! The answers to commands about orders.

use super::{OrderInfo, OrderResult};
use rialto_model::{
    AccountId, ClientOrderId, Decimal, OrderId, OrderStatus, Seq, Side, Symbol, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When the dead-man timer of an account runs out.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeadManAnswer {
    /// The account whose orders are cancelled.
    pub account: AccountId,
    /// The time when it runs out; null if the timer is off.
    pub due: Option<Timestamp>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// The result of a command on an order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderAnswer {
    /// The order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_id: Option<OrderId>,
    /// The client order id, if the order has one.
    pub client_order_id: Option<ClientOrderId>,
    /// The account of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The symbol of its instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Symbol>,
    /// The side: buy or sell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The status of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<OrderStatus>,
    /// Its limit; null for a market order without one.
    pub price: Option<Decimal>,
    /// The quantity that has traded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled: Option<Decimal>,
    /// The remaining quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Decimal>,
    /// Whether the order was entered earlier under the same client order id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<bool>,
    /// The fills and the end of the order, as far as this command decided them.
    #[serde(flatten)]
    pub result: OrderResult,
    /// The present state of an order that was entered earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<OrderInfo>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// The result of a mass cancel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MassCancelAnswer {
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

/// The results of the rows of a batch, in their order.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BatchAnswer {
    /// One result for each row.
    pub results: Vec<BatchResult>,
    /// The sequence of the last row that reached the journal; null if none did.
    pub seq: Option<Seq>,
}

/// The result of a row of a batch: `order` or `error`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BatchResult {
    /// The HTTP status of the same request sent by itself.
    pub status: u16,
    /// The result of the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderAnswer>,
    /// The error of the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<crate::ErrorDetail>,
}
