//! The days in words: a line for each phase, and the summary at the end.

use super::record::{Cause, DayRecord, MarketDay, Phase, Totals};
use rialto_feed::AuctionResult;
use rialto_model::{Instrument, InstrumentState, Interrupted};

/// A result, as in `0.410000 at 64012.50, 0.020000 left to buy`.
pub(crate) fn result(instrument: &Instrument, result: &AuctionResult) -> String {
    let spec = &instrument.spec;
    let quantity =
        |quantity: i64| rialto_model::Quantity(quantity).decimal(spec.quantity_scale).to_string();
    let AuctionResult { price, volume, surplus } = result;
    let traded = format!("{} at {}", quantity(volume.0), price.decimal(spec.price_scale));
    match surplus.0 {
        0 => format!("{traded}, no surplus"),
        more @ 1.. => format!("{traded}, {} left to buy", quantity(more)),
        less => format!("{traded}, {} left to sell", quantity(less.saturating_neg())),
    }
}

fn outside(instrument: &Instrument, interrupted: &Interrupted) -> String {
    let price = |price: rialto_model::Price| price.decimal(instrument.spec.price_scale);
    let Interrupted { price: at, low, high, .. } = *interrupted;
    format!("{} is outside {} to {}", price(at), price(low), price(high))
}

impl Cause {
    fn name(self) -> &'static str {
        match self {
            Cause::Opening => "opening auction",
            Cause::Interruption => "auction of the interruption",
            Cause::Extension => "auction of the extension",
            Cause::Reopening => "auction of the reopening",
            Cause::Closing => "closing auction",
        }
    }
}

/// A phase that began, or the auction that it brought.
pub(super) fn happening(day: u64, instrument: &Instrument, phase: &Phase) -> Option<String> {
    let (symbol, state) = (instrument.spec.symbol, phase.state.name());
    let told = match (phase.state, phase.cause, phase.auction) {
        (InstrumentState::Uncrossing, cause, Some(auction)) => {
            let cause = cause.map_or("auction", Cause::name);
            format!("{cause}: {}", result(instrument, &auction))
        }
        // It lasts milliseconds: its result is told.
        (InstrumentState::Uncrossing, _, None) => return None,
        (_, Some(cause @ (Cause::Interruption | Cause::Extension)), _) => {
            let why = phase.interrupted.map(|it| outside(instrument, &it)).unwrap_or_default();
            let what = if cause == Cause::Interruption { "interruption" } else { "extension" };
            format!("{state}, {what}: {why}")
        }
        _ => state.to_string(),
    };
    Some(format!("day {day} {symbol} {told}"))
}

/// What happened in a phase, in one line.
fn line(instrument: &Instrument, phase: &Phase) -> String {
    let told = match (phase.state, phase.cause) {
        (InstrumentState::Uncrossing, cause) => {
            let cause = cause.map_or("auction", Cause::name);
            match phase.auction {
                Some(auction) => {
                    let trades = counted(phase.trades, "trade");
                    format!("{cause}: {}; {trades}", result(instrument, &auction))
                }
                None => format!("{cause}: nothing traded"),
            }
        }
        (_, Some(cause)) => {
            let last = phase.indicative.map_or_else(
                || "no indicative price".to_string(),
                |indicative| format!("indicative at last {}", result(instrument, &indicative)),
            );
            let what = match cause {
                Cause::Interruption => "interruption: ",
                Cause::Extension => "extension: ",
                _ => return format!("    {:<13} {last}", phase.state.name()),
            };
            let why = phase.interrupted.map(|it| outside(instrument, &it)).unwrap_or_default();
            format!("{what}{why}; {last}")
        }
        (InstrumentState::Halted, _) => "halted by the operator".to_string(),
        _ => counted(phase.trades, "trade"),
    };
    format!("    {:<13} {told}", phase.state.name())
}

fn counted(number: u64, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// All days in one line, and each phase of the days that are kept.
pub(super) fn summary<'a>(
    totals: &Totals,
    days: impl Iterator<Item = &'a DayRecord>,
) -> Vec<String> {
    let mut lines = vec![format!(
        "{} played to the end; in all {}, {}, {}",
        counted(totals.days, "trading day"),
        counted(totals.auctions, "auction"),
        counted(totals.interruptions, "interruption"),
        counted(totals.halts, "halt"),
    )];
    for day in days {
        let end = if day.is_complete { "" } else { ", not to its end" };
        lines.push(format!("day {}{end}", day.number));
        for MarketDay { instrument, phases } in &day.markets {
            lines.push(format!("  {}", instrument.spec.symbol));
            lines.extend(phases.iter().map(|phase| line(instrument, phase)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::markets::MARKETS;
    use rialto_model::{Currency, CurrencyId, InstrumentId, Price, Quantity, Scale};

    fn instrument() -> Instrument {
        let [base, quote] = [("BTC", 1), ("USD", 3)].map(|(code, id)| Currency {
            id: CurrencyId(id),
            code: code.parse().expect("a code"),
            scale: Scale::new(8).expect("a scale"),
        });
        let spec = MARKETS[0].spec(&[CurrencyId(1), CurrencyId(2), CurrencyId(3)]);
        Instrument::new(InstrumentId(1), spec, &base, &quote).expect("it is one of the demo's")
    }

    #[test]
    fn a_result_says_which_side_is_left() {
        let told = |surplus| {
            let (price, volume) = (Price(6_401_250), Quantity(410_000));
            result(&instrument(), &AuctionResult { price, volume, surplus: Quantity(surplus) })
        };
        assert_eq!(told(0), "0.410000 at 64012.50, no surplus");
        assert_eq!(told(20_000), "0.410000 at 64012.50, 0.020000 left to buy");
        assert_eq!(told(-20_000), "0.410000 at 64012.50, 0.020000 left to sell");
    }
}
