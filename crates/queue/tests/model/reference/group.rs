//! The reference of groups.

use super::{FetchResult, Lane, Message, Topic};
use rialto_queue::{
    Delivery, DeliveryOrder, Filter, GroupCounts, GroupOptions, MessageId, Sharing,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a group counts.
pub(crate) type Counts = GroupCounts;

/// The state of a message that the group has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Leased {
        consumer: u32,
        until: u64,
    },
    Ready,
    Resting(u64),
    /// It waits for one of its key, and rests until then besides.
    Behind(u64),
    Dead,
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    standing: Standing,
    lease: u64,
    /// The last consumer that leased it.
    consumer: u32,
    attempts: u16,
}

#[derive(Clone, Debug)]
struct Places {
    /// The number below which everything is acknowledged.
    begin: u64,
    /// The first unseen number.
    next: u64,
    /// Behind the last that was new to it in this process.
    reached: u64,
    slots: BTreeMap<u64, Slot>,
}

impl Places {
    fn floor(&self) -> u64 {
        let is_done =
            |seq: &u64| self.slots.get(seq).is_some_and(|it| it.standing == Standing::Done);
        (self.begin..).find(|seq| !is_done(seq)).unwrap()
    }

    fn end(&self) -> u64 {
        self.reached.max(self.floor())
    }
}

/// A message whose last attempt failed.
#[derive(Debug)]
pub(crate) struct FailedMessage {
    pub(crate) id: MessageId,
    pub(crate) attempts: u16,
    pub(crate) reason: &'static str,
    pub(crate) detail: String,
}

/// A group.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) options: GroupOptions,
    lanes: Vec<Places>,
    pub(crate) consumers: Vec<u32>,
    last_consumer: u32,
    last_lease: u64,
    /// The length of the leases of this call, if it is not the group's.
    length: Option<Duration>,
    /// Unacknowledged messages by key, in the order in which the group saw them.
    keys: Vec<(String, MessageId)>,
    /// How often messages were handed out by an earlier process, and until when they rest.
    earlier: BTreeMap<MessageId, (u16, u64)>,
    pub(crate) counts: Counts,
}

fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

fn holds(filter: &Filter, message: &Message) -> bool {
    let value = |name: &str| message.headers.iter().find(|(it, _)| it == name).map(|it| &it.1);
    match filter {
        Filter::Has(name) => value(name).is_some(),
        Filter::Equals(name, wanted) => value(name) == Some(wanted),
        Filter::StartsWith(name, prefix) => value(name).is_some_and(|it| it.starts_with(prefix)),
        Filter::Not(filter) => !holds(filter, message),
        Filter::All(filters) => filters.iter().all(|it| holds(it, message)),
        Filter::Any(filters) => filters.iter().any(|it| holds(it, message)),
    }
}

impl Group {
    pub(crate) fn new(name: &str, options: GroupOptions, begins: &[u64]) -> Self {
        let places = |begin: &u64| Places {
            begin: *begin,
            next: *begin,
            reached: 0,
            slots: BTreeMap::new(),
        };
        Self {
            name: name.to_owned(),
            options,
            lanes: begins.iter().map(places).collect(),
            consumers: Vec::new(),
            last_consumer: 0,
            last_lease: 0,
            length: None,
            keys: Vec::new(),
            earlier: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    fn slot(&mut self, id: MessageId) -> Option<&mut Slot> {
        self.lanes[usize::from(id.lane)].slots.get_mut(&id.seq)
    }

    pub(crate) fn floor(&self, lane: usize) -> u64 {
        self.lanes[lane].floor()
    }

    pub(crate) fn floors(&self) -> Vec<u64> {
        self.lanes.iter().map(Places::floor).collect()
    }

    pub(crate) fn lag(&self, lanes: &[Lane]) -> u64 {
        let lag = |(it, lane): (&Places, &Lane)| {
            (lane.last() + 1).saturating_sub(it.floor().max(lane.first))
        };
        self.lanes.iter().zip(lanes).map(lag).sum()
    }

    /// The number of seen, unacknowledged messages.
    pub(crate) fn outstanding(&self) -> usize {
        let of = |it: &Places| {
            let done =
                |seq: &u64| it.slots.get(seq).is_some_and(|it| it.standing == Standing::Done);
            // Those claimed out of turn beyond the end count, too.
            let far = it.slots.range(it.end()..).filter(|(seq, _)| !done(seq)).count();
            (it.floor()..it.end()).filter(|seq| !done(seq)).count() + far
        };
        self.lanes.iter().map(of).sum()
    }

    pub(crate) fn join(&mut self) -> u32 {
        self.last_consumer += 1;
        self.consumers.push(self.last_consumer);
        self.last_consumer
    }

    /// Removes a consumer; its messages may be delivered again at once.
    pub(crate) fn leave(&mut self, gone: u32, now: u64) -> Vec<FailedMessage> {
        self.consumers.retain(|it| *it != gone);
        let had = self.ids(
            |slot| matches!(slot.standing, Standing::Leased { consumer, .. } if consumer == gone),
        );
        let each = had.into_iter().filter_map(|id| self.retry(id, 0, "unanswered", "", now));
        each.collect()
    }

    fn ids(&self, is_wanted: impl Fn(&Slot) -> bool) -> Vec<MessageId> {
        let of = |(lane, it): (u8, &Places)| {
            let wanted = it.slots.iter().filter(|(_, slot)| is_wanted(slot));
            wanted.map(|(seq, _)| MessageId { lane, seq: *seq }).collect::<Vec<_>>()
        };
        (0..).zip(&self.lanes).flat_map(of).collect()
    }

    /// Leases and rests come to an end.
    pub(crate) fn advance(&mut self, now: u64) -> Vec<FailedMessage> {
        let ended = self
            .ids(|slot| matches!(slot.standing, Standing::Leased { until, .. } if until <= now));
        let mut deaths = Vec::new();
        for id in ended {
            self.counts.unanswered += 1;
            let delay = self.retry_delay(id);
            deaths.extend(self.retry(id, delay, "unanswered", "", now));
        }
        for id in self.ids(|slot| matches!(slot.standing, Standing::Resting(at) if at <= now)) {
            self.slot(id).unwrap().standing = Standing::Ready;
        }
        deaths
    }

    /// Begins with the delay of the options and doubles, once for each attempt after the first.
    fn retry_delay(&mut self, id: MessageId) -> u64 {
        let (first, max) = (self.options.retry_delay, self.options.retry_delay_max);
        let attempts = self.slot(id).unwrap().attempts;
        let doubled = (1..attempts).fold(first, |delay, _| delay * 2);
        nanos(max.map_or(first, |max| doubled.min(max)))
    }

    fn retry(
        &mut self,
        id: MessageId,
        delay: u64,
        reason: &'static str,
        detail: &str,
        now: u64,
    ) -> Option<FailedMessage> {
        let attempts = self.slot(id).unwrap().attempts;
        if self.options.attempts_max > 0 && attempts >= self.options.attempts_max {
            return Some(self.die(id, reason, detail));
        }
        self.slot(id).unwrap().standing =
            if delay == 0 { Standing::Ready } else { Standing::Resting(now + delay) };
        None
    }

    fn die(&mut self, id: MessageId, reason: &'static str, detail: &str) -> FailedMessage {
        let slot = self.slot(id).unwrap();
        slot.standing = Standing::Dead;
        FailedMessage { id, attempts: slot.attempts, reason, detail: detail.to_owned() }
    }

    pub(crate) fn dead_lettered(&mut self, id: MessageId, now: u64) {
        self.counts.dead += 1;
        self.finish(id, now);
    }

    /// Acknowledges a message and releases its key.
    pub(crate) fn finish(&mut self, id: MessageId, now: u64) {
        let done = Slot { standing: Standing::Done, lease: 0, consumer: 0, attempts: 0 };
        self.lanes[usize::from(id.lane)].slots.insert(id.seq, done);
        let Some(nth) = self.keys.iter().position(|(_, other)| *other == id) else { return };
        let (key, _) = self.keys[nth].clone();
        let was_first = self.keys.iter().position(|(other, _)| *other == key) == Some(nth);
        self.keys.remove(nth);
        if was_first
            && let Some((_, next)) = self.keys.iter().find(|(other, _)| *other == key).cloned()
            && let Some(slot) = self.slot(next)
            && let Standing::Behind(until) = slot.standing
        {
            slot.standing = if until > now { Standing::Resting(until) } else { Standing::Ready };
        }
    }

    fn holds(&mut self, id: MessageId, lease: u64) -> bool {
        self.slot(id).is_some_and(|slot| {
            let is_out = matches!(
                slot.standing,
                Standing::Leased { .. } | Standing::Ready | Standing::Resting(_)
            );
            is_out && slot.lease == lease
        })
    }

    /// Whether a consumer may settle a message: it holds the lease, or the holder has left the
    /// group.
    pub(crate) fn is_of(&mut self, id: MessageId, lease: u64, by: u32) -> bool {
        let last = self.slot(id).map(|slot| slot.consumer);
        self.holds(id, lease)
            && last.is_some_and(|last| last == by || !self.consumers.contains(&last))
    }

    pub(crate) fn ack(&mut self, id: MessageId, lease: u64, by: u32, now: u64) -> bool {
        let held = self.is_of(id, lease, by);
        if held {
            self.counts.acked += 1;
            self.finish(id, now);
        }
        held
    }

    pub(crate) fn ack_through(&mut self, id: MessageId, by: u32, now: u64) -> u64 {
        let mut held = self
            .ids(|it| matches!(it.standing, Standing::Leased { consumer, .. } if consumer == by));
        held.retain(|it| it.lane == id.lane && it.seq <= id.seq);
        for id in &held {
            self.counts.acked += 1;
            self.finish(*id, now);
        }
        held.len() as u64
    }

    pub(crate) fn nack(
        &mut self,
        id: MessageId,
        lease: u64,
        by: u32,
        delay: Option<Duration>,
        now: u64,
    ) -> Option<Vec<FailedMessage>> {
        if !self.is_of(id, lease, by) {
            return None;
        }
        self.counts.nacked += 1;
        let delay = delay.map_or_else(|| self.retry_delay(id), nanos);
        Some(self.retry(id, delay, "rejected", "not now", now).into_iter().collect())
    }

    pub(crate) fn refuse(
        &mut self,
        id: MessageId,
        lease: u64,
        by: u32,
    ) -> Option<Vec<FailedMessage>> {
        if !self.is_of(id, lease, by) {
            return None;
        }
        self.counts.nacked += 1;
        Some(vec![self.die(id, "refused", "never")])
    }

    pub(crate) fn return_unseen(&mut self, id: MessageId, lease: u64, by: u32) -> bool {
        let held = self.is_of(id, lease, by);
        if held {
            self.counts.nacked += 1;
            let slot = self.slot(id).unwrap();
            if matches!(slot.standing, Standing::Leased { .. }) {
                (slot.standing, slot.attempts) = (Standing::Ready, slot.attempts - 1);
            }
        }
        held
    }

    /// The leased messages with consumer, attempt and deadline.
    pub(crate) fn leased(&self) -> Vec<(MessageId, u32, u16, u64)> {
        let of = |(lane, it): (u8, &Places)| {
            let leased = it.slots.iter().filter_map(move |(seq, slot)| match slot.standing {
                Standing::Leased { consumer, until } => {
                    Some((MessageId { lane, seq: *seq }, consumer, slot.attempts, until))
                }
                _ => None,
            });
            leased.collect::<Vec<_>>()
        };
        (0..).zip(&self.lanes).flat_map(of).collect()
    }

    /// What is not acknowledged: delayed messages, then the lanes from the highest priority on.
    pub(crate) fn unacknowledged(&self, topic: &Topic) -> Vec<(MessageId, Message)> {
        let mut seen: Vec<_> = topic.still_delayed().collect();
        for (nth, lane) in topic.lanes.iter().enumerate().rev() {
            let places = &self.lanes[nth];
            let is_done = |seq: &u64| {
                places.slots.get(seq).is_some_and(|slot| slot.standing == Standing::Done)
            };
            let open = (places.floor().max(lane.first)..=lane.last()).filter(|seq| !is_done(seq));
            seen.extend(
                open.map(|seq| {
                    (MessageId { lane: nth as u8, seq }, lane.get(seq).unwrap().clone())
                }),
            );
        }
        let filter = self.options.filter.as_ref();
        seen.retain(|(_, message)| filter.is_none_or(|filter| holds(filter, message)));
        seen
    }

    pub(crate) fn extend(
        &mut self,
        id: MessageId,
        lease: u64,
        by: u32,
        length: Option<Duration>,
        now: u64,
    ) -> bool {
        let later = now + nanos(length.unwrap_or(self.options.ack_wait));
        match self.slot(id) {
            Some(Slot { standing: Standing::Leased { consumer, until }, lease: last, .. })
                if *last == lease && *consumer == by =>
            {
                *until = later.max(*until);
                true
            }
            _ => false,
        }
    }

    /// Delivers messages: from the highest priority, first redeliveries and then new ones.
    pub(crate) fn fetch(
        &mut self,
        lanes: &[Lane],
        consumer: u32,
        messages_max: usize,
        length: Option<Duration>,
        now: u64,
    ) -> (FetchResult, Vec<FailedMessage>) {
        let (mut handed, mut deaths) = (FetchResult::default(), Vec::new());
        if !self.may_take(consumer) {
            return (handed, deaths);
        }
        self.length = length;
        for (nth, lane) in lanes.iter().enumerate().rev() {
            while handed.messages.len() < messages_max
                && let Some(id) = self.first_ready(nth)
            {
                match lane.get(id.seq) {
                    None => handed.missed += self.pass(nth, lane.first.max(id.seq + 1), now),
                    Some(message) if message.is_expired(now) => self.expire(id, now),
                    Some(message) => self.hand(&mut handed, id, message, consumer, now),
                }
            }
            while handed.messages.len() < messages_max && self.has_room(nth) {
                let seq = self.lanes[nth].next;
                if seq < lane.first {
                    self.lanes[nth].next = lane.first;
                    handed.missed += self.pass(nth, lane.first, now);
                    continue;
                }
                let Some(message) = lane.get(seq) else { break };
                self.lanes[nth].next += 1;
                let id = MessageId { lane: nth as u8, seq };
                deaths.extend(self.consider(&mut handed, id, message, consumer, now));
            }
        }
        self.ack_at_once(&handed, consumer, now);
        (handed, deaths)
    }

    fn may_take(&self, consumer: u32) -> bool {
        self.options.sharing != Sharing::SingleActive || self.consumers.first() == Some(&consumer)
    }

    fn ack_at_once(&mut self, handed: &FetchResult, consumer: u32, now: u64) {
        if self.options.delivery == Delivery::AtMostOnce {
            for ((id, ..), lease) in handed.messages.iter().zip(&handed.leases) {
                self.ack(*id, *lease, consumer, now);
            }
        }
    }

    /// Leases one message out of turn, if it could be delivered now but for a delay.
    pub(crate) fn claim(
        &mut self,
        id: MessageId,
        message: &Message,
        consumer: u32,
        length: Option<Duration>,
        now: u64,
    ) -> (FetchResult, Vec<FailedMessage>) {
        let mut claimed = FetchResult::default();
        let places = &self.lanes[usize::from(id.lane)];
        let standing = places.slots.get(&id.seq).map(|slot| slot.standing);
        let is_new = id.seq >= places.floor() && standing.is_none();
        let waits = matches!(standing, Some(Standing::Ready | Standing::Resting(_)));
        let passes = self.options.filter.as_ref().is_none_or(|filter| holds(filter, message));
        if !passes || !(is_new || waits) {
            return (claimed, Vec::new());
        }
        if message.is_expired(now) {
            self.expire(id, now);
            return (claimed, Vec::new());
        }
        if !self.may_take(consumer) {
            return (claimed, Vec::new());
        }
        if is_new {
            if self.options.order == DeliveryOrder::PerKey && !message.key.is_empty() {
                if self.keys.iter().any(|(key, _)| *key == message.key) {
                    return (claimed, Vec::new());
                }
                self.keys.push((message.key.clone(), id));
            }
            let (attempts, _) = self.earlier.remove(&id).unwrap_or_default();
            let slot = Slot { standing: Standing::Ready, lease: 0, consumer: 0, attempts };
            self.lanes[usize::from(id.lane)].slots.insert(id.seq, slot);
        }
        let attempts = self.slot(id).unwrap().attempts;
        if self.options.attempts_max > 0 && attempts >= self.options.attempts_max {
            let death = self.die(id, "unanswered", "");
            return (claimed, vec![death]);
        }
        self.length = length;
        self.hand(&mut claimed, id, message, consumer, now);
        self.ack_at_once(&claimed, consumer, now);
        (claimed, Vec::new())
    }

    fn first_ready(&self, nth: usize) -> Option<MessageId> {
        let ready = self.lanes[nth].slots.iter().find(|(_, it)| it.standing == Standing::Ready);
        ready.map(|(seq, _)| MessageId { lane: nth as u8, seq: *seq })
    }

    fn has_room(&self, nth: usize) -> bool {
        let it = &self.lanes[nth];
        let is_done = |seq: &u64| it.slots.get(seq).is_some_and(|it| it.standing == Standing::Done);
        let end = (it.end()..).find(|seq| !is_done(seq)).unwrap();
        ((end - it.floor()) as usize) < self.options.outstanding_max
    }

    fn expire(&mut self, id: MessageId, now: u64) {
        self.counts.expired += 1;
        self.finish(id, now);
    }

    fn consider(
        &mut self,
        handed: &mut FetchResult,
        id: MessageId,
        message: &Message,
        consumer: u32,
        now: u64,
    ) -> Option<FailedMessage> {
        let it = &self.lanes[usize::from(id.lane)];
        if id.seq < it.floor() || it.slots.contains_key(&id.seq) {
            return None;
        }
        self.lanes[usize::from(id.lane)].reached = id.seq + 1;
        if self.options.filter.as_ref().is_some_and(|filter| !holds(filter, message)) {
            self.counts.filtered += 1;
            self.finish(id, now);
            return None;
        }
        if message.is_expired(now) {
            self.expire(id, now);
            return None;
        }
        let mut is_in_turn = true;
        if self.options.order == DeliveryOrder::PerKey && !message.key.is_empty() {
            is_in_turn = self.keys.iter().all(|(key, _)| *key != message.key);
            self.keys.push((message.key.clone(), id));
        }
        let (attempts, until) = self.earlier.remove(&id).unwrap_or_default();
        let standing = match is_in_turn {
            true if until > now => Standing::Resting(until),
            true => Standing::Ready,
            false => Standing::Behind(until),
        };
        let slot = Slot { standing, lease: 0, consumer: 0, attempts };
        self.lanes[usize::from(id.lane)].slots.insert(id.seq, slot);
        if self.options.attempts_max > 0 && attempts >= self.options.attempts_max {
            return Some(self.die(id, "unanswered", ""));
        }
        if standing == Standing::Ready {
            self.hand(handed, id, message, consumer, now);
        }
        None
    }

    fn hand(
        &mut self,
        handed: &mut FetchResult,
        id: MessageId,
        message: &Message,
        consumer: u32,
        now: u64,
    ) {
        self.last_lease += 1;
        let length = self.length.unwrap_or(self.options.ack_wait);
        let (lease, until) = (self.last_lease, now + nanos(length));
        let slot = self.slot(id).unwrap();
        let attempts = slot.attempts + 1;
        *slot = Slot { standing: Standing::Leased { consumer, until }, lease, consumer, attempts };
        self.counts.delivered += 1;
        self.counts.redelivered += u64::from(attempts > 1);
        handed.messages.push((id, attempts, message.clone()));
        handed.leases.push(lease);
    }

    /// Drops messages below a number. Returns how many were not acknowledged.
    fn pass(&mut self, nth: usize, first: u64, now: u64) -> u64 {
        let mut missed = 0;
        for seq in self.lanes[nth].floor()..first {
            let slot = self.lanes[nth].slots.get(&seq);
            if slot.is_none_or(|slot| slot.standing != Standing::Done) {
                missed += 1;
                self.finish(MessageId { lane: nth as u8, seq }, now);
            }
        }
        missed
    }

    /// Restarts the process: no message is leased any more.
    pub(crate) fn restart(&mut self) {
        for (lane, it) in (0..).zip(&mut self.lanes) {
            for (seq, slot) in &it.slots {
                let until = match slot.standing {
                    Standing::Done => continue,
                    Standing::Resting(until) | Standing::Behind(until) => until,
                    _ => 0,
                };
                self.earlier.insert(MessageId { lane, seq: *seq }, (slot.attempts, until));
            }
            it.slots.retain(|_, slot| slot.standing == Standing::Done);
            (it.next, it.reached) = (it.floor(), 0);
        }
        (self.consumers, self.last_consumer, self.keys) = (Vec::new(), 0, Vec::new());
        self.counts = Counts::default();
    }
}
