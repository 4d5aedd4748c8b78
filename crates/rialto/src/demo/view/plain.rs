//! The view without a terminal: one line every few seconds.

use super::picture::Picture;
use super::screen::write_name;
use super::text::{latency, time_of_day};
use crate::demo::day::result;
use rialto_model::{InstrumentState, Timestamp};
use std::fmt::Write;

/// The state of the venue in one line.
pub(crate) fn line(picture: &Picture) -> String {
    let gauges = &picture.gauges;
    let now = Timestamp(rialto_gateway::now_us().saturating_mul(1_000));
    let mut line = format!(
        "{} {:.0} orders/s {:.0} trades/s ack p50 {} p99 {} level {} {} {} seq {}",
        time_of_day(now),
        gauges.orders_per_s,
        gauges.trades_per_s,
        latency(gauges.ack_p50_ns),
        latency(gauges.ack_p99_ns),
        picture.level,
        write_name(picture.level),
        latency(gauges.write_p50_ns),
        picture.marks.released,
    );
    for market in &picture.markets {
        let spec = &market.instrument.spec;
        let last = market
            .ticker
            .last
            .map_or_else(|| "-".to_string(), |price| price.decimal(spec.price_scale).to_string());
        let _ = write!(line, " {} {last}", spec.symbol);
        let state = market.auction.state;
        if picture.day.is_some() || state != InstrumentState::Open {
            let _ = match &market.auction.indicative {
                Some(indicative) => {
                    let indicative = result(&market.instrument, indicative);
                    write!(line, " ({}, {indicative})", state.name())
                }
                None => write!(line, " ({})", state.name()),
            };
        }
    }
    line
}
