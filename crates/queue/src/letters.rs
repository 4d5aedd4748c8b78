//! Dead letters, for those who look after them.

use crate::burial::dead_header;
use crate::consumer::Consumer;
use crate::error::QueueError;
use crate::group::{Delivered, GroupOptions, Start};
use crate::message::{Message, MessageId};
use crate::name::Name;
use crate::publish::Publish;
use crate::queue::Queue;
use crate::reader::Read;

/// The group of a topic of dead letters that is done with those which were sent back.
pub const REDRIVE_GROUP: &str = "redrive";

/// How many letters are in hand at a time.
const FETCH: usize = 100;

/// What became of dead letters that were to be sent back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redriven {
    /// They are where they came from, and no longer dead.
    pub sent: u64,
    /// They stay: they do not say where they came from, there is no such topic any more, they may not
    /// go there, it does not take such messages any more, or it is a log of somebody else's.
    pub kept: u64,
}

impl Queue {
    /// The oldest letters of a topic of dead letters that were not sent back: at most `max`, up to the
    /// one with which they take `bytes_max` bytes or more.
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
        while letters.len() < max
            && bytes < bytes_max
            && let Some(read) = reader.try_next()?
        {
            if let Read::Message(letter) = read {
                bytes += letter.bytes();
                letters.push(letter);
            }
        }
        Ok(letters)
    }

    /// Publishes at most `max` letters of a topic of dead letters, the oldest first, on the topics
    /// that they came from, as far as `may` has nothing against it; without the headers that say how
    /// they died. Each is there again and no longer dead, or neither, whatever fails when.
    pub fn redrive(
        &self,
        topic: &str,
        max: u64,
        may: impl Fn(&Name) -> bool,
    ) -> Result<Redriven, QueueError> {
        let undertaker = self.undertaker(topic)?;
        let mut redriven = Redriven::default();
        // Letters that stay are held until the end, so that none is looked at twice.
        let mut kept = Vec::new();
        while redriven.sent < max {
            let room = usize::try_from(max - redriven.sent).unwrap_or(FETCH).min(FETCH);
            let letters = undertaker.try_fetch(room)?.messages;
            if letters.is_empty() {
                break;
            }
            for letter in letters {
                match self.send_back(&undertaker, &letter, &may)? {
                    true => redriven.sent += 1,
                    false => kept.push(letter),
                }
            }
        }
        redriven.kept = kept.len() as u64;
        Ok(redriven)
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
        letter: &Delivered,
        may: impl Fn(&Name) -> bool,
    ) -> Result<bool, QueueError> {
        let origin =
            letter.header(dead_header::TOPIC).and_then(|name| std::str::from_utf8(name).ok());
        let Some(origin) = origin.and_then(|name| Name::new(name).ok()).filter(may) else {
            return Ok(false);
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
        transaction.ack(undertaker, letter)?;
        match transaction.publish(origin.as_str(), &message) {
            Err(
                QueueError::UnknownTopic(_)
                | QueueError::Message(_)
                | QueueError::ReadOnly(_)
                | QueueError::NotMounted(_),
            ) => return Ok(false),
            published => drop(published?),
        }
        transaction.commit()?;
        Ok(true)
    }
}
