//! Orders and fills.

use crate::text::{DecimalText, Str};
use crate::withdrawal::Listed;
use rialto_model::{
    AccountId, Capacity, ClientOrderId, CommandKind, Decimal, DoneReason, OrderId, OrderKind,
    OrderStatus, PostOnly, ReduceReason, RejectReason, Role, SelfTrade, Seq, Side, Symbol,
    TimeInForce, Timestamp, TradeId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order to enter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderRequest<'a> {
    /// Whose order it is; may be left out where the key has one account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The symbol of the instrument.
    #[serde(borrow)]
    pub instrument: Str<'a>,
    /// Buy or sell.
    pub side: Side,
    /// Limit, unless it says market.
    #[serde(default = "limit")]
    pub kind: OrderKind,
    /// `gtc` for a limit order and `ioc` for a market order, unless it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_in_force: Option<TimeInForce>,
    /// Whether it may take liquidity.
    #[serde(default)]
    pub post_only: PostOnly,
    /// What happens when it would trade with the same member; the instrument's mode if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_trade: Option<SelfTrade>,
    /// Whether it ends when the connection of its owner's stream is lost.
    #[serde(default)]
    pub cancel_on_disconnect: bool,
    /// In which capacity the member enters it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// How much, in base currency. Either this or `quote_amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<DecimalText<'a>>,
    /// How much, in quote currency: market orders only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote_amount: Option<DecimalText<'a>>,
    /// The limit; of a market order, the worst price that it may trade at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<DecimalText<'a>>,
    /// When a `gtd` order ends: nanoseconds since 1970, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_at: Option<Timestamp>,
    /// The member's own name for the order, 1 to 36 printable bytes. Sent again, it is not entered
    /// again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_order_id: Option<Str<'a>>,
    /// `memory`, `buffered` or `synced`: what the answer waits for. Not in a row of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Str<'a>>,
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
    /// Whose order it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The order: its id, or `client:` and its client order id.
    #[serde(borrow)]
    pub id: Str<'a>,
}

/// A change of an order: another price, another total quantity, or both.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmendRequest<'a> {
    /// Whose order it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// In a row of a batch only; otherwise it stands in the path.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub id: Option<Str<'a>>,
    /// The new limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<DecimalText<'a>>,
    /// The new total quantity, what has traded included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<DecimalText<'a>>,
    /// `memory`, `buffered` or `synced`: what the answer waits for. Not in a row of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Str<'a>>,
}

/// Orders, cancels and amendments in one request, each decided by itself. Rows are kept as text, so
/// that one that is malformed does not take the others with it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRequest<'a> {
    /// Whose orders they are, where a row does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// `memory`, `buffered` or `synced`: what the answer waits for.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Str<'a>>,
    /// The rows, in order.
    #[serde(borrow)]
    #[schemars(with = "Vec<BatchRow>")]
    pub rows: Vec<crate::text::Raw<'a>>,
}

/// A row of a batch as it came: one of these, read by itself.
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
    /// Whose orders end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// After this many milliseconds without another such request; 0 switches it off.
    pub timeout_ms: u32,
}

/// When the dead-man timer of an account runs out.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeadManAnswer {
    /// Whose orders end then.
    pub account: AccountId,
    /// When; null if the timer is off.
    pub due: Option<Timestamp>,
    /// The command's place in the journal.
    pub seq: Seq,
    /// When it was decided.
    pub time: Timestamp,
}

/// What one command did to one order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderAnswer {
    /// The order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_id: Option<OrderId>,
    /// The member's own name for it, if it has one.
    pub client_order_id: Option<ClientOrderId>,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The symbol of its instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Symbol>,
    /// Buy or sell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Where it is in its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<OrderStatus>,
    /// Its limit; null for a market order without one.
    pub price: Option<Decimal>,
    /// How much of it has traded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled: Option<Decimal>,
    /// How much of it is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Decimal>,
    /// Whether the order had been entered before under the same client order id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<bool>,
    /// What has traded of it and why it ended, as far as this command decided it.
    #[serde(flatten)]
    pub result: OrderResult,
    /// Of an order that had been entered before: as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<OrderInfo>,
    /// The command's place in the journal.
    pub seq: Seq,
    /// When it was decided.
    pub time: Timestamp,
}

/// What an order came to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct OrderResult {
    /// The average price of what has traded, rounded to the price scale, half away from zero; null
    /// where nothing has.
    pub average_price: Option<Decimal>,
    /// Price times quantity of what has traded, in quote currency; null where it is not known.
    pub filled_notional: Option<Decimal>,
    /// The fee so far, in `fee_currency`; null where it is not known.
    pub fee: Option<Decimal>,
    /// The currency of the fee.
    pub fee_currency: Option<rialto_model::CurrencyCode>,
    /// Why it ended, if it ended without being filled or was sized in quote currency.
    pub done_reason: Option<DoneReason>,
}

/// What a mass cancel came to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MassCancelAnswer {
    /// Orders that were cancelled at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u32>,
    /// Whether more are being cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<bool>,
    /// The command's place in the journal.
    pub seq: Seq,
    /// When it was decided.
    pub time: Timestamp,
}

/// What became of the rows of a batch, in their order.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BatchAnswer {
    /// One for each row.
    pub results: Vec<BatchResult>,
    /// The place in the journal of the last row that is there; null if none is.
    pub seq: Option<Seq>,
}

/// What became of a row of a batch: `order` or `error`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BatchResult {
    /// The HTTP status that the row would have by itself.
    pub status: u16,
    /// What it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderAnswer>,
    /// Why it did nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<crate::ErrorDetail>,
}

/// An order as its owner sees it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderInfo {
    /// Its id.
    pub order_id: OrderId,
    /// The member's own name for it, if it has one.
    pub client_order_id: Option<ClientOrderId>,
    /// Whose it is.
    pub account: AccountId,
    /// The symbol of its instrument.
    pub instrument: Symbol,
    /// Buy or sell.
    pub side: Side,
    /// Limit or market.
    pub kind: OrderKind,
    /// How long it stands.
    pub time_in_force: TimeInForce,
    /// Whether it may take liquidity.
    pub post_only: PostOnly,
    /// Whether it ends when the connection of its owner's stream is lost.
    pub cancel_on_disconnect: bool,
    /// In which capacity the member entered it, if it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// Where it is in its life.
    pub status: OrderStatus,
    /// Its limit; null for a market order without one.
    pub price: Option<Decimal>,
    /// How much it is for, in base currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Decimal>,
    /// How much it is for, in quote currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote_amount: Option<Decimal>,
    /// How much of it has traded.
    pub filled: Decimal,
    /// How much of it is left or, of an ended order, what it ended with.
    pub remaining: Decimal,
    /// What has traded of it and why it ended.
    #[serde(flatten)]
    pub result: OrderResult,
    /// What is reserved for it: quote currency for a buy, base currency for a sell.
    pub reserved: Decimal,
    /// When it ends by itself.
    pub expire_at: Option<Timestamp>,
    /// When it was accepted; null where that is not known.
    pub accepted_at: Option<Timestamp>,
    /// The command that changed it last.
    pub updated_seq: Seq,
    /// When that was.
    pub updated_at: Timestamp,
}

/// One order and the moment that the answer is of.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderInfoAnswer {
    /// The answer holds everything up to this command.
    pub seq: Seq,
    /// Its time.
    pub time: Timestamp,
    /// The order.
    pub order: OrderInfo,
}

/// A page of orders.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrdersAnswer {
    /// The answer holds everything up to this command.
    pub seq: Seq,
    /// Its time.
    pub time: Timestamp,
    /// The orders, by ascending id.
    pub orders: Vec<OrderInfo>,
    /// What to give as `after` for the next page; null on the last.
    pub next: Option<OrderId>,
}

/// Which orders to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrdersQuery<'a> {
    /// Whose; may be left out where the key has one account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Of this instrument only.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// Open orders, or ended ones.
    #[serde(default)]
    pub status: Listed,
    /// Behind the one that the page before called `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<OrderId>,
    /// At most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Answer when everything up to this command is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// Which orders to cancel: all of an account that match.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MassCancelQuery<'a> {
    /// Whose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Of this instrument only.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// Of this side only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
}

/// Whose, and how fresh the answer has to be.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountQuery {
    /// Whose; may be left out where the key has one account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Answer when everything up to this command is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// Whose order.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelQuery {
    /// Whose; may be left out where the key has one account.
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
    /// Whose.
    pub account: AccountId,
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// Buy or sell.
    pub side: Side,
    /// Whether the order rested on the book or came in.
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
    /// The command.
    pub seq: Seq,
    /// When.
    pub time: Timestamp,
}

/// A page of fills, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FillsAnswer {
    /// The answer holds everything up to this command.
    pub seq: Seq,
    /// Its time.
    pub time: Timestamp,
    /// The fills.
    pub fills: Vec<FillInfo>,
    /// What to give as `after` for the next page; null on the last.
    pub next: Option<String>,
}

/// Which fills to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillsQuery<'a> {
    /// Whose; may be left out where the key has one account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Of this instrument only.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// Behind the one that the page before called `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Str<'a>>,
    /// At most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Answer when everything up to this command is known.
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
        /// The member's own name for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_order_id: Option<ClientOrderId>,
        /// Buy or sell.
        side: Side,
        /// Limit or market.
        kind: OrderKind,
        /// How long it stands.
        time_in_force: TimeInForce,
        /// Whether it may take liquidity.
        post_only: PostOnly,
        /// Whether it ends when the connection of its owner's stream is lost.
        cancel_on_disconnect: bool,
        /// In which capacity the member entered it, if it said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        capacity: Option<Capacity>,
        /// Its limit; null for a market order without one.
        price: Option<Decimal>,
        /// How much it is for, in base currency.
        #[serde(skip_serializing_if = "Option::is_none")]
        quantity: Option<Decimal>,
        /// How much it is for, in quote currency.
        #[serde(skip_serializing_if = "Option::is_none")]
        quote_amount: Option<Decimal>,
        /// What is reserved for it.
        reserved: Decimal,
        /// When it ends by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        expire_at: Option<Timestamp>,
        /// Whether it was put on the book at once.
        resting: bool,
    },
    /// It was put on the book with what was left.
    Rested {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// Its price.
        price: Decimal,
        /// What is left.
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
        /// Whether it rested on the book or came in.
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
        /// What is left.
        remaining: Decimal,
    },
    /// It became smaller and kept its place.
    Reduced {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// Why.
        reason: ReduceReason,
        /// By how much.
        by: Decimal,
        /// What is left.
        remaining: Decimal,
    },
    /// It got another price or a larger quantity, and lost its place.
    Amended {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// Its price now.
        price: Decimal,
        /// Its total quantity now.
        quantity: Decimal,
        /// What is left.
        remaining: Decimal,
    },
    /// It ended with something left, or was sized in quote currency and ended.
    Done {
        /// The order.
        order_id: OrderId,
        /// The symbol of its instrument.
        instrument: Symbol,
        /// Why.
        reason: DoneReason,
        /// What had not traded.
        remaining: Decimal,
    },
    /// A command about it was refused.
    Rejected {
        /// What kind of command.
        command: CommandKind,
        /// Why.
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
