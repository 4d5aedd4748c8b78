//! The files of the repository, as text.

use std::fs;
use std::path::{Path, PathBuf};

/// A file: its path from the root and its text.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Lines with their numbers from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line))
    }

    /// The text before the first test module: rules about product code apply only to it.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().take_while(|(_, line)| line.trim() != "#[cfg(test)]")
    }
}

/// Every file below `root` with one of these extensions, without built and fetched files.
pub(crate) fn files(root: &Path, endings: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                let skipped = ["target", "data", "node_modules", "corpus", "artifacts"];
                if !skipped.contains(&name) && (!name.starts_with('.') || name == ".ci") {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.extend(read(root, path));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn read(root: &Path, path: PathBuf) -> Option<Source> {
    let text = fs::read_to_string(&path).ok()?;
    let path = path.strip_prefix(root).ok()?.to_string_lossy().into_owned();
    Some(Source { path, text })
}
