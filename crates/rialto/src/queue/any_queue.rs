//! What the commands need of a queue, local or remote.

use super::shown::Shown;
use super::topics::{Create, CreateGroup};
use crate::Error;
use rialto_queue::{Publish, Redriven, Start};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// What is done with each message; an error ends it.
pub(super) type Show<'a> = &'a mut dyn FnMut(&Shown<'_>) -> io::Result<()>;

/// A queue: in a directory of this machine, or a venue's.
pub(super) trait AnyQueue {
    fn create_topic(&self, create: &Create) -> Result<(), Error>;

    fn create_group(&self, create: &CreateGroup) -> Result<(), Error>;

    fn delete_topic(&self, topic: &str) -> Result<(), Error>;

    fn delete_group(&self, topic: &str, group: &str) -> Result<(), Error>;

    /// The names of the topics, in order.
    fn topics(&self) -> Result<Vec<String>, Error>;

    /// The options and statistics of a topic, as the API shows them.
    fn topic(&self, topic: &str) -> Result<Value, Error>;

    /// Publishes messages, with numbers from `first` on unless the producer is 0, and returns when
    /// they are as durable as the topic's level.
    fn publish(
        &self,
        topic: &str,
        messages: &[Publish<'_>],
        numbers: (u64, u64),
    ) -> Result<Published, Error>;

    /// Joins a group, which is created with its usual options if there is none.
    fn join(&self, topic: &str, group: &str) -> Result<Box<dyn Member + '_>, Error>;

    /// Reads without being a member of a group.
    fn read(&self, topic: &str, from: Start) -> Result<Box<dyn Pages + '_>, Error>;

    /// Shows the dead letters of a topic that were not redriven, the oldest first.
    fn dead_letters(&self, topic: &str, show: Show<'_>) -> Result<(), Error>;

    /// Publishes all dead letters of a topic again.
    fn redrive(&self, topic: &str) -> Result<Redriven, Error>;

    /// Drops all messages of a topic, and returns their number.
    fn purge(&self, topic: &str) -> Result<u64, Error>;
}

/// The result of publishing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Published {
    pub(super) messages: u64,
    /// Messages that had been published before under their numbers.
    pub(super) duplicates: u64,
}

/// Messages that were shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) messages: u64,
    /// How many had been dropped before they were read.
    pub(super) missed: u64,
    /// How many were left out because there are later ones of their keys.
    pub(super) conflated: u64,
    /// Whether the reader has had enough.
    pub(super) is_enough: bool,
}

/// A member of a group.
pub(super) trait Member {
    /// Shows at most `most` messages; waits for some at most this long.
    fn fetch(&mut self, most: usize, wait: Duration, show: Show<'_>) -> Result<Seen, Error>;

    /// Acknowledges what was shown last. Returns how many leases had been lost.
    fn done(&mut self) -> Result<u64, Error>;

    /// Gives back what was shown last, except for the first `looked_at` messages, so that it does not
    /// count as an attempt. Returns how many could not be given back.
    fn return_unseen(&mut self, looked_at: usize) -> Result<u64, Error>;

    /// Leaves the group. Returns when acknowledgements are as durable as the topic's level; messages
    /// that were not acknowledged are delivered to others.
    fn leave(self: Box<Self>) -> Result<(), Error>;
}

/// A place in a topic.
pub(super) trait Pages {
    /// Shows at most `most` of the messages that there are now.
    fn next(&mut self, most: usize, show: Show<'_>) -> Result<Seen, Error>;
}
