//! Checks the ids of the worked examples in the pages of the rules.

use crate::source::Source;
use std::collections::BTreeMap;

/// The pages whose tables have ids.
const PAGES: &str = "docs/rules/";

/// Checks that no two rows of these pages have the same id: a text that names an id means one row.
pub(crate) fn ids_are_unique(prose: &[Source], wrong: &mut Vec<String>) {
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for page in prose.iter().filter(|page| page.path.starts_with(PAGES)) {
        for (at, line) in page.lines() {
            let Some(id) = id_of(line) else { continue };
            let place = format!("{}:{at}", page.path);
            match known.get(id) {
                Some(first) => wrong.push(format!("{place}: {first} has the id {id}, too")),
                None => drop(known.insert(id, place)),
            }
        }
    }
}

/// The id of a row: letters and a number in its first cell, such as `A1` or `LA1`.
fn id_of(line: &str) -> Option<&str> {
    let (cell, _) = line.strip_prefix('|')?.split_once('|')?;
    let id = cell.trim();
    let number = id.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && number.len() < id.len()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn an_id_that_two_rows_have_is_found() {
        let one =
            page("docs/rules/a.md", "| Id | Price |\n| --- | --- |\n| A1 | 5 |\n| B1 | 5 |\n");
        let other = page("docs/rules/b.md", "| LA1 | 5 |\n| B1 | 5 |\n");
        let elsewhere = page("docs/b.md", "| A1 | 5 |\n");
        let mut wrong = Vec::new();
        ids_are_unique(&[one, other, elsewhere], &mut wrong);
        assert_eq!(wrong, ["docs/rules/b.md:2: docs/rules/a.md:4 has the id B1, too"]);
    }

    #[test]
    fn other_cells_are_no_ids() {
        for line in ["| Id | 5 |", "| 17 | 5 |", "| `open` | 5 |", "| A1b | 5 |", "A1 is a row"] {
            assert_eq!(id_of(line), None, "{line}");
        }
        assert_eq!(id_of("| CM12 | 5 |"), Some("CM12"));
    }
}
