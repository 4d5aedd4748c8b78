//! Waiting until the messages that a topic has accepted can be read.

use super::{Lane, Topic};
use crate::error::QueueError;
use std::sync::Arc;
use std::task::Poll;

impl Topic {
    /// Returns when all messages that were accepted so far are visible. Does nothing if they are.
    pub(crate) async fn visible(self: &Arc<Self>) -> Result<(), QueueError> {
        if self.mounting.is_some() {
            return Ok(());
        }
        let accepted: Vec<_> =
            self.filling().lanes.iter().map(|lane| lane.next_seq.saturating_sub(1)).collect();
        for (lane, last) in self.lanes.iter().zip(accepted) {
            self.lane_visible(lane, last).await?;
        }
        Ok(())
    }

    async fn lane_visible(&self, lane: &Lane, last: u64) -> Result<(), QueueError> {
        std::future::poll_fn(|context| {
            for is_registered in [false, true] {
                if lane.visible() >= last {
                    return Poll::Ready(Ok(()));
                }
                if let Err(error) = self.check_writable() {
                    return Poll::Ready(Err(error));
                }
                if !is_registered {
                    lane.arrivals.register(last, context.waker());
                }
            }
            Poll::Pending
        })
        .await
    }
}
