//! The configuration file: every setting once, in one table that reads, checks and prints.

mod parse;
mod print;
mod setting;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use parse::check_together;
pub use parse::{ConfigError, parse, read};
pub use print::print;
pub use setting::{Kind, Setting};
pub use settings::{SECTIONS, SETTINGS};

use rialto_desk::LiveConfig;
use rialto_engine::{EngineConfig, StorageLimits};
use rialto_gateway::GatewayConfig;
use rialto_queue::QueueOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything that a venue is assembled from.
///
/// The settings of each part are that part's own struct, so that there is no second list of them
/// that could fall behind.
#[derive(Clone, Debug)]
pub struct Config {
    /// Journal, event log, snapshots, and how acknowledgements are gated.
    pub engine: EngineConfig,
    /// The HTTP and WebSocket door and its limits.
    pub gateway: GatewayConfig,
    /// What queries and streams are answered from.
    pub live: LiveConfig,
    /// How withdrawals are dealt with.
    pub withdrawals: rialto_payments::Settings,
    /// Whether topics are kept, for callers with keys to publish on and to consume.
    pub queue_enabled: bool,
    /// Memory for messages that is made ready when the venue starts.
    pub queue_buffers_bytes: usize,
    /// How many descriptors the queue keeps open.
    pub queue_descriptors_max: usize,
    /// How many bytes of files that retention has dropped are kept to make the next ones of.
    pub queue_spare_bytes: u64,
    /// How many commands the feed may be behind the engine while the venue is ready.
    pub feed_lag_max: u64,
    /// What requests do, step by step, is kept for a while.
    pub recorder: RecorderConfig,
    /// How many free bytes the disk must have for what.
    pub storage: StorageLimits,
    /// How long a shutdown may take to finish what was taken.
    pub drain: Duration,
    /// The file with the keys of the engine's logs, unless others are given at the start. The keys
    /// themselves are not part of a configuration.
    pub keys_file: Option<PathBuf>,
    /// From which level on events are logged, unless `RIALTO_LOG` says otherwise.
    pub log_level: tracing::level_filters::LevelFilter,
    /// How a line of the log is written.
    pub log_format: LogFormat,
}

/// How a line of the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Words for people.
    #[default]
    Text,
    /// A JSON object.
    Json,
}

impl LogFormat {
    /// Its word in a configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        }
    }
}

impl std::str::FromStr for LogFormat {
    type Err = String;

    fn from_str(word: &str) -> Result<LogFormat, String> {
        let known = [LogFormat::Text, LogFormat::Json].into_iter().find(|it| it.word() == word);
        known.ok_or_else(|| format!("{word:?} is neither \"text\" nor \"json\""))
    }
}

/// Which requests the venue's recorder keeps, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderConfig {
    /// Requests recorded in a second at most; 0 records none.
    pub per_second: u32,
    /// Whether all requests are recorded while they are under way and only failed ones are kept.
    pub only_failures: bool,
    /// Records in memory at most.
    pub records_max: u32,
    /// How much is stored in the data directory at most, in bytes; 0 stores nothing.
    pub bytes_max: u64,
}

impl Default for RecorderConfig {
    fn default() -> RecorderConfig {
        RecorderConfig {
            per_second: 10,
            only_failures: false,
            records_max: 1_000,
            bytes_max: 16 << 20,
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        let engine = EngineConfig {
            data_dir: "data/venue".into(),
            reserve_segments: 1,
            ..EngineConfig::default()
        };
        Config {
            engine,
            gateway: GatewayConfig::default(),
            live: LiveConfig::default(),
            withdrawals: rialto_payments::Settings::default(),
            queue_enabled: false,
            queue_buffers_bytes: 0,
            queue_descriptors_max: QueueOptions::in_memory().descriptors_max,
            queue_spare_bytes: QueueOptions::in_memory().spare_bytes_max,
            feed_lag_max: 250_000,
            recorder: RecorderConfig::default(),
            storage: StorageLimits { entry_bytes: 512 << 20, topics_bytes: 1 << 30 },
            drain: Duration::from_secs(30),
            keys_file: None,
            log_level: tracing::level_filters::LevelFilter::INFO,
            log_format: LogFormat::default(),
        }
    }
}

impl Config {
    /// Where everything that the venue writes lives.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.engine.data_dir
    }
}
