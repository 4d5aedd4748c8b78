//! What members send: orders, changes and cancels.

use crate::linked::{StopLossRequest, TakeProfitRequest};
use crate::object::object;
use crate::text::{DecimalText, Str};
use rialto_model::{
    AccountId, Capacity, OrderKind, PostOnly, SelfTrade, Side, TimeInForce, Timestamp, TriggerKind,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order to enter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderRequest<'a> {
    /// The account of the order; may be left out where the key has one account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The symbol of the instrument.
    #[serde(borrow)]
    pub instrument: Str<'a>,
    /// The side: buy or sell.
    pub side: Side,
    /// How its limit comes about; `limit` if left out.
    #[serde(default = "limit")]
    pub kind: OrderKind,
    /// Time in force; if left out, `gtc` for a limit order and `ioc` for all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_in_force: Option<TimeInForce>,
    /// Whether it may take liquidity.
    #[serde(default)]
    pub post_only: PostOnly,
    /// Self-trade prevention; the instrument's mode if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_trade: Option<SelfTrade>,
    /// Whether the order is cancelled when its owner's stream is lost.
    #[serde(default)]
    pub cancel_on_disconnect: bool,
    /// The capacity in which the member enters the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// The quantity, in base currency. Either this or `quote_amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<DecimalText<'a>>,
    /// The amount, in quote currency. Not for limit orders, nor for orders that may rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote_amount: Option<DecimalText<'a>>,
    /// The limit; of a market order, the worst price that it may trade at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<DecimalText<'a>>,
    /// The minimum quantity that must trade at once, in base currency; otherwise the order is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_quantity: Option<DecimalText<'a>>,
    /// The order waits until the last price reaches `trigger_price`, and is entered then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<TriggerKind>,
    /// The trigger price; if `trigger` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_price: Option<DecimalText<'a>>,
    /// Whether the last price may have reached the trigger price already; otherwise the order is then
    /// refused.
    #[serde(default, skip_serializing_if = "is_false")]
    pub trigger_at_once: bool,
    /// The order is a trailing stop: its trigger price follows the last price at this distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_distance: Option<DecimalText<'a>>,
    /// The distance of a trailing stop in millionths of the price that it follows, instead of
    /// `trail_distance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_ppm: Option<u32>,
    /// A trailing stop follows the last price from this one on; without it from the last price now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_price: Option<DecimalText<'a>>,
    /// The order is an iceberg: on the book it displays at most this quantity, and hides the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_quantity: Option<DecimalText<'a>>,
    /// The order has an exit: as it trades, an order of the other side is entered for what has traded, at a
    /// better price.
    #[serde(borrow, default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub take_profit: Option<TakeProfitRequest<'a>>,
    /// The order has an exit: as it trades, a stop of the other side is entered for what has traded. With
    /// `take_profit`, when one of both trades or is triggered, the other ends.
    #[serde(borrow, default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub stop_loss: Option<StopLossRequest<'a>>,
    /// The order is one of a pair. The other one is this stop, of the same side and quantity. When one of both
    /// trades, is triggered or ends, the other ends.
    #[serde(borrow, default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    pub oco: Option<StopLossRequest<'a>>,
    /// When a `gtd` order ends: nanoseconds since 1970, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_at: Option<Timestamp>,
    /// The client order id, 1 to 36 printable bytes. An order that is sent again is not entered
    /// again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_order_id: Option<Str<'a>>,
    /// The durability that the answer waits for: `memory`, `buffered` or `synced`. Not in a row of
    /// a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Str<'a>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

fn limit() -> OrderKind {
    OrderKind::Limit
}

impl<'a> OrderRequest<'a> {
    /// A limit order that stands until it is cancelled.
    pub fn limit(
        instrument: impl Into<Str<'a>>,
        side: Side,
        quantity: impl Into<DecimalText<'a>>,
        price: impl Into<DecimalText<'a>>,
    ) -> OrderRequest<'a> {
        let order = OrderRequest::market(instrument, side, quantity);
        OrderRequest { kind: OrderKind::Limit, price: Some(price.into()), ..order }
    }

    /// A market order for a quantity, without a limit.
    pub fn market(
        instrument: impl Into<Str<'a>>,
        side: Side,
        quantity: impl Into<DecimalText<'a>>,
    ) -> OrderRequest<'a> {
        OrderRequest {
            account: None,
            instrument: instrument.into(),
            side,
            kind: OrderKind::Market,
            time_in_force: None,
            post_only: PostOnly::default(),
            self_trade: None,
            cancel_on_disconnect: false,
            capacity: None,
            quantity: Some(quantity.into()),
            quote_amount: None,
            price: None,
            minimum_quantity: None,
            trigger: None,
            trigger_price: None,
            trigger_at_once: false,
            trail_distance: None,
            trail_ppm: None,
            activation_price: None,
            display_quantity: None,
            take_profit: None,
            stop_loss: None,
            oco: None,
            expire_at: None,
            client_order_id: None,
            durability: None,
        }
    }
}

/// A `cancel` row of a batch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest<'a> {
    /// The account of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The order: its id, or `client:` and its client order id.
    #[serde(borrow)]
    pub id: Str<'a>,
}

/// A change of an order: another price, total quantity or trigger price, or several of these. The distance of
/// a trailing stop cannot be changed: cancel it and enter another. Since rules version 10, orders that wait
/// and linked orders can be changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmendRequest<'a> {
    /// The account of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The order, in a row of a batch only; otherwise the path names it.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub id: Option<Str<'a>>,
    /// The new limit; of a market order that waits for a trigger price, its protection price. Not of a
    /// trailing stop that is a market order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<DecimalText<'a>>,
    /// The new total quantity, including what has traded. It cannot be given for an order of a pair or an exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<DecimalText<'a>>,
    /// The new trigger price of an order that waits for one, and is no trailing stop. The protection price of
    /// a market order moves with it, unless the order was given another. Since rules version 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_price: Option<DecimalText<'a>>,
    /// The durability that the answer waits for: `memory`, `buffered` or `synced`. Not in a row of
    /// a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Str<'a>>,
}

/// Orders, cancels and amendments in one request, each decided by itself. A malformed row does not
/// affect the others.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRequest<'a> {
    /// The account of rows that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The durability that the answer waits for: `memory`, `buffered` or `synced`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Str<'a>>,
    /// The rows, in order.
    #[serde(borrow)]
    #[schemars(with = "Vec<BatchRow>")]
    pub rows: Vec<crate::text::Raw<'a>>,
}

/// A row of a batch before decoding: exactly one of these fields.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawRow<'a> {
    /// Enters an order.
    #[serde(borrow)]
    #[schemars(with = "Option<OrderRequest>")]
    pub place: Option<crate::text::Raw<'a>>,
    /// Cancels an order.
    #[serde(borrow)]
    #[schemars(with = "Option<CancelRequest>")]
    pub cancel: Option<crate::text::Raw<'a>>,
    /// Changes an order.
    #[serde(borrow)]
    #[schemars(with = "Option<AmendRequest>")]
    pub amend: Option<crate::text::Raw<'a>>,
}

/// A row of a batch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchRow<'a> {
    /// Enters an order.
    #[serde(borrow)]
    Place(Box<OrderRequest<'a>>),
    /// Cancels an order.
    Cancel(CancelRequest<'a>),
    /// Changes an order.
    Amend(AmendRequest<'a>),
}

/// Body of `PUT /v1/dead-man`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadManRequest {
    /// The account whose orders are cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The timer, in milliseconds; each request sets it again, and 0 switches it off.
    pub timeout_ms: u32,
}
