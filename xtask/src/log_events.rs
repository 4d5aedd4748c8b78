//! Checks that `docs/logging.md` lists every log line with its level, target and fields.

use crate::source::Source;
use std::collections::BTreeMap;

const PAGE: &str = "docs/logging.md";
/// The parts of every line, which no field may be named after.
const PARTS: [&str; 8] =
    ["time", "level", "target", "message", "trace_id", "request_id", "caller", "suppressed"];

/// A log line: its message, with `…` for each placeholder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    message: String,
    level: String,
    target: String,
}

/// Checks that each call of a logging macro is in the table of the page, and each row is such a
/// call.
pub(crate) fn log_events_are_listed(rust: &[Source], prose: &[Source], wrong: &mut Vec<String>) {
    let Some(page) = prose.iter().find(|page| page.path == PAGE) else {
        wrong.push(format!("{PAGE} is missing"));
        return;
    };
    let mut listed = BTreeMap::new();
    for (at, line) in page.lines().filter(|(_, line)| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim().trim_matches('|').split(" | ").map(str::trim).collect();
        if let [message, level, target, fields, _] = cells[..]
            && let Some(target) = target.strip_prefix('`')
        {
            let plain = |cell: &str| cell.replace(['`', '–'], "");
            let target = target.trim_end_matches('`').to_owned();
            let event = Event { message: plain(message), level: plain(level), target };
            listed.insert(event, (at, plain(fields)));
        }
    }
    for source in rust.iter().filter(|source| source.path.contains("/src/")) {
        for (at, event, fields) in events(source) {
            if let Some(part) = fields.iter().find(|name| PARTS.contains(&name.as_str())) {
                wrong.push(format!("{}:{at}: a field may not be called {part}", source.path));
            }
            let Event { message, level, target } = &event;
            match listed.get(&event) {
                None => wrong.push(format!(
                    "{}:{at}: {PAGE} does not list: | {message} | {level} | `{target}` | {} |",
                    source.path,
                    fields.join(", ")
                )),
                Some((_, told)) if *told != fields.join(", ") => wrong.push(format!(
                    "{}:{at}: the fields are {}, and not {told}, as {PAGE} says",
                    source.path,
                    fields.join(", ")
                )),
                Some(_) => {}
            }
        }
    }
    let logged: Vec<Event> = rust.iter().flat_map(events).map(|(_, event, _)| event).collect();
    for (event, (at, _)) in listed.iter().filter(|(event, _)| !logged.contains(event)) {
        wrong.push(format!("{PAGE}:{at}: nothing logs {:?} at {}", event.message, event.level));
    }
}

/// The calls of logging macros in the product code of a file: line, event, names of fields.
fn events(source: &Source) -> Vec<(usize, Event, Vec<String>)> {
    let Some((package, inside)) =
        source.path.strip_prefix("crates/").and_then(|it| it.split_once("/src/"))
    else {
        return Vec::new();
    };
    let text: String = source.product_lines().flat_map(|(_, line)| [line, "\n"]).collect();
    let mut found = Vec::new();
    for (start, begin) in text.match_indices("tracing::") {
        let Some((level, rest)) = text[start + begin.len()..].split_once("!(") else { continue };
        if !["error", "warn", "info", "debug", "trace"].contains(&level) {
            continue;
        }
        let arguments = arguments(rest);
        let Some(at) = arguments.iter().position(|it| it.starts_with('"')) else { continue };
        let crate_name: String =
            if package == "rialto" { "rialto".into() } else { format!("rialto_{package}") };
        let crate_name = crate_name.replace('-', "_");
        let modules =
            inside.trim_end_matches(".rs").split('/').filter(|it| !["mod", "lib"].contains(it));
        let target =
            std::iter::once(crate_name.as_str()).chain(modules).collect::<Vec<_>>().join("::");
        let fields = arguments[..at].iter().map(|it| field(it)).collect();
        let event = Event { message: message(&arguments[at]), level: level.to_owned(), target };
        found.push((text[..start].matches('\n').count() + 1, event, fields));
    }
    found
}

/// The arguments of a call, from the text after its parenthesis.
fn arguments(text: &str) -> Vec<String> {
    let (mut found, mut depth, mut in_text, mut is_escaped) =
        (vec![String::new()], 0, false, false);
    for c in text.chars() {
        match c {
            '"' if !is_escaped => in_text = !in_text,
            '(' | '[' | '{' if !in_text => depth += 1,
            ')' | ']' | '}' if !in_text && depth == 0 => break,
            ')' | ']' | '}' if !in_text => depth -= 1,
            ',' if !in_text && depth == 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        is_escaped = in_text && c == '\\' && !is_escaped;
        found.last_mut().expect("there is always one").push(c);
    }
    found.into_iter().map(|it| it.trim().to_owned()).collect()
}

/// The name of the field in `name = value`, `%name` or `?name`.
fn field(argument: &str) -> String {
    let name = argument.split('=').next().unwrap_or_default();
    name.trim().trim_start_matches(['%', '?']).to_owned()
}

/// The text of a literal in one line, with `…` for each placeholder.
fn message(literal: &str) -> String {
    let lines = literal.trim_matches('"').split("\\\n").map(str::trim_start);
    let (mut text, mut depth) = (String::new(), 0);
    for c in lines.collect::<String>().chars().filter(|c| *c != '`') {
        match c {
            '{' => {
                depth += 1;
                text.push('…');
            }
            '}' => depth -= 1,
            c if depth == 0 => text.push(c),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    fn complaints(code: &str, row: &str) -> Vec<String> {
        let head = "| Message | Level | Target | Fields | What to do |\n|---|---|---|---|---|\n";
        let page = source(PAGE, &format!("{head}{row}\n"));
        let mut wrong = Vec::new();
        log_events_are_listed(&[source("crates/x/src/a/mod.rs", code)], &[page], &mut wrong);
        wrong
    }

    #[test]
    fn a_line_must_stand_in_the_page_with_its_level_target_and_fields() {
        let code =
            "fn f() { tracing::warn!(n, %e, at = g(1, 2), \"it, said {e}, is \\\n   `x`\"); }";
        let row = |level, fields| {
            format!("| it, said …, is `x` | {level} | `rialto_x::a` | {fields} | look |")
        };
        assert!(complaints(code, &row("warn", "`n`, `e`, `at`")).is_empty());
        assert_eq!(complaints(code, &row("warn", "`n`, `at`")).len(), 1);
        assert_eq!(complaints(code, &row("info", "`n`, `e`, `at`")).len(), 2, "none, and no such");
        assert_eq!(complaints("", &row("warn", "`n`")).len(), 1);
        assert_eq!(complaints(code, "").len(), 1);
    }

    #[test]
    fn no_field_is_called_as_a_part_of_every_line_is() {
        let wrong = complaints(
            "fn f() { tracing::info!(level, \"m\") }",
            "| m | info | `rialto_x::a` | `level` | – |",
        );
        assert_eq!(wrong, ["crates/x/src/a/mod.rs:1: a field may not be called level"]);
    }
}
