//! The results that a command left in its directory.

use super::any_pool::ResultFile;
use rialto_depot::{Directory, FileName, RESULTS_MAX};
use std::fs;
use std::path::Path;

/// The files below a directory: each is a result with its path from there. The error is the reason
/// that they cannot be results.
pub(super) fn collect(dir: &Path) -> Result<Vec<ResultFile>, String> {
    let mut results = Vec::new();
    walk(dir, &Directory::root(), &mut results)?;
    results.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(results)
}

fn walk(dir: &Path, at: &Directory, results: &mut Vec<ResultFile>) -> Result<(), String> {
    let unreadable = |error| format!("the results cannot be read: {error}");
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        let name = entry.file_name().into_string();
        let name = name.map_err(|name| format!("the result {name:?} has no name in UTF-8"))?;
        let told = |error: rialto_depot::InvalidDepotName| format!("a result: {error}");
        if kind.is_dir() {
            let below = match at.as_str() {
                "" => name,
                above => format!("{above}/{name}"),
            };
            walk(&path, &Directory::new(&below).map_err(told)?, results)?;
        } else if kind.is_file() {
            if results.len() == RESULTS_MAX {
                return Err(format!("there are more than {RESULTS_MAX} results"));
            }
            let name = FileName::new(&name).map_err(told)?;
            results.push(ResultFile { directory: at.clone(), name, path });
        } else {
            return Err(format!("the result {name:?} is neither a file nor a directory"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn the_path_of_a_result_becomes_its_directory_and_its_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("out/2026")).unwrap();
        fs::create_dir(dir.path().join("empty")).unwrap();
        for path in ["top", "out/a.csv", "out/2026/b.csv"] {
            fs::write(dir.path().join(path), path).unwrap();
        }
        let results = collect(dir.path()).unwrap();
        let paths: Vec<_> =
            results.iter().map(|it| (it.directory.as_str(), it.name.as_str())).collect();
        assert_eq!(paths, [("out/2026", "b.csv"), ("out", "a.csv"), ("", "top")]);
    }

    #[test]
    fn a_link_is_no_result() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("secrets")).unwrap();
        assert!(collect(dir.path()).unwrap_err().contains("neither a file nor a directory"));
    }

    #[test]
    fn more_results_than_a_file_may_have_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        for nth in 0..=RESULTS_MAX {
            fs::write(dir.path().join(nth.to_string()), "").unwrap();
        }
        assert!(collect(dir.path()).unwrap_err().contains("more than 64"));
    }
}
