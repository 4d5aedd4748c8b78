//! Orders and fills as their owner sees them.

use crate::linked::LinksInfo;
use rialto_model::{
    AccountId, Capacity, ClientOrderId, Decimal, DoneReason, OrderId, OrderKind, OrderStatus,
    PostOnly, Role, Seq, Side, Symbol, TimeInForce, Timestamp, TradeId, TriggerKind,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order as its owner sees it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderInfo {
    /// Its id.
    pub order_id: OrderId,
    /// The client order id, if the order has one.
    pub client_order_id: Option<ClientOrderId>,
    /// The account of the order.
    pub account: AccountId,
    /// The symbol of its instrument.
    pub instrument: Symbol,
    /// The side: buy or sell.
    pub side: Side,
    /// How its limit came about; `limit` for every order that may rest, except those for an auction.
    pub kind: OrderKind,
    /// How long it stands.
    pub time_in_force: TimeInForce,
    /// Whether it may take liquidity.
    pub post_only: PostOnly,
    /// Whether the order is cancelled when its owner's stream is lost.
    pub cancel_on_disconnect: bool,
    /// The capacity in which the member entered the order, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// The status of the order.
    pub status: OrderStatus,
    /// From which side the last price triggers it, while it waits; of a trailing stop once it is active. Shown
    /// again when it has ended, unless it was a trailing stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<TriggerKind>,
    /// The trigger price, while it waits; of a trailing stop the one now, once it is active. Shown again when it
    /// has ended, unless it was a trailing stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_price: Option<Decimal>,
    /// What a trailing stop follows, while it waits and when it has ended.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub trail: Option<TrailInfo>,
    /// What an iceberg displays.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub iceberg: Option<IcebergInfo>,
    /// How it is linked with other orders.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub links: Option<LinksInfo>,
    /// Its limit; null for a market order without one.
    pub price: Option<Decimal>,
    /// The quantity, in base currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Decimal>,
    /// The amount, in quote currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote_amount: Option<Decimal>,
    /// The quantity that has traded.
    pub filled: Decimal,
    /// The remaining quantity; of an ended order, the quantity that did not trade.
    pub remaining: Decimal,
    /// The fills and the end of the order.
    #[serde(flatten)]
    pub result: OrderResult,
    /// The reserve of the order: quote currency for a buy, base currency for a sell.
    pub reserved: Decimal,
    /// When the order expires.
    pub expire_at: Option<Timestamp>,
    /// When it was accepted; null where that is not known.
    pub accepted_at: Option<Timestamp>,
    /// The sequence of the last change.
    pub updated_seq: Seq,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The fills and the end of an order.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct OrderResult {
    /// The average price of the fills, rounded to the price scale, half away from zero; null
    /// without fills.
    pub average_price: Option<Decimal>,
    /// The notional of the fills, in quote currency; null where it is not known.
    pub filled_notional: Option<Decimal>,
    /// The fee so far, in `fee_currency`; null where it is not known.
    pub fee: Option<Decimal>,
    /// The currency of the fee.
    pub fee_currency: Option<rialto_model::CurrencyCode>,
    /// The reason that it ended, if it was not filled or was sized in quote currency.
    pub done_reason: Option<DoneReason>,
}

/// One order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderInfoAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The order.
    pub order: OrderInfo,
}

/// A page of orders.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrdersAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The orders, by ascending id.
    pub orders: Vec<OrderInfo>,
    /// The `after` of the next page; null on the last.
    pub next: Option<OrderId>,
}

/// What a trailing stop follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrailInfo {
    /// The distance of a trailing stop's trigger price from the price that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_distance: Option<Decimal>,
    /// The distance in millionths of the price that it follows, instead of `trail_distance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_ppm: Option<u32>,
    /// The price from which on it follows the last price.
    pub activation_price: Decimal,
}

/// What an iceberg displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IcebergInfo {
    /// The most that an iceberg displays.
    pub display_quantity: Decimal,
    /// What an iceberg displays now; 0 while it is not on the book.
    pub displayed: Decimal,
}

/// An account's part in a trade.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FillInfo {
    /// The trade.
    pub trade_id: TradeId,
    /// The account's order.
    pub order_id: OrderId,
    /// The account.
    pub account: AccountId,
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// The side: buy or sell.
    pub side: Side,
    /// Whether the order was the maker or the taker, or traded in an auction.
    pub role: Role,
    /// The price.
    pub price: Decimal,
    /// The quantity, in base currency.
    pub quantity: Decimal,
    /// Price times quantity, in quote currency.
    pub notional: Decimal,
    /// The fee, in `fee_currency`; negative for a rebate.
    pub fee: Decimal,
    /// The currency of the fee.
    pub fee_currency: rialto_model::CurrencyCode,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// A page of fills, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FillsAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The fills.
    pub fills: Vec<FillInfo>,
    /// The `after` of the next page; null on the last.
    pub next: Option<String>,
}
