//! What operators have done while the venue runs: snapshots, backups, the clock.

use crate::{AtField, Grant, Needs, Scope};
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, Request, Result};
use rialto_engine::{BackupError, Engine};
use rialto_model::{Seq, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a snapshot may take before the request gives up waiting for it.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(60);

/// Has a snapshot made and waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakeSnapshot;

impl Request for TakeSnapshot {
    /// Where the snapshot stands.
    type Response = Seq;
    const NAME: &'static str = "take_snapshot";
}

impl Command for TakeSnapshot {}

impl Needs for TakeSnapshot {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

/// Has the data directory copied into a directory of this name, under the one that is meant for
/// backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeBackup {
    /// 1 to 64 letters, digits, dashes, underscores and dots; it does not begin with a dot.
    pub name: String,
}

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Where it lies.
    pub directory: PathBuf,
    /// The last command in it.
    pub seq: Seq,
}

impl Request for TakeBackup {
    type Response = Backup;
    const NAME: &'static str = "take_backup";
}

impl Command for TakeBackup {}

impl Needs for TakeBackup {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

/// Has the venue follow the wall clock again, which stepped by more than it follows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptClock;

/// What an [`AcceptClock`] is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedClock {
    /// By how many nanoseconds the wall clock was ahead of the venue's time; zero if it was followed
    /// already.
    pub step_ns: i64,
    /// The venue's time now.
    pub time: Timestamp,
}

impl Request for AcceptClock {
    type Response = AcceptedClock;
    const NAME: &'static str = "accept_clock";
}

impl Command for AcceptClock {}

impl Needs for AcceptClock {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

/// Looks after the venue's data.
pub struct Maintenance {
    pub(crate) engine: Arc<Engine>,
    pub(crate) backup_dir: Option<PathBuf>,
}

/// Trying again at once would hardly end better.
fn failed(code: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Unavailable, code, message).retryable(false)
}

impl Handler<TakeSnapshot> for Maintenance {
    async fn handle(&self, _: TakeSnapshot, cx: &Context<'_>) -> Result<Seq> {
        let ticket = self.engine.request_snapshot();
        let failed = |message| failed("snapshot_failed", message);
        let made = tokio::task::spawn_blocking(move || ticket.wait(SNAPSHOT_WAIT)).await;
        let seq = made
            .map_err(|error| failed(format!("The wait for the snapshot broke off: {error}.")))?
            .map_err(|error| failed(format!("{error}.")).with_source(error))?;
        cx.note("seq", &seq);
        Ok(seq)
    }
}

impl Handler<TakeBackup> for Maintenance {
    async fn handle(&self, backup: TakeBackup, cx: &Context<'_>) -> Result<Backup> {
        let Some(parent) = &self.backup_dir else {
            let message = "This venue has no directory for backups: set backup_dir under [gateway] in \
                           its configuration, as in backup_dir = \"/var/backups/rialto\", and start \
                           it again.";
            return Err(Error::new(ErrorKind::Conflict, "no_backup_dir", message));
        };
        let directory = parent.join(&backup.name);
        // The sender does not know where the venue was started.
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        let failed = |message| failed("backup_failed", message);
        // Whoever may make one would have the venue write, and hand out, what is theirs to choose.
        if let Some(link) = [&**parent, &*directory].into_iter().find(|path| path.is_symlink()) {
            let message = format!(
                "{} is a symbolic link; a backup is written only to a directory that is named itself.",
                link.display()
            );
            return Err(failed(message));
        }
        let (engine, target) = (Arc::clone(&self.engine), directory.clone());
        let made = tokio::task::spawn_blocking(move || engine.backup(&target)).await;
        let made = made.map_err(|error| failed(format!("The backup broke off: {error}.")))?;
        let seq = made.map_err(|error| match error {
            BackupError::NotEmpty { .. } => {
                let message = format!("{error}.");
                let error = Error::new(ErrorKind::Conflict, "backup_exists", message);
                error.with_source(AtField("name"))
            }
            error => failed(format!("{error}.")).with_source(error),
        })?;
        cx.note("seq", &seq);
        Ok(Backup { directory, seq })
    }
}

impl Handler<AcceptClock> for Maintenance {
    async fn handle(&self, _: AcceptClock, cx: &Context<'_>) -> Result<AcceptedClock> {
        let step_ns = self.engine.clock().unfollowed_ns.unwrap_or(0);
        let time = self.engine.accept_clock().time;
        cx.note("step_ns", &step_ns);
        Ok(AcceptedClock { step_ns, time })
    }
}
