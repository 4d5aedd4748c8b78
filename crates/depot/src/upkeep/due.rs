//! Work that is repeated by period.

use rialto_clock::Timestamp;
use std::time::Duration;

/// When something is due again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Due {
    at: Timestamp,
}

impl Due {
    pub(crate) fn at(at: Timestamp) -> Self {
        Self { at }
    }

    /// Whether it is due. A clock that was set back does not stop it for longer than the period.
    pub(crate) fn is_due(self, now: Timestamp, period: Duration) -> bool {
        now >= self.at || self.at > now.after(period)
    }

    /// It is due again when the period has passed.
    pub(crate) fn next(&mut self, now: Timestamp, period: Duration) {
        self.at = now.after(period);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_by_period_and_when_the_clock_is_set_back() {
        let period = Duration::from_nanos(10);
        let mut due = Due::at(Timestamp(5));
        assert!(!due.is_due(Timestamp(4), period));
        assert!(due.is_due(Timestamp(5), period));
        due.next(Timestamp(100), period);
        assert!(!due.is_due(Timestamp(109), period));
        assert!(due.is_due(Timestamp(110), period));
        assert!(due.is_due(Timestamp(99), period));
    }
}
