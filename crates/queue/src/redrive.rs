//! Listing dead letters, and publishing them again.

use crate::consumer::Consumer;
use crate::dead_letters::{dead_header, is_dead};
use crate::error::QueueError;
use crate::group::{GroupOptions, Start};
use crate::message::{Message, MessageId};
use crate::name::Name;
use crate::publish::Publish;
use crate::queue::Queue;
use crate::reader::Read;
use crate::topic::Kind;
use std::ops::ControlFlow;

/// The group of a dead-letter topic that acknowledges redriven dead letters.
pub const REDRIVE_GROUP: &str = "redrive";

/// The result of a redrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redriven {
    /// Dead letters that were published again on the topics that they came from.
    pub sent: u64,
    /// Dead letters that stay: they have no origin, or it is gone, is not allowed, refuses such
    /// messages, cannot be written or is a mounted log.
    pub kept: u64,
}

/// The result for one dead letter.
enum Outcome {
    Sent,
    Kept,
    /// Another redrive has it.
    Taken,
    /// It and those behind it stay for now: there is no room.
    Stopped,
}

impl Queue {
    /// The oldest dead letters of a topic that were not redriven: at most `max`, up to the one that
    /// reaches `bytes_max` bytes. They end before damage, which is an error if it comes first. A work
    /// queue, and a stream whose oldest message is not a dead letter, are refused as
    /// [`Queue::redrive`] refuses them.
    pub fn dead_letters(
        &self,
        topic: &str,
        max: usize,
        bytes_max: usize,
    ) -> Result<Vec<Message>, QueueError> {
        // The dead-letter topic that a group names holds nothing at first.
        if self.holds_dead_letters(topic)? == Some(false) {
            return Err(QueueError::NoDeadLetters(Name::new(topic)?));
        }
        match self.consumer(topic, REDRIVE_GROUP) {
            Ok(redriver) => return redriver.bytes_max(bytes_max).peek(max),
            Err(QueueError::UnknownGroup { .. }) => {}
            Err(error) => return Err(error),
        }
        // Nothing was ever redriven, and listing creates no group.
        let mut reader = self.reader(topic, Start::Oldest)?;
        let (mut letters, mut bytes) = (Vec::new(), 0);
        while letters.len() < max && bytes < bytes_max {
            match reader.try_next() {
                Ok(Some(Read::Message(letter))) => {
                    bytes += letter.bytes();
                    letters.push(letter);
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) if letters.is_empty() => return Err(error),
                // A redrive that reaches the letter that cannot be read gets the error.
                Err(_) => break,
            }
        }
        Ok(letters)
    }

    /// Publishes at most `max` dead letters of a topic again, the oldest first, on the topics that
    /// they came from, without their dead-letter headers. `may` is called before each, with its
    /// topic and its bytes: it allows it, keeps it, or ends the call. Each is published and
    /// acknowledged in one transaction. A dead-letter topic is a stream whose name ends in `.dead`,
    /// or whose oldest message has a dead-letter header; any other is refused.
    pub fn redrive(
        &self,
        topic: &str,
        max: u64,
        may: impl Fn(&Name, u64) -> ControlFlow<(), bool>,
    ) -> Result<Redriven, QueueError> {
        self.redrive_from(topic, &[], max, may).map(|(redriven, _)| redriven)
    }

    /// As [`Queue::redrive`], from the position that an earlier call returned, so that a redrive of
    /// many calls visits dead letters that stay only once. Lanes that `from` does not name begin
    /// with their oldest dead letter.
    pub fn redrive_from(
        &self,
        topic: &str,
        from: &[u64],
        max: u64,
        may: impl Fn(&Name, u64) -> ControlFlow<(), bool>,
    ) -> Result<(Redriven, Vec<u64>), QueueError> {
        self.check_dead_letters(topic)?;
        let redriver = self.redriver(topic)?;
        let mut redriven = Redriven::default();
        // Only what is published is leased, so that dead letters that stay block nothing.
        let mut letters = redriver.look(from)?;
        let mut place = letters.positions();
        while redriven.sent < max
            && let Some(letter) = letters.next()?
        {
            match self.send_back(&redriver, letter, &may)? {
                Outcome::Sent => redriven.sent += 1,
                Outcome::Kept => redriven.kept += 1,
                Outcome::Taken => {}
                Outcome::Stopped => break,
            }
            place = letters.positions();
        }
        let dead = &redriver.shared().0.topic;
        if redriven.sent > 0 && dead.drops_acknowledged() {
            dead.drop_acknowledged();
        }
        Ok((redriven, place))
    }

    /// Refuses topics without dead letters: the group would keep a work queue from dropping messages.
    fn check_dead_letters(&self, topic: &str) -> Result<(), QueueError> {
        match self.holds_dead_letters(topic)? {
            Some(true) => Ok(()),
            _ => Err(QueueError::NoDeadLetters(Name::new(topic)?)),
        }
    }

    /// Whether a topic is one of dead letters; `None` for an empty stream of another name.
    fn holds_dead_letters(&self, topic: &str) -> Result<Option<bool>, QueueError> {
        let name = Name::new(topic)?;
        match self.options(topic)?.kind {
            Kind::Stream if is_dead(&name) => Ok(Some(true)),
            Kind::Stream => self.begins_with_dead_letter(topic),
            Kind::WorkQueue => Ok(Some(false)),
        }
    }

    fn begins_with_dead_letter(&self, topic: &str) -> Result<Option<bool>, QueueError> {
        let mut reader = self.reader(topic, Start::Oldest)?;
        while let Some(read) = reader.try_next()? {
            if let Read::Message(oldest) = read {
                return Ok(Some(oldest.header(dead_header::TOPIC).is_some()));
            }
        }
        Ok(None)
    }

    fn redriver(&self, topic: &str) -> Result<Consumer, QueueError> {
        // Listing a dead letter is not an attempt.
        let options = GroupOptions { attempts_max: 0, ..GroupOptions::default() };
        self.create_group(topic, REDRIVE_GROUP, options)?;
        self.consumer(topic, REDRIVE_GROUP)
    }

    fn send_back(
        &self,
        redriver: &Consumer,
        letter: Message,
        may: impl Fn(&Name, u64) -> ControlFlow<(), bool>,
    ) -> Result<Outcome, QueueError> {
        let origin =
            letter.header(dead_header::TOPIC).and_then(|name| std::str::from_utf8(name).ok());
        let Some(origin) = origin.and_then(|name| Name::new(name).ok()) else {
            return Ok(Outcome::Kept);
        };
        // Dead letters have no priorities; the lane says which a message had.
        let id = letter.header(dead_header::ID).and_then(|id| std::str::from_utf8(id).ok());
        let priority = id.and_then(|id| id.parse::<MessageId>().ok()).map_or(0, |id| id.lane);
        let mut message = Publish::new(letter.payload())
            .priority(priority)
            .key(letter.key())
            .content_type(letter.content_type())
            .schema_version(letter.schema_version());
        for (name, value) in letter.headers() {
            if !dead_header::ALL.contains(&name) {
                message = message.header(name, value);
            }
        }
        let mut transaction = self.begin();
        match transaction.publish(origin.as_str(), &message) {
            Err(
                QueueError::UnknownTopic(_)
                | QueueError::Message(_)
                | QueueError::ReadOnly(_)
                | QueueError::NotMounted(_)
                | QueueError::TopicDeleted(_)
                | QueueError::Failed { .. },
            ) => return Ok(Outcome::Kept),
            published => drop(published?),
        }
        // Last, because `may` may charge for it.
        match may(&origin, message.bytes() as u64) {
            ControlFlow::Continue(true) => {}
            ControlFlow::Continue(false) => return Ok(Outcome::Kept),
            ControlFlow::Break(()) => return Ok(Outcome::Stopped),
        }
        let Some(taken) = redriver.claim_message(letter.clone(), None)? else {
            return Ok(Outcome::Taken);
        };
        transaction.ack(redriver, &taken)?;
        transaction.commit()?;
        Ok(Outcome::Sent)
    }
}
