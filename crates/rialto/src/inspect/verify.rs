//! `rialto verify`: proves that a data directory says one thing.

use super::{damage, output, read_only};
use crate::keys::KeyArgs;
use crate::venue::keys_missing;
use crate::{Error, tell_all};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rialto_disk::RealDisk;
use rialto_engine::{VerifyError, VerifyReport};
use rialto_model::Seq;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Replays a data directory and compares every recorded event and every snapshot. Reads every byte,
/// and changes nothing. The venue must be stopped.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The data directory.
    dir: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    keys: KeyArgs,
}

/// Runs the command.
///
/// # Errors
/// The directory is in use or damaged; the error says where and what to do.
pub fn run(args: &VerifyArgs) -> Result<(), Error> {
    let disk = read_only::open(&args.dir)?;
    let keys = args.keys.ring()?;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = "{bar:40} {human_pos} of {human_len} commands, {per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
    let began = Instant::now();
    let verified = rialto_engine::verify(&disk, &args.dir, &keys, |at: Seq, last: Seq| {
        bar.set_length(last.0);
        bar.set_position(at.0);
    });
    bar.finish_and_clear();
    match verified {
        Ok(report) => {
            print(args, &report, began.elapsed());
            Ok(())
        }
        Err(VerifyError::Disk(error @ rialto_disk::DiskError::Locked { .. })) => {
            Err(Error::Usage(error.to_string()))
        }
        Err(error) => Err(damaged(args, &error)),
    }
}

fn print(args: &VerifyArgs, report: &VerifyReport, took: Duration) {
    let missing = keys_missing(&RealDisk::new(), &args.dir);
    if args.json {
        let snapshots: Vec<Value> = report
            .snapshots
            .iter()
            .map(|(seq, hash)| json!({"seq": seq, "state_hash": hash.to_string()}))
            .collect();
        output::print_json(&json!({
            "ok": true,
            "commands": report.commands,
            "last_seq": report.last,
            "events_last_seq": report.events_last,
            "snapshots": snapshots,
            "state_hash": report.state_hash.to_string(),
            "keys": missing.is_none(),
            "seconds": took.as_secs_f64(),
        }));
        return;
    }
    let rate = report.commands as f64 / took.as_secs_f64().max(1e-9);
    let snapshots: Vec<String> = report.snapshots.iter().map(|(seq, _)| seq.to_string()).collect();
    let mut pairs = vec![
        ("in order", args.dir.display().to_string()),
        ("commands replayed", format!("{}, to sequence {}", report.commands, report.last)),
        ("events", format!("equal byte for byte, and chained, to sequence {}", report.events_last)),
        (
            "snapshots",
            format!(
                "{} of the state replayed, at sequence {}",
                snapshots.len(),
                snapshots.join(", ")
            ),
        ),
        ("state hash", report.state_hash.to_string()),
        ("took", format!("{:.3} s, {rate:.0} commands/s", took.as_secs_f64())),
    ];
    if let Some(missing) = missing {
        pairs.push(("keys", missing.to_string()));
    }
    if report.events_last < report.last {
        let note = "the event log ends before the journal, as after a crash; the next start \
                    completes it";
        pairs.push(("note", note.to_owned()));
    }
    output::print_pairs(&pairs);
}

fn damaged(args: &VerifyArgs, error: &VerifyError) -> Error {
    let told = tell_all(error);
    let advice = damage::advice(error, &args.dir);
    if args.json {
        let (file, offset) = damage::place(error);
        output::print_json(&json!({
            "ok": false,
            "error": told,
            "file": file.map(|file| file.display().to_string()),
            "offset": offset,
            "advice": advice,
        }));
    }
    Error::Failed(format!("{} is not in order: {told}. What to do: {advice}", args.dir.display()))
}
