//! Resuming a private stream: its past from the event log, then on without gap or repetition.

use super::message;
use super::outbox::Outbox;
use rialto_desk::{Past, PrivateChannel, ReadEventsError, Subscribed, Subscription};
use rialto_model::{AccountId, Seq};
use std::sync::Arc;
use std::time::Duration;

/// How close to the present a replay must have come before it joins the live stream, in commands:
/// what comes live from then on has to be held in memory.
const NEAR: u64 = 4_096;

/// One private stream to be resumed.
pub(super) struct Replay {
    pub(super) past: Past,
    pub(super) channel: PrivateChannel,
    pub(super) account: AccountId,
    pub(super) outbox: Arc<Outbox>,
    /// How long it may take the client to make room.
    pub(super) patience: Duration,
}

impl Replay {
    pub(super) fn subscription(&self) -> Subscription {
        Subscription::Own(self.channel, self.account)
    }

    /// Queues the past and joins the live stream, unless nobody wants it any more. From a thread
    /// that may wait.
    pub(super) fn run(mut self) -> Result<Option<Subscribed>, ReadEventsError> {
        loop {
            let told = self.past.told();
            if told.0.saturating_sub(self.past.reached().0) < NEAR {
                break;
            }
            if !self.read_through(told)? {
                return Ok(None);
            }
        }
        let subscribed = self.past.join(Arc::clone(&self.outbox) as _);
        if let Some(joined) = self.outbox.joined_after()
            && self.read_through(joined)?
        {
            self.outbox.caught_up();
        }
        Ok(Some(subscribed))
    }

    /// Queues what is the account's own up to `last`; `false` if nobody wants it any more.
    fn read_through(&mut self, last: Seq) -> Result<bool, ReadEventsError> {
        let (channel, account) = (self.channel, self.account);
        let Replay { past, outbox, patience, .. } = self;
        let subscription = past.subscription();
        past.read_through(last, *patience, |seq, time, events, names| {
            let text = message::own(channel, account, seq, time, events, names);
            text.is_none_or(|text| outbox.past(subscription, seq, text, *patience))
        })
    }
}
