//! Which events are logged: a level for our own crates, and levels for the targets that are named.

use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// The words, as the table of settings shows them.
pub(crate) const WORDS: &str = "\"off\", \"error\", \"warn\", \"info\", \"debug\", \"trace\"";

const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// The targets of our own crates all begin so.
const OURS: &str = "rialto";
/// What other crates than ours emit is logged from this level on, unless they are named.
const OTHERS: LevelFilter = LevelFilter::WARN;
/// It logs each refused request as an error, and signatures below that: silent, unless it is named.
const REFUSING: &str = "s3s";

/// The level of this word.
pub(crate) fn parse(word: &str) -> Result<LevelFilter, String> {
    let known = LEVELS.iter().find(|(known, _)| *known == word);
    known.map(|(_, level)| *level).ok_or_else(|| format!("{word:?} is none of {WORDS}"))
}

/// The word of this level.
pub(crate) fn word(level: LevelFilter) -> &'static str {
    LEVELS.iter().find(|(_, known)| *known == level).map_or("off", |(word, _)| word)
}

/// Decides by target and level. Of several targets that an event's begins with, the longest counts.
#[derive(Debug)]
pub(super) struct Filter {
    targets: Targets,
    pub(super) most: LevelFilter,
}

impl Filter {
    /// Reads directives such as `info,rialto_gateway=debug`. A level without a target counts instead
    /// of `level`.
    pub(super) fn parse(directives: &str, mut level: LevelFilter) -> Result<Filter, String> {
        let mut named = Vec::new();
        for directive in directives.split(',').map(str::trim) {
            match directive.split_once('=') {
                Some((target, word)) if is_target(target) => named.push((target, parse(word)?)),
                Some(_) => {
                    return Err(format!(
                        "{directive:?} names no target: it must be as in \"rialto_gateway=debug\""
                    ));
                }
                None => level = parse(directive)?,
            }
        }
        let mut filter = Filter::from(level);
        for (target, level) in named {
            filter.most = filter.most.max(level);
            filter.targets = filter.targets.with_target(target, level);
        }
        Ok(filter)
    }

    pub(super) fn admits(&self, metadata: &Metadata<'_>) -> bool {
        self.targets.would_enable(metadata.target(), metadata.level())
    }
}

impl From<LevelFilter> for Filter {
    fn from(level: LevelFilter) -> Filter {
        let targets = Targets::new().with_default(level.min(OTHERS)).with_target(OURS, level);
        let targets = targets.with_target(REFUSING, LevelFilter::OFF);
        Filter { targets, most: level }
    }
}

fn is_target(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn every_word_is_read_back_and_no_other() {
        for (known, level) in LEVELS {
            assert_eq!(parse(known), Ok(level));
            assert_eq!(word(level), known);
            assert!(WORDS.contains(known));
        }
        for unknown in ["", "3", "INFO", "rialto=debug", "info "] {
            assert!(parse(unknown).is_err(), "{unknown:?}");
        }
    }

    #[test]
    fn the_longest_target_counts_and_a_level_alone_is_that_of_our_crates() {
        let filter = |directives| Filter::parse(directives, LevelFilter::INFO).unwrap();
        let cases = [
            ("debug", "rialto_engine::venue", Level::DEBUG, true),
            ("debug", "hyper::proto", Level::INFO, false),
            ("debug", "hyper::proto", Level::WARN, true),
            ("error", "hyper::proto", Level::WARN, false),
            ("rialto_gateway=debug", "rialto_gateway::routes", Level::DEBUG, true),
            ("rialto_gateway=debug", "rialto_engine::venue", Level::DEBUG, false),
            ("rialto_gateway=debug", "rialto_engine::venue", Level::INFO, true),
            ("rialto_gateway=off, warn", "rialto_gateway::routes", Level::ERROR, false),
            ("rialto_gateway=off, warn", "rialto_engine::venue", Level::WARN, true),
            ("warn,hyper=trace", "hyper::proto", Level::TRACE, true),
        ];
        for (directives, target, level, is_logged) in cases {
            let logged = filter(directives).targets.would_enable(target, &level);
            assert_eq!(logged, is_logged, "{directives}: {target} {level}");
        }
        assert_eq!(filter("warn,hyper=trace").most, LevelFilter::TRACE);
    }

    #[test]
    fn an_invalid_directive_is_refused_by_name() {
        for (wrong, named) in [
            ("loud", "\"loud\" is none of"),
            ("info,rialto_gateway=loud", "\"loud\" is none of"),
            ("info,", "\"\" is none of"),
            ("=info", "\"=info\" names no target"),
            ("a b=info", "\"a b=info\" names no target"),
            ("rialto[span]=info", "\"rialto[span]=info\" names no target"),
        ] {
            let told = Filter::parse(wrong, LevelFilter::INFO).unwrap_err();
            assert!(told.starts_with(named), "{wrong}: {told}");
        }
    }
}
