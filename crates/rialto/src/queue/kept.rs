//! What the commands need of a queue, wherever it is kept.

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
pub(super) trait Kept {
    fn create_topic(&self, create: &Create) -> Result<(), Error>;

    fn create_group(&self, create: &CreateGroup) -> Result<(), Error>;

    fn delete_topic(&self, topic: &str) -> Result<(), Error>;

    fn delete_group(&self, topic: &str, group: &str) -> Result<(), Error>;

    /// The names of the topics, in order.
    fn topics(&self) -> Result<Vec<String>, Error>;

    /// What a topic is and how it is doing, as the API tells it.
    fn topic(&self, topic: &str) -> Result<Value, Error>;

    /// Publishes messages, with numbers from `first` on unless the producer is 0, and returns when
    /// they are as safe as the topic promises.
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

    /// Shows the dead letters of a topic of such that were not sent back, the oldest first.
    fn dead_letters(&self, topic: &str, show: Show<'_>) -> Result<(), Error>;

    /// Sends them all back.
    fn redrive(&self, topic: &str) -> Result<Redriven, Error>;

    /// Drops all messages of a topic, and says how many there were.
    fn purge(&self, topic: &str) -> Result<u64, Error>;
}

/// What became of messages that were to be published.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Published {
    pub(super) messages: u64,
    /// Those that had been published before under their numbers.
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
    /// Whether whoever was shown them has had enough.
    pub(super) is_enough: bool,
}

/// A member of a group.
pub(super) trait Member {
    /// Shows at most `most` messages; waits for some at most this long.
    fn fetch(&mut self, most: usize, wait: Duration, show: Show<'_>) -> Result<Seen, Error>;

    /// Is done with what was shown last. Says with how many it was too late.
    fn done(&mut self) -> Result<u64, Error>;

    /// Gives back what was shown last, but for the first `looked_at` messages, which stay as they
    /// are: nobody has looked at the others, and they were not tried. Says how many could not be
    /// given back.
    fn return_unseen(&mut self, looked_at: usize) -> Result<u64, Error>;

    /// Leaves the group. Returns when what was done is as safe as the topic keeps messages; what
    /// was shown and not done is handed out to others.
    fn leave(self: Box<Self>) -> Result<(), Error>;
}

/// A place in a topic.
pub(super) trait Pages {
    /// Shows at most `most` of the messages that there are now.
    fn next(&mut self, most: usize, show: Show<'_>) -> Result<Seen, Error>;
}
