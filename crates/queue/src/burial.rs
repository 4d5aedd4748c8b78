//! Dead letters: what becomes of messages after the last try.

use crate::control::{Finished, Moved};
use crate::core::{Core, message_at};
use crate::error::QueueError;
use crate::format::{HEADERS_BYTES_MAX, HEADERS_MAX, MESSAGE_BYTES_MAX};
use crate::group::{DeadLetter, Death, Group, Range};
use crate::message::{Form, Message, MessageId};
use crate::name::{NAME_BYTES_MAX, Name};
use crate::publish::{Publish, Stamp};
use crate::topic::{Kind, Topic, TopicOptions};
use rialto_log::Level;
use std::borrow::Cow;
use std::sync::Arc;

/// How the names of topics of dead letters end; [`dead_topic_of`] says the whole of one.
pub const DEAD_SUFFIX: &str = ".dead";

/// The headers that a dead letter has besides its own.
pub mod dead_header {
    /// Why it was given up: `rejected`, `refused` or `unanswered`. A message that expired was not.
    pub const REASON: &str = "dead-reason";
    /// What the consumer said, if it said anything.
    pub const DETAIL: &str = "dead-detail";
    /// The topic that it came from.
    pub const TOPIC: &str = "dead-topic";
    /// The group that gave it up.
    pub const GROUP: &str = "dead-group";
    /// Where it stood in its topic, as [`MessageId`](crate::MessageId) is written.
    pub const ID: &str = "dead-id";
    /// How often it was handed out.
    pub const ATTEMPTS: &str = "dead-attempts";
    /// All of them.
    pub const ALL: [&str; 6] = [REASON, DETAIL, TOPIC, GROUP, ID, ATTEMPTS];
}

/// The longest detail that is kept.
const DETAIL_BYTES_MAX: usize = 1024;

/// Whether a topic is one of dead letters.
pub(crate) fn is_dead(topic: &Name) -> bool {
    topic.as_str().ends_with(DEAD_SUFFIX)
}

/// Puts the messages that a group has given up where its options say.
pub(crate) fn bury(core: &Core, group: &Arc<Group>) {
    for death in group.take_dying() {
        match bury_one(core, group, &death) {
            Ok(()) => core.mark(group),
            // It stays with the group, which will try again.
            Err(_) => group.not_buried(death),
        }
    }
}

fn bury_one(core: &Core, group: &Arc<Group>, death: &Death) -> Result<(), QueueError> {
    let topic = &group.topic;
    // What the stream has dropped meanwhile cannot be kept.
    let Some(message) = message_at(topic, death.id)? else {
        group.buried(death.id);
        return Ok(());
    };
    let dead_topic = match group.options().dead_letter {
        DeadLetter::Drop => {
            group.buried(death.id);
            return Ok(());
        }
        DeadLetter::Topic(name) => core.topic(name.as_str())?,
        DeadLetter::Own => own_topic(core, topic)?,
    };
    dead_topic.check_own()?;
    // One that cannot be written would keep the letter in the control log.
    dead_topic.check_open()?;
    let record = letter(&message, topic, group, death);
    match &core.control {
        Some(control) if topic.level() != Level::Memory => {
            let moved = Moved { topic: dead_topic.id, nth: 0, record: Cow::Owned(record) };
            let MessageId { lane, seq } = death.id;
            let finished = Finished {
                topic: topic.id,
                group: group.id,
                done: vec![(lane, Range { first: seq, last: seq })],
            };
            let changing = control.changing();
            control.commit(vec![moved], vec![finished], None)?;
            group.buried(death.id);
            drop(changing);
            control.hurry(true);
        }
        _ => {
            dead_topic.take_record(0, &record, 0, true)?;
            group.buried(death.id);
        }
    }
    Ok(())
}

/// What the topic is called that the dead letters of another go to, unless a group says otherwise:
/// its name and [`DEAD_SUFFIX`]. Long names that begin alike are told apart by a digest (FNV-1a).
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

fn own_topic(core: &Core, topic: &Topic) -> Result<Arc<Topic>, QueueError> {
    let name = dead_topic_of(&topic.name);
    if let Ok(topic) = core.topic(name.as_str()) {
        return Ok(topic);
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

/// The record of a dead letter: the message, and headers that say how it died. Where there is no room
/// for its own headers besides, they go.
fn letter(message: &Message, topic: &Topic, group: &Group, death: &Death) -> Vec<u8> {
    let (id, attempts) = (death.id.to_string(), death.attempts.to_string());
    let mut detail = death.detail.as_str();
    while detail.len() > DETAIL_BYTES_MAX {
        detail = detail.get(..detail.len() - 1).unwrap_or_default();
    }
    // Only a record of somebody else's log can be longer than a message may be. It stays in that log,
    // and the letter says where.
    let fits = message.payload().len() + HEADERS_BYTES_MAX <= MESSAGE_BYTES_MAX;
    let is_kept = matches!(topic.form(), Form::Message) || fits;
    let base = Publish::new(if is_kept { message.payload() } else { &[] })
        .key(message.key())
        .content_type(message.content_type())
        .schema_version(message.schema_version());
    let mut publish = base
        .clone()
        .header(dead_header::REASON, death.reason.name().as_bytes())
        .header(dead_header::TOPIC, topic.name.as_str().as_bytes())
        .header(dead_header::GROUP, group.name.as_str().as_bytes())
        .header(dead_header::ID, id.as_bytes())
        .header(dead_header::ATTEMPTS, attempts.as_bytes());
    if !detail.is_empty() {
        publish = publish.header(dead_header::DETAIL, detail.as_bytes());
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
