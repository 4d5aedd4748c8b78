//! Messages that were given up and are not among the dead letters yet.

use super::terms::Death;
use crate::message::MessageId;

/// The longest detail that is kept with a dead letter.
const DETAIL_BYTES_MAX: usize = 1_024;
/// The details that a group keeps while dead letters wait. Those that come then have none.
const DETAILS_BYTES_MAX: usize = 1 << 20;

/// The messages of a group that wait to become dead letters.
#[derive(Debug, Default)]
pub(crate) struct Dying {
    deaths: Vec<Death>,
    detail_bytes: usize,
}

impl Dying {
    pub(crate) fn is_empty(&self) -> bool {
        self.deaths.is_empty()
    }

    pub(crate) fn push(&mut self, mut death: Death) {
        let mut len = death.detail.len().min(DETAIL_BYTES_MAX);
        while !death.detail.is_char_boundary(len) {
            len -= 1;
        }
        if self.detail_bytes + len > DETAILS_BYTES_MAX {
            len = 0;
        }
        if len < death.detail.len() {
            death.detail = death.detail[..len].to_owned();
        }
        self.detail_bytes += len;
        self.deaths.push(death);
    }

    /// Takes all of them out.
    pub(crate) fn take(&mut self) -> Vec<Death> {
        self.detail_bytes = 0;
        std::mem::take(&mut self.deaths)
    }

    /// Takes those out whose messages are gone.
    pub(crate) fn take_gone(&mut self, is_gone: impl Fn(MessageId) -> bool) -> Vec<Death> {
        let (gone, left) = self.take().into_iter().partition(|death| is_gone(death.id));
        for death in left {
            self.push(death);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::DeathReason;

    fn death(seq: u64, detail: &str) -> Death {
        Death {
            id: MessageId { lane: 0, seq },
            attempts: 1,
            reason: DeathReason::Refused,
            detail: detail.to_owned(),
        }
    }

    #[test]
    fn what_is_kept_of_details_is_bounded() {
        let mut dying = Dying::default();
        // A character of two bytes lies across the bound of one.
        let long = "é".repeat(DETAIL_BYTES_MAX);
        let odd = format!("x{long}");
        dying.push(death(1, &odd));
        (2..2_000).for_each(|seq| dying.push(death(seq, &long)));
        let deaths = dying.take();
        let bytes = |deaths: &[Death]| deaths.iter().map(|it| it.detail.len()).sum::<usize>();
        assert_eq!(deaths.len(), 1_999);
        assert_eq!((deaths[0].detail.len(), deaths[1].detail.len()), (1_023, 1_024));
        assert_eq!((bytes(&deaths), deaths[1_998].detail.as_str()), (DETAILS_BYTES_MAX - 1, ""));
        // What was taken out makes room.
        dying.push(death(2_000, "no"));
        assert_eq!(dying.take()[0].detail, "no");
    }
}
