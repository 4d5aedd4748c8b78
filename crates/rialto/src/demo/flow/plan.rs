//! The commands that simulated members plan, and the receivers of their answers.

use rialto_model::Command;

/// Commands to submit, with the receivers of their answers.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<(Purpose, Command)>,
}

impl Plan {
    pub(super) fn add(&mut self, purpose: Purpose, command: Command) {
        self.steps.push((purpose, command));
    }
}

/// The receiver of a command's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Nobody.
    Plain,
    /// A maker, for the quote in this slot.
    Quote(u32),
    /// A crowd, for the list that the order belongs into.
    Standing(u32),
    /// A taker, for the list of orders that wait for an auction.
    Waiting(u32),
    /// A taker, for the conditional orders of this market.
    Conditional(u32),
}

impl Purpose {
    /// As the token that comes back with the reply.
    pub(super) fn token(self) -> u64 {
        match self {
            Purpose::Plain => 0,
            Purpose::Quote(slot) => 1 << 32 | u64::from(slot),
            Purpose::Standing(list) => 2 << 32 | u64::from(list),
            Purpose::Waiting(list) => 3 << 32 | u64::from(list),
            Purpose::Conditional(market) => 4 << 32 | u64::from(market),
        }
    }

    pub(super) fn of(token: u64) -> Purpose {
        let number = token as u32;
        match token >> 32 {
            1 => Purpose::Quote(number),
            2 => Purpose::Standing(number),
            3 => Purpose::Waiting(number),
            4 => Purpose::Conditional(number),
            _ => Purpose::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_lead_back() {
        let lists = [Purpose::Standing(u32::MAX), Purpose::Waiting(7), Purpose::Conditional(2)];
        for purpose in [Purpose::Plain, Purpose::Quote(0)].into_iter().chain(lists) {
            assert_eq!(Purpose::of(purpose.token()), purpose);
        }
    }
}
