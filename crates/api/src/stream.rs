//! Messages of the two streams: of the venue (`/v1/stream`) and of a group (`…/stream`).

use crate::error::ErrorDetail;
use crate::limits::MESSAGES_MAX;
use crate::market::{BookSides, LevelInfo, TickerInfo, TradeInfo};
use crate::order::{FillInfo, OrderEvent, OrderInfo};
use crate::queue::{LeaseRequest, MessageInfo};
use crate::text::{Rows, Str, Whole};
use crate::venue::BalanceInfo;
use rialto_model::{AccountId, Seq, Symbol, Timestamp, enumeration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

enumeration! {
    /// What a client asks of the stream.
    pub enum StreamOp {
        /// Proves whose key it is.
        Auth = 0, "auth";
        /// Begins a subscription.
        Subscribe = 1, "subscribe";
        /// Ends a subscription.
        Unsubscribe = 2, "unsubscribe";
        /// Asks for a `pong`.
        Ping = 3, "ping";
    }
}

enumeration! {
    /// What a subscription is about.
    pub enum StreamChannel {
        /// The book of an instrument.
        Book = 0, "book";
        /// Its trades.
        Trades = 1, "trades";
        /// Its last 24 hours.
        Ticker = 2, "ticker";
        /// What happens to an account's orders.
        Orders = 3, "orders";
        /// An account's parts in trades.
        Fills = 4, "fills";
        /// An account's balances.
        Balances = 5, "balances";
    }
}

/// A message of a client. A field that has no meaning for its `op` and `channel` is refused.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamRequest<'a> {
    /// What is asked.
    pub op: StreamOp,
    /// `auth`: the id of the key.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub key: Option<Str<'a>>,
    /// `auth`: as in a signed request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Str<'a>>,
    /// `auth`: as in a signed request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Str<'a>>,
    /// `auth`: as in a signed request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Str<'a>>,
    /// `subscribe`, `unsubscribe`: what it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<StreamChannel>,
    /// `book`, `trades`, `ticker`: the symbol of the instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// `orders`, `fills`, `balances`: which account; may be left out where the key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// `book`: only this many of the best levels, whole each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub depth: Option<usize>,
    /// `orders`, `fills`: everything after this command is sent before what is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_seq: Option<Seq>,
    /// `auth`, `orders`: whether the orders that say so end when this connection is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_on_disconnect: Option<bool>,
}

/// A message of the venue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "written once, or read one at a time")]
pub enum StreamMessage<'a> {
    /// The whole book, or the best levels of it.
    Book {
        /// The symbol of the instrument.
        instrument: Symbol,
        /// It holds everything up to this command.
        seq: Seq,
        /// Its time.
        time: Timestamp,
        /// The levels.
        #[serde(flatten)]
        sides: BookSides<LevelInfo>,
    },
    /// The levels of a book that changed, each as it is now.
    BookDelta {
        /// The symbol of the instrument.
        instrument: Symbol,
        /// The first command that is in it.
        first_seq: Seq,
        /// The last command that is in it.
        last_seq: Seq,
        /// The last change before it.
        prev_seq: Seq,
        /// The time of the last command.
        time: Timestamp,
        /// To buy.
        bids: Vec<LevelInfo>,
        /// To sell.
        asks: Vec<LevelInfo>,
    },
    /// A trade.
    Trade {
        /// The symbol of the instrument.
        instrument: Symbol,
        /// The trade.
        trade: TradeInfo,
    },
    /// The last 24 hours.
    Ticker {
        /// The symbol of the instrument.
        instrument: Symbol,
        /// It holds everything up to this command.
        seq: Seq,
        /// Its time.
        time: Timestamp,
        /// The window.
        #[serde(flatten)]
        ticker: TickerInfo,
    },
    /// A balance that changed.
    Balance {
        /// Whose.
        account: AccountId,
        /// The command.
        seq: Seq,
        /// The balance now.
        balance: BalanceInfo,
    },
    /// All balances of an account.
    Balances {
        /// Whose.
        account: AccountId,
        /// They hold everything up to this command.
        seq: Seq,
        /// Its time.
        time: Timestamp,
        /// The balances.
        balances: Vec<BalanceInfo>,
    },
    /// All open orders of an account.
    OpenOrders {
        /// Whose.
        account: AccountId,
        /// They hold everything up to this command.
        seq: Seq,
        /// Its time.
        time: Timestamp,
        /// The orders.
        orders: Vec<OrderInfo>,
    },
    /// Everything that one command did to an account's orders.
    Orders {
        /// Whose.
        account: AccountId,
        /// The command.
        seq: Seq,
        /// Its time.
        time: Timestamp,
        /// What happened, in order.
        events: Vec<OrderEvent>,
    },
    /// An account's parts in the trades of one command.
    Fills {
        /// Whose.
        account: AccountId,
        /// The command.
        seq: Seq,
        /// Its time.
        time: Timestamp,
        /// The fills, in order.
        fills: Vec<FillInfo>,
    },
    /// A subscription has begun; it sends everything after `seq`.
    Subscribed {
        /// What it is about.
        #[serde(flatten)]
        subscription: SubscriptionInfo,
        /// The last command before it.
        seq: Seq,
    },
    /// A subscription has ended.
    Unsubscribed {
        /// What it was about.
        #[serde(flatten)]
        subscription: SubscriptionInfo,
    },
    /// The connection may see what is private to its key.
    Authenticated {
        /// The accounts of the key.
        accounts: Cow<'a, [AccountId]>,
    },
    /// Answers a ping.
    Pong {
        /// Everything up to this command has been sent.
        seq: Seq,
    },
    /// Everything up to `seq` has been sent.
    Heartbeat {
        /// The command.
        seq: Seq,
    },
    /// A message of the client was refused and had no effect.
    Error {
        /// What it asked, if that could be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        op: Option<StreamOp>,
        /// Why.
        error: ErrorDetail,
    },
}

/// What a subscription is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionInfo {
    /// What it is about.
    pub channel: StreamChannel,
    /// Of which instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Symbol>,
    /// Of which account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
}

enumeration! {
    /// What a consumer says of messages on the stream of a group.
    pub enum SettleOp {
        /// They are done.
        Ack = 0, "ack";
        /// They are given back.
        Nack = 1, "nack";
        /// It needs more time for them.
        Extend = 2, "extend";
    }
}

/// A message of a consumer on the stream of a group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleMessage<'a> {
    /// What it says.
    pub op: SettleOp,
    /// Of which messages.
    #[serde(borrow)]
    pub messages: Rows<LeaseRequest<'a>, MESSAGES_MAX>,
    /// `nack`: how long they wait before they are delivered again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// `nack`: whether no other attempt would help.
    #[serde(default)]
    pub refuse: bool,
    /// `nack`: whether they were not worked on at all.
    #[serde(default)]
    pub unseen: bool,
    /// `nack`: why.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Str<'a>>,
}

/// A message on the stream of a group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum GroupStreamMessage<'a> {
    /// Messages that are delivered.
    Messages {
        /// The messages, each with its lease.
        messages: Vec<MessageInfo<'a>>,
        /// Messages that retention dropped before they were delivered.
        missed: Whole,
    },
    /// What the consumer said took effect, as safely as the topic keeps messages.
    Settled {
        /// What it said.
        op: SettleOp,
        /// Messages whose leases were no longer the consumer's.
        lost: Vec<String>,
    },
    /// What the consumer said was refused and had no effect.
    Error {
        /// Why.
        error: ErrorDetail,
    },
}
