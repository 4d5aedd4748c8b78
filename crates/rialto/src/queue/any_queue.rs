//! What the commands need of a queue, local or remote.

use super::shown::Shown;
use super::topics::{Create, CreateGroup};
use crate::Error;
use rialto_client::api::LeaseInfo;
use rialto_queue::{Publish, Redriven, Start};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// Handles each message; an error ends the delivery.
pub(super) type Show<'a> = &'a mut dyn FnMut(&Shown<'_>) -> io::Result<()>;

/// A queue: a local directory's, or a venue's.
pub(super) trait AnyQueue {
    fn create_topic(&self, create: &Create) -> Result<(), Error>;

    fn create_group(&self, create: &CreateGroup) -> Result<(), Error>;

    fn delete_topic(&self, topic: &str) -> Result<(), Error>;

    fn delete_group(&self, topic: &str, group: &str) -> Result<(), Error>;

    /// The names of the topics, in order.
    fn topics(&self) -> Result<Vec<String>, Error>;

    /// The options and statistics of a topic, as the API shows them.
    fn topic(&self, topic: &str) -> Result<Value, Error>;

    /// Publishes messages, numbered from `first` on unless the producer is 0. Returns when they are
    /// as durable as the topic's level.
    fn publish(
        &self,
        topic: &str,
        messages: &[Publish<'_>],
        numbers: (u64, u64),
    ) -> Result<Published, Error>;

    /// Joins a group, and creates it with default options if it does not exist. Its leases last
    /// `ack_wait`, or as long as the group says.
    fn join(
        &self,
        topic: &str,
        group: &str,
        ack_wait: Option<Duration>,
    ) -> Result<Box<dyn Member + '_>, Error>;

    /// A page of the leased messages of a group: those after a message, by priority and number. The
    /// last page is empty.
    fn leases(
        &self,
        topic: &str,
        group: &str,
        after: Option<&str>,
    ) -> Result<Vec<LeaseInfo>, Error>;

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
    /// Duplicates: messages already published under their numbers.
    pub(super) duplicates: u64,
}

/// A batch of printed messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) messages: u64,
    /// The messages that retention dropped before they were read.
    pub(super) missed: u64,
    /// The messages skipped because their keys have later ones.
    pub(super) conflated: u64,
    /// Whether the output was closed.
    pub(super) is_enough: bool,
}

/// A member of a group.
pub(super) trait Member {
    /// Prints at most `most` messages; waits at most this long for the first.
    fn fetch(&mut self, most: usize, wait: Duration, show: Show<'_>) -> Result<Seen, Error>;

    /// Acknowledges the last batch. Returns the number of lost leases.
    fn done(&mut self) -> Result<u64, Error>;

    /// Returns the last batch to the group, except for the first `looked_at` messages, so that it
    /// does not count as an attempt. Returns the number of lost leases.
    fn return_unseen(&mut self, looked_at: usize) -> Result<u64, Error>;

    /// Leaves the group. Returns when acknowledgements are as durable as the topic's level; messages
    /// that were not acknowledged are delivered to others.
    fn leave(self: Box<Self>) -> Result<(), Error>;
}

/// A position in a topic.
pub(super) trait Pages {
    /// Prints at most `most` of the available messages.
    fn next(&mut self, most: usize, show: Show<'_>) -> Result<Seen, Error>;
}
