//! Lines of comma-separated fields under a header line, each error with line and column.

use super::error::InputError;
use std::io::{BufRead, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The longest line, in bytes.
const LINE_BYTES_MAX: u64 = 4_096;

/// Reads a file line by line. Fields are not quoted: none of these formats has texts with commas.
pub(super) struct Rows {
    source: Box<dyn BufRead>,
    path: PathBuf,
    line: u64,
    text: String,
    fields: Vec<Range<usize>>,
    columns: usize,
}

impl Rows {
    pub(super) fn new(path: &Path, source: Box<dyn BufRead>) -> Rows {
        let path = path.to_owned();
        Rows { source, path, line: 0, text: String::new(), fields: Vec::new(), columns: 0 }
    }

    /// Reads the header line and returns the index of each known column. Unknown names are refused:
    /// a misspelt optional column must not be silently ignored.
    pub(super) fn header<const N: usize>(
        &mut self,
        wanted: &[(&str, bool); N],
    ) -> Result<[Option<usize>; N], InputError> {
        let mut found = [None; N];
        let Some(row) = self.next_row()? else {
            return Err(self.fault(1, "the file is empty; a header line is needed".into()));
        };
        for field in 0..row.len() {
            let name = row.text(field);
            let Some(at) = wanted.iter().position(|(known, _)| *known == name) else {
                let known: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
                let known = known.join(", ");
                let reason = format!("unknown column {name:?}; the columns are {known}");
                return Err(row.error(field, reason));
            };
            if found[at].replace(field).is_some() {
                return Err(row.error(field, format!("column {name:?} appears twice")));
            }
        }
        for ((name, is_needed), at) in wanted.iter().zip(&found) {
            if *is_needed && at.is_none() {
                return Err(self.fault(1, format!("the column {name:?} is missing")));
            }
        }
        self.columns = self.fields.len();
        Ok(found)
    }

    /// The next line that is not empty.
    pub(super) fn next_row(&mut self) -> Result<Option<Row<'_>>, InputError> {
        loop {
            self.text.clear();
            self.line += 1;
            let mut bounded = (&mut self.source).take(LINE_BYTES_MAX);
            let read = bounded.read_line(&mut self.text);
            match read {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    return Err(self.fault(1, "not valid UTF-8".into()));
                }
                Err(source) => return Err(InputError::Io { path: self.path.clone(), source }),
            }
            if self.text.len() as u64 == LINE_BYTES_MAX && !self.text.ends_with('\n') {
                return Err(self.fault(1, format!("longer than {LINE_BYTES_MAX} bytes")));
            }
            let line = self.text.trim_end_matches(['\n', '\r']);
            if !line.is_empty() {
                break;
            }
        }
        let line = self.text.trim_end_matches(['\n', '\r']);
        self.fields.clear();
        let mut start = 0;
        for field in line.split(',') {
            self.fields.push(start..start + field.len());
            start += field.len() + 1;
        }
        if self.columns > 0 && self.fields.len() != self.columns {
            let (got, columns) = (self.fields.len(), self.columns);
            let column = line.len() + 1;
            return Err(self.fault(column, format!("{got} fields; the header has {columns}")));
        }
        Ok(Some(Row { rows: self }))
    }

    fn fault(&self, column: usize, reason: String) -> InputError {
        InputError::Text { path: self.path.clone(), line: self.line, column, reason }
    }
}

/// One line.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    rows: &'a Rows,
}

impl<'a> Row<'a> {
    fn len(self) -> usize {
        self.rows.fields.len()
    }

    /// The text of a field.
    pub(super) fn text(self, field: usize) -> &'a str {
        let range = self.rows.fields.get(field).cloned().unwrap_or_default();
        &self.rows.text[range]
    }

    /// A field that may be missing or empty.
    pub(super) fn given(self, field: Option<usize>) -> Option<(usize, &'a str)> {
        let field = field?;
        Some((field, self.text(field))).filter(|(_, text)| !text.is_empty())
    }

    /// A field parsed as `T`; the error names the expected form.
    pub(super) fn parse<T: std::str::FromStr>(
        self,
        field: usize,
        what: &str,
    ) -> Result<T, InputError> {
        let text = self.text(field);
        text.parse().map_err(|_| self.error(field, format!("{text:?} is not {what}")))
    }

    /// The error of a field.
    pub(super) fn error(self, field: usize, reason: String) -> InputError {
        let column = self.rows.fields.get(field).map_or(1, |range| range.start + 1);
        self.rows.fault(column, reason)
    }
}
