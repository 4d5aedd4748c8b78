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

/// The oldest letters of a topic of dead letters that were not sent back.
pub(crate) struct ListLetters {
    pub(crate) topic: Name,
    pub(crate) max: usize,
}

/// Sends dead letters back to the topics that they came from, as far as the caller may publish
/// there. Where a grant has no room for a letter, it ends before it; that is an error if it is the first.
/// Answers where to go on, besides what became of them.
pub(crate) struct RedriveLetters {
    pub(crate) topic: Name,
    /// Where an earlier request ended; nothing for the oldest letters.
    pub(crate) from: Vec<u64>,
    pub(crate) max: usize,
}

/// Drops all messages of a topic. Answers how many there were.
pub(crate) struct PurgeTopic {
    pub(crate) topic: Name,
}

impl Request for ListLetters {
    type Response = Vec<Message>;
    const NAME: &'static str = "list_letters";
}

impl Query for ListLetters {}

impl NeedsRight for ListLetters {
    fn needs(&self) -> Needed<'_> {
        Needed::Right(QueueRight::Consume, &self.topic)
    }
}

impl Validate for ListLetters {
    fn validate(&self) -> Result<()> {
        counted("max", self.max)
    }
}

impl Handler<ListLetters> for QueueKeeper {
    async fn handle(&self, list: ListLetters, _: &Context<'_>) -> Result<Vec<Message>> {
        let ListLetters { topic, max } = list;
        self.aside(move |queue| queue.dead_letters(topic.as_str(), max, READ_BYTES_MAX)).await
    }
}

impl Request for RedriveLetters {
    type Response = (Redriven, Vec<u64>);
    const NAME: &'static str = "redrive_letters";
}

impl Command for RedriveLetters {}

impl NeedsRight for RedriveLetters {
    fn needs(&self) -> Needed<'_> {
        Needed::Right(QueueRight::Admin, &self.topic)
    }
}

impl Validate for RedriveLetters {
    fn validate(&self) -> Result<()> {
        placed(&self.from)?;
        counted("max", self.max)
    }
}

impl Handler<RedriveLetters> for QueueKeeper {
    async fn handle(
        &self,
        redrive: RedriveLetters,
        cx: &Context<'_>,
    ) -> Result<(Redriven, Vec<u64>)> {
        let RedriveLetters { topic, from, max } = redrive;
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
