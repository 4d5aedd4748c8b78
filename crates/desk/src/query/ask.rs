//! Asking what the venue knows: a question, how fresh its answer must be, and the answer.

use super::{Known, Unanswered};
use crate::{Grant, Live, Names, Needs};
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_feed::{Feed, Moment};
use rialto_model::Seq;
use std::sync::Arc;

/// How much of what has happened an answer must know of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fresh {
    /// Whatever is known at the moment.
    #[default]
    Now,
    /// Everything through this command; what takes too long is [`Unanswered::Behind`].
    Through(Seq),
    /// Everything that has been released by now, unless that takes too long.
    Released,
}

impl From<Option<Seq>> for Fresh {
    fn from(seq: Option<Seq>) -> Fresh {
        seq.map_or(Fresh::Now, Fresh::Through)
    }
}

/// A question that is answered from the feed.
///
/// The feed stands still while it is read: an answer copies what it needs, a bounded amount, and
/// leaves the conclusion to the caller.
pub trait Question: Send + Sync + 'static {
    /// What the answer says.
    type Answer: Send + 'static;
    /// Its name in traces, metrics and errors.
    const NAME: &'static str;

    /// Refuses a grant that does not allow to ask this. What is public is refused to nobody.
    ///
    /// # Errors
    /// The grant does not allow it.
    fn check(&self, _: &Grant) -> Result<()> {
        Ok(())
    }

    /// The answer as of now.
    ///
    /// # Errors
    /// What it is about does not exist.
    fn read(&self, feed: &Feed) -> std::result::Result<Self::Answer, Unanswered>;
}

/// A question on the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ask<Q> {
    /// What is asked.
    pub question: Q,
    /// How fresh the answer must be.
    pub fresh: Fresh,
}

impl<Q> Ask<Q> {
    /// Asks for what is known at the moment.
    pub fn now(question: Q) -> Ask<Q> {
        Ask { question, fresh: Fresh::Now }
    }
}

/// An answer, and of when it is.
#[derive(Clone, Debug)]
pub struct AsOf<T> {
    /// The last command that it knows of.
    pub at: Moment,
    /// The names of the instruments and currencies in it.
    pub names: Arc<Names>,
    /// What it says.
    pub answer: T,
}

impl<Q: Question> Request for Ask<Q> {
    type Response = AsOf<Q::Answer>;
    const NAME: &'static str = Q::NAME;
}

impl<Q: Question> Query for Ask<Q> {}

impl<Q: Question> Needs for Ask<Q> {
    fn check(&self, grant: &Grant) -> Result<()> {
        self.question.check(grant)
    }
}

impl<Q: Question> Handler<Ask<Q>> for Known {
    async fn handle(&self, ask: Ask<Q>, _: &Context<'_>) -> Result<AsOf<Q::Answer>> {
        match ask.fresh {
            Fresh::Now => {}
            Fresh::Through(seq) => {
                if !self.wait_for(seq).await {
                    return Err(Unanswered::Behind(seq).into());
                }
            }
            Fresh::Released => self.catch_up().await,
        }
        Ok(read(&self.live, &ask.question)?)
    }
}

/// The answer to a question as of now.
pub(super) fn read<Q: Question>(
    live: &Live,
    question: &Q,
) -> std::result::Result<AsOf<Q::Answer>, Unanswered> {
    let feed = live.read();
    let answer = question.read(&feed)?;
    let at = Moment { seq: feed.seq(), time: feed.time() };
    drop(feed);
    // The names are never behind the feed, so that they know whatever the answer mentions.
    Ok(AsOf { at, names: live.names(), answer })
}
