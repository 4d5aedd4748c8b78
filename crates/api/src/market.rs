//! Market data, which is public.

use crate::text::U64Text;
use rialto_model::CurrencyCode;
use rialto_model::{
    CallDepth, Decimal, InstrumentId, InstrumentKind, InstrumentState, Name, OrderId, Scale,
    SelfTrade, Seq, Side, Symbol, Timestamp, TradeId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An instrument and its rules.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstrumentInfo {
    /// Its name.
    pub symbol: Symbol,
    /// Its number.
    pub id: InstrumentId,
    /// What kind of contract it is.
    pub kind: InstrumentKind,
    /// The phase.
    pub state: InstrumentState,
    /// The calendar that changes its phases; `null` if an operator does.
    pub calendar: Option<Name>,
    /// The currency that is traded.
    pub base: CurrencyCode,
    /// The currency that is paid.
    pub quote: CurrencyCode,
    /// Decimal places of its prices.
    pub price_scale: Scale,
    /// Decimal places of its quantities.
    pub quantity_scale: Scale,
    /// Decimal places of amounts of the base currency.
    pub base_scale: Scale,
    /// Decimal places of amounts of the quote currency.
    pub quote_scale: Scale,
    /// A price is a multiple of this.
    pub tick: Decimal,
    /// A quantity is a multiple of this.
    pub lot: Decimal,
    /// The largest quantity of an order.
    pub quantity_max: Decimal,
    /// The least price times quantity of an order.
    pub notional_min: Decimal,
    /// The largest distance of a price from the reference price, in millionths; 0 is no limit.
    pub collar_ppm: u32,
    /// The price that the limits of the day are around, and the reference price before the first
    /// trade; 0 is none.
    pub reference_price: Decimal,
    /// How far a market order without a limit may trade from the best price, in millionths.
    pub market_protection_ppm: u32,
    /// Fee of the order that rested, in millionths of the notional; negative for a rebate.
    pub maker_fee_ppm: i32,
    /// Fee of the order that came in, in millionths of the notional.
    pub taker_fee_ppm: i32,
    /// Self-trade prevention of orders that name none.
    pub self_trade: SelfTrade,
    /// Most open orders of an account in this instrument.
    pub open_orders_max: u32,
    /// When the day ends, in seconds after midnight UTC.
    pub day_end_s: u32,
    /// Whether orders of the instrument check, reserve and move balances.
    pub risk: bool,
    /// The largest price times quantity of an order, if there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notional_max: Option<Decimal>,
    /// Fees by the lot, in the quote currency; they replace the rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lot_fees: Option<LotFeesInfo>,
}

/// Fees by the lot, in the quote currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LotFeesInfo {
    /// Fee of the order that rested; negative for a rebate.
    pub maker: Decimal,
    /// Fee of the order that came in.
    pub taker: Decimal,
    /// Fee of both sides of a trade in an auction.
    pub auction: Decimal,
}

/// All instruments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstrumentsAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The instruments.
    pub instruments: Vec<InstrumentInfo>,
}

/// One instrument.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstrumentAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The instrument.
    pub instrument: InstrumentInfo,
}

/// A price level: price, quantity, number of orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LevelInfo(
    /// The price.
    pub Decimal,
    /// The quantity that is displayed at this price.
    pub Decimal,
    /// The number of orders.
    pub u32,
);

/// An order of a public book: id, price, displayed quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BookOrderInfo(
    /// The order.
    pub OrderId,
    /// Its price.
    pub Decimal,
    /// What it displays: of an iceberg a part of what remains, of others all of it.
    pub Decimal,
);

/// Both sides of a book, best first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BookSides<T> {
    /// The sequence of the last change in the book.
    pub last_seq: Seq,
    /// Buy orders.
    pub bids: Vec<T>,
    /// Sell orders.
    pub asks: Vec<T>,
}

/// A book: by price (`level` 2) or by order (`level` 3).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BookAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// The two sides of the book.
    #[serde(flatten)]
    pub sides: BookOf,
}

/// The two forms of a book.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BookOf {
    /// By price.
    Levels(BookSides<LevelInfo>),
    /// By order.
    Orders(BookSides<BookOrderInfo>),
}

/// A public trade.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TradeInfo {
    /// Its id.
    pub trade_id: TradeId,
    /// The price.
    pub price: Decimal,
    /// The quantity.
    pub quantity: Decimal,
    /// The side of the order that came in; a trade of an auction has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taker_side: Option<Side>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// The last trades of an instrument, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TradesAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// The trades.
    pub trades: Vec<TradeInfo>,
}

/// The last 24 hours of an instrument.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TickerInfo {
    /// The first price in the window.
    pub open: Option<Decimal>,
    /// The highest price in the window.
    pub high: Option<Decimal>,
    /// The lowest price in the window.
    pub low: Option<Decimal>,
    /// The last price ever, even when it is older than the window.
    pub last: Option<Decimal>,
    /// Last price less the first price in the window.
    pub change: Option<Decimal>,
    /// Traded in the window, in base currency.
    pub base_volume: Decimal,
    /// Traded in the window, in quote currency.
    pub quote_volume: Decimal,
    /// Trades in the window.
    pub trades: U64Text,
}

/// The last 24 hours of an instrument, and its best prices.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TickerAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// The best price to sell at.
    pub bid: Option<Decimal>,
    /// The best price to buy at.
    pub ask: Option<Decimal>,
    /// The window.
    #[serde(flatten)]
    pub ticker: TickerInfo,
}

/// The price of an auction, and what trades at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuctionResultInfo {
    /// The price of all its trades.
    pub price: Decimal,
    /// The quantity that trades, before self-trade prevention.
    pub volume: Decimal,
    /// The quantity that could trade at the price and has no counterparty.
    pub surplus: Decimal,
    /// The side of the surplus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surplus_side: Option<Side>,
}

/// What interrupted trading, or extended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptionInfo {
    /// The price that is outside of the range.
    pub price: Decimal,
    /// The lowest price of the range.
    pub low: Decimal,
    /// The highest price of the range.
    pub high: Decimal,
    /// Whether the call lasts until an operator ends it.
    pub until_command: bool,
}

/// The phase of an instrument and its auction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuctionInfo {
    /// The phase.
    pub state: InstrumentState,
    /// In a call: what would trade if it ended now; `null` if nothing would. It is computed at most
    /// every 250 ms, and may be older than `seq`.
    pub indicative: Option<AuctionResultInfo>,
    /// The last auction.
    pub last: Option<AuctionResultInfo>,
    /// Why trading was halted, or the call was begun or extended, if a price was out of range.
    pub interrupted: Option<InterruptionInfo>,
    /// When the halt ends, if it ends by itself.
    pub halted_until: Option<Timestamp>,
    /// The best price of a side stands at a limit of continuous trading.
    pub limit_state: Option<LimitStateInfo>,
}

/// The best price of a side stands at a limit of continuous trading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitStateInfo {
    /// The side.
    pub side: Side,
    /// When trading is halted if the price still stands there.
    pub until: Timestamp,
}

/// A range of prices, both ends included. If `low` is above `high`, no price is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RangeInfo {
    /// The lowest price.
    pub low: Decimal,
    /// The highest price.
    pub high: Decimal,
}

/// The rules of an instrument's auctions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuctionRulesInfo {
    /// Fee of both sides of a trade in an auction, in millionths of the notional.
    pub fee_ppm: i32,
    /// Self-trade prevention in auctions.
    pub self_trade: SelfTrade,
    /// Limits of the day around the instrument's `reference_price`, in millionths; 0 is none.
    pub daily_range_ppm: u32,
    /// Range of trades around the price of the last trade in an auction, in millionths; 0 is none.
    pub static_range_ppm: u32,
    /// Range of trades around the last price, in millionths; 0 is none.
    pub dynamic_range_ppm: u32,
    /// Range of the price of an auction around the last price, in millionths; 0 is none.
    pub auction_range_ppm: u32,
    /// The same for an extended call.
    pub extended_range_ppm: u32,
    /// Least length of an interruption or an extension, in milliseconds.
    pub call_ms: u32,
    /// How much longer it may last, in milliseconds.
    pub random_end_ms: u32,
    /// What is published of the orders in a call.
    pub call_depth: CallDepth,
    /// Limits of continuous trading around the price of the last trade in an auction, in millionths;
    /// 0 is none.
    pub limit_range_ppm: u32,
    /// How long the best price may stand at such a limit before trading is halted, in milliseconds; 0
    /// is for ever.
    pub limit_state_ms: u32,
    /// How long that halt lasts, in milliseconds.
    pub halt_ms: u32,
}

/// The phase of an instrument, its auction, and the ranges that its prices must stay in.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuctionAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// The phase and the auction.
    #[serde(flatten)]
    pub auction: AuctionInfo,
    /// The limits of the day: orders outside are refused.
    pub daily_limits: Option<RangeInfo>,
    /// The limits of continuous trading, while they are in force: orders outside are refused.
    pub trading_limits: Option<RangeInfo>,
    /// An order that comes now and would trade outside interrupts trading.
    pub trading_range: Option<RangeInfo>,
    /// The rules of auctions.
    pub rules: AuctionRulesInfo,
}

/// How fresh the answer has to be.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreshQuery {
    /// Wait until the answer is complete up to this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// The form and the depth of a book.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BookQuery {
    /// The most levels or orders of each side.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub depth: Option<usize>,
    /// By price or by order.
    #[serde(default)]
    pub level: BookLevel,
    /// Wait until the answer is complete up to this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// The forms of a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BookLevel {
    /// By price.
    #[default]
    #[serde(rename = "2")]
    Prices,
    /// By order.
    #[serde(rename = "3")]
    Orders,
}

/// How many trades to return.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TradesQuery {
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Wait until the answer is complete up to this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// The time at the venue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimeAnswer {
    /// Nanoseconds since 1970.
    pub time: Timestamp,
}
