//! Halts that end by themselves: what is halted, and why.

use crate::{InstrumentId, Name, enumeration};
use serde::{Deserialize, Serialize};

/// What a halt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HaltScope {
    /// All instruments of the venue.
    Venue,
    /// The instruments that follow a calendar.
    Calendar(Name),
    /// An instrument.
    Instrument(InstrumentId),
}

impl HaltScope {
    /// The number of its kind, its instrument and its calendar in the binary form.
    #[must_use]
    pub fn parts(self) -> (u8, InstrumentId, Name) {
        match self {
            HaltScope::Venue => (0, InstrumentId::default(), Name::default()),
            HaltScope::Calendar(calendar) => (1, InstrumentId::default(), calendar),
            HaltScope::Instrument(instrument) => (2, instrument, Name::default()),
        }
    }

    /// The scope with these parts. A part that its kind does not have is empty.
    #[must_use]
    pub fn from_parts(kind: u8, instrument: InstrumentId, calendar: Name) -> Option<HaltScope> {
        let scope = match kind {
            0 => HaltScope::Venue,
            1 => HaltScope::Calendar(calendar),
            2 => HaltScope::Instrument(instrument),
            _ => return None,
        };
        Some(scope).filter(|scope| scope.parts() == (kind, instrument, calendar))
    }
}

enumeration! {
    /// Why trading was halted.
    pub enum HaltCause {
        /// An operator's command.
        Operator = 0, "operator";
        /// A circuit breaker.
        CircuitBreaker = 1, "circuit_breaker";
        /// The best price stood at a limit for too long.
        LimitState = 2, "limit_state";
    }
}

/// Halts all instruments of a calendar when the price of one of them has moved too far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitBreakerRule {
    /// The calendar whose instruments are halted.
    pub calendar: Name,
    /// The instrument whose price is watched. It follows the calendar.
    pub instrument: InstrumentId,
    /// How far its price may move from the reference price of its trading rules, in millionths; zero
    /// removes the circuit breaker.
    pub range_ppm: u32,
    /// How long the halt lasts, in milliseconds.
    pub halt_ms: u32,
}
