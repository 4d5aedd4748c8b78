//! Commands that halt trading for a time, or say when it is halted.

use super::super::Listed;
use super::super::world::text;
use super::Chooser;
use rialto_model::{CircuitBreakerRule, Command, HaltScope, InstrumentId, Name, Text};

impl Chooser<'_> {
    /// Halts something, or sets a circuit breaker.
    pub(super) fn halt(&mut self) -> Command {
        let calendar: Name = match self.dice.below(40) {
            0 => Text::EMPTY,
            1 => text("other"),
            _ => text(self.dice.pick(&["day", "day", "night"])),
        };
        if self.dice.chance(50) {
            return self.circuit_breaker(calendar);
        }
        let scope = match self.dice.weighted(&[50, 35, 15]) {
            0 => HaltScope::Instrument(self.instrument()),
            1 => HaltScope::Calendar(calendar),
            _ => HaltScope::Venue,
        };
        let duration_ms = match self.dice.below(20) {
            0 => self.dice.pick(&[0, 86_400_000, 86_400_001]),
            _ => self.dice.pick(&[1, 1, 2, 30]),
        };
        Command::HaltTrading { scope, duration_ms }
    }

    /// Halts the venue for longer than an auction trades.
    pub(super) fn halt_of_all(&mut self) -> Command {
        let duration_ms = self.dice.pick(&[2, 30]);
        Command::HaltTrading { scope: HaltScope::Venue, duration_ms }
    }

    /// An instrument whose call waits for a command.
    pub(super) fn waiting(&self) -> Option<InstrumentId> {
        let waits = |listed: &&Listed| listed.call.is_some_and(|call| call.ends.is_none());
        self.now.instruments.iter().find(waits).map(|listed| listed.instrument.id)
    }

    /// Whether such an instrument is halted.
    pub(super) fn keeps_a_call(&self) -> bool {
        let mut halts = self.now.instruments.iter().filter_map(|listed| listed.halt);
        halts.any(|halt| halt.then.call.is_some_and(|call| call.until_command))
    }

    pub(super) fn halt_of_waiting(&mut self) -> Vec<Command> {
        let scope = self.waiting().map(HaltScope::Instrument);
        let halt = |scope| Command::HaltTrading { scope, duration_ms: 1 };
        scope.map(halt).into_iter().collect()
    }

    /// Mostly about an instrument that follows the calendar.
    fn circuit_breaker(&mut self, calendar: Name) -> Command {
        let follow = self.now.instruments.iter().filter(|listed| listed.calendar == calendar);
        let follow: Vec<InstrumentId> = follow.map(|listed| listed.instrument.id).collect();
        let instrument = match follow.is_empty() || self.dice.chance(10) {
            true => self.instrument(),
            false => self.dice.pick(&follow),
        };
        let mut breaker = CircuitBreakerRule {
            calendar,
            instrument,
            range_ppm: self.dice.pick(&[0, 10_000, 10_000, 25_000]),
            halt_ms: self.dice.pick(&[1, 1, 2, 30]),
        };
        match self.dice.below(30) {
            0 => breaker.range_ppm = 1_000_000,
            1 => breaker.halt_ms = self.dice.pick(&[0, 86_400_001]),
            _ => {}
        }
        Command::SetCircuitBreaker(breaker)
    }
}
