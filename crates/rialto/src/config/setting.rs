//! What is known of one setting.

use super::Config;
use rialto_engine::Level;
use rialto_gateway::Network;
use std::net::SocketAddr;
use std::path::PathBuf;

/// One setting: its section and key, its meaning, and its access to a [`Config`].
pub struct Setting {
    /// The section, as in `[engine]`.
    pub section: &'static str,
    /// The key, with its unit last where it has one.
    pub key: &'static str,
    /// Its meaning, in whole sentences.
    pub meaning: &'static str,
    /// Its kind: the valid values, and its access to a [`Config`].
    pub kind: Kind,
}

/// The valid values of a setting, with functions to read and to change it.
pub enum Kind {
    /// A whole number within bounds, both included.
    Number {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
        /// The unit.
        unit: &'static str,
        /// Reads the value.
        get: fn(&Config) -> u64,
        /// Changes the value.
        set: fn(&mut Config, u64),
    },
    /// `true` or `false`.
    Switch {
        /// Reads the value.
        get: fn(&Config) -> bool,
        /// Changes the value.
        set: fn(&mut Config, bool),
    },
    /// A durability level.
    Level {
        /// Reads the value.
        get: fn(&Config) -> Level,
        /// Changes the value.
        set: fn(&mut Config, Level),
    },
    /// One of some words.
    Word {
        /// The words, quoted, for messages.
        words: &'static str,
        /// Reads the value.
        get: fn(&Config) -> String,
        /// Changes the value, or returns why the word is invalid.
        set: fn(&mut Config, &str) -> Result<(), String>,
    },
    /// An address with a port.
    Address {
        /// Reads the value.
        get: fn(&Config) -> SocketAddr,
        /// Changes the value.
        set: fn(&mut Config, SocketAddr),
    },
    /// An address with a port, or an empty text for "none".
    OptionalAddress {
        /// Reads the value.
        get: fn(&Config) -> Option<SocketAddr>,
        /// Changes the value.
        set: fn(&mut Config, Option<SocketAddr>),
    },
    /// Networks of addresses, as a list of texts.
    Networks {
        /// Reads the value.
        get: fn(&Config) -> Vec<Network>,
        /// Changes the value.
        set: fn(&mut Config, Vec<Network>),
    },
    /// A path; relative ones start at the current directory.
    Path {
        /// Reads the value.
        get: fn(&Config) -> PathBuf,
        /// Changes the value.
        set: fn(&mut Config, PathBuf),
    },
    /// Absolute paths, as a list of texts.
    Paths {
        /// Reads the value.
        get: fn(&Config) -> Vec<PathBuf>,
        /// Changes the value.
        set: fn(&mut Config, Vec<PathBuf>),
    },
    /// A path, or an empty text for "none".
    OptionalPath {
        /// Reads the value.
        get: fn(&Config) -> Option<PathBuf>,
        /// Changes the value.
        set: fn(&mut Config, Option<PathBuf>),
    },
}

impl Setting {
    /// The valid values, for messages.
    #[must_use]
    pub fn range(&self) -> String {
        match &self.kind {
            Kind::Number { min, max, unit: "", .. } => format!("{min} to {max}"),
            Kind::Number { min, max, unit, .. } => format!("{min} to {max} {unit}"),
            Kind::Switch { .. } => "true or false".to_string(),
            Kind::Level { .. } => {
                let levels: Vec<String> =
                    Level::ALL.iter().map(|level| format!("\"{level}\"")).collect();
                match levels.split_last() {
                    Some((last, others)) => format!("{} or {last}", others.join(", ")),
                    None => String::new(),
                }
            }
            Kind::Word { words, .. } => (*words).to_string(),
            Kind::Address { .. } => "an IP address and a port".to_string(),
            Kind::OptionalAddress { .. } => {
                "an IP address and a port, or \"\" for none".to_string()
            }
            Kind::Networks { .. } => {
                "a list of IP addresses and networks, such as [\"10.1.0.0/16\"]".to_string()
            }
            Kind::Paths { .. } => "a list of absolute paths".to_string(),
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
            Kind::Paths { get, .. } => {
                let each = get(config).into_iter().map(path);
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
