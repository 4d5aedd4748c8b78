//! Creating, listing and deleting topics and groups.

use super::any_queue::AnyQueue;
use crate::Error;
use crate::duration;
use crate::terminal::say;
use rialto_client::api::{
    DeadLetterChoice, GroupDelivery, GroupOrder, GroupRequest, GroupSharing, GroupStart,
    OvertakenChoice, Str, TopicKind, TopicRequest, U64Text, VENUE_TOPICS, is_of_venue,
};
use rialto_queue::{Cipher, Compression, Filter, Level, SlowReaderPolicy, Start};
use serde_json::Value;
use std::time::Duration;

/// Creates a topic. A topic that exists with the same options is no error.
#[derive(Debug, clap::Args)]
pub(super) struct Create {
    /// The name of the topic.
    pub(super) topic: String,
    /// A work queue: messages stay until every group has acknowledged them.
    #[arg(long)]
    work_queue: bool,
    /// The durability level: memory, buffered or synced.
    #[arg(long, default_value_t = Level::Synced)]
    level: Level,
    /// The number of priorities, 1 to 16.
    #[arg(long, default_value_t = 1)]
    priorities: u8,
    /// The most messages: beyond it a stream drops its oldest, and a work queue is full.
    #[arg(long)]
    messages_max: Option<u64>,
    /// The most bytes: beyond it a stream drops its oldest, and a work queue is full.
    #[arg(long)]
    bytes_max: Option<u64>,
    /// The greatest age of messages of a stream, such as 7d.
    #[arg(long, value_parser = duration::parse)]
    max_age: Option<Duration>,
    /// How long publishers wait for room in a full work queue before they are refused.
    #[arg(long, value_parser = duration::parse, requires = "work_queue")]
    block: Option<Duration>,
    /// What happens to slow readers: oldest, newest, cut_off, or conflated:N, which sends a reader
    /// that is more than N messages behind only the last message of each key.
    #[arg(long, default_value_t = SlowReaderPolicy::Oldest)]
    overtaken: SlowReaderPolicy,
    /// The compression: none, lz4, zstd, zstd:LEVEL, gzip or gzip:LEVEL.
    #[arg(long, default_value_t = Compression::None)]
    compression: Compression,
    /// The encryption: aes-128-gcm, aes-256-gcm or chacha20-poly1305; needs keys.
    #[arg(long, value_parser = cipher)]
    encryption: Option<Cipher>,
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn cipher(text: &str) -> Result<Cipher, String> {
    let known = Cipher::ALL.map(Cipher::name);
    Cipher::ALL
        .into_iter()
        .find(|cipher| cipher.name() == text)
        .ok_or_else(|| format!("{text:?} is no cipher; choose one of {}", known.join(", ")))
}

impl Create {
    /// The request, which a venue gets as it is and a local queue converts to options.
    pub(super) fn request(&self) -> TopicRequest<'_> {
        TopicRequest {
            name: self.topic.as_str().into(),
            kind: Some(if self.work_queue { TopicKind::WorkQueue } else { TopicKind::Stream }),
            level: Some(self.level.name().into()),
            priorities: Some(self.priorities),
            messages_max: self.messages_max,
            bytes_max: self.bytes_max,
            max_age_ms: self.max_age.map(millis),
            block_ms: self.block.map(millis),
            overtaken: Some(match self.overtaken {
                SlowReaderPolicy::Oldest => OvertakenChoice::Oldest,
                SlowReaderPolicy::Newest => OvertakenChoice::Newest,
                SlowReaderPolicy::CutOff => OvertakenChoice::CutOff,
                SlowReaderPolicy::Conflated { behind } => OvertakenChoice::Conflated { behind },
            }),
            compression: Some(self.compression.to_string().into()),
            encryption: self.encryption.map(|cipher| cipher.name().into()),
            ..TopicRequest::default()
        }
    }

    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        if is_of_venue(&self.topic) {
            let reason = format!(
                "the name {} is reserved for the venue, as are all names that begin with {VENUE_TOPICS:?}",
                self.topic
            );
            return Err(Error::Usage(reason));
        }
        queue.create_topic(self)
    }
}

/// Creates a group of a topic. A group that exists with the same options is no error.
#[derive(Debug, clap::Args)]
pub(super) struct CreateGroup {
    /// The topic.
    pub(super) topic: String,
    /// The name of the group.
    pub(super) group: String,
    /// The first message of the group: oldest, next, or a number.
    #[arg(long, default_value = "oldest", value_parser = super::consume::start)]
    from: Start,
    /// Deliver one message of a key at a time, in order.
    #[arg(long)]
    per_key: bool,
    /// Deliver to one consumer at a time.
    #[arg(long)]
    single_active: bool,
    /// Acknowledge messages before they are delivered (at most once).
    #[arg(long)]
    at_most_once: bool,
    /// How long a consumer may take before a message is delivered again.
    #[arg(long, value_parser = duration::parse, default_value = "30s")]
    ack_wait: Duration,
    /// The most deliveries of a message; 0 for no limit.
    #[arg(long, default_value_t = 5)]
    attempts_max: u16,
    /// The delay before a negatively acknowledged message is delivered again.
    #[arg(long, value_parser = duration::parse, default_value = "0s")]
    retry_delay: Duration,
    /// Double the delay with every attempt, up to this.
    #[arg(long, value_parser = duration::parse)]
    retry_delay_max: Option<Duration>,
    /// The topic for dead letters, instead of TOPIC.dead.
    #[arg(long, conflicts_with = "drop_dead")]
    dead_letters: Option<String>,
    /// Drop messages after the last attempt, instead of keeping dead letters.
    #[arg(long)]
    drop_dead: bool,
    /// Only messages whose headers match: NAME, !NAME, NAME=VALUE, NAME!=VALUE, NAME^=PREFIX,
    /// several with commas between them.
    #[arg(long, value_parser = filter)]
    filter: Option<String>,
}

/// For use as a parser of arguments.
fn filter(text: &str) -> Result<String, String> {
    let filter: Result<Filter, _> = text.parse();
    filter.map(|_| text.to_owned()).map_err(|error| error.to_string())
}

impl CreateGroup {
    /// The request, which a venue gets as it is and a local queue converts to options.
    pub(super) fn request(&self) -> GroupRequest<'_> {
        GroupRequest {
            name: self.group.as_str().into(),
            start: Some(match self.from {
                Start::Oldest => GroupStart::Oldest,
                Start::Next => GroupStart::Next,
                Start::At(time) => GroupStart::At(U64Text(time.0)),
                Start::Seq(seq) => GroupStart::Seq(U64Text(seq)),
            }),
            order: Some(if self.per_key { GroupOrder::PerKey } else { GroupOrder::None }),
            sharing: Some(match self.single_active {
                true => GroupSharing::SingleActive,
                false => GroupSharing::Competing,
            }),
            delivery: Some(match self.at_most_once {
                true => GroupDelivery::AtMostOnce,
                false => GroupDelivery::AtLeastOnce,
            }),
            ack_wait_ms: Some(millis(self.ack_wait)),
            attempts_max: Some(self.attempts_max),
            retry_delay_ms: Some(millis(self.retry_delay)),
            retry_delay_max_ms: self.retry_delay_max.map(millis),
            dead_letter: Some(match (&self.dead_letters, self.drop_dead) {
                (Some(topic), _) => DeadLetterChoice::Topic(topic.clone()),
                (None, true) => DeadLetterChoice::Drop,
                (None, false) => DeadLetterChoice::Own,
            }),
            outstanding_max: None,
            filter: self.filter.as_deref().map(Str::from),
        }
    }

    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        queue.create_group(self)
    }
}

/// Deletes a topic with everything in it, or one of its groups.
#[derive(Debug, clap::Args)]
pub(super) struct Delete {
    /// The topic.
    topic: String,
    /// Only this group of it.
    #[arg(long)]
    group: Option<String>,
}

impl Delete {
    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        match &self.group {
            Some(group) => queue.delete_group(&self.topic, group),
            None => queue.delete_topic(&self.topic),
        }
    }
}

/// Lists the topics.
#[derive(Debug, clap::Args)]
pub(super) struct Ls {
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

impl Ls {
    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        if !self.json {
            say(format_args!(
                "{:<32} {:<10} {:<8} {:>12} {:>14} {:>6}",
                "topic", "kind", "level", "messages", "bytes", "groups"
            ));
        }
        for name in queue.topics()? {
            let topic = queue.topic(&name)?;
            if self.json {
                say(format_args!("{topic}"));
                continue;
            }
            let [kind, level, messages, bytes] =
                ["kind", "level", "messages", "bytes"].map(|field| shown(&topic[field]));
            let groups = topic["groups"].as_array().map_or(0, Vec::len);
            say(format_args!(
                "{name:<32} {kind:<10} {level:<8} {messages:>12} {bytes:>14} {groups:>6}"
            ));
        }
        Ok(())
    }
}

/// A value as people read it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Shows a topic and its groups.
#[derive(Debug, clap::Args)]
pub(super) struct Describe {
    /// The topic.
    topic: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Describe {
    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        let topic = queue.topic(&self.topic)?;
        if self.json {
            say(format_args!("{topic}"));
            return Ok(());
        }
        say(format_args!("{:<13} {}", "topic", shown(&topic["name"])));
        for field in [
            "kind",
            "read_only",
            "level",
            "priorities",
            "compression",
            "encryption",
            "messages_max",
            "bytes_max",
            "overtaken",
        ] {
            say(format_args!("{field:<13} {}", shown(&topic[field])));
        }
        let max_age = topic["max_age_ms"].as_str().and_then(|text| text.parse().ok());
        let max_age = max_age.map(|millis| duration::show(Duration::from_millis(millis)));
        say(format_args!("{:<13} {}", "max_age", max_age.as_deref().unwrap_or("none")));
        for field in ["messages", "bytes", "delayed"] {
            say(format_args!("{field:<13} {}", shown(&topic[field])));
        }
        for what in ["published", "delivered"] {
            let rates = &topic["rates"];
            let [messages, bytes] =
                ["per_s", "bytes_per_s"].map(|of| shown(&rates[format!("{what}_{of}")]));
            say(format_args!("{what:<13} {messages} messages/s, {bytes} bytes/s"));
        }
        let lanes = topic["lanes"].as_array().map_or(&[][..], Vec::as_slice);
        for (lane, ends) in lanes.iter().enumerate().rev() {
            say(format_args!("lane {lane:<8} {} to {}", shown(&ends[0]), shown(&ends[1])));
        }
        for group in topic["groups"].as_array().into_iter().flatten() {
            let [name, lag, outstanding, pending, done_below] =
                ["name", "lag", "outstanding", "dead_letters_pending", "done_below"]
                    .map(|field| shown(&group[field]));
            say(format_args!(
                "group {name:<20} lag {lag}, outstanding {outstanding}, dead letters pending \
                 {pending}, acknowledged below {done_below}"
            ));
        }
        Ok(())
    }
}
