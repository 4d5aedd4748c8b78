//! Checks beyond the compiler's: the direction of dependencies, bans in the deterministic crates,
//! agreement of documents and code, dead files.

use crate::log_events::log_events_are_listed;
use crate::source::{Source, files};
use crate::{examples, headline, paragraphs, unsafe_code, words};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// The layers (ARCHITECTURE.md). A crate may depend only on crates of lower layers.
const LAYERS: &[(&str, u32)] = &[
    // Runs only in the compiler: the macros of `bus`, which depends on it.
    ("rialto-bus-macros", 0),
    // The derive macro of `recorder`.
    ("rialto-recorder-macros", 0),
    ("rialto-spinlock", 0),
    ("rialto-clock", 0),
    ("rialto-threads", 0),
    ("rialto-calendar", 1),
    ("rialto-model", 1),
    ("rialto-disk", 1),
    ("rialto-ident", 1),
    ("rialto-lifecycle", 1),
    ("rialto-bus", 1),
    ("rialto-api", 2),
    ("rialto-core", 2),
    ("rialto-log", 2),
    ("rialto-recorder", 2),
    ("rialto-workload", 2),
    ("rialto-client", 3),
    ("rialto-engine", 3),
    ("rialto-queue", 3),
    ("rialto-statelog", 3),
    ("rialto-depot", 4),
    ("rialto-feed", 4),
    ("rialto-flow", 4),
    ("rialto-depot-bucket", 5),
    ("rialto-desk", 5),
    ("rialto-broker", 6),
    ("rialto-depot-desk", 6),
    ("rialto-order-files", 6),
    ("rialto-payments", 6),
    ("rialto-statements", 6),
    ("rialto-gateway", 7),
    ("rialto-s3", 7),
    ("rialto-bench", 8),
    ("rialto", 9),
];

/// Files longer than this are listed, so that a second concept in them is noticed.
const LINES_LONG: usize = 500;
/// Files longer than this are refused.
const LINES_MAX: usize = 900;

/// Banned text in the product code of the deterministic crates, with reasons.
const DETERMINISTIC_BANS: &[(&str, &str)] = &[
    ("f64", "floating point differs between machines and never holds money"),
    ("f32", "floating point differs between machines and never holds money"),
    ("std::time", "time comes stamped on the command"),
    ("SystemTime", "time comes stamped on the command"),
    ("Instant", "time comes stamped on the command"),
    ("std::thread", "one writer, no threads"),
    ("std::fs", "no input or output"),
    ("std::net", "no input or output"),
    ("std::env", "no surroundings"),
    ("HashMap", "its order is not the same on every run"),
    ("HashSet", "its order is not the same on every run"),
    ("async fn", "no async"),
    ("rand::", "no randomness"),
];

/// Runs every check and reports all complaints.
pub(crate) fn run(root: &Path) -> ExitCode {
    let rust = files(root, &[".rs"]);
    let manifests = files(root, &["Cargo.toml"]);
    let prose = files(root, &[".md"]);
    let mut wrong = Vec::new();
    dependencies_point_down(&manifests, &mut wrong);
    deterministic_rooms_are_pure(&rust, &mut wrong);
    money_is_never_floating(&rust, &mut wrong);
    gateways_ask_the_desk(&manifests, &rust, &mut wrong);
    no_file_is_too_long(&rust, &mut wrong);
    no_file_is_dead(&rust, &mut wrong);
    ignored_tests_say_why(&rust, &mut wrong);
    formats_are_documented(&rust, &prose, &mut wrong);
    links_lead_somewhere(root, &prose, &mut wrong);
    decisions_are_numbered(&prose, &mut wrong);
    limits_name_their_tests(&rust, &prose, &mut wrong);
    unsafe_code::is_listed(&rust, &prose, &mut wrong);
    fuzz_targets_are_tested(&rust, &manifests, &prose, &mut wrong);
    paragraphs::are_short(&prose, &mut wrong);
    examples::ids_are_unique(&prose, &mut wrong);
    headline::agrees(root, &prose, &mut wrong);
    log_events_are_listed(&rust, &prose, &mut wrong);
    words::glossary_agrees(&rust, &prose, &mut wrong);
    words::type_names_are_of_one_crate(&rust, &mut wrong);
    for line in &wrong {
        eprintln!("{line}");
    }
    if wrong.is_empty() {
        println!("tidy: {} Rust files, {} documents, no complaints", rust.len(), prose.len());
        ExitCode::SUCCESS
    } else {
        eprintln!("tidy: {} complaints", wrong.len());
        ExitCode::FAILURE
    }
}

fn dependencies_point_down(manifests: &[Source], wrong: &mut Vec<String>) {
    let layers: BTreeMap<&str, u32> = LAYERS.iter().copied().collect();
    for manifest in manifests.iter().filter(|manifest| manifest.path.starts_with("crates/")) {
        let name = manifest
            .lines()
            .find_map(|(_, line)| line.strip_prefix("name = "))
            .map(|name| name.trim_matches('"'))
            .unwrap_or_default();
        let Some(&layer) = layers.get(name) else {
            wrong.push(format!(
                "{}: crate `{name}` has no layer in xtask/src/tidy.rs",
                manifest.path
            ));
            continue;
        };
        // Dev-dependencies may be of any layer.
        let mut built_in = false;
        for (at, line) in manifest.lines() {
            if line.starts_with('[') {
                built_in = line.trim() == "[dependencies]";
            }
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if let (true, Some(&below)) = (built_in, layers.get(dependency))
                && below >= layer
            {
                wrong.push(format!(
                    "{}:{at}: {name} (layer {layer}) must not depend on {dependency} (layer {below})",
                    manifest.path
                ));
            }
        }
    }
}

fn deterministic_rooms_are_pure(rust: &[Source], wrong: &mut Vec<String>) {
    let pure = ["crates/core/src/", "crates/model/src/"];
    for source in
        rust.iter().filter(|source| pure.iter().any(|folder| source.path.starts_with(folder)))
    {
        for (at, line) in source.product_lines() {
            let code = line.split("//").next().unwrap_or_default();
            for (banned, reason) in DETERMINISTIC_BANS {
                if has_word(code, banned) {
                    wrong.push(format!("{}:{at}: `{banned}`: {reason}", source.path));
                }
            }
        }
    }
}

fn money_is_never_floating(rust: &[Source], wrong: &mut Vec<String>) {
    let numeric = ["crates/log/src/", "crates/feed/src/"];
    for source in rust.iter().filter(|source| numeric.iter().any(|r| source.path.starts_with(r))) {
        for (at, line) in source.product_lines() {
            let code = line.split("//").next().unwrap_or_default();
            if has_word(code, "f64") || has_word(code, "f32") {
                wrong.push(format!(
                    "{}:{at}: floating point in a crate of exact numbers",
                    source.path
                ));
            }
        }
    }
}

/// The bus is the only way to an engine: a gateway with its own producer, or with a desk beside the
/// bus, could bypass the authorisation.
fn gateways_ask_the_desk(manifests: &[Source], rust: &[Source], wrong: &mut Vec<String>) {
    for manifest in manifests.iter().filter(|it| it.path == "crates/gateway/Cargo.toml") {
        // Tests may start an engine themselves.
        let built_in = manifest.lines().take_while(|(_, line)| *line != "[dev-dependencies]");
        for (at, _) in built_in.filter(|(_, line)| line.starts_with("rialto-engine")) {
            let path = &manifest.path;
            wrong.push(format!("{path}:{at}: a gateway must use the engine through the desk only"));
        }
    }
    for source in rust.iter().filter(|source| source.path.starts_with("crates/gateway/src/")) {
        for (at, line) in source.product_lines() {
            let code = line.split("//").next().unwrap_or_default();
            let producer = code.contains(".producer(");
            let ways = ["Submitter", "Desk"].map(|way| (way, has_word(code, way)));
            for (way, is_there) in [("producer", producer)].into_iter().chain(ways) {
                if is_there {
                    wrong.push(format!(
                        "{}:{at}: `{way}` bypasses the bus of the desk",
                        source.path
                    ));
                }
            }
        }
    }
}

/// Whether `word` occurs in `code` as a whole word.
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    let part_of_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !part_of_name(before) && (word.ends_with(':') || !part_of_name(after))
    })
}

fn no_file_is_too_long(rust: &[Source], wrong: &mut Vec<String>) {
    for source in rust {
        let lines = source.text.lines().count();
        if lines > LINES_MAX {
            wrong
                .push(format!("{}: {lines} lines; more than {LINES_MAX} are refused", source.path));
        } else if lines > LINES_LONG {
            println!("note: {} has {lines} lines: which second concept lives in it?", source.path);
        }
    }
}

fn no_file_is_dead(rust: &[Source], wrong: &mut Vec<String>) {
    for source in rust {
        let Some((folder, file)) = source.path.rsplit_once('/') else { continue };
        let Some(module) = file.strip_suffix(".rs") else { continue };
        let Some((_, inside)) = folder.split_once("/src") else { continue };
        if inside.starts_with("/bin") || matches!(module, "lib" | "main") {
            continue;
        }
        // A module `a/b.rs` is declared in `a/mod.rs`, `a.rs`, or at the crate's root; `a/mod.rs`
        // is declared one folder further up.
        let (module, home) = if module == "mod" {
            let (home, module) = folder.rsplit_once('/').unwrap_or(("", folder));
            (module, home)
        } else {
            (module, folder)
        };
        let parents = [
            format!("{home}/mod.rs"),
            format!("{home}.rs"),
            format!("{home}/lib.rs"),
            format!("{home}/main.rs"),
        ];
        let declared = rust.iter().filter(|other| parents.contains(&other.path)).any(|other| {
            other.lines().any(|(_, line)| {
                let line = line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
                line.strip_prefix("mod ")
                    .is_some_and(|rest| rest.split([';', ' ', '{']).next() == Some(module))
            })
        });
        if !declared {
            wrong.push(format!("{}: no module declares this file", source.path));
        }
    }
}

fn ignored_tests_say_why(rust: &[Source], wrong: &mut Vec<String>) {
    // Split in two parts, so that this file does not match itself.
    let bare = concat!("#[ignore", "]");
    for source in rust {
        for (at, line) in source.lines().filter(|(_, line)| line.trim() == bare) {
            wrong.push(format!(
                "{}:{at}: {line}: give a reason, as in #[ignore = \"…\"]",
                source.path
            ));
        }
    }
}

/// Checks that every constant of a format (`*_MAGIC`, `*_VERSION`, `FORMAT_VERSION`) names its
/// document in a line `// format: docs/formats/NAME.md` just above it, and that the document
/// contains its value.
fn formats_are_documented(rust: &[Source], prose: &[Source], wrong: &mut Vec<String>) {
    for source in rust.iter().filter(|source| source.path.contains("/src/")) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(document) = line.trim().strip_prefix("// format: ") else { continue };
            let Some(page) = prose.iter().find(|page| page.path == document.trim()) else {
                wrong.push(format!("{}:{}: {document} does not exist", source.path, at + 1));
                continue;
            };
            let value = lines[at + 1..]
                .iter()
                .find_map(|line| line.split_once(" = "))
                .map(|(_, value)| value.trim_matches(['b', '*', '"', ';']).to_owned())
                .unwrap_or_default();
            if value.is_empty() || !page.text.contains(&format!("`{value}`")) {
                wrong.push(format!(
                    "{}:{}: {document} does not mention `{value}`: update the document",
                    source.path,
                    at + 1
                ));
            }
        }
    }
}

fn links_lead_somewhere(root: &Path, prose: &[Source], wrong: &mut Vec<String>) {
    for page in prose {
        let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
        for (at, line) in page.lines() {
            for (_, rest) in
                line.match_indices("](").map(|(at, mark)| (at, &line[at + mark.len()..]))
            {
                let target = rest.split([')', '#']).next().unwrap_or_default();
                let outside = target.contains("://") || target.is_empty();
                if !outside && !root.join(folder).join(target).exists() {
                    wrong.push(format!("{}:{at}: the link to {target} is broken", page.path));
                }
            }
        }
    }
}

/// Checks that decisions are numbered from 1 without gaps.
fn decisions_are_numbered(prose: &[Source], wrong: &mut Vec<String>) {
    let numbers: Vec<u32> = prose
        .iter()
        .filter_map(|page| page.path.strip_prefix("docs/adr/"))
        .filter_map(|name| name.split('-').next()?.parse().ok())
        .collect();
    for (at, number) in numbers.iter().enumerate() {
        if *number as usize != at + 1 {
            wrong.push(format!("docs/adr: expected number {:04}, found {number:04}", at + 1));
            break;
        }
    }
}

/// Checks that every fuzz target is built by the fuzzing workspace, named in its page, and run by a
/// test.
fn fuzz_targets_are_tested(
    rust: &[Source],
    manifests: &[Source],
    prose: &[Source],
    wrong: &mut Vec<String>,
) {
    let text = |files: &[Source], path: &str| {
        files.iter().find(|file| file.path == path).map_or(String::new(), |file| file.text.clone())
    };
    let manifest = text(manifests, "fuzz/Cargo.toml");
    let page = text(prose, "fuzz/README.md");
    for source in rust.iter().filter(|source| {
        source.path.starts_with("fuzz/fuzz_targets/") && source.text.contains("fuzz_target!")
    }) {
        let Some(file) = source.path.strip_prefix("fuzz/") else { continue };
        let name = file.trim_start_matches("fuzz_targets/").trim_end_matches(".rs");
        if !manifest.contains(&format!("path = \"{file}\"")) {
            wrong.push(format!("{}: fuzz/Cargo.toml has no [[bin]] for it", source.path));
        }
        if !page.contains(&format!("fuzz run {name} ")) {
            wrong.push(format!("{}: fuzz/README.md does not name it", source.path));
        }
        let included = format!("fuzz/{file}\"]");
        let mut tests = rust.iter().filter(|test| test.path.contains("/tests/"));
        if !tests.any(|test| test.text.contains(&included)) {
            wrong.push(format!("{}: no test of a crate runs it", source.path));
        }
    }
}

/// The page of the limits, with the test of each.
const LIMITS_PAGE: &str = "docs/security.md";

/// Checks that every row of a table with the column `Test` ends in at least one `crate::name` of a
/// test in that crate.
fn limits_name_their_tests(rust: &[Source], prose: &[Source], wrong: &mut Vec<String>) {
    for page in prose.iter().filter(|page| page.path == LIMITS_PAGE) {
        for (at, line) in page.lines().filter(|(_, line)| line.starts_with('|')) {
            let cells: Vec<&str> = line.trim().trim_matches('|').split(" | ").collect();
            let cell = cells.last().copied().unwrap_or_default().trim();
            if cell == "Test" || cell.trim_matches(['|', '-', ' ']).is_empty() {
                continue;
            }
            let names = quoted(cell);
            if names.is_empty() {
                wrong.push(format!("{}:{at}: the limit has no test", page.path));
            }
            for name in names {
                test_exists(rust, page, at, name, wrong);
            }
        }
    }
}

/// The texts in backquotes.
pub(crate) fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Checks that a test in a page is `crate::name` and exists in that crate.
pub(crate) fn test_exists(
    rust: &[Source],
    page: &Source,
    at: usize,
    name: &str,
    wrong: &mut Vec<String>,
) {
    let Some((package, test)) = name.split_once("::") else {
        wrong.push(format!("{}:{at}: `{name}` is not `crate::test`", page.path));
        return;
    };
    let folder = format!("crates/{package}/");
    let declared = format!("fn {test}(");
    let found = (rust.iter())
        .filter(|source| source.path.starts_with(&folder))
        .any(|source| source.text.contains(&declared));
    if !found {
        wrong.push(format!("{}:{at}: there is no test `{name}`", page.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_dependency_that_points_up_is_found() {
        let manifest = source(
            "crates/core/Cargo.toml",
            "[package]\nname = \"rialto-core\"\n[dependencies]\nrialto-engine.workspace = true\n",
        );
        let mut wrong = Vec::new();
        dependencies_point_down(&[manifest], &mut wrong);
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].contains("must not depend on rialto-engine"));
    }

    #[test]
    fn a_test_dependency_may_point_up() {
        let manifest = source(
            "crates/feed/Cargo.toml",
            "[package]\nname = \"rialto-feed\"\n[dev-dependencies]\nrialto-gateway.workspace = true\n",
        );
        let mut wrong = Vec::new();
        dependencies_point_down(&[manifest], &mut wrong);
        assert!(wrong.is_empty());
    }

    #[test]
    fn floats_and_clocks_are_found_in_the_core_but_not_in_its_tests_or_comments() {
        let text = "use std::time::Instant;\n// f64 is banned\nlet x_f64 = 1;\n#[cfg(test)]\nf64";
        let mut wrong = Vec::new();
        deterministic_rooms_are_pure(&[source("crates/core/src/a.rs", text)], &mut wrong);
        assert_eq!(wrong.len(), 2, "{wrong:?}");
    }

    #[test]
    fn an_undeclared_file_is_dead() {
        let tree = [
            source("crates/x/src/lib.rs", "pub mod alive;\n"),
            source("crates/x/src/alive.rs", ""),
            source("crates/x/src/dead.rs", ""),
        ];
        let mut wrong = Vec::new();
        no_file_is_dead(&tree, &mut wrong);
        assert_eq!(wrong, ["crates/x/src/dead.rs: no module declares this file"]);
    }

    #[test]
    fn a_limit_must_name_a_test_that_exists() {
        let code = source("crates/x/tests/y.rs", "#[test]\nfn it_is_refused() {}\n");
        let page = |cell| {
            let head = "| Resource | Test |\n|---|---|\n";
            source(LIMITS_PAGE, &format!("{head}| slots | {cell} |\n"))
        };
        let complaints = |cell| {
            let mut wrong = Vec::new();
            limits_name_their_tests(std::slice::from_ref(&code), &[page(cell)], &mut wrong);
            wrong.len()
        };
        assert_eq!(complaints("`x::it_is_refused`"), 0);
        assert_eq!(complaints("`x::it_is_not_there`"), 1);
        assert_eq!(complaints("`y::it_is_refused`"), 1);
        assert_eq!(complaints("none yet"), 1);
    }

    #[test]
    fn a_format_constant_must_stand_in_its_document() {
        let code = source(
            "crates/x/src/lib.rs",
            "// format: docs/formats/x.md\npub const VERSION: u16 = 2;\n",
        );
        let page = |text| source("docs/formats/x.md", text);
        let mut wrong = Vec::new();
        formats_are_documented(std::slice::from_ref(&code), &[page("version `2`")], &mut wrong);
        assert!(wrong.is_empty());
        formats_are_documented(&[code], &[page("version `1`")], &mut wrong);
        assert_eq!(wrong.len(), 1);
    }

    #[test]
    fn a_number_of_two_decisions_is_found_and_one_that_is_missing_too() {
        for (second, third) in [("0002-b", "0002-c"), ("0003-b", "0004-c")] {
            let pages = ["0001-a", second, third].map(|name| format!("docs/adr/{name}.md"));
            let mut wrong = Vec::new();
            decisions_are_numbered(&pages.map(|path| source(&path, "")), &mut wrong);
            assert_eq!(wrong.len(), 1, "{second}, {third}");
        }
    }

    #[test]
    fn a_fuzz_target_that_nothing_builds_or_runs_is_found() {
        let target = source("fuzz/fuzz_targets/a.rs", "fuzz_target!(|bytes: &[u8]| {});");
        let mut wrong = Vec::new();
        fuzz_targets_are_tested(std::slice::from_ref(&target), &[], &[], &mut wrong);
        assert_eq!(wrong.len(), 3, "{wrong:?}");

        let test = source(
            "crates/x/tests/fuzz_targets.rs",
            "#[path = \"../../../fuzz/fuzz_targets/a.rs\"]\nmod a;\n",
        );
        let manifest = source("fuzz/Cargo.toml", "path = \"fuzz_targets/a.rs\"\n");
        let page = source("fuzz/README.md", "cargo +nightly fuzz run a -- -max_total_time=60\n");
        let mut wrong = Vec::new();
        fuzz_targets_are_tested(&[target, test], &[manifest], &[page], &mut wrong);
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
