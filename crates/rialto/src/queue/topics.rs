//! Creating, listing and deleting topics and groups.

use super::{duration, told};
use crate::Error;
use crate::terminal::say;
use rialto_queue::{
    Cipher, Compression, DeadLetter, Delivery, Filter, GroupOptions, GroupStats, Kind, Level, Name,
    Order, Queue, Sharing, Start, TopicOptions, TopicStats, WhenFull,
};
use serde_json::{Value, json};
use std::time::Duration;

/// Creates a topic. One that is there already, with the same options, is no error.
#[derive(Debug, clap::Args)]
pub(super) struct Create {
    /// Its name.
    topic: String,
    /// A work queue: messages stay until every group is done with them.
    #[arg(long)]
    work_queue: bool,
    /// What a confirmation means: memory, buffered or synced.
    #[arg(long, default_value_t = Level::Synced)]
    level: Level,
    /// How many priorities there are, 1 to 16.
    #[arg(long, default_value_t = 1)]
    priorities: u8,
    /// The most messages: a stream drops its oldest beyond, a work queue is full.
    #[arg(long)]
    messages_max: Option<u64>,
    /// The most bytes, likewise.
    #[arg(long)]
    bytes_max: Option<u64>,
    /// How old a message of a stream may become, as in 7d.
    #[arg(long, value_parser = duration::parse)]
    max_age: Option<Duration>,
    /// When a work queue is full, have publishers wait this long before they are refused.
    #[arg(long, value_parser = duration::parse, requires = "work_queue")]
    block: Option<Duration>,
    /// none, lz4, zstd, zstd:LEVEL, gzip or gzip:LEVEL.
    #[arg(long, default_value_t = Compression::None)]
    compression: Compression,
    /// aes-128-gcm, aes-256-gcm or chacha20-poly1305; needs keys.
    #[arg(long, value_parser = cipher)]
    encryption: Option<Cipher>,
}

fn cipher(text: &str) -> Result<Cipher, String> {
    let known = Cipher::ALL.map(Cipher::name);
    Cipher::ALL
        .into_iter()
        .find(|cipher| cipher.name() == text)
        .ok_or_else(|| format!("{text:?} is no cipher; choose one of {}", known.join(", ")))
}

impl Create {
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        let kind = if self.work_queue { Kind::WorkQueue } else { Kind::Stream };
        let mut options = TopicOptions {
            kind,
            level: self.level,
            priorities: self.priorities,
            max_age: self.max_age,
            when_full: self.block.map_or(WhenFull::Reject, WhenFull::Block),
            compression: self.compression,
            encryption: self.encryption,
            ..TopicOptions::default()
        };
        options.bounds.messages = self.messages_max;
        options.bounds.bytes = self.bytes_max;
        queue.create_topic(&self.topic, options).map_err(told)
    }
}

/// Creates a group of a topic. One that is there already, with the same options, is no error.
#[derive(Debug, clap::Args)]
pub(super) struct CreateGroup {
    /// The topic.
    topic: String,
    /// The name of the group.
    group: String,
    /// Where it begins: oldest, next, or a message's number.
    #[arg(long, default_value = "oldest", value_parser = super::consume::start)]
    from: Start,
    /// Work on one message of a key at a time, in order.
    #[arg(long)]
    per_key: bool,
    /// Give messages to one consumer at a time only.
    #[arg(long)]
    single_active: bool,
    /// Be done with messages before they are handed out.
    #[arg(long)]
    at_most_once: bool,
    /// How long a consumer has for a message.
    #[arg(long, value_parser = duration::parse, default_value = "30s")]
    ack_wait: Duration,
    /// How often a message is handed out at most; 0 for without end.
    #[arg(long, default_value_t = 5)]
    attempts_max: u16,
    /// How long a message rests before it is handed out again.
    #[arg(long, value_parser = duration::parse, default_value = "0s")]
    retry_delay: Duration,
    /// The topic for dead letters, instead of TOPIC.dead.
    #[arg(long, conflicts_with = "drop_dead")]
    dead_letters: Option<String>,
    /// Drop messages after the last try.
    #[arg(long)]
    drop_dead: bool,
    /// Only messages whose headers are so: NAME, !NAME, NAME=VALUE, NAME!=VALUE, NAME^=PREFIX,
    /// several with commas between them.
    #[arg(long)]
    filter: Option<Filter>,
}

impl CreateGroup {
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        let dead_letter = match (&self.dead_letters, self.drop_dead) {
            (Some(topic), _) => {
                DeadLetter::Topic(Name::new(topic).map_err(|error| told(error.into()))?)
            }
            (None, true) => DeadLetter::Drop,
            (None, false) => DeadLetter::Own,
        };
        let options = GroupOptions {
            start: self.from,
            order: if self.per_key { Order::PerKey } else { Order::None },
            sharing: if self.single_active { Sharing::SingleActive } else { Sharing::Competing },
            delivery: if self.at_most_once { Delivery::AtMostOnce } else { Delivery::AtLeastOnce },
            ack_wait: self.ack_wait,
            attempts_max: self.attempts_max,
            retry_delay: self.retry_delay,
            dead_letter,
            filter: self.filter.clone(),
            ..GroupOptions::default()
        };
        queue.create_group(&self.topic, &self.group, options).map_err(told)
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
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        match &self.group {
            Some(group) => queue.delete_group(&self.topic, group).map_err(told),
            None => queue.delete_topic(&self.topic).map_err(told),
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
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        if !self.json {
            say(format_args!(
                "{:<32} {:<10} {:<8} {:>12} {:>14} {:>6}",
                "topic", "kind", "level", "messages", "bytes", "groups"
            ));
        }
        for name in queue.topics() {
            let stats = queue.stats(name.as_str()).map_err(told)?;
            let options = queue.options(name.as_str()).map_err(told)?;
            if self.json {
                say(format_args!("{}", topic_object(&stats, &options)));
            } else {
                say(format_args!(
                    "{:<32} {:<10} {:<8} {:>12} {:>14} {:>6}",
                    stats.name,
                    kind_name(options.kind),
                    options.level,
                    stats.messages,
                    stats.bytes,
                    stats.groups.len()
                ));
            }
        }
        Ok(())
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Stream => "stream",
        Kind::WorkQueue => "work_queue",
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
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        let stats = queue.stats(&self.topic).map_err(told)?;
        let options = queue.options(&self.topic).map_err(told)?;
        if self.json {
            say(format_args!("{}", topic_object(&stats, &options)));
            return Ok(());
        }
        let bound = |bound: Option<u64>| bound.map_or("none".to_owned(), |it| it.to_string());
        let pairs = [
            ("topic", stats.name.to_string()),
            ("kind", kind_name(options.kind).to_owned()),
            ("level", options.level.to_string()),
            ("priorities", options.priorities.to_string()),
            ("compression", options.compression.to_string()),
            ("encryption", options.encryption.map_or("none", Cipher::name).to_owned()),
            ("messages_max", bound(options.bounds.messages)),
            ("bytes_max", bound(options.bounds.bytes)),
            ("max_age", options.max_age.map_or("none".to_owned(), duration::show)),
            ("messages", stats.messages.to_string()),
            ("bytes", stats.bytes.to_string()),
            ("delayed", stats.delayed.to_string()),
        ];
        for (name, value) in pairs {
            say(format_args!("{name:<13} {value}"));
        }
        for (lane, (first, last)) in stats.lanes.iter().enumerate().rev() {
            say(format_args!("lane {lane:<8} {first} to {last}"));
        }
        for group in &stats.groups {
            say(format_args!(
                "group {:<20} lag {}, outstanding {}, done below {}",
                group.name,
                group.lag,
                group.outstanding,
                group.floors.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
            ));
        }
        Ok(())
    }
}

/// A topic as JSON; numbers of 64 bits as strings, as everywhere in Rialto.
pub(super) fn topic_object(stats: &TopicStats, options: &TopicOptions) -> Value {
    let groups: Vec<_> = stats.groups.iter().map(group_object).collect();
    json!({
        "topic": stats.name.as_str(),
        "kind": kind_name(options.kind),
        "level": options.level.name(),
        "priorities": options.priorities,
        "compression": options.compression.to_string(),
        "encryption": options.encryption.map(Cipher::name),
        "messages": stats.messages.to_string(),
        "bytes": stats.bytes.to_string(),
        "delayed": stats.delayed.to_string(),
        "published_messages": stats.published_messages.to_string(),
        "published_bytes": stats.published_bytes.to_string(),
        "refused": stats.refused.to_string(),
        "duplicates": stats.duplicates.to_string(),
        "oldest_age_ms": stats.oldest_age.map(|age| age.as_millis().to_string()),
        "failed": stats.failed,
        "groups": groups,
    })
}

fn group_object(group: &GroupStats) -> Value {
    let counts = group.counts;
    json!({
        "group": group.name.as_str(),
        "consumers": group.consumers,
        "lag": group.lag.to_string(),
        "outstanding": group.outstanding,
        "done_below": group.floors.iter().map(u64::to_string).collect::<Vec<_>>(),
        "delivered": counts.delivered.to_string(),
        "redelivered": counts.redelivered.to_string(),
        "acked": counts.acked.to_string(),
        "nacked": counts.nacked.to_string(),
        "unanswered": counts.unanswered.to_string(),
        "filtered": counts.filtered.to_string(),
        "expired": counts.expired.to_string(),
        "dead": counts.dead.to_string(),
    })
}
