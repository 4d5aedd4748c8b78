//! The answers of queries: plain values, to be rendered at the scales of the instrument.

use rialto_model::{
    AccountId, Amount, CircuitBreakerRule, CurrencyId, DoneReason, Iceberg, InstrumentId,
    InstrumentState, Interrupted, Leg, MemberId, Name, NewOrder, OrderId, OrderStatus,
    PlannedTransition, Price, Quantity, Reference, Restriction, Role, Seq, Side, Timestamp,
    TradeId, TrailState, Trigger,
};

/// A point in the history of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// A price level of one side of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceLevel {
    /// The price.
    pub price: Price,
    /// The remaining quantity that its orders display, at most [`Quantity::MAX`].
    pub quantity: Quantity,
    /// Number of orders.
    pub orders: u32,
}

/// A book by price (L2), best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The last change that is in it: the next [`crate::BookDelta`] has this as its `prev_seq`.
    pub last_seq: Seq,
    /// Levels of buy orders, highest price first.
    pub bids: Vec<PriceLevel>,
    /// Levels of sell orders, lowest price first.
    pub asks: Vec<PriceLevel>,
}

/// A public order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookOrder {
    /// Its id.
    pub order: OrderId,
    /// Its limit.
    pub price: Price,
    /// What it displays: of an iceberg a part of what remains, of others all of it.
    pub displayed: Quantity,
}

/// A book by order (L3), in the order in which it trades.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBook {
    /// The instrument.
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
    /// The instrument.
    pub instrument: InstrumentId,
    /// The last change of the book.
    pub last_seq: Seq,
    /// The highest buy level.
    pub bid: Option<PriceLevel>,
    /// The lowest sell level.
    pub ask: Option<PriceLevel>,
}

/// A public trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicTrade {
    /// Its id.
    pub trade: TradeId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The price.
    pub price: Price,
    /// The quantity.
    pub quantity: Quantity,
    /// The side of the incoming order.
    pub taker_side: Side,
    /// Whether it is a trade of an auction, which has no incoming order.
    pub auction: bool,
    /// The sequence and time of the trade.
    pub at: Moment,
}

/// The phase of an instrument, the indicative price of its call, and its last auction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuctionView {
    /// The instrument.
    pub instrument: InstrumentId,
    /// Its phase.
    pub state: InstrumentState,
    /// The sequence and time up to which it counts.
    pub at: Moment,
    /// In a call, what would trade if it ended now; none if nothing would.
    pub indicative: Option<AuctionResult>,
    /// The last auction.
    pub last: Option<AuctionResult>,
    /// What interrupted trading or extended the call, until trading goes on.
    pub interrupted: Option<Interrupted>,
    /// When its halt ends, if that ends by itself.
    pub halted_until: Option<Timestamp>,
    /// The best price of a side stands at a limit.
    pub limit_state: Option<LimitStateView>,
}

/// The best price of a side stands at a limit of continuous trading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitStateView {
    /// The side.
    pub side: Side,
    /// When trading is halted if the price still stands there.
    pub until: Timestamp,
}

/// The timetable of a calendar: what has begun, and what is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimetableView {
    /// Its name.
    pub name: Name,
    /// What tells the file of the adopted plan from others; zero if none was adopted.
    pub digest: u64,
    /// The last transition that has begun.
    pub begun: Option<BegunTransition>,
    /// The transitions that have not begun, in order.
    pub planned: Vec<PlannedTransition>,
    /// A plan that is not adopted.
    pub plan: Vec<PlannedTransition>,
    /// The circuit breaker.
    pub breaker: Option<BreakerView>,
}

/// The circuit breaker of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerView {
    /// What it watches, and what it does.
    pub rule: CircuitBreakerRule,
    /// Whether it would halt trading: it has not since it was set, or since the trading rules of its
    /// instrument were.
    pub is_armed: bool,
}

/// A transition that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunTransition {
    /// The time at which it was planned.
    pub at: Timestamp,
    /// The state that it sets.
    pub state: InstrumentState,
}

/// The price of an auction, and what trades at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuctionResult {
    /// The price.
    pub price: Price,
    /// The quantity that trades, or the largest that can be expressed if it is more.
    pub volume: Quantity,
    /// What could trade at the price and has no counterparty: positive for buys, negative for sells.
    pub surplus: Quantity,
}

/// The last 24 hours of an instrument: the current minute and the 1,439 before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticker {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The sequence and time up to which it counts.
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

/// How many orders are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOrderCounts {
    /// Conditional orders that have not been entered, triggered ones included.
    pub waiting: usize,
    /// All others.
    pub entered: usize,
}

/// How an open order is linked with other orders of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinksView {
    /// The first order of the list: that of the pair, or the entry.
    pub list: OrderId,
    /// The other linked order, if there is one.
    pub other: Option<OrderId>,
    /// The exit at a better price that an entry enters as it trades.
    pub take_profit: Option<Leg>,
    /// Its exit at a worse price.
    pub stop_loss: Option<Leg>,
}

/// An order as its owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderView {
    /// Its id.
    pub order: OrderId,
    /// Its terms in force: as entered, but with the present limit and, for an order sized in base
    /// currency, the present total quantity.
    pub terms: NewOrder,
    /// The status of the order.
    pub status: OrderStatus,
    /// Why it ended, if it ended without being filled or was sized in quote currency.
    pub done: Option<DoneReason>,
    /// What it waits for; of a trailing stop that is active, its trigger price now. Of an order that has ended,
    /// what it waited for.
    pub trigger: Option<Trigger>,
    /// What it follows, if it is a trailing stop that waits, or what it followed, if it has ended.
    pub trail: Option<TrailState>,
    /// What it displays, if it is an iceberg: nothing while it is not on the book.
    pub iceberg: Option<Iceberg>,
    /// How it is linked with other orders, while it is open. Of an order that has ended, its list.
    pub links: Option<LinksView>,
    /// Whether it is on the book. A suspended taker is open and not on the book.
    pub resting: bool,
    /// Total quantity; zero for an order sized in quote currency.
    pub quantity: Quantity,
    /// The quantity that has traded.
    pub filled: Quantity,
    /// The remaining quantity or, of an ended order, the quantity that did not trade; zero for an
    /// order sized in quote currency.
    pub remaining: Quantity,
    /// Price times quantity of what has traded, in the quote currency's smallest unit; unknown for
    /// an order that had traded before the baseline the feed began with.
    pub filled_notional: Option<Amount>,
    /// The fees of what has traded, in the quote currency's smallest unit; negative is a rebate;
    /// unknown where `filled_notional` is.
    pub fee: Option<Amount>,
    /// The reserve of the order: quote currency for a buy, base currency for a sell.
    pub reserved: Amount,
    /// When it was accepted; unknown for an order of the baseline the feed began with.
    pub accepted: Option<Moment>,
    /// When it last changed.
    pub updated: Moment,
}

/// A fill: one account's side of a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The account.
    pub account: AccountId,
    /// The trade.
    pub trade: TradeId,
    /// The account's order.
    pub order: OrderId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// Whether the account bought or sold.
    pub side: Side,
    /// Whether its order was the maker or the taker.
    pub role: Role,
    /// The price.
    pub price: Price,
    /// The quantity.
    pub quantity: Quantity,
    /// Price times quantity, in quote currency; zero where the instrument's risk is off.
    pub notional: Amount,
    /// The account's fee, in quote currency; negative is a rebate.
    pub fee: Amount,
    /// The sequence and time of the trade.
    pub at: Moment,
}

/// The balance of an account in a currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceView {
    /// The account.
    pub account: AccountId,
    /// The currency.
    pub currency: CurrencyId,
    /// The available amount. Only house accounts can be below zero.
    pub available: Amount,
    /// The amount reserved for open orders and withdrawals.
    pub reserved: Amount,
    /// The part of the reserved amount that covers withdrawals.
    pub withdrawing: Amount,
    /// The sequence of the last change.
    pub updated: Seq,
}

/// A held withdrawal: reserved, but neither settled nor released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithdrawalView {
    /// The account.
    pub account: AccountId,
    /// The currency.
    pub currency: CurrencyId,
    /// The amount.
    pub amount: Amount,
    /// The reference of the withdrawal.
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

/// The restrictions of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountRestriction {
    /// The account.
    pub account: AccountId,
    /// The strictest restriction of the account, its member and the venue.
    pub in_force: Restriction,
    /// The member's own restriction of the account.
    pub by_member: Restriction,
}

/// The changes of an account after a sequence, in their present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountChanges {
    /// The sequence that it is complete up to.
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
    /// The least sequence that may be requested.
    pub oldest: Seq,
    /// The greatest sequence that may be requested.
    pub newest: Seq,
}
