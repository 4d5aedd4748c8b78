//! Benchmark suites.

use crate::error::BenchError;
use crate::report::Row;
use crate::report::figure::Figure;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The amount of work of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The size of targets and references.
    Full,
    /// The same code with little work, in well under a second: it runs in the tests, so that no
    /// suite rots. Its rows have no targets and no references.
    Small,
}

/// The outcome of a suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// The figures.
    pub(crate) rows: Vec<Row>,
    /// The plots.
    pub(crate) figures: Vec<Figure>,
    /// Cases without rows, each with the reason.
    pub(crate) failed: Vec<String>,
}

impl Outcome {
    /// Adds the outcome of a case. A failed case is listed, and the next one can run.
    pub(crate) fn take<O: Into<Outcome>>(&mut self, case: Result<O, BenchError>) {
        match case {
            Ok(found) => self.extend(found.into()),
            Err(error) => self.failed.push(error.with_sources()),
        }
    }

    /// Adds the outcome of another part of the suite.
    pub(crate) fn extend(&mut self, other: Outcome) {
        self.rows.extend(other.rows);
        other.figures.into_iter().for_each(|figure| self.plot(figure));
        self.failed.extend(other.failed);
    }

    /// Adds a plot, or its lines and bars to the plot of the same title.
    pub(crate) fn plot(&mut self, figure: Figure) {
        if !self.figures.iter_mut().any(|known| known.take_from(&figure)) {
            self.figures.push(figure);
        }
    }
}

impl From<Vec<Row>> for Outcome {
    fn from(rows: Vec<Row>) -> Outcome {
        Outcome { rows, ..Outcome::default() }
    }
}

impl From<Option<Row>> for Outcome {
    fn from(row: Option<Row>) -> Outcome {
        Outcome::from(Vec::from_iter(row))
    }
}

impl From<Row> for Outcome {
    fn from(row: Row) -> Outcome {
        Outcome::from(vec![row])
    }
}

/// A suite of benchmarks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suite {
    /// Its name.
    pub(crate) name: &'static str,
    /// A description in one sentence.
    pub(crate) about: &'static str,
    /// Its parts, in order.
    pub(crate) parts: &'static [SuitePart],
}

/// A part of a suite, which can run alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuitePart {
    /// What it is asked for by, behind the suite's name and a point.
    pub(crate) name: &'static str,
    /// Measures, verifies what it measures, and says what failed.
    pub(crate) measure: fn(&mut Context<'_>, &mut Outcome),
}

/// A part of a suite.
pub(crate) const fn part(
    name: &'static str,
    measure: fn(&mut Context<'_>, &mut Outcome),
) -> SuitePart {
    SuitePart { name, measure }
}

/// Every suite, in the order in which they run.
pub(crate) fn all() -> Vec<Suite> {
    use crate::suites::{
        cqrs, depot, durability, flow, http, ident, lifecycle, markets, matching, queue, recovery,
        serialization,
    };
    vec![
        matching::SUITE,
        durability::SUITE,
        recovery::SUITE,
        markets::SUITE,
        http::SUITE,
        cqrs::SUITE,
        serialization::SUITE,
        ident::SUITE,
        flow::SUITE,
        lifecycle::SUITE,
        queue::SUITE,
        depot::SUITE,
    ]
}

/// The context of a running suite.
pub(crate) struct Context<'a> {
    size: Size,
    data_dir: &'a Path,
    progress: &'a mut dyn FnMut(&str),
    directories: u64,
    attacker: Option<fn() -> Command>,
}

impl<'a> Context<'a> {
    /// A context whose data lies in `data_dir` and which tells `progress` what goes on.
    pub(crate) fn new(
        size: Size,
        data_dir: &'a Path,
        progress: &'a mut dyn FnMut(&str),
    ) -> Context<'a> {
        Context { size, data_dir, progress, directories: 0, attacker: None }
    }

    /// Gives the suite a program that attacks; see [`Options::attacker`](crate::Options::attacker).
    pub(crate) fn attacked_by(mut self, attacker: Option<fn() -> Command>) -> Context<'a> {
        self.attacker = attacker;
        self
    }

    /// The program that attacks, if there is one.
    pub(crate) fn attacker(&self) -> Option<fn() -> Command> {
        self.attacker
    }

    /// How much work to do.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// One value for the full size, another for the small.
    pub(crate) fn sized<T>(&self, full: T, small: T) -> T {
        match self.size {
            Size::Full => full,
            Size::Small => small,
        }
    }

    /// Reports progress.
    pub(crate) fn progress(&mut self, what: &str) {
        (self.progress)(what);
    }

    /// Creates an empty directory for one arm, which is removed when it is dropped.
    pub(crate) fn fresh_directory(&mut self) -> Result<FreshDirectory, BenchError> {
        self.directories += 1;
        let name = format!("bench-{}-{}", std::process::id(), self.directories);
        let path = self.data_dir.join(name);
        let io = |doing| {
            let path = path.clone();
            move |source| BenchError::Io { doing, path, source }
        };
        fs::create_dir_all(self.data_dir).map_err(io("create the directory above"))?;
        fs::create_dir(&path).map_err(io("create"))?;
        Ok(FreshDirectory(path))
    }
}

/// A directory of one arm. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct FreshDirectory(PathBuf);

impl FreshDirectory {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for FreshDirectory {
    fn drop(&mut self) {
        // A failure to remove it changes no figure.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_gets_a_directory_of_its_own_that_goes_with_it() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let data = home.path().join("data");
        let mut silent = |_: &str| {};
        let mut context = Context::new(Size::Small, &data, &mut silent);
        let first = context.fresh_directory().expect("the first directory");
        let second = context.fresh_directory().expect("the second directory");
        assert_ne!(first.path(), second.path());
        fs::write(first.path().join("file"), b"data").expect("a file in it");
        let path = first.path().to_path_buf();
        drop(first);
        assert!(!path.exists() && second.path().exists());
    }

    #[test]
    fn suites_and_parts_have_names_of_their_own() {
        let names: Vec<String> = all()
            .iter()
            .flat_map(|suite| {
                suite.parts.iter().map(|part| format!("{}.{}", suite.name, part.name))
            })
            .collect();
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert!(all().iter().all(|suite| !suite.parts.is_empty()));
    }

    #[test]
    fn plots_of_one_title_become_one() {
        let line = |name: &str| {
            let series = vec![crate::report::figure::Series { name: name.into(), points: vec![] }];
            Figure::percentiles("Latency", series)
        };
        let mut outcome = Outcome::default();
        outcome.plot(line("first"));
        outcome.plot(line("second"));
        assert_eq!(outcome.figures.len(), 1);
    }
}
