//! What a suite of benchmarks is, and which there are.

use crate::error::BenchError;
use crate::report::Row;
use crate::report::figure::Figure;
use crate::suites;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much work a suite does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// What the targets and the figures of others are about.
    Full,
    /// The same code on little work, in well under a second: it runs in the tests, so that no suite
    /// rots. Its rows have no targets and stand beside nobody.
    Small,
}

/// What a suite found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The figures.
    pub rows: Vec<Row>,
    /// What to plot of them.
    pub figures: Vec<Figure>,
}

impl Outcome {
    /// Takes in what another part of the suite found.
    pub fn extend(&mut self, other: Outcome) {
        self.rows.extend(other.rows);
        self.figures.extend(other.figures);
    }
}

/// A suite of benchmarks.
///
/// No method has a default: a suite without a small size, or one that nobody can find by name, is
/// not finished.
pub trait Suite {
    /// What it is asked for by.
    fn name(&self) -> &'static str;

    /// What it measures, in a sentence.
    fn about(&self) -> &'static str;

    /// What of it can be asked for alone ([`Context::wants`]).
    fn parts(&self) -> Vec<&'static str>;

    /// Measures, and verifies what it measures.
    fn run(&self, context: &mut Context<'_>) -> Result<Outcome, BenchError>;
}

/// Every suite, in the order in which they run.
#[must_use]
pub fn all() -> Vec<Box<dyn Suite>> {
    vec![
        Box::new(suites::Matching),
        Box::new(suites::Durability),
        Box::new(suites::Recovery),
        Box::new(suites::Http),
        Box::new(suites::Cqrs),
        Box::new(suites::Serialization),
        Box::new(suites::Ident),
        Box::new(suites::Flow),
        Box::new(suites::Lifecycle),
        Box::new(suites::Queues),
    ]
}

/// What a suite is given.
pub struct Context<'a> {
    size: Size,
    data_dir: &'a Path,
    progress: &'a mut dyn FnMut(&str),
    directories: u64,
    /// The only parts that are asked for; none means all.
    parts: Vec<String>,
    attacker: Option<fn() -> Command>,
}

impl<'a> Context<'a> {
    /// A context whose data lies in `data_dir` and which tells `progress` what goes on.
    pub fn new(size: Size, data_dir: &'a Path, progress: &'a mut dyn FnMut(&str)) -> Context<'a> {
        Context { size, data_dir, progress, directories: 0, parts: Vec::new(), attacker: None }
    }

    /// Has the suite measure these parts of it alone, unless there are none.
    #[must_use]
    pub fn only(mut self, parts: Vec<String>) -> Context<'a> {
        self.parts = parts;
        self
    }

    /// Gives the suite a program that attacks; see [`Options::attacker`](crate::Options::attacker).
    #[must_use]
    pub fn attacked_by(mut self, attacker: Option<fn() -> Command>) -> Context<'a> {
        self.attacker = attacker;
        self
    }

    /// The program that attacks, if there is one.
    #[must_use]
    pub fn attacker(&self) -> Option<fn() -> Command> {
        self.attacker
    }

    /// Whether a part of the suite is asked for.
    #[must_use]
    pub fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|asked| asked == part)
    }

    /// How much work to do.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// One value for the full size, another for the small.
    #[must_use]
    pub fn sized<T>(&self, full: T, small: T) -> T {
        match self.size {
            Size::Full => full,
            Size::Small => small,
        }
    }

    /// Tells whoever waits what goes on.
    pub fn progress(&mut self, what: &str) {
        (self.progress)(what);
    }

    /// A new empty directory for one arm, which goes when it is dropped.
    pub fn fresh_directory(&mut self) -> Result<FreshDirectory, BenchError> {
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

/// A directory that no other arm has written to. Dropping it removes it.
#[derive(Debug)]
pub struct FreshDirectory(PathBuf);

impl FreshDirectory {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for FreshDirectory {
    fn drop(&mut self) {
        // A directory that cannot be removed is left over; that changes no figure.
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
    fn suites_have_names_of_their_own() {
        let mut names: Vec<_> = all().iter().map(|suite| suite.name()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
