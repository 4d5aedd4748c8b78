//! The configuration file: every setting once, in one table that reads, checks and prints.

mod calendars;
mod parse;
mod print;
mod setting;
mod settings;
#[cfg(test)]
mod tests;

pub use calendars::CalendarConfig;
pub(crate) use parse::check_together;
pub use parse::{ConfigError, parse, read};
pub use print::print;
pub use setting::{Kind, Setting};
pub use settings::{SECTIONS, SETTINGS};

use rialto_depot::DepotOptions;
use rialto_desk::LiveConfig;
use rialto_engine::{EngineConfig, StorageLimits};
use rialto_gateway::GatewayConfig;
use rialto_order_files::OrderFileLimits;
use rialto_queue::QueueOptions;
use rialto_statements::DayTime;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The settings of a venue. Each part defines its own struct of settings, so that no second list of
/// them can fall behind.
#[derive(Clone, Debug)]
pub struct Config {
    /// Journal, event log, snapshots, and how acknowledgements are gated.
    pub engine: EngineConfig,
    /// The HTTP and WebSocket gateway and its limits.
    pub gateway: GatewayConfig,
    /// The feed that answers queries and streams.
    pub live: LiveConfig,
    /// The settings of withdrawals.
    pub withdrawals: rialto_payments::Settings,
    /// Whether the venue has topics.
    pub queue_enabled: bool,
    /// The bytes of memory for messages that are allocated at the start.
    pub queue_buffers_bytes: usize,
    /// The descriptors that the queue may keep open.
    pub queue_descriptors_max: usize,
    /// The bytes of files dropped by retention that the queue reuses.
    pub queue_spare_bytes: u64,
    /// The file pool of the venue.
    pub depot: DepotConfig,
    /// The statements that are put into the outboxes of members.
    pub statements: StatementsConfig,
    /// The depot over S3.
    #[cfg(feature = "s3")]
    pub s3: S3Config,
    /// The calendars that the venue runs by.
    pub calendars: Vec<CalendarConfig>,
    /// The exchange of order files, which needs the pool.
    pub order_files: OrderFilesConfig,
    /// The most commands that the feed may lag while the venue is ready.
    pub feed_lag_max: u64,
    /// The most orders and amendments of a member in a second; 0 is no limit.
    pub member_order_rate: u32,
    /// The settings of the recorder.
    pub recorder: RecorderConfig,
    /// The free bytes of the disk below which requests are refused.
    pub storage: StorageLimits,
    /// The longest time that a shutdown may take.
    pub drain: Duration,
    /// The file with the keys of the engine's logs, unless others are given at the start.
    pub keys_file: Option<PathBuf>,
    /// The lowest level that is logged, unless `RIALTO_LOG` overrides it.
    pub log_level: tracing::level_filters::LevelFilter,
    /// The format of a log line.
    pub log_format: LogFormat,
}

/// The format of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// A JSON object.
    Json,
}

impl LogFormat {
    /// Its name in a configuration.
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

/// The settings of the venue's file pool. Its level is that of the venue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepotConfig {
    /// Whether the venue has one.
    pub enabled: bool,
    /// Its directory; `None` for `depot` in the data directory.
    pub dir: Option<PathBuf>,
    /// The largest file, in bytes.
    pub upload_bytes_max: u64,
    /// The largest file that travels in its message, in bytes.
    pub inline_bytes_max: usize,
    /// How long a claim lasts, unless the worker says otherwise.
    pub claim_duration: Duration,
    /// How often a file is claimed before it becomes a dead letter; 0 is no limit.
    pub attempts_max: u16,
    /// A volume with fewer free bytes takes no new files.
    pub free_bytes_min: u64,
    /// The most bytes of all volumes that are not durable.
    pub unsynced_bytes: u64,
    /// The most bytes that uploads to buckets hold in memory.
    pub bucket_bytes: u64,
    /// How many bytes may be stored in a second.
    pub rates: rialto_depot::RateOptions,
    /// The descriptors that its work queues may keep open.
    pub descriptors_max: usize,
}

impl Default for DepotConfig {
    fn default() -> DepotConfig {
        let DepotOptions { volumes, claim_duration, attempts_max, .. } = DepotOptions::at("");
        DepotConfig {
            enabled: false,
            dir: None,
            upload_bytes_max: 16 << 30,
            inline_bytes_max: 16 << 10,
            claim_duration,
            attempts_max,
            free_bytes_min: volumes.free_bytes_min,
            unsynced_bytes: volumes.unsynced_bytes_max,
            bucket_bytes: volumes.bucket_bytes_max,
            rates: rialto_depot::RateOptions::default(),
            descriptors_max: 512,
        }
    }
}

/// The settings of statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementsConfig {
    /// Whether the venue makes statements. It needs a depot.
    pub enabled: bool,
    /// The time of the day at which they are made.
    pub at: DayTime,
}

/// The settings of the depot over S3. Times and rates of requests are those of the gateway.
#[cfg(feature = "s3")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct S3Config {
    /// Whether it is served.
    pub enabled: bool,
    /// The address, and the limits.
    pub options: rialto_s3::S3Options,
}

/// The settings of the exchange of order files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderFilesConfig {
    /// Whether the venue has one.
    pub enabled: bool,
    /// Its limits.
    pub limits: OrderFileLimits,
}

/// The settings of the venue's recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderConfig {
    /// The most requests recorded in a second; 0 records none.
    pub per_second: u32,
    /// Whether all requests are recorded and only failed ones are kept.
    pub only_failures: bool,
    /// The most records in memory.
    pub records_max: u32,
    /// The most bytes of records in the data directory; 0 stores nothing.
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
            depot: DepotConfig::default(),
            statements: StatementsConfig::default(),
            #[cfg(feature = "s3")]
            s3: S3Config::default(),
            calendars: Vec::new(),
            order_files: OrderFilesConfig::default(),
            feed_lag_max: 250_000,
            member_order_rate: 0,
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
    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.engine.data_dir
    }
}
