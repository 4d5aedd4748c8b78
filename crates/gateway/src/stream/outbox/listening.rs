//! The outbox as a listener of the live feed.

use super::{Item, Kind, Outbox};
use crate::stream::message;
use axum::extract::ws::Utf8Bytes;
use rialto_desk::{Content, Listener, PrivateChannel, Publication, Subscription};
use rialto_feed::BookDelta;
use rialto_model::{InstrumentId, Seq};
use std::sync::Arc;

impl Listener for Outbox {
    fn joined(&self, subscription: Subscription, seq: Seq) {
        let mut state = self.lock();
        let Some(entry) = state.subscriptions.get_mut(&subscription) else { return };
        entry.joined = true;
        if let Some(resuming) = &mut state.resuming
            && resuming.subscription == subscription
        {
            resuming.joined = Some(seq);
            self.room.notify_one();
            return;
        }
        if matches!(subscription, Subscription::Own(..)) {
            state.complete = state.complete.max(seq);
        }
        state.queue.push_back(Item::Joined(subscription, seq));
        let begins_whole = match subscription {
            Subscription::Book(_)
            | Subscription::Top(_)
            | Subscription::Ticker(_)
            | Subscription::Auction(_) => true,
            Subscription::Own(channel, _) => channel != PrivateChannel::Fills,
            Subscription::Trades(_) => false,
        };
        if begins_whole {
            state.queue.push_back(Item::Whole(subscription));
        }
        self.ready.notify_one();
    }

    fn publish(&self, publication: &Publication<'_>) {
        match (publication.subscription, publication.content) {
            // The best levels are read when they are sent.
            (Subscription::Top(instrument), _) => self.top_changed(instrument),
            (_, content) => {
                let Some(text) = publication.form(message::publication) else { return };
                match content {
                    Content::Book(delta) => self.delta(delta, &text),
                    Content::Ticker(_) | Content::Auction(_) => {
                        self.state(publication.subscription, publication.seq, &text);
                    }
                    _ => self.event(publication.subscription, publication.seq, &text),
                }
            }
        }
    }

    fn closed(&self) {
        self.close();
    }
}

impl Outbox {
    /// Queues an event that must not be lost.
    pub(super) fn event(&self, subscription: Subscription, seq: Seq, text: &Utf8Bytes) {
        let mut state = self.lock();
        if state.heard(subscription).is_none()
            || !self.has_room(&mut state, Some(subscription), seq, text)
        {
            return;
        }
        match &mut state.resuming {
            Some(resuming) if resuming.subscription == subscription => {
                let (subscription, text) = (Some(subscription), text.clone());
                let len = text.len();
                resuming.live.push(Item::Text { subscription, seq, text });
                resuming.live_bytes += len;
                state.texts += 1;
                state.bytes += len;
            }
            _ => state.push(Some(subscription), seq, text.clone()),
        }
        self.ready.notify_one();
    }

    /// Levels of a book changed.
    pub(super) fn delta(&self, delta: &Arc<BookDelta>, text: &Utf8Bytes) {
        let subscription = Subscription::Book(delta.instrument);
        let mut state = self.lock();
        if let Some(Kind::Book(slot)) = state.heard(subscription)
            && slot.add(delta, text)
        {
            state.queue.push_back(Item::Slot(subscription));
            self.ready.notify_one();
        }
    }

    /// A book with subscribed best levels changed.
    pub(super) fn top_changed(&self, instrument: InstrumentId) {
        let subscription = Subscription::Top(instrument);
        let mut state = self.lock();
        if let Some(Kind::Top { queued }) = state.heard(subscription)
            && !std::mem::replace(queued, true)
        {
            state.queue.push_back(Item::Slot(subscription));
            self.ready.notify_one();
        }
    }

    /// A ticker or an auction changed.
    pub(super) fn state(&self, subscription: Subscription, seq: Seq, text: &Utf8Bytes) {
        let mut state = self.lock();
        if let Some(Kind::State(waits)) = state.heard(subscription)
            && waits.replace((seq, text.clone())).is_none()
        {
            state.queue.push_back(Item::Slot(subscription));
            self.ready.notify_one();
        }
    }
}
