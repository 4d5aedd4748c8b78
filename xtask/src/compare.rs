//! Compares the rows of `rialto bench` of two binaries, which take turns.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

/// The name of a row: suite, case, durability level and metric.
type Name = String;

/// Runs the suites `pairs` times with each binary. For each common row, prints the median of the
/// pairs' ratios and their range. More than 1 is better than before, for every metric.
pub(crate) fn run(pairs: usize, before: &str, after: &str, suites: &[&str]) -> ExitCode {
    let mut ratios: BTreeMap<Name, Vec<f64>> = BTreeMap::new();
    for pair in 0..pairs {
        // The first binary alternates too, because it changes the state of disk and memory.
        let order = if pair % 2 == 0 { [before, after] } else { [after, before] };
        let both = order.map(|program| rows(program, suites));
        let (old, new) = if pair % 2 == 0 { (&both[0], &both[1]) } else { (&both[1], &both[0]) };
        for (name, (old, unit)) in old {
            if let Some((new, _)) = new.get(name) {
                ratios.entry(name.clone()).or_default().push(better_by(*old, *new, unit));
            }
        }
        eprintln!("pair {} of {pairs} is done", pair + 1);
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

/// The rows of a binary's output, each with value and unit. Missed targets are ignored, though they
/// also make the command fail.
fn rows(program: &str, suites: &[&str]) -> BTreeMap<Name, (f64, String)> {
    let mut rows = BTreeMap::new();
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
}
