//! The outbox and the inbox of a store in memory.

use super::message::{
    Backlog, ClaimedMessage, DeadMessage, InboxMark, MessageNumber, OutboxMessage,
};
use super::ordering::OrderedMessages;
use super::record::{Settlement, Standing};
use crate::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::time::Duration;

struct StoredMessage {
    content: OutboxMessage,
    standing: Standing,
    /// The claim that holds it, if one does: its token and its end.
    claim: Option<(u64, Timestamp)>,
}

impl StoredMessage {
    /// When it may be claimed.
    fn due(&self) -> Timestamp {
        match self.claim {
            Some((_, until)) => until.max(self.standing.due),
            None => self.standing.due,
        }
    }
}

#[derive(Default)]
pub(super) struct Messages {
    messages: BTreeMap<MessageNumber, StoredMessage>,
    /// The messages that are first of their ordering key, or have none, by due time.
    queue: BTreeSet<(Timestamp, MessageNumber)>,
    ordered: OrderedMessages,
    dead: BTreeSet<MessageNumber>,
    /// The marks, by sender and key, with their expiry.
    marks: HashMap<(String, String), Timestamp>,
    expiry: BTreeSet<(Timestamp, String, String)>,
    next: u64,
    next_token: u64,
    weight: usize,
}

impl Messages {
    pub(super) fn next(&self) -> MessageNumber {
        MessageNumber(self.next)
    }

    pub(super) fn set_next_at_least(&mut self, next: MessageNumber) {
        self.next = self.next.max(next.0);
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn backlog(&self) -> Backlog {
        let dead = self.dead.len();
        Backlog { waiting: self.messages.len() - dead, dead }
    }

    pub(super) fn marks(&self) -> usize {
        self.marks.len()
    }

    /// The approximate bytes of an image of everything.
    pub(super) fn weight(&self) -> usize {
        self.weight + self.marks.len() * 48
    }

    // --- Adding and removing.

    pub(super) fn add(
        &mut self,
        first: MessageNumber,
        messages: impl IntoIterator<Item = OutboxMessage>,
    ) {
        let mut number = first;
        for content in messages {
            self.restore(number, content, Standing::default());
            number.0 += 1;
        }
    }

    /// Restores a message from its image, replacing an earlier one.
    pub(super) fn restore(
        &mut self,
        number: MessageNumber,
        content: OutboxMessage,
        standing: Standing,
    ) {
        self.remove(number);
        self.set_next_at_least(MessageNumber(number.0 + 1));
        self.weight += weight(&content);
        self.messages.insert(number, StoredMessage { content, standing, claim: None });
        self.line_up(number);
    }

    fn remove(&mut self, number: MessageNumber) {
        self.step_out(number);
        if let Some(kept) = self.messages.remove(&number) {
            self.weight -= weight(&kept.content);
        }
    }

    /// Takes a message out of the queue or the dead letters, so that its state can change.
    fn step_out(&mut self, number: MessageNumber) {
        let Some(kept) = self.messages.get(&number) else { return };
        self.dead.remove(&number);
        self.queue.remove(&(kept.due(), number));
        if let Some(next) = self.ordered.leave(&kept.content, number)
            && let Some(next_kept) = self.messages.get(&next)
        {
            self.queue.insert((next_kept.due(), next));
        }
    }

    /// Adds a message according to its state: to the dead letters, to the queue, or behind earlier
    /// ones of its ordering key.
    fn line_up(&mut self, number: MessageNumber) {
        let Some(kept) = self.messages.get(&number) else { return };
        if kept.standing.dead.is_some() {
            self.dead.insert(number);
            return;
        }
        let messages = &self.messages;
        let is_claimed = |head| messages.get(&head).is_some_and(|head| head.claim.is_some());
        let place = self.ordered.join(&kept.content, number, is_claimed);
        if let Some(passed) = place.passed
            && let Some(passed_kept) = self.messages.get(&passed)
        {
            self.queue.remove(&(passed_kept.due(), passed));
        }
        if place.is_head {
            self.queue.insert((kept.due(), number));
        }
    }

    // --- Claims.

    pub(super) fn claim(
        &mut self,
        now: Timestamp,
        lease: Duration,
        max: usize,
    ) -> Vec<ClaimedMessage> {
        let due = self.queue.range(..=(now, MessageNumber(u64::MAX)));
        let mut numbers: Vec<_> = due.take(max).map(|(at, number)| (*number, *at)).collect();
        numbers.sort_unstable();
        let mut claimed = Vec::with_capacity(numbers.len());
        for (number, at) in numbers {
            let Some(kept) = self.messages.get_mut(&number) else { continue };
            self.queue.remove(&(at, number));
            self.next_token += 1;
            let until = now.after(lease.max(Duration::from_nanos(1)));
            kept.claim = Some((self.next_token, until));
            self.queue.insert((kept.due(), number));
            claimed.push(ClaimedMessage {
                number,
                token: self.next_token,
                attempts: kept.standing.attempts,
                message: kept.content.clone(),
            });
        }
        claimed
    }

    /// Whether this is still the last claim of the message.
    pub(super) fn holds(&self, claim: &ClaimedMessage) -> bool {
        let kept = self.messages.get(&claim.number);
        kept.and_then(|kept| kept.claim).is_some_and(|(token, _)| token == claim.token)
    }

    pub(super) fn is_dead(&self, number: MessageNumber) -> bool {
        self.dead.contains(&number)
    }

    /// Applies the result of a message; `None` if there is none with that number.
    pub(super) fn settle(&mut self, number: MessageNumber, outcome: &Settlement) {
        if *outcome == Settlement::Gone {
            return self.remove(number);
        }
        self.step_out(number);
        let Some(kept) = self.messages.get_mut(&number) else { return };
        kept.claim = None;
        let standing = &mut kept.standing;
        match outcome {
            Settlement::Gone => {}
            Settlement::Retry { at } => {
                standing.attempts += 1;
                standing.due = *at;
            }
            Settlement::Dead { reason } => {
                standing.attempts += 1;
                standing.dead = Some(reason.clone());
            }
            Settlement::Requeued => *standing = Standing::default(),
        }
        self.line_up(number);
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.queue.first().map(|(at, _)| *at)
    }

    // --- Queries.

    pub(super) fn dead_letters(
        &self,
        after: Option<MessageNumber>,
        max: usize,
    ) -> Vec<DeadMessage> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let dead = self.dead.range((start, Bound::Unbounded)).filter_map(|number| {
            let kept = self.messages.get(number)?;
            Some(DeadMessage {
                number: *number,
                attempts: kept.standing.attempts,
                reason: kept.standing.dead.clone()?,
                message: kept.content.clone(),
            })
        });
        dead.take(max).collect()
    }

    /// The first message from a number on, as an image.
    pub(super) fn image_from(
        &self,
        from: MessageNumber,
    ) -> Option<(MessageNumber, &OutboxMessage, &Standing)> {
        let (number, kept) = self.messages.range(from..).next()?;
        Some((*number, &kept.content, &kept.standing))
    }

    // --- Marks.

    pub(super) fn mark(&mut self, marks: impl IntoIterator<Item = InboxMark>) {
        for InboxMark { from, key, keep_until } in marks {
            let old = self.marks.insert((from.clone(), key.clone()), keep_until);
            if let Some(old) = old {
                self.expiry.remove(&(old, from.clone(), key.clone()));
            }
            self.expiry.insert((keep_until, from, key));
        }
    }

    pub(super) fn is_marked(&self, from: &str, key: &str) -> bool {
        self.marks.contains_key(&(from.to_owned(), key.to_owned()))
    }

    /// Removes expired marks, at most `max`.
    pub(super) fn expire(&mut self, now: Timestamp, max: usize) {
        for _ in 0..max {
            if self.expiry.first().is_none_or(|(until, ..)| *until >= now) {
                break;
            }
            if let Some((_, from, key)) = self.expiry.pop_first() {
                self.marks.remove(&(from, key));
            }
        }
    }

    /// Up to `max` marks from a position on, in the order of their expiry.
    pub(super) fn marks_from(
        &self,
        from: Option<&(Timestamp, String, String)>,
        max: usize,
    ) -> Vec<(Timestamp, String, String)> {
        let start = from.map_or(Bound::Unbounded, Bound::Excluded);
        let range = self.expiry.range::<(Timestamp, String, String), _>((start, Bound::Unbounded));
        range.take(max).cloned().collect()
    }
}

fn weight(message: &OutboxMessage) -> usize {
    message.bytes() + 32
}
