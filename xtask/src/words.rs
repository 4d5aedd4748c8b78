//! Checks `docs/glossary.md`: one meaning per term, and names that exist in the code.

use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};

const GLOSSARY: &str = "docs/glossary.md";

/// Names of public types that more than one crate has. The list may only become shorter.
const SHARED: &[&str] = &[
    "Accepted",
    "Authorisation",
    "Command",
    "Error",
    "Event",
    "Fill",
    "Health",
    "Kind",
    "Name",
    "Operation",
    "Options",
    "Outcome",
    "Policy",
    "Producer",
    "Reader",
    "Record",
    "Sabotage",
    "Step",
    "Subscription",
    "Tally",
];

/// Checks that each term occurs once, and each `crate::Name` is declared in that crate.
pub(crate) fn glossary_agrees(rust: &[Source], prose: &[Source], wrong: &mut Vec<String>) {
    let Some(page) = prose.iter().find(|page| page.path == GLOSSARY) else {
        wrong.push(format!("{GLOSSARY} is missing"));
        return;
    };
    let mut terms = BTreeSet::new();
    for (at, line) in page.lines().filter(|(_, line)| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim().trim_matches('|').split(" | ").collect();
        let (term, code) = (cells[0].trim(), cells.last().copied().unwrap_or_default());
        if term == "Term" {
            continue;
        }
        for term in term.split(", ") {
            if !terms.insert(term) {
                wrong.push(format!("{GLOSSARY}:{at}: `{term}` occurs twice"));
            }
        }
        for name in code.split('`').skip(1).step_by(2) {
            let Some((package, name)) = name.split_once("::") else { continue };
            let folder = format!("crates/{package}/src/");
            let mut there =
                rust.iter().filter(|source| source.path.starts_with(&folder)).peekable();
            if there.peek().is_some() && !there.any(|source| has_word(&source.text, name)) {
                wrong.push(format!("{GLOSSARY}:{at}: `{package}` has no `{name}`"));
            }
        }
    }
}

/// Checks that no name of a public type is in two crates, except for known ones.
pub(crate) fn type_names_are_of_one_crate(rust: &[Source], wrong: &mut Vec<String>) {
    let mut crates: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in rust {
        let mut parts = source.path.split('/');
        let (Some("crates"), Some(package), Some("src")) =
            (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        for (_, line) in source.product_lines() {
            if let Some(name) = public_type(line) {
                crates.entry(name).or_default().insert(package);
            }
        }
    }
    let shared = |name: &str| crates.get(name).is_some_and(|crates| crates.len() > 1);
    for (name, packages) in crates.iter().filter(|(name, _)| shared(name)) {
        if !SHARED.contains(name) {
            let packages = packages.iter().copied().collect::<Vec<_>>().join(", ");
            wrong.push(format!("`{name}` is a public type of {packages}: give it one meaning"));
        }
    }
    for name in SHARED.iter().filter(|name| !shared(name)) {
        wrong.push(format!(
            "xtask/src/words.rs: `{name}` is no longer shared; drop it from the list"
        ));
    }
}

/// The name of the public type that a line declares.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "type "]
        .iter()
        .find_map(|declares| rest.strip_prefix(declares))?;
    let name = rest.split(|it: char| !it.is_alphanumeric() && it != '_').next()?;
    // A macro's parameter is not a name.
    (!name.is_empty()).then_some(name)
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) =
            (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn duplicate_terms_and_missing_names_are_found() {
        let page = "| Term | Meaning | In code |\n|---|---|---|\n| lot, tick | a | `model::Lot` |\n\
                    | tick | b | `model::Tick` |\n";
        let rust = [source("crates/model/src/a.rs", "pub struct Lot;\npub struct Ticks;\n")];
        let mut wrong = Vec::new();
        glossary_agrees(&rust, &[source(GLOSSARY, page)], &mut wrong);
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong[0].contains("`tick` occurs twice"));
        assert!(wrong[1].contains("`model` has no `Tick`"));
    }

    #[test]
    fn a_name_that_a_second_crate_takes_is_found() {
        let rust = [
            source("crates/a/src/x.rs", "pub struct Thing<T>;\n"),
            source("crates/b/src/x.rs", "    pub enum Thing {\n"),
            source("crates/b/tests/x.rs", "pub struct Other;\n"),
            source("crates/a/src/y.rs", "pub struct Other;\npub(crate) struct Mine;\n"),
        ];
        let mut wrong = Vec::new();
        type_names_are_of_one_crate(&rust, &mut wrong);
        let taken: Vec<_> = wrong.iter().filter(|line| line.contains("public type of")).collect();
        assert_eq!(taken.len(), 1, "{wrong:?}");
        assert!(taken[0].contains("`Thing` is a public type of a, b"));
    }
}
