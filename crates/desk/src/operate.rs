//! Operations on a running venue: snapshots, backups, the clock.

use crate::{AtField, Grant, Needs, Scope};
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, Request, Result};
use rialto_engine::{BackupError, Engine};
use rialto_model::{Seq, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The longest wait for a snapshot.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(60);

/// Makes a snapshot and waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakeSnapshot;

impl Request for TakeSnapshot {
    /// The snapshot's sequence.
    type Response = Seq;
    const NAME: &'static str = "take_snapshot";
}

impl Command for TakeSnapshot {}

impl Needs for TakeSnapshot {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

/// Copies the data directory into a directory of this name, in the directory for backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeBackup {
    /// 1 to 64 letters, digits, dashes, underscores and dots; it must not begin with a dot.
    pub name: String,
}

/// A completed backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Its directory.
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

/// Follows the wall clock again after a step that was too large to follow automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptClock;

/// The answer to an [`AcceptClock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedClock {
    /// The wall clock's lead over the venue's time, in nanoseconds; zero if the venue was already
    /// following it.
    pub step_ns: i64,
    /// The venue's time.
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

/// The handler of operations.
pub struct Maintenance {
    pub(crate) engine: Arc<Engine>,
    pub(crate) backup_dir: Option<PathBuf>,
}

/// Not retriable: an immediate retry would fail too.
fn failed(code: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Unavailable, code, message).retryable(false)
}

impl Handler<TakeSnapshot> for Maintenance {
    async fn handle(&self, _: TakeSnapshot, cx: &Context<'_>) -> Result<Seq> {
        let ticket = self.engine.request_snapshot();
        let failed = |message| failed("snapshot_failed", message);
        let made = tokio::task::spawn_blocking(move || ticket.wait(SNAPSHOT_WAIT)).await;
        let seq = made
            .map_err(|error| failed(format!("The wait for the snapshot failed: {error}.")))?
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
        // The path is made absolute, because the sender does not know the venue's working
        // directory.
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        let failed = |message| failed("backup_failed", message);
        // Following a link would let its creator choose where the venue writes.
        if let Some(link) = [&**parent, &*directory].into_iter().find(|path| path.is_symlink()) {
            let message =
                format!("{} is a symbolic link; a backup needs a real directory.", link.display());
            return Err(failed(message));
        }
        let (engine, target) = (Arc::clone(&self.engine), directory.clone());
        let made = tokio::task::spawn_blocking(move || engine.backup(&target)).await;
        let made = made.map_err(|error| failed(format!("The backup failed: {error}.")))?;
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
