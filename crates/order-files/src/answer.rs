//! The answer to each row, and the files that members collect.

use crate::content::ContentDigest;
use crate::fault::FileFaults;
use crate::history::Ended;
use crate::order_file::OrderFile;
use rialto_desk::NameTable;
use rialto_model::{ClientOrderId, DoneReason, OrderStatus, RejectReason};
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
    let rows = file.rows.iter().zip(answers).enumerate().map(|(nth, (row, answer))| {
        let listing = names.instrument(row.order.instrument);
        let text = |number: u64| if number == 0 { String::new() } else { number.to_string() };
        let quantity = |units: i64| {
            let quantity = rialto_model::Quantity(units);
            listing.map_or(String::new(), |on| quantity.decimal(on.quantity_scale).to_string())
        };
        let (order, status, reason, filled, remaining) = match answer.outcome {
            RowOutcome::Entered { order, status, filled, remaining, done } => {
                let done = done.map_or("", DoneReason::name);
                (text(order), status.name(), done, quantity(filled), quantity(remaining))
            }
            RowOutcome::Rejected { reason } => {
                let none = String::new;
                (none(), OrderStatus::Rejected.name(), reason.code(), none(), none())
            }
            RowOutcome::Repeated { order } => {
                (text(order), "repeated", "", String::new(), String::new())
            }
            RowOutcome::Unknown => (String::new(), "unknown", "", String::new(), String::new()),
        };
        [
            (nth + 1).to_string(),
            row.line.to_string(),
            row.label.to_string(),
            row.order.account.to_string(),
            listing.map_or(String::new(), |on| on.symbol.to_string()),
            row.order.client_order_id.to_string(),
            order,
            status.to_owned(),
            reason.to_owned(),
            filled,
            remaining,
            text(answer.seq),
            text(answer.time),
        ]
    });
    csv(&ANSWER_COLUMNS, rows)
}

/// The answer file of a content that was answered before, when that answer is no longer kept.
pub(crate) fn repeated_csv(digest: ContentDigest, ended: &Ended) -> Vec<u8> {
    let answered = ended.answered;
    let rows = (1..=ended.rows).map(|row| {
        let id: ClientOrderId = digest.client_order_id(row);
        let mut fields: AnswerFields = Default::default();
        let [number, _, _, _, _, client_order_id, _, status, ..] = &mut fields;
        (*number, *client_order_id) = (row.to_string(), id.to_string());
        // The others were not sent because the first file was deleted.
        *status = match row {
            row if row <= answered => "repeated",
            row if row - answered <= ended.in_doubt => "unknown",
            _ => "not_entered",
        }
        .to_owned();
        fields
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
