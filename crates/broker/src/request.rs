//! The requests to the queue.

use crate::policy::{NeedsRight, Requirement};
use bytes::Bytes;
use rialto_api::{QueueRight, VENUE_TOPICS, is_of_venue};
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Query, Request, Result};
use rialto_desk::AtField;
use rialto_queue::packed::Packed;
use rialto_queue::{
    DeadLetter, Fetched, GroupOptions, LEASE_MAX, LEASE_MIN, Level, Message, MessageId, Name,
    Start, Subscription, TopicOptions, TopicStats,
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

/// Deletes a topic with its messages.
pub struct DeleteTopic {
    /// The topic.
    pub topic: Name,
}

/// The topics to which the client has a right.
pub struct ListTopics;

/// The options and statistics of a topic.
pub struct GetTopic {
    /// The topic.
    pub topic: Name,
}

/// Creates a group of a topic.
pub struct CreateGroup {
    /// The topic.
    pub topic: Name,
    /// Its name.
    pub group: Name,
    /// Its options.
    pub options: GroupOptions,
}

/// Deletes a group of a topic.
pub struct DeleteGroup {
    /// The topic.
    pub topic: Name,
    /// The group.
    pub group: Name,
}

/// A message to publish.
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
    /// The delay before it is delivered.
    pub delay: Duration,
    /// The time after which it is no longer delivered.
    pub expires_after: Option<Duration>,
    /// The media type of the payload; empty for none.
    pub content_type: String,
    /// The version of the payload's schema; 0 for none.
    pub schema_version: u32,
}

/// Messages to publish, in the form in which they were received.
#[derive(Debug)]
pub enum NewMessages {
    /// Decoded.
    Listed(Vec<NewMessage>),
    /// Packed, in the form in which topics store them.
    Packed(Packed<Bytes>),
}

impl NewMessages {
    /// The number of messages.
    fn count(&self) -> usize {
        match self {
            NewMessages::Listed(messages) => messages.len(),
            NewMessages::Packed(messages) => messages.len(),
        }
    }
}

/// Publishes messages. The answer comes when they are durable at the level `confirm`.
pub struct PublishMessages {
    /// The topic.
    pub topic: Name,
    /// The messages.
    pub messages: NewMessages,
    /// A producer's id and the number of its first message; zeros without numbers.
    pub numbers: (u64, u64),
    /// The durability level; by default the topic's.
    pub confirm: Option<Level>,
}

/// The result of publishing.
pub struct Published {
    /// The ids of the messages, in order.
    pub ids: Vec<MessageId>,
    /// The number of duplicates.
    pub duplicates: usize,
}

/// The identity of a client's consumer. Names are separate for each client.
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
    /// The consumer.
    pub consumer: ConsumerId,
    /// The most messages to deliver.
    pub max: usize,
    /// How long to wait for the first message.
    pub wait: Duration,
    /// How long the leases last; by default as the group says.
    pub ack_wait: Option<Duration>,
}

/// Pushes messages of a group.
pub struct SubscribeMessages {
    /// The topic.
    pub topic: Name,
    /// The group.
    pub group: Name,
    /// The most outstanding messages.
    pub prefetch: usize,
}

/// A delivered message with the number of its lease.
pub type DeliveredLease = (MessageId, u64);

/// Acknowledges messages. The answer comes when that is durable at the topic's level, and lists the
/// messages whose leases were lost.
pub struct AckMessages {
    /// The consumer.
    pub consumer: ConsumerId,
    /// The messages.
    pub leases: Vec<DeliveredLease>,
}

/// Acknowledges messages negatively. Answers as [`AckMessages`] does.
pub struct NackMessages {
    /// The consumer.
    pub consumer: ConsumerId,
    /// The messages.
    pub leases: Vec<DeliveredLease>,
    /// The options.
    pub options: NackOptions,
}

/// The options of a negative acknowledgement.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NackOptions {
    /// The delay before redelivery; by default the group's retry delay.
    pub delay: Option<Duration>,
    /// Whether the messages become dead letters now.
    pub refuse: bool,
    /// Whether the delivery does not count as an attempt, because the consumer has not seen the
    /// messages.
    pub unseen: bool,
    /// The reason, for the headers of a dead letter.
    pub detail: String,
}

/// Extends the leases of messages. The answer lists the messages whose leases were lost.
pub struct ExtendLeases {
    /// The consumer.
    pub consumer: ConsumerId,
    /// The messages.
    pub leases: Vec<DeliveredLease>,
    /// How long the leases last from now; by default as the group says.
    pub ack_wait: Option<Duration>,
}

/// Removes a consumer from its group. Its messages are delivered to others.
pub struct LeaveGroup {
    /// The consumer.
    pub consumer: ConsumerId,
}

/// Reads a topic without a group.
pub struct ReadMessages {
    /// The topic.
    pub topic: Name,
    /// The start.
    pub from: ReadFrom,
    /// The most messages to read.
    pub max: usize,
    /// How long to wait for the first message.
    pub wait: Duration,
}

/// The start of a read.
#[derive(Clone, Debug)]
pub enum ReadFrom {
    /// A position that the queue finds.
    Start(Start),
    /// At these positions, one for each lane, lowest priority first.
    Positions(Vec<u64>),
}

/// A page of messages.
#[derive(Default)]
pub struct ReadPage {
    /// The messages.
    pub messages: Vec<Message>,
    /// The number of messages that retention dropped before they were read.
    pub missed: u64,
    /// The number of messages that were skipped because their keys have later ones.
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

/// Requests that need no validation.
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
                "The name {name} is reserved for the venue, as are all names that begin with {VENUE_TOPICS:?}."
            );
            return Err(AtField("name").invalid(message));
        }
        Ok(())
    }
}

impl Validate for CreateGroup {
    fn validate(&self) -> Result<()> {
        let GroupOptions { ack_wait, outstanding_max, .. } = &self.options;
        if ack_wait.is_zero() {
            return Err(AtField("ack_wait_ms").invalid("The value must be at least 1."));
        }
        if !(1..=OUTSTANDING_MAX).contains(outstanding_max) {
            let message = format!("The value must be from 1 to {OUTSTANDING_MAX}.");
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
        check_ack_wait(self.ack_wait)?;
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
        check_ack_wait(self.ack_wait)?;
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
        let message = "With unseen, no other option is allowed.";
        return Err(AtField("unseen").invalid(message));
    }
    if delay.is_some_and(|delay| delay > DELAY_MAX) {
        let message = format!("The delay is at most {} ms.", DELAY_MAX.as_millis());
        return Err(AtField("delay_ms").invalid(message));
    }
    if detail.len() > DETAIL_BYTES_MAX {
        let message = format!("The detail has at most {DETAIL_BYTES_MAX} bytes.");
        return Err(AtField("detail").invalid(message));
    }
    check_count("messages", count)
}

/// Checks the length of a lease.
///
/// # Errors
/// `invalid_field`.
pub fn check_ack_wait(length: Option<Duration>) -> Result<()> {
    if length.is_some_and(|length| !(LEASE_MIN..=LEASE_MAX).contains(&length)) {
        let (min, max) = (LEASE_MIN.as_millis(), LEASE_MAX.as_millis());
        let message = format!("A lease lasts {min} to {max} ms.");
        return Err(AtField("ack_wait_ms").invalid(message));
    }
    Ok(())
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
        return Err(AtField("from").invalid("There are more positions than priorities."));
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
