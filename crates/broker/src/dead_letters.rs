//! Dead letters, and purging a topic.

use crate::policy::{NeedsRight, Requirement, may_produce};
use crate::request::{check_count, check_positions};
use crate::service::{QueueService, READ_BYTES_MAX, principal};
use rialto_api::QueueRight;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Handler, Query, Request, Result};
use rialto_queue::{Message, Name, Redriven};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

/// The oldest dead letters of a topic that were not redriven.
pub struct ListDeadLetters {
    /// The topic of the dead letters.
    pub topic: Name,
    /// The most dead letters to return.
    pub max: usize,
}

/// Publishes dead letters again on their original topics, as far as the client may publish there.
///
/// It stops before the first dead letter for which a grant has no room. That is an error only if no
/// dead letter was handled before it. The answer says where to continue.
pub struct RedriveDeadLetters {
    /// The topic of the dead letters.
    pub topic: Name,
    /// The positions where an earlier request stopped; empty for the oldest dead letters.
    pub from: Vec<u64>,
    /// The most dead letters to redrive.
    pub max: usize,
}

/// Drops all messages of a topic. The answer is their number.
pub struct PurgeTopic {
    /// The topic.
    pub topic: Name,
}

impl Request for ListDeadLetters {
    type Response = Vec<Message>;
    const NAME: &'static str = "list_dead_letters";
}

impl Query for ListDeadLetters {}

impl NeedsRight for ListDeadLetters {
    fn needs(&self) -> Requirement<'_> {
        Requirement::Right(QueueRight::Consume, &self.topic)
    }
}

impl Validate for ListDeadLetters {
    fn validate(&self) -> Result<()> {
        check_count("max", self.max)
    }
}

impl Handler<ListDeadLetters> for QueueService {
    async fn handle(&self, list: ListDeadLetters, _: &Context<'_>) -> Result<Vec<Message>> {
        let ListDeadLetters { topic, max } = list;
        self.run_blocking(move |queue| queue.dead_letters(topic.as_str(), max, READ_BYTES_MAX))
            .await
    }
}

impl Request for RedriveDeadLetters {
    type Response = (Redriven, Vec<u64>);
    const NAME: &'static str = "redrive_dead_letters";
}

impl Command for RedriveDeadLetters {}

impl NeedsRight for RedriveDeadLetters {
    fn needs(&self) -> Requirement<'_> {
        Requirement::Right(QueueRight::Admin, &self.topic)
    }
}

impl Validate for RedriveDeadLetters {
    fn validate(&self) -> Result<()> {
        check_positions(&self.from)?;
        check_count("max", self.max)
    }
}

impl Handler<RedriveDeadLetters> for QueueService {
    async fn handle(
        &self,
        redrive: RedriveDeadLetters,
        cx: &Context<'_>,
    ) -> Result<(Redriven, Vec<u64>)> {
        let RedriveDeadLetters { topic, from, max } = redrive;
        let principal = principal(cx)?.clone();
        let charge = self.charging(&principal);
        let refusal = Arc::new(OnceLock::new());
        let first_refusal = Arc::clone(&refusal);
        // The original topic is in the headers of a dead letter, which any producer can forge.
        let may = move |origin: &Name, bytes: u64| {
            if may_produce(&principal, origin).is_err() {
                return ControlFlow::Continue(false);
            }
            match charge(origin, bytes) {
                Ok(()) => ControlFlow::Continue(true),
                Err(error) => {
                    let _ = first_refusal.set(error);
                    ControlFlow::Break(())
                }
            }
        };
        let redriven = self
            .run_blocking(move |queue| queue.redrive_from(topic.as_str(), &from, max as u64, may))
            .await?;
        match Arc::into_inner(refusal).and_then(OnceLock::into_inner) {
            Some(error) if redriven.0 == Redriven::default() => Err(error),
            _ => Ok(redriven),
        }
    }
}

impl Request for PurgeTopic {
    type Response = u64;
    const NAME: &'static str = "purge_topic";
}

impl Command for PurgeTopic {}

impl NeedsRight for PurgeTopic {
    fn needs(&self) -> Requirement<'_> {
        Requirement::Right(QueueRight::Admin, &self.topic)
    }
}

impl Validate for PurgeTopic {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Handler<PurgeTopic> for QueueService {
    async fn handle(&self, purge: PurgeTopic, _: &Context<'_>) -> Result<u64> {
        self.run_blocking(move |queue| queue.purge(purge.topic.as_str())).await
    }
}
