//! Dead letters, for those who look after them.

use crate::burial::{dead_header, is_dead};
use crate::consumer::Consumer;
use crate::error::QueueError;
use crate::group::{GroupOptions, Start};
use crate::message::{Message, MessageId};
use crate::name::Name;
use crate::publish::Publish;
use crate::queue::Queue;
use crate::reader::Read;
use crate::topic::Kind;
use std::ops::ControlFlow;

/// The group of a topic of dead letters that is done with those which were sent back.
pub const REDRIVE_GROUP: &str = "redrive";

/// What became of dead letters that were to be sent back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redriven {
    /// They are where they came from, and no longer dead.
    pub sent: u64,
    /// They stay: they do not say where they came from, there is no such topic any more, they may not
    /// go there, it does not take such messages any more or cannot be written, or it is a log of
    /// somebody else's.
    pub kept: u64,
}

/// What becomes of a letter that is to be sent back.
enum Fate {
    Sent,
    Kept,
    /// Somebody else is sending it back.
    Taken,
    /// It and those behind it stay for now.
    Stopped,
}

impl Queue {
    /// The oldest letters of a topic of dead letters that were not sent back: at most `max`, up to the
    /// one with which they take `bytes_max` bytes or more, or short of damage, which is an error if it
    /// comes first.
    pub fn dead_letters(
        &self,
        topic: &str,
        max: usize,
        bytes_max: usize,
    ) -> Result<Vec<Message>, QueueError> {
        match self.consumer(topic, REDRIVE_GROUP) {
            Ok(undertaker) => return undertaker.bytes_max(bytes_max).peek(max),
            Err(QueueError::UnknownGroup { .. }) => {}
            Err(error) => return Err(error),
        }
        // None was ever sent back, and who only looks leaves no group behind.
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
                Err(_) => break,
            }
        }
        Ok(letters)
    }

    /// Publishes at most `max` letters of a topic of dead letters, the oldest first, on the topics
    /// that they came from, without the headers that say how they died. `may` is asked before each, with
    /// its topic and its bytes: it lets the letter go, keeps it, or ends the call. Each letter is there
    /// again and no longer dead, or neither, whatever fails when. A topic is one of dead letters if it is
    /// a stream and its name ends in `.dead`, or its oldest message says what topic it came from; any
    /// other is refused.
    pub fn redrive(
        &self,
        topic: &str,
        max: u64,
        may: impl Fn(&Name, u64) -> ControlFlow<(), bool>,
    ) -> Result<Redriven, QueueError> {
        self.redrive_from(topic, &[], max, may).map(|(redriven, _)| redriven)
    }

    /// As [`Queue::redrive`], from where an earlier call ended, which each says: who sends back many
    /// letters, some at a time, does not come to those again that stay. What is not named of the
    /// place begins with the oldest letter.
    pub fn redrive_from(
        &self,
        topic: &str,
        from: &[u64],
        max: u64,
        may: impl Fn(&Name, u64) -> ControlFlow<(), bool>,
    ) -> Result<(Redriven, Vec<u64>), QueueError> {
        self.check_letters(topic)?;
        let undertaker = self.undertaker(topic)?;
        let mut redriven = Redriven::default();
        // Only what is sent is taken: letters that stay, however many, are in nobody's way.
        let mut letters = undertaker.look(from)?;
        let mut place = letters.positions();
        while redriven.sent < max
            && let Some(letter) = letters.next()?
        {
            match self.send_back(&undertaker, letter, &may)? {
                Fate::Sent => redriven.sent += 1,
                Fate::Kept => redriven.kept += 1,
                Fate::Taken => {}
                Fate::Stopped => break,
            }
            place = letters.positions();
        }
        let dead = &undertaker.shared().0.topic;
        if redriven.sent > 0 && dead.drops_acknowledged() {
            dead.drop_acknowledged();
        }
        Ok((redriven, place))
    }

    /// Whether a topic is one of dead letters: a group that sends none back would keep a work queue
    /// from ever being done with what it holds.
    fn check_letters(&self, topic: &str) -> Result<(), QueueError> {
        let name = Name::new(topic)?;
        let is_stream = self.options(topic)?.kind == Kind::Stream;
        if is_stream && (is_dead(&name) || self.begins_with_letter(topic)?) {
            return Ok(());
        }
        Err(QueueError::NoLetters(name))
    }

    fn begins_with_letter(&self, topic: &str) -> Result<bool, QueueError> {
        let mut reader = self.reader(topic, Start::Oldest)?;
        while let Some(read) = reader.try_next()? {
            if let Read::Message(oldest) = read {
                return Ok(oldest.header(dead_header::TOPIC).is_some());
            }
        }
        Ok(false)
    }

    fn undertaker(&self, topic: &str) -> Result<Consumer, QueueError> {
        // Looking at a letter must not kill it again.
        let options = GroupOptions { attempts_max: 0, ..GroupOptions::default() };
        self.create_group(topic, REDRIVE_GROUP, options)?;
        self.consumer(topic, REDRIVE_GROUP)
    }

    fn send_back(
        &self,
        undertaker: &Consumer,
        letter: Message,
        may: impl Fn(&Name, u64) -> ControlFlow<(), bool>,
    ) -> Result<Fate, QueueError> {
        let origin =
            letter.header(dead_header::TOPIC).and_then(|name| std::str::from_utf8(name).ok());
        let Some(origin) = origin.and_then(|name| Name::new(name).ok()) else {
            return Ok(Fate::Kept);
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
            ) => return Ok(Fate::Kept),
            published => drop(published?),
        }
        // Last, because it may be charged for.
        match may(&origin, message.bytes() as u64) {
            ControlFlow::Continue(true) => {}
            ControlFlow::Continue(false) => return Ok(Fate::Kept),
            ControlFlow::Break(()) => return Ok(Fate::Stopped),
        }
        let Some(taken) = undertaker.claim(letter.clone())? else { return Ok(Fate::Taken) };
        transaction.ack(undertaker, &taken)?;
        transaction.commit()?;
        Ok(Fate::Sent)
    }
}
