//! Resuming a private stream: replayed messages are queued before live ones.

use super::{Item, Outbox, OutboxLimits, State};
use axum::extract::ws::Utf8Bytes;
use rialto_desk::Subscription;
use rialto_model::Seq;
use std::time::Duration;

/// The share of the queue that the replay may use, in quarters.
const PAST_SHARE: usize = 2;

/// Whether a replayed message was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queued {
    Yes,
    /// There is no room, or the subscription has ended.
    No,
}

/// A subscription that is being replayed.
pub(super) struct Resuming {
    pub(super) subscription: Subscription,
    /// The sequence up to which it is replayed.
    pub(super) reached: Seq,
    /// The sequence after which it receives live messages, once it has joined.
    pub(super) joined: Option<Seq>,
    /// Live messages that arrived during the replay.
    pub(super) live: Vec<Item>,
    /// The length of their texts.
    pub(super) live_bytes: usize,
}

impl Outbox {
    /// Begins to resume a prepared subscription: [`Outbox::past`] queues its replay, and live
    /// messages are held until [`Outbox::caught_up`].
    pub(crate) fn resume(&self, subscription: Subscription, after: Seq) {
        let mut state = self.lock();
        let (live, live_bytes) = (Vec::new(), 0);
        let resuming = Resuming { subscription, reached: after, joined: None, live, live_bytes };
        state.resuming = Some(resuming);
        state.queue.push_back(Item::Joined(subscription, after));
        self.ready.notify_one();
    }

    /// Waits until there is room for more of the replay; `false` if the subscription has ended. A
    /// connection without room for `patience` is too slow.
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
                // Not for single messages, because each replay step has a cost.
                if self.share_taken(&state) < PAST_SHARE / 2 {
                    return true;
                }
            }
            if tokio::time::timeout(patience, self.room.notified()).await.is_err() {
                self.too_slow();
            }
        }
    }

    /// The used share of the queue in quarters, without the held live messages, which are sent only
    /// after the replay.
    fn share_taken(&self, state: &State) -> usize {
        let OutboxLimits { messages, bytes, .. } = self.limits;
        let (live_texts, live_bytes) =
            state.resuming.as_ref().map_or((0, 0), |it| (it.live.len(), it.live_bytes));
        let (texts, taken) = (state.texts - live_texts, state.bytes - live_bytes);
        (4 * texts / messages.max(1)).max(4 * taken / bytes.max(1))
    }

    /// Queues a replayed message, if there is room and the subscription exists.
    pub(crate) fn past(&self, subscription: Subscription, seq: Seq, text: Utf8Bytes) -> Queued {
        let mut state = self.lock();
        let is_wanted = state.end.is_none() && state.subscriptions.contains_key(&subscription);
        // Half of the queue is reserved for live messages.
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

    /// Waits for the sequence after which the resumed subscription receives live messages; `None`
    /// if the connection ended.
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

    /// The replay is queued; the held live messages follow.
    pub(crate) fn caught_up(&self) {
        let mut state = self.lock();
        if let Some(resuming) = state.resuming.take() {
            state.queue.extend(resuming.live);
            state.complete = state.complete.max(resuming.joined.unwrap_or_default());
            self.ready.notify_one();
        }
    }
}
