//! What waits to be sent to one connection, bounded.
//!
//! Books, best prices and tickers are conflated: of each, one message waits at most. Everything
//! else waits in a queue; when that is full, the connection is too slow and is cut off, with the
//! sequence that it may resume from.

mod listening;
mod resuming;
mod slots;

use axum::extract::ws::Utf8Bytes;
pub(crate) use resuming::Queued;
use resuming::Resuming;
use rialto_desk::Subscription;
use rialto_feed::BookDelta;
use rialto_model::Seq;
use slots::{BookSlot, Taken};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How much may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutboxLimits {
    /// Messages in the queue.
    pub(crate) messages: usize,
    /// Their bytes.
    pub(crate) bytes: usize,
    /// Changed levels of one book; when there are more, the whole book is sent anew.
    pub(crate) levels: usize,
}

/// What is to be sent next.
#[derive(Debug)]
pub(crate) enum Next {
    /// This text.
    Text(Utf8Bytes),
    /// That a subscription has begun, after this sequence.
    Joined(Subscription, Seq),
    /// What a subscription begins with: to be read from the feed, and then
    /// [`Outbox::was_read`] is to be called.
    Whole(Subscription),
    /// This delta.
    Delta(BookDelta),
    /// Nothing more.
    End(End),
}

/// Why nothing more is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The connection was too slow. Its private streams, if it has any, are complete up to this
    /// sequence.
    TooSlow(Option<Seq>),
    /// The venue stops.
    Closed,
}

/// What waits to be sent to one connection.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Rung when something waits.
    ready: Notify,
    /// Rung when nothing more is to be sent.
    over: Notify,
    /// Rung when there is room again, or a resumed subscription has joined; one task waits for it.
    room: Notify,
    limits: OutboxLimits,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Item>,
    texts: usize,
    bytes: usize,
    subscriptions: HashMap<Subscription, Entry>,
    /// The subscription that is being resumed, with what came live meanwhile.
    resuming: Option<Resuming>,
    /// How far the private streams were complete when nothing of them waited.
    complete: Seq,
    /// The sequence of the private event that was taken out last, until it is certainly sent.
    in_hand: Option<Seq>,
    end: Option<End>,
}

struct Entry {
    /// What came before this was dropped or read otherwise.
    floor: Seq,
    joined: bool,
    kind: Kind,
}

enum Kind {
    Events,
    Book(BookSlot),
    Top { queued: bool },
    Ticker(Option<(Seq, Utf8Bytes)>),
}

enum Item {
    Text {
        subscription: Option<Subscription>,
        seq: Seq,
        text: Utf8Bytes,
    },
    Joined(Subscription, Seq),
    /// The beginning of a subscription.
    Whole(Subscription),
    /// Something conflated.
    Slot(Subscription),
}

impl Item {
    /// The sequence of a private event.
    fn own_seq(&self) -> Option<Seq> {
        match self {
            Item::Text { subscription: Some(Subscription::Own(..)), seq, .. } => Some(*seq),
            _ => None,
        }
    }
}

impl Outbox {
    pub(crate) fn new(limits: OutboxLimits) -> Outbox {
        Outbox {
            state: Mutex::default(),
            ready: Notify::new(),
            over: Notify::new(),
            room: Notify::new(),
            limits,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing here panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares a subscription, which is then to be brought to the hub; `false` if it exists.
    pub(crate) fn prepare(&self, subscription: Subscription) -> bool {
        let mut state = self.lock();
        if state.subscriptions.contains_key(&subscription) {
            return false;
        }
        let kind = match subscription {
            Subscription::Book(_) => Kind::Book(BookSlot::new(self.limits.levels)),
            Subscription::Top(_) => Kind::Top { queued: true },
            Subscription::Ticker(_) => Kind::Ticker(None),
            Subscription::Trades(_) | Subscription::Own(..) => Kind::Events,
        };
        let entry = Entry { floor: Seq::ZERO, joined: false, kind };
        state.subscriptions.insert(subscription, entry);
        true
    }

    /// Forgets a subscription and what waits of it; `false` if there is none.
    pub(crate) fn forget(&self, subscription: Subscription) -> bool {
        let mut state = self.lock();
        if state.subscriptions.remove(&subscription).is_none() {
            return false;
        }
        if let Some(resuming) = state.resuming.take_if(|it| it.subscription == subscription) {
            state.texts -= resuming.live.len();
            state.bytes -= resuming.live_bytes;
        }
        let State { queue, texts, bytes, .. } = &mut *state;
        queue.retain(|item| match item {
            Item::Text { subscription: Some(of), text, .. } if *of == subscription => {
                *texts -= 1;
                *bytes -= text.len();
                false
            }
            Item::Joined(of, _) | Item::Whole(of) | Item::Slot(of) => *of != subscription,
            Item::Text { .. } => true,
        });
        self.room.notify_one();
        true
    }

    /// An answer to the connection itself.
    pub(crate) fn answer(&self, text: Utf8Bytes) {
        let mut state = self.lock();
        if self.has_room(&mut state, None, Seq::ZERO, &text) {
            state.push(None, Seq::ZERO, text);
            self.ready.notify_one();
        }
    }

    /// Says that everything through `seq` has been told, unless the past is still being queued.
    pub(crate) fn heartbeat(&self, text: Utf8Bytes) {
        if self.lock().resuming.is_none() {
            self.answer(text);
        }
    }

    /// Room for one more text, or the end of a connection that is too slow.
    fn has_room(
        &self,
        state: &mut State,
        subscription: Option<Subscription>,
        seq: Seq,
        text: &Utf8Bytes,
    ) -> bool {
        let fits =
            state.texts < self.limits.messages && state.bytes + text.len() <= self.limits.bytes;
        if !fits && state.end.is_none() {
            // The event that does not fit is lost; others of its command may stand in the queue.
            let own = matches!(subscription, Some(Subscription::Own(..)));
            let before = if own { Seq(seq.0.saturating_sub(1)) } else { Seq(u64::MAX) };
            let complete = state.complete().map(|complete| complete.min(before));
            self.finish(state, End::TooSlow(complete));
        }
        fits && state.end.is_none()
    }

    /// The connection does not take what is sent to it.
    pub(crate) fn too_slow(&self) {
        let mut state = self.lock();
        let complete = state.complete();
        self.finish(&mut state, End::TooSlow(complete));
    }

    /// Nothing more will be told.
    pub(crate) fn close(&self) {
        self.finish(&mut self.lock(), End::Closed);
    }

    fn finish(&self, state: &mut State, end: End) {
        state.end.get_or_insert(end);
        state.queue.clear();
        state.subscriptions.clear();
        state.resuming = None;
        self.ready.notify_one();
        self.over.notify_waiters();
        self.room.notify_one();
    }

    /// Returns when nothing more is to be sent, however much is still on its way.
    pub(crate) async fn ended(&self) {
        loop {
            // Made first, so that an end after the look is not missed.
            let over = self.over.notified();
            if self.lock().end.is_some() {
                return;
            }
            over.await;
        }
    }

    /// What is to be sent next; waits for it.
    pub(crate) async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            self.ready.notified().await;
        }
    }

    fn try_next(&self) -> Option<Next> {
        let mut state = self.lock();
        if let Some(end) = state.end {
            return Some(Next::End(end));
        }
        // Whoever asks for the next one has sent the one before.
        let sent = state.in_hand.take();
        state.complete = state.complete.max(sent.unwrap_or_default());
        while let Some(item) = state.queue.pop_front() {
            let next = match item {
                Item::Text { subscription, seq, text } => {
                    state.texts -= 1;
                    state.bytes -= text.len();
                    self.room.notify_one();
                    if matches!(subscription, Some(Subscription::Own(..))) {
                        state.in_hand = Some(seq);
                    }
                    let floor = |of| state.subscriptions.get(&of).map(|entry| entry.floor);
                    match subscription {
                        Some(of) if floor(of).is_none_or(|floor| seq <= floor) => None,
                        _ => Some(Next::Text(text)),
                    }
                }
                Item::Joined(subscription, seq) => Some(Next::Joined(subscription, seq)),
                Item::Whole(subscription) | Item::Slot(subscription) => state.take(subscription),
            };
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// What the subscription begins with was read from the feed as of `seq`.
    pub(crate) fn was_read(&self, subscription: Subscription, seq: Seq) {
        let mut state = self.lock();
        let Some(entry) = state.subscriptions.get_mut(&subscription) else { return };
        entry.floor = seq;
        if let Kind::Book(slot) = &mut entry.kind
            && slot.was_read(seq)
        {
            state.queue.push_back(Item::Slot(subscription));
            self.ready.notify_one();
        }
    }
}

impl State {
    fn push(&mut self, subscription: Option<Subscription>, seq: Seq, text: Utf8Bytes) {
        self.texts += 1;
        self.bytes += text.len();
        self.queue.push_back(Item::Text { subscription, seq, text });
    }

    /// A subscription for which what is told is meant: what was on its way before it joined is not.
    fn heard(&mut self, subscription: Subscription) -> Option<&mut Kind> {
        if self.end.is_some() {
            return None;
        }
        let entry = self.subscriptions.get_mut(&subscription)?;
        entry.joined.then_some(&mut entry.kind)
    }

    /// How far the private streams will be complete if nothing more is sent: before everything of
    /// them that waits. `None` if there are none.
    fn complete(&self) -> Option<Seq> {
        let is_own = |subscription: &Subscription| matches!(subscription, Subscription::Own(..));
        self.subscriptions.keys().find(|subscription| is_own(subscription))?;
        let waiting = self.queue.iter().filter_map(Item::own_seq).chain(self.in_hand).min();
        let sent = waiting.map_or(self.complete, |first| Seq(first.0.saturating_sub(1)));
        Some(self.resuming.as_ref().map_or(sent, |resuming| sent.min(resuming.reached)))
    }

    /// What waits of something conflated.
    fn take(&mut self, subscription: Subscription) -> Option<Next> {
        let entry = self.subscriptions.get_mut(&subscription)?;
        match &mut entry.kind {
            Kind::Book(slot) => match slot.take() {
                Taken::Nothing => None,
                Taken::Whole => Some(Next::Whole(subscription)),
                Taken::Text(text) => Some(Next::Text(text)),
                Taken::Delta(delta) => Some(Next::Delta(delta)),
            },
            Kind::Top { queued } => {
                *queued = false;
                Some(Next::Whole(subscription))
            }
            Kind::Ticker(waits) => match waits.take() {
                Some((seq, text)) => (seq > entry.floor).then_some(Next::Text(text)),
                None => Some(Next::Whole(subscription)),
            },
            Kind::Events => Some(Next::Whole(subscription)),
        }
    }
}

#[cfg(test)]
mod tests;
