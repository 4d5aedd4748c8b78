//! Prints a configuration as a complete file, every setting with its meaning.

use super::{Config, SECTIONS, SETTINGS, calendars};
use std::fmt::Write;

/// The width that comments are wrapped at.
const WIDTH: usize = 96;

/// `config` as a file that [`super::parse`] reads back.
#[must_use]
pub fn print(config: &Config) -> String {
    let mut file = String::from(
        "# Settings of a Rialto venue. What is left out has the value shown here. Secrets do not\n\
         # stand here: the key that seals the stored API keys may come from the environment\n\
         # (RIALTO_MASTER_KEY, 64 hexadecimal digits) instead of the data directory.\n",
    );
    for (section, meaning) in SECTIONS {
        file.push('\n');
        comment(&mut file, meaning);
        let _ = writeln!(file, "[{section}]");
        for setting in SETTINGS.iter().filter(|setting| setting.section == *section) {
            file.push('\n');
            comment(&mut file, setting.meaning);
            comment(&mut file, &format!("Allowed: {}.", setting.range()));
            let _ = writeln!(file, "{} = {}", setting.key, setting.value(config));
        }
    }
    file.push('\n');
    comment(&mut file, calendars::MEANING);
    for calendar in &config.calendars {
        let _ = writeln!(file, "\n{}", calendar.told());
    }
    file
}

fn comment(file: &mut String, text: &str) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(file, "{line}");
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(file, "{line}");
}
