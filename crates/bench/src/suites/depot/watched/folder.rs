//! Folders with files, and a scan of them that remembers nothing.

use crate::error::{BenchError, broken};
use rialto_depot::{Depot, Directory, FileName, NewFile, TenantName};
use rialto_queue::Level;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes files of this length, each with another content.
pub(super) fn fill(case: &str, folder: &Path, files: u64, bytes: usize) -> Result<(), BenchError> {
    fs::create_dir_all(folder).map_err(broken(case, "make a folder"))?;
    for nth in 0..files {
        let content = crate::suites::depot::pool::content(bytes, nth);
        let written = fs::write(folder.join(format!("file-{nth:06}")), content);
        written.map_err(broken(case, "write a file of a folder"))?;
    }
    Ok(())
}

/// The files of a folder, in order of their names.
pub(super) fn listed(case: &str, folder: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let entries = fs::read_dir(folder).map_err(broken(case, "list a folder"))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let paths: Result<Vec<PathBuf>, _> = paths.collect();
    let mut paths = paths.map_err(broken(case, "list a folder"))?;
    paths.sort();
    Ok(paths)
}

/// Imports all files of a folder one after the other, each durably before its source goes, with a
/// submit key, so that a repeat would store nothing.
pub(super) fn import(
    case: &str,
    depot: &Depot,
    tenant: &TenantName,
    folder: &Path,
) -> Result<u64, BenchError> {
    let mut imported = 0;
    for path in listed(case, folder)? {
        let metadata = fs::symlink_metadata(&path).map_err(broken(case, "look at a file"))?;
        if !metadata.is_file() {
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let content = fs::read(&path).map_err(broken(case, "read a file"))?;
        let name = FileName::new(name).map_err(broken(case, "name a file"))?;
        let mut file = NewFile::new(Directory::root(), name);
        file.submit_key = Some(format!("naive:{}:{:?}", path.display(), metadata.modified().ok()));
        file.level = Some(Level::Synced);
        let stored = depot.put_bytes(tenant, file, &content);
        let stored = stored.map_err(broken(case, "store a file"))?;
        imported += u64::from(!stored.is_repeat);
        fs::remove_file(&path).map_err(broken(case, "remove a source"))?;
    }
    Ok(imported)
}
