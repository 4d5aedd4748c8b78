//! The trading days of a venue: which phase a market is in, and when it changes.
//!
//! A [`Calendar`] is read from a TOML file with local times of a named time zone. It expands into
//! [`Transition`]s: absolute times, each with the [`Phase`] that begins and the trading day that it
//! belongs to. Expansion is a pure function of the calendar, a time and a number of days.
//!
//! ```
//! use rialto_calendar::{Calendar, Phase, Timestamp};
//!
//! let calendar = Calendar::parse(
//!     r#"
//!     zone = "Europe/Berlin"
//!     weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"]
//!
//!     [[session]]
//!     end = "17:30"
//!     phases = [
//!         { at = "08:50", phase = "opening_call", earliest_end = "09:00", latest_end = "09:00:30" },
//!         { at = "09:00:30", phase = "continuous" },
//!     ]
//!     "#,
//! )?;
//! let now = Timestamp(1_767_571_200_000_000_000); // Monday, 2026-01-05 00:00 UTC
//! let transitions = calendar.transitions(now, 1)?;
//! let phases: Vec<Phase> = transitions.iter().map(|it| it.phase).collect();
//! assert_eq!(phases, [Phase::OpeningCall, Phase::Continuous, Phase::Closed]);
//!
//! // The end of a call is drawn between its bounds; the same seed draws the same end.
//! let call = transitions[0].call.expect("an opening call is a call");
//! let end = transitions[0].call_end(7).expect("a call has an end");
//! assert!((call.earliest_end..=call.latest_end).contains(&end));
//! # Ok::<(), rialto_calendar::CalendarError>(())
//! ```
//!
//! Where to go next: [`Calendar`] answers for a time window, a date, and an instant;
//! `docs/calendar.md` is the reference of the file.

mod calendar;
mod error;
mod expand;
mod file;
mod local;
mod phase;
mod random_end;
mod schedule;
mod transition;
mod zone;

pub use calendar::{Calendar, DayKind};
pub use error::CalendarError;
pub use expand::{DAYS_MAX, TradingDay};
pub use file::{FILE_BYTES_MAX, NAME_CHARACTERS_MAX, SPECIAL_DAYS_MAX};
pub use jiff::civil::Date;
pub use local::date;
pub use phase::Phase;
pub use rialto_clock::Timestamp;
pub use schedule::{PHASES_MAX, SESSIONS_MAX};
pub use transition::{CallTimes, Transition};
