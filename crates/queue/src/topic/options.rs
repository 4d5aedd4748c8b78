//! What a topic is.

use rialto_log::{Cipher, Compression, Level, SEGMENT_BYTES_FOR_ANY_GROUP, Sealing};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What becomes of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Messages stay until retention takes them, read or not.
    #[default]
    Stream,
    /// Messages stay until every group of the topic has acknowledged them; none is dropped before.
    WorkQueue,
}

/// What a work queue does with a message for which there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// It refuses it at once.
    #[default]
    Reject,
    /// It makes the producer wait, at most this long, and refuses it then.
    Block(Duration),
}

/// What happens to a reader that is too slow. In any case it learns how much it missed, and
/// publishers never wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowReaderPolicy {
    /// It goes on with the oldest message there is.
    #[default]
    Oldest,
    /// It goes on with the newest: what lies between is of no use to it any more.
    Newest,
    /// It is cut off: every later call is an error.
    CutOff,
    /// A reader that retention has overtaken goes on with the oldest message there is. One that is
    /// further behind the newest than this is handed, of the messages up to the newest at that
    /// moment, the last of each key and those without a key, in order, and told how many were left
    /// out. For that it reads them twice, and remembers at most
    /// [`CONFLATED_KEYS_MAX`](crate::CONFLATED_KEYS_MAX) keys.
    Conflated {
        /// How many messages of a lane a reader may be behind.
        behind: u64,
    },
}

impl fmt::Display for SlowReaderPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oldest => f.write_str("oldest"),
            Self::Newest => f.write_str("newest"),
            Self::CutOff => f.write_str("cut_off"),
            Self::Conflated { behind } => write!(f, "conflated:{behind}"),
        }
    }
}

impl FromStr for SlowReaderPolicy {
    type Err = InvalidOptions;

    fn from_str(text: &str) -> Result<Self, InvalidOptions> {
        let behind = |count: &str| count.parse().map(|behind| Self::Conflated { behind }).ok();
        let known = match text {
            "oldest" => Some(Self::Oldest),
            "newest" => Some(Self::Newest),
            "cut_off" => Some(Self::CutOff),
            _ => text.strip_prefix("conflated:").and_then(behind),
        };
        known.ok_or(InvalidOptions(
            "choose oldest, newest, cut_off or conflated:N, such as conflated:1000",
        ))
    }
}

/// How much a topic holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// The most messages.
    pub messages: Option<u64>,
    /// The most bytes, everything counted.
    pub bytes: Option<u64>,
}

/// What a topic is: given when it is created, and kept with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicOptions {
    /// What becomes of messages.
    pub kind: Kind,
    /// What a confirmation means.
    #[serde(with = "level_name")]
    pub level: Level,
    /// How many priorities there are, 1 to 16.
    pub priorities: u8,
    /// How much it holds. A stream drops its oldest messages beyond that, a work queue is full.
    pub bounds: Retention,
    /// How old a message of a stream may become.
    pub max_age: Option<Duration>,
    /// What a work queue does when it is full.
    pub when_full: WhenFull,
    /// The most bytes of one message, everything counted.
    pub message_bytes_max: usize,
    /// Under [`Level::Buffered`], how long what was written may stay without being synced.
    pub flush_every: Duration,
    /// The bytes of messages that wait to be written, at most; beyond, producers wait.
    pub pending_bytes_max: usize,
    /// The bytes of recent messages that are kept in memory for readers, besides the disk.
    pub recent_bytes_max: usize,
    /// The size of the files of the log, a multiple of 4096.
    pub segment_bytes: u64,
    /// How messages are compressed on disk, some together.
    #[serde(with = "compression_name")]
    pub compression: Compression,
    /// With what messages are encrypted on disk, under the current key of the queue's ring.
    #[serde(with = "cipher_name")]
    pub encryption: Option<Cipher>,
    /// What becomes of readers that are too slow.
    pub overtaken: SlowReaderPolicy,
}

/// The most priorities.
pub const PRIORITIES_MAX: u8 = 16;

/// Options that contradict themselves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOptions(pub &'static str);

impl Default for TopicOptions {
    fn default() -> Self {
        Self {
            kind: Kind::Stream,
            level: Level::Synced,
            priorities: 1,
            bounds: Retention::default(),
            max_age: None,
            when_full: WhenFull::Reject,
            message_bytes_max: crate::MESSAGE_BYTES_MAX,
            flush_every: Duration::from_millis(50),
            pending_bytes_max: 8 << 20,
            recent_bytes_max: 32 << 20,
            segment_bytes: 64 << 20,
            compression: Compression::None,
            encryption: None,
            overtaken: SlowReaderPolicy::Oldest,
        }
    }
}

impl TopicOptions {
    /// A stream that drops nothing, at [`Level::Synced`].
    #[must_use]
    pub fn stream() -> Self {
        Self::default()
    }

    /// A work queue without bounds, at [`Level::Synced`].
    #[must_use]
    pub fn work_queue() -> Self {
        Self { kind: Kind::WorkQueue, ..Self::default() }
    }

    /// What a confirmation means.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// How many priorities there are.
    #[must_use]
    pub fn priorities(mut self, priorities: u8) -> Self {
        self.priorities = priorities;
        self
    }

    /// The most messages that it holds.
    #[must_use]
    pub fn messages_max(mut self, messages: u64) -> Self {
        self.bounds.messages = Some(messages);
        self
    }

    /// The most bytes that it holds.
    #[must_use]
    pub fn bytes_max(mut self, bytes: u64) -> Self {
        self.bounds.bytes = Some(bytes);
        self
    }

    /// How old a message of a stream may become.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }

    /// What a work queue does when it is full.
    #[must_use]
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// What becomes of readers that are too slow.
    #[must_use]
    pub fn overtaken(mut self, overtaken: SlowReaderPolicy) -> Self {
        self.overtaken = overtaken;
        self
    }

    /// How messages are compressed on disk.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// With what messages are encrypted on disk.
    #[must_use]
    pub fn encryption(mut self, cipher: Cipher) -> Self {
        self.encryption = Some(cipher);
        self
    }

    pub(crate) fn sealing(&self) -> Sealing {
        Sealing { compression: self.compression, encryption: self.encryption }
    }

    /// Whether a topic can be made of these.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        let refuse = |why| Err(InvalidOptions(why));
        if !(1..=PRIORITIES_MAX).contains(&self.priorities) {
            return refuse("a topic has 1 to 16 priorities");
        }
        if self.kind == Kind::WorkQueue && self.max_age.is_some() {
            return refuse("a work queue drops nothing for its age; use expiry of messages");
        }
        if self.bounds.messages == Some(0) || self.bounds.bytes == Some(0) {
            return refuse("a topic that may hold nothing is of no use");
        }
        if !(256..=crate::MESSAGE_BYTES_MAX).contains(&self.message_bytes_max) {
            return refuse("a message may take 256 bytes to 1,044,276 bytes");
        }
        if !self.segment_bytes.is_multiple_of(4096)
            || self.segment_bytes < SEGMENT_BYTES_FOR_ANY_GROUP
        {
            return refuse(
                "the files of a topic take a multiple of 4096 bytes, at least 1,056,768",
            );
        }
        Ok(())
    }
}

mod level_name {
    use rialto_log::Level;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(level: &Level, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(level.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Level, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

mod compression_name {
    use rialto_log::Compression;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(it: &Compression, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(it)
    }

    pub(super) fn deserialize<'de, D>(from: D) -> Result<Compression, D::Error>
    where
        D: Deserializer<'de>,
    {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

mod cipher_name {
    use rialto_log::Cipher;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(it: &Option<Cipher>, to: S) -> Result<S::Ok, S::Error> {
        it.map(Cipher::name).serialize(to)
    }

    pub(super) fn deserialize<'de, D>(from: D) -> Result<Option<Cipher>, D::Error>
    where
        D: Deserializer<'de>,
    {
        let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let found = Cipher::ALL.into_iter().find(|cipher| cipher.name() == name);
        found.map(Some).ok_or_else(|| serde::de::Error::custom(format!("{name:?} is no cipher")))
    }
}
