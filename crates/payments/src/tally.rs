//! How many withdrawals there are, by their states.

use crate::withdrawal::State;

/// How many withdrawals are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; State::ALL.len()]);

impl Tally {
    /// How many are in this state.
    #[must_use]
    pub fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// How many have not ended.
    #[must_use]
    pub fn open(&self) -> u64 {
        let open = State::ALL.into_iter().filter(|state| !state.is_ended());
        open.map(|state| self.of(state)).sum()
    }

    pub(crate) fn add(&mut self, state: State) {
        self.0[state as usize] += 1;
    }

    pub(crate) fn take(&mut self, state: State) {
        self.0[state as usize] -= 1;
    }
}
