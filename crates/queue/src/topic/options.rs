//! The options of a topic.

use rialto_log::{Cipher, Compression, Level, SEGMENT_BYTES_FOR_ANY_GROUP, Sealing};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The kind of a topic: how long messages stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Messages stay until retention drops them, read or not.
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
    /// It makes the producer wait up to this time, and then refuses it.
    Block(Duration),
}

/// What happens to a reader that is too slow. It always gets the number of missed messages, and
/// publishers never wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowReaderPolicy {
    /// It continues with the oldest message.
    #[default]
    Oldest,
    /// It continues with the newest message.
    Newest,
    /// It is closed: every later call is an error.
    CutOff,
    /// A reader that retention has overtaken continues with the oldest message. One that is further
    /// behind than `behind` gets, of the messages up to the newest at that moment, the last of each
    /// key and those without a key, in order, and the number that was left out. It reads them twice
    /// for that, and remembers at most [`CONFLATED_KEYS_MAX`](crate::CONFLATED_KEYS_MAX) keys.
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
        known.ok_or_else(|| InvalidOptions {
            option: "overtaken",
            reason: "choose oldest, newest, cut_off or conflated:N, such as conflated:1000".into(),
        })
    }
}

/// The bounds of a topic's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// The most messages.
    pub messages: Option<u64>,
    /// The most bytes, headers included.
    pub bytes: Option<u64>,
}

/// The options of a topic, fixed when it is created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicOptions {
    /// The kind of a topic: how long messages stay.
    pub kind: Kind,
    /// The durability of a confirmed message.
    #[serde(with = "level_name")]
    pub level: Level,
    /// The number of priorities, 1 to 16.
    pub priorities: u8,
    /// The bounds of its contents. At a bound, a stream drops its oldest messages and a work queue
    /// is full.
    pub bounds: Retention,
    /// The largest age of a message of a stream.
    pub max_age: Option<Duration>,
    /// What a work queue does when it is full.
    pub when_full: WhenFull,
    /// The most bytes of one message, headers included.
    pub message_bytes_max: usize,
    /// Under [`Level::Buffered`], the longest time from a write to its sync.
    pub flush_every: Duration,
    /// The most bytes that wait to be written; beyond, producers wait.
    pub pending_bytes_max: usize,
    /// The bytes of recent messages that are kept in memory for readers, besides the disk.
    pub recent_bytes_max: usize,
    /// The size of the files of the log, a multiple of 4096.
    pub segment_bytes: u64,
    /// How groups of messages are compressed on disk.
    #[serde(with = "compression_name")]
    pub compression: Compression,
    /// The cipher of messages on disk, under the current key of the queue's key ring.
    #[serde(with = "cipher_name")]
    pub encryption: Option<Cipher>,
    /// What happens to readers that are too slow.
    pub overtaken: SlowReaderPolicy,
}

/// The most priorities.
pub const PRIORITIES_MAX: u8 = 16;

/// An option that has no allowed value, or contradicts another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidOptions {
    /// The option, as requests name it.
    pub option: &'static str,
    /// Its value and its limit.
    pub reason: String,
}

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

    /// The durability of a confirmed message.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets the number of priorities.
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

    /// The largest age of a message of a stream.
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

    /// What happens to readers that are too slow.
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

    /// The cipher of messages on disk.
    #[must_use]
    pub fn encryption(mut self, cipher: Cipher) -> Self {
        self.encryption = Some(cipher);
        self
    }

    pub(crate) fn sealing(&self) -> Sealing {
        Sealing { compression: self.compression, encryption: self.encryption }
    }

    /// Whether the options are valid.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        let refuse = |option, reason| Err(InvalidOptions { option, reason });
        let priorities = self.priorities;
        if !(1..=PRIORITIES_MAX).contains(&priorities) {
            let reason = format!("priorities is {priorities}; it must be 1 to {PRIORITIES_MAX}");
            return refuse("priorities", reason);
        }
        if self.kind == Kind::WorkQueue && self.max_age.is_some() {
            let reason = "a work queue drops no message for its age; let messages expire instead";
            return refuse("max_age_ms", reason.into());
        }
        let bounds = [("messages_max", self.bounds.messages), ("bytes_max", self.bounds.bytes)];
        if let Some((option, _)) = bounds.into_iter().find(|(_, bound)| *bound == Some(0)) {
            return refuse(option, format!("{option} is 0; it must be at least 1"));
        }
        let (message_bytes, max) = (self.message_bytes_max, crate::MESSAGE_BYTES_MAX);
        if !(256..=max).contains(&message_bytes) {
            let reason = format!("message_bytes_max is {message_bytes}; it must be 256 to {max}");
            return refuse("message_bytes_max", reason);
        }
        let (segment_bytes, min) = (self.segment_bytes, SEGMENT_BYTES_FOR_ANY_GROUP);
        if !segment_bytes.is_multiple_of(4096) || segment_bytes < min {
            let reason = format!(
                "segment_bytes is {segment_bytes}; it must be a multiple of 4096, at least {min}"
            );
            return refuse("segment_bytes", reason);
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
