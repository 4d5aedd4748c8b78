//! The whole core: book, ledger, risk, fees and events.

use super::passes::Matcher;
use crate::drive::{Rejected, standing};
use crate::report::Risk;
use rialto_core::{Core, CoreConfig, EventSink};
use rialto_model::{Command, Event, Outcome, Seq, Timestamp};
use rialto_workload::{ENGINE, Fill, Standing, Workload, commands, fill_of, opening};
use std::borrow::Cow;

/// A core with well-funded accounts.
pub(super) struct FundedCore {
    core: Core,
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
    #[inline]
    fn command(&mut self, command: &Command, sink: &mut impl FnMut(&Fill)) -> Outcome {
        self.seq += 1;
        let (seq, time) = (Seq(self.seq), Timestamp(self.seq));
        self.core.apply(seq, time, command, &mut Fills { events: &mut self.events, sink })
    }
}

impl Matcher for FundedCore {
    const NAME: &'static str = "core";
    const RISK: Risk = Risk::On;
    type Step = Command;
    type Refusal = Rejected;

    fn fresh(workload: &Workload) -> FundedCore {
        let mut config = CoreConfig::new(ENGINE);
        config.limits.orders_max = config.limits.orders_max.max(workload.resting_max as u32 + 1);
        let mut funded = FundedCore { core: Core::new(config), seq: 0, events: 0 };
        funded.core.reserve(workload.resting_max as usize + 1);
        for command in opening(workload) {
            let outcome = funded.command(&command, &mut |_| {});
            assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
        }
        funded
    }

    fn steps(workload: &Workload) -> Cow<'_, [Command]> {
        Cow::Owned(commands(workload))
    }

    #[inline]
    fn apply(&mut self, step: &Command, sink: &mut impl FnMut(&Fill)) -> Result<(), Rejected> {
        // As the sequencer does before every command.
        while self.core.next_due() <= Timestamp(self.seq) {
            self.command(&Command::Tick, sink);
        }
        match self.command(step, sink) {
            Outcome::Rejected { reason } => Err(Rejected(reason)),
            _ => Ok(()),
        }
    }

    fn standing(&self) -> Standing {
        standing(&self.core)
    }
}
