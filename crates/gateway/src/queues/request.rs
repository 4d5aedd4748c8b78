//! What can be asked of the queue.

use super::grant::{QueueRight, VENUE_TOPICS, is_of_venue};
use super::policy::{Needed, NeedsRight};
use bytes::Bytes;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Query, Request, Result};
use rialto_desk::AtField;
use rialto_queue::packed::Packed;
use rialto_queue::{
    DeadLetter, Fetched, GroupOptions, Level, Message, MessageId, Name, Start, Subscription,
    TopicOptions, TopicStats,
};
use std::time::Duration;

/// Most messages, or leases, of one request.
pub(crate) const MESSAGES_MAX: usize = 1_000;
/// The most messages that a client has in hand which they are pushed to.
const PREFETCH_MAX: usize = 10_000;
/// The longest that a fetch waits for messages.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(30);
/// The longest a message rests when it is given back: a day.
const DELAY_MAX: Duration = Duration::from_secs(86_400);
/// The most that may be said of why a message was given back.
const DETAIL_BYTES_MAX: usize = 1_000;

/// The most messages of a lane that a group may have in hand.
const OUTSTANDING_MAX: usize = 65_536;

/// Creates a topic.
pub(crate) struct CreateTopic {
    pub(crate) topic: Name,
    pub(crate) options: TopicOptions,
}

/// Deletes a topic with all that it holds.
pub(crate) struct DeleteTopic {
    pub(crate) topic: Name,
}

/// The topics with which the caller may do something.
pub(crate) struct ListTopics;

/// What a topic is, and how it is doing.
pub(crate) struct GetTopic {
    pub(crate) topic: Name,
}

/// Creates a group of a topic.
pub(crate) struct CreateGroup {
    pub(crate) topic: Name,
    pub(crate) group: Name,
    pub(crate) options: GroupOptions,
}

/// Deletes a group of a topic.
pub(crate) struct DeleteGroup {
    pub(crate) topic: Name,
    pub(crate) group: Name,
}

/// A message to be published.
#[derive(Debug, Default)]
pub(crate) struct NewMessage {
    pub(crate) payload: Vec<u8>,
    pub(crate) key: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) priority: u8,
    pub(crate) delay: Duration,
    pub(crate) expires_after: Option<Duration>,
    pub(crate) content_type: String,
    pub(crate) schema_version: u32,
}

/// Messages to be published, as they came.
#[derive(Debug)]
pub(crate) enum NewMessages {
    Listed(Vec<NewMessage>),
    Packed(Packed<Bytes>),
}

impl NewMessages {
    pub(crate) fn len(&self) -> usize {
        match self {
            NewMessages::Listed(messages) => messages.len(),
            NewMessages::Packed(messages) => messages.len(),
        }
    }
}

/// Publishes messages, and answers when they are as safe as was asked for.
pub(crate) struct PublishMessages {
    pub(crate) topic: Name,
    pub(crate) messages: NewMessages,
    /// A producer's id and the number of its first message; zeros if it does not number them.
    pub(crate) numbers: (u64, u64),
    /// Left out: what the topic promises.
    pub(crate) confirm: Option<Level>,
}

/// Where published messages stand.
pub(crate) struct Published {
    pub(crate) ids: Vec<MessageId>,
    pub(crate) duplicates: usize,
}

/// A consumer: a member of a group by a name, which is the caller's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seat {
    pub(crate) topic: Name,
    pub(crate) group: Name,
    pub(crate) consumer: Name,
}

/// Delivers messages; waits for some if there are none.
pub(crate) struct FetchMessages {
    pub(crate) seat: Seat,
    pub(crate) max: usize,
    pub(crate) wait: Duration,
}

/// Has messages of a group pushed, at most so many in hand.
pub(crate) struct SubscribeMessages {
    pub(crate) topic: Name,
    pub(crate) group: Name,
    pub(crate) prefetch: usize,
}

/// A message that was delivered, and the number of its lease.
pub(crate) type Leased = (MessageId, u64);

/// Messages were worked on. Answers with those that were no longer the caller's, when what is said
/// is as safe as the topic's messages are.
pub(crate) struct AckMessages {
    pub(crate) seat: Seat,
    pub(crate) leases: Vec<Leased>,
}

/// Messages were not worked on. Answers as [`AckMessages`].
pub(crate) struct NackMessages {
    pub(crate) seat: Seat,
    pub(crate) leases: Vec<Leased>,
    pub(crate) back: GivenBack,
}

/// How messages are given back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GivenBack {
    /// When to hand them out again; left out, what the group says.
    pub(crate) delay: Option<Duration>,
    /// Whether nobody can work on them, so that they go to the dead letters now.
    pub(crate) refuse: bool,
    /// Whether nobody has looked at them, so that they count as not delivered.
    pub(crate) unseen: bool,
    /// Why.
    pub(crate) detail: String,
}

/// Messages take longer. Answers with those that were no longer the caller's.
pub(crate) struct ExtendLeases {
    pub(crate) seat: Seat,
    pub(crate) leases: Vec<Leased>,
}

/// A consumer leaves its group. What it had is delivered to others.
pub(crate) struct LeaveGroup {
    pub(crate) seat: Seat,
}

/// Reads a topic without being a member of a group.
pub(crate) struct ReadMessages {
    pub(crate) topic: Name,
    pub(crate) from: ReadFrom,
    pub(crate) max: usize,
    /// How long to wait if there are none.
    pub(crate) wait: Duration,
}

/// Where a reading begins.
#[derive(Clone, Debug)]
pub(crate) enum ReadFrom {
    Start(Start),
    /// With these messages, one of each lane, lowest priority first.
    Positions(Vec<u64>),
}

/// What was read.
#[derive(Default)]
pub(crate) struct ReadPage {
    pub(crate) messages: Vec<Message>,
    /// How many the topic had dropped before they were read.
    pub(crate) missed: u64,
    /// How many were left out because there are later ones of their keys.
    pub(crate) conflated: u64,
    /// Where to go on.
    pub(crate) next: Vec<u64>,
}

/// Says what requests are called, what kind they are, what they are answered, and who may make
/// them.
macro_rules! requests {
    ($($name:literal $Kind:ident $Request:ident => $Response:ty, $right:ident of $($topic:ident).+;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl $Kind for $Request {}

        impl NeedsRight for $Request {
            fn needs(&self) -> Needed<'_> {
                Needed::Right(QueueRight::$right, &self.$($topic).+)
            }
        }
    )* };
}

requests! {
    "create_topic" Command CreateTopic => (), Admin of topic;
    "delete_topic" Command DeleteTopic => (), Admin of topic;
    "delete_group" Command DeleteGroup => (), Admin of topic;
    "publish_messages" Command PublishMessages => Published, Produce of topic;
    "fetch_messages" Command FetchMessages => Fetched, Consume of seat.topic;
    "subscribe_messages" Command SubscribeMessages => Subscription, Consume of topic;
    "ack_messages" Command AckMessages => Vec<MessageId>, Consume of seat.topic;
    "nack_messages" Command NackMessages => Vec<MessageId>, Consume of seat.topic;
    "extend_leases" Command ExtendLeases => Vec<MessageId>, Consume of seat.topic;
    "leave_group" Command LeaveGroup => (), Consume of seat.topic;
    "read_messages" Query ReadMessages => ReadPage, Consume of topic;
}

impl Request for CreateGroup {
    type Response = ();
    const NAME: &'static str = "create_group";
}

impl Command for CreateGroup {}

impl NeedsRight for CreateGroup {
    fn needs(&self) -> Needed<'_> {
        Needed::Right(QueueRight::Admin, &self.topic)
    }

    fn also_needs(&self) -> Vec<Needed<'_>> {
        match &self.options.dead_letter {
            // What is given up is published there.
            DeadLetter::Topic(topic) => vec![Needed::Right(QueueRight::Produce, topic)],
            DeadLetter::Own | DeadLetter::Drop => Vec::new(),
        }
    }
}

impl Request for ListTopics {
    type Response = Vec<Name>;
    const NAME: &'static str = "list_topics";
}

impl Query for ListTopics {}

impl NeedsRight for ListTopics {
    fn needs(&self) -> Needed<'_> {
        // The answer holds only what the caller may know of.
        Needed::Nothing
    }
}

impl Request for GetTopic {
    type Response = (TopicOptions, TopicStats);
    const NAME: &'static str = "get_topic";
}

impl Query for GetTopic {}

impl NeedsRight for GetTopic {
    fn needs(&self) -> Needed<'_> {
        Needed::AnyRight(&self.topic)
    }
}

/// What makes sense whatever it says.
macro_rules! always_valid {
    ($($Request:ident)*) => { $(
        impl Validate for $Request {
            fn validate(&self) -> Result<()> {
                Ok(())
            }
        }
    )* };
}

always_valid! { DeleteTopic ListTopics GetTopic DeleteGroup LeaveGroup }

impl Validate for CreateTopic {
    fn validate(&self) -> Result<()> {
        let name = self.topic.as_str();
        if is_of_venue(name) {
            let message = format!(
                "The name {name} is the venue's own, as are those that begin with {VENUE_TOPICS}."
            );
            return Err(AtField("name").invalid(message));
        }
        Ok(())
    }
}

impl Validate for CreateGroup {
    fn validate(&self) -> Result<()> {
        let GroupOptions { start, ack_wait, outstanding_max, .. } = &self.options;
        if !matches!(start, Start::Oldest | Start::Next) {
            return Err(AtField("start").invalid("A group starts with oldest or next."));
        }
        if ack_wait.is_zero() {
            return Err(AtField("ack_wait_ms").invalid("A consumer needs some time."));
        }
        if !(1..=OUTSTANDING_MAX).contains(outstanding_max) {
            let message = format!("It is from 1 to {OUTSTANDING_MAX}.");
            return Err(AtField("outstanding_max").invalid(message));
        }
        Ok(())
    }
}

impl Validate for PublishMessages {
    fn validate(&self) -> Result<()> {
        let (producer, first) = self.numbers;
        if producer == u64::MAX || (producer == 0 && first != 0) {
            let message = "A producer's id is from 1 to 2^64 - 2.";
            return Err(AtField("producer").invalid(message));
        }
        if producer != 0 && first.checked_add(self.messages.len() as u64).is_none() {
            return Err(AtField("first").invalid("The numbers would not fit 64 bits."));
        }
        counted("body", self.messages.len())
    }
}

impl Validate for FetchMessages {
    fn validate(&self) -> Result<()> {
        patient(self.wait)?;
        counted("max", self.max)
    }
}

impl Validate for AckMessages {
    fn validate(&self) -> Result<()> {
        counted("messages", self.leases.len())
    }
}

impl Validate for NackMessages {
    fn validate(&self) -> Result<()> {
        settle_limits(self.leases.len(), &self.back)
    }
}

impl Validate for SubscribeMessages {
    fn validate(&self) -> Result<()> {
        match self.prefetch {
            1..=PREFETCH_MAX => Ok(()),
            _ => {
                let message = format!("The prefetch is from 1 to {PREFETCH_MAX} messages.");
                Err(AtField("prefetch").invalid(message))
            }
        }
    }
}

impl Validate for ExtendLeases {
    fn validate(&self) -> Result<()> {
        counted("messages", self.leases.len())
    }
}

impl Validate for ReadMessages {
    fn validate(&self) -> Result<()> {
        if let ReadFrom::Positions(positions) = &self.from {
            placed(positions)?;
        }
        patient(self.wait)?;
        counted("max", self.max)
    }
}

/// What may be said of messages at a time.
pub(crate) fn settle_limits(count: usize, back: &GivenBack) -> Result<()> {
    let GivenBack { delay, refuse, unseen, detail } = back;
    if *unseen && (delay.is_some() || *refuse || !detail.is_empty()) {
        let message = "Of what was not looked at there is nothing else to say.";
        return Err(AtField("unseen").invalid(message));
    }
    if delay.is_some_and(|delay| delay > DELAY_MAX) {
        let message = format!("A message rests at most {} ms.", DELAY_MAX.as_millis());
        return Err(AtField("delay_ms").invalid(message));
    }
    if detail.len() > DETAIL_BYTES_MAX {
        let message = format!("The detail has at most {DETAIL_BYTES_MAX} bytes.");
        return Err(AtField("detail").invalid(message));
    }
    counted("messages", count)
}

fn patient(wait: Duration) -> Result<()> {
    if wait > WAIT_MAX {
        let message = format!("A request waits at most {} ms.", WAIT_MAX.as_millis());
        return Err(AtField("wait_ms").invalid(message));
    }
    Ok(())
}

/// Whether these can be the next messages of lanes.
pub(super) fn placed(positions: &[u64]) -> Result<()> {
    if positions.len() > usize::from(rialto_queue::PRIORITIES_MAX) {
        return Err(AtField("from").invalid("There are more places than priorities."));
    }
    Ok(())
}

pub(super) fn counted(field: &'static str, count: usize) -> Result<()> {
    match count {
        1..=MESSAGES_MAX => Ok(()),
        _ => {
            let message = format!("There must be 1 to {MESSAGES_MAX} messages.");
            Err(AtField(field).invalid(message))
        }
    }
}
