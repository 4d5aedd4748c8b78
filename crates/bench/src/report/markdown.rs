//! The report as Markdown, written into a page that says the rest in prose.
//!
//! What is generated stands between `<!-- begin NAME -->` and `<!-- end NAME -->`, one such section
//! for each suite and one for the machine. Running a suite again replaces its section and leaves
//! everything else as it is.

use super::json::Score;
use super::machine::Machine;
use super::row::Row;
use super::table::{Notes, target_words, times_words, value_words};
use crate::suite::Outcome;

/// A page with the sections of the machine and of these suites replaced, or added at its end.
#[must_use]
pub fn update(page: &str, machine: &Machine, suites: &[(String, Outcome)]) -> String {
    let mut page = replace(page, "machine", &machine_section(machine));
    for (name, outcome) in suites {
        page = replace(&page, name, &suite_section(outcome, machine));
    }
    page
}

fn replace(page: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- begin {name} -->"), format!("<!-- end {name} -->"));
    let generated = format!("{begin}\n\n{section}\n{end}");
    let found = page.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some(format!("{before}{generated}{after}"))
    });
    found.unwrap_or_else(|| {
        let gap = if page.is_empty() || page.ends_with("\n\n") { "" } else { "\n" };
        format!("{page}{gap}## {name}\n\n{generated}\n")
    })
}

/// Text that can stand in the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn machine_section(machine: &Machine) -> String {
    let rows = machine.named().map(|(name, value)| format!("| {name} | {} |\n", cell(&value)));
    format!("| | |\n| --- | --- |\n{}", rows.concat())
}

fn suite_section(outcome: &Outcome, machine: &Machine) -> String {
    let score = Score::of(outcome);
    let mut notes = Notes::default();
    let rows: String = outcome.rows.iter().map(|row| table_row(row, &mut notes)).collect();
    let mut text = format!(
        "At commit {}: {} of {} targets met.\n\n\
         | Case | Level | Metric | Measured | Target | | Others, and ours against them |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n{rows}",
        machine.commit, score.met, score.cases
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
    let mut mark = |text: &Option<String>| {
        text.as_ref().map_or(String::new(), |text| format!(" <sup>{}</sup>", notes.number(text)))
    };
    let footnote = mark(&row.footnote);
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
            let caveat = mark(&reference.caveat);
            format!("{}: {value}{times}{caveat}", reference.name)
        })
        .collect();
    let cells = [
        cell(&row.case.to_string()),
        row.level.clone().unwrap_or_default(),
        cell(&row.metric),
        format!("{}{footnote}", value_words(row)),
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

    fn outcome(rate: f64) -> Outcome {
        let row = Row::new(&case(), "throughput", rate, Unit::OrdersPerSecond)
            .level("synced")
            .target(2e6)
            .footnote("A note.");
        Outcome::from(row)
    }

    #[test]
    fn a_section_is_replaced_and_the_prose_around_it_stays() {
        let machine = Machine::of(Path::new("."));
        let page =
            "# Before\n\n<!-- begin durability -->\nold\n<!-- end durability -->\n\nAfter.\n";
        let first = update(page, &machine, &[("durability".into(), outcome(1e6))]);
        assert!(first.starts_with("# Before\n\n<!-- begin durability -->\n\nAt commit"), "{first}");
        assert!(first.contains("1 M orders/s <sup>1</sup>") && first.contains("**missed**"));
        assert!(first.contains("- book alone") && first.contains("\n1. A note.\n"));
        assert!(first.contains("<!-- end durability -->\n\nAfter.\n") && !first.contains("old"));
        let second = update(&first, &machine, &[("durability".into(), outcome(3e6))]);
        assert!(second.contains("3 M orders/s") && !second.contains("1 M orders/s"));
        assert_eq!(second.matches("<!-- begin machine -->").count(), 1);
    }

    #[test]
    fn a_page_without_the_section_gets_it() {
        let page = update("", &Machine::of(Path::new(".")), &[("http".into(), outcome(1e6))]);
        assert!(page.contains("## http\n\n<!-- begin http -->"), "{page}");
    }
}
