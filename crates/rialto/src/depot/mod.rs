//! `rialto depot`: a file pool in a directory, or that of a running venue, from the command line.

mod any_pool;
mod claim;
mod dead_letters;
mod delete;
mod exec;
mod get;
mod json;
mod list;
mod local;
mod progress;
mod put;
mod refusal;
mod remote;
mod result_body;
mod results;
mod saving;
mod scrub;
mod settle;
mod show;
mod shown;
mod tenant;
mod top;
mod verify;
mod volume;
mod watch;
mod workers;

use crate::Error;
use crate::keys::KeyArgs;
use crate::remote::VenueArgs;
use any_pool::AnyPool;
use local::LocalPool;
use remote::RemotePool;
use std::path::{Path, PathBuf};

/// Works with a file pool: of the venue at `--url`, or of a directory that no other process has open.
#[derive(Debug, clap::Args)]
pub struct DepotArgs {
    /// The directory of the pool.
    #[arg(long, value_name = "DIR", env = "RIALTO_DEPOT", default_value = "depot", global = true)]
    dir: PathBuf,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    venue: VenueArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Store files.
    Put(put::Put),
    /// Read the content of a file.
    Get(get::Get),
    /// Show a file.
    Show(show::Show),
    /// List the files of a tenant.
    Ls(list::Ls),
    /// Delete files.
    Rm(delete::Rm),
    /// Claim files: run a command on each, or move them to a directory.
    Claim(claim::Claim),
    /// Renew claims.
    Renew(settle::Renew),
    /// Complete claimed files.
    Complete(settle::Complete),
    /// Give claimed files back as failed.
    Fail(settle::Fail),
    /// Make claimed files dead letters.
    Refuse(settle::Refuse),
    /// Return claimed files as if they had not been handed out.
    Return(settle::Return),
    /// List the dead letters of a tenant.
    DeadLetters(dead_letters::DeadLetters),
    /// Hand dead letters out again.
    Redrive(dead_letters::Redrive),
    /// Create, list, change and delete tenants.
    #[command(subcommand)]
    Tenant(tenant::Tenant),
    /// Mount, list, drain and unmount volumes.
    #[command(subcommand)]
    Volume(volume::Volume),
    /// Watch folders, and import their files.
    #[command(subcommand)]
    Watch(watch::Watch),
    /// Watch the tenants.
    Top(top::Top),
    /// Read every file of a pool, and check it.
    Verify(verify::Verify),
    /// Compare stored files with their checksums, and list damage.
    Scrub(scrub::Scrub),
    /// Make files of bytes whose records are lost.
    Rebuild(scrub::Rebuild),
}

/// Runs the command.
///
/// # Errors
/// The directory is in use, damaged or encrypted with missing keys, the venue refused or cannot be
/// reached, or the command failed.
pub fn run(args: &DepotArgs) -> Result<(), Error> {
    if let Some(venue) = args.venue.remote()? {
        return args.command.run(&RemotePool::new(venue));
    }
    args.command.check_local()?;
    let dir = &args.dir;
    if !args.command.makes_pool() && !has_pool(dir) {
        let dir = dir.display();
        return Err(Error::Usage(format!(
            "{dir} has no pool; make one with the first file: \
             `rialto depot put FILE --tenant TENANT --dir {dir}`"
        )));
    }
    let searches = matches!(args.command, Command::Rebuild(_));
    let pool = LocalPool::open(dir, args.keys.ring()?, searches)?;
    let done = match &args.command {
        Command::Verify(verify) => verify.run(&pool),
        command => command.run(&pool),
    };
    done.and(pool.close())
}

fn has_pool(dir: &Path) -> bool {
    dir.join("history").is_dir()
}

impl Command {
    /// Whether the command makes a pool where there is none.
    fn makes_pool(&self) -> bool {
        match self {
            Command::Put(_) => true,
            Command::Tenant(tenant) => tenant.creates(),
            Command::Volume(volume) => volume.mounts(),
            Command::Watch(watch) => watch.adds(),
            _ => false,
        }
    }

    /// Refuses what makes no sense in a directory, where claims end with the process.
    fn check_local(&self) -> Result<(), Error> {
        let refused = match self {
            Command::Claim(claim) => !claim.works(),
            Command::Renew(_)
            | Command::Complete(_)
            | Command::Fail(_)
            | Command::Refuse(_)
            | Command::Return(_) => true,
            _ => false,
        };
        if refused {
            let reason = "a claim on a directory ends with the process that made it, so that no \
                          token outlives this command; use `rialto depot claim --exec COMMAND` or \
                          `rialto depot claim --into DIR`, which end the files that they claim";
            return Err(Error::Usage(reason.to_owned()));
        }
        Ok(())
    }

    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        match self {
            Command::Put(put) => put.run(pool),
            Command::Get(get) => get.run(pool),
            Command::Show(show) => show.run(pool),
            Command::Ls(list) => list.run(pool),
            Command::Rm(delete) => delete.run(pool),
            Command::Claim(claim) => claim.run(pool),
            Command::Renew(renew) => renew.run(pool),
            Command::Complete(complete) => complete.run(pool),
            Command::Fail(fail) => fail.run(pool),
            Command::Refuse(refuse) => refuse.run(pool),
            Command::Return(give_back) => give_back.run(pool),
            Command::DeadLetters(dead) => dead.run(pool),
            Command::Redrive(redrive) => redrive.run(pool),
            Command::Tenant(tenant) => tenant.run(pool),
            Command::Volume(volume) => volume.run(pool),
            Command::Watch(watch) => watch.run(pool),
            Command::Top(top) => top.run(pool),
            Command::Scrub(scrub) => scrub.run(pool),
            Command::Rebuild(rebuild) => rebuild.run(pool),
            Command::Verify(_) => {
                let reason = "verify reads a pool that no process has open: stop the venue, and \
                              name the directory of the pool with --dir";
                Err(Error::Usage(reason.to_owned()))
            }
        }
    }
}
