//! Counts of withdrawals by state.

use crate::withdrawal::State;

/// Counts of withdrawals by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; State::ALL.len()]);

impl Tally {
    /// The number in this state.
    #[must_use]
    pub fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// The number that have not ended.
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
