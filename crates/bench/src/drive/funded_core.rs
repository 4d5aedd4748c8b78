//! The whole core without an engine: book, ledger, risk, fees and events.

use super::feed::Rejected;
use rialto_core::{Core, CoreConfig, EventSink};
use rialto_model::{Command, Event, Outcome, Seq, Timestamp};
use rialto_workload::{ENGINE, Fill, fill_of};

/// A core with well-funded accounts.
pub(crate) struct FundedCore {
    pub(crate) core: Core,
    seq: u64,
    events: u64,
}

/// Counts every event, and passes on fills.
struct Fills<'a, F> {
    events: &'a mut u64,
    sink: &'a mut F,
}

impl<F: FnMut(&Fill)> EventSink for Fills<'_, F> {
    #[inline]
    fn event(&mut self, event: &Event) {
        *self.events += 1;
        if let Event::Trade(trade) = event {
            (self.sink)(&fill_of(trade));
        }
    }
}

impl FundedCore {
    /// A core with room for this many resting orders, after the commands that open its accounts.
    pub(crate) fn open(resting_max: u64, opening: &[Command]) -> FundedCore {
        let mut config = CoreConfig::new(ENGINE);
        config.limits.orders_max = config.limits.orders_max.max(resting_max as u32 + 1);
        let mut funded = FundedCore { core: Core::new(config), seq: 0, events: 0 };
        funded.core.reserve(resting_max as usize + 1);
        for command in opening {
            let outcome = funded.command(command, &mut |_| {});
            assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
        }
        funded
    }

    /// Applies one command, and passes every fill to `sink`.
    #[inline]
    pub(crate) fn command(&mut self, command: &Command, sink: &mut impl FnMut(&Fill)) -> Outcome {
        let mut events = self.events;
        let outcome = self.command_into(command, &mut Fills { events: &mut events, sink });
        self.events = events;
        outcome
    }

    /// Applies one command, and passes every event to `sink`.
    #[inline]
    pub(crate) fn command_into<S: EventSink>(
        &mut self,
        command: &Command,
        sink: &mut S,
    ) -> Outcome {
        self.seq += 1;
        self.core.apply(Seq(self.seq), self.time(), command, sink)
    }

    /// The time of the last command.
    #[inline]
    pub(crate) fn time(&self) -> Timestamp {
        Timestamp(self.seq)
    }

    /// Applies one command, with due ticks before it, as the sequencer does.
    #[inline]
    pub(crate) fn apply(
        &mut self,
        command: &Command,
        sink: &mut impl FnMut(&Fill),
    ) -> Result<(), Rejected> {
        while self.core.next_due() <= Timestamp(self.seq) {
            self.command(&Command::Tick, sink);
        }
        match self.command(command, sink) {
            Outcome::Rejected { reason } => Err(Rejected(reason)),
            _ => Ok(()),
        }
    }
}
