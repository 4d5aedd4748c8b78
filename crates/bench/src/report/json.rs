//! The report as JSON lines.
//!
//! One object per row: `suite`, `case`, `level` (a durability level or null), `metric`, `value`,
//! `unit`, `target` (a number or null), `references` (names to figures in the same unit), `checks`
//! (verified values) and `footnote` (text or null). After the rows of a suite follows `{"suite",
//! "summary": {"cases", "met", "missed", "failed"}, "machine"}`: `cases` is the number of rows with
//! a target, `met` the number that meet it, `missed` lists the others, and `failed` lists the cases
//! without rows, with the reason.

use super::machine::Machine;
use super::row::Row;
use crate::suite::Outcome;
use serde_json::{Map, Number, Value, json};

/// The numbers of rows with targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Score {
    /// The rows with a target.
    pub(crate) cases: usize,
    /// The rows that meet it.
    pub(crate) met: usize,
    /// The titles of the others.
    pub(crate) missed: Vec<String>,
    /// Cases without rows, each with the reason.
    pub(crate) failed: Vec<String>,
}

impl Score {
    /// Counts the rows of a suite.
    pub(crate) fn of(outcome: &Outcome) -> Score {
        let mut score = Score { failed: outcome.failed.clone(), ..Score::default() };
        for row in &outcome.rows {
            let Some(is_met) = row.is_met() else { continue };
            score.cases += 1;
            if is_met {
                score.met += 1;
            } else {
                score.missed.push(row.title());
            }
        }
        score
    }
}

/// The line of one row.
pub(crate) fn row(suite: &str, row: &Row) -> Value {
    let references: Map<String, Value> = row
        .references
        .iter()
        .map(|reference| (reference.name.clone(), number(reference.value)))
        .collect();
    let mut checks: Map<String, Value> = row.checks.clone().into_iter().collect();
    if let Some(spread) = row.spread {
        checks.insert("runs".into(), spread.runs.into());
        checks.insert("lowest".into(), number(spread.min));
        checks.insert("highest".into(), number(spread.max));
    }
    let notes = row.notes();
    json!({
        "suite": suite,
        "case": row.case.to_string(),
        "level": row.level,
        "metric": row.metric,
        "value": number(row.value),
        "unit": row.unit.symbol(),
        "target": row.target.map(number),
        "references": references,
        "checks": checks,
        "footnote": if notes.is_empty() { Value::Null } else { notes.join(" ").into() },
    })
}

/// The last line of a suite.
pub(crate) fn summary(suite: &str, score: &Score, machine: &Machine) -> Value {
    json!({
        "suite": suite,
        "summary": { "cases": score.cases, "met": score.met, "missed": score.missed,
            "failed": score.failed },
        "machine": machine,
    })
}

/// A whole number without a decimal point, any other with one; not a number is null.
pub(crate) fn number(value: f64) -> Value {
    // Up to 2^53, every whole double is exactly an integer.
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::case;
    use super::super::row::{Reference, Row};
    use super::super::unit::Unit;
    use super::*;

    fn sample() -> Row {
        let mut row = Row::new(&case(), "throughput", 2_500_000.0, Unit::OrdersPerSecond)
            .level("buffered")
            .target(2.5e6)
            .check("trades", 39_071);
        row.references.push(Reference {
            name: "perpetual-exchange event_sourcing".into(),
            value: 418_800.0,
            caveat: Some("its store was never opened.".into()),
        });
        row
    }

    #[test]
    fn a_row_has_the_fields_of_the_contract_and_no_others() {
        let line = row("durability", &sample());
        let expected = json!({
            "suite": "durability",
            "case": "book alone, OBW1 depth 10000; no risk layer; in-process",
            "level": "buffered",
            "metric": "throughput",
            "value": 2_500_000,
            "unit": "orders/s",
            "target": 2_500_000,
            "references": { "perpetual-exchange event_sourcing": 418_800 },
            "checks": { "trades": 39_071 },
            "footnote": "perpetual-exchange event_sourcing: its store was never opened.",
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn missing_fields_of_a_row_are_null() {
        let line = row("match", &Row::new(&case(), "throughput", 0.5, Unit::Ratio));
        assert_eq!(line["level"], Value::Null);
        assert_eq!(line["target"], Value::Null);
        assert_eq!(line["footnote"], Value::Null);
        assert_eq!(line["value"], json!(0.5));
    }

    #[test]
    fn the_score_names_what_was_missed() {
        let missed = sample().target(3e6);
        let score = Score::of(&Outcome::from(vec![
            sample(),
            missed.clone(),
            Row { target: None, ..sample() },
        ]));
        assert_eq!((score.cases, score.met), (2, 1));
        assert_eq!(score.missed, [missed.title()]);
    }
}
