//! Market data: what everybody may see.

use super::{Handled, open_with_seq, respond};
use crate::ApiError;
use crate::call::Visit;
use crate::dto::{write_book, write_depth, write_instrument, write_ticker, write_trade};
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_desk::{
    AsOf, GetBook, GetInstrument, GetOrderBook, GetTicker, GetTrades, ListInstruments, Tape,
};

/// `GET /v1/instruments`
pub(super) async fn instruments(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let mut query = visit.query()?;
    let min_seq = query.min_seq()?;
    query.finish()?;
    let AsOf { at, names, answer } = gate.ask(&visit.cx(), ListInstruments, min_seq).await?;
    let mut out = open_with_seq(at, 4_096);
    out.key("instruments").open_array();
    for instrument in &answer {
        if let Some(on) = names.instrument(instrument.id) {
            write_instrument(&mut out, instrument, on);
        }
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/instruments/{symbol}`
pub(super) async fn instrument(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let mut query = visit.query()?;
    let min_seq = query.min_seq()?;
    query.finish()?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/instruments/")?).await?;
    let question = GetInstrument { instrument: on.id };
    let AsOf { at, answer, .. } = gate.ask(&visit.cx(), question, min_seq).await?;
    let mut out = open_with_seq(at, 1_024);
    out.key("instrument");
    write_instrument(&mut out, &answer, &on);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/book/{symbol}`
pub(super) async fn book(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let mut query = visit.query()?;
    let min_seq = query.min_seq()?;
    let depth = query.count("depth", 20, gate.config.depth_max)?;
    let by_order = match query.text("level").as_deref() {
        None | Some("2") => false,
        Some("3") => true,
        Some(_) => {
            let message = "The parameter level is 2 (by price) or 3 (by order).";
            return Err(ApiError::invalid("level", message));
        }
    };
    query.finish()?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/book/")?).await?;
    let open = |at| {
        let mut out = open_with_seq(at, 256 + 96 * depth);
        out.key("instrument").text(on.symbol.as_str());
        out
    };
    let mut out = if by_order {
        let question = GetOrderBook { instrument: on.id, orders: depth };
        let AsOf { at, answer, .. } = gate.ask(&visit.cx(), question, min_seq).await?;
        let mut out = open(at);
        write_book(&mut out, &answer, &on);
        out
    } else {
        let question = GetBook { instrument: on.id, levels: depth };
        let AsOf { at, answer, .. } = gate.ask(&visit.cx(), question, min_seq).await?;
        let mut out = open(at);
        write_depth(&mut out, &answer, &on);
        out
    };
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/trades/{symbol}`
pub(super) async fn trades(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let mut query = visit.query()?;
    let min_seq = query.min_seq()?;
    let limit = query.count("limit", 100, gate.config.page_max)?;
    query.finish()?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/trades/")?).await?;
    let question = GetTrades { instrument: on.id, limit };
    let AsOf { at, answer, .. } = gate.ask(&visit.cx(), question, min_seq).await?;
    let mut out = open_with_seq(at, 128 + 160 * answer.len());
    out.key("instrument").text(on.symbol.as_str());
    out.key("trades").open_array();
    for trade in &answer {
        write_trade(&mut out, trade, &on);
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/ticker/{symbol}`
pub(super) async fn ticker(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let mut query = visit.query()?;
    let min_seq = query.min_seq()?;
    query.finish()?;
    let on = gate.listing(&visit.cx(), &visit.name_after("/v1/ticker/")?).await?;
    let question = GetTicker { instrument: on.id };
    let AsOf { at, answer, .. } = gate.ask(&visit.cx(), question, min_seq).await?;
    let Tape { ticker, best } = answer;
    let mut out = open_with_seq(at, 512);
    out.key("instrument").text(on.symbol.as_str());
    for (key, level) in [("bid", best.bid), ("ask", best.ask)] {
        out.key(key);
        match level {
            Some(level) => out.decimal(level.price.0, on.price_scale),
            None => out.null(),
        }
    }
    write_ticker(&mut out, &ticker, &on);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}
