//! `rialto serve`: runs a venue until a signal stops it.

use crate::Error;
use crate::config::{self, Config};
use crate::keys::KeyArgs;
use crate::logging::Logging;
use crate::stop::Stop;
use crate::terminal::say;
use crate::venue::{Opening, Venue};
use rialto_disk::RealDisk;
use rialto_engine::Level;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The interval at which a running venue's health is checked.
const CHECK_PERIOD: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The configuration file; `rialto config --default` prints one. By default, every setting has
    /// its default.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data directory; overrides the file.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The address to listen on; overrides the file.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The durability level (memory, buffered or synced); overrides the file.
    #[arg(long)]
    level: Option<Level>,
    /// Start even if the wall clock differs by more than a week from the last time in the journal.
    #[arg(long)]
    accept_clock: bool,
    #[command(flatten)]
    keys: KeyArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut config = match &args.config {
        Some(path) => config::read(path)?,
        None => Config::default(),
    };
    if let Some(data) = &args.data {
        config.engine.data_dir.clone_from(data);
    }
    if let Some(listen) = args.listen {
        config.gateway.listen = listen;
    }
    if let Some(level) = args.level {
        config.engine.level = level;
    }
    // What the command line changed must fit the rest, too, before anything is made.
    config::check_together(&config)?;
    config.engine.accept_clock = args.accept_clock;
    config.engine.keys = args.keys.ring_or(config.keys_file.as_deref())?;
    if let (Some(cipher), None) = (config.engine.sealing.encryption, config.engine.keys.current()) {
        return Err(Error::Usage(format!(
            "journal.encryption = \"{cipher}\" needs a key: name a file with --log-keys or \
             journal.keys_file, or set RIALTO_LOG_KEYS"
        )));
    }
    let _logging = Logging::start(&config)?;
    let stop = Stop::on_signals()?;
    let (venue, opening) = Venue::open(&config, Arc::new(RealDisk::new()))?;
    tell_opening(&config, &venue, &opening);
    let ended = loop {
        if stop.wait(CHECK_PERIOD) {
            say(format_args!("stopping: finishing accepted requests"));
            break Ok(());
        }
        if let Err(error) = venue.check() {
            break Err(error);
        }
    };
    let closed = venue.close(config.drain);
    ended?;
    say(format_args!("{}", closed?));
    Ok(())
}

/// Prints the recovery and the address. The admin key is printed only here.
pub(crate) fn tell_opening(config: &Config, venue: &Venue, opening: &Opening) {
    say(format_args!("rialto {}", crate::VERSION));
    say(format_args!("recovery: {}", opening.recovery));
    if let Some(key) = &opening.new_admin_key {
        say(format_args!(
            "admin key: {} (shown only once; keep it. If it is lost: rialto admin-key --reset {})",
            key.reveal(),
            config.data_dir().display()
        ));
    }
    if !config.gateway.listen.ip().is_loopback() {
        tracing::warn!(
            "{} can be reached from other machines, and nothing is encrypted: put a TLS proxy in \
             front",
            venue.local_addr()
        );
    }
    if let Some(address) = venue.operations_addr() {
        say(format_args!("probes and operators on http://{address}"));
    }
    if let Some(address) = venue.s3_addr() {
        say(format_args!("S3 on http://{address}"));
    }
    say(format_args!(
        "listening on http://{}, level {}, data in {}",
        venue.local_addr(),
        config.engine.level,
        config.data_dir().display()
    ));
}
