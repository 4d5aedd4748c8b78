//! `rialto config`: prints every setting, or checks a file.

use crate::Error;
use crate::config::{self, Config};
use crate::terminal::say;
use rialto_ident::{Clock, SystemClock};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Args {
    /// Print a complete file: every setting with its meaning, its range and its default.
    #[arg(long)]
    default: bool,
    /// Check a file without starting anything.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Print a file, completed with the defaults of the settings that it omits.
    #[arg(long, value_name = "FILE")]
    show: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    if let Some(path) = &args.check {
        for calendar in config::read(path)?.calendars {
            calendar.check_days(&calendar.read()?, SystemClock.now())?;
        }
        say(format_args!("{}: valid", path.display()));
        return Ok(());
    }
    let config = match &args.show {
        Some(path) => config::read(path)?,
        None => Config::default(),
    };
    say(format_args!("{}", config::print(&config).trim_end()));
    Ok(())
}
