//! Counts how calls whose members may not cancel are left, by orders and by the calls themselves.

use super::super::Reference;
use super::Coverage;
use rialto_model::{Command, DoneReason, Event, InstrumentId, InstrumentState, Timestamp};

/// The instruments whose orders members may not cancel at this time.
pub fn in_no_cancel_period(now: &Reference, time: Timestamp) -> Vec<InstrumentId> {
    let bound = now.instruments.iter().filter(|listed| {
        let from = listed.call.and_then(|call| call.no_cancel_from);
        from.is_some_and(|from| from <= time)
    });
    bound.map(|listed| listed.instrument.id).collect()
}

impl Coverage {
    /// `bound` is [`in_no_cancel_period`] before the command.
    pub fn note_no_cancel(&mut self, command: &Command, events: &[Event], bound: &[InstrumentId]) {
        let extends = |instrument: &InstrumentId| {
            events.iter().any(
                |event| matches!(event, Event::Interrupted(it) if it.instrument == *instrument),
            )
        };
        for event in events {
            match event {
                Event::Done(done) if bound.contains(&done.instrument) => {
                    match (done.reason, command) {
                        (DoneReason::Restricted, Command::Restrict(set)) => {
                            let by = if set.by_member { "kill switch" } else { "operator" };
                            self.saw(format!("{by} cancelled in a no-cancel period"));
                        }
                        (DoneReason::DeadMan | DoneReason::Disconnected, _) => {
                            self.saw("lost connection cancelled in a no-cancel period");
                        }
                        _ => {}
                    }
                }
                Event::InstrumentStateSet { instrument, state } if bound.contains(instrument) => {
                    match state {
                        InstrumentState::Halted => self.saw("no-cancel period halted"),
                        InstrumentState::Uncrossing if extends(instrument) => {
                            self.saw("call extended after its no-cancel period");
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
}
