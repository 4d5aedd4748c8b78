//! What is printed at the end.

use super::bitstamp::{Comparison, Passive};
use super::command::ReplayArgs;
use super::input::Input;
use super::operation::Overview;
use super::tally::Tally;
use crate::Error;
use hdrhistogram::Histogram;
use rialto_model::{Decimal, Scale, Seq};
use rialto_workload::obw::Header;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::time::Duration;

/// Results beside the tally.
pub(super) struct Outcome {
    pub(super) resting: u64,
    pub(super) state_hash: String,
    pub(super) last: Seq,
    pub(super) took: Duration,
    pub(super) latency_ns: Histogram<u64>,
    pub(super) commands: u64,
    pub(super) without_order: u64,
}

/// The result of a replay.
pub(super) struct Report {
    file: String,
    format: &'static str,
    level: String,
    risk: bool,
    scales: [Scale; 2],
    currencies: [&'static str; 2],
    operations: u64,
    tally: Tally,
    outcome: Outcome,
    expected: Option<Header>,
    capture: Option<CaptureResult>,
}

/// The extra results of a capture.
struct CaptureResult {
    passive: &'static str,
    comparison: Option<Comparison>,
    trades_path: String,
}

const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

impl Report {
    pub(super) fn new(
        args: &ReplayArgs,
        input: &Input,
        overview: &Overview,
        tally: Tally,
        outcome: Outcome,
        comparison: Option<Comparison>,
    ) -> Report {
        let (level, risk, passive, file) = args.settings();
        let expected = match input {
            Input::Obw(file) => Some(file.header),
            _ => None,
        };
        let capture = match input {
            Input::Bitstamp(capture) => Some(CaptureResult {
                passive: match passive {
                    Passive::Reject => "reject",
                    Passive::Slide => "slide",
                },
                comparison,
                trades_path: capture.trades_path.display().to_string(),
            }),
            _ => None,
        };
        Report {
            file: file.display().to_string(),
            format: input.format(),
            level: level.to_string(),
            risk,
            scales: [overview.price_scale, overview.quantity_scale],
            currencies: overview.currencies,
            operations: overview.operations,
            tally,
            outcome,
            expected,
            capture,
        }
    }

    /// Commands per second.
    fn rate(&self) -> f64 {
        self.outcome.commands as f64 / self.outcome.took.as_secs_f64().max(1e-9)
    }

    /// Totals that differ from the file's header.
    fn mismatches(&self) -> Vec<String> {
        let Some(header) = &self.expected else { return Vec::new() };
        let tally = &self.tally;
        let pairs = [
            ("trades", header.trades.to_string(), tally.trades.to_string()),
            (
                "traded quantity",
                header.traded_quantity.to_string(),
                tally.traded_quantity.to_string(),
            ),
            ("resting orders", header.resting.to_string(), self.outcome.resting.to_string()),
            ("digest", header.digest.to_string(), tally.digest.to_string()),
        ];
        let differ = pairs.into_iter().filter(|(_, expected, got)| expected != got);
        differ.map(|(what, expected, got)| format!("{what} {got} instead of {expected}")).collect()
    }

    /// Fails if the totals differ from the file's header.
    pub(super) fn check(&self) -> Result<(), Error> {
        let mismatches = self.mismatches();
        if mismatches.is_empty() {
            return Ok(());
        }
        Err(Error::Failed(format!(
            "the totals differ from the header of {}: {}",
            self.file,
            mismatches.join(", ")
        )))
    }

    /// Prints to standard output. A closed pipe is not an error.
    pub(super) fn print(&self, as_json: bool) {
        let text = if as_json { format!("{}\n", self.json()) } else { self.text() };
        drop(std::io::stdout().lock().write_all(text.as_bytes()));
    }

    fn json(&self) -> Value {
        let (tally, outcome) = (&self.tally, &self.outcome);
        let count = |value: u128| match u64::try_from(value) {
            Ok(small) => Value::from(small),
            Err(_) => Value::from(value.to_string()),
        };
        let rejects: Map<String, Value> = tally
            .rejects
            .iter()
            .map(|(reason, count)| (reason.code().to_owned(), (*count).into()))
            .collect();
        let latency: Map<String, Value> = PERCENTILES
            .iter()
            .map(|(name, quantile)| {
                ((*name).to_owned(), outcome.latency_ns.value_at_quantile(*quantile).into())
            })
            .collect();
        let mut object = json!({
            "file": self.file,
            "format": self.format,
            "level": self.level,
            "risk": self.risk,
            "operations": self.operations,
            "orders": tally.orders,
            "accepted": tally.accepted,
            "cancels": tally.cancels,
            "amends": tally.amends,
            "trades": tally.trades,
            "traded_quantity": count(tally.traded_quantity),
            "quantity_scale": self.scales[1],
            "price_scale": self.scales[0],
            "resting_orders": outcome.resting,
            "digest": tally.digest.to_string(),
            "rejects": rejects,
            "without_order": outcome.without_order,
            "last_seq": outcome.last,
            "state_hash": outcome.state_hash,
            "seconds": outcome.took.as_secs_f64(),
            "rate": self.rate(),
            "acknowledge_ns": latency,
        });
        if self.expected.is_some() {
            object["matches_header"] = self.mismatches().is_empty().into();
        }
        if let Some(capture) = &self.capture {
            object["passive"] = capture.passive.into();
            object["real_trades"] = match &capture.comparison {
                Some(found) => json!({
                    "real": found.real,
                    "reproduced": found.reproduced,
                    "other_price_or_quantity": found.other_terms,
                    "other_maker": found.other_maker,
                    "taker_did_not_trade": found.no_trade,
                    "surplus": found.surplus,
                }),
                None => Value::Null,
            };
        }
        object
    }

    fn text(&self) -> String {
        let (tally, outcome) = (&self.tally, &self.outcome);
        let [_, quantity_scale] = self.scales;
        let [base, quote] = self.currencies;
        let mut lines = vec![
            ("file", format!("{} ({})", self.file, self.format)),
            ("operations", self.operations.to_string()),
            ("orders", format!("{}, {} accepted", tally.orders, tally.accepted)),
            ("cancels", tally.cancels.to_string()),
            ("amends", tally.amends.to_string()),
            ("trades", tally.trades.to_string()),
            ("traded", format!("{} {base}", decimal(tally.traded_quantity, &[quantity_scale]))),
            ("volume", format!("{} {quote}", decimal(tally.volume, &self.scales))),
            ("resting orders", outcome.resting.to_string()),
        ];
        for (reason, count) in &tally.rejects {
            lines.push(("rejected", format!("{count} {}", reason.code())));
        }
        if outcome.without_order > 0 {
            let what = "operations on orders that were never placed or are cancelled";
            lines.push(("passed over", format!("{} {what}", outcome.without_order)));
        }
        let risk = if self.risk { "on" } else { "off" };
        lines.push((
            "rate",
            format!(
                "{:.0} commands/s ({} in {:.3} s; level {}, risk {risk})",
                self.rate(),
                outcome.commands,
                outcome.took.as_secs_f64(),
                self.level,
            ),
        ));
        let percentiles: Vec<String> = PERCENTILES
            .iter()
            .map(|(name, quantile)| {
                let micros = outcome.latency_ns.value_at_quantile(*quantile) as f64 / 1e3;
                format!("{name} {micros:.1}")
            })
            .collect();
        lines.push(("acknowledged after", format!("{} us", percentiles.join(", "))));
        lines.push(("fill digest", tally.digest.to_string()));
        lines.push(("state hash", format!("{} at sequence {}", outcome.state_hash, outcome.last)));
        if self.expected.is_some() {
            let mismatches = self.mismatches();
            let agrees = "trades, quantity, resting orders and digest agree";
            let told = if mismatches.is_empty() { agrees.into() } else { mismatches.join(", ") };
            lines.push(("header", told));
        }
        if let Some(capture) = &self.capture {
            lines.extend(capture.lines());
        }
        let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        lines.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
    }
}

impl CaptureResult {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let passive = match self.passive {
            "reject" => "orders that never took liquidity are rejected when they would",
            _ => "orders that never took liquidity slide to one tick short when they would",
        };
        let mut lines = vec![("order kinds", passive.to_owned())];
        let Some(found) = &self.comparison else {
            let missing = format!(
                "unknown: {} is not there, so that takers are guessed from the prices of their \
                 lines and nothing is compared",
                self.trades_path
            );
            lines.push(("real trades", missing));
            return lines;
        };
        let of = format!(
            "{} of {} reproduced exactly: maker, taker, price and quantity",
            found.reproduced, found.real
        );
        lines.push(("real trades", of));
        for (count, what) in [
            (found.other_terms, "between the same two orders, at another price or quantity"),
            (found.other_maker, "where the taker traded with other orders instead"),
            (found.no_trade, "where the taker did not trade"),
        ] {
            lines.push(("", format!("{count} {what}")));
        }
        lines.push(("", format!("{} trades here that were not real ones", found.surplus)));
        lines
    }
}

/// A sum as decimal text; one too large for that is shown as the integer with its places.
fn decimal(value: u128, scales: &[Scale]) -> String {
    let places = scales.iter().map(|scale| scale.places()).sum();
    match (i128::try_from(value), Scale::new(places)) {
        (Ok(value), Some(scale)) => Decimal { value, scale }.to_string(),
        _ => format!("{value}e-{places}"),
    }
}
