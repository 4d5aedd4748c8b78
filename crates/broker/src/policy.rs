//! The authorisation of requests to the queue.

use crate::Principal;
use rialto_api::QueueRight;
use rialto_bus::behaviour::Policy;
use rialto_bus::{Context, Error, ErrorKind, Request, Result};
use rialto_desk::Forbidden;
use rialto_queue::Name;

/// Permits a request only if a grant of its [`Principal`] allows it. Operators may make every
/// request.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueuePolicy;

/// A right that a request needs.
pub enum Requirement<'a> {
    /// Authentication only.
    Nothing,
    /// Some right to the topic.
    AnyRight(&'a Name),
    /// This right to the topic.
    Right(QueueRight, &'a Name),
}

/// A request that needs a right.
pub trait NeedsRight: Request {
    /// The right that it needs.
    fn needs(&self) -> Requirement<'_>;

    /// Further rights that it needs.
    fn also_needs(&self) -> Vec<Requirement<'_>> {
        Vec::new()
    }
}

impl<R: NeedsRight> Policy<R> for QueuePolicy {
    fn permit(&self, request: &R, cx: &Context<'_>) -> Result<()> {
        let principal: &Principal = cx.principal().ok_or(Forbidden::Nobody)?;
        if principal.is_operator() {
            return Ok(());
        }
        check(principal, &request.needs())?;
        request.also_needs().iter().try_for_each(|required| check(principal, required))
    }
}

/// Checks whether a client may publish on a topic. A gateway calls it before it reads the messages.
///
/// # Errors
/// `forbidden`.
pub fn may_produce(principal: &Principal, topic: &Name) -> Result<()> {
    match principal.is_operator() {
        true => Ok(()),
        false => check(principal, &Requirement::Right(QueueRight::Produce, topic)),
    }
}

/// Checks whether a client has any right to any topic.
///
/// # Errors
/// `forbidden`.
pub fn may_use_any_topic(principal: &Principal) -> Result<()> {
    if principal.is_operator() || !principal.grants().is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Forbidden, "forbidden", "This key has no right to any topic."))
}

fn check(principal: &Principal, required: &Requirement<'_>) -> Result<()> {
    let grants = principal.grants();
    let (allowed, right, topic) = match *required {
        Requirement::Nothing => return Ok(()),
        Requirement::AnyRight(topic) => {
            (grants.iter().any(|grant| grant.topics.matches(topic.as_str())), "any", topic)
        }
        Requirement::Right(right, topic) => {
            let allows = grants.iter().any(|grant| grant.allows(right, topic.as_str()));
            (allows, right.name(), topic)
        }
    };
    if allowed {
        return Ok(());
    }
    // The message does not reveal whether the topic exists.
    let message = format!("This key has no right `{right}` to the topic {topic}.");
    Err(Error::new(ErrorKind::Forbidden, "forbidden", message))
}
