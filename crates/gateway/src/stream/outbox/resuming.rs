//! The past of a private stream, queued before what is told of it now.

use super::{End, Item, Outbox, State};
use axum::extract::ws::Utf8Bytes;
use rialto_desk::Subscription;
use rialto_model::Seq;
use std::sync::PoisonError;
use std::time::Duration;

/// A subscription whose past is being queued.
pub(super) struct Resuming {
    pub(super) subscription: Subscription,
    /// How far its past has been queued.
    pub(super) reached: Seq,
    /// After which sequence it gets everything live, once that is known.
    pub(super) joined: Option<Seq>,
    /// What came live while its past was queued.
    pub(super) live: Vec<Item>,
}

impl Outbox {
    /// Begins to resume a prepared subscription: its past is queued by [`Outbox::past`], and what
    /// comes live is held back until [`Outbox::caught_up`].
    pub(crate) fn resume(&self, subscription: Subscription, after: Seq) {
        let mut state = self.lock();
        let live = Vec::new();
        state.resuming = Some(Resuming { subscription, reached: after, joined: None, live });
        state.queue.push_back(Item::Joined(subscription, after));
        self.ready.notify_one();
    }

    /// Queues something of the past, as soon as there is room; `false` if nobody wants it any more.
    /// A connection that makes no room within `patience` is too slow. To be called from a thread
    /// that may wait.
    pub(crate) fn past(
        &self,
        subscription: Subscription,
        seq: Seq,
        text: Utf8Bytes,
        patience: Duration,
    ) -> bool {
        // Half of the room is left to what happens meanwhile.
        let is_full = |state: &mut State| {
            state.end.is_none()
                && (state.texts >= self.limits.messages / 2 || state.bytes >= self.limits.bytes / 2)
        };
        let waited = self.room.wait_timeout_while(self.lock(), patience, is_full);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            let complete = state.complete();
            self.finish(&mut state, End::TooSlow(complete));
        }
        if state.end.is_some() || !state.subscriptions.contains_key(&subscription) {
            return false;
        }
        if let Some(resuming) = &mut state.resuming {
            resuming.reached = seq;
        }
        state.push(Some(subscription), seq, text);
        self.ready.notify_one();
        true
    }

    /// Waits until the hub has told after which sequence the subscription that is being resumed
    /// gets everything live; `None` if the connection ended. From a thread that may wait.
    pub(crate) fn joined_after(&self) -> Option<Seq> {
        let mut state = self.lock();
        loop {
            if state.end.is_some() {
                return None;
            }
            match state.resuming.as_ref()?.joined {
                Some(seq) => return Some(seq),
                None => state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// The past of a subscription has been queued; what came live meanwhile follows.
    pub(crate) fn caught_up(&self) {
        let mut state = self.lock();
        if let Some(resuming) = state.resuming.take() {
            state.queue.extend(resuming.live);
            state.complete = state.complete.max(resuming.joined.unwrap_or_default());
            self.ready.notify_one();
        }
    }
}
