//! Calendars, as an operator changes them.

use super::change;
use crate::Error;
use crate::inspect::utc;
use crate::remote::Remote;
use clap::Subcommand;
use rialto_client::api::{CalendarAssignRequest, Route, TransitionMoveRequest};
use rialto_model::Timestamp;

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
        }
    }
}
