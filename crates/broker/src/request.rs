//! The requests to the queue.

use crate::policy::{NeedsRight, Requirement};
use bytes::Bytes;
use rialto_api::{QueueRight, VENUE_TOPICS, is_of_venue};
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Query, Request, Result};
use rialto_desk::AtField;
use rialto_queue::packed::Packed;
use rialto_queue::{
    DeadLetter, Fetched, GroupOptions, Level, Message, MessageId, Name, Start, Subscription,
    TopicOptions, TopicStats,
};
use std::time::Duration;

const _: () = assert!(rialto_api::limits::TOPIC_NAME_BYTES_MAX == rialto_queue::NAME_BYTES_MAX);

/// Most messages, or leases, of one request.
pub const MESSAGES_MAX: usize = 1_000;
/// The most unacknowledged messages of a client that messages are pushed to.
const PREFETCH_MAX: usize = 10_000;
/// The longest that a fetch waits for messages.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(30);
/// The longest delay of a message that is negatively acknowledged: a day.
const DELAY_MAX: Duration = Duration::from_secs(86_400);
/// The longest detail of a negative acknowledgement.
const DETAIL_BYTES_MAX: usize = 1_000;

/// The most unacknowledged messages of a lane that a group may allow.
const OUTSTANDING_MAX: usize = 65_536;

/// Creates a topic.
pub struct CreateTopic {
    /// Its name.
    pub topic: Name,
    /// Its options.
    pub options: TopicOptions,
}

/// Deletes a topic with all that it holds.
pub struct DeleteTopic {
    /// Which topic.
    pub topic: Name,
}

/// The topics to which the client has a right.
pub struct ListTopics;

/// The options and statistics of a topic.
pub struct GetTopic {
    /// Which topic.
    pub topic: Name,
}

/// Creates a group of a topic.
pub struct CreateGroup {
    /// Of which topic.
    pub topic: Name,
    /// Its name.
    pub group: Name,
    /// Its options.
    pub options: GroupOptions,
}

/// Deletes a group of a topic.
pub struct DeleteGroup {
    /// Of which topic.
    pub topic: Name,
    /// Which group.
    pub group: Name,
}

/// A message to be published.
#[derive(Debug, Default)]
pub struct NewMessage {
    /// Its payload.
    pub payload: Vec<u8>,
    /// Its key; empty for none.
    pub key: String,
    /// Its headers: names and values.
    pub headers: Vec<(String, String)>,
    /// Its priority.
    pub priority: u8,
    /// How long it is held back before it is delivered.
    pub delay: Duration,
    /// How long it can be delivered.
    pub expires_after: Option<Duration>,
    /// The media type of the payload; empty for none.
    pub content_type: String,
    /// The version of the payload's schema; 0 for none.
    pub schema_version: u32,
}

/// Messages to be published, in the form in which they came.
#[derive(Debug)]
pub enum NewMessages {
    /// One by one.
    Listed(Vec<NewMessage>),
    /// In the form in which topics store them.
    Packed(Packed<Bytes>),
}

impl NewMessages {
    /// How many messages.
    fn count(&self) -> usize {
        match self {
            NewMessages::Listed(messages) => messages.len(),
            NewMessages::Packed(messages) => messages.len(),
        }
    }
}

/// Publishes messages. The answer comes when they are as durable as `confirm` says.
pub struct PublishMessages {
    /// On which topic.
    pub topic: Name,
    /// The messages.
    pub messages: NewMessages,
    /// A producer's id and the number of its first message; zeros if it does not number them.
    pub numbers: (u64, u64),
    /// How durable; the level of the topic if left out.
    pub confirm: Option<Level>,
}

/// What was published.
pub struct Published {
    /// The ids of the messages, in order.
    pub ids: Vec<MessageId>,
    /// How many messages had been published before.
    pub duplicates: usize,
}

/// Names a consumer of a client. Two clients may use one name for two consumers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsumerId {
    /// The topic.
    pub topic: Name,
    /// The group of the topic.
    pub group: Name,
    /// The consumer's name within the group.
    pub name: Name,
}

/// Delivers messages to a consumer.
pub struct FetchMessages {
    /// To which consumer.
    pub consumer: ConsumerId,
    /// How many at most.
    pub max: usize,
    /// How long to wait if there are none.
    pub wait: Duration,
}

/// Pushes messages of a group.
pub struct SubscribeMessages {
    /// Of which topic.
    pub topic: Name,
    /// Of which group.
    pub group: Name,
    /// The most unacknowledged messages at a time.
    pub prefetch: usize,
}

/// A message that was delivered, with the number of its lease.
pub type LeasedMessage = (MessageId, u64);

/// Acknowledges messages. The answer comes when that is as durable as the topic's messages are, and
/// names the messages whose leases were lost.
pub struct AckMessages {
    /// Of which consumer.
    pub consumer: ConsumerId,
    /// Which messages.
    pub leases: Vec<LeasedMessage>,
}

/// Acknowledges messages negatively. Answers as [`AckMessages`] does.
pub struct NackMessages {
    /// Of which consumer.
    pub consumer: ConsumerId,
    /// Which messages.
    pub leases: Vec<LeasedMessage>,
    /// What becomes of them.
    pub options: NackOptions,
}

/// What becomes of messages that are negatively acknowledged.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NackOptions {
    /// How long before they are delivered again; the group's retry delay if left out.
    pub delay: Option<Duration>,
    /// Whether they are dead-lettered now.
    pub refuse: bool,
    /// Whether the delivery does not count as an attempt, because the consumer has not looked at them.
    pub unseen: bool,
    /// Why, for the headers of a dead letter.
    pub detail: String,
}

/// Extends the leases of messages. The answer names the messages whose leases were lost.
pub struct ExtendLeases {
    /// Of which consumer.
    pub consumer: ConsumerId,
    /// Which messages.
    pub leases: Vec<LeasedMessage>,
}

/// Removes a consumer from its group. Its messages are delivered to others.
pub struct LeaveGroup {
    /// Which consumer.
    pub consumer: ConsumerId,
}

/// Reads a topic without a group.
pub struct ReadMessages {
    /// Which topic.
    pub topic: Name,
    /// From where.
    pub from: ReadFrom,
    /// How many messages at most.
    pub max: usize,
    /// How long to wait if there are none.
    pub wait: Duration,
}

/// Where a read begins.
#[derive(Clone, Debug)]
pub enum ReadFrom {
    /// At a position that the queue finds.
    Start(Start),
    /// At these positions, one for each lane, lowest priority first.
    Positions(Vec<u64>),
}

/// A page of messages.
#[derive(Default)]
pub struct ReadPage {
    /// The messages.
    pub messages: Vec<Message>,
    /// How many messages the topic had dropped before they were read.
    pub missed: u64,
    /// How many were left out because a later message of the same key exists.
    pub conflated: u64,
    /// The positions of the next page.
    pub next: Vec<u64>,
}

/// Implements [`Request`], [`Command`] or [`Query`], and [`NeedsRight`].
macro_rules! requests {
    ($($name:literal $Kind:ident $Request:ident => $Response:ty, $right:ident of $($topic:ident).+;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl $Kind for $Request {}

        impl NeedsRight for $Request {
            fn needs(&self) -> Requirement<'_> {
                Requirement::Right(QueueRight::$right, &self.$($topic).+)
            }
        }
    )* };
}

requests! {
    "create_topic" Command CreateTopic => (), Admin of topic;
    "delete_topic" Command DeleteTopic => (), Admin of topic;
    "delete_group" Command DeleteGroup => (), Admin of topic;
    "publish_messages" Command PublishMessages => Published, Produce of topic;
    "fetch_messages" Command FetchMessages => Fetched, Consume of consumer.topic;
    "subscribe_messages" Command SubscribeMessages => Subscription, Consume of topic;
    "ack_messages" Command AckMessages => Vec<MessageId>, Consume of consumer.topic;
    "nack_messages" Command NackMessages => Vec<MessageId>, Consume of consumer.topic;
    "extend_leases" Command ExtendLeases => Vec<MessageId>, Consume of consumer.topic;
    "leave_group" Command LeaveGroup => (), Consume of consumer.topic;
    "read_messages" Query ReadMessages => ReadPage, Consume of topic;
}

impl Request for CreateGroup {
    type Response = ();
    const NAME: &'static str = "create_group";
}

impl Command for CreateGroup {}

impl NeedsRight for CreateGroup {
    fn needs(&self) -> Requirement<'_> {
        Requirement::Right(QueueRight::Admin, &self.topic)
    }

    fn also_needs(&self) -> Vec<Requirement<'_>> {
        match &self.options.dead_letter {
            // The group publishes its dead letters there.
            DeadLetter::Topic(topic) => vec![Requirement::Right(QueueRight::Produce, topic)],
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
    fn needs(&self) -> Requirement<'_> {
        // The answer lists only topics to which the client has a right.
        Requirement::Nothing
    }
}

impl Request for GetTopic {
    type Response = (TopicOptions, TopicStats);
    const NAME: &'static str = "get_topic";
}

impl Query for GetTopic {}

impl NeedsRight for GetTopic {
    fn needs(&self) -> Requirement<'_> {
        Requirement::AnyRight(&self.topic)
    }
}

/// Requests that are valid whatever their fields say.
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
        if producer != 0 && first.checked_add(self.messages.count() as u64).is_none() {
            return Err(AtField("first").invalid("The numbers would not fit 64 bits."));
        }
        check_count("body", self.messages.count())
    }
}

impl Validate for FetchMessages {
    fn validate(&self) -> Result<()> {
        check_wait(self.wait)?;
        check_count("max", self.max)
    }
}

impl Validate for AckMessages {
    fn validate(&self) -> Result<()> {
        check_count("messages", self.leases.len())
    }
}

impl Validate for NackMessages {
    fn validate(&self) -> Result<()> {
        check_settlement(self.leases.len(), &self.options)
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
        check_count("messages", self.leases.len())
    }
}

impl Validate for ReadMessages {
    fn validate(&self) -> Result<()> {
        if let ReadFrom::Positions(positions) = &self.from {
            check_positions(positions)?;
        }
        check_wait(self.wait)?;
        check_count("max", self.max)
    }
}

/// Checks the number of messages that are acknowledged, negatively or not, and the options.
///
/// # Errors
/// `invalid_field`.
pub fn check_settlement(count: usize, options: &NackOptions) -> Result<()> {
    let NackOptions { delay, refuse, unseen, detail } = options;
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
    check_count("messages", count)
}

fn check_wait(wait: Duration) -> Result<()> {
    if wait > WAIT_MAX {
        let message = format!("A request waits at most {} ms.", WAIT_MAX.as_millis());
        return Err(AtField("wait_ms").invalid(message));
    }
    Ok(())
}

/// Checks that there are no more positions than lanes.
pub(crate) fn check_positions(positions: &[u64]) -> Result<()> {
    if positions.len() > usize::from(rialto_queue::PRIORITIES_MAX) {
        return Err(AtField("from").invalid("There are more places than priorities."));
    }
    Ok(())
}

pub(crate) fn check_count(field: &'static str, count: usize) -> Result<()> {
    match count {
        1..=MESSAGES_MAX => Ok(()),
        _ => {
            let message = format!("There must be 1 to {MESSAGES_MAX} messages.");
            Err(AtField(field).invalid(message))
        }
    }
}
