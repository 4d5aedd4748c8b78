//! Dead-lettering: a message whose last attempt failed moves to the dead-letter topic of its group.
//!
//! Until then it is a [`FailedMessage`] of the group. The move is one record of the control log, which
//! brings the dead letter to its topic and acknowledges the message in the group.

use crate::control::{Control, Finished, Moved};
use crate::error::QueueError;
use crate::format::{HEADERS_BYTES_MAX, HEADERS_MAX, MESSAGE_BYTES_MAX};
use crate::group::{DeadLetter, FailedMessage, Group, Range};
use crate::message::{Form, Message, MessageId};
use crate::name::{NAME_BYTES_MAX, Name};
use crate::publish::{Publish, Stamp};
use crate::shared::{SharedQueue, message_at};
use crate::topic::{Kind, Retention, Topic, TopicOptions};
use rialto_log::Level;
use std::borrow::Cow;
use std::sync::Arc;

/// The suffix of the names of dead-letter topics; see [`dead_topic_of`].
pub const DEAD_SUFFIX: &str = ".dead";

/// The headers that a dead letter has besides its own.
pub mod dead_header {
    /// Why it was given up: `rejected`, `refused` or `unanswered`. A message that expired was not.
    pub const REASON: &str = "dead-reason";
    /// The detail that the consumer gave, if any.
    pub const DETAIL: &str = "dead-detail";
    /// The topic that it came from.
    pub const TOPIC: &str = "dead-topic";
    /// The group that gave it up.
    pub const GROUP: &str = "dead-group";
    /// Its id in that topic, as [`MessageId`](crate::MessageId) is written.
    pub const ID: &str = "dead-id";
    /// The number of deliveries.
    pub const ATTEMPTS: &str = "dead-attempts";
    /// All of them.
    pub const ALL: [&str; 6] = [REASON, DETAIL, TOPIC, GROUP, ID, ATTEMPTS];
}

/// Whether a topic is one of dead letters.
pub(crate) fn is_dead(topic: &Name) -> bool {
    topic.as_str().ends_with(DEAD_SUFFIX)
}

/// Dead letters that are committed and may not have arrived in their topic.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    messages: u64,
    bytes: u64,
    /// The round of the control log with which the last of them arrives.
    round: u64,
}

impl InFlight {
    /// Messages and bytes in flight, if all rounds up to `safe_rounds` are synced.
    fn counted(&mut self, safe_rounds: u64) -> (u64, u64) {
        if self.round <= safe_rounds {
            *self = InFlight::default();
        }
        (self.messages, self.bytes)
    }

    fn add(&mut self, bytes: usize, round: u64) {
        self.messages += 1;
        self.bytes += bytes as u64;
        self.round = round;
    }
}

/// Moves the failed messages of a group to their dead-letter topic, as far as it has room. The others
/// stay with the group, and are tried again with the next tick.
pub(crate) fn move_failed(core: &SharedQueue, group: &Arc<Group>) {
    let stuck = if group.has_failed() { try_to_move(core, group) } else { None };
    group.note_stuck(stuck.as_deref());
}

/// Moves failed messages, and returns the error that stopped the move of the others, if any.
fn try_to_move(core: &SharedQueue, group: &Arc<Group>) -> Option<String> {
    if group.finish_gone() {
        core.mark(group);
        if !group.has_failed() {
            return None;
        }
    }
    // Checks that concern all of them are made once.
    let target = match target_of(core, group) {
        Ok(target) => target,
        Err(error) => return Some(error.to_string()),
    };
    let (mut failed, mut has_moved, mut stuck) = (None, false, None);
    loop {
        // Taken before the lock of a topic, as it always is.
        let _changing = core.control.as_ref().map(Control::changing);
        let mut in_flight = target.as_ref().map(|target| target.in_flight());
        if let (Some(target), Some(in_flight)) = (&target, &mut in_flight)
            && !has_room(core, group, target, in_flight)
        {
            group.put_back(failed.into_iter().flatten());
            stuck = Some(format!("the topic {:?} has no room", target.name));
            break;
        }
        let Some(failure) = failed.get_or_insert_with(|| group.take_failed().into_iter()).next()
        else {
            break;
        };
        match move_one(core, group, &failure, target.as_ref().zip(in_flight.as_deref_mut())) {
            Ok(moved) => {
                has_moved |= moved;
                core.mark(group);
            }
            Err(error) => {
                group.put_back([failure]);
                stuck = Some(error.to_string());
            }
        }
    }
    if let Some(control) = core.control.as_ref().filter(|_| has_moved) {
        control.hurry(true);
    }
    stuck
}

/// The topic that the dead letters of a group go to, if they are not dropped.
fn target_of(core: &SharedQueue, group: &Group) -> Result<Option<Arc<Topic>>, QueueError> {
    let topic = match group.options().dead_letter {
        DeadLetter::Drop => return Ok(None),
        DeadLetter::Topic(name) => core.topic(name.as_str())?,
        DeadLetter::Own => default_topic(core, &group.topic)?,
    };
    topic.check_own()?;
    // If the topic cannot be written, the dead letter would stay in the control log.
    topic.check_open()?;
    if topic.level() != Level::Memory {
        core.runtime.check_room()?;
    }
    Ok(Some(topic))
}

/// Whether a dead-letter topic has room for another: the default one, while its dead letters take fewer
/// bytes than the messages of the source may; a work queue, within its bounds. Other streams drop their
/// oldest messages.
fn has_room(core: &SharedQueue, group: &Group, target: &Topic, in_flight: &mut InFlight) -> bool {
    let is_default = group.options().dead_letter == DeadLetter::Own;
    let bounds = match is_default {
        true => {
            let of_topic = group.topic.options.bounds.bytes;
            Retention { messages: None, bytes: of_topic.or(core.runtime.dead_letters_bytes_max) }
        }
        false if target.options.kind == Kind::WorkQueue => target.options.bounds,
        false => Retention::default(),
    };
    let safe_rounds = core.control.as_ref().map_or(0, Control::safe_rounds);
    let mut fits = || {
        let (messages, bytes) = target.held(&mut target.filling());
        let (messages_coming, bytes_coming) = in_flight.counted(safe_rounds);
        bounds.messages.is_none_or(|max| messages + messages_coming < max)
            && bounds.bytes.is_none_or(|max| bytes + bytes_coming < max)
    };
    if fits() {
        return true;
    }
    if is_default {
        target.drop_acknowledged();
    }
    fits()
}

/// Moves one message, and says whether the control log has to bring it. To be called with
/// [`Control::changing`] held, if there is a control log.
fn move_one(
    core: &SharedQueue,
    group: &Arc<Group>,
    failure: &FailedMessage,
    target: Option<(&Arc<Topic>, &mut InFlight)>,
) -> Result<bool, QueueError> {
    let topic = &group.topic;
    // Retention may have dropped it meanwhile.
    let (Some(message), Some((target, in_flight))) = (message_at(topic, failure.id)?, target)
    else {
        group.dead_lettered(failure.id);
        return Ok(false);
    };
    let record = dead_letter(&message, topic, group, failure);
    let bytes = record.len();
    match &core.control {
        Some(control) if topic.level() != Level::Memory => {
            let moved = Moved { topic: target.id, nth: 0, record: Cow::Owned(record) };
            let MessageId { lane, seq } = failure.id;
            let finished = Finished {
                topic: topic.id,
                group: group.id,
                done: vec![(lane, Range { first: seq, last: seq })],
            };
            let round = control.commit(vec![moved], vec![finished], None)?;
            group.dead_lettered(failure.id);
            in_flight.add(bytes, round);
            Ok(true)
        }
        _ => {
            target.take_record(0, &record, 0, true)?;
            group.dead_lettered(failure.id);
            Ok(false)
        }
    }
}

/// The name of the default dead-letter topic of a topic: its name and [`DEAD_SUFFIX`]. Long names
/// with a common prefix are distinguished by a digest (FNV-1a).
#[must_use]
pub fn dead_topic_of(topic: &Name) -> Name {
    const DIGITS: usize = 16;
    let (topic, room) = (topic.as_str(), NAME_BYTES_MAX - DEAD_SUFFIX.len());
    let dead = if topic.len() <= room {
        format!("{topic}{DEAD_SUFFIX}")
    } else {
        let digest = topic.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let begin = topic.get(..room - DIGITS - 1).unwrap_or_default();
        format!("{begin}-{digest:016x}{DEAD_SUFFIX}")
    };
    Name::new(&dead).expect("it begins as a name does and was cut to leave room for its end")
}

fn default_topic(core: &SharedQueue, topic: &Topic) -> Result<Arc<Topic>, QueueError> {
    let name = dead_topic_of(&topic.name);
    if let Ok(topic) = core.topic(name.as_str()) {
        return Ok(topic);
    }
    if topic.level() != Level::Memory {
        core.runtime.check_room()?;
    }
    let of = &topic.options;
    let options = TopicOptions {
        kind: Kind::Stream,
        level: of.level,
        segment_bytes: of.segment_bytes,
        compression: of.compression,
        encryption: of.encryption,
        ..TopicOptions::default()
    };
    core.create_topic(name, options)
}

/// The record of a dead letter: the message, and headers that say why it failed. Headers of its own for
/// which there is no room are left out.
fn dead_letter(
    message: &Message,
    topic: &Topic,
    group: &Group,
    failure: &FailedMessage,
) -> Vec<u8> {
    let (id, attempts) = (failure.id.to_string(), failure.attempts.to_string());
    // Only a record of an external log can be longer than a message may be. It stays in that log,
    // and the dead letter holds its id.
    let fits = message.payload().len() + HEADERS_BYTES_MAX <= MESSAGE_BYTES_MAX;
    let is_kept = matches!(topic.form(), Form::Message) || fits;
    let base = Publish::new(if is_kept { message.payload() } else { &[] })
        .key(message.key())
        .content_type(message.content_type())
        .schema_version(message.schema_version());
    let mut publish = base
        .clone()
        .header(dead_header::REASON, failure.reason.name().as_bytes())
        .header(dead_header::TOPIC, topic.name.as_str().as_bytes())
        .header(dead_header::GROUP, group.name.as_str().as_bytes())
        .header(dead_header::ID, id.as_bytes())
        .header(dead_header::ATTEMPTS, attempts.as_bytes());
    if !failure.detail.is_empty() {
        publish = publish.header(dead_header::DETAIL, failure.detail.as_bytes());
    }
    if publish.bytes() > MESSAGE_BYTES_MAX {
        publish = base;
    }
    for (name, value) in message.headers() {
        let with = publish.clone().header(name, value);
        let fits = with.headers.len() <= HEADERS_MAX
            && with.bytes() <= MESSAGE_BYTES_MAX
            && with.headers_bytes() <= HEADERS_BYTES_MAX;
        if fits {
            publish = with;
        }
    }
    let stamp = Stamp {
        published_at: message.published_at(),
        deliver_at: None,
        producer: 0,
        producer_sequence: 0,
    };
    let mut record = vec![0; publish.bytes()];
    publish.encode(stamp, &mut record);
    record
}
