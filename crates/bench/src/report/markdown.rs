//! The report as Markdown: a page per suite, with machine and commit.

use super::json::Score;
use super::machine::Machine;
use super::row::Row;
use super::table::{Notes, target_words, times_words, value_words};
use crate::suite::{Outcome, Suite};

/// The page of a suite that was run on a day, such as `2026-01-31`.
pub(crate) fn page(suite: &Suite, outcome: &Outcome, machine: &Machine, day: &str) -> String {
    let Suite { name, about, .. } = suite;
    let facts = machine.named();
    let facts = facts.iter().map(|(name, value)| (*name, value.as_str())).chain([("day", day)]);
    let facts: String =
        facts.map(|(name, value)| format!("| {name} | {} |\n", cell(value))).collect();
    format!(
        "# Benchmark: {name}\n\n\
         Written by `rialto bench {name} --markdown docs/benchmarks`: {about}. The rules of measuring \
         are in [benchmarks.md](../benchmarks.md).\n\n\
         | | |\n| --- | --- |\n{facts}\n{}",
        tables(outcome)
    )
}

/// The day of a time in seconds since 1970, as `2026-01-31`.
pub(crate) fn day(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
    jiff::tz::Offset::UTC.to_datetime(time).date().to_string()
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn tables(outcome: &Outcome) -> String {
    let score = Score::of(outcome);
    let mut notes = Notes::default();
    let rows: String = outcome.rows.iter().map(|row| table_row(row, &mut notes)).collect();
    let mut text = format!(
        "{} of {} targets met.\n\n\
         | Case | Level | Metric | Measured | Target | | Others, and ours against them |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n{rows}",
        score.met, score.cases
    );
    if !score.missed.is_empty() {
        text.push_str("\nMissed:\n\n");
        score.missed.iter().for_each(|title| text.push_str(&format!("- {title}\n")));
    }
    if !score.failed.is_empty() {
        text.push_str("\nFailed:\n\n");
        score.failed.iter().for_each(|case| text.push_str(&format!("- {case}\n")));
    }
    let mut gap = "\n";
    for (number, note) in notes.numbered() {
        text.push_str(&format!("{gap}{number}. {note}\n"));
        gap = "";
    }
    text
}

fn table_row(row: &Row, notes: &mut Notes) -> String {
    let mut mark = |texts: &[String]| match notes.numbers(texts) {
        numbers if numbers.is_empty() => numbers,
        numbers => format!(" <sup>{numbers}</sup>"),
    };
    let footnotes = mark(&row.footnotes);
    let verdict = match row.is_met() {
        Some(true) => "met",
        Some(false) => "**missed**",
        None => "",
    };
    let others: Vec<String> = row
        .references
        .iter()
        .map(|reference| {
            let (value, times) = (row.unit.show(reference.value), times_words(row, reference, ""));
            let caveat = mark(reference.caveat.as_slice());
            format!("{}: {value}{times}{caveat}", reference.name)
        })
        .collect();
    let cells = [
        cell(&row.case.to_string()),
        row.level.clone().unwrap_or_default(),
        cell(&row.metric),
        format!("{}{footnotes}", value_words(row)),
        target_words(row),
        verdict.to_string(),
        cell(&others.join("; ")),
    ];
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::case;
    use super::super::unit::Unit;
    use super::*;
    use std::path::Path;

    #[test]
    fn a_page_has_its_machine_and_numbered_notes() {
        let row = |notes: [&str; 2]| {
            let row = Row::new(&case(), "throughput", 1e6, Unit::OrdersPerSecond);
            row.level("synced").target(2e6).footnote(notes[0]).footnote(notes[1])
        };
        let outcome = Outcome::from(vec![row(["One.", "Two."]), row(["Two.", "Three."])]);
        let suite = Suite { name: "durability", about: "the engine", parts: &[] };
        let machine = Machine::of(Path::new("."));
        let page = page(&suite, &outcome, &machine, "2026-01-31");
        assert!(page.starts_with("# Benchmark: durability\n"), "{page}");
        assert!(page.contains(&format!("| commit | {} |", machine.commit)));
        assert!(page.contains("| day | 2026-01-31 |") && page.contains("**missed**"));
        assert!(page.contains("<sup>1, 2</sup>") && page.contains("<sup>2, 3</sup>"));
        assert!(page.contains("\n1. One.\n2. Two.\n3. Three.\n") && page.contains("- book alone"));
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(951_782_400), "2000-02-29");
        assert_eq!(day(1_798_761_599), "2026-12-31");
    }
}
