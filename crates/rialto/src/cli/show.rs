//! Prints tables for people.

use crate::terminal::say;
use std::fmt::Display;

/// A column of a table: its heading and alignment. Numbers are aligned to the right.
pub(super) struct Column(pub(super) &'static str, pub(super) Align);

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Prints rows as a table, or says that there are none.
pub(super) fn table<const N: usize>(columns: &[Column; N], rows: Vec<[String; N]>, none: &str) {
    if rows.is_empty() {
        say(format_args!("{none}"));
        return;
    }
    let headings = columns.each_ref().map(|column| column.0.to_owned());
    let all: Vec<[String; N]> = std::iter::once(headings).chain(rows).collect();
    let widths: [usize; N] =
        std::array::from_fn(|at| all.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    for row in &all {
        let mut line = String::new();
        for ((cell, width), column) in row.iter().zip(&widths).zip(columns) {
            let padding = " ".repeat(width - cell.chars().count());
            match column.1 {
                Align::Left => line.extend([cell, padding.as_str(), "  "]),
                Align::Right => line.extend([padding.as_str(), cell, "  "]),
            }
        }
        say(format_args!("{}", line.trim_end()));
    }
}

/// What there is, or a dash.
pub(super) fn or_dash(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Numbers or names with commas between them.
pub(super) fn joined(values: impl IntoIterator<Item = impl Display>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}
