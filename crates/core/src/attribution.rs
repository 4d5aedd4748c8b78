//! Operators' commands say who sent them, and why.
//!
//! Nothing is decided by it, and the state does not have it: it goes from the command to the events,
//! also of a refused command.

use crate::{Core, EventSink};
use rialto_model::{Attributed, Attribution, Command, Event, Outcome, Seq, Timestamp};

/// The first version of the rules with attributions.
const WITH_ATTRIBUTIONS: u32 = 4;

impl Core {
    /// Whether the version of the rules in force knows attributions. Under an older one, commands
    /// are journaled without.
    #[must_use]
    pub fn knows_attributions(&self) -> bool {
        self.rules_version >= WITH_ATTRIBUTIONS
    }

    /// As [`Core::apply`]; if there is an attribution, it is the first event. A version of the rules
    /// that does not know attributions ignores it.
    ///
    /// # Panics
    /// As [`Core::apply`].
    #[inline]
    pub fn apply_attributed<S: EventSink>(
        &mut self,
        seq: Seq,
        time: Timestamp,
        command: &Command,
        attribution: Option<&Attribution>,
        sink: &mut S,
    ) -> Outcome {
        if let Some(attribution) = attribution {
            self.attribute(command, attribution, sink);
        }
        self.apply(seq, time, command, sink)
    }

    #[cold]
    #[inline(never)]
    fn attribute<S: EventSink>(&self, command: &Command, attribution: &Attribution, sink: &mut S) {
        if self.knows_attributions() {
            let attributed = Attributed { command: command.kind(), attribution: *attribution };
            sink.event(&Event::Attributed(attributed));
        }
    }
}
