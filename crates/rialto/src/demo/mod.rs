//! `rialto demo`: a venue with three markets and simulated members, to look at and to trade on.

mod day;
mod flow;
mod markets;
mod seed;
mod view;
mod visitor;

use crate::Error;
use crate::cli::tell_opening;
use crate::config::Config;
use crate::logging::Logging;
use crate::stop::Stop;
use crate::terminal::{is_interactive, is_stderr_terminal, say};
use crate::venue::Venue;
use day::{Day, Operator};
use flow::Flow;
use rialto_disk::RealDisk;
use rialto_engine::{Level, StorageLevel};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use view::{Footer, Subject};
use visitor::Visitor;

/// The longest wait until queries see the commands of the start.
const VISIBLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Files of the demo's journal and event log: a first start does not write half a gigabyte of zeros.
const SEGMENT_BYTES: u64 = 32 << 20;
const GIGABYTE: u64 = 1_000_000_000;

/// The arguments of the demo.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The data directory; the next run continues from it.
    #[arg(long, value_name = "DIR", default_value = "data/demo")]
    data: PathBuf,
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The durability level: memory, buffered or synced.
    #[arg(long, default_value_t = Level::Synced)]
    level: Level,
    /// The orders that simulated members enter each second; 0 for none.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(0..=200_000))]
    rate: u32,
    /// Stop after this many seconds.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Stop after writing this many gigabytes. The journal is never shortened, so that a demo
    /// without this bound fills the disk.
    #[arg(long, value_name = "GB", default_value_t = 20,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    disk: u64,
    /// Print one line every few seconds instead of the view; the default if the output is not a
    /// terminal.
    #[arg(long)]
    plain: bool,
    /// Play a trading day of this length over and over: pre_open, opening auction, trading with an
    /// interruption and a halt, closing auction, closed. The demo sends an operator's commands for
    /// it. Without, every instrument stays open.
    #[arg(long, value_name = "DURATION", value_parser = day::length)]
    day: Option<Duration>,
    /// The seed of the simulated members.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Args {
    fn check(&self) -> Result<(), Error> {
        if self.day.is_some() && self.rate < day::RATE_MIN {
            return Err(Error::Usage(format!(
                "--rate {} enters too few orders for the auctions of --day: give at least {}, or \
                 leave out --rate",
                self.rate,
                day::RATE_MIN
            )));
        }
        Ok(())
    }

    fn config(&self) -> Config {
        let mut config = Config::default();
        config.engine.data_dir.clone_from(&self.data);
        config.engine.level = self.level;
        // A demo may rest for as long as it likes.
        config.engine.accept_clock = true;
        config.engine.segment_bytes = SEGMENT_BYTES;
        config.gateway.listen = self.listen;
        // What a start does is said on the standard output already.
        config.log_level = tracing::level_filters::LevelFilter::WARN;
        let mut backups = self.data.clone().into_os_string();
        backups.push("-backups");
        config.gateway.backup_dir = Some(backups.into());
        config
    }
}

/// Runs the demo until a signal stops it.
///
/// # Errors
/// It does not start, or ends other than in an orderly way.
pub fn run(args: &Args) -> Result<(), Error> {
    args.check()?;
    let stop = Stop::on_signals()?;
    let config = args.config();
    let logging = Logging::start(&config)?;
    let (venue, opening) = Venue::open(&config, Arc::new(RealDisk::new()))?;
    tell_opening(&config, &venue, &opening);
    let watched = trade(args, &venue, &stop, &logging);
    say(format_args!("stopping: finishing accepted requests"));
    let closed = venue.close(config.drain);
    watched?;
    say(format_args!("{}", closed?));
    let program = visitor::program();
    let data = args.data.display();
    say(format_args!(
        "All commands and what followed from them are in {data}. To check every one of them:\n  \
         {program} verify {data}\nTo go on where this ended:\n  {program} demo --data {data}"
    ));
    Ok(())
}

/// Everything between the start of the venue and its end.
fn trade(args: &Args, venue: &Venue, stop: &Stop, logging: &Logging) -> Result<(), Error> {
    venue.wait_visible(venue.engine().released(), VISIBLE_TIMEOUT)?;
    seed::check_is_demo(&venue.live().read())?;
    let mut producer = venue.engine().producer();
    let seeded = seed::seed(&mut producer)?;
    venue.wait_visible(seeded, VISIBLE_TIMEOUT)?;
    let instruments = seed::instruments(&venue.live().read())?;
    if args.day.is_none() {
        Operator::retire(venue, &args.data, &instruments)?;
    }
    let visitor = Visitor::greet(venue, &args.data)?;
    let day = match args.day {
        Some(length) => {
            let operator = Operator::appoint(venue, &args.data)?;
            say(format_args!(
                "a trading day takes {}. Its phases follow no calendar: the demo sends the commands \
                 of an operator, rialto admin state and auction-rules\n",
                crate::duration::show(length)
            ));
            Some(Day::start(venue, operator, &instruments, length)?)
        }
        None => None,
    };
    let flow = match args.rate {
        0 => None,
        rate => {
            let live = Arc::clone(venue.live());
            Some(Flow::start(producer, live, instruments.clone(), rate, args.seed)?)
        }
    };
    let end = args.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let is_over = |wait: Duration| {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        stop.wait(left.map_or(wait, |left| left.min(wait)))
            || left.is_some_and(|left| left.is_zero())
            || written(venue) >= args.disk * GIGABYTE
            // Its members do not pass the desk, which would refuse their orders.
            || venue.engine().storage().level() == StorageLevel::Reserved
            || flow.as_ref().is_some_and(Flow::is_over)
            || day.as_ref().is_some_and(Day::is_over)
            || venue.check().is_err()
    };
    let record = day.as_ref().map(|day| Arc::clone(day.record()));
    let subject =
        Subject { venue, instruments: &instruments, day: record.as_deref(), day_length: args.day };
    watch(args, &subject, &visitor, logging, is_over);
    let played = day.map_or(Ok(()), Day::end);
    // Ending the flow waits for its last answers, so that they are in the closed journal.
    drop(flow);
    for line in record.iter().flat_map(|record| record.summary()) {
        say(format_args!("{line}"));
    }
    venue.check()?;
    played
}

/// Bytes written to journal and event log in this run.
fn written(venue: &Venue) -> u64 {
    let stats = venue.engine().stats();
    stats.journal_bytes + stats.event_bytes
}

fn watch(
    args: &Args,
    subject: &Subject<'_>,
    visitor: &Visitor,
    logging: &Logging,
    is_over: impl Fn(Duration) -> bool,
) {
    if !args.plain && is_interactive() {
        let footer = Footer { url: visitor.url(), order_line: visitor.order_line() };
        // Log lines would overwrite the picture.
        let held = is_stderr_terminal().then(|| logging.hold());
        let watched = view::watch(subject, &footer, || is_over(Duration::ZERO));
        drop(held);
        // The lines at the start are gone from the screen by now.
        visitor.tell();
        match watched {
            Ok(()) => return,
            Err(error) => tracing::warn!("the view ended ({error}); going on without"),
        }
    }
    view::log(subject, is_over);
}
