//! Reading everything.

use crate::terminal::say;
use crate::{Error, tell_all};
use rialto_disk::{Disk, DiskError, RealDisk};
use rialto_log::{KeyRing, Verify, inspect, verify};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Checks every byte of a queue that no process has open, and changes nothing.
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {}

impl VerifyArgs {
    pub(super) fn run(&self, dir: &Path, keys: &KeyRing) -> Result<(), Error> {
        let control = dir.join("control");
        if !control.is_dir() {
            return Err(Error::Failed(format!("there is no queue in {}", dir.display())));
        }
        // Whoever has the queue open has the control log; that is enough for all of it.
        let _lock = RealDisk.lock(&control).map_err(|error| match error {
            DiskError::Locked { .. } => Error::Failed(format!(
                "the queue in {} is open: {}; stop that process and verify again",
                dir.display(),
                tell_all(&error)
            )),
            error => Error::Failed(tell_all(&error)),
        })?;
        // If the control log cannot say which topics there are, all directories are looked at.
        let topics = rialto_queue::topic_dirs(Arc::new(RealDisk), dir, keys).ok();
        let is_left_over = |topic: &PathBuf| topics.as_ref().is_some_and(|it| !it.contains(topic));
        let mut logs = vec![control];
        for topic in children(&dir.join("topics"))? {
            if is_left_over(&topic) {
                say(format_args!(
                    "{}: files of a deleted topic; the next opening removes them",
                    topic.display()
                ));
            } else {
                logs.extend(children(&topic)?);
            }
        }
        let mut damaged = 0;
        for log in &logs {
            match check(log, keys) {
                Ok(told) => say(format_args!("{}: {told}", log.display())),
                Err(reason) => {
                    say(format_args!("{}: DAMAGED: {reason}", log.display()));
                    damaged += 1;
                }
            }
        }
        if damaged == 0 {
            return Ok(());
        }
        Err(Error::Failed(format!("{damaged} of the logs are damaged")))
    }
}

fn check(log: &Path, keys: &KeyRing) -> Result<String, String> {
    let opened = inspect(Arc::new(RealDisk), log, Verify::Newest, keys);
    let (segments, _) = opened.map_err(|error| tell_all(&error))?;
    let read = verify(&segments).map_err(|error| tell_all(&error))?;
    Ok(format!("{} records in {} groups", read.records, read.groups))
}

/// The directories in a directory.
fn children(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let names = RealDisk.list_dirs(dir).map_err(|error| Error::Failed(tell_all(&error)))?;
    Ok(names.into_iter().map(|name| dir.join(name)).collect())
}
