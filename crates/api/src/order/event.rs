//! What happens to the orders of an account, on the stream.

use super::TrailInfo;
use crate::linked::ExitInfo;
use rialto_model::{
    Capacity, ClientOrderId, CommandKind, Decimal, DoneReason, OrderId, OrderKind, PostOnly,
    ReduceReason, RejectReason, Role, Side, Symbol, TimeInForce, Timestamp, TradeId, TriggerKind,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
