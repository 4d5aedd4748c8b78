//! A queue in a directory.

use super::any_queue::{AnyQueue, Member, Pages, Published, Seen, Show};
use super::shown::Shown;
use super::topics::{Create, CreateGroup};
use crate::{Error, tell_all};
use rialto_broker::{InvalidRequest, group_options, topic_options};
use rialto_client::api::LeaseInfo;
use rialto_queue::{
    Consumer, Delivered, FetchOptions, GroupOptions, LEASED_MAX, OutstandingMessage, Publish,
    Queue, QueueError, QueueOpenReport, QueueOptions, Read, Reader, Redriven, Start,
};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most dead letters to print.
const LETTERS_MAX: usize = 100_000;

pub(super) struct LocalQueue {
    queue: Queue,
    dir: PathBuf,
}

impl LocalQueue {
    pub(super) fn open(dir: &Path, options: QueueOptions) -> Result<LocalQueue, Error> {
        let queue = Queue::open(options).map_err(|error| failed(dir, &error))?;
        tell_opening(queue.report());
        Ok(LocalQueue { queue, dir: dir.to_owned() })
    }

    pub(super) fn close(self) -> Result<(), Error> {
        self.queue.close().map_err(|error| failed(&self.dir, &error))
    }
}

fn tell_opening(report: &QueueOpenReport) {
    for group in &report.rewound {
        crate::terminal::note(format_args!(
            "group {} of {} goes back to message {}:{}: what it had come to was lost before it was \
             synced",
            group.group, group.topic, group.lane, group.next
        ));
    }
}

/// A failure of the queue in a directory.
fn failed(dir: &Path, error: &QueueError) -> Error {
    Error::Failed(format!("{}: {}", dir.display(), tell_all(error)))
}

/// For `map_err`: the failure of a call on the queue.
pub(super) fn told(error: QueueError) -> Error {
    match error {
        QueueError::Name(_)
        | QueueError::Options(_)
        | QueueError::GroupOptions(_)
        | QueueError::LeaseLength { .. }
        | QueueError::Message(_)
        | QueueError::UnknownTopic(_)
        | QueueError::UnknownGroup { .. }
        | QueueError::TopicExists(_)
        | QueueError::GroupExists { .. }
        | QueueError::NoKey(_)
        | QueueError::ReadOnly(_)
        | QueueError::NotMounted(_)
        | QueueError::TooMany { .. } => Error::Usage(error.to_string()),
        other => Error::Failed(tell_all(&other)),
    }
}

/// For `map_err`: what is wrong with a request.
fn invalid(error: InvalidRequest) -> Error {
    Error::Usage(error.to_string())
}

impl AnyQueue for LocalQueue {
    fn create_topic(&self, create: &Create) -> Result<(), Error> {
        let options = topic_options(&create.request()).map_err(invalid)?;
        self.queue.create_topic(&create.topic, options).map_err(told)
    }

    fn create_group(&self, create: &CreateGroup) -> Result<(), Error> {
        let options = group_options(&create.request()).map_err(invalid)?;
        self.queue.create_group(&create.topic, &create.group, options).map_err(told)
    }

    fn delete_topic(&self, topic: &str) -> Result<(), Error> {
        self.queue.delete_topic(topic).map_err(told)
    }

    fn delete_group(&self, topic: &str, group: &str) -> Result<(), Error> {
        self.queue.delete_group(topic, group).map_err(told)
    }

    fn topics(&self) -> Result<Vec<String>, Error> {
        Ok(self.queue.topics().iter().map(ToString::to_string).collect())
    }

    fn topic(&self, topic: &str) -> Result<Value, Error> {
        let stats = self.queue.stats(topic).map_err(told)?;
        let options = self.queue.options(topic).map_err(told)?;
        let json = rialto_gateway::topic_json(&options, &stats);
        Ok(serde_json::from_slice(&json).expect("what the gateway writes is JSON"))
    }

    fn publish(
        &self,
        topic: &str,
        messages: &[Publish<'_>],
        numbers: (u64, u64),
    ) -> Result<Published, Error> {
        let producer = self.queue.producer(topic).map_err(told)?;
        let receipt = producer.send_numbered_batch(messages, numbers).map_err(told)?;
        receipt.wait().map_err(told)?;
        let (messages, duplicates) = (receipt.ids().len() as u64, receipt.duplicates() as u64);
        Ok(Published { messages, duplicates })
    }

    fn join(
        &self,
        topic: &str,
        group: &str,
        ack_wait: Option<Duration>,
    ) -> Result<Box<dyn Member + '_>, Error> {
        let join = || self.queue.consumer(topic, group);
        let consumer = match join() {
            Err(QueueError::UnknownGroup { .. }) => {
                self.queue.create_group(topic, group, GroupOptions::default()).and_then(|()| join())
            }
            consumer => consumer,
        };
        Ok(Box::new(Joined { consumer: consumer.map_err(told)?, ack_wait, shown: Vec::new() }))
    }

    fn leases(
        &self,
        topic: &str,
        group: &str,
        after: Option<&str>,
    ) -> Result<Vec<LeaseInfo>, Error> {
        let after = after.and_then(|id| id.parse().ok());
        let leased = self.queue.leased(topic, group, after, LEASED_MAX).map_err(told)?;
        let shown = |it: OutstandingMessage| LeaseInfo {
            id: it.id.to_string(),
            deadline: it.deadline,
            attempt: it.attempt,
            consumer: None,
            published_at: it.published_at,
        };
        Ok(leased.into_iter().map(shown).collect())
    }

    fn read(&self, topic: &str, from: Start) -> Result<Box<dyn Pages + '_>, Error> {
        Ok(Box::new(self.queue.reader(topic, from).map_err(told)?))
    }

    fn dead_letters(&self, topic: &str, show: Show<'_>) -> Result<(), Error> {
        for letter in self.queue.dead_letters(topic, LETTERS_MAX, usize::MAX).map_err(told)? {
            if show(&Shown::of(&letter, 0)).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn redrive(&self, topic: &str) -> Result<Redriven, Error> {
        self.queue.redrive(topic, u64::MAX, |_, _| ControlFlow::Continue(true)).map_err(told)
    }

    fn purge(&self, topic: &str) -> Result<u64, Error> {
        self.queue.purge(topic).map_err(told)
    }
}

struct Joined {
    consumer: Consumer,
    ack_wait: Option<Duration>,
    shown: Vec<Delivered>,
}

impl Member for Joined {
    fn fetch(&mut self, most: usize, wait: Duration, show: Show<'_>) -> Result<Seen, Error> {
        let options = FetchOptions { messages_max: most, bytes_max: None, ack_wait: self.ack_wait };
        let fetched = self.consumer.fetch_with(options, wait).map_err(told)?;
        self.shown = fetched.messages;
        let messages = self.shown.len() as u64;
        let is_enough =
            self.shown.iter().any(|message| show(&Shown::of(message, message.attempt())).is_err());
        Ok(Seen { messages, missed: fetched.missed, conflated: 0, is_enough })
    }

    fn done(&mut self) -> Result<u64, Error> {
        Ok(self.consumer.ack_all(&std::mem::take(&mut self.shown)).len() as u64)
    }

    fn return_unseen(&mut self, looked_at: usize) -> Result<u64, Error> {
        let unseen = self.shown.iter().skip(looked_at);
        let leases: Vec<_> = unseen.map(|message| (message.id(), message.lease())).collect();
        Ok(self.consumer.return_unseen(&leases).len() as u64)
    }

    fn leave(self: Box<Self>) -> Result<(), Error> {
        self.consumer.confirm().map_err(told)
    }
}

impl Pages for Reader {
    fn next(&mut self, most: usize, show: Show<'_>) -> Result<Seen, Error> {
        let mut seen = Seen::default();
        while seen.messages < most as u64 && !seen.is_enough {
            match self.try_next().map_err(told)? {
                Some(Read::Message(message)) => {
                    seen.messages += 1;
                    seen.is_enough = show(&Shown::of(&message, 0)).is_err();
                }
                Some(Read::Missed { messages, .. }) => seen.missed += messages,
                Some(Read::Conflated { messages, .. }) => seen.conflated += messages,
                None => break,
            }
        }
        Ok(seen)
    }
}
