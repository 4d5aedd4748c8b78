//! The headline table of the benchmarks: rows from the pages of the suites, in `docs/benchmarks.md`
//! and in `README.md`.

use crate::source::Source;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

const LINES: &str = "docs/benchmarks/headline.txt";
const PAGES: [&str; 2] = ["README.md", "docs/benchmarks.md"];
const BEGIN: &str = "<!-- begin headline -->";
const END: &str = "<!-- end headline -->";

/// Writes the table into both pages.
pub(crate) fn run(root: &Path) -> ExitCode {
    let prose = crate::source::files(root, &[".md"]);
    let lines = fs::read_to_string(root.join(LINES)).unwrap_or_default();
    let written = table(&lines, &prose).and_then(|table| {
        for path in PAGES {
            let text = fs::read_to_string(root.join(path)).map_err(|error| error.to_string())?;
            let (before, _, after) = parts(&text).ok_or(format!("{path}: no {BEGIN}"))?;
            let text = format!("{before}{BEGIN}\n\n{table}\n{END}{after}");
            fs::write(root.join(path), text).map_err(|error| error.to_string())?;
        }
        Ok(())
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Checks that both pages have the table that follows from the pages of the suites.
pub(crate) fn agrees(root: &Path, prose: &[Source], wrong: &mut Vec<String>) {
    let lines = fs::read_to_string(root.join(LINES)).unwrap_or_default();
    check(&lines, prose, wrong);
}

fn check(lines: &str, prose: &[Source], wrong: &mut Vec<String>) {
    let table = match table(lines, prose) {
        Ok(table) => table,
        Err(error) => return wrong.push(error),
    };
    for path in PAGES {
        let page = prose.iter().find(|page| page.path == path);
        let found = page.and_then(|page| parts(&page.text)).map(|(_, table, _)| table.trim());
        if found != Some(table.trim()) {
            wrong.push(format!("{path}: the headline table differs: run `cargo xtask headline`"));
        }
    }
}

/// The text before, between and after the marks.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (table, after) = rest.split_once(END)?;
    Some((before, table, after))
}

fn table(lines: &str, prose: &[Source]) -> Result<String, String> {
    let mut table = "| What | Level | Measured | Target | |\n|---|---|---|---|---|\n".to_owned();
    for line in lines.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let fields: Vec<&str> = line.splitn(5, '|').map(str::trim).collect();
        let [what, suite, level, metric, case] = fields[..] else {
            return Err(format!("{LINES}: not five fields: {line}"));
        };
        let path = format!("docs/benchmarks/{suite}.md");
        let page = prose.iter().find(|page| page.path == path);
        let mut rows = page.into_iter().flat_map(|page| page.text.lines()).map(cells);
        let row = rows.find(|row| row.len() >= 6 && row[..3] == [case, level, metric]);
        let Some(row) = row else {
            return Err(format!("{LINES}: {path} has no row of `{metric}` of `{case}`"));
        };
        let measured = row[3].split([' ', '(']).collect::<Vec<_>>();
        // The value without the range of its repeats and without its notes.
        let end = measured.iter().position(|word| word.is_empty() || word.starts_with("<sup"));
        let measured = measured[..end.unwrap_or(measured.len())].join(" ");
        let level = if level.is_empty() { "–".to_owned() } else { format!("`{level}`") };
        table.push_str(&format!("| {what} | {level} | {measured} | {} | {} |\n", row[4], row[5]));
    }
    Ok(table)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split(" | ").map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_differs_from_the_suite_is_refused() {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let suite = "| a; in-process |  | rate | 2 M/s (1 M/s to 3 M/s in 3 runs) <sup>1, 2</sup> \
                     | at least 1 M/s | met |  |\n";
        let lines = "# a comment\nA thing | x |  | rate | a; in-process\n";
        let table = "| What | Level | Measured | Target | |\n|---|---|---|---|---|\n\
                     | A thing | – | 2 M/s | at least 1 M/s | met |\n";
        let complaints = |table: &str, lines: &str| {
            let page = format!("before\n{BEGIN}\n\n{table}\n{END}\n");
            let mut prose = PAGES.map(|path| source(path, &page)).to_vec();
            prose.push(source("docs/benchmarks/x.md", suite));
            let mut wrong = Vec::new();
            check(lines, &prose, &mut wrong);
            wrong.len()
        };
        assert_eq!(complaints(table, lines), 0);
        assert_eq!(complaints(&table.replace("2 M/s", "3 M/s"), lines), 2);
        assert_eq!(complaints(table, &lines.replace("rate", "latency")), 1);
    }
}
