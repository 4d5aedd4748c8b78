//! `rialto flow ls`.

use super::{began, output, read, request_id, result, took};
use crate::Error;
use crate::duration;
use crate::inspect::utc;
use rialto_model::Timestamp;
use rialto_recorder::{Record, RecordEnding, RecordId};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The data directory.
    #[arg(long)]
    data: PathBuf,
    /// Only failed ones.
    #[arg(long)]
    failed: bool,
    /// Only records that began since then: an age such as 90s, 10m, 2h or 1d, or a time (RFC 3339
    /// in UTC).
    #[arg(long, value_parser = since)]
    since: Option<Timestamp>,
    /// Only records whose name contains this.
    #[arg(long)]
    name: Option<String>,
    /// Also nested records, each on its own line.
    #[arg(long)]
    all: bool,
    /// The most records to show, the newest.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Print one JSON object a line instead of a table.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let recordings = read(&args.data)?;
    let mut found: Vec<&Record> =
        recordings.iter().rev().filter(|record| args.wants(record)).take(args.limit).collect();
    found.reverse();
    let mut out = output::many();
    // Whoever stops reading has seen enough.
    let _ = match args.json {
        true => found.iter().try_for_each(|record| writeln!(out, "{}", brief(record))),
        false => table(&mut out, &found),
    };
    Ok(())
}

impl Args {
    fn wants(&self, record: &Record) -> bool {
        let is_failed = !matches!(record.ending(), None | Some(RecordEnding::Succeeded));
        (self.all || record.subject().parent == RecordId::NONE)
            && (!self.failed || is_failed)
            && self.since.is_none_or(|since| record.began().0 >= since.0)
            && self.name.as_ref().is_none_or(|name| record.name().contains(name.as_str()))
    }
}

/// The line of a record in a list.
pub(super) fn brief(record: &Record) -> serde_json::Value {
    let (code, message) = match record.ending() {
        Some(RecordEnding::Failed { code, message }) => (Some(code), Some(message)),
        _ => (None, None),
    };
    let ending = match record.ending() {
        None => "under_way",
        Some(RecordEnding::Succeeded) => "succeeded",
        Some(RecordEnding::Failed { .. }) => "failed",
        Some(RecordEnding::Abandoned) => "abandoned",
        Some(RecordEnding::Panicked) => "panicked",
    };
    let subject = record.subject();
    let parent = (subject.parent != RecordId::NONE).then_some(subject.parent.0.to_string());
    json!({
        "id": record.id().0.to_string(),
        "name": record.name(),
        "time": began(record),
        "took_ns": record.ended().map(|ended| ended.since(record.began()).as_nanos() as u64),
        "ending": ending,
        "code": code,
        "message": message,
        "request_id": request_id(record),
        "trace_id": (subject.trace_id != 0).then(|| format!("{:032x}", subject.trace_id)),
        "flow": subject.flow.map(|flow| flow.to_string()),
        "parent": parent,
    })
}

fn table(out: &mut impl Write, records: &[&Record]) -> std::io::Result<()> {
    if records.is_empty() {
        return writeln!(out, "no records");
    }
    let headings = ["ID", "TIME", "TOOK", "NAME", "REQUEST OR RUN", "RESULT"].map(str::to_owned);
    let row = |record: &&Record| {
        let about = match record.subject().flow {
            Some(flow) => flow.to_string(),
            None => request_id(record).unwrap_or_else(|| "-".to_owned()),
        };
        let took = took(record).unwrap_or_else(|| "-".to_owned());
        let id = record.id().to_string();
        [id, began(record), took, record.name().to_owned(), about, result(record)]
    };
    let rows: Vec<[String; 6]> = std::iter::once(headings).chain(records.iter().map(row)).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    for row in &rows {
        let [id, time, took, name, about, result] = row;
        let [w_id, w_time, w_took, w_name, w_about, _] = widths;
        writeln!(
            out,
            "{id:>w_id$}  {time:w_time$}  {took:>w_took$}  {name:w_name$}  {about:w_about$}  {result}"
        )?;
    }
    Ok(())
}

/// An age, or a time.
fn since(text: &str) -> Result<Timestamp, String> {
    let ago = duration::parse(text).ok().and_then(|ago| u64::try_from(ago.as_nanos()).ok());
    match ago {
        Some(ago) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Ok(Timestamp((now.as_nanos() as u64).saturating_sub(ago)))
        }
        None => utc::parse(text).map_err(|error| format!("{error}, nor an age such as 10m")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_back_from_now_and_a_time_is_itself() {
        let now = since("0s").expect("a length");
        let hour = since("1h").expect("a length");
        let apart = now.0 - hour.0;
        assert!(apart.abs_diff(3_600 * Timestamp::SECOND) < 60 * Timestamp::SECOND, "{apart}");
        for (text, same) in [("90s", "90000ms"), ("5m", "300s"), ("2h", "120m"), ("7d", "168h")] {
            let [length, same] = [text, same].map(|it| since(it).expect("a length").0);
            assert!(length.abs_diff(same) < 60 * Timestamp::SECOND, "{text}");
        }
        assert_eq!(since("1970-01-01T00:00:01Z"), Ok(Timestamp(Timestamp::SECOND)));
        assert!(["soon", "d", "-5m", "5 m"].iter().all(|bad| since(bad).is_err()));
        assert!(since("99999999999999999d").is_err());
    }
}
