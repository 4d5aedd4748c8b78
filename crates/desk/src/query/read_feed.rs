//! Queries of the feed: the query, the required freshness and the answer.

use super::{QueryError, QueryHandler};
use crate::{Grant, Live, NameTable, Needs};
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_feed::{Feed, Moment};
use rialto_model::Seq;
use std::sync::Arc;

/// The required freshness of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// The current state.
    #[default]
    Now,
    /// The state after this command; [`QueryError::Behind`] after a timeout.
    Through(Seq),
    /// The state after all commands released by now, or the current state after a timeout.
    Released,
}

impl From<Option<Seq>> for Freshness {
    fn from(seq: Option<Seq>) -> Freshness {
        seq.map_or(Freshness::Now, Freshness::Through)
    }
}

/// A query that is answered from the feed.
///
/// The feed is locked while it is read: an answer copies a bounded amount of data.
pub trait FeedQuery: Send + Sync + 'static {
    /// The answer.
    type Answer: Send + 'static;
    /// The name in traces, metrics and errors.
    const NAME: &'static str;

    /// Returns an error if the grant does not allow this query. Public data is open to every grant.
    ///
    /// # Errors
    /// The grant does not allow it.
    fn check(&self, _: &Grant) -> Result<()> {
        Ok(())
    }

    /// Reads the answer from the feed.
    ///
    /// # Errors
    /// The object does not exist.
    fn read(&self, feed: &Feed) -> std::result::Result<Self::Answer, QueryError>;
}

/// A query on the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadFeed<Q> {
    /// The query.
    pub query: Q,
    /// The required freshness.
    pub freshness: Freshness,
}

impl<Q> ReadFeed<Q> {
    /// A query of the current state.
    pub fn now(query: Q) -> ReadFeed<Q> {
        ReadFeed { query, freshness: Freshness::Now }
    }
}

/// An answer with the sequence and time of its state.
#[derive(Clone, Debug)]
pub struct AsOf<T> {
    /// The last command in the state.
    pub at: Moment,
    /// The names of the instruments and currencies in it.
    pub names: Arc<NameTable>,
    /// The answer.
    pub answer: T,
}

impl<Q: FeedQuery> Request for ReadFeed<Q> {
    type Response = AsOf<Q::Answer>;
    const NAME: &'static str = Q::NAME;
}

impl<Q: FeedQuery> Query for ReadFeed<Q> {}

impl<Q: FeedQuery> Needs for ReadFeed<Q> {
    fn check(&self, grant: &Grant) -> Result<()> {
        self.query.check(grant)
    }
}

impl<Q: FeedQuery> Handler<ReadFeed<Q>> for QueryHandler {
    async fn handle(&self, request: ReadFeed<Q>, _: &Context<'_>) -> Result<AsOf<Q::Answer>> {
        match request.freshness {
            Freshness::Now => {}
            Freshness::Through(seq) => {
                if !self.wait_for(seq).await {
                    return Err(QueryError::Behind(seq).into());
                }
            }
            Freshness::Released => self.catch_up().await,
        }
        Ok(read(&self.live, &request.query)?)
    }
}

/// Reads the answer from the current state.
pub(super) fn read<Q: FeedQuery>(
    live: &Live,
    query: &Q,
) -> std::result::Result<AsOf<Q::Answer>, QueryError> {
    let feed = live.read();
    let answer = query.read(&feed)?;
    let at = Moment { seq: feed.seq(), time: feed.time() };
    drop(feed);
    // The names are updated before the feed is, so that they include all names of the answer.
    Ok(AsOf { at, names: live.names(), answer })
}
