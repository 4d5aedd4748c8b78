//! Conversion of market data, at the scales of the instrument.

use rialto_api::{
    AuctionInfo, AuctionResultInfo, AuctionRulesInfo, BookOrderInfo, BookSides, InstrumentInfo,
    InterruptionInfo, LevelInfo, LimitStateInfo, LotFeesInfo, RangeInfo, TickerInfo, TradeInfo,
};
use rialto_desk::{InstrumentSummary, Listing};
use rialto_feed::{
    AuctionResult, AuctionView, BookOrder, Depth, OrderBook, PriceLevel, PublicTrade, Ticker,
};
use rialto_model::{Amount, AuctionRules, Interrupted, LotFees, Price, PriceRange, Quantity, Side};

/// The levels of one side.
pub(crate) fn book_levels(levels: &[PriceLevel], on: &Listing) -> Vec<LevelInfo> {
    let level = |level: &PriceLevel| {
        let quantity = level.quantity.decimal(on.quantity_scale);
        LevelInfo(level.price.decimal(on.price_scale), quantity, level.orders)
    };
    levels.iter().map(level).collect()
}

/// A book by price level.
pub(crate) fn best(depth: &Depth, on: &Listing) -> BookSides<LevelInfo> {
    BookSides {
        last_seq: depth.last_seq,
        bids: book_levels(&depth.bids, on),
        asks: book_levels(&depth.asks, on),
    }
}

/// A book by order.
pub(crate) fn book_orders(book: &OrderBook, on: &Listing) -> BookSides<BookOrderInfo> {
    let order = |order: &BookOrder| {
        let displayed = order.displayed.decimal(on.quantity_scale);
        BookOrderInfo(order.order, order.price.decimal(on.price_scale), displayed)
    };
    BookSides {
        last_seq: book.last_seq,
        bids: book.bids.iter().map(order).collect(),
        asks: book.asks.iter().map(order).collect(),
    }
}

pub(crate) fn trade_info(trade: &PublicTrade, on: &Listing) -> TradeInfo {
    TradeInfo {
        trade_id: trade.trade,
        price: trade.price.decimal(on.price_scale),
        quantity: trade.quantity.decimal(on.quantity_scale),
        taker_side: (!trade.auction).then_some(trade.taker_side),
        seq: trade.at.seq,
        time: trade.at.time,
    }
}

pub(crate) fn ticker_info(ticker: &Ticker, on: &Listing) -> TickerInfo {
    let price = |price: Option<Price>| price.map(|price| price.decimal(on.price_scale));
    TickerInfo {
        open: price(ticker.open),
        high: price(ticker.high),
        low: price(ticker.low),
        last: price(ticker.last),
        change: price(ticker.change),
        base_volume: ticker.base_volume.decimal(on.base.scale),
        quote_volume: ticker.quote_volume.decimal(on.quote.scale),
        trades: ticker.trades.into(),
    }
}

/// The phase of an instrument and its auction.
pub(crate) fn auction_info(auction: &AuctionView, on: &Listing) -> AuctionInfo {
    let result = |result: AuctionResult| {
        let AuctionResult { price, volume, surplus } = result;
        let side = if surplus > Quantity::ZERO { Side::Buy } else { Side::Sell };
        AuctionResultInfo {
            price: price.decimal(on.price_scale),
            volume: volume.decimal(on.quantity_scale),
            surplus: Quantity(surplus.0.saturating_abs()).decimal(on.quantity_scale),
            surplus_side: (surplus != Quantity::ZERO).then_some(side),
        }
    };
    let interruption = |it: Interrupted| InterruptionInfo {
        price: it.price.decimal(on.price_scale),
        low: it.low.decimal(on.price_scale),
        high: it.high.decimal(on.price_scale),
        until_command: it.until_command,
    };
    AuctionInfo {
        state: auction.state,
        indicative: auction.indicative.map(result),
        last: auction.last.map(result),
        interrupted: auction.interrupted.map(interruption),
        halted_until: auction.halted_until,
        limit_state: auction
            .limit_state
            .map(|it| LimitStateInfo { side: it.side, until: it.until }),
    }
}

pub(crate) fn range_info(range: PriceRange, on: &Listing) -> RangeInfo {
    RangeInfo { low: range.low.decimal(on.price_scale), high: range.high.decimal(on.price_scale) }
}

pub(crate) fn auction_rules_info(rules: &AuctionRules) -> AuctionRulesInfo {
    AuctionRulesInfo {
        fee_ppm: rules.fee_ppm,
        self_trade: rules.self_trade,
        daily_range_ppm: rules.daily_range_ppm,
        static_range_ppm: rules.static_range_ppm,
        dynamic_range_ppm: rules.dynamic_range_ppm,
        auction_range_ppm: rules.auction_range_ppm,
        extended_range_ppm: rules.extended_range_ppm,
        call_ms: rules.call_ms,
        random_end_ms: rules.random_end_ms,
        call_depth: rules.call_depth,
        limit_range_ppm: rules.limit_range_ppm,
        limit_state_ms: rules.limit_state_ms,
        halt_ms: rules.halt_ms,
    }
}

pub(crate) fn instrument_info(summary: &InstrumentSummary, on: &Listing) -> InstrumentInfo {
    let InstrumentSummary { instrument, calendar, terms } = summary;
    let amount = |amount: Amount| amount.decimal(on.quote.scale);
    let rules = &instrument.spec.rules;
    InstrumentInfo {
        symbol: on.symbol,
        id: instrument.id,
        kind: instrument.spec.kind,
        state: instrument.state,
        calendar: *calendar,
        base: on.base.code,
        quote: on.quote.code,
        price_scale: on.price_scale,
        quantity_scale: on.quantity_scale,
        base_scale: on.base.scale,
        quote_scale: on.quote.scale,
        tick: rules.tick.decimal(on.price_scale),
        lot: rules.lot.decimal(on.quantity_scale),
        quantity_max: rules.quantity_max.decimal(on.quantity_scale),
        notional_min: rules.notional_min.decimal(on.quote.scale),
        collar_ppm: rules.collar_ppm,
        reference_price: rules.reference_price.decimal(on.price_scale),
        market_protection_ppm: rules.market_protection_ppm,
        maker_fee_ppm: rules.maker_fee_ppm,
        taker_fee_ppm: rules.taker_fee_ppm,
        self_trade: rules.self_trade,
        open_orders_max: rules.open_orders_max,
        day_end_s: rules.day_end_s,
        risk: rules.risk,
        notional_max: (terms.notional_max != Amount::ZERO).then(|| amount(terms.notional_max)),
        lot_fees: terms.lot_fees.map(|LotFees { maker, taker, auction }| LotFeesInfo {
            maker: amount(maker),
            taker: amount(taker),
            auction: amount(auction),
        }),
    }
}
