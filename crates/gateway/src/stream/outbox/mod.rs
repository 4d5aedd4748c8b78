//! The bounded queue of messages for one connection.
//!
//! Books, best prices and tickers are conflated: at most one message of each waits. All other
//! messages are queued. When the queue is full, the connection is too slow and is closed with the
//! sequence from which it can resume.

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

/// The limits of an outbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutboxLimits {
    /// Messages in the queue.
    pub(crate) messages: usize,
    /// Their bytes.
    pub(crate) bytes: usize,
    /// Changed levels of one book; beyond it, a new snapshot of the book is sent.
    pub(crate) levels: usize,
}

/// The next message to send.
#[derive(Debug)]
pub(crate) enum Next {
    /// A text.
    Text(Utf8Bytes),
    /// The confirmation of a subscription that begins after this sequence.
    Joined(Subscription, Seq),
    /// A snapshot, to be read from the feed; then [`Outbox::was_read`] must be called.
    Whole(Subscription),
    /// A delta.
    Delta(BookDelta),
    /// The end.
    End(End),
}

/// The reason for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The connection was too slow. Its private streams, if there are any, are complete up to this
    /// sequence.
    TooSlow(Option<Seq>),
    /// The venue is stopping.
    Closed,
}

/// The messages for one connection.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Notified when a message is ready.
    ready: Notify,
    /// Notified at the end.
    over: Notify,
    /// Notified when there is room, or a resumed subscription has joined; one task waits for it.
    room: Notify,
    limits: OutboxLimits,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Item>,
    texts: usize,
    bytes: usize,
    subscriptions: HashMap<Subscription, Entry>,
    /// The subscription that is being resumed, with its live messages.
    resuming: Option<Resuming>,
    /// The sequence up to which the private streams were complete when none of their messages
    /// waited.
    complete: Seq,
    /// The sequence of the private event that was taken last, until it is certainly sent.
    in_hand: Option<Seq>,
    end: Option<End>,
}

struct Entry {
    /// Publications up to this sequence are ignored or were read otherwise.
    floor: Seq,
    joined: bool,
    kind: Kind,
}

enum Kind {
    Events,
    Book(BookSlot),
    Top {
        queued: bool,
    },
    /// The last state of a ticker or an auction that waits.
    State(Option<(Seq, Utf8Bytes)>),
}

enum Item {
    Text {
        subscription: Option<Subscription>,
        seq: Seq,
        text: Utf8Bytes,
    },
    Joined(Subscription, Seq),
    /// The snapshot of a subscription.
    Whole(Subscription),
    /// A conflated message.
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
        // No code here panics between two dependent changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares a subscription before it joins the hub; `false` if it exists.
    pub(crate) fn prepare(&self, subscription: Subscription) -> bool {
        let mut state = self.lock();
        if state.subscriptions.contains_key(&subscription) {
            return false;
        }
        let kind = match subscription {
            Subscription::Book(_) => Kind::Book(BookSlot::new(self.limits.levels)),
            Subscription::Top(_) => Kind::Top { queued: true },
            Subscription::Ticker(_) | Subscription::Auction(_) => Kind::State(None),
            Subscription::Trades(_) | Subscription::Own(..) => Kind::Events,
        };
        let entry = Entry { floor: Seq::ZERO, joined: false, kind };
        state.subscriptions.insert(subscription, entry);
        true
    }

    /// Removes a subscription and its messages; `false` if there is none.
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

    /// Queues an answer to a request.
    pub(crate) fn answer(&self, text: Utf8Bytes) {
        let mut state = self.lock();
        if self.has_room(&mut state, None, Seq::ZERO, &text) {
            state.push(None, Seq::ZERO, text);
            self.ready.notify_one();
        }
    }

    /// Queues a heartbeat, unless a replay is in progress.
    pub(crate) fn heartbeat(&self, text: Utf8Bytes) {
        if self.lock().resuming.is_none() {
            self.answer(text);
        }
    }

    /// Whether there is room for one more text; otherwise ends the connection as too slow.
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
            // The event that does not fit is lost; earlier ones of its command may be queued.
            let own = matches!(subscription, Some(Subscription::Own(..)));
            let before = if own { Seq(seq.0.saturating_sub(1)) } else { Seq(u64::MAX) };
            let complete = state.complete().map(|complete| complete.min(before));
            self.finish(state, End::TooSlow(complete));
        }
        fits && state.end.is_none()
    }

    /// The connection does not receive its messages.
    pub(crate) fn too_slow(&self) {
        let mut state = self.lock();
        let complete = state.complete();
        self.finish(&mut state, End::TooSlow(complete));
    }

    /// Ends the outbox: nothing more is published.
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

    /// Waits for the end, independent of messages in progress.
    pub(crate) async fn ended(&self) {
        loop {
            // Created before the check, so that no notification is missed.
            let over = self.over.notified();
            if self.lock().end.is_some() {
                return;
            }
            over.await;
        }
    }

    /// Waits for the next message.
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
        // The caller has sent the message before.
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

    /// The snapshot of the subscription was read as of `seq`.
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

    /// A subscription that has joined; publications for an earlier one are ignored.
    fn heard(&mut self, subscription: Subscription) -> Option<&mut Kind> {
        if self.end.is_some() {
            return None;
        }
        let entry = self.subscriptions.get_mut(&subscription)?;
        entry.joined.then_some(&mut entry.kind)
    }

    /// The sequence up to which the private streams are complete if nothing more is sent: before
    /// all of their waiting messages. `None` if there are none.
    fn complete(&self) -> Option<Seq> {
        let is_own = |subscription: &Subscription| matches!(subscription, Subscription::Own(..));
        self.subscriptions.keys().find(|subscription| is_own(subscription))?;
        let waiting = self.queue.iter().filter_map(Item::own_seq).chain(self.in_hand).min();
        let sent = waiting.map_or(self.complete, |first| Seq(first.0.saturating_sub(1)));
        Some(self.resuming.as_ref().map_or(sent, |resuming| sent.min(resuming.reached)))
    }

    /// Takes a conflated message.
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
            Kind::State(waits) => match waits.take() {
                // An indicative price has the sequence of the last command, and may be computed
                // after the state of that sequence was read. A state sent twice does no harm.
                Some((seq, text)) => (seq >= entry.floor).then_some(Next::Text(text)),
                None => Some(Next::Whole(subscription)),
            },
            Kind::Events => Some(Next::Whole(subscription)),
        }
    }
}

#[cfg(test)]
mod tests;
