//! The report as a self-contained page: tables, plots and footnotes.

use super::json::Score;
use super::machine::Machine;
use super::plot;
use super::row::Row;
use super::table::{Notes, target_words, times_words, value_words};
use crate::suite::Outcome;

const STYLE: &str = include_str!("page.css");

/// The page of some suites: name and outcome of each.
pub(crate) fn page(machine: &Machine, suites: &[(String, Outcome)]) -> String {
    let mut body = String::new();
    body.push_str("<h1>Rialto benchmarks</h1>\n");
    body.push_str(&machine_block(machine));
    for (name, outcome) in suites {
        body.push_str(&suite(name, outcome));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>Rialto benchmarks</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// Escapes text for HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn machine_block(machine: &Machine) -> String {
    let rows = machine.named().map(|(name, value)| {
        format!("<tr><th>{}</th><td>{}</td></tr>\n", escape(name), escape(&value))
    });
    format!("<table class=\"machine\">\n<tbody>\n{}</tbody>\n</table>\n", rows.concat())
}

fn suite(name: &str, outcome: &Outcome) -> String {
    let score = Score::of(outcome);
    let mut notes = Notes::default();
    let mut html = format!(
        "<section>\n<h2>{}</h2>\n<p>{} of {} targets met.</p>\n",
        escape(name),
        score.met,
        score.cases
    );
    html.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th>case</th><th>level</th><th>metric</th>\
         <th>measured</th><th>target</th><th></th><th>others, and ours against them</th></tr></thead>\n\
         <tbody>\n",
    );
    for row in &outcome.rows {
        html.push_str(&table_row(row, &mut notes));
    }
    html.push_str("</tbody>\n</table></div>\n");
    for failed in &score.failed {
        html.push_str(&format!("<p>Failed: {}</p>\n", escape(failed)));
    }
    for figure in &outcome.figures {
        html.push_str(&plot::figure(figure));
    }
    let notes: String = notes
        .numbered()
        .map(|(number, note)| format!("<p class=\"note\">[{number}] {}</p>\n", escape(note)))
        .collect();
    html.push_str(&notes);
    html.push_str("</section>\n");
    html
}

fn table_row(row: &Row, notes: &mut Notes) -> String {
    let mut mark = |texts: &[String]| match notes.numbers(texts) {
        numbers if numbers.is_empty() => numbers,
        numbers => format!(" <sup>[{numbers}]</sup>"),
    };
    let footnote = mark(&row.footnotes);
    let (class, verdict) = match row.is_met() {
        Some(true) => ("met", "met"),
        Some(false) => ("missed", "missed"),
        None => ("", ""),
    };
    let others: Vec<String> = row
        .references
        .iter()
        .map(|reference| {
            let (name, value) = (escape(&reference.name), row.unit.show(reference.value));
            let times = times_words(row, reference, "");
            format!("{name}: {value}{times}{}", mark(reference.caveat.as_slice()))
        })
        .collect();
    format!(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}{footnote}</td><td>{}</td>\
         <td class=\"{class}\">{verdict}</td><td>{}</td></tr>\n",
        escape(&row.case.to_string()),
        escape(row.level.as_deref().unwrap_or_default()),
        escape(&row.metric),
        escape(&value_words(row)),
        escape(&target_words(row)),
        others.join("<br/>"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Figure, Series};
    use super::super::row::Reference;
    use super::super::row::tests::case;
    use super::super::unit::Unit;
    use super::*;

    fn sample() -> String {
        let mut row = Row::new(&case(), "throughput", 1e6, Unit::OrdersPerSecond)
            .level("synced")
            .target(2e6)
            .footnote("a < b & c.");
        row.references.push(Reference {
            name: "peer".into(),
            value: 5e5,
            caveat: Some("never synced.".into()),
        });
        let curve = Series { name: "synced".into(), points: vec![(0.0, 10.0), (0.9, 90.0)] };
        let figures = vec![Figure::percentiles("acknowledgement", vec![curve])];
        let outcome = Outcome { figures, ..Outcome::from(row) };
        page(&Machine::of(std::path::Path::new(".")), &[("durability".to_string(), outcome)])
    }

    /// Parses all tags and returns the ones left open or closed out of order.
    fn open_tags(page: &str) -> Vec<&str> {
        let mut open = Vec::new();
        for piece in page.split('<').skip(1) {
            let tag = piece.split(['>', ' ', '\n']).next().unwrap_or_default();
            let inside = piece.split('>').next().unwrap_or_default();
            if let Some(closed) = tag.strip_prefix('/') {
                if open.last() == Some(&closed) {
                    open.pop();
                } else {
                    open.push(tag);
                }
            } else if !inside.ends_with('/') && !tag.starts_with('!') {
                open.push(tag);
            }
        }
        open
    }

    #[test]
    fn every_tag_is_closed() {
        let none: [&str; 0] = [];
        assert_eq!(open_tags(&sample()), none);
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        let page = sample();
        for loader in ["<script", "<link", "src=", "href=", "url(", "@import", "http"] {
            assert!(!page.contains(loader), "the page contains {loader}");
        }
    }

    #[test]
    fn rows_verdicts_references_plots_and_escaped_footnotes_are_there() {
        let page = sample();
        for part in [
            "<td class=\"missed\">missed</td>",
            "peer: 500 K orders/s, 2x <sup>[2]</sup>",
            "<figcaption>acknowledgement</figcaption>",
            "[1] a &lt; b &amp; c.",
            "[2] never synced.",
            "prefers-color-scheme: dark",
        ] {
            assert!(page.contains(part), "the page lacks {part}");
        }
    }
}
