//! The metrics of the exchange of order files.

use super::{Kind, Page};
use rialto_order_files::OrderFileCounts;

pub(super) fn write(page: &mut Page, counts: &OrderFileCounts) {
    let help = "Whether files of orders are worked on.";
    page.gauge("rialto_order_files_up", help, counts.is_up().into());
    page.gauge("rialto_order_files_in_work", "Files of orders in work.", counts.files_in_work());
    let help = "Files of orders whose work ended, by outcome.";
    let mut files = page.metric("rialto_order_files_total", Kind::Counter, help);
    files.with(&[("outcome", &"answered")], counts.files_answered());
    files.with(&[("outcome", &"refused")], counts.files_refused());
    files.with(&[("outcome", &"repeated")], counts.files_repeated());
    files.with(&[("outcome", &"failed")], counts.files_failed());
    let help = "Rows of answered files, by outcome.";
    let mut rows = page.metric("rialto_order_file_rows_total", Kind::Counter, help);
    rows.with(&[("outcome", &"entered")], counts.rows_entered());
    rows.with(&[("outcome", &"rejected")], counts.rows_rejected());
    rows.with(&[("outcome", &"repeated")], counts.rows_repeated());
    rows.with(&[("outcome", &"unknown")], counts.rows_unknown());
    page.counter(
        "rialto_order_file_batches_retried_total",
        "Batches sent again because the engine was busy, the disk low or the member's rate used up.",
        counts.batches_retried(),
    );
}
