//! What queries answer with: plain values, to be rendered at the scales of the instrument.

use rialto_model::{
    AccountId, Amount, CurrencyId, DoneReason, InstrumentId, MemberId, Name, NewOrder, OrderId,
    OrderStatus, Price, Quantity, Reference, Role, Seq, Side, Timestamp, TradeId,
};

/// A point in the history of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The command.
    pub seq: Seq,
    /// Its time.
    pub time: Timestamp,
}

/// All that stands at one price of one side of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceLevel {
    /// The price.
    pub price: Price,
    /// Total of what remains of its orders; [`Quantity::MAX`] also where the total is above that.
    pub quantity: Quantity,
    /// Number of orders.
    pub orders: u32,
}

/// A book by price (L2), best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// The last change that is in it: the next [`crate::BookDelta`] has this as its `prev_seq`.
    pub last_seq: Seq,
    /// Levels of buy orders, highest price first.
    pub bids: Vec<PriceLevel>,
    /// Levels of sell orders, lowest price first.
    pub asks: Vec<PriceLevel>,
}

/// One order as the public sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookOrder {
    /// Its id.
    pub order: OrderId,
    /// Its limit.
    pub price: Price,
    /// What is left of it.
    pub remaining: Quantity,
}

/// A book by order (L3), in the order in which it trades.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBook {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// The last change that is in it.
    pub last_seq: Seq,
    /// Buy orders, first to trade first.
    pub bids: Vec<BookOrder>,
    /// Sell orders, first to trade first.
    pub asks: Vec<BookOrder>,
}

/// The best price of each side (L1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestPrices {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// The last change of the book.
    pub last_seq: Seq,
    /// The highest buy level.
    pub bid: Option<PriceLevel>,
    /// The lowest sell level.
    pub ask: Option<PriceLevel>,
}

/// A trade as the public sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicTrade {
    /// Its id.
    pub trade: TradeId,
    /// What was traded.
    pub instrument: InstrumentId,
    /// The price.
    pub price: Price,
    /// The quantity.
    pub quantity: Quantity,
    /// The side of the incoming order.
    pub taker_side: Side,
    /// When.
    pub at: Moment,
}

/// The last 24 hours of an instrument: the current minute and the 1,439 before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticker {
    /// Which instrument.
    pub instrument: InstrumentId,
    /// The command up to which it counts.
    pub at: Moment,
    /// The first price in the window.
    pub open: Option<Price>,
    /// The highest price in the window.
    pub high: Option<Price>,
    /// The lowest price in the window.
    pub low: Option<Price>,
    /// The last price ever, even when it is older than the window.
    pub last: Option<Price>,
    /// Last price less the first price in the window.
    pub change: Option<Price>,
    /// Traded in the window, in the base currency's smallest unit.
    pub base_volume: Amount,
    /// Price times quantity traded in the window, in the quote currency's smallest unit.
    pub quote_volume: Amount,
    /// Trades in the window.
    pub trades: u64,
}

/// An order as its owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderView {
    /// Its id.
    pub order: OrderId,
    /// Its terms in force: as entered, but with the present limit and, for an order sized in base
    /// currency, the present total quantity.
    pub terms: NewOrder,
    /// Where it is in its life.
    pub status: OrderStatus,
    /// Why it ended, if it ended without being filled or was sized in quote currency.
    pub done: Option<DoneReason>,
    /// Whether it stands on the book. An incoming order that has more to trade than one command
    /// may is open without standing there.
    pub resting: bool,
    /// Total quantity; zero for an order sized in quote currency.
    pub quantity: Quantity,
    /// What has traded.
    pub filled: Quantity,
    /// What is left or, of an ended order, what it ended with; zero for an order sized in quote
    /// currency.
    pub remaining: Quantity,
    /// Price times quantity of what has traded, in the quote currency's smallest unit; unknown for
    /// an order that had traded before the baseline the feed began with.
    pub filled_notional: Option<Amount>,
    /// The fees of what has traded, in the quote currency's smallest unit; negative is a rebate;
    /// unknown where `filled_notional` is.
    pub fee: Option<Amount>,
    /// What is reserved for it: quote currency for a buy, base currency for a sell.
    pub reserved: Amount,
    /// When it was accepted; unknown for an order of the baseline the feed began with.
    pub accepted: Option<Moment>,
    /// When it last changed.
    pub updated: Moment,
}

/// One account's part in a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Whose.
    pub account: AccountId,
    /// The trade.
    pub trade: TradeId,
    /// The account's order.
    pub order: OrderId,
    /// What was traded.
    pub instrument: InstrumentId,
    /// Whether the account bought or sold.
    pub side: Side,
    /// Whether its order was there first.
    pub role: Role,
    /// The price.
    pub price: Price,
    /// The quantity.
    pub quantity: Quantity,
    /// Price times quantity, in quote currency; zero where the instrument's risk is off.
    pub notional: Amount,
    /// The account's fee, in quote currency; negative is a rebate.
    pub fee: Amount,
    /// When.
    pub at: Moment,
}

/// What an account has of a currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceView {
    /// Whose.
    pub account: AccountId,
    /// Of which currency.
    pub currency: CurrencyId,
    /// What it may spend or withdraw. Only house accounts can be below zero.
    pub available: Amount,
    /// What its open orders and its withdrawals hold.
    pub reserved: Amount,
    /// The part of what is reserved that withdrawals hold.
    pub withdrawing: Amount,
    /// The command that changed it last.
    pub updated: Seq,
}

/// A withdrawal that is held: bound, but neither paid out nor given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithdrawalView {
    /// Whose.
    pub account: AccountId,
    /// Of which currency.
    pub currency: CurrencyId,
    /// How much.
    pub amount: Amount,
    /// The outside world's name for it.
    pub reference: Reference,
    /// When it was held.
    pub held: Moment,
}

/// A member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberView {
    /// Its id.
    pub member: MemberId,
    /// Its name.
    pub name: Name,
}

/// An account of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountView {
    /// Its id.
    pub account: AccountId,
    /// Its owner.
    pub member: MemberId,
    /// Its name.
    pub name: Name,
    /// Number of its open orders.
    pub open_orders: u32,
    /// When its dead-man timer runs out, if it is set.
    pub dead_man: Option<Timestamp>,
}

/// Everything of an account that changed after some sequence, each thing as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountChanges {
    /// Complete up to here.
    pub seq: Seq,
    /// Orders that were accepted, changed or ended: open ones by id, then ended ones by end.
    pub orders: Vec<OrderView>,
    /// Fills, oldest first.
    pub fills: Vec<Fill>,
    /// Balances, by currency.
    pub balances: Vec<BalanceView>,
}

/// The changes after that sequence are not kept any more (or not there yet): read the whole
/// state instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "changes are complete only from sequence {oldest} to {newest}; read the whole state instead"
)]
pub struct NotRemembered {
    /// The least sequence that may be asked for.
    pub oldest: Seq,
    /// The greatest sequence that may be asked for.
    pub newest: Seq,
}
