//! Calendars of the venue: the transitions that are planned, and the instruments that follow them.

use crate::text::Str;
use rialto_model::{InstrumentState, Name, Seq, Symbol, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The begin of a phase that a calendar plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransitionInfo {
    /// When it begins.
    pub at: Timestamp,
    /// The phase.
    pub state: InstrumentState,
    /// Of a call that ends by itself: its earliest end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earliest_end: Option<Timestamp>,
    /// Of a call that ends by itself: its latest end. The end is drawn at random between both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_end: Option<Timestamp>,
    /// Of a call that ends by itself: the phase after its auction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<InstrumentState>,
    /// From when on members cannot cancel and amend orders of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_cancel_from: Option<Timestamp>,
    /// Whether a session ends with it.
    pub ends_session: bool,
    /// Whether the trading day ends with it.
    pub ends_day: bool,
}

/// The last transition that a calendar has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BegunInfo {
    /// The time at which it was planned.
    pub at: Timestamp,
    /// The phase.
    pub state: InstrumentState,
}

/// A calendar in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CalendarInfo {
    /// Its name.
    pub name: Name,
    /// The last transition that has begun.
    pub begun: Option<BegunInfo>,
    /// The next transition.
    pub next: Option<TransitionInfo>,
    /// The time of the last transition that is planned.
    pub planned_to: Option<Timestamp>,
    /// How many transitions are planned and have not begun.
    pub transition_count: u32,
    /// How many instruments are assigned to it.
    pub instrument_count: u32,
    /// Its circuit breaker.
    pub circuit_breaker: Option<CircuitBreakerInfo>,
}

/// Halts all instruments of a calendar when the price of one of them has moved too far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CircuitBreakerInfo {
    /// The instrument whose price is watched.
    pub instrument: Symbol,
    /// How far its price may move from its `reference_price`, in millionths.
    pub range_ppm: u32,
    /// How long the halt lasts, in milliseconds.
    pub halt_ms: u32,
    /// Whether it has not halted trading since it was set, or since the
    /// trading rules of the instrument were. It watches nothing without a reference price.
    pub armed: bool,
}

/// The circuit breaker of a calendar.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CircuitBreakerRequest<'a> {
    /// The instrument whose price is watched. It follows the calendar.
    #[serde(borrow)]
    pub instrument: Str<'a>,
    /// How far its price may move from its `reference_price`, in millionths.
    #[schemars(range(min = 1, max = 999_999))]
    pub range_ppm: u32,
    /// How long the halt lasts, in milliseconds.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub halt_ms: u32,
}

/// The circuit breaker of a calendar was set or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CircuitBreakerAnswer {
    /// The name of the calendar.
    pub calendar: Name,
    /// Its circuit breaker; `null` if it was removed.
    pub circuit_breaker: Option<CircuitBreakerInfo>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// All calendars of the venue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CalendarsAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The calendars, in the order in which they became known.
    pub calendars: Vec<CalendarInfo>,
}

/// A part of the transitions of a calendar.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalendarQuery {
    /// Only transitions after this time, such as the last one of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Timestamp>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Wait until the answer is complete up to this sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seq: Option<Seq>,
}

/// A calendar of the venue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CalendarAnswer {
    /// The sequence that the answer is complete up to.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// The calendar.
    #[serde(flatten)]
    pub calendar: CalendarInfo,
    /// The instruments that are assigned to it.
    pub instruments: Vec<Symbol>,
    /// The transitions that have not begun, earliest first, a page of them.
    pub transitions: Vec<TransitionInfo>,
}

/// The calendar of an instrument.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalendarAssignRequest<'a> {
    /// The name of the calendar. `null`, which must be written out, is none.
    #[serde(borrow, deserialize_with = "written")]
    #[schemars(required, extend("type" = ["string", "null"]))]
    pub calendar: Option<Str<'a>>,
}

/// Reads a field that may be `null` but not missing.
fn written<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Str<'a>>, D::Error> {
    Option::deserialize(deserializer)
}

/// The calendar of an instrument was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CalendarAssignedAnswer {
    /// The symbol of the instrument.
    pub instrument: Symbol,
    /// The name of its calendar; `null` if it has none.
    pub calendar: Option<Name>,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}

/// A transition to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransitionMoveRequest {
    /// When it is planned to begin.
    pub at: Timestamp,
    /// When it shall begin: now or later, and between its neighbours.
    pub to: Timestamp,
}

/// A transition was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransitionMovedAnswer {
    /// The name of the calendar.
    pub calendar: Name,
    /// When the transition was planned to begin.
    pub at: Timestamp,
    /// When it begins now.
    pub to: Timestamp,
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
}
