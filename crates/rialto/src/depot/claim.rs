//! Work: files are claimed, and end.

use super::any_pool::{AnyPool, ClaimRequest, Claimed};
use super::exec::Exec;
use super::saving::Saving;
use super::workers::Workers;
use crate::Error;
use crate::duration;
use crate::stop::Stop;
use crate::terminal::say;
use rialto_depot::{CLAIM_FILES_MAX, TenantName};
use std::path::PathBuf;
use std::time::Duration;

/// The files of one claim that are moved to a directory together.
const MOVED: usize = 100;

/// Claims files. On a directory --exec or --into is needed, because a claim ends with the process that
/// made it. A signal to stop lets the commands that run end, and claims no more files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rialto depot claim --tenant acme --exec ./import.sh --wait 1h --workers 4\n  \
    rialto depot claim --exec 'wc -l' --keep-going\n  \
    rialto depot claim --tenant acme --into /srv/inbox")]
pub(super) struct Claim {
    /// The tenant; by default any, in turns.
    #[arg(long, value_parser = TenantName::new)]
    tenant: Option<TenantName>,
    /// The most files; with --exec and --into, all that wait unless it is given.
    #[arg(long, value_name = "FILES", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// End after this time without a file; 0s claims only files that wait now.
    #[arg(long, value_parser = duration::parse, default_value = "0s")]
    wait: Duration,
    /// How long a claim lasts. With --exec and --into it is renewed in time.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse, default_value = "60s")]
    duration: Duration,
    /// Run this command on each file.
    ///
    /// sh runs it, with the path of a copy of the file as its last argument. The variables
    /// RIALTO_FILE_ID, _TENANT, _PATH, _DIRECTORY, _NAME, _BYTES, _CONTENT_TYPE, _SHA256, _ATTEMPTS and
    /// _METADATA (a JSON object) describe the file. The claim is renewed while the command runs.
    ///
    /// Exit status 0 completes the file. Any other fails it, with the last line of the standard error
    /// as the reason: the file is handed out again after a delay, and becomes a dead letter after the
    /// last attempt.
    ///
    /// Files that the command writes to $RIALTO_RESULTS/DIRECTORY/NAME are stored in the pool when the
    /// file is completed: all of it happens, or nothing. Results in a work directory, which every directory is
    /// by default, are handed to this command again: make theirs a shelf first, with `rialto depot tenant
    /// directory TENANT DIRECTORY --kind shelf`.
    ///
    /// A signal to stop lets the commands that run end, and claims no more files. A command outlives
    /// rialto if that is killed.
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,
    /// Move each file to ID-NAME in this directory, which must exist. A file is completed once it is
    /// durable there.
    #[arg(long, value_name = "DIR", conflicts_with = "exec")]
    into: Option<PathBuf>,
    /// Go on after a file has failed. The exit code is 1 all the same.
    #[arg(long)]
    keep_going: bool,
    /// The number of commands that run at the same time.
    #[arg(long, default_value_t = 1, requires = "exec",
        value_parser = clap::value_parser!(u16).range(1..=1_024))]
    workers: u16,
    /// Print one JSON object a claim.
    #[arg(long, conflicts_with_all = ["exec", "into"])]
    json: bool,
}

impl Claim {
    /// Whether the command ends the files that it claims.
    pub(super) fn works(&self) -> bool {
        self.exec.is_some() || self.into.is_some()
    }

    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let request = ClaimRequest {
            tenant: self.tenant.as_ref(),
            files_max: 1,
            wait: self.wait,
            duration: self.duration,
        };
        if !self.works() {
            return self.print(pool, request);
        }
        // A wrong name is an error now, and not when a first file arrives.
        if let Some(tenant) = &self.tenant {
            pool.tenant(tenant)?;
        }
        let workers = Workers::new(pool, request, self.limit, self.keep_going, Stop::on_signals()?);
        let done = match (&self.exec, &self.into) {
            (Some(command), _) => workers.run(usize::from(self.workers), &Exec::new(command)),
            (None, Some(dir)) => workers.save(&Saving::open(dir)?, MOVED),
            (None, None) => Ok(()),
        };
        workers.end(done)
    }

    fn print(&self, pool: &dyn AnyPool, request: ClaimRequest<'_>) -> Result<(), Error> {
        let files_max = usize::try_from(self.limit.unwrap_or(1)).unwrap_or(CLAIM_FILES_MAX);
        for claimed in pool.claim(&ClaimRequest { files_max, ..request })? {
            let Claimed { token, file, deadline, problem, .. } = claimed;
            if self.json {
                let mut object = serde_json::Map::new();
                object.insert("token".to_owned(), token.into());
                object.insert("deadline".to_owned(), deadline.to_string().into());
                object.insert("problem".to_owned(), problem.into());
                object.insert("file".to_owned(), file);
                say(format_args!("{}", serde_json::Value::Object(object)));
            } else {
                say(format_args!("{token}"));
            }
        }
        Ok(())
    }
}
