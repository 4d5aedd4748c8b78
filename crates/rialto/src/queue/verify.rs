//! Reading everything.

use crate::terminal::say;
use crate::{Error, tell_all};
use rialto_disk::{Disk, RealDisk};
use rialto_log::{KeyRing, Verify, inspect, verify};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads every byte of a queue that nobody has open, checks every checksum, and changes nothing.
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {}

impl VerifyArgs {
    pub(super) fn run(&self, dir: &Path, keys: &KeyRing) -> Result<(), Error> {
        let mut logs = vec![dir.join("control")];
        logs.extend(lanes(&dir.join("topics"))?);
        let mut damaged = Vec::new();
        for log in logs {
            match check(&log, keys) {
                Ok(told) => say(format_args!("{}: {told}", log.display())),
                Err(reason) => {
                    say(format_args!("{}: DAMAGED: {reason}", log.display()));
                    damaged.push(log);
                }
            }
        }
        if damaged.is_empty() {
            return Ok(());
        }
        Err(Error::Failed(format!("{} of the logs are damaged", damaged.len())))
    }
}

fn check(log: &Path, keys: &KeyRing) -> Result<String, String> {
    let disk = RealDisk;
    let _lock = disk.lock(log).map_err(|error| tell_all(&error))?;
    let opened = inspect(Arc::new(RealDisk), log, Verify::Newest, keys);
    let (segments, _) = opened.map_err(|error| tell_all(&error))?;
    let read = verify(&segments).map_err(|error| tell_all(&error))?;
    Ok(format!("{} records in {} groups", read.records, read.groups))
}

/// The directories of all lanes.
fn lanes(topics: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut lanes = Vec::new();
    for topic in children(topics)? {
        lanes.extend(children(&topic)?);
    }
    Ok(lanes)
}

fn children(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(dir).map_err(Error::file("read", dir))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<_>, _>>().map_err(Error::file("read", dir))?;
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}
