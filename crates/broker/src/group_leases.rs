//! Listing the leased messages of a group.

use crate::policy::{NeedsRight, Requirement};
use crate::request::check_count;
use crate::service::QueueService;
use rialto_api::QueueRight;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_queue::{MessageId, Name, OutstandingMessage};

/// The leased messages of a group, by priority and number.
pub struct ListLeases {
    /// The topic.
    pub topic: Name,
    /// The group.
    pub group: Name,
    /// The last message of the page before.
    pub after: Option<MessageId>,
    /// The most messages to return.
    pub max: usize,
}

/// A leased message of a group.
pub struct GroupLease {
    /// The message and its lease.
    pub message: OutstandingMessage,
    /// The name of the consumer; `None` if messages are pushed to it.
    pub consumer: Option<Name>,
}

impl Request for ListLeases {
    type Response = Vec<GroupLease>;
    const NAME: &'static str = "list_leases";
}

impl Query for ListLeases {}

impl NeedsRight for ListLeases {
    fn needs(&self) -> Requirement<'_> {
        Requirement::Right(QueueRight::Consume, &self.topic)
    }
}

impl Validate for ListLeases {
    fn validate(&self) -> Result<()> {
        check_count("max", self.max)
    }
}

impl Handler<ListLeases> for QueueService {
    async fn handle(&self, list: ListLeases, _: &Context<'_>) -> Result<Vec<GroupLease>> {
        let ListLeases { topic, group, after, max } = list;
        let names = self.consumer_names(&topic, &group);
        let leased = self
            .run_blocking(move |queue| queue.leased(topic.as_str(), group.as_str(), after, max))
            .await?;
        let named = |message: OutstandingMessage| {
            let consumer = names.get(&message.consumer).cloned();
            GroupLease { message, consumer }
        };
        Ok(leased.into_iter().map(named).collect())
    }
}
