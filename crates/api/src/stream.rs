//! Messages of the two streams: of the venue (`/v1/stream`) and of a group (`…/stream`).

use crate::error::ErrorDetail;
use crate::limits::MESSAGES_MAX;
use crate::market::{AuctionInfo, BookSides, LevelInfo, TickerInfo, TradeInfo};
use crate::order::{FillInfo, OrderEvent, OrderInfo};
use crate::queue::{LeaseRequest, MessageInfo};
use crate::text::{Rows, Str, U64Text};
use crate::venue::BalanceInfo;
use rialto_model::{AccountId, Seq, Symbol, Timestamp, enumeration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

enumeration! {
    /// The operations of a client on the stream.
    pub enum StreamOp {
        /// Proves that the client holds a key.
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
    /// The channels that can be subscribed to.
    pub enum StreamChannel {
        /// The book of an instrument.
        Book = 0, "book";
        /// Its trades.
        Trades = 1, "trades";
        /// Its last 24 hours.
        Ticker = 2, "ticker";
        /// Events of an account's orders.
        Orders = 3, "orders";
        /// An account's fills.
        Fills = 4, "fills";
        /// An account's balances.
        Balances = 5, "balances";
        /// The phase and the auction of an instrument.
        Auction = 6, "auction";
    }
}

/// A message of a client. A field that has no meaning for its `op` and `channel` is refused.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamRequest<'a> {
    /// The operation.
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
    /// `subscribe`, `unsubscribe`: the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<StreamChannel>,
    /// `book`, `trades`, `ticker`, `auction`: the symbol of the instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Str<'a>>,
    /// `orders`, `fills`, `balances`: which account; may be left out where the key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// `book`: send only this many of the best levels, all of them each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub depth: Option<usize>,
    /// `orders`, `fills`: resume after this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_seq: Option<Seq>,
    /// `auth`, `orders`: whether orders with `cancel_on_disconnect` are cancelled when this
    /// connection is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_on_disconnect: Option<bool>,
}

/// A message of the venue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamMessage<'a> {
    /// The whole book, or the best levels of it.
    Book {
        /// The symbol of the instrument.
        instrument: Symbol,
        /// The sequence that it is complete up to.
        seq: Seq,
        /// The time of that command.
        time: Timestamp,
        /// The levels.
        #[serde(flatten)]
        sides: BookSides<LevelInfo>,
    },
    /// The levels of a book that changed, each as it is now.
    BookDelta {
        /// The symbol of the instrument.
        instrument: Symbol,
        /// The sequence of the first command in it.
        first_seq: Seq,
        /// The sequence of the last command in it.
        last_seq: Seq,
        /// The sequence of the previous change of the book.
        prev_seq: Seq,
        /// The time of the last command.
        time: Timestamp,
        /// Buy orders.
        bids: Vec<LevelInfo>,
        /// Sell orders.
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
        /// The sequence that it is complete up to.
        seq: Seq,
        /// The time of that command.
        time: Timestamp,
        /// The window.
        #[serde(flatten)]
        ticker: TickerInfo,
    },
    /// The phase of an instrument and its auction, as they are now.
    Auction {
        /// The symbol of the instrument.
        instrument: Symbol,
        /// The sequence that it is complete up to.
        seq: Seq,
        /// The time of that command.
        time: Timestamp,
        /// The phase and the auction.
        #[serde(flatten)]
        auction: AuctionInfo,
    },
    /// A balance that changed.
    Balance {
        /// The account.
        account: AccountId,
        /// The sequence of the command.
        seq: Seq,
        /// The balance after the change.
        balance: BalanceInfo,
    },
    /// All balances of an account.
    Balances {
        /// The account.
        account: AccountId,
        /// The sequence that the message is complete up to.
        seq: Seq,
        /// The time of that command.
        time: Timestamp,
        /// The balances.
        balances: Vec<BalanceInfo>,
    },
    /// All open orders of an account.
    OpenOrders {
        /// The account.
        account: AccountId,
        /// The sequence that the message is complete up to.
        seq: Seq,
        /// The time of that command.
        time: Timestamp,
        /// The orders.
        orders: Vec<OrderInfo>,
    },
    /// Everything that one command did to an account's orders.
    Orders {
        /// The account.
        account: AccountId,
        /// The sequence of the command.
        seq: Seq,
        /// The time of that command.
        time: Timestamp,
        /// The events, in order.
        events: Vec<OrderEvent>,
    },
    /// An account's fills of one command.
    Fills {
        /// The account.
        account: AccountId,
        /// The sequence of the command.
        seq: Seq,
        /// The time of that command.
        time: Timestamp,
        /// The fills, in order.
        fills: Vec<FillInfo>,
    },
    /// A subscription has begun. It sends everything after `seq`.
    Subscribed {
        /// The subscription.
        #[serde(flatten)]
        subscription: SubscriptionInfo,
        /// The sequence that it begins after.
        seq: Seq,
    },
    /// A subscription has ended.
    Unsubscribed {
        /// The subscription.
        #[serde(flatten)]
        subscription: SubscriptionInfo,
    },
    /// The connection is authenticated: it may subscribe to private channels.
    Authenticated {
        /// The accounts of the key.
        accounts: Cow<'a, [AccountId]>,
    },
    /// Answers a ping.
    Pong {
        /// The sequence up to which everything has been sent.
        seq: Seq,
    },
    /// Everything up to `seq` has been sent.
    Heartbeat {
        /// The sequence of the command.
        seq: Seq,
    },
    /// A message of the client was refused and had no effect.
    Error {
        /// The operation, if it could be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        op: Option<StreamOp>,
        /// The error.
        error: ErrorDetail,
    },
}

/// The channel of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionInfo {
    /// The channel.
    pub channel: StreamChannel,
    /// The instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Symbol>,
    /// The account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
}

enumeration! {
    /// The operations of a consumer on the stream of a group.
    pub enum SettleOp {
        /// Acknowledges messages.
        Ack = 0, "ack";
        /// Gives messages back, to be delivered again.
        Nack = 1, "nack";
        /// Extends the leases of messages.
        Extend = 2, "extend";
    }
}

/// A message of a consumer on the stream of a group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleMessage<'a> {
    /// The operation.
    pub op: SettleOp,
    /// The messages.
    #[serde(borrow)]
    pub messages: Rows<LeaseRequest<'a>, MESSAGES_MAX>,
    /// `extend`: how long the leases last from now, in milliseconds, instead of the group's
    /// `ack_wait_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800_000))]
    pub ack_wait_ms: Option<u64>,
    /// `nack`: the delay before the messages are delivered again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// `nack`: whether the messages become dead letters now.
    #[serde(default)]
    pub refuse: bool,
    /// `nack`: whether the attempt does not count.
    #[serde(default)]
    pub unseen: bool,
    /// `nack`: the reason, kept with the dead letter.
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
        missed: U64Text,
    },
    /// An operation of the consumer took effect, with the durability of the topic.
    Settled {
        /// The operation.
        op: SettleOp,
        /// Messages whose leases were no longer the consumer's.
        lost: Vec<String>,
    },
    /// An operation of the consumer was refused and had no effect.
    Error {
        /// The error.
        error: ErrorDetail,
    },
}
