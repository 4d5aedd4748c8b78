//! `rialto bench`: runs benchmark suites.

use crate::Error;
use rialto_bench::{Options, Size};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The suites, or parts of them, such as queue.loopback; by default all.
    suites: Vec<String>,
    /// List the suites and their parts, and run nothing.
    #[arg(long)]
    list: bool,
    /// One JSON object a line instead of tables.
    #[arg(long)]
    json: bool,
    /// Write an HTML page with tables and plots.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write a Markdown page of each suite into a directory.
    #[arg(long, value_name = "DIR")]
    markdown: Option<PathBuf>,
    /// Run small inputs to check that every suite works; the figures mean nothing.
    #[arg(long)]
    small: bool,
    /// The directory for data of the run, on the disk to measure.
    #[arg(long, value_name = "DIR", default_value = "data/bench")]
    data: PathBuf,
}

/// The name of the hidden subcommand that attacks a gateway under measurement.
pub(super) const ATTACK: &str = "bench-attack";

fn attacker() -> Command {
    // The one on disk may have been replaced meanwhile; this one has not.
    let mut command = Command::new("/proc/self/exe");
    command.arg(ATTACK);
    command
}

/// Attacks a gateway with the plan on standard input.
pub(crate) fn attack() -> Result<(), Error> {
    rialto_bench::attack::run().map_err(|error| Error::Failed(crate::tell_all(&error)))
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    if args.list {
        let listed = io::stdout().write_all(rialto_bench::list().as_bytes());
        return listed.map_err(|error| Error::Failed(error.to_string()));
    }
    std::fs::create_dir_all(&args.data).map_err(Error::file("make", &args.data))?;
    let options = Options {
        suites: args.suites.clone(),
        json: args.json,
        report: args.report.clone(),
        markdown: args.markdown.clone(),
        size: if args.small { Size::Small } else { Size::Full },
        data_dir: args.data.clone(),
        attacker: Some(attacker),
    };
    let summary =
        rialto_bench::run(&options).map_err(|error| Error::Failed(crate::tell_all(&error)))?;
    let failed: Vec<&str> = summary.failed().collect();
    if !failed.is_empty() {
        return Err(Error::Failed(format!("these cases failed: {}", failed.join("; "))));
    }
    if summary.is_all_met() {
        return Ok(());
    }
    Err(Error::Failed("some targets were missed; the output names them".to_string()))
}
