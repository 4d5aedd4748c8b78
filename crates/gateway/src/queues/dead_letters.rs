//! Dead letters, and dropping what a topic holds.

use super::grant::QueueRight;
use super::keeper::{QueueKeeper, READ_BYTES_MAX, caller};
use super::policy::{Needed, NeedsRight};
use super::request::{counted, placed};
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Handler, Query, Request, Result};
use rialto_desk::Scope;
use rialto_queue::{Message, Name, Redriven};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

/// The oldest dead letters of a topic that were not redriven.
pub(crate) struct ListDeadLetters {
    pub(crate) topic: Name,
    pub(crate) max: usize,
}

/// Publishes dead letters again on the topics that they came from, as far as the caller may publish
/// there. It ends before the first for which a grant has no room, which is an error if nothing came
/// before it. Answers where to continue.
pub(crate) struct RedriveDeadLetters {
    pub(crate) topic: Name,
    /// Where an earlier request ended; nothing for the oldest dead letters.
    pub(crate) from: Vec<u64>,
    pub(crate) max: usize,
}

/// Drops all messages of a topic. Answers how many there were.
pub(crate) struct PurgeTopic {
    pub(crate) topic: Name,
}

impl Request for ListDeadLetters {
    type Response = Vec<Message>;
    const NAME: &'static str = "list_dead_letters";
}

impl Query for ListDeadLetters {}

impl NeedsRight for ListDeadLetters {
    fn needs(&self) -> Needed<'_> {
        Needed::Right(QueueRight::Consume, &self.topic)
    }
}

impl Validate for ListDeadLetters {
    fn validate(&self) -> Result<()> {
        counted("max", self.max)
    }
}

impl Handler<ListDeadLetters> for QueueKeeper {
    async fn handle(&self, list: ListDeadLetters, _: &Context<'_>) -> Result<Vec<Message>> {
        let ListDeadLetters { topic, max } = list;
        self.aside(move |queue| queue.dead_letters(topic.as_str(), max, READ_BYTES_MAX)).await
    }
}

impl Request for RedriveDeadLetters {
    type Response = (Redriven, Vec<u64>);
    const NAME: &'static str = "redrive_dead_letters";
}

impl Command for RedriveDeadLetters {}

impl NeedsRight for RedriveDeadLetters {
    fn needs(&self) -> Needed<'_> {
        Needed::Right(QueueRight::Admin, &self.topic)
    }
}

impl Validate for RedriveDeadLetters {
    fn validate(&self) -> Result<()> {
        placed(&self.from)?;
        counted("max", self.max)
    }
}

impl Handler<RedriveDeadLetters> for QueueKeeper {
    async fn handle(
        &self,
        redrive: RedriveDeadLetters,
        cx: &Context<'_>,
    ) -> Result<(Redriven, Vec<u64>)> {
        let RedriveDeadLetters { topic, from, max } = redrive;
        let caller = caller(cx)?;
        let (is_admin, grants) = (caller.scopes().has(Scope::Admin), caller.queues().to_vec());
        let charge = self.charging(caller);
        let refused = Arc::new(OnceLock::new());
        let told = Arc::clone(&refused);
        // What a letter says of where it came from may be anybody's word.
        let may = move |origin: &Name, bytes: u64| {
            let allows = |right| grants.iter().any(|grant| grant.allows(right, origin.as_str()));
            if is_admin || !allows(QueueRight::Produce) {
                return ControlFlow::Continue(is_admin);
            }
            match charge(origin, bytes) {
                Ok(()) => ControlFlow::Continue(true),
                Err(error) => {
                    let _ = told.set(error);
                    ControlFlow::Break(())
                }
            }
        };
        let redriven = self
            .aside(move |queue| queue.redrive_from(topic.as_str(), &from, max as u64, may))
            .await?;
        match Arc::into_inner(refused).and_then(OnceLock::into_inner) {
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
    fn needs(&self) -> Needed<'_> {
        Needed::Right(QueueRight::Admin, &self.topic)
    }
}

impl Validate for PurgeTopic {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Handler<PurgeTopic> for QueueKeeper {
    async fn handle(&self, purge: PurgeTopic, _: &Context<'_>) -> Result<u64> {
        self.aside(move |queue| queue.purge(purge.topic.as_str())).await
    }
}
