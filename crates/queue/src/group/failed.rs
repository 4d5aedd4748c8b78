//! Messages whose last attempt failed, and which are not in their dead-letter topic yet.

use super::terms::FailedMessage;
use crate::message::MessageId;

/// The longest detail that is kept with a dead letter.
const DETAIL_BYTES_MAX: usize = 1_024;
/// The details that a group keeps while messages wait for their dead-letter topic. Beyond it, messages
/// lose their details.
const DETAILS_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct FailedMessages {
    failures: Vec<FailedMessage>,
    detail_bytes: usize,
}

impl FailedMessages {
    pub(crate) fn is_empty(&self) -> bool {
        self.failures.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.failures.len()
    }

    pub(crate) fn push(&mut self, mut failure: FailedMessage) {
        let mut len = failure.detail.len().min(DETAIL_BYTES_MAX);
        while !failure.detail.is_char_boundary(len) {
            len -= 1;
        }
        if self.detail_bytes + len > DETAILS_BYTES_MAX {
            len = 0;
        }
        if len < failure.detail.len() {
            failure.detail = failure.detail[..len].to_owned();
        }
        self.detail_bytes += len;
        self.failures.push(failure);
    }

    /// Takes all of them out.
    pub(crate) fn take(&mut self) -> Vec<FailedMessage> {
        self.detail_bytes = 0;
        std::mem::take(&mut self.failures)
    }

    /// Takes those out that retention has dropped.
    pub(crate) fn take_gone(&mut self, is_gone: impl Fn(MessageId) -> bool) -> Vec<FailedMessage> {
        let (gone, left) = self.take().into_iter().partition(|failure| is_gone(failure.id));
        for failure in left {
            self.push(failure);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::DeadLetterReason;

    fn failure(seq: u64, detail: &str) -> FailedMessage {
        FailedMessage {
            id: MessageId { lane: 0, seq },
            attempts: 1,
            reason: DeadLetterReason::Refused,
            detail: detail.to_owned(),
        }
    }

    #[test]
    fn kept_details_are_bounded() {
        let mut failed = FailedMessages::default();
        // A character of two bytes spans the bound.
        let long = "é".repeat(DETAIL_BYTES_MAX);
        let odd = format!("x{long}");
        failed.push(failure(1, &odd));
        (2..2_000).for_each(|seq| failed.push(failure(seq, &long)));
        let failures = failed.take();
        let bytes =
            |failures: &[FailedMessage]| failures.iter().map(|it| it.detail.len()).sum::<usize>();
        assert_eq!(failures.len(), 1_999);
        assert_eq!((failures[0].detail.len(), failures[1].detail.len()), (1_023, 1_024));
        assert_eq!(
            (bytes(&failures), failures[1_998].detail.as_str()),
            (DETAILS_BYTES_MAX - 1, "")
        );
        // What was taken out makes room.
        failed.push(failure(2_000, "no"));
        assert_eq!(failed.take()[0].detail, "no");
    }
}
