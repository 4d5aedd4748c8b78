//! The report as text for the terminal.

use super::json::Score;
use super::row::{Reference, Row};
use super::unit::{Better, digits};
use crate::suite::Outcome;
use std::fmt::Write;

/// One suite as text: cases, under each its rows, under each row the figures of others, and
/// footnotes at the end.
pub(crate) fn table(suite: &str, outcome: &Outcome) -> String {
    let rows = &outcome.rows;
    let mut notes = Notes::default();
    let lines: Vec<Line> = rows.iter().map(|row| Line::of(row, &mut notes)).collect();
    let width = |cell: fn(&Line) -> &String| {
        lines.iter().map(|line| cell(line).chars().count()).max().unwrap_or(0)
    };
    let metric = width(|line| &line.metric);
    let measured = width(|line| &line.measured);
    let target = width(|line| &line.target);
    let names = rows.iter().flat_map(|row| &row.references);
    let name = names.map(|reference| reference.name.chars().count()).max().unwrap_or(0);

    let mut text = format!("{suite}\n");
    let mut case_before = String::new();
    for (row, line) in rows.iter().zip(&lines) {
        let case = row.case.to_string();
        if case != case_before {
            push(&mut text, &format!("\n  {case}"));
            case_before = case;
        }
        let (m, v, t) = (&line.metric, &line.measured, &line.target);
        push(&mut text, &format!("    {m:metric$}  {v:measured$}  {t:target$}  {}", line.verdict));
        for (reference, mark) in row.references.iter().zip(&line.marks) {
            let value = row.unit.show(reference.value);
            let ours = times_words(row, reference, "ours ");
            let label = &reference.name;
            push(&mut text, &format!("        {label:name$}  {value}{ours} {mark}"));
        }
    }
    notes.write(&mut text);
    let score = Score::of(outcome);
    push(&mut text, &format!("\n{} of {} targets met", score.met, score.cases));
    for failed in &score.failed {
        push(&mut text, &format!("FAILED {failed}"));
    }
    text
}

/// A target in words.
pub(super) fn target_words(row: &Row) -> String {
    let side = match row.unit.better() {
        Better::Higher => "at least",
        Better::Lower => "at most",
    };
    row.target.map_or(String::new(), |bound| format!("{side} {}", row.unit.show(bound)))
}

/// By which factor a row is better than a reference, in words.
pub(super) fn times_words(row: &Row, reference: &Reference, whose: &str) -> String {
    let times = row.times_better(reference);
    times.map_or(String::new(), |times| format!(", {whose}{}x", digits(times)))
}

/// The value of a row and the range of its repeats, in words.
pub(super) fn value_words(row: &Row) -> String {
    let value = row.unit.show(row.value);
    match row.spread {
        Some(spread) if spread.runs > 1 => {
            let (min, max) = (row.unit.show(spread.min), row.unit.show(spread.max));
            format!("{value} ({min} to {max} in {} runs)", spread.runs)
        }
        _ => value,
    }
}

/// Footnotes, each text once, numbered in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<String>);

impl Notes {
    /// The number of a footnote, from 1.
    pub(super) fn number(&mut self, text: &str) -> usize {
        let known = self.0.iter().position(|note| note == text);
        known.unwrap_or_else(|| {
            self.0.push(text.to_string());
            self.0.len() - 1
        }) + 1
    }

    /// The numbers of some footnotes, with commas between them.
    pub(super) fn numbers(&mut self, texts: &[String]) -> String {
        let numbers: Vec<String> = texts.iter().map(|text| self.number(text).to_string()).collect();
        numbers.join(", ")
    }

    /// The footnotes with their numbers.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.0.iter().map(String::as_str))
    }

    fn write(&self, text: &mut String) {
        for (number, note) in self.numbered() {
            let gap = if number == 1 { "\n" } else { "" };
            push(text, &format!("{gap}  [{number}] {note}"));
        }
    }
}

struct Line {
    metric: String,
    measured: String,
    target: String,
    verdict: String,
    /// One per reference of the row; empty without a footnote.
    marks: Vec<String>,
}

impl Line {
    fn of(row: &Row, notes: &mut Notes) -> Line {
        let level = row.level.iter().map(|level| format!(" [{level}]")).collect::<String>();
        let mark = |notes: &mut Notes, texts: &[String]| match notes.numbers(texts) {
            numbers if numbers.is_empty() => numbers,
            numbers => format!("[{numbers}]"),
        };
        let verdict = match row.is_met() {
            Some(true) => "met ",
            Some(false) => "MISSED ",
            None => "",
        };
        let footnote = mark(notes, &row.footnotes);
        Line {
            metric: format!("{}{level}", row.metric),
            measured: value_words(row),
            target: target_words(row),
            verdict: format!("{verdict}{footnote}"),
            marks: row
                .references
                .iter()
                .map(|other| mark(notes, other.caveat.as_slice()))
                .collect(),
        }
    }
}

fn push(text: &mut String, line: &str) {
    writeln!(text, "{}", line.trim_end()).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::case;
    use super::super::row::{Reference, Row};
    use super::super::unit::Unit;
    use super::*;
    use crate::measure::Spread;

    fn reference(name: &str, value: f64, caveat: Option<&str>) -> Reference {
        Reference { name: name.into(), value, caveat: caveat.map(String::from) }
    }

    #[test]
    fn shows_cases_values_targets_figures_of_others_and_footnotes() {
        let runs = Spread { runs: 5, median: 24.3e6, min: 23.9e6, max: 24.5e6 };
        let mut rate =
            Row::of_spread(&case(), "throughput", runs, Unit::OperationsPerSecond).target(24e6);
        rate.references.push(reference("peer", 12.15e6, None));
        rate.references.push(reference("other", 2.43e6, Some("not the same work.")));
        let slow = Row::new(&case(), "latency p99.9", 400.0, Unit::Nanoseconds)
            .level("synced")
            .target(300.0)
            .footnote("Contains the clock.");
        let expected = "\
match

  book alone, OBW1 depth 10000; no risk layer; in-process
    throughput              24.3 M op/s (23.9 M op/s to 24.5 M op/s in 5 runs)  at least 24 M op/s  met
        peer   12.2 M op/s, ours 2x
        other  2.43 M op/s, ours 10x [1]
    latency p99.9 [synced]  400 ns                                              at most 300 ns      MISSED [2]

  [1] not the same work.
  [2] Contains the clock.

1 of 2 targets met
";
        assert_eq!(table("match", &Outcome::from(vec![rate, slow])), expected);
    }

    #[test]
    fn a_repeated_footnote_keeps_its_number() {
        let mut notes = Notes::default();
        assert_eq!(["a", "b", "a"].map(|text| notes.number(text)), [1, 2, 1]);
    }
}
