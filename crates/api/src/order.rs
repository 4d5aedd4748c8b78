//! Orders and fills.

use crate::linked::{ExitInfo, LinksInfo, StopLossRequest, TakeProfitRequest};
use crate::object::object;
use crate::text::{DecimalText, Str};
use rialto_model::{
    AccountId, Capacity, ClientOrderId, CommandKind, Decimal, DoneReason, OrderId, OrderKind,
    OrderStatus, PostOnly, ReduceReason, RejectReason, Role, SelfTrade, Seq, Side, Symbol,
    TimeInForce, Timestamp, TradeId, TriggerKind,
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
    /// From which side the last price triggers it, while it waits; of a trailing stop once it is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<TriggerKind>,
    /// The trigger price, while it waits; of a trailing stop the one now, once it is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_price: Option<Decimal>,
    /// What a trailing stop follows, while it waits.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub trail: Option<TrailInfo>,
    /// What an iceberg displays, while it is open.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub iceberg: Option<IcebergInfo>,
    /// How it is linked with other orders, while it is open.
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
    /// The distance of its trigger price from the price that it follows, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_distance: Option<Decimal>,
    /// The distance in millionths of the price that it follows, instead of `trail_distance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail_ppm: Option<u32>,
    /// The price from which on it follows the last price, while it waits.
    pub activation_price: Decimal,
}

/// What an iceberg displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IcebergInfo {
    /// The most that an iceberg displays, while it is open.
    pub display_quantity: Decimal,
    /// What an iceberg displays now; 0 while it is not on the book.
    pub displayed: Decimal,
}

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

/// What happened to an order of an account, on the stream.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum OrderEvent {
    /// It was accepted.
    Accepted {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// The client order id.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_order_id: Option<ClientOrderId>,
        /// The side: buy or sell.
        side: Side,
        /// How its limit came about.
        kind: OrderKind,
        /// How long it stands.
        time_in_force: TimeInForce,
        /// Whether it may take liquidity.
        post_only: PostOnly,
        /// Whether the order is cancelled when its owner's stream is lost.
        cancel_on_disconnect: bool,
        /// In which capacity the member entered it, if it said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        capacity: Option<Capacity>,
        /// Its limit; null for a market order without one.
        price: Option<Decimal>,
        /// The quantity, in base currency.
        #[serde(skip_serializing_if = "Option::is_none")]
        quantity: Option<Decimal>,
        /// The amount, in quote currency.
        #[serde(skip_serializing_if = "Option::is_none")]
        quote_amount: Option<Decimal>,
        /// The minimum quantity that had to trade at once.
        #[serde(skip_serializing_if = "Option::is_none")]
        minimum_quantity: Option<Decimal>,
        /// The reserve of the order.
        reserved: Decimal,
        /// When the order expires.
        #[serde(skip_serializing_if = "Option::is_none")]
        expire_at: Option<Timestamp>,
        /// Whether it was put on the book at once.
        resting: bool,
    },
    /// It waits for its trigger, or has another trigger price.
    TriggerSet {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// From which side the last price triggers it.
        trigger: TriggerKind,
        /// The trigger price.
        trigger_price: Decimal,
    },
    /// It is a trailing stop, and waits.
    TrailSet {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// What it follows.
        #[serde(flatten)]
        trail: TrailInfo,
    },
    /// It follows the last price now.
    TrailActivated {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// The price that its distance is measured from: of a sell the highest last price since its
        /// activation price was reached, of a buy the lowest.
        extreme_price: Decimal,
    },
    /// It is an iceberg.
    IcebergSet {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// The most that it displays.
        display_quantity: Decimal,
    },
    /// It displays a new tranche, at the end of the queue at its price.
    IcebergRefreshed {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// Its price.
        price: Decimal,
        /// What it displays now.
        displayed: Decimal,
    },
    /// It has exits: orders of the other side that are entered as it trades. It comes again when the limit or
    /// the trigger price of one of them is amended while the order is open.
    ExitsSet {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// The exit at a better price.
        #[serde(skip_serializing_if = "Option::is_none")]
        take_profit: Option<ExitInfo>,
        /// The stop.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_loss: Option<ExitInfo>,
    },
    /// The orders of a pair, or the exits of an order, were entered and are linked.
    OrdersLinked {
        /// The first order of the list: that of the pair, or the entry.
        list: OrderId,
        /// The symbol of their instrument.
        instrument: Symbol,
        /// The order at a better price.
        #[serde(skip_serializing_if = "Option::is_none")]
        take_profit: Option<OrderId>,
        /// The order at a worse price.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_loss: Option<OrderId>,
    },
    /// Its exits could not be entered, or not for all that has traded. What is left of it ends.
    ExitsRefused {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// Why.
        reason: RejectReason,
    },
    /// It was triggered, and is entered.
    Triggered {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// Its limit.
        price: Decimal,
        /// The remaining quantity.
        remaining: Decimal,
    },
    /// The rest of the order went to the book.
    Rested {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// Its price.
        price: Decimal,
        /// The remaining quantity.
        remaining: Decimal,
    },
    /// It traded.
    Traded {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// The trade.
        trade_id: TradeId,
        /// Whether the order was the maker or the taker, or traded in an auction.
        role: Role,
        /// The price.
        price: Decimal,
        /// The quantity.
        quantity: Decimal,
        /// Price times quantity, in quote currency.
        notional: Decimal,
        /// The fee, in `fee_currency`; negative for a rebate.
        fee: Decimal,
        /// The currency of the fee.
        fee_currency: rialto_model::CurrencyCode,
        /// The remaining quantity.
        remaining: Decimal,
    },
    /// It became smaller and kept its place in the queue.
    Reduced {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// The reason of the reduction.
        reason: ReduceReason,
        /// The quantity that was taken off.
        by: Decimal,
        /// The remaining quantity.
        remaining: Decimal,
    },
    /// It got other terms. An order on the book lost its place in the queue; `rested` follows, unless it
    /// trades. An iceberg that became larger at the same price keeps its place, and no `rested` follows. Of an
    /// order that waits, the limit, the quantity or the reserve changed. A `five_levels` order got the last
    /// price that it traded at as its limit, and `rested` follows.
    Amended {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// The price after the change.
        price: Decimal,
        /// The total quantity after the change.
        quantity: Decimal,
        /// The remaining quantity.
        remaining: Decimal,
    },
    /// It ended without being filled, or was sized in quote currency and ended.
    Done {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// The reason that the order ended.
        reason: DoneReason,
        /// The quantity that did not trade.
        remaining: Decimal,
    },
    /// A command about it was refused.
    Rejected {
        /// The kind of the command.
        command: CommandKind,
        /// The reason of the refusal.
        reason: RejectReason,
        /// The order, if the command named one by id.
        #[serde(skip_serializing_if = "Option::is_none")]
        order_id: Option<OrderId>,
        /// The client order id that the command named.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_order_id: Option<ClientOrderId>,
        /// The symbol of the instrument, if the command named one.
        #[serde(skip_serializing_if = "Option::is_none")]
        instrument: Option<Symbol>,
    },
}
