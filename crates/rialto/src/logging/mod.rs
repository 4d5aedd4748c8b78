//! What the venue logs: events of every crate, as lines of text or JSON on the standard error.
//!
//! The crates emit events with `tracing`; `rialto serve` and `rialto demo` install the one
//! subscriber, here. An emitting thread formats its line and puts it into a bounded queue. A thread of
//! its own writes the queue out, so that an unread standard error blocks no thread. Each
//! place in the code may emit a bounded number of lines in a time; the rest are counted.

mod filter;
mod limiter;
mod line;
mod writer;

pub(crate) use filter::{WORDS, parse, word};

use crate::Error;
use crate::config::{Config, LogFormat};
use filter::Filter;
use limiter::Limiter;
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use writer::Queue;

/// The environment variable that overrides the configured level.
const VARIABLE: &str = "RIALTO_LOG";

/// The log of this process. Dropping it writes the queued lines.
#[derive(Debug)]
pub(crate) struct Logging {
    queue: Queue,
}

impl Logging {
    /// Installs the subscriber. `RIALTO_LOG` comes before the level of the configuration.
    ///
    /// # Errors
    /// `RIALTO_LOG` makes no sense, or there is no thread to write with.
    pub(crate) fn start(config: &Config) -> Result<Logging, Error> {
        let filter = match std::env::var(VARIABLE) {
            Ok(directives) => Filter::parse(&directives, config.log_level)
                .map_err(|why| Error::Usage(format!("{VARIABLE}: {why}")))?,
            Err(_) => Filter::from(config.log_level),
        };
        let (format, limiter) = (config.log_format, Arc::new(Limiter::default()));
        let queue = Queue::start(Arc::clone(&limiter), format, std::io::stderr());
        let queue = queue.map_err(|error| {
            Error::Assemble(format!("there is no thread to write the log with: {error}"))
        })?;
        let lines = Lines { filter, format, limiter, queue: queue.clone() };
        // Only a second start in one process finds one installed, and it is as good.
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(lines));
        Ok(Logging { queue })
    }

    /// Holds lines back until the guard is dropped: a terminal is drawn upon.
    pub(crate) fn hold(&self) -> PausedOutput<'_> {
        self.queue.hold();
        PausedOutput(self)
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        self.queue.end();
    }
}

/// While it exists, lines are queued and not printed.
#[derive(Debug)]
pub(crate) struct PausedOutput<'a>(&'a Logging);

impl Drop for PausedOutput<'_> {
    fn drop(&mut self) {
        self.0.queue.release();
    }
}

/// Makes a line of each event.
struct Lines {
    filter: Filter,
    format: LogFormat,
    limiter: Arc<Limiter>,
    queue: Queue,
}

impl Lines {
    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        // No line shows a span, and each request would pay for one.
        metadata.is_event() && self.filter.admits(metadata)
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.filter.most)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if self.limiter.admits(event.metadata(), Instant::now()) {
            self.queue.push(line::of_event(event, self.format, SystemTime::now()));
        }
    }
}
