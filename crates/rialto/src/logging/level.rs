//! The levels by their words.

use tracing::level_filters::LevelFilter;

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

/// The level of this word.
pub(crate) fn parse(word: &str) -> Result<LevelFilter, String> {
    let known = LEVELS.iter().find(|(known, _)| *known == word);
    known.map(|(_, level)| *level).ok_or_else(|| format!("{word:?} is none of {WORDS}"))
}

/// The word of this level.
pub(crate) fn word(level: LevelFilter) -> &'static str {
    LEVELS.iter().find(|(_, known)| *known == level).map_or("off", |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
