//! What is known of one setting.

use super::Config;
use rialto_engine::Level;
use rialto_gateway::Network;
use std::net::SocketAddr;
use std::path::PathBuf;

/// One setting: where it stands in the file, what it means, and how it gets in and out of a
/// [`Config`].
pub struct Setting {
    /// The section, as in `[engine]`.
    pub section: &'static str,
    /// The key, with its unit last where it has one.
    pub key: &'static str,
    /// What it means, in whole sentences.
    pub meaning: &'static str,
    /// What it may be, and where it is kept.
    pub kind: Kind,
}

/// What values a setting may have, with the way to read it from a configuration and to change it.
pub enum Kind {
    /// A whole number within bounds, both included.
    Number {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
        /// What is counted.
        unit: &'static str,
        /// Reads it.
        get: fn(&Config) -> u64,
        /// Changes it.
        set: fn(&mut Config, u64),
    },
    /// `true` or `false`.
    Switch {
        /// Reads it.
        get: fn(&Config) -> bool,
        /// Changes it.
        set: fn(&mut Config, bool),
    },
    /// A durability level.
    Level {
        /// Reads it.
        get: fn(&Config) -> Level,
        /// Changes it.
        set: fn(&mut Config, Level),
    },
    /// One of some words.
    Word {
        /// Which, for people.
        words: &'static str,
        /// Reads it.
        get: fn(&Config) -> String,
        /// Changes it, or says why the word is none of them.
        set: fn(&mut Config, &str) -> Result<(), String>,
    },
    /// An address with a port.
    Address {
        /// Reads it.
        get: fn(&Config) -> SocketAddr,
        /// Changes it.
        set: fn(&mut Config, SocketAddr),
    },
    /// An address with a port, or an empty text for "none".
    OptionalAddress {
        /// Reads it.
        get: fn(&Config) -> Option<SocketAddr>,
        /// Changes it.
        set: fn(&mut Config, Option<SocketAddr>),
    },
    /// Networks of addresses, as a list of texts.
    Networks {
        /// Reads it.
        get: fn(&Config) -> Vec<Network>,
        /// Changes it.
        set: fn(&mut Config, Vec<Network>),
    },
    /// A path; relative ones start at the current directory.
    Path {
        /// Reads it.
        get: fn(&Config) -> PathBuf,
        /// Changes it.
        set: fn(&mut Config, PathBuf),
    },
    /// A path, or an empty text for "none".
    OptionalPath {
        /// Reads it.
        get: fn(&Config) -> Option<PathBuf>,
        /// Changes it.
        set: fn(&mut Config, Option<PathBuf>),
    },
}

impl Setting {
    /// What the setting may be, for people.
    #[must_use]
    pub fn range(&self) -> String {
        match &self.kind {
            Kind::Number { min, max, unit: "", .. } => format!("{min} to {max}"),
            Kind::Number { min, max, unit, .. } => format!("{min} to {max} {unit}"),
            Kind::Switch { .. } => "true or false".to_string(),
            Kind::Level { .. } => {
                let levels: Vec<String> =
                    Level::ALL.iter().map(|level| format!("\"{level}\"")).collect();
                levels.join(", ")
            }
            Kind::Word { words, .. } => (*words).to_string(),
            Kind::Address { .. } => "an IP address and a port".to_string(),
            Kind::OptionalAddress { .. } => {
                "an IP address and a port, or \"\" for none".to_string()
            }
            Kind::Networks { .. } => {
                "a list of IP addresses and networks, such as [\"10.1.0.0/16\"]".to_string()
            }
            Kind::Path { .. } => "a path".to_string(),
            Kind::OptionalPath { .. } => "a path, or \"\" for none".to_string(),
        }
    }

    /// The setting's value in `config`, as it is written in a file.
    #[must_use]
    pub fn value(&self, config: &Config) -> String {
        let quoted = |text: String| toml::Value::String(text).to_string();
        let path = |path: PathBuf| quoted(path.to_string_lossy().into_owned());
        match &self.kind {
            Kind::Number { get, .. } => grouped(get(config)),
            Kind::Switch { get, .. } => get(config).to_string(),
            Kind::Level { get, .. } => quoted(get(config).to_string()),
            Kind::Word { get, .. } => quoted(get(config)),
            Kind::Address { get, .. } => quoted(get(config).to_string()),
            Kind::OptionalAddress { get, .. } => {
                quoted(get(config).map(|address| address.to_string()).unwrap_or_default())
            }
            Kind::Networks { get, .. } => {
                let each = get(config).into_iter().map(|network| quoted(network.to_string()));
                format!("[{}]", each.collect::<Vec<_>>().join(", "))
            }
            Kind::Path { get, .. } => path(get(config)),
            Kind::OptionalPath { get, .. } => path(get(config).unwrap_or_default()),
        }
    }
}

/// A number with an underscore before every three digits, as the file format allows.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}
