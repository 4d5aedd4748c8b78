//! A queue and the reference, side by side.

use crate::operation::{BEGIN_NS, Ending, GRAVES, Operation, Shape};
use crate::reference::{self, FetchResult, Lane, Message, Problem, ReadItem, ReaderPosition};
use crate::stage::Stage;
use rialto_queue::{
    Consumer, Delivered, FetchOptions, GroupOptions, Level, MessageId, OutstandingMessage, Publish,
    Queue, QueueError, Read, Reader, Start, TopicOptions,
};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

pub(crate) const TOPICS: [&str; 3] = ["a", "b", "c"];
const GROUPS: [&str; 2] = ["g", "h"];

struct Member {
    topic: String,
    group: String,
    id: u32,
    consumer: Consumer,
}

/// A message that was delivered, and may have been redelivered since.
struct DeliveredMessage {
    topic: String,
    group: String,
    consumer: u32,
    message: Delivered,
    lease: u64,
}

/// A numbered message that was sent.
struct NumberedMessage {
    topic: String,
    producer: u64,
    number: u64,
    shape: Shape,
    payload: String,
}

pub(crate) struct Pair {
    stage: Stage,
    reference: reference::Queue,
    options: Vec<TopicOptions>,
    members: Vec<Member>,
    held: Vec<DeliveredMessage>,
    readers: Vec<(Reader, ReaderPosition)>,
    sent: Vec<NumberedMessage>,
    numbers: BTreeMap<(String, u64), u64>,
    payloads: u64,
}

fn same<T: Debug + PartialEq>(what: &str, queue: T, reference: T) {
    assert!(queue == reference, "{what}\n    queue: {queue:?}\nreference: {reference:?}");
}

fn outcome<T>(result: Result<T, QueueError>) -> Result<T, Problem> {
    result.map_err(Problem::from)
}

impl Pair {
    pub(crate) fn new(seed: u64, options: Vec<TopicOptions>) -> Self {
        let mut pair = Self {
            stage: Stage::with_seed(seed),
            reference: reference::Queue::new(BEGIN_NS),
            options,
            members: Vec::new(),
            held: Vec::new(),
            readers: Vec::new(),
            sent: Vec::new(),
            numbers: BTreeMap::new(),
            payloads: 0,
        };
        pair.step();
        for (nth, name) in TOPICS.into_iter().enumerate() {
            pair.create_topic(name, &pair.options[nth].clone());
        }
        pair.create_topic(GRAVES, &crate::stage::stream());
        pair
    }

    fn create_topic(&mut self, name: &str, options: &TopicOptions) {
        self.queue().create_topic(name, options.clone()).unwrap();
        self.reference.create_topic(name, options);
    }

    fn queue(&self) -> &Queue {
        self.stage.queue()
    }

    /// Does all work that is due, on either side.
    fn step(&mut self) {
        self.queue().step();
        // Delayed messages of a buffered topic are synced before they are moved.
        self.queue().step();
        self.reference.tick();
    }

    fn topic(&self, nth: usize) -> String {
        let names: Vec<_> = self.reference.topics.keys().collect();
        names[nth % names.len()].clone()
    }

    fn payload(&mut self) -> String {
        self.payloads += 1;
        self.payloads.to_string()
    }

    pub(crate) fn run(&mut self, operation: &Operation) {
        match operation {
            Operation::Publish(topic, shape) => self.publish(*topic, shape),
            Operation::PublishBatch(topic, shapes) => self.publish_batch(*topic, shapes),
            Operation::PublishNumbered(topic, producer, shape) => {
                self.publish_numbered(*topic, *producer, shape);
            }
            Operation::PublishAgain(nth) => self.publish_again(*nth),
            Operation::CreateGroup(topic, group, options) => {
                self.create_group(*topic, *group, options);
            }
            Operation::DeleteGroup(topic, group) => self.delete_group(*topic, *group),
            Operation::Join(topic, group) => self.join(*topic, *group),
            Operation::Leave(nth) => self.leave(*nth),
            Operation::Fetch(nth, max, length) => self.fetch(*nth, *max, *length),
            Operation::Claim(nth, lane, back, length) => self.claim(*nth, *lane, *back, *length),
            Operation::Ack(nth) => self.ack(*nth),
            Operation::AckAll(nth) => self.ack_all(*nth),
            Operation::AckThrough(nth) => self.ack_through(*nth),
            Operation::Nack(nth, delay) => self.nack(*nth, *delay),
            Operation::Refuse(nth) => self.refuse(*nth),
            Operation::ReturnUnseen(nth) => self.return_unseen(*nth),
            Operation::Extend(nth, length) => self.extend(*nth, *length),
            Operation::Transaction(acks, messages) => self.transact(acks, messages),
            Operation::OpenReader(topic, start) => self.open_reader(*topic, *start),
            Operation::Read(nth, max) => self.read(*nth, *max),
            Operation::FollowReader(nth) => self.follow_reader(*nth),
            Operation::Pass(time) => self.pass(*time),
            Operation::Purge(topic) => self.purge(*topic),
            Operation::DeleteTopic(topic) => self.delete_topic(*topic),
            Operation::End(ending) => self.end(*ending),
        }
        self.step();
        self.order_letters();
        self.compare();
    }

    fn publish(&mut self, topic: usize, shape: &Shape) {
        let (topic, payload) = (self.topic(topic), self.payload());
        let producer = self.queue().producer(&topic).unwrap();
        let receipt = producer.publish(&shape.publish(&payload)).map(|receipt| receipt.id());
        let expected = self.reference.publish(&topic, shape, &payload, None);
        same("publish", outcome(receipt), expected);
    }

    fn publish_batch(&mut self, topic: usize, shapes: &[Shape]) {
        let topic = self.topic(topic);
        let payloads: Vec<_> = shapes.iter().map(|_| self.payload()).collect();
        let messages: Vec<Publish<'_>> =
            shapes.iter().zip(&payloads).map(|(shape, payload)| shape.publish(payload)).collect();
        let receipt = self.queue().producer(&topic).unwrap().send_batch(&messages).map(|receipt| {
            receipt.wait().unwrap();
            receipt.ids().to_vec()
        });
        let mut ids = Vec::new();
        let mut expected = Ok(());
        for (shape, payload) in shapes.iter().zip(&payloads) {
            match self.reference.publish(&topic, shape, payload, None) {
                Ok(id) => ids.extend(id),
                Err(problem) => {
                    expected = Err(problem);
                    break;
                }
            }
        }
        same("batch", outcome(receipt), expected.map(|()| ids));
    }

    fn send_numbered(&mut self, sent: &NumberedMessage) -> Result<Option<MessageId>, Problem> {
        let NumberedMessage { topic, producer, number, shape, payload } = sent;
        let numbered = (*producer, *number);
        let real = self.queue().producer(topic).unwrap();
        let receipt = real.send_numbered(&shape.publish(payload), numbered).map(|receipt| {
            receipt.wait().unwrap();
            receipt.id()
        });
        let expected = self.reference.publish(topic, shape, payload, Some(numbered));
        same("numbered", outcome(receipt), expected.clone());
        expected
    }

    fn publish_numbered(&mut self, topic: usize, producer: u64, shape: &Shape) {
        let (topic, payload) = (self.topic(topic), self.payload());
        let number = self.numbers.entry((topic.clone(), producer)).or_default();
        *number += 1;
        let (number, shape) = (*number, shape.clone());
        let sent = NumberedMessage { topic, producer, number, shape, payload };
        // One that was refused was not sent.
        if self.send_numbered(&sent).is_ok() {
            self.sent.push(sent);
        }
    }

    fn publish_again(&mut self, nth: usize) {
        if self.sent.is_empty() {
            return;
        }
        let sent = self.sent.remove(nth % self.sent.len());
        assert_eq!(self.send_numbered(&sent), Ok(None), "it was published twice");
        self.sent.push(sent);
    }

    fn create_group(&mut self, topic: usize, group: usize, options: &GroupOptions) {
        let (topic, group) = (self.topic(topic), GROUPS[group % 2]);
        let created = self.queue().create_group(&topic, group, options.clone());
        let expected = self.reference.create_group(&topic, group, options);
        same("create group", outcome(created), expected);
    }

    fn delete_group(&mut self, topic: usize, group: usize) {
        let (topic, group) = (self.topic(topic), GROUPS[group % 2]);
        let deleted = self.queue().delete_group(&topic, group);
        let expected = self.reference.delete_group(&topic, group);
        same("delete group", outcome(deleted), expected);
        let is_gone = |it: &Member| it.topic == topic && it.group == group;
        for member in self.members.extract_if(.., |it| is_gone(it)) {
            let refused = member.consumer.try_fetch(1).map(drop);
            same("fetch of a deleted group", outcome(refused), Err(Problem::UnknownGroup));
        }
        self.held.retain(|it| it.topic != topic || it.group != group);
    }

    fn join(&mut self, topic: usize, group: usize) {
        let (topic, group) = (self.topic(topic), GROUPS[group % 2].to_owned());
        if !self.reference.topics[&topic].groups.iter().any(|it| it.name == group) {
            let refused = self.queue().consumer(&topic, &group).map(drop);
            same("join", outcome(refused), Err(Problem::UnknownGroup));
            let options = GroupOptions::default();
            self.queue().create_group(&topic, &group, options.clone()).unwrap();
            self.reference.create_group(&topic, &group, &options).unwrap();
        }
        let consumer = self.queue().consumer(&topic, &group).unwrap();
        let id = self.reference.group(&topic, &group).join();
        self.members.push(Member { topic, group, id, consumer });
    }

    fn leave(&mut self, nth: usize) {
        if self.members.is_empty() {
            return;
        }
        let Member { topic, group, id, consumer } = self.members.remove(nth % self.members.len());
        drop(consumer);
        let now = self.reference.now;
        let deaths = self.reference.group(&topic, &group).leave(id, now);
        self.move_failed(&topic, &group, deaths);
    }

    fn move_failed(&mut self, topic: &str, group: &str, deaths: Vec<reference::FailedMessage>) {
        let groups = &self.reference.topics[topic].groups;
        let nth = groups.iter().position(|it| it.name == group).unwrap();
        self.reference.move_failed(topic, nth, deaths);
    }

    fn fetch(&mut self, nth: usize, max: usize, length: Option<Duration>) {
        if self.members.is_empty() {
            self.join(nth, nth);
        }
        let Member { topic, group, id, consumer } = &self.members[nth % self.members.len()];
        let options = FetchOptions { messages_max: max, bytes_max: None, ack_wait: length };
        let fetched = consumer.try_fetch_with(options).unwrap();
        let handed = self.reference.fetch(topic, group, *id, max, length);
        let seen = |it: &Delivered| (it.id(), it.attempt(), Message::of(it.message()));
        let messages = fetched.messages.iter().map(seen).collect();
        let leases = handed.leases.clone();
        let missed = fetched.missed;
        same("fetch", FetchResult { messages, leases: leases.clone(), missed }, handed);
        let held =
            fetched.messages.into_iter().zip(leases).map(|(message, lease)| DeliveredMessage {
                topic: topic.clone(),
                group: group.clone(),
                consumer: *id,
                message,
                lease,
            });
        self.held.extend(held);
    }

    fn claim(&mut self, nth: usize, lane: u8, back: u64, length: Option<Duration>) {
        let Some(nth) = nth.checked_rem(self.members.len()) else { return };
        let Member { topic, group, id, consumer } = &self.members[nth];
        let last = self.reference.topics[topic].lanes.get(usize::from(lane)).map_or(0, Lane::last);
        let message = MessageId { lane, seq: last.saturating_sub(back) };
        let claimed = consumer.claim(message, length).unwrap();
        let expected = self.reference.claim(topic, group, *id, message, length);
        let seen = |it: &Delivered| (it.id(), it.attempt(), Message::of(it.message()));
        let (expected, lease) = expected.unzip();
        same("claim", claimed.as_ref().map(seen), expected);
        if let (Some(message), Some(lease)) = (claimed, lease) {
            let (topic, group, consumer) = (topic.clone(), group.clone(), *id);
            self.held.push(DeliveredMessage { topic, group, consumer, message, lease });
        }
    }

    /// A delivered message, and a consumer of its group to settle it.
    fn speak(&self, nth: usize) -> Option<(&DeliveredMessage, &Member)> {
        let held = self.held.get(nth.checked_rem(self.held.len())?)?;
        let of_group = |it: &&Member| it.topic == held.topic && it.group == held.group;
        let own = self.members.iter().filter(of_group).find(|it| it.id == held.consumer);
        let member = own.or_else(|| self.members.iter().find(of_group))?;
        Some((held, member))
    }

    fn ack(&mut self, nth: usize) {
        let Some((held, member)) = self.speak(nth) else { return };
        let acked = member.consumer.ack(&held.message);
        let (topic, group) = (held.topic.clone(), held.group.clone());
        let (id, lease, by) = (held.message.id(), held.lease, member.id);
        let now = self.reference.now;
        let is_held = self.reference.group(&topic, &group).ack(id, lease, by, now);
        same("ack", outcome(acked), is_held.then_some(()).ok_or(Problem::LeaseLost(id)));
    }

    /// Acknowledges everything that consumers of a group hold or held.
    fn ack_all(&mut self, nth: usize) {
        let Some((held, member)) = self.speak(nth) else { return };
        let (topic, group) = (held.topic.clone(), held.group.clone());
        let of_group: Vec<_> =
            self.held.iter().filter(|it| it.topic == topic && it.group == group).collect();
        let lost = member.consumer.ack_all(of_group.iter().map(|it| &it.message));
        let leases: Vec<_> = of_group.iter().map(|it| (it.message.id(), it.lease)).collect();
        let (by, now) = (member.id, self.reference.now);
        let reference = self.reference.group(&topic, &group);
        let expected: Vec<_> = leases
            .into_iter()
            .filter(|(id, lease)| !reference.ack(*id, *lease, by, now))
            .map(|(id, _)| id)
            .collect();
        same("ack all", lost, expected);
    }

    fn ack_through(&mut self, nth: usize) {
        let Some((held, member)) = self.speak(nth) else { return };
        let done = member.consumer.ack_through(&held.message);
        let (topic, group) = (held.topic.clone(), held.group.clone());
        let (id, by) = (held.message.id(), member.id);
        let now = self.reference.now;
        let expected = self.reference.group(&topic, &group).ack_through(id, by, now);
        same("ack through", done, expected);
    }

    fn nack(&mut self, nth: usize, delay: Option<Duration>) {
        let Some((held, member)) = self.speak(nth) else { return };
        let nacked = member.consumer.nack(&held.message, delay, "not now");
        let (topic, group) = (held.topic.clone(), held.group.clone());
        let (id, lease, by) = (held.message.id(), held.lease, member.id);
        let now = self.reference.now;
        let deaths = self.reference.group(&topic, &group).nack(id, lease, by, delay, now);
        let expected = deaths.is_some().then_some(()).ok_or(Problem::LeaseLost(id));
        self.move_failed(&topic, &group, deaths.unwrap_or_default());
        same("nack", outcome(nacked), expected);
    }

    fn refuse(&mut self, nth: usize) {
        let Some((held, member)) = self.speak(nth) else { return };
        let refused = member.consumer.refuse(&held.message, "never");
        let (topic, group) = (held.topic.clone(), held.group.clone());
        let (id, lease, by) = (held.message.id(), held.lease, member.id);
        let deaths = self.reference.group(&topic, &group).refuse(id, lease, by);
        let expected = deaths.is_some().then_some(()).ok_or(Problem::LeaseLost(id));
        self.move_failed(&topic, &group, deaths.unwrap_or_default());
        same("refuse", outcome(refused), expected);
    }

    fn return_unseen(&mut self, nth: usize) {
        let Some((held, member)) = self.speak(nth) else { return };
        let (topic, group) = (held.topic.clone(), held.group.clone());
        let (id, lease, by) = (held.message.id(), held.lease, member.id);
        let lost = member.consumer.return_unseen(&[(id, held.message.lease())]);
        let is_held = self.reference.group(&topic, &group).return_unseen(id, lease, by);
        same("return unseen", lost.is_empty(), is_held);
    }

    fn extend(&mut self, nth: usize, length: Option<Duration>) {
        let Some((held, member)) = self.speak(nth) else { return };
        let extended = match length {
            None => member.consumer.extend(&held.message),
            Some(length) => member.consumer.extend_by(&held.message, length),
        };
        let (topic, group) = (held.topic.clone(), held.group.clone());
        let (id, lease, by) = (held.message.id(), held.lease, member.id);
        let now = self.reference.now;
        let is_held = self.reference.group(&topic, &group).extend(id, lease, by, length, now);
        same("extend", outcome(extended), is_held.then_some(()).ok_or(Problem::LeaseLost(id)));
    }

    fn transact(&mut self, acks: &[usize], messages: &[(usize, Shape)]) {
        let spoken: Vec<_> = acks.iter().filter_map(|nth| self.speak(*nth)).collect();
        let mut transaction = self.queue().begin();
        let mut done = Vec::new();
        for (held, member) in spoken {
            transaction.ack(&member.consumer, &held.message).unwrap();
            let (topic, group) = (held.topic.clone(), held.group.clone());
            done.push((topic, group, held.message.id(), held.lease, member.id));
        }
        let mut published = Vec::new();
        for (topic, shape) in messages {
            let (topic, payload) = (self.topic(*topic), self.payload());
            if shape.priority >= self.reference.topics[&topic].options.priorities {
                let refused = transaction.publish(&topic, &shape.publish(&payload)).map(drop);
                same("publish in a transaction", outcome(refused), Err(Problem::Message));
                continue;
            }
            transaction.publish(&topic, &shape.publish(&payload)).unwrap();
            published.push((topic, shape.clone(), payload));
        }
        // Groups are asked in the order in which they were named.
        let mut groups: Vec<(String, String)> = Vec::new();
        for (topic, group, ..) in &done {
            let place = (topic.clone(), group.clone());
            if !groups.contains(&place) {
                groups.push(place);
            }
        }
        done.sort_by_key(|(topic, group, ..)| {
            groups.iter().position(|it| it.0 == *topic && it.1 == *group)
        });
        let committed = transaction.commit().map(drop);
        let expected = self.reference.transact(&done, &published);
        same("transaction", outcome(committed), expected);
    }

    fn open_reader(&mut self, topic: usize, start: Start) {
        let topic = self.topic(topic);
        let reader = self.queue().reader(&topic, start).unwrap();
        let place = self.reference.place(&topic, start);
        same("positions", reader.positions(), place.next.clone());
        self.readers.push((reader, place));
    }

    fn read(&mut self, nth: usize, max: usize) {
        if self.readers.is_empty() {
            self.open_reader(nth, Start::Oldest);
        }
        let nth = nth % self.readers.len();
        let (reader, place) = &mut self.readers[nth];
        for _ in 0..max {
            let met = match reader.try_next() {
                Ok(None) => Ok(ReadItem::End),
                Ok(Some(Read::Message(it))) => Ok(ReadItem::Message(it.id(), Message::of(&it))),
                Ok(Some(Read::Missed { lane, messages })) => {
                    Ok(ReadItem::Missed { lane, messages })
                }
                Ok(Some(Read::Conflated { lane, messages })) => {
                    Ok(ReadItem::Conflated { lane, messages })
                }
                Err(error) => Err(Problem::from(error)),
            };
            same("read", met, self.reference.read(place));
        }
        same("positions", reader.positions(), place.next.clone());
    }

    fn follow_reader(&mut self, nth: usize) {
        let Some(nth) = nth.checked_rem(self.readers.len()) else { return };
        let (reader, place) = &self.readers[nth];
        if place.cut_off.is_none() {
            let other = self.queue().reader_at(&place.topic, &reader.positions()).unwrap();
            let place = ReaderPosition::at(&place.topic, place.next.clone());
            self.readers.push((other, place));
        }
    }

    fn pass(&mut self, time: Duration) {
        self.stage.clock.advance(time);
        self.reference.now += time.as_nanos() as u64;
    }

    fn purge(&mut self, topic: usize) {
        let topic = self.topic(topic);
        let purged = self.queue().purge(&topic);
        let expected = self.reference.topic(&topic).purge();
        same("purge", outcome(purged), Ok(expected));
    }

    fn delete_topic(&mut self, nth: usize) {
        let topic = self.topic(nth);
        let Some(known) = TOPICS.into_iter().position(|it| it == topic) else { return };
        self.queue().delete_topic(&topic).unwrap();
        self.reference.topics.remove(&topic);
        self.members.retain(|it| it.topic != topic);
        self.held.retain(|it| it.topic != topic);
        self.readers.retain(|(_, place)| place.topic != topic);
        self.sent.retain(|it| it.topic != topic);
        self.numbers.retain(|(it, _), _| *it != topic);
        let refused = self.queue().producer(&topic).map(drop).unwrap_err();
        assert!(matches!(refused, QueueError::UnknownTopic(_)), "{refused}");
        self.create_topic(&topic, &self.options[known].clone());
    }

    fn end(&mut self, ending: Ending) {
        if ending == Ending::Left {
            while !self.members.is_empty() {
                self.leave(0);
                self.step();
                self.order_letters();
            }
        }
        let places: Vec<_> = self.readers.drain(..).map(|(_, place)| place).collect();
        match ending {
            Ending::Left | Ending::Closed => self.stage.reopen(),
            Ending::Killed => self.stage.kill(),
            Ending::Crashed => {
                self.confirm();
                self.stage.crash();
            }
        }
        self.members.clear();
        self.held.clear();
        let is_kept = |topic: &str| {
            let topics = &self.reference.topics;
            topics.get(topic).is_some_and(|it| it.options.level != Level::Memory)
        };
        self.sent.retain(|it| is_kept(&it.topic));
        self.numbers.retain(|(topic, _), _| is_kept(topic));
        let kept: Vec<_> = places.into_iter().filter(|it| is_kept(&it.topic)).collect();
        for place in kept {
            let reader = self.queue().reader_at(&place.topic, &place.next).unwrap();
            self.readers.push((reader, ReaderPosition::at(&place.topic, place.next)));
        }
        self.queue().step();
        self.queue().step();
        self.reference.restart();
        same("rewound", self.queue().report().rewound.len(), 0);
    }

    /// Makes everything so far durable.
    fn confirm(&mut self) {
        for topic in self.reference.topics.values() {
            for group in &topic.groups {
                self.queue().consumer(&topic.name, &group.name).unwrap().confirm().unwrap();
            }
        }
        // What is only buffered is safe when the time for that has passed.
        self.pass(Duration::from_millis(60));
        self.step();
        self.order_letters();
    }

    /// Dead letters of one moment may lie in any order: the reference takes up that of the queue,
    /// if it is the same letters.
    fn order_letters(&mut self) {
        for (topic, seqs) in std::mem::take(&mut self.reference.new_letters) {
            let mut letters = Vec::new();
            for seq in &seqs {
                let mut reader = self.queue().reader_at(&topic, &[*seq]).unwrap();
                match reader.try_next().unwrap() {
                    Some(Read::Message(letter)) => letters.push(Message::of(&letter)),
                    other => panic!("no letter {seq} in {topic}: {other:?}"),
                }
            }
            let lane = &mut self.reference.topic(&topic).lanes[0];
            let nth = |seq: &u64| *seq as usize - 1;
            let mut expected: Vec<_> =
                seqs.iter().map(|seq| lane.messages[nth(seq)].clone()).collect();
            for letter in &letters {
                let found = expected.iter().position(|it| it == letter);
                let found = found.unwrap_or_else(|| {
                    panic!("an unexpected letter in {topic}: {letter:?}; expected {expected:?}")
                });
                expected.remove(found);
            }
            for (seq, letter) in seqs.iter().zip(letters) {
                lane.messages[nth(seq)] = letter;
            }
        }
    }

    fn compare(&self) {
        let names: Vec<_> = self.queue().topics().iter().map(ToString::to_string).collect();
        same("topics", names, self.reference.topics.keys().cloned().collect());
        for topic in self.reference.topics.values() {
            let name = &topic.name;
            let stats = self.queue().stats(name).unwrap();
            assert_eq!(stats.failed, None);
            let lanes: Vec<_> = topic.lanes.iter().map(|it| (it.first, it.last())).collect();
            same(&format!("lanes of {name}"), stats.lanes, lanes);
            same(&format!("messages of {name}"), stats.messages, topic.messages());
            same(&format!("delayed in {name}"), stats.delayed, topic.delayed());
            let counts = stats.groups.iter().map(|it| {
                let (name, floors) = (it.name.to_string(), it.floors.clone());
                (name, it.consumers, it.lag, it.outstanding, floors, it.counts)
            });
            let expected = topic.groups.iter().map(|it| {
                let (lag, outstanding) = (it.lag(&topic.lanes), it.outstanding());
                (it.name.clone(), it.consumers.len(), lag, outstanding, it.floors(), it.counts)
            });
            same(&format!("groups of {name}"), counts.collect::<Vec<_>>(), expected.collect());
            for group in &topic.groups {
                self.compare_leases(topic, group);
                self.compare_unacknowledged(topic, group);
            }
        }
    }

    /// The scan, through a consumer of the group if there is one: another would change the group.
    fn compare_unacknowledged(&self, topic: &reference::Topic, group: &reference::Group) {
        let of_group = |it: &&Member| it.topic == topic.name && it.group == group.name;
        let Some(member) = self.members.iter().find(of_group) else { return };
        let scan = member.consumer.unacknowledged().unwrap().map(Result::unwrap);
        let seen = scan.map(|it| (it.id(), Message::of(&it))).collect();
        let what = format!("unacknowledged of {} {}", topic.name, group.name);
        same(&what, seen, group.unacknowledged(topic));
    }

    /// The listing of leases, in pages of two.
    fn compare_leases(&self, topic: &reference::Topic, group: &reference::Group) {
        let (mut leased, mut after) = (Vec::new(), None);
        loop {
            let page = self.queue().leased(&topic.name, &group.name, after, 2).unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let shown = |it: &OutstandingMessage| (it.id, it.consumer, it.attempt, it.deadline.0);
            leased.extend(page.iter().map(shown));
        }
        same(&format!("leases of {} {}", topic.name, group.name), leased, group.leased());
    }
}
