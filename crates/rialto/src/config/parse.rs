//! Reads a configuration file. What it does not know, it refuses, and says in which line.

use super::setting::{Kind, Setting};
use super::{Config, SECTIONS, SETTINGS, calendars};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The reason why a configuration is invalid.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file, or one that it names, cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A line is wrong.
    #[error("{}{line}:{column}: {message}", file_prefix(file))]
    Line {
        /// The file, if there is one.
        file: Option<PathBuf>,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// The error in the line.
        message: String,
    },
    /// Settings that are valid alone contradict each other.
    #[error("{}{message}", file.as_ref().map_or_else(String::new, |file| format!("{}: ", file.display())))]
    Together {
        /// The file, if there is one.
        file: Option<PathBuf>,
        /// The contradiction.
        message: String,
    },
}

fn file_prefix(file: &Option<PathBuf>) -> String {
    file.as_ref().map_or_else(String::new, |file| format!("{}:", file.display()))
}

/// Reads the configuration in `path`, and checks the calendars that it names.
///
/// # Errors
/// The file cannot be read or used; the error names file and line.
pub fn read(path: &Path) -> Result<Config, ConfigError> {
    let bytes =
        fs::read(path).map_err(|source| ConfigError::Read { path: path.to_path_buf(), source })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..valid).unwrap_or_default());
        at(&before, valid, "this byte is not UTF-8".to_owned())
    });
    let config = text.and_then(|text| parse(&text)).and_then(check_times);
    let mut config = config.map_err(|error| match error {
        ConfigError::Line { line, column, message, .. } => {
            ConfigError::Line { file: Some(path.to_path_buf()), line, column, message }
        }
        ConfigError::Together { message, .. } => {
            ConfigError::Together { file: Some(path.to_path_buf()), message }
        }
        other => other,
    })?;
    for calendar in &mut config.calendars {
        calendar.file = path.parent().unwrap_or(Path::new("")).join(&calendar.file);
        calendar.read()?;
    }
    Ok(config)
}

/// Reads a configuration; settings that `text` omits have their default.
///
/// # Errors
/// Something in it is unknown, of the wrong type or out of range; the error names the line.
pub fn parse(text: &str) -> Result<Config, ConfigError> {
    let place = |span: Range<usize>, message: String| at(text, span.start, message);
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        place(span, error.message().replace('\n', "; "))
    })?;
    let mut config = Config::default();
    for (section, settings) in table.get_ref() {
        let name: &str = section.get_ref();
        if name == calendars::KEY {
            config.calendars = calendars::parse(settings)
                .map_err(|(span, message)| place(span.unwrap_or(section.span()), message))?;
            continue;
        }
        if !SECTIONS.iter().any(|(known, _)| *known == name) {
            let mut known: Vec<&str> = SECTIONS.iter().map(|(known, _)| *known).collect();
            known.push(calendars::KEY);
            let message =
                format!("there is no section [{name}]; the sections are {}", known.join(", "));
            return Err(place(section.span(), message));
        }
        let DeValue::Table(settings) = settings.get_ref() else {
            let message = format!("{name} is a section: write [{name}] on a line of its own");
            return Err(place(section.span(), message));
        };
        for (key, value) in settings {
            let known = SETTINGS.iter().find(|setting| {
                setting.section == name && setting.key == AsRef::<str>::as_ref(key.get_ref())
            });
            let Some(setting) = known else {
                return Err(place(key.span(), unknown(name, key.get_ref())));
            };
            apply(setting, value, &mut config).map_err(|message| place(value.span(), message))?;
        }
    }
    check_together(&config)?;
    Ok(config)
}

fn unknown(section: &str, key: &str) -> String {
    let elsewhere = SETTINGS.iter().find(|setting| setting.key == key);
    match elsewhere {
        Some(setting) => {
            format!("{key} belongs in the section [{}], not [{section}]", setting.section)
        }
        None => format!(
            "there is no setting {key} in [{section}]; `rialto config --default` prints all settings"
        ),
    }
}

/// Sets one value of `config`, or returns the reason why it is invalid.
fn apply(
    setting: &Setting,
    value: &Spanned<DeValue<'_>>,
    config: &mut Config,
) -> Result<(), String> {
    let value = value.get_ref();
    let wrong = || {
        let got = value.type_str();
        format!("{} must be {}, and this is of type {got}", setting.key, setting.range())
    };
    let text = || value.as_str().ok_or_else(wrong);
    match &setting.kind {
        Kind::Number { min, max, set, .. } => {
            let integer = value.as_integer().ok_or_else(wrong)?;
            let number = u64::from_str_radix(integer.as_str(), integer.radix());
            match number {
                Ok(number) if (*min..=*max).contains(&number) => set(config, number),
                _ => {
                    let got = integer.as_str();
                    return Err(format!("{} = {got}: must be {}", setting.key, setting.range()));
                }
            }
        }
        Kind::Switch { set, .. } => set(config, value.as_bool().ok_or_else(wrong)?),
        Kind::Level { set, .. } => {
            let level = text()?;
            let wrong = |_| format!("{} is {level:?}; it must be {}", setting.key, setting.range());
            set(config, level.parse().map_err(wrong)?);
        }
        Kind::Word { set, .. } => {
            set(config, text()?).map_err(|why| format!("{}: {why}", setting.key))?;
        }
        Kind::Address { set, .. } => {
            let address = text()?.parse();
            let example = "such as \"127.0.0.1:8080\"";
            let wrong = |_| format!("{} must be {}, {example}", setting.key, setting.range());
            set(config, address.map_err(wrong)?);
        }
        Kind::OptionalAddress { set, .. } => {
            let address = match text()? {
                "" => None,
                address => Some(
                    address
                        .parse()
                        .map_err(|_| format!("{} must be {}", setting.key, setting.range()))?,
                ),
            };
            set(config, address);
        }
        Kind::Networks { set, .. } => {
            let DeValue::Array(list) = value else { return Err(wrong()) };
            let network = |item: &Spanned<DeValue<'_>>| {
                let text = item.get_ref().as_str().ok_or_else(wrong)?;
                text.parse().map_err(|why| format!("{}: {why}", setting.key))
            };
            set(config, list.iter().map(network).collect::<Result<_, _>>()?);
        }
        Kind::Paths { set, .. } => {
            let DeValue::Array(list) = value else { return Err(wrong()) };
            let path = |item: &Spanned<DeValue<'_>>| {
                let path = PathBuf::from(item.get_ref().as_str().ok_or_else(wrong)?);
                path.is_absolute().then_some(path).ok_or_else(wrong)
            };
            set(config, list.iter().map(path).collect::<Result<_, _>>()?);
        }
        Kind::Path { set, .. } => match text()? {
            "" => return Err(format!("{} must not be empty", setting.key)),
            path => set(config, PathBuf::from(path)),
        },
        Kind::OptionalPath { set, .. } => {
            let path = text()?;
            set(config, (!path.is_empty()).then(|| PathBuf::from(path)));
        }
    }
    Ok(())
}

/// Refuses times that contradict each other.
fn check_times(config: Config) -> Result<Config, ConfigError> {
    let engine = &config.engine;
    if engine.io_failed_after < engine.io_stalled_after {
        let message =
            "engine.io_failed_after_ms is less than engine.io_stalled_after_ms".to_string();
        return Err(ConfigError::Together { file: None, message });
    }
    Ok(config)
}

/// Refuses combinations of valid settings that contradict each other.
pub(crate) fn check_together(config: &Config) -> Result<(), ConfigError> {
    #[cfg(feature = "s3")]
    let s3 = config.s3.enabled.then_some(config.s3.options.listen);
    #[cfg(not(feature = "s3"))]
    let s3 = None;
    let parts_of_the_depot = [
        ("order_files", config.order_files.enabled, "members drop files of orders into the depot"),
        ("statements", config.statements.enabled, "statements are files of the depot"),
        ("s3", s3.is_some(), "S3 serves the files of the depot"),
    ];
    for (section, is_enabled, why) in parts_of_the_depot {
        if is_enabled && !config.depot.enabled {
            let message = format!("{section}.enabled needs depot.enabled: {why}");
            return Err(ConfigError::Together { file: None, message });
        }
    }
    let gateway = &config.gateway;
    let addresses = [
        ("gateway.listen", Some(gateway.listen)),
        ("gateway.operations_listen", gateway.operations_listen),
        ("s3.listen", s3),
    ];
    let addresses = addresses.into_iter().filter_map(|(key, it)| it.map(|it| (key, it)));
    let addresses: Vec<_> = addresses.collect();
    for (nth, (key, address)) in addresses.iter().enumerate() {
        let same = addresses[..nth].iter().find(|(_, earlier)| overlap(*earlier, *address));
        if let Some((earlier, _)) = same {
            let message =
                format!("{earlier} and {key} both listen on {address}: give each its own port");
            return Err(ConfigError::Together { file: None, message });
        }
        if address.ip().is_loopback() || gateway.allow_remote {
            continue;
        }
        let message = format!(
            "{key} = {address} is not a loopback address, and there is no TLS: set \
             gateway.allow_remote = true if others may read the traffic, or put a TLS proxy in \
             front and listen on 127.0.0.1"
        );
        return Err(ConfigError::Together { file: None, message });
    }
    Ok(())
}

/// Whether the system refuses to listen on both. It chooses another port for each port 0.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let is_same_ip = one.ip() == other.ip()
        || (one.is_ipv4() == other.is_ipv4()
            && (one.ip().is_unspecified() || other.ip().is_unspecified()));
    one.port() != 0 && one.port() == other.port() && is_same_ip
}

fn at(text: &str, offset: usize, message: String) -> ConfigError {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    ConfigError::Line { file: None, line, column, message }
}
