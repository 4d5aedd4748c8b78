//! Who may ask what of the queue.

use super::grant::QueueRight;
use crate::auth::Caller;
use rialto_bus::behaviour::Policy;
use rialto_bus::{Context, Error, ErrorKind, Request, Result};
use rialto_desk::{Forbidden, Scope};
use rialto_queue::Name;

/// Lets a request pass only if the key of its caller allows what it needs. Operators may do
/// everything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueuePolicy;

/// What a request needs of its caller's key.
pub(crate) enum Needed<'a> {
    /// To be known.
    Nothing,
    /// Some right to the topic.
    AnyRight(&'a Name),
    /// This right to the topic.
    Right(QueueRight, &'a Name),
}

/// A request that needs something.
pub(crate) trait NeedsRight: Request {
    /// What.
    fn needs(&self) -> Needed<'_>;

    /// What it needs besides.
    fn also_needs(&self) -> Vec<Needed<'_>> {
        Vec::new()
    }
}

impl<R: NeedsRight> Policy<R> for QueuePolicy {
    fn permit(&self, request: &R, cx: &Context<'_>) -> Result<()> {
        let caller: &Caller = cx.principal().ok_or(Forbidden::Nobody)?;
        if caller.scopes().has(Scope::Admin) {
            return Ok(());
        }
        check(caller, &request.needs())?;
        request.also_needs().iter().try_for_each(|needed| check(caller, needed))
    }
}

/// Whether a caller may publish on a topic: asked before the messages are read.
pub(crate) fn may_produce(caller: &Caller, topic: &Name) -> Result<()> {
    match caller.scopes().has(Scope::Admin) {
        true => Ok(()),
        false => check(caller, &Needed::Right(QueueRight::Produce, topic)),
    }
}

/// Whether a caller may do anything with any topic.
pub(crate) fn may_something(caller: &Caller) -> Result<()> {
    if caller.scopes().has(Scope::Admin) || !caller.queues().is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Forbidden, "forbidden", "This key has no right to any topic."))
}

fn check(caller: &Caller, needed: &Needed<'_>) -> Result<()> {
    let grants = caller.queues();
    let (allowed, right, topic) = match *needed {
        Needed::Nothing => return Ok(()),
        Needed::AnyRight(topic) => {
            (grants.iter().any(|grant| grant.topics.matches(topic.as_str())), "any", topic)
        }
        Needed::Right(right, topic) => {
            let allows = grants.iter().any(|grant| grant.allows(right, topic.as_str()));
            (allows, right.name(), topic)
        }
    };
    if allowed {
        return Ok(());
    }
    // It says nothing of whether there is such a topic.
    let message = format!("This key has no right `{right}` to the topic {topic}.");
    Err(Error::new(ErrorKind::Forbidden, "forbidden", message))
}
