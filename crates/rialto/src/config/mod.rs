//! The configuration file: every setting once, in one table that reads, checks and prints.

mod parse;
mod print;
mod setting;
mod settings;
#[cfg(test)]
mod tests;

pub use parse::{ConfigError, parse, read};
pub use print::print;
pub use setting::{Kind, Setting};
pub use settings::{SECTIONS, SETTINGS};

use rialto_engine::EngineConfig;
use rialto_gateway::{GatewayConfig, LiveConfig};
use std::path::Path;
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
    /// How many commands the feed may be behind the engine while the venue is ready.
    pub feed_lag_max: u64,
    /// How long a shutdown may take to finish what was taken.
    pub drain: Duration,
}

impl Default for Config {
    fn default() -> Config {
        let engine = EngineConfig { data_dir: "data/venue".into(), ..EngineConfig::default() };
        Config {
            engine,
            gateway: GatewayConfig::default(),
            live: LiveConfig::default(),
            withdrawals: rialto_payments::Settings::default(),
            feed_lag_max: 250_000,
            drain: Duration::from_secs(30),
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
