//! Halts, as an operator begins them.

use crate::{Error, duration};
use rialto_client::api::{HaltRequest, Str};
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("scope").required(true).args(["symbol", "calendar", "venue"]))]
pub(super) struct Halt {
    /// An instrument.
    symbol: Option<String>,
    /// All instruments that follow this calendar.
    #[arg(long, value_name = "NAME", requires = "duration")]
    calendar: Option<String>,
    /// All instruments.
    #[arg(long, requires = "duration")]
    venue: bool,
    /// How long. An auction then reopens each instrument. Without it an instrument is halted until it is
    /// resumed.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse)]
    duration: Option<Duration>,
}

impl Halt {
    pub(super) fn request(&self) -> Result<HaltRequest<'_>, Error> {
        Ok(HaltRequest {
            instrument: self.symbol.as_deref().map(Str::from),
            calendar: self.calendar.as_deref().map(Str::from),
            venue: self.venue,
            duration_ms: self.duration.map(milliseconds).transpose()?,
        })
    }
}

/// A length of a halt.
pub(super) fn milliseconds(duration: Duration) -> Result<u32, Error> {
    let milliseconds = u32::try_from(duration.as_millis());
    milliseconds.map_err(|_| Error::Usage("A halt lasts at most a day.".to_owned()))
}
