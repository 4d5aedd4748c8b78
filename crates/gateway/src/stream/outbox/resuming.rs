//! The past of a private stream, queued before what is told of it now.

use super::{Item, Outbox, OutboxLimits, State};
use axum::extract::ws::Utf8Bytes;
use rialto_desk::Subscription;
use rialto_model::Seq;
use std::time::Duration;

/// How much of the room the past may take, in quarters.
const PAST_SHARE: usize = 2;

/// Whether something of the past was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queued {
    Yes,
    /// There is no room for it now, or nobody wants it.
    No,
}

/// A subscription whose past is being queued.
pub(super) struct Resuming {
    pub(super) subscription: Subscription,
    /// How far its past has been queued.
    pub(super) reached: Seq,
    /// After which sequence it gets everything live, once that is known.
    pub(super) joined: Option<Seq>,
    /// What came live while its past was queued.
    pub(super) live: Vec<Item>,
    /// How long the texts of that are.
    pub(super) live_bytes: usize,
}

impl Outbox {
    /// Begins to resume a prepared subscription: its past is queued by [`Outbox::past`], and what
    /// comes live is held back until [`Outbox::caught_up`].
    pub(crate) fn resume(&self, subscription: Subscription, after: Seq) {
        let mut state = self.lock();
        let (live, live_bytes) = (Vec::new(), 0);
        let resuming = Resuming { subscription, reached: after, joined: None, live, live_bytes };
        state.resuming = Some(resuming);
        state.queue.push_back(Item::Joined(subscription, after));
        self.ready.notify_one();
    }

    /// Waits until there is room for more of the past; `false` if nobody wants it any more. A
    /// connection that takes nothing within `patience` is too slow.
    pub(crate) async fn has_room_for_past(
        &self,
        subscription: Subscription,
        patience: Duration,
    ) -> bool {
        loop {
            {
                let state = self.lock();
                if state.end.is_some() || !state.subscriptions.contains_key(&subscription) {
                    return false;
                }
                // Not for each message alone, because whoever reads the past begins anew each time.
                if self.share_taken(&state) < PAST_SHARE / 2 {
                    return true;
                }
            }
            if tokio::time::timeout(patience, self.room.notified()).await.is_err() {
                self.too_slow();
            }
        }
    }

    /// How much of the room is taken, in quarters, by all but what came live and is held back: that
    /// can only go when the past is queued.
    fn share_taken(&self, state: &State) -> usize {
        let OutboxLimits { messages, bytes, .. } = self.limits;
        let (live_texts, live_bytes) =
            state.resuming.as_ref().map_or((0, 0), |it| (it.live.len(), it.live_bytes));
        let (texts, taken) = (state.texts - live_texts, state.bytes - live_bytes);
        (4 * texts / messages.max(1)).max(4 * taken / bytes.max(1))
    }

    /// Queues something of the past, if there is room and anybody wants it.
    pub(crate) fn past(&self, subscription: Subscription, seq: Seq, text: Utf8Bytes) -> Queued {
        let mut state = self.lock();
        let is_wanted = state.end.is_none() && state.subscriptions.contains_key(&subscription);
        // Half of the room is left to what happens meanwhile.
        if !is_wanted || self.share_taken(&state) >= PAST_SHARE {
            return Queued::No;
        }
        if let Some(resuming) = &mut state.resuming {
            resuming.reached = seq;
        }
        state.push(Some(subscription), seq, text);
        self.ready.notify_one();
        Queued::Yes
    }

    /// Waits until the hub has told after which sequence the subscription that is being resumed
    /// gets everything live; `None` if the connection ended.
    pub(crate) async fn joined_after(&self) -> Option<Seq> {
        loop {
            {
                let state = self.lock();
                if state.end.is_some() {
                    return None;
                }
                if let Some(seq) = state.resuming.as_ref()?.joined {
                    return Some(seq);
                }
            }
            self.room.notified().await;
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
