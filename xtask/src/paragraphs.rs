//! Checks the length of paragraphs in the pages.

use crate::source::Source;

/// The most words of a paragraph; a longer one needs a list, a table or a heading.
const WORDS_MAX: usize = 80;
/// Pages of the root that are checked like those of `docs`.
const PAGES: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
/// Pages that still have longer paragraphs. The list may only become shorter.
const EXCEPTIONS: [&str; 1] = ["docs/api.md"];

/// Checks every paragraph and every list item; tables and code do not count.
pub(crate) fn are_short(prose: &[Source], wrong: &mut Vec<String>) {
    let read = |page: &&Source| {
        let is_page = PAGES.contains(&&*page.path) || page.path.starts_with("docs/");
        is_page && !EXCEPTIONS.contains(&&*page.path)
    };
    for page in prose.iter().filter(read) {
        for (at, words) in paragraphs(page).filter(|&(_, words)| words > WORDS_MAX) {
            wrong.push(format!(
                "{}:{at}: a paragraph of {words} words; more than {WORDS_MAX} are refused",
                page.path
            ));
        }
    }
}

/// The first line of each paragraph or item, and its number of words.
fn paragraphs(page: &Source) -> impl Iterator<Item = (usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (at, line) in page.lines() {
        let line = line.trim();
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.is_empty() || line.starts_with(['|', '#']) {
            is_open = false;
            continue;
        }
        let words = line.split_whitespace().count();
        match found.last_mut() {
            Some((_, total)) if is_open && !is_item(line) => *total += words,
            _ => found.push((at, words)),
        }
        is_open = true;
    }
    found.into_iter()
}

/// Whether a line begins an item of a list: `- `, `* ` or `1. `.
fn is_item(line: &str) -> bool {
    let numbered = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || (numbered.len() < line.len() && numbered.starts_with(". "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        are_short(&[Source { path: path.to_owned(), text: text.to_owned() }], &mut wrong);
        wrong
    }

    #[test]
    fn a_long_paragraph_is_found_where_it_begins() {
        let forty = "word ".repeat(40);
        let long = format!("# Title\n\n{forty}\n{forty}more\n");
        let found = complaints("docs/a.md", &long);
        assert_eq!(found, ["docs/a.md:3: a paragraph of 81 words; more than 80 are refused"]);
        assert_eq!(complaints("docs/api.md", &long).len(), 0, "an exception");
        assert_eq!(complaints("fuzz/README.md", &long).len(), 0, "another page");
    }

    #[test]
    fn items_tables_and_code_are_no_part_of_a_paragraph() {
        let forty = "word ".repeat(40);
        for text in [
            format!("{forty}\n- {forty}\n1. {forty}\n"),
            format!("{forty}\n| {forty} {forty} {forty} |\n{forty}"),
            format!("{forty}\n```\n{forty}\n{forty}\n{forty}\n```\n{forty}"),
            format!("{forty}\n\n{forty}"),
        ] {
            assert_eq!(complaints("README.md", &text).len(), 0, "{text}");
        }
        assert_eq!(complaints("README.md", &format!("- {forty}\n  {forty}\n")).len(), 1);
    }
}
