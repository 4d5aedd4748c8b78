//! Checks that every file with `unsafe` is listed with its tests.

use crate::source::Source;
use crate::tidy::{has_word, quoted, test_exists};

/// The page with the table, and the begin of the table's head.
const PAGE: &str = "CONTRIBUTING.md";
const HEAD: &str = "| File with `unsafe` |";

/// Checks that every source file with `unsafe` has a row in the table, and that every row names
/// such a file and existing tests.
pub(crate) fn is_listed(rust: &[Source], prose: &[Source], wrong: &mut Vec<String>) {
    let Some(page) = prose.iter().find(|page| page.path == PAGE) else {
        wrong.push(format!("{PAGE} is missing: it lists the files with `unsafe`"));
        return;
    };
    let of_table = |(_, line): &(usize, &str)| line.starts_with('|');
    let table = page.lines().skip_while(|(_, line)| !line.starts_with(HEAD)).take_while(of_table);
    let mut listed = Vec::new();
    for (at, row) in table.skip(2) {
        let cells: Vec<&str> = row.trim().trim_matches('|').split(" | ").collect();
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else { continue };
        let tests = quoted(last);
        if tests.is_empty() {
            wrong.push(format!("{PAGE}:{at}: the row has no test"));
        }
        tests.into_iter().for_each(|test| test_exists(rust, page, at, test, wrong));
        for file in quoted(first).into_iter().map(|file| format!("crates/{file}")) {
            if !rust.iter().any(|source| source.path == file && first_unsafe(source).is_some()) {
                wrong.push(format!("{PAGE}:{at}: {file} has no `unsafe`"));
            }
            listed.push(file);
        }
    }
    for source in rust.iter().filter(|source| is_of_a_crate(source)) {
        if let Some(at) = first_unsafe(source)
            && !listed.contains(&source.path)
        {
            wrong.push(format!("{}:{at}: `unsafe` that {PAGE} does not list", source.path));
        }
    }
}

fn is_of_a_crate(source: &Source) -> bool {
    source.path.starts_with("crates/") && source.path.contains("/src/")
}

/// The first line with the word outside comments; test modules count too.
fn first_unsafe(source: &Source) -> Option<usize> {
    let code = |line: &str| line.split("//").next().is_some_and(|code| has_word(code, "unsafe"));
    source.lines().find(|(_, line)| code(line)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complaints about a page with this row and a file with this code.
    fn complaints(row: &str, code: &str) -> Vec<String> {
        let source = |path: &str, text: String| Source { path: path.to_owned(), text };
        let page = source(PAGE, format!("text\n\n{HEAD} Tests |\n|---|---|\n{row}\n\n| a |\n"));
        let rust = [
            source("crates/x/src/a.rs", code.to_owned()),
            source("crates/x/tests/t.rs", "#[test]\nfn it_holds() {}\n".to_owned()),
        ];
        let mut wrong = Vec::new();
        is_listed(&rust, &[page], &mut wrong);
        wrong
    }

    const BLOCK: &str = "fn f() {\n    unsafe { g() }\n}\n";

    #[test]
    fn a_file_that_is_listed_with_its_test_is_fine() {
        assert_eq!(complaints("| `x/src/a.rs` | `x::it_holds` |", BLOCK), [""; 0]);
    }

    #[test]
    fn a_file_that_is_not_listed_is_found() {
        let wrong = complaints("", BLOCK);
        assert_eq!(wrong, ["crates/x/src/a.rs:2: `unsafe` that CONTRIBUTING.md does not list"]);
    }

    #[test]
    fn comments_and_longer_names_are_not_found() {
        let code = "// unsafe\n#![deny(unsafe_code)]\nlet unsafe_yet = 1;\n";
        assert_eq!(complaints("", code), [""; 0]);
    }

    #[test]
    fn a_row_without_a_test_or_with_one_that_is_not_there_is_found() {
        assert_eq!(complaints("| `x/src/a.rs` | none yet |", BLOCK).len(), 1);
        assert_eq!(complaints("| `x/src/a.rs` | `x::it_does_not` |", BLOCK).len(), 1);
    }

    #[test]
    fn a_row_that_has_outlived_its_unsafe_is_found() {
        assert_eq!(complaints("| `x/src/a.rs` | `x::it_holds` |", "fn f() {}\n").len(), 1);
    }
}
