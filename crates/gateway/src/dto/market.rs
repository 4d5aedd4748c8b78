//! Market data as it is shown.

use super::order::side_name;
use crate::json::JsonOut;
use rialto_desk::Listing;
use rialto_feed::{BookOrder, Depth, OrderBook, PriceLevel, PublicTrade, Ticker};
use rialto_model::{Instrument, InstrumentState, Price, SelfTrade};

/// A book by price: `[price, quantity, orders]`, best first.
pub(crate) fn write_depth(out: &mut JsonOut, depth: &Depth, on: &Listing) {
    out.key("last_seq").quoted(depth.last_seq.0);
    let mut side = |key, levels: &[PriceLevel]| {
        out.key(key).open_array();
        for level in levels {
            out.open_array();
            out.decimal(level.price.0, on.price_scale);
            out.decimal(level.quantity.0, on.quantity_scale);
            out.number(level.orders);
            out.close_array();
        }
        out.close_array();
    };
    side("bids", &depth.bids);
    side("asks", &depth.asks);
}

/// A book by order: `[order id, price, quantity]`, first to trade first.
pub(crate) fn write_book(out: &mut JsonOut, book: &OrderBook, on: &Listing) {
    out.key("last_seq").quoted(book.last_seq.0);
    let mut side = |key, orders: &[BookOrder]| {
        out.key(key).open_array();
        for order in orders {
            out.open_array();
            out.quoted(order.order.0);
            out.decimal(order.price.0, on.price_scale);
            out.decimal(order.remaining.0, on.quantity_scale);
            out.close_array();
        }
        out.close_array();
    };
    side("bids", &book.bids);
    side("asks", &book.asks);
}

pub(crate) fn write_trade(out: &mut JsonOut, trade: &PublicTrade, on: &Listing) {
    out.open_object();
    out.key("trade_id").quoted(trade.trade.0);
    out.key("price").decimal(trade.price.0, on.price_scale);
    out.key("quantity").decimal(trade.quantity.0, on.quantity_scale);
    out.key("taker_side").text(side_name(trade.taker_side));
    out.key("seq").quoted(trade.at.seq.0);
    out.key("time").quoted(trade.at.time.0);
    out.close_object();
}

/// The last 24 hours.
pub(crate) fn write_ticker(out: &mut JsonOut, ticker: &Ticker, on: &Listing) {
    let mut price = |key, price: Option<Price>| {
        out.key(key);
        match price {
            Some(price) => out.decimal(price.0, on.price_scale),
            None => out.null(),
        }
    };
    price("open", ticker.open);
    price("high", ticker.high);
    price("low", ticker.low);
    price("last", ticker.last);
    price("change", ticker.change);
    out.key("base_volume").decimal(ticker.base_volume.0, on.base.scale);
    out.key("quote_volume").decimal(ticker.quote_volume.0, on.quote.scale);
    out.key("trades").quoted(ticker.trades);
}

pub(crate) fn write_instrument(out: &mut JsonOut, instrument: &Instrument, on: &Listing) {
    let rules = &instrument.spec.rules;
    out.open_object();
    out.key("symbol").text(on.symbol.as_str());
    out.key("id").number(instrument.id.0);
    out.key("kind").text("spot");
    out.key("state").text(match instrument.state {
        InstrumentState::Open => "open",
        InstrumentState::Halted => "halted",
        InstrumentState::Closed => "closed",
    });
    out.key("base").text(on.base.code.as_str());
    out.key("quote").text(on.quote.code.as_str());
    out.key("price_scale").number(on.price_scale.places());
    out.key("quantity_scale").number(on.quantity_scale.places());
    out.key("base_scale").number(on.base.scale.places());
    out.key("quote_scale").number(on.quote.scale.places());
    out.key("tick").decimal(rules.tick.0, on.price_scale);
    out.key("lot").decimal(rules.lot.0, on.quantity_scale);
    out.key("quantity_max").decimal(rules.quantity_max.0, on.quantity_scale);
    out.key("notional_min").decimal(rules.notional_min.0, on.quote.scale);
    out.key("collar_ppm").number(rules.collar_ppm);
    out.key("reference_price").decimal(rules.reference_price.0, on.price_scale);
    out.key("market_protection_ppm").number(rules.market_protection_ppm);
    out.key("maker_fee_ppm").number(rules.maker_fee_ppm);
    out.key("taker_fee_ppm").number(rules.taker_fee_ppm);
    out.key("self_trade").text(match rules.self_trade {
        SelfTrade::Allow => "allow",
        SelfTrade::CancelNewest => "cancel_newest",
        SelfTrade::CancelOldest => "cancel_oldest",
        SelfTrade::CancelBoth => "cancel_both",
        SelfTrade::Decrement => "decrement",
    });
    out.key("open_orders_max").number(rules.open_orders_max);
    out.key("day_end_s").number(rules.day_end_s);
    out.key("risk").flag(rules.risk);
    out.close_object();
}
