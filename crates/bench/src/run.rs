//! Runs suites and writes reports.

use crate::error::BenchError;
use crate::report::json::{self, Score};
use crate::report::{self, Machine};
use crate::suite::{self, Context, Outcome, Size, Suite, SuitePart};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names of suites, or of parts of them as `suite.part`; empty for all.
    pub suites: Vec<String>,
    /// Whether to print JSON lines instead of tables.
    pub json: bool,
    /// The file of the HTML page, if it is to be written.
    pub report: Option<PathBuf>,
    /// The directory of Markdown pages, if they are to be written.
    pub markdown: Option<PathBuf>,
    /// The amount of work.
    pub size: Size,
    /// The directory for data of the run, on the disk to measure.
    pub data_dir: PathBuf,
    /// A program that runs [`attack::run`](crate::attack::run). Without one, measurements under
    /// attack are skipped.
    pub attacker: Option<fn() -> Command>,
}

/// The result of a run: the score of each suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The suites in order.
    suites: Vec<(String, Score)>,
}

impl Summary {
    /// The cases without rows, each with the reason.
    pub fn failed(&self) -> impl Iterator<Item = &str> {
        self.suites.iter().flat_map(|(_, score)| score.failed.iter().map(String::as_str))
    }

    /// Whether every target of every suite was met.
    #[must_use]
    pub fn is_all_met(&self) -> bool {
        self.suites.iter().all(|(_, score)| score.missed.is_empty())
    }
}

/// The suites with their descriptions and parts.
#[must_use]
pub fn list() -> String {
    let mut text = String::new();
    for suite in suite::all() {
        text.push_str(&format!("{:16}{}\n", suite.name, suite.about));
        suite.parts.iter().for_each(|part| {
            text.push_str(&format!("  {}.{}\n", suite.name, part.name));
        });
    }
    text
}

/// Runs suites; results go to standard output, progress to standard error.
pub fn run(options: &Options) -> Result<Summary, BenchError> {
    let mut progress = |what: &str| {
        // A failure to show progress is ignored.
        let _ = writeln!(io::stderr(), "{what}");
    };
    run_with(options, &mut io::stdout().lock(), &mut progress)
}

/// Runs suites; results go to `results`, lines of progress to `progress`.
pub fn run_with(
    options: &Options,
    results: &mut dyn Write,
    progress: &mut dyn FnMut(&str),
) -> Result<Summary, BenchError> {
    run_chosen(&chosen(suite::all(), &options.suites)?, options, results, progress)
}

/// Runs parts of suites. A failed case has no rows; the others run on.
fn run_chosen(
    suites: &[Chosen],
    options: &Options,
    results: &mut dyn Write,
    progress: &mut dyn FnMut(&str),
) -> Result<Summary, BenchError> {
    if options.markdown.is_some()
        && let Some(part) = options.suites.iter().find(|name| name.contains('.'))
    {
        return Err(BenchError::PartOnPage(part.clone()));
    }
    let machine = Machine::of(&options.data_dir);
    let mut summary = Summary::default();
    let mut outcomes = Vec::new();
    if !options.json {
        show_machine(&machine, results).map_err(BenchError::Output)?;
    }
    for Chosen { suite, parts } in suites {
        let name = suite.name;
        progress(&format!("{name}: {}", suite.about));
        let mut context =
            Context::new(options.size, &options.data_dir, progress).attacked_by(options.attacker);
        let mut outcome = Outcome::default();
        for part in parts {
            let failed_before = outcome.failed.len();
            (part.measure)(&mut context, &mut outcome);
            for failed in &mut outcome.failed[failed_before..] {
                *failed = format!("{name}.{}: {failed}", part.name);
                context.progress(&format!("failed: {failed}"));
            }
        }
        if options.size == Size::Small {
            strip(&mut outcome);
        }
        let score = Score::of(&outcome);
        show(name, &outcome, &score, &machine, options.json, results)
            .map_err(BenchError::Output)?;
        summary.suites.push((name.to_string(), score));
        outcomes.push((name.to_string(), outcome));
    }
    if let Some(path) = &options.report {
        save(path, &report::page(&machine, &outcomes), progress)?;
    }
    if let Some(directory) = &options.markdown {
        fs::create_dir_all(directory).map_err(|source| failed("make", directory, source))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let day = report::markdown::day(now);
        for (Chosen { suite, .. }, (name, outcome)) in suites.iter().zip(&outcomes) {
            let page = report::markdown::page(suite, outcome, &machine, &day);
            save(&directory.join(format!("{name}.md")), &page, progress)?;
        }
    }
    Ok(summary)
}

fn save(path: &Path, page: &str, progress: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
    fs::write(path, page).map_err(|source| failed("write the report", path, source))?;
    progress(&format!("report written to {}", path.display()));
    Ok(())
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> BenchError {
    BenchError::Io { doing, path: path.to_path_buf(), source }
}

/// A suite with its requested parts.
struct Chosen {
    suite: Suite,
    parts: Vec<SuitePart>,
}

fn chosen(suites: Vec<Suite>, names: &[String]) -> Result<Vec<Chosen>, BenchError> {
    for name in names {
        let (of, part) =
            name.split_once('.').map_or((&**name, None), |(of, part)| (of, Some(part)));
        let Some(suite) = suites.iter().find(|suite| suite.name == of) else {
            let known = suites.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ");
            return Err(BenchError::UnknownSuite { name: of.to_owned(), known });
        };
        let Some(part) = part else { continue };
        if !suite.parts.iter().any(|known| known.name == part) {
            let known = suite.parts.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
            let suite = of.to_owned();
            return Err(BenchError::UnknownPart { suite, part: part.to_owned(), known });
        }
    }
    let is_asked = |suite: &Suite, part: &SuitePart| {
        let whole = names.iter().any(|name| name == suite.name);
        let part = format!("{}.{}", suite.name, part.name);
        whole || names.is_empty() || names.contains(&part)
    };
    let asked = suites.into_iter().map(|suite| {
        let parts = suite.parts.iter().filter(|part| is_asked(&suite, part)).copied().collect();
        Chosen { suite, parts }
    });
    Ok(asked.filter(|asked: &Chosen| !asked.parts.is_empty()).collect())
}

/// Removes targets and references, which are meaningful only at full size.
fn strip(outcome: &mut Outcome) {
    for row in &mut outcome.rows {
        row.target = None;
        row.references.clear();
    }
}

fn show_machine(machine: &Machine, results: &mut dyn Write) -> io::Result<()> {
    for (name, value) in machine.named() {
        writeln!(results, "{name:24}{value}")?;
    }
    writeln!(results)
}

fn show(
    name: &str,
    outcome: &Outcome,
    score: &Score,
    machine: &Machine,
    as_json: bool,
    results: &mut dyn Write,
) -> io::Result<()> {
    if !as_json {
        writeln!(results, "{}", report::table(name, outcome))?;
        return results.flush();
    }
    for row in &outcome.rows {
        writeln!(results, "{}", json::row(name, row))?;
    }
    writeln!(results, "{}", json::summary(name, score, machine))?;
    results.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::verify;
    use crate::report::{Case, Risk, Row, Transport, Unit};
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn options(data_dir: &std::path::Path) -> Options {
        Options {
            suites: Vec::new(),
            json: true,
            report: None,
            markdown: None,
            size: Size::Small,
            data_dir: data_dir.to_path_buf(),
            attacker: None,
        }
    }

    fn output(options: &Options) -> String {
        let mut bytes = Vec::new();
        let summary = run_with(options, &mut bytes, &mut |_| {}).expect("results can be written");
        let failed: Vec<&str> = summary.failed().collect();
        assert!(failed.is_empty(), "every suite runs at its small size: {failed:?}");
        String::from_utf8(bytes).expect("results are text")
    }

    #[test]
    fn every_suite_runs_small_and_speaks_the_contract() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let output = output(&options(home.path()));
        let lines: Vec<Value> = output
            .lines()
            .map(|line| serde_json::from_str(line).expect("every line is one object"))
            .collect();
        let (summaries, rows): (Vec<&Value>, Vec<&Value>) =
            lines.iter().partition(|line| line.get("summary").is_some());
        assert_eq!(summaries.len(), suite::all().len());
        assert!(rows.len() > summaries.len());
        for row in rows {
            // Whether parsed objects keep their order depends on other crates of the build.
            let fields: BTreeSet<&str> =
                row.as_object().expect("an object").keys().map(String::as_str).collect();
            let contract = [
                "suite",
                "case",
                "level",
                "metric",
                "value",
                "unit",
                "target",
                "references",
                "checks",
                "footnote",
            ];
            assert_eq!(fields, BTreeSet::from(contract));
            assert!(row["value"].is_number(), "{row}");
            assert!(!row["checks"].as_object().expect("an object").is_empty(), "{row}");
        }
    }

    #[test]
    fn the_report_and_the_tables_are_written() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let path = home.path().join("report.html");
        let markdown = home.path().join("pages");
        let options = Options {
            suites: vec!["match".into()],
            json: false,
            report: Some(path.clone()),
            markdown: Some(markdown.clone()),
            ..options(home.path())
        };
        let output = output(&options);
        assert!(output.contains("processor") && output.contains("throughput"), "{output}");
        let page = fs::read_to_string(path).expect("the report");
        assert!(page.contains("<svg"));
        let page = fs::read_to_string(markdown.join("match.md")).expect("the page of the suite");
        assert!(page.contains("# Benchmark: match"), "{page}");
    }

    #[test]
    fn a_part_of_a_suite_runs_alone_and_is_on_no_page() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let asked = |name: &str| Options { suites: vec![name.into()], ..options(home.path()) };
        let printed = output(&asked("queue.memory"));
        assert!(printed.contains("1 KiB"), "{printed}");
        assert!(!printed.contains("over HTTP"), "{printed}");
        let mut silent = |_: &str| {};
        let error = run_with(&asked("queue.nothing"), &mut Vec::new(), &mut silent).unwrap_err();
        assert!(matches!(error, BenchError::UnknownPart { .. }), "{error}");
        let page = Options { markdown: Some(home.path().join("pages")), ..asked("queue.memory") };
        let error = run_with(&page, &mut Vec::new(), &mut silent).unwrap_err();
        assert!(matches!(error, BenchError::PartOnPage(_)), "{error}");
    }

    #[test]
    fn each_listed_part_can_run_alone() {
        let listed = list();
        let parts: Vec<&str> = listed.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert!(parts.contains(&"queue.full") && parts.contains(&"match.mix"), "{listed}");
        for name in parts {
            let asked = chosen(suite::all(), &[name.to_string()]).expect("a part of a suite");
            let [Chosen { suite, parts }] = &asked[..] else { panic!("{name} is of one suite") };
            assert_eq!(parts.len(), 1);
            assert_eq!(format!("{}.{}", suite.name, parts[0].name), name);
        }
    }

    #[test]
    fn a_case_that_fails_is_named_and_the_others_have_their_rows() {
        fn row(work: &str) -> Row {
            let case =
                Case { work: work.into(), risk: Risk::None, transport: Transport::InProcess };
            Row::new(&case, "throughput", 1.0, Unit::OrdersPerSecond).check("orders", 1)
        }
        const PARTS: &[SuitePart] = &[
            SuitePart {
                name: "first",
                measure: |_, outcome| {
                    outcome.take(Ok(row("before")));
                    outcome.take(verify("broken", "the answer", 1, 2).map(|()| row("broken")));
                    outcome.take(Ok(row("after")));
                },
            },
            SuitePart { name: "second", measure: |_, outcome| outcome.take(Ok(row("other"))) },
        ];
        let suite = |name| Suite { name, about: "", parts: PARTS };
        let suites = vec![suite("one"), suite("two")];
        let home = tempfile::tempdir().expect("a temporary directory");
        for json in [true, false] {
            let options = Options { json, ..options(home.path()) };
            let chosen = chosen(suites.clone(), &[]).expect("both suites");
            let mut bytes = Vec::new();
            let summary = run_chosen(&chosen, &options, &mut bytes, &mut |_| {})
                .expect("a failed case does not end the run");
            let failed: Vec<&str> = summary.failed().collect();
            let said = ": broken: the answer is 1, but must be 2";
            assert_eq!(failed, [format!("one.first{said}"), format!("two.first{said}")]);
            let printed = String::from_utf8(bytes).expect("results are text");
            for work in ["before; no risk", "after; no risk", "other; no risk"] {
                assert_eq!(printed.matches(work).count(), 2, "{work} in {printed}");
            }
            assert_eq!(printed.matches(&format!("first{said}")).count(), 2, "{printed}");
        }
    }

    #[test]
    fn an_unknown_suite_is_named_beside_those_there_are() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let options = Options { suites: vec!["mach".into()], ..options(home.path()) };
        let error = run_with(&options, &mut Vec::new(), &mut |_| {}).expect_err("no such suite");
        let said = error.to_string();
        assert!(said.contains("\"mach\"") && said.contains("match"), "{said}");
    }
}
