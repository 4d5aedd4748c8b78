//! Market data: what everybody may see.

use super::{Handled, open_with_seq, respond};
use crate::ApiError;
use crate::call::{name_after, peer};
use crate::dto::{write_book, write_depth, write_instrument, write_ticker, write_trade};
use crate::gate::Gate;
use crate::query::Query;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use rialto_desk::Listing;
use rialto_model::RejectReason;

/// Lets the request pass if its caller has an allowance.
pub(super) fn open(gate: &Gate, request: Request) -> Result<Parts, ApiError> {
    let (head, _) = request.into_parts();
    let path = head.uri.path_and_query().map_or("", |path| path.as_str());
    gate.gatekeeper.check_public(&head.headers, head.method.as_str(), path, peer(&head))?;
    Ok(head)
}

fn unknown() -> ApiError {
    ApiError::unknown(RejectReason::UnknownInstrument)
}

/// `GET /v1/instruments`
pub(super) async fn instruments(gate: &Gate, request: Request) -> Handled {
    let head = open(gate, request)?;
    let mut query = Query::of(&head.uri)?;
    let min_seq = query.min_seq()?;
    query.finish()?;
    let feed = gate.feed(min_seq).await?;
    let mut out = open_with_seq(&feed, 4_096);
    out.key("instruments").open_array();
    for instrument in feed.instruments() {
        if let Some(on) = Listing::of(&feed, instrument) {
            write_instrument(&mut out, instrument, &on);
        }
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/instruments/{symbol}`
pub(super) async fn instrument(gate: &Gate, request: Request) -> Handled {
    let head = open(gate, request)?;
    let mut query = Query::of(&head.uri)?;
    let min_seq = query.min_seq()?;
    query.finish()?;
    let on = gate.listing(&name_after(&head, "/v1/instruments/")?).await?;
    let feed = gate.feed(min_seq).await?;
    let instrument = feed.instrument(on.id).ok_or_else(unknown)?;
    let mut out = open_with_seq(&feed, 1_024);
    out.key("instrument");
    write_instrument(&mut out, instrument, &on);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/book/{symbol}`
pub(super) async fn book(gate: &Gate, request: Request) -> Handled {
    let head = open(gate, request)?;
    let mut query = Query::of(&head.uri)?;
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
    let on = gate.listing(&name_after(&head, "/v1/book/")?).await?;
    let feed = gate.feed(min_seq).await?;
    let mut out = open_with_seq(&feed, 256 + 96 * depth);
    out.key("instrument").text(on.symbol.as_str());
    if by_order {
        let book = feed.order_book(on.id, depth).ok_or_else(unknown)?;
        drop(feed);
        write_book(&mut out, &book, &on);
    } else {
        let depth = feed.depth(on.id, depth).ok_or_else(unknown)?;
        drop(feed);
        write_depth(&mut out, &depth, &on);
    }
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/trades/{symbol}`
pub(super) async fn trades(gate: &Gate, request: Request) -> Handled {
    let head = open(gate, request)?;
    let mut query = Query::of(&head.uri)?;
    let min_seq = query.min_seq()?;
    let limit = query.count("limit", 100, gate.config.page_max)?;
    query.finish()?;
    let on = gate.listing(&name_after(&head, "/v1/trades/")?).await?;
    let feed = gate.feed(min_seq).await?;
    let mut out = open_with_seq(&feed, 128 + 160 * limit);
    out.key("instrument").text(on.symbol.as_str());
    out.key("trades").open_array();
    for trade in feed.trades(on.id).take(limit) {
        write_trade(&mut out, trade, &on);
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/ticker/{symbol}`
pub(super) async fn ticker(gate: &Gate, request: Request) -> Handled {
    let head = open(gate, request)?;
    let mut query = Query::of(&head.uri)?;
    let min_seq = query.min_seq()?;
    query.finish()?;
    let on = gate.listing(&name_after(&head, "/v1/ticker/")?).await?;
    let feed = gate.feed(min_seq).await?;
    let ticker = feed.ticker(on.id).ok_or_else(unknown)?;
    let best = feed.best_prices(on.id).ok_or_else(unknown)?;
    let mut out = open_with_seq(&feed, 512);
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
