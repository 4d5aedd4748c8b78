//! The answer to each row, and the files that members collect.

use crate::content::ContentDigest;
use crate::fault::FileFaults;
use crate::history::Ended;
use crate::order_file::OrderFile;
use rialto_desk::NameTable;
use rialto_model::{ClientOrderId, DoneReason, OrderStatus, Quantity, RejectReason};
use serde::{Deserialize, Serialize};

/// The answer of the venue to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowAnswer {
    /// The sequence of the command; zero if it is not known.
    pub seq: u64,
    /// The time of the command, in nanoseconds since 1970.
    pub time: u64,
    /// What the command did.
    pub outcome: RowOutcome,
}

/// What became of the order of a row, within its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowOutcome {
    /// It was accepted.
    Entered {
        /// The venue's id.
        order: u64,
        /// Its status after the command.
        status: OrderStatus,
        /// The quantity that traded, in units of the instrument.
        filled: i64,
        /// The quantity that did not, in units of the instrument.
        remaining: i64,
        /// Why it ended without being filled.
        done: Option<DoneReason>,
    },
    /// It was refused.
    Rejected {
        /// The reason.
        reason: RejectReason,
    },
    /// The member had entered an order under its client order id.
    Repeated {
        /// That order; zero if it was refused.
        order: u64,
    },
    /// The row was sent, and the event log no longer has the answer.
    Unknown,
}

impl RowAnswer {
    /// The answer to a row whose outcome cannot be found.
    pub(crate) const UNKNOWN: RowAnswer =
        RowAnswer { seq: 0, time: 0, outcome: RowOutcome::Unknown };
}

/// The columns of an answer.
const ANSWER_COLUMNS: [&str; 13] = [
    "row",
    "line",
    "label",
    "account",
    "instrument",
    "client_order_id",
    "order_id",
    "status",
    "reason",
    "filled",
    "remaining",
    "seq",
    "time",
];

/// The most bytes of a row of an answer.
pub(crate) const ANSWER_ROW_BYTES_MAX: u64 = 352;

/// A row of an answer, in the order of its columns.
type AnswerFields = [String; ANSWER_COLUMNS.len()];

/// The answer file of a file whose rows were sent.
pub(crate) fn answer_csv(file: &OrderFile, answers: &[RowAnswer], names: &NameTable) -> Vec<u8> {
    let rows = file.rows.iter().zip(answers).zip(1..).map(|((row, answer), nth)| {
        let listing = names.instrument(row.order.instrument);
        let mut fields = answered_row(nth, row.order.client_order_id, answer, |quantity| {
            listing.map_or(String::new(), |on| quantity.decimal(on.quantity_scale).to_string())
        });
        let [_, line, label, account, instrument, ..] = &mut fields;
        *line = row.line.to_string();
        *label = row.label.to_string();
        *account = row.order.account.to_string();
        *instrument = listing.map_or(String::new(), |on| on.symbol.to_string());
        fields
    });
    csv(&ANSWER_COLUMNS, rows)
}

/// The answer file of a content that was begun and cannot be read as orders any more: the answers to
/// its first rows. A row without one was not entered. What stands in the file only is left out, and
/// quantities with it: their scales are those of instruments.
pub(crate) fn ended_early_csv(
    digest: ContentDigest,
    answers: &[Option<RowAnswer>],
    rows: u32,
) -> Vec<u8> {
    let answers = answers.iter().copied().chain(std::iter::repeat(None));
    let rows = (1..=rows).zip(answers).map(|(row, answer)| {
        let id = digest.client_order_id(row);
        match answer {
            Some(answer) => answered_row(row, id, &answer, |_| String::new()),
            None => row_without_answer(row, id, "not_entered"),
        }
    });
    csv(&ANSWER_COLUMNS, rows)
}

/// The columns of a row that are known from its answer.
fn answered_row(
    row: u32,
    id: ClientOrderId,
    answer: &RowAnswer,
    decimal: impl Fn(Quantity) -> String,
) -> AnswerFields {
    let text = |number: u64| if number == 0 { String::new() } else { number.to_string() };
    let status = match answer.outcome {
        RowOutcome::Entered { status, .. } => status.name(),
        RowOutcome::Rejected { .. } => OrderStatus::Rejected.name(),
        RowOutcome::Repeated { .. } => "repeated",
        RowOutcome::Unknown => "unknown",
    };
    let mut fields = row_without_answer(row, id, status);
    let [.., order_id, _, why, filled_column, remaining_column, seq, time] = &mut fields;
    match answer.outcome {
        RowOutcome::Entered { order, filled, remaining, done, .. } => {
            *order_id = text(order);
            *why = done.map_or("", DoneReason::name).to_owned();
            *filled_column = decimal(Quantity(filled));
            *remaining_column = decimal(Quantity(remaining));
        }
        RowOutcome::Rejected { reason } => *why = reason.code().to_owned(),
        RowOutcome::Repeated { order } => *order_id = text(order),
        RowOutcome::Unknown => {}
    }
    (*seq, *time) = (text(answer.seq), text(answer.time));
    fields
}

/// A row of which the name and a status are known.
fn row_without_answer(row: u32, id: ClientOrderId, status: &str) -> AnswerFields {
    let mut fields: AnswerFields = Default::default();
    let [number, _, _, _, _, client_order_id, _, status_column, ..] = &mut fields;
    (*number, *client_order_id) = (row.to_string(), id.to_string());
    *status_column = status.to_owned();
    fields
}

/// The answer file of a content that was answered before, when that answer is not known any more.
pub(crate) fn repeated_csv(digest: ContentDigest, ended: &Ended) -> Vec<u8> {
    let answered = ended.answered;
    let rows = (1..=ended.rows).map(|row| {
        let status = match row {
            row if row <= answered => "repeated",
            row if row - answered <= ended.in_doubt => "unknown",
            // The content ended before they were sent.
            _ => "not_entered",
        };
        row_without_answer(row, digest.client_order_id(row), status)
    });
    csv(&ANSWER_COLUMNS, rows)
}

/// The answer file of a file that was refused: the errors.
pub(crate) fn faults_csv(faults: &FileFaults) -> Vec<u8> {
    let number = |number: u64| if number == 0 { String::new() } else { number.to_string() };
    let listed = faults.listed().iter().map(|fault| {
        let column = number(fault.column as u64);
        [number(fault.line), column, fault.name.clone(), fault.message.clone()]
    });
    let more = faults.total().saturating_sub(faults.listed().len() as u64);
    let rest = (more > 0).then(|| {
        let message = format!("{more} more errors are not listed.");
        [String::new(), String::new(), String::new(), message]
    });
    csv(&["line", "column", "name", "error"], listed.chain(rest))
}

fn csv<const N: usize>(columns: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and all rows have the same number of fields.
    let _ = writer.write_record(columns);
    for row in rows {
        let _ = writer.write_record(&row);
    }
    writer.into_inner().unwrap_or_default()
}
