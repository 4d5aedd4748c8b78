//! Calendars, as an operator changes them.

use super::halt::milliseconds;
use super::{change, tell};
use crate::inspect::utc;
use crate::remote::{NO_BODY, NO_QUERY, Remote};
use crate::{Error, duration};
use clap::Subcommand;
use rialto_client::api::{
    CalendarAssignRequest, CircuitBreakerRequest, Route, TransitionMoveRequest,
};
use rialto_model::Timestamp;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub(super) enum CalendarAction {
    /// Assign an instrument to a calendar, which changes its phases from its next transition on.
    #[command(group = clap::ArgGroup::new("which").required(true).args(["name", "none"]))]
    Assign {
        /// The instrument.
        symbol: String,
        /// The calendar.
        name: Option<String>,
        /// Assign it to none: an operator changes its phases.
        #[arg(long)]
        none: bool,
    },
    /// Move a transition that has not begun. The times of a call move with it.
    Move {
        /// The calendar.
        name: String,
        /// When it is planned to begin, such as 2026-12-24T12:30:00Z.
        #[arg(value_parser = utc::parse)]
        at: Timestamp,
        /// When it shall begin: now or later, and between its neighbours.
        #[arg(value_parser = utc::parse)]
        to: Timestamp,
    },
    /// Halt all instruments of a calendar when the price of one of them has moved too far.
    #[command(group = clap::ArgGroup::new("what").required(true).args(["instrument", "remove"]))]
    CircuitBreaker {
        /// The calendar.
        name: String,
        /// The instrument whose price is watched. It follows the calendar.
        #[arg(long, value_name = "SYMBOL", requires = "range_ppm", requires = "duration")]
        instrument: Option<String>,
        /// How far its price may move from its reference price, in millionths.
        #[arg(long, value_name = "PPM", conflicts_with = "remove")]
        range_ppm: Option<u32>,
        /// How long the halt lasts.
        #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse,
            conflicts_with = "remove")]
        duration: Option<Duration>,
        /// Remove the circuit breaker.
        #[arg(long)]
        remove: bool,
    },
}

impl CalendarAction {
    pub(super) fn run(&self, venue: &Remote) -> Result<(), Error> {
        match self {
            CalendarAction::Assign { symbol, name, .. } => {
                let calendar = name.as_deref().map(Into::into);
                let request = CalendarAssignRequest { calendar };
                change(venue, Route::AdminCalendarAssign, &[symbol], &request)
            }
            CalendarAction::Move { name, at, to } => {
                let request = TransitionMoveRequest { at: *at, to: *to };
                change(venue, Route::AdminCalendarMove, &[name], &request)
            }
            CalendarAction::CircuitBreaker { name, instrument, range_ppm, duration, .. } => {
                let Some(instrument) = instrument else {
                    return venue.show(Route::AdminBreakerRemove, &[name], NO_QUERY, NO_BODY, tell);
                };
                let request = CircuitBreakerRequest {
                    instrument: instrument.as_str().into(),
                    range_ppm: range_ppm.unwrap_or_default(),
                    halt_ms: milliseconds(duration.unwrap_or_default())?,
                };
                change(venue, Route::AdminBreakerSet, &[name], &request)
            }
        }
    }
}
