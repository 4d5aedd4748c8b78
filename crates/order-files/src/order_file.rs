//! An order file that was checked as a whole: every row of it can be sent.

use crate::column::OrderColumn;
use crate::content::ContentDigest;
use crate::fault::{FileFault, FileFaults};
use crate::quotes::{LineCounter, check_quotes};
use crate::row::{Fields, OrderRow};
use csv::{ByteRecord, ReaderBuilder};
use rialto_desk::Listing;
use rialto_model::{AccountId, Symbol};

/// The most columns of which the names are looked at.
const FIELDS_MAX: usize = 64;

/// What an order file may refer to.
pub struct FileScope<'a> {
    /// Finds an instrument by its symbol.
    pub listing: &'a dyn Fn(&Symbol) -> Option<Listing>,
    /// The accounts of the member.
    pub accounts: &'a [AccountId],
    /// The account of rows that name none; without it each row names its account.
    pub only_account: Option<AccountId>,
    /// The most rows.
    pub rows_max: usize,
}

/// A checked file: its rows in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderFile {
    /// The digest of the content.
    pub digest: ContentDigest,
    /// The rows.
    pub rows: Vec<OrderRow>,
}

impl OrderFile {
    /// Reads a file, and checks its first line, and every field of every row.
    ///
    /// # Errors
    /// The first errors of the file, each with line and column, and their number.
    pub fn read(content: &[u8], scope: &FileScope<'_>) -> Result<OrderFile, FileFaults> {
        let digest = ContentDigest::of(content);
        // Spreadsheets write a byte order mark.
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let mut lines = LineCounter::new(content);
        let mut reader =
            ReaderBuilder::new().has_headers(false).flexible(true).from_reader(content);
        let mut record = ByteRecord::new();
        let mut faults = FileFaults::default();
        if let Err(fault) = check_quotes(content) {
            faults.add(fault);
            return Err(faults);
        }
        if !read_record(&mut reader, &mut record, &mut faults) {
            return Err(FileFaults::of_file(
                "The file is empty: its first line names the columns.",
            ));
        }
        let Some(columns) =
            columns_of(&record, lines.line_at(begin_of(&record)), scope, &mut faults)
        else {
            return Err(faults);
        };
        let mut rows = Vec::new();
        while read_record(&mut reader, &mut record, &mut faults) {
            let line = lines.line_at(begin_of(&record));
            if rows.len() >= scope.rows_max {
                let rows_max = scope.rows_max;
                faults.add(of_line(
                    line,
                    format!("A file has at most {rows_max} rows; send the others in another file."),
                ));
                return Err(faults);
            }
            let row = u32::try_from(rows.len() + 1).unwrap_or(u32::MAX);
            match read_row(&record, line, &columns, row, digest, scope, &mut faults) {
                Some(order) => rows.push(order),
                // A placeholder keeps the count; the file is refused.
                None => rows.push(OrderRow::refused(line)),
            }
        }
        if faults.total() > 0 {
            return Err(faults);
        }
        if rows.is_empty() {
            return Err(FileFaults::of_file("The file has no rows."));
        }
        Ok(OrderFile { digest, rows })
    }
}

/// Reads the next line; false behind the last one.
fn read_record(
    reader: &mut csv::Reader<&[u8]>,
    record: &mut ByteRecord,
    faults: &mut FileFaults,
) -> bool {
    match reader.read_byte_record(record) {
        Ok(is_one) => is_one,
        // Bytes in memory always read, and lines of any length are allowed.
        Err(error) => {
            faults.add(of_line(0, format!("The file is not CSV: {error}.")));
            false
        }
    }
}

/// Where the reader was before it read the record.
fn begin_of(record: &ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::byte)
}

fn of_line(line: u64, message: String) -> FileFault {
    FileFault { line, column: 0, name: String::new(), message }
}

/// The columns in their order, if the first line is valid.
fn columns_of(
    record: &ByteRecord,
    line: u64,
    scope: &FileScope<'_>,
    faults: &mut FileFaults,
) -> Option<Vec<OrderColumn>> {
    let mut columns: Vec<OrderColumn> = Vec::new();
    for (nth, field) in record.iter().enumerate().take(FIELDS_MAX) {
        let name = String::from_utf8_lossy(field);
        let message = match OrderColumn::from_name(&name) {
            Some(column) if columns.contains(&column) => {
                format!("The column {} is named twice.", column.name())
            }
            Some(column) => {
                columns.push(column);
                continue;
            }
            None => {
                let known: Vec<_> = OrderColumn::ALL.iter().map(|column| column.name()).collect();
                let shown = crate::fault::shown(&name);
                format!("There is no column {shown}; use {}.", known.join(", "))
            }
        };
        faults.add(FileFault { line, column: nth + 1, name: String::new(), message });
    }
    if record.len() > FIELDS_MAX {
        faults.add(of_line(line, format!("The line has more than {FIELDS_MAX} columns.")));
    }
    if faults.total() > 0 {
        // A missing column may be one whose name is wrong.
        return None;
    }
    let has = |column| columns.contains(&column);
    let mut missing = |name: &str| {
        faults.add(of_line(line, format!("The column {name} is missing.")));
    };
    for column in [OrderColumn::Instrument, OrderColumn::Side] {
        if !has(column) {
            missing(column.name());
        }
    }
    if !has(OrderColumn::Quantity) && !has(OrderColumn::QuoteAmount) {
        missing("quantity or quote_amount");
    }
    if !has(OrderColumn::Account) && scope.only_account.is_none() {
        missing("account, which is needed unless the member has one account,");
    }
    (faults.total() == 0).then_some(columns)
}

fn read_row(
    record: &ByteRecord,
    line: u64,
    columns: &[OrderColumn],
    row: u32,
    digest: ContentDigest,
    scope: &FileScope<'_>,
    faults: &mut FileFaults,
) -> Option<OrderRow> {
    if record.len() != columns.len() {
        let (got, expected) = (record.len(), columns.len());
        let message = format!("The line has {got} fields, and the first line {expected}.");
        faults.add(of_line(line, message));
        return None;
    }
    let before = faults.total();
    let mut texts = [None; OrderColumn::ALL.len()];
    let mut places = [0; OrderColumn::ALL.len()];
    let mut unreadable = [false; OrderColumn::ALL.len()];
    for (nth, (column, field)) in columns.iter().zip(record.iter()).enumerate() {
        places[*column as usize] = nth + 1;
        match std::str::from_utf8(field) {
            Ok(text) => texts[*column as usize] = Some(text).filter(|text| !text.is_empty()),
            Err(_) => {
                unreadable[*column as usize] = true;
                faults.add(FileFault {
                    line,
                    column: nth + 1,
                    name: column.name().to_owned(),
                    message: "The field is not UTF-8.".to_owned(),
                });
            }
        }
    }
    let mut fields = Fields { line, texts, places, unreadable, faults };
    let order = fields.order(scope);
    let mut order = order.filter(|_| faults.total() == before)?;
    order.order.client_order_id = digest.client_order_id(row);
    Some(order)
}
