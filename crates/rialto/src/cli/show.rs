//! Prints answers: as JSON for scripts, as tables for people.

use crate::terminal::say;
use serde_json::Value;

/// A column of a table: its heading, the path of the field in a row, and whether it holds numbers,
/// which stand to the right.
pub(super) struct Column(pub(super) &'static str, pub(super) &'static str, pub(super) Align);

/// Where the cells of a column stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Prints an answer as it came, on one line.
pub(super) fn json(answer: &Value) {
    say(format_args!("{answer}"));
}

/// Prints rows as a table, or says that there are none.
pub(super) fn table(columns: &[Column], rows: &[Value], none: &str) {
    if rows.is_empty() {
        say(format_args!("{none}"));
        return;
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| columns.iter().map(|column| text(&row[column.1])).collect())
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let widest = cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
            widest.max(column.0.chars().count())
        })
        .collect();
    let headings: Vec<String> = columns.iter().map(|column| column.0.to_string()).collect();
    for row in std::iter::once(&headings).chain(&cells) {
        let mut line = String::new();
        for ((cell, width), column) in row.iter().zip(&widths).zip(columns) {
            let padding = " ".repeat(width - cell.chars().count());
            match column.2 {
                Align::Left => line.extend([cell, padding.as_str(), "  "]),
                Align::Right => line.extend([padding.as_str(), cell, "  "]),
            }
        }
        say(format_args!("{}", line.trim_end()));
    }
}

/// A field as text, without the quotes that JSON puts around decimals.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// The rows under a key of an answer.
pub(super) fn rows<'a>(answer: &'a Value, key: &str) -> &'a [Value] {
    answer[key].as_array().map_or(&[], Vec::as_slice)
}
