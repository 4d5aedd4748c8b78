//! Compares the rows of `rialto bench` of two binaries, which take turns.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, ExitCode};

/// The name of a row: suite, case, durability level and metric.
type Name = String;

/// Rows of one binary, each with value and unit.
type Rows = BTreeMap<Name, (f64, String)>;

/// The options and operands of the command.
#[derive(Debug, PartialEq)]
pub(crate) struct Comparison<'a> {
    /// How often each binary runs.
    pairs: usize,
    /// Parts of row names that changed: in the first binary, and in the second.
    renamed: Vec<(&'a str, &'a str)>,
    before: &'a str,
    after: &'a str,
    suites: Vec<&'a str>,
}

impl<'a> Comparison<'a> {
    /// Reads the command's arguments. `None` if they are not as the usage says.
    pub(crate) fn parse(arguments: &[&'a str]) -> Option<Self> {
        let (mut pairs, mut renamed, mut operands) = (None, Vec::new(), Vec::new());
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--pairs" => pairs = arguments.next()?.parse().ok().filter(|pairs| *pairs > 0),
                "--renamed" => renamed.push(arguments.next()?.split_once('=')?),
                option if option.starts_with('-') => return None,
                operand => operands.push(operand),
            }
        }
        let [before, after, suites @ ..] = operands.as_slice() else { return None };
        (!suites.is_empty()).then_some(Self {
            pairs: pairs?,
            renamed,
            before,
            after,
            suites: suites.to_vec(),
        })
    }

    /// Runs the suites with each binary in turn. For each common row, prints the median of the
    /// pairs' ratios and their range. More than 1 is better than before, for every metric. Names
    /// the rows that only one binary has.
    pub(crate) fn run(&self) -> ExitCode {
        let mut ratios: BTreeMap<Name, Vec<f64>> = BTreeMap::new();
        let mut names: [BTreeSet<Name>; 2] = Default::default();
        for pair in 0..self.pairs {
            // The first binary alternates too, because it changes the state of disk and memory.
            let (old, new) = if pair % 2 == 0 {
                let old = self.rows_before();
                (old, rows(self.after, &self.suites))
            } else {
                let new = rows(self.after, &self.suites);
                (self.rows_before(), new)
            };
            names[0].extend(old.keys().cloned());
            names[1].extend(new.keys().cloned());
            for (name, (old, unit)) in old {
                if let Some((new, _)) = new.get(&name) {
                    ratios.entry(name).or_default().push(better_by(old, *new, &unit));
                }
            }
            eprintln!("pair {} of {} is done", pair + 1, self.pairs);
        }
        let [old, new] = &names;
        for (program, missing) in
            [(self.before, new.difference(old)), (self.after, old.difference(new))]
        {
            missing.for_each(|name| eprintln!("{program} has no row {name}"));
        }
        if ratios.is_empty() {
            eprintln!("the two have no row in common");
            return ExitCode::FAILURE;
        }
        println!("| Row | Pairs | Median | Range |\n| --- | --- | --- | --- |");
        for (name, mut ratios) in ratios {
            ratios.sort_by(f64::total_cmp);
            let (pairs, low, high) = (ratios.len(), ratios[0], ratios[ratios.len() - 1]);
            println!("| {name} | {pairs} | {:.3} | {low:.3} to {high:.3} |", median(&ratios));
        }
        ExitCode::SUCCESS
    }

    /// The rows of the first binary, under the names that the second one gives them.
    fn rows_before(&self) -> Rows {
        let rows = rows(self.before, &self.suites).into_iter();
        rows.map(|(name, row)| (self.renamed(name), row)).collect()
    }

    fn renamed(&self, name: Name) -> Name {
        self.renamed.iter().fold(name, |name, (old, new)| name.replace(old, new))
    }
}

/// The rows of a binary's output. Missed targets are ignored, though they
/// also make the command fail.
fn rows(program: &str, suites: &[&str]) -> Rows {
    let mut rows = Rows::new();
    for suite in suites {
        match Command::new(program).args(["bench", suite, "--json"]).output() {
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                if !output.status.success() && !errors.contains("targets were missed") {
                    let last = errors.lines().last().unwrap_or_default();
                    eprintln!("{program} bench {suite}: {}: {last}", output.status);
                }
                let text = String::from_utf8_lossy(&output.stdout);
                let count = rows.len();
                rows.extend(text.lines().filter_map(row));
                if rows.len() == count {
                    eprintln!("{program} has no row of {suite}");
                }
            }
            Err(error) => eprintln!("cannot run {program}: {error}"),
        }
    }
    rows
}

/// The row of a line, if it has a comparable value.
fn row(line: &str) -> Option<(Name, (f64, String))> {
    let row: Value = serde_json::from_str(line).ok()?;
    let value = row["value"].as_f64()?;
    let field = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
    let name = ["suite", "case", "level", "metric"].map(field).join("; ");
    Some((name, (value, field("unit"))))
}

/// By which factor a value is better than before.
fn better_by(before: f64, after: f64, unit: &str) -> f64 {
    let more_is_better = unit.ends_with("/s") || unit == "ratio";
    match (before == after, more_is_better) {
        // Also if both are zero.
        (true, _) => 1.0,
        (false, true) => after / before,
        (false, false) => before / after,
    }
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_compared_by_what_is_better() {
        let line = r#"{"suite":"http","case":"orders","level":"synced","metric":"throughput",
            "value":20000,"unit":"req/s"}"#;
        let (name, (value, unit)) = row(line).expect("a row");
        assert_eq!(name, "http; orders; synced; throughput");
        assert_eq!(better_by(value, 10_000.0, &unit), 0.5);
        assert_eq!(better_by(200.0, 100.0, "ns"), 2.0);
        assert_eq!((better_by(0.0, 0.0, "count"), better_by(0.0, 3.0, "count")), (1.0, 0.0));
        assert_eq!(row(r#"{"suite":"http","summary":{}}"#), None);
        assert_eq!((median(&[1.0, 2.0, 9.0]), median(&[1.0, 2.0])), (2.0, 1.5));
    }

    #[test]
    fn a_case_that_was_renamed_is_compared_with_itself() {
        let arguments =
            ["--pairs", "9", "--renamed", "002 =random prices ", "old", "new", "match", "http"];
        let comparison = Comparison::parse(&arguments).expect("a comparison");
        assert_eq!((comparison.pairs, comparison.before, comparison.after), (9, "old", "new"));
        assert_eq!(comparison.suites, ["match", "http"]);
        let before = "match; 002 A; -; throughput".to_owned();
        assert_eq!(comparison.renamed(before), "match; random prices A; -; throughput");
        for refused in [&arguments[..6], &arguments[2..], &["--pairs", "0", "a", "b", "c"]] {
            assert_eq!(Comparison::parse(refused), None, "{refused:?}");
        }
    }
}
