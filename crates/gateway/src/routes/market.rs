//! Public market data.

use super::{Handled, count, respond};
use crate::call::Visit;
use crate::convert::{
    auction_info, auction_rules_info, best, book_orders, instrument_info, range_info, ticker_info,
    trade_info,
};
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{
    AuctionAnswer, BookAnswer, BookLevel, BookOf, BookQuery, FreshQuery, InstrumentAnswer,
    InstrumentsAnswer, TickerAnswer, TradesAnswer, TradesQuery,
};
use rialto_desk::{
    AsOf, AuctionSummary, GetAuction, GetBook, GetInstrument, GetOrderBook, GetTicker, GetTrades,
    ListInstruments, MarketSummary,
};

/// `GET /v1/instruments`
pub(super) async fn instruments(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let query: FreshQuery = visit.query()?;
    let AsOf { at, names, answer } = gate.read(&visit.cx(), ListInstruments, query.min_seq).await?;
    let instruments = answer.iter().filter_map(|summary| {
        names.instrument(summary.instrument.id).map(|on| instrument_info(summary, on))
    });
    let response =
        InstrumentsAnswer { seq: at.seq, time: at.time, instruments: instruments.collect() };
    Ok(respond(StatusCode::OK, &response, 4_096))
}

/// `GET /v1/instruments/{symbol}`
pub(super) async fn instrument(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let query: FreshQuery = visit.query()?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/instruments/")?).await?;
    let question = GetInstrument { instrument: on.id };
    let AsOf { at, answer, .. } = gate.read(&visit.cx(), question, query.min_seq).await?;
    let instrument = instrument_info(&answer, &on);
    let response = InstrumentAnswer { seq: at.seq, time: at.time, instrument };
    Ok(respond(StatusCode::OK, &response, 1_024))
}

/// `GET /v1/book/{symbol}`
pub(super) async fn book(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let query: BookQuery = visit.query()?;
    let depth = count("depth", query.depth, 20, gate.config.depth_max)?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/book/")?).await?;
    let (at, sides) = match query.level {
        BookLevel::Orders => {
            let question = GetOrderBook { instrument: on.id, orders: depth };
            let AsOf { at, answer, .. } = gate.read(&visit.cx(), question, query.min_seq).await?;
            (at, BookOf::Orders(book_orders(&answer, &on)))
        }
        BookLevel::Prices => {
            let question = GetBook { instrument: on.id, levels: depth };
            let AsOf { at, answer, .. } = gate.read(&visit.cx(), question, query.min_seq).await?;
            (at, BookOf::Levels(best(&answer, &on)))
        }
    };
    let response = BookAnswer { seq: at.seq, time: at.time, instrument: on.symbol, sides };
    Ok(respond(StatusCode::OK, &response, 256 + 96 * depth))
}

/// `GET /v1/trades/{symbol}`
pub(super) async fn trades(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let query: TradesQuery = visit.query()?;
    let limit = count("limit", query.limit, 100, gate.config.page_max)?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/trades/")?).await?;
    let question = GetTrades { instrument: on.id, limit };
    let AsOf { at, answer, .. } = gate.read(&visit.cx(), question, query.min_seq).await?;
    let trades = answer.iter().map(|trade| trade_info(trade, &on)).collect();
    let response = TradesAnswer { seq: at.seq, time: at.time, instrument: on.symbol, trades };
    Ok(respond(StatusCode::OK, &response, 128 + 160 * answer.len()))
}

/// `GET /v1/ticker/{symbol}`
pub(super) async fn ticker(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let query: FreshQuery = visit.query()?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/ticker/")?).await?;
    let question = GetTicker { instrument: on.id };
    let AsOf { at, answer, .. } = gate.read(&visit.cx(), question, query.min_seq).await?;
    let MarketSummary { ticker, best } = answer;
    let response = TickerAnswer {
        seq: at.seq,
        time: at.time,
        instrument: on.symbol,
        bid: best.bid.map(|level| level.price.decimal(on.price_scale)),
        ask: best.ask.map(|level| level.price.decimal(on.price_scale)),
        ticker: ticker_info(&ticker, &on),
    };
    Ok(respond(StatusCode::OK, &response, 512))
}

/// `GET /v1/auction/{symbol}`
pub(super) async fn auction(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let query: FreshQuery = visit.query()?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/auction/")?).await?;
    let question = GetAuction { instrument: on.id };
    let AsOf { at, answer, .. } = gate.read(&visit.cx(), question, query.min_seq).await?;
    let AuctionSummary { auction, rules, daily_limits, trading_limits, trading_range } = answer;
    let response = AuctionAnswer {
        seq: at.seq,
        time: at.time,
        instrument: on.symbol,
        auction: auction_info(&auction, &on),
        daily_limits: daily_limits.map(|range| range_info(range, &on)),
        trading_limits: trading_limits.map(|range| range_info(range, &on)),
        trading_range: trading_range.map(|range| range_info(range, &on)),
        rules: auction_rules_info(&rules),
    };
    Ok(respond(StatusCode::OK, &response, 1_024))
}
